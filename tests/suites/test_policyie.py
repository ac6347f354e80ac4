"""PolicyIE: its files in both forms and their checks, its prompts, its baselines as runs, the published split."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from genaipa.errors import GenaipaError
from genaipa.workspace import Workspace, shipped_folder
from genaipa_suites.data import SHIPPED, read_published_rows
from genaipa_suites.material import Item, Outcome
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.policyie import PolicyIE
from genaipa_suites.policyie.data import FILES, PLUE

if TYPE_CHECKING:
    from commandline import Cli

SAMPLE = SHIPPED / "policyie/sample"


def suite(split: str, wording: int = 1, at: Path | None = None) -> PolicyIE:
    """The suite, with a workspace in the working folder (and its prompts as shipped)."""
    home = at or Path.cwd()
    plan = SuiteOptions(split, wording=wording)
    spec = make_suite_run_spec("policyie", plan)
    return PolicyIE(spec, Workspace(home, (("workspace", home), ("shipped", shipped_folder()))))


def texts() -> dict[str, list[str]]:
    """Name of a file of the scripts' form → lines of our sample."""
    return {name: (SAMPLE / name).read_text(encoding="utf-8").splitlines() for name in FILES}


def put(path: str, lines: list[str]) -> None:
    """A file of the workspace."""
    place = Path("suites/policyie", path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def put_scripts_form(split: str, **changed: list[str]) -> None:
    """The sample in the scripts' form as a split; `changed` are other lines of a file."""
    for name, lines in texts().items():
        put(f"{split}/{name}", changed.get(name.partition(".")[0], lines))


def as_json() -> list[list[str]]:
    """The sample as PLUE's three files."""
    sentences, intents, *layers = texts().values()
    rows = zip(sentences, intents, strict=True)
    return [
        [json.dumps({"sentence": sentence, "label": intent}) for sentence, intent in rows],
        *(
            [
                json.dumps({"tokens": one.split(), "labels": tags.split()})
                for one, tags in zip(sentences, layer, strict=True)
            ]
            for layer in layers
        ),
    ]


def put_json(split: str, files: list[list[str]]) -> None:
    """PLUE's three files of a split."""
    for path, lines in zip(PLUE, files, strict=True):
        put(Path(path).name.format(split), lines)


def test_both_forms_are_one() -> None:
    """A folder, a zip and JSON lines give the same items, in whatever order their rows are."""
    shipped = suite("sample").load("sample").items
    assert (len(shipped), sum(len(item.gold) for item in shipped)) == (20, 21)
    put_scripts_form("mine")
    assert suite("mine").load("mine").items == shipped
    put_json("lines", [lines[::-1] for lines in as_json()])
    reversed_rows = suite("lines").load("lines").items
    for item in reversed_rows:
        item.gold.reverse()
    by_id = {item.id: (item.shown, item.gold) for item in shipped}
    assert {item.id: (item.shown, item.gold) for item in reversed_rows} == by_id
    with zipfile.ZipFile("suites/policyie/bio_format.zip", "w") as archive:
        for name in FILES:
            archive.write(SAMPLE / name, f"some/folder/packed/{name}")
    assert suite("packed").load("packed").items == shipped


def test_blanks_in_tokens_and_at_the_end_are_no_mistakes() -> None:
    """A token with a no-break space stays one token of the sentence, and blank lines after the last are no rows."""
    tokens, tags = ["We", "keep", "e\u00a0mail", "\u00a0"], ["O", "B-action", "O", "O"]
    intent = {"sentence": " ".join(tokens), "label": "data-storage-retention-deletion"}
    layers = ({"tokens": tokens, "labels": labels} for labels in (tags, ["O"] * 4))
    put_json("odd", [[json.dumps(one), ""] for one in (intent, *layers)])
    (item,) = suite("odd").load("odd").items
    assert item.shown["text"].split() == ["We", "keep", "email", "_"]
    assert item.gold[0]["type-I"] == [(1, 2, "action")]


OTHERS_SENTENCE = "What do we do with data ?"
REFUSED = {
    "label": (
        "Sharing",
        "seq.in: line 1: its intent is 'Sharing', which is not an intent of PolicyIE; use the published",
    ),
    "seq": (OTHERS_SENTENCE, "seq.in: line 1: it has 7 words but 11 tags of type-I"),
    "seq_type_I": ("B-data " * 11, "seq.in: line 1: its intent is Other, but it has slots"),
}


@pytest.mark.parametrize("stem", REFUSED)
def test_edited_lines_are_refused(stem: str) -> None:
    """Another intent, tags of another sentence, or slots on Other, are one sentence with file, line and remedy."""
    changed, said = REFUSED[stem]
    name = next(name for name in FILES if name.partition(".")[0] == stem)
    put_scripts_form("mine", **{stem: [changed, *texts()[name][1:]]})
    with pytest.raises(GenaipaError) as refused:
        suite("mine").load("mine")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ("B-action I-data-collector.first-party-entity", "does not continue a slot"),
        ("O I-action", "line 1: its tag 'I-action' of type-I does not continue a slot"),
        ("B-polarity.negation O", "line 1: 'B-polarity.negation' is not a tag of type-I"),
        ("S-action O", "line 1: 'S-action' is not a tag of type-I"),
    ],
)
def test_tags_that_no_file_has_are_refused(tags: str, said: str) -> None:
    """A stray I-, a label of the other layer, and another scheme than BIO are refused with the tag."""
    for name, line in zip(FILES, ("We collect", "data-collection-usage", tags, "O O"), strict=True):
        put(f"mine/{name}", [line])
    with pytest.raises(GenaipaError, match=said):
        suite("mine").load("mine")


def test_files_of_different_splits_are_refused() -> None:
    """Fewer lines, other sentences, damaged lines, a pointer, another zip or no split at all: each is said."""

    def said(split: str) -> str:
        with pytest.raises(GenaipaError) as refused:
            suite(split).load(split)
        return str(refused.value)

    put_scripts_form("short", label=texts()["label"][:-1])
    assert "label: has 20 lines, but seq.in has 21; use files from the same split" in said("short")
    files = as_json()
    put_json("mixed", [files[0], files[1], files[2][1:] + files[2][:1]])
    assert "type_II_slot_filling_mixed.json: line 1: its tokens differ from those of the sentence" in said("mixed")
    put_json("damaged", [files[0], ["{}", *files[1][1:]], files[2]])
    assert "type_I_slot_filling_damaged.json: line 1: is not an object with tokens and labels" in said("damaged")
    put_json("pointer", [["version https://git-lfs.github.com/spec/v1"], *files[1:]])
    assert "is a Git-LFS pointer" in said("pointer")
    put_scripts_form("empty", seq=[], label=[], seq_type_I=[], seq_type_II=[])
    assert "has no sentences" in said("empty")
    # A file that stands in no split's folder is of no split.
    put("seq.in", ["We collect"])
    assert "run 'genaipa get policyie'" in said("train")
    with zipfile.ZipFile("suites/policyie/sanitized_split.zip", "w") as archive:
        archive.writestr("sanitized_split/train/policy/1.json", "{}")
    assert "which the authors' data/prepare.sh makes from the annotated policies" in said("train")
    Path("suites/policyie/sanitized_split.zip").write_text("no zip")
    assert "is not a zip of PolicyIE's files" in said("train")


def test_a_pulled_split_has_as_many_rows_as_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """In either form: pulled files with other numbers of rows are refused, one's own may have any."""
    monkeypatch.setenv("GENAIPA_CACHE", str(Path("cache").absolute()))
    official = PolicyIE.data[1].pulled_folder / "data/bio_format/valid"
    official.mkdir(parents=True)
    for name in FILES:
        (official / name).write_bytes((SAMPLE / name).read_bytes())
    alone = Path("alone").absolute()
    alone.mkdir()
    pulled = PolicyIE(suite("valid").spec, Workspace(alone, (("workspace", alone),)))
    with pytest.raises(
        GenaipaError, match=r"seq\.in: has 21 rows, but the published file has 100; run: genaipa get policyie"
    ):
        pulled.load("valid")


def test_prompts_show_the_sentence_alone() -> None:
    """In every wording, prompts of two sentences differ by the sentence only, and name every role and attribute."""
    for wording in (1, 2, 3):
        of = suite("sample", wording)
        first, second = of.material.items[:2]
        assert {*first.shown} == {"text"}
        shown = [of.messages(item)[0].content for item in (first, second)]
        assert shown[0].replace(first.shown["text"], second.shown["text"]) == shown[1]
        slot = of.schema["properties"]["slots"]["items"]["properties"]
        for name in (*of.schema["properties"]["intent"]["enum"], *slot["role"]["enum"], *slot["attribute"]["enum"]):
            assert name in shown[0], (wording, name)


def test_a_published_row_is_in_columns_of_its_own_script() -> None:
    """Table 4's systems stand under the tagger script, Table 5's under the seq2seq script, Table 6's in parts."""
    rows = read_published_rows(PolicyIE)
    for table, script, other in (("4", "tagger", "seq2seq"), ("5", "seq2seq", "tagger")):
        of = [row for row in rows if row.source.endswith(f"Table {table}")]
        assert len(of) == {"4": 10, "5": 6}[table]
        assert all(script in name or name == "intent_accuracy" for row in of for name in row.values)
        assert not any(other in name for row in of for name in row.values)
    assert {row.group for row in rows if row.breakdown == "intent"} == {*PolicyIE.parts["intent"]} - {"Other"}
    bart = next(row for row in rows if row.system == "BART-large" and not row.breakdown)
    assert bart.values["em_seq2seq_type_ii"] == 31.6


@pytest.fixture
def published(shared: Path) -> Path:
    """A workspace's folder with the published files."""
    Path("layer/suites").mkdir(parents=True)
    Path("layer/suites/policyie").symlink_to(shared / "data/policyie/json")
    return Path("layer").absolute()


def test_the_published_files_are_read_whole(published: Path) -> None:
    """Rows, distinct sentences, slots and labels of train and valid are as counted elsewhere."""
    for split, rows, sentences, slots in (("train", 4_109, 3_800, (7_122, 2_206)), ("valid", 100, 95, (205, 57))):
        items = suite(split, at=published).load(split).items
        gold = [row for item in items for row in item.gold]
        assert (len(gold), len(items)) == (rows, sentences)
        assert tuple(sum(len(row[layer]) for row in gold) for layer in ("type-I", "type-II")) == slots
        known = [{span[2] for row in gold for span in row[layer]} for layer in ("type-I", "type-II")]
        assert [len(labels) for labels in known] == ([47, 16] if split == "train" else [28, 12])


def test_the_published_files_are_pulled_in_either_form(
    genaipa: Cli, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PLUE's files, and the scripts' form made of them and pulled from a folder, give the same items and figures."""
    plue = shared / "data/policyie/json"
    intents, *layers = [
        [json.loads(line) for line in (plue / Path(path).name.format("valid")).read_text(encoding="utf-8").splitlines()]
        for path in PLUE
    ]
    made = [[one[key] for one in intents] for key in ("sentence", "label")]
    made += [[" ".join(one["labels"]) for one in layer] for layer in layers]
    folder = Path("clone/data/bio_format/valid")
    folder.mkdir(parents=True)
    for name, lines in zip(FILES, made, strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found = []
    for name, origin in (("policyie", plue), ("policyie-official", "clone")):
        monkeypatch.setenv("GENAIPA_CACHE", str(Path(f"cache-{name}").absolute()))
        done = genaipa("get", name, "--from", origin)
        assert done.code == 0, done.err
        found.append(suite("valid").load("valid").items)
    assert found[0] == found[1]


def test_the_ceiling_says_texts_as_every_system_does() -> None:
    """A slot whose text is in the sentence twice may be placed wrongly, as whoever answers in words has it."""
    of = suite("sample")
    gold = [{"intent": "data-sharing-disclosure", "type-I": [[6, 7, "action"]], "type-II": []}]
    item = Item("1", {"text": "We share data with partners who share data ."}, gold)
    ceiling = next(one for one in of.baselines if one.name == "ceiling").make(of)
    assert ceiling(item) == of.gold_reply(item)
    measures = {measure.name: measure for measure in of.measures}
    reached = [Outcome(item, of.parse_reply(item, ceiling(item)))]
    assert [measures[name].compute(reached) for name in ("intent_accuracy", "slot_f1_tagger_type_i")] == [1.0, 0.0]


def test_gold_intents_are_right_about_every_row_that_is_other() -> None:
    """Of a sentence that is Other in one row, and something else in another, both are right."""
    of = suite("sample")
    intents = ("data-sharing-disclosure", "Other")
    item = Item("1", {"text": "We share it ."}, [{"intent": one, "type-I": [], "type-II": []} for one in intents])
    gold = next(one for one in of.baselines if one.name == "gold-intent").make(of)
    right = next(measure for measure in of.measures if measure.name == "other_exact")
    said = (gold(item), of.gold_reply(item), json.dumps({"intent": "Other", "slots": []}), "nothing")
    assert [right.compute([Outcome(item, of.parse_reply(item, one))]) for one in said] == [1, 0, 1, 0]


def test_floors_and_ceilings_of_the_published_split(published: Path) -> None:
    """On valid: what is right by saying nothing, with gold intents, and with the best answer to each sentence."""
    of = suite("valid", at=published)
    known = {"majority": (59, 0, 26.83, 0), "gold-intent": (100, 0, 26.83, 26.83), "ceiling": (97, 91.93, 100, 92.68)}
    names = ("intent_accuracy", "slot_f1_tagger_type_i", "slot_f1_seq2seq_type_ii", "em_tagger_type_ii")
    measures = {measure.name: measure for measure in of.measures}
    for name, expected in known.items():
        answer = next(one for one in of.baselines if one.name == name).make(of)
        outcomes = [Outcome(item, of.parse_reply(item, answer(item))) for item in of.material.items]
        assert tuple(round(100 * measures[one].compute(outcomes), 2) for one in names) == expected, name
