"""What a split study adds to the data sheet of its human evaluation (HEDS 3.0, by its questions' numbers)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from genaipa.languages.catalog import language_name
from genaipa.words import format_count, join_names
from genaipa_partners.dealing import AnswerThread
from genaipa_partners.power import ANSWER_DEVIATION, HARSH, SCORE_DEVIATION, estimate_lowest_detection_power
from genaipa_partners.split import FILE, load_split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from genaipa.answers.study import Study
    from genaipa.reports.table import Table
    from genaipa.workspace import Workspace
    from genaipa_partners.split import StudySplit

_SPLIT = f"{FILE}, which stays with the coordinator"
_EVENTS = "study.zip: scores.jsonl (id)"
_TABLE = "study.zip: report/tables/partners.csv"


def describe_partners_for_data_sheet(
    workspace: Workspace, study: Study, tables: Mapping[str, Table]
) -> Iterator[tuple[str, str, str]]:
    """Yield (number of a question, sentence, the records that it follows from) of a split of this study's answers."""
    if not (workspace.home / FILE).is_file():
        return
    split = load_split(workspace)
    packed_runs = {source.folder.name for source in study.sources}
    if packed_runs.isdisjoint(split.runs):
        return
    names = [share.name for share in split.partners]
    # Of a part of the split's runs, the record can't tell what was dealt or trained by.
    has_whole_split = packed_runs.issuperset(split.runs)
    if has_whole_split:
        yield from _describe_dealing(split)
    yield from _describe_power_of_split(split, study)
    columns = study.table
    scored = (
        columns[columns["partner"].astype(str).isin(names) & (columns["scorer"] == "human")]
        if "partner" in columns
        else columns[:0]
    )
    analysts = scored.groupby("partner", observed=True)["analyst"].nunique()
    if len(analysts):
        counts = join_names([f"{name} ({count:,})" for name, count in analysts.items()])
        yield "3.2.1", f"Names with scores or adjudications in effect, by partner: {counts}.", _EVENTS
        if has_whole_split and (repeated := _count_texts_standing_for_several_answers(split)):
            phrase = "text stands" if repeated == 1 else "texts stand"
            yield (
                "3.3.2",
                f"{repeated:,} {phrase} for several answers; a score of such a text is counted with each.",
                _SPLIT,
            )
    if severities := tables.get("partners"):
        kinds = {"shared": "answers that several scored", "own": "answers of their own, which chance dealt"}
        if compared := [kind for column, kind in kinds.items() if severities.data[column].any()]:
            yield "3.3.3.1", f"In the report: comparison of partners, on {join_names(compared)}.", _TABLE
            yield "3.3.3.2", _describe_severities(severities), _TABLE


def _describe_dealing(split: StudySplit) -> Iterator[tuple[str, str, str]]:
    """Yield how answers came to the partners, and the reference analysts' scores that came along."""
    partners_per_text = Counter(text for share in split.partners for text in share.answers)
    # Chance deals an answer to those alone who read its language.
    readers = [
        f"{share.name} ({language_name(share.language)} alone)" if share.language else share.name
        for share in split.partners
    ]
    # Of a language that one partner alone takes, the shared part goes to them.
    shared = sum(count > 1 for count in partners_per_text.values())
    dealt = (
        f"Chance (seed {split.seed}) dealt {format_count(len(partners_per_text), 'answer text')} to the partners "
        f"{join_names(readers)}: {shared:,} to several of them (asked for: {split.share:g} %), each other text to one."
    )
    training = [len(share.training) for share in split.partners]
    trained = (
        " Among them are texts to train by, which a reference analyst had scored; chance did not decide which partners "
        "have these."
    )
    yield "3.1.2", f"{dealt}{trained if any(training) else ''}", _SPLIT
    if any(training):
        minimum, maximum = min(training), max(training)
        count = f"{maximum:,}" if minimum == maximum else f"{minimum:,} to {maximum:,}"
        yield (
            "3.2.4",
            f"Scores by reference analysts, to train by, came with the packs of partners: {count} each.",
            _SPLIT,
        )


def _count_texts_standing_for_several_answers(split: StudySplit) -> int:
    return len({text for share in split.partners for text, answers in share.answers.items() if len(answers) > 1})


def _describe_power_of_split(split: StudySplit, study: Study) -> Iterator[tuple[str, str, str]]:
    """Yield the method, the result and the code of the power of the comparison of partners."""
    rows = study.answers[["answer", "system", "document"]].astype(str).drop_duplicates("answer")
    systems = dict(zip(rows["answer"], rows["system"], strict=True))
    documents = dict(zip(rows["answer"], rows["document"], strict=True))
    threads = []
    for text, originals in {text: stands for share in split.partners for text, stands in share.answers.items()}.items():
        studied_answers = sorted(answer for answer in originals if answer in systems)
        if studied_answers:
            system = min(systems[answer] for answer in studied_answers)
            language = study.document_languages.get(documents[studied_answers[0]], "")
            threads.append(AnswerThread((text,), system, language))
    texts = {text for thread in threads for text in thread.answers}
    weakest = estimate_lowest_detection_power(
        {share.name: [text for text in share.answers if text in texts] for share in split.partners}, threads
    )
    if not weakest.compared:
        return
    method = (
        "Of the comparison of partners: from who was dealt which answers, scored or not, in what share of studies "
        f"a partner {HARSH:g} points of M_all harsher than the others would be found (approximated by a noncentral t), "
        f"with assumed standard deviations of {SCORE_DEVIATION:g} points between partners' scores of an answer "
        f"and {ANSWER_DEVIATION:g} between answers."
    )
    yield "3.1.3.1", method, _SPLIT
    power_in_words = f"about {weakest.power:.0%} (for {weakest.partner}, who is found least often)"
    yield "3.1.3.2", f"Of the comparison of partners: {power_in_words}.", _SPLIT
    yield "3.1.3.3", "Of the comparison of partners: genaipa_partners.power.", _SPLIT


def _describe_severities(severities: Table) -> str:
    """Give how far each partner is above or below the others."""
    phrases = [
        f"{row['partner']} {row['difference']:+.1f} ({row['low']:+.1f} to {row['high']:+.1f})"
        if row["difference"] == row["difference"] and row["low"] == row["low"]
        else f"{row['partner']} not known (too few answers)"
        for row in severities.data.to_dict("records")
    ]
    standing_out = [str(row["partner"]) for row in severities.data.to_dict("records") if row["stands_out"]]
    apart = (
        f" The others leave out whoever stands out: {join_names(standing_out)}."
        if standing_out and len(phrases) > len(standing_out)
        else ""
    )
    return (
        "Points of M_all by which partners are above (+) or below (-) the others, with intervals that hold for all "
        f"partners together: {'; '.join(phrases)}.{apart}"
    )
