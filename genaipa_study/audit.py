"""Audit of the published answers, of the annotated answers that they are compared with, and of the published scores.

Repeats are answers that say the same, word for word or nearly: under two questions, or to one question in several runs.

Of the scores it finds copies, impossible values, and tables that contradict each other. What is wrong is left out of
analyses: copies, impossible values, and what was scored on answers to something else. Where nothing shows which of two
sources is wrong, one of them is chosen by a rule:

- of two equal parts the original stays (`copies.find_copies` says which that is);
- where the M_all table of an experiment and the metrics contradict each other on a question, a copy loses; then M_all
  is taken from the table that has more of its questions complete; then from the M_all table, because it has a score for
  each document, which can be checked one by one. The metrics stay in any case: no other table has them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations_with_replacement, groupby, product
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from genaipa.runs.exclusions import Exclusion
from genaipa.scoring.evidence.doubts import FUNCTION_WORDS, find_misplacement
from genaipa.scoring.rubric import shipped_rubric
from genaipa.words import some
from genaipa_study.copies import M_ALL_ROUNDING, ROUNDING, PublishedTable, contradicted, counterpart, find_copies
from genaipa_study.findings import Finding, answer_finding
from genaipa_study.layout import DOCUMENTS, csv_rows, labelled, origin_of
from genaipa_study.results import PARAPHRASES
from genaipa_study.sheets import column_letter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.datasets.study import Answer
    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Annotations
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.imported import PublishedScore
    from genaipa_study.copies import Copy, TableKind, Tables
    from genaipa_study.layout import Tree


# Names by which an answer mentions a company, beside the companies that go by their own name.
_NAMES = {"facebook": "Facebook|Meta|Instagram", "twitter": "Twitter|[Tt]weets?|X Corp"}
_ENOUGH = 3
"""Answers of a block that have to name another company before the block is taken to be about it."""
_NEAR = 0.95
"""Share of the words of two texts, in their order, from which on they are nearly the same."""


def audit_answers(answers: list[Answer], questions: QuestionSet) -> list[Finding]:
    """Answers about another company, answers to another question, repeats, and texts that lost their first letter."""
    return [
        *_other_company(answers),
        *audit_repeats(answers, questions),
        *(
            answer_finding(
                answer, "lost-first-letter", "The text begins in the middle of a word; the rest is as published."
            )
            for answer in answers
            if answer.text and answer.text.lstrip()[:1].islower()
        ),
    ]


def _blocks(answers: Iterable[Answer]) -> dict[tuple[object, ...], list[Answer]]:
    """The answers by block: one sheet, one experiment, one run."""
    blocks: dict[tuple[object, ...], list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.text is not None:
            blocks[answer.file, answer.sheet, answer.experiment, answer.repetition].append(answer)
    return blocks


def _other_company(answers: list[Answer]) -> Iterator[Finding]:
    """Every answer of a block that is about another company, whether it names one or not."""
    companies = [name for name, document in DOCUMENTS.items() if document.kind == "policy"]
    patterns = {name: re.compile(rf"\b(?:{_NAMES.get(name, DOCUMENTS[name].company)})\b") for name in companies}
    for block in _blocks(answers).values():
        named = Counter(
            name for answer in block for name, pattern in patterns.items() if pattern.search(answer.text or "")
        )
        own = named.pop(block[0].document, 0)
        other, count = max(named.items(), key=lambda item: item[1], default=("", 0))
        # Half of a block may name its own company as well: a system that was asked about it says so.
        if count >= min(_ENOUGH, len(block)) and count >= 2 * own:
            said = (
                f"{count} of the {len(block)} answers of this run name {DOCUMENTS[other].company}, and {own} "
                f"{DOCUMENTS[block[0].document].company}: the run is about another company."
            )
            for answer in block:
                yield answer_finding(answer, "other-company", said, excludes=True)


def audit_annotations(tree: Tree, document: Document, annotations: Annotations) -> Iterator[Finding]:
    """Annotated answers that cite the wrong part, and copies of another answer."""
    path = f"Annotated Answers/Privacy Policy Answers/annotated_answers_{document.company}.csv"
    cells = _cells(tree, path)
    for question, answer in annotations.answers.items():
        place = (path, "", cells.get(question, ""))
        if "is a copy of" in answer.note:
            yield Finding("annotation-copied", *place, answer.note, document=document.name, question=question)
        if said := find_misplacement(answer, document, annotations.part_set):
            yield Finding("annotation-wrong-part", *place, said, document=document.name, question=question)


def _cells(tree: Tree, path: str) -> dict[str, str]:
    """Question id → the cell of its annotated answer."""
    first, *rows = csv_rows(tree.folder / path) or [[]]
    header = [name.strip().lower().replace("_", " ") for name in first]
    letter = column_letter(header.index("annotated answer") + 1) if "annotated answer" in header else ""
    cells = {}
    for number, row in enumerate(rows, start=2):
        label = next((found for cell in row if (found := labelled(cell))), None)
        if label:
            cells[label[0]] = f"{letter}{number}"
    return cells


_GENERIC = 8
"""Words below which one text can well answer two questions."""
_PAIR = 2
"""Questions between which a copy is sought; a text under more of them is a stock reply."""
_NAMED = 5
"""Places that a finding names."""
_STEM = 5
"""Letters by which two forms of a word are the same word: "secured" and "security"."""

_Text = tuple[str, ...]


def audit_repeats(answers: Iterable[Answer], questions: QuestionSet) -> Iterator[Finding]:
    """Equal and nearly equal answers of a system about a document, in all experiments and runs.

    Left out is only an answer whose text was also given to one other question, which it fits better.
    """
    about: defaultdict[tuple[str, str], defaultdict[_Text, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        text = tuple((answer.text or "").lower().split())
        if len(text) >= _GENERIC:
            about[answer.system, answer.document][text].append(answer)
    for same in about.values():
        for text, sharing in same.items():
            if len({answer.question for answer in sharing}) > 1:
                yield from _under_several(text, sharing, questions)
            elif len(sharing) > 1:
                yield _mentioned("repeated-answer", sharing, "The same text, word for word, is")
        for one, other, alike in _near(same):
            both = [*same[one], *same[other]]
            kind = "repeated-answer" if len({answer.question for answer in both}) == 1 else "near-copy"
            yield _mentioned(kind, both, f"Nearly the same text ({alike:.1%} of the words) is")


def _under_several(text: _Text, sharing: list[Answer], questions: QuestionSet) -> Iterator[Finding]:
    """A text under several questions: left out under the one of two that it fits less, else mentioned."""
    said = _stems(" ".join(text))
    fits: Counter[str] = Counter()
    for answer in sharing:
        shared = len(_stems(questions[answer.question].wording(answer.wording)) & said)
        fits[answer.question] = max(fits[answer.question], shared)
    (rightful, most), (_, least) = fits.most_common()[0], fits.most_common()[-1]
    if len(fits) > _PAIR or most == least:
        yield _mentioned("same-answer", sharing, "Which question it answers is unknown; the same text is")
        return
    for answer in sharing:
        if answer.question != rightful:
            reason = f"The text is the answer to {rightful}, word for word."
            yield answer_finding(answer, "other-question", reason, excludes=True)


def _mentioned(kind: str, alike: list[Answer], said: str) -> Finding:
    """A finding on the first of these answers that names the places of the others."""
    first, *others = alike
    places = [f"{one.cell} ({one.question}, {one.experiment}, {one.wording}, run {one.repetition})" for one in others]
    return answer_finding(first, kind, f"{said} in {some(places, _NAMED)}.")


def _near(texts: Iterable[_Text]) -> Iterator[tuple[_Text, _Text, float]]:
    """Pairs of texts that are nearly the same, and how much they have in common."""
    known: dict[tuple[str, int], int] = {}
    counted = [(text, _bits(text, known)) for text in sorted(texts, key=len)]
    for place, (one, words) in enumerate(counted):
        for other, further in counted[place + 1 :]:
            both = len(one) + len(other)
            if 2 * len(one) < _NEAR * both:
                break  # this one and all behind it are too much longer
            if 2 * (words & further).bit_count() >= _NEAR * both:
                alike = SequenceMatcher(None, one, other, autojunk=False).ratio()
                if alike >= _NEAR:
                    yield one, other, alike


def _bits(text: _Text, known: dict[tuple[str, int], int]) -> int:
    """A number with a bit for every word of a text and time that it comes: texts have as many words in common as bits.

    `known` maps these to their bits, and grows.
    """
    times: Counter[str] = Counter()
    bits = 0
    for word in text:
        times[word] += 1
        bits |= 1 << known.setdefault((word, times[word]), len(known))
    return bits


def _stems(text: str) -> set[str]:
    """The beginnings of the words that mean something."""
    return {word[:_STEM] for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS}


COPIED_TABLE = "duplicate-table"
"""The kind of a finding on a table that is a copy of another experiment's."""


def audit_scores(scores: list[PublishedScore]) -> list[Finding]:
    """Copied tables, columns and rows, values that no score can have, and tables that contradict each other.

    `excludes` of a finding holds for each cell that its `cell` names.
    """
    found: list[Finding] = []
    for tables in _by_system(scores):
        copies = find_copies(tables)
        for copy in copies:
            found += _copied(copy)
        found += _unreachable(tables)
        found += _impossible_means(tables)
        found += _contradictions(tables, copies)
    return found


def _by_system(scores: list[PublishedScore]) -> Iterator[Tables]:
    """The tables of each system."""
    systems: defaultdict[str, Tables] = defaultdict(dict)
    for score in scores:
        if score.experiment != "regulation":
            kind: TableKind = "m_all" if score.document else "metrics"
            table = systems[score.system].setdefault(
                (kind, score.experiment), PublishedTable(kind, score.experiment, {})
            )
            table.rows.setdefault(score.question, {})[score.document] = score
    return iter(systems.values())


def _copied(copy: Copy) -> Iterator[Finding]:
    """The finding on a copy; where it is one by the rule alone, on the original as well."""
    whole = {question for question, _ in copy.cells} == set(copy.copy.rows) and copy.part.split()[-1] == "scores"
    kind = COPIED_TABLE if whole else "duplicate-scores"
    equal = f"{copy.part} equal those of"
    yield _finding(kind, copy.copy.scores(copy.cells), f"{equal} {copy.original}; {copy.why}.", excludes="score")
    if not copy.sure:
        said = f"{equal} {copy.copy}; nothing shows which is the copy, and by rule these are counted."
        yield _finding(kind, copy.original.scores(copy.original_cells), said)


def _unreachable(tables: Tables) -> Iterator[Finding]:
    """Cells that no score, nor the mean of a user question's three, can come to."""
    for score in (one for table in tables.values() for row in table.rows.values() for one in row.values()):
        if score.document:
            known = _of_three() if origin_of(score.question) == "user" else _single()
            value = score.m_all or 0.0
            nearest = min(known, key=lambda possible, value=value: abs(possible - value))  # type: ignore[misc]
            if abs(nearest - value) > M_ALL_ROUNDING:
                what = "a score" if known is _single() else f"one score or the mean of {PARAPHRASES}"
                said = f"{value:g} can't be {what}; the nearest that can is {nearest:.4g}."
                yield _finding("unreachable-score", [score], said, excludes="score")


def _impossible_means(tables: Tables) -> Iterator[Finding]:
    """Rows of metrics in which one can't be the mean of as many values; they stay, for it may be one of fewer."""
    step = min(abs(one - other) for one in shipped_rubric().values for other in shipped_rubric().values if one != other)
    for score in (one for table in tables.values() for row in table.rows.values() for one in row.values()):
        if score.document or not score.averaged:
            continue
        for metric in shipped_rubric().metrics:
            steps = (score[metric] or 0.0) * score.averaged / step
            if abs(steps - round(steps)) * step / score.averaged > ROUNDING:
                said = f"{metric.title()} {score[metric]:g} can't be the mean of {score.averaged} values."
                yield _finding("unreachable-score", [score], said)


@cache
def _single() -> tuple[float, ...]:
    """Every value of M_all that five metrics can come to."""
    paper = shipped_rubric()
    scores = map(paper.parse_keys, map("".join, product(paper.keys, repeat=len(paper.metrics))))
    return tuple(sorted({round(paper.m_all(score), 6) for score in scores}))


@cache
def _of_three() -> tuple[float, ...]:
    """Every mean of three of them."""
    means = (sum(three) / PARAPHRASES for three in combinations_with_replacement(_single(), PARAPHRASES))
    return tuple(sorted(set(means)))


def _contradictions(tables: Tables, copies: Iterable[Copy]) -> Iterator[Finding]:
    """Rows whose mean isn't what the metrics imply: a rule chooses, unless one of them holds a copy."""
    copied = {(copy.copy, question) for copy in copies for question, _ in copy.cells}
    for table in tables.values():
        metrics = counterpart(tables, table)
        if table.kind == "metrics" or metrics is None:
            continue
        loses = _complete(table) < _complete(metrics)
        for question, row in table.rows.items():
            differ = contradicted(tables, table, question)
            if differ is None:
                continue
            rows, means = list(row.values()), metrics.rows[question][""]
            of_row = (
                f"The row's scores average {differ[0]:.1f}; the metrics in {PurePosixPath(means.file).name}, sheet "
                f"'{means.sheet}', row {means.cell[1:]}, imply {differ[1]:.1f}."
            )
            of_means = (
                f"The metrics imply {differ[1]:.1f}; the row's scores in {PurePosixPath(rows[0].file).name}, "
                f"row {rows[0].cell[1:]}, average {differ[0]:.1f}."
            )
            if (table, question) in copied:
                yield _finding("tables-contradict", rows, f"{of_row} The row holds a copy.")
            if (metrics, question) in copied:
                yield _finding("tables-contradict", [means], f"{of_means} The metrics are a copy.")
            if not {(table, question), (metrics, question)} & copied:
                rule = f" M_all is taken from {metrics if loses else table}, by rule."
                yield _finding("tables-contradict", rows, of_row + rule, excludes="score" if loses else "")
                yield _finding("tables-contradict", [means], of_means + rule)


def _complete(table: PublishedTable) -> int:
    """Number of questions with a number in each column."""
    return sum(len(row) == (1 if table.kind == "metrics" else len(table.columns)) for row in table.rows.values())


def _finding(kind: str, cells: list[PublishedScore], reason: str, excludes: Literal["", "score"] = "") -> Finding:
    """A finding about these cells of one table."""
    first = cells[0]
    documents, questions = {score.document for score in cells}, {score.question for score in cells}
    return Finding(
        kind=kind,
        file=first.file,
        sheet=first.sheet,
        cell=_ranges(cells),
        reason=reason,
        system=first.system,
        experiment=first.experiment,
        document=first.document if len(documents) == 1 else "",
        question=first.question if len(questions) == 1 else "",
        excludes=excludes,
    )


def _ranges(cells: list[PublishedScore]) -> str:
    """The cells as a spreadsheet names them: "B2:F33", or "B2:B4, B6:B8" where there are others in between."""
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for score in cells:
        lines[_line(score.cell)].append(score.cell)
    ranges = []
    # Lines in a row are as far from their place in the list.
    for _, run in groupby(enumerate(sorted(lines)), key=lambda placed: placed[1] - placed[0]):
        each = [line for _, line in run]
        first, last = lines[each[0]][0], lines[each[-1]][-1]
        ranges.append(first if first == last else f"{first}:{last}")
    return ", ".join(ranges)


def _line(cell: str) -> int:
    return int(re.sub(r"\D", "", cell))


def exclude_answers(findings: Iterable[Finding]) -> dict[str, Exclusion]:
    """Return the answers that analyses leave out by default, by their keys, each by the first finding that says so."""
    excluded: dict[str, Exclusion] = {}
    for finding in findings:
        if finding.excludes == "answer":
            excluded.setdefault(finding.key, Exclusion("answer", finding.key, finding.kind, finding.reason))
    return excluded


def exclude_annotations(findings: Iterable[Finding]) -> list[Exclusion]:
    """Return the annotated answers that are wrong."""
    return [
        Exclusion("annotation", f"{finding.document}|{finding.question}", finding.kind, finding.reason)
        for finding in findings
        if finding.kind.startswith("annotation-")
    ]


def exclude_scores(
    scores: list[PublishedScore], findings: list[Finding], answers: list[Answer]
) -> dict[PublishedScore, Exclusion]:
    """Return the scores that analyses leave out by default.

    Left out is what a finding about the score itself says, or findings about all the answers that it was given to. A
    mean over documents is left out as well where one of them has answers to something else, or a copied column that the
    mean agrees with: it rests on them.
    """
    about_scores = [finding for finding in findings if finding.excludes == "score"]
    about_answers = {finding.key: finding for finding in findings if finding.excludes == "answer"}
    contradicting = {
        (finding.system, finding.experiment, finding.question)
        for finding in findings
        if finding.kind == "tables-contradict"
    }
    keys: defaultdict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for answer in answers:
        if answer.text is not None:
            keys[answer.system, answer.experiment, answer.document, answer.question].append(answer.key)
    each: list[list[Finding]] = []
    within: defaultdict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for score in scores:
        reasons = [finding for finding in about_scores if _concerns(finding, score)]
        behind = keys.get((score.system, score.experiment, score.document, score.question), [])
        if behind and all(key in about_answers for key in behind):
            reasons.append(about_answers[behind[0]])
        each.append(reasons)
        row = (score.system, score.experiment, score.question)
        for finding in reasons if score.document else ():
            column = finding.kind == "duplicate-scores" and finding.document
            if finding.excludes == "answer" or (column and row not in contradicting):
                reason = f"The mean includes {score.document}. {finding.reason}"
                within[row].append(replace(finding, reason=reason))
    excluded: dict[PublishedScore, Exclusion] = {}
    for score, own in zip(scores, each, strict=True):
        reasons = own if score.document else [*own, *within[score.system, score.experiment, score.question]]
        if reasons:
            # That a whole table is a copy says more of a score than what else is wrong with it.
            first = min(reasons, key=lambda finding: finding.kind != COPIED_TABLE)
            excluded[score] = Exclusion("score", score.key, first.kind, first.reason)
    return excluded


def _concerns(finding: Finding, score: PublishedScore) -> bool:
    """Whether the score is in the cells of the finding."""
    if (finding.file, finding.sheet) != (score.file, score.sheet):
        return False
    if finding.document not in ("", score.document) or finding.question not in ("", score.question):
        return False
    ranges = [[_line(cell) for cell in one.split(":")] for one in finding.cell.split(", ")]
    return any(min(lines) <= _line(score.cell) <= max(lines) for lines in ranges)
