"""Chinese, in simplified characters: the example of a script without blanks between words. It has no reading level."""

from __future__ import annotations

import re

from genaipa.languages.language import NEVER, QUOTED, CitationRules, Language, LawRules, SearchRules, SilenceRules
from genaipa_languages.refusals import CHINESE

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_WORDS = "[零〇一二两三四五六七八九十百]{1,7}"
_NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,3}}){{0,4}}|{_WORDS})"
# With the characters of Taiwan, Hong Kong and Japan.
_NAMES = {"Article": "[条條]款?", "Chapter": "章", "Section": "章?[节節]|小[节節]", "Part": "部分"}


def _chinese_number_to_digits(number: str) -> str:
    """Return a number in digits: 二十三 is 23."""
    if number[0].isdigit():
        return number
    value = 0
    for hundreds in ("百", "十"):
        before, separator, number = number.rpartition(hundreds)
        value += (_DIGITS.get(before[-1:], 1) if separator else 0) * (100 if hundreds == "百" else 10)
    return str(value + _DIGITS.get(number[-1:], 0))


def _translate_leading_numbering_to_english(text: str) -> str:
    """Return the numbering that a text begins with in English: 第二条 is Article 2, and 二、 is 2."""
    ordinal = re.match(rf"第\s*({_NUMBER})\s*({'|'.join(_NAMES.values())})\s*[：:、]?\s*", text)
    if ordinal:
        name = next(name for name, words in _NAMES.items() if re.fullmatch(words, ordinal[2]))
        return f"{name} {_chinese_number_to_digits(ordinal[1])}: {text[ordinal.end() :]}".rstrip(": ")
    if around := re.match(rf"\(({_NUMBER})\)\s*", text):
        return f"({_chinese_number_to_digits(around[1])}) {text[around.end() :]}"
    counted = re.match(rf"({_NUMBER})、\s*|({_WORDS})\.\s*", text)
    return f"{_chinese_number_to_digits(counted[1] or counted[2])}. {text[counted.end() :]}" if counted else text


_TEXT = r"(?:政策|声明|文件|文档|文本|条款|内容|材料|条例|说明|摘录)"
_SAID = (
    r"(?:提及|提到|说明|指出|明确|规定|提供|涉及|包含|包括|给出|描述|列出|披露|回答|解释|谈到|谈及|讨论|述及|写明|阐明|介绍"
    r"|指明|载明|表明|表示|交代|讲|说)"
)
_ANY = r"[^。，,；;！？\n]"
_WAYS = (
    rf"{_TEXT}{_ANY}{{0,14}}?(?:并未|并没有|没有|未|未曾|不曾|尚未){_ANY}{{0,8}}?{_SAID}",
    rf"{_TEXT}{_ANY}{{0,12}}?(?:没有|并无|无|缺乏){_ANY}{{0,10}}?(?:信息|说明|规定|内容|描述|细节|答案|条文)",
    rf"(?:没有|并未|未)(?:在|从){_ANY}{{0,14}}?{_TEXT}{_ANY}{{0,6}}?(?:提及|提到|说明|找到|发现|看到|规定)",
    rf"(?:对此|关于此|就此){_ANY}{{0,8}}?(?:没有|未|并未){_ANY}{{0,4}}?{_SAID}",
    (
        rf"(?:无法|不能){_ANY}{{0,4}}?(?:从|根据|依据|由|在){_ANY}{{0,16}}?{_TEXT}{_ANY}{{0,8}}?"
        r"(?:得知|确定|判断|回答|了解|知道|得出|找到|看出)"
    ),
    rf"{_TEXT}{_ANY}{{0,12}}?(?:不清楚|不明确|只字未提|保持沉默)",
)
_SILENCE = SilenceRules(
    silent="|".join(_WAYS),
    denial="没有|未|无|不|缺乏",
    answered="(?:是的?|不是|否|对|会|不会|有|没有)(?=[，。,；])",
    no=r"\W*(?:否|不是|不会|没有)",
    contrast="但是?|然而|不过|尽管|虽然|却",
    unknown="我(?:无法|不能)(?:访问|查看|打开|读取|获取)|我(?:没有|并没有|未)[^。，]{0,8}?(?:访问|看到|收到|获得|该文件)|我不(?:知道|了解|清楚)",
    caveat="更多|进一步|详细|具体细节|其他",
    not_applicable="不适用|^无$",
)
_CITATIONS = CitationRules(
    words=r"(?:章节|条款|小节|部分|[Ss]ections?|[Aa]rticles?|Parts?|\u00a7{1,2})",
    names={"Section": "章节|小节|sections?", "Article": "条款|articles?", "Part": "部分|parts?"},
    # Each number of 第2、3条 and of 第五至七条.
    ordinal=(
        rf"(?:第\s*|(?<=[、和及与至到])\s*)(?P<number>{_NUMBER})"
        rf"(?=(?:\s*[、和及与至到-]\s*第?{_NUMBER})*\s*(?P<word>{'|'.join(_NAMES.values())}))(?:\s*(?P=word))?"
    ),
    also="和|及|与|以及",
    either="或",
    to="至|到",
    see="见|参见",
    of_this="的",
    into="的|中",
    out_of="的",
    called="题为|名为|关于",
    headed=(
        rf"(?P<before>{QUOTED})(?:这?一?[节章条]|部分|章节)|(?:章节|部分|标题)(?:为|是)?(?P<after>{QUOTED})"
        rf"|(?P<plain>{NEVER})(?P<several>)"
    ),
    here=r"[^。，\n]{0,6}?(?:政策|声明|文件)",
    here_before=r"(?:政策|声明|文件|协议|来源|参见|见)[》」”]?\s*(?:的|中的?|在|规定)?[：:]?\s*$",
    laws=LawRules(
        short=r"(?:GDPR|CCPA|CPRA|LGPD|PIPL)",
        named=r"(?:《[^》\n]{2,40}(?:法典?|条例|规定|办法|宪章)》|(?:个人信息保护|数据安全|网络安全|电子商务)法|通用数据保护条例)",
        of=NEVER,
        before=r"[的中（(]\s*",
        this=frozenset(("条例", "法律", "本法")),
        same=("gdpr|通用数据保护条例|2016/679",),
        here_before=r"(?:政策|声明|文件)[》」”]?\s*(?:的|中的?|在)?\s*$",
    ),
    summary="摘要",
    summary_before=r"摘要[^。，\n]{0,4}$",
    pointing=r"章节|小节|标题|第\s*[\d一二三四五六七八九十]+\s*[节章条]|(?:来源|出处|参考)\s*[：:]\s*(?!无|没有)\w",
)

LANGUAGE = Language(
    code="zh",
    name="Chinese",
    also=("zho", "chi", "cmn"),
    # Single characters, which are frequent in no other language that is written with them.
    function_words=frozenset("的您我们和在是或会与这"),
    policy=lambda company: f"{company}的隐私政策",
    regulation=lambda title, name: f"{title}（{name}）" if title else name,
    no_answer="（没有回答）",
    not_said="该文件没有说明。",
    search=SearchRules(stop_words="STOPWORDS_CHINESE", asking=re.compile(NEVER), ending=re.compile(NEVER)),
    spelt=_translate_leading_numbering_to_english,
    citations=_CITATIONS,
    silence=_SILENCE,
    refusals=CHINESE,
)
