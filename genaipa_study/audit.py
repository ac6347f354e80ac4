"""Audit of the published answers, of the annotated answers that they are compared with, and of the published scores.

Repeats are answers that say the same, word for word or nearly: under two questions, or to one question in several runs.

Of the scores it finds copies, impossible values, and tables that contradict each other. What is wrong is left out of
analyses: copies, impossible values, and what was scored on answers to something else. Where nothing shows which of two
sources is wrong, one of them is chosen by a rule:

- of two equal parts the original stays (`copies.find_table_copies` says which that is);
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
from genaipa.scoring.evidence.doubts import FUNCTION_WORDS, describe_likely_wrong_cited_section
from genaipa.scoring.rubric import shipped_rubric
from genaipa.words import join_some
from genaipa_study.copies import (
    M_ALL_ROUNDING,
    ROUNDING,
    PublishedTable,
    find_table_copies,
    same_experiment_table_of_other_kind,
    two_means_if_they_differ,
)
from genaipa_study.findings import Finding, make_finding_about_answer
from genaipa_study.layout import DOCUMENTS, faq_or_user_origin, parse_question_id_and_label_number, read_csv_rows
from genaipa_study.results import PARAPHRASES
from genaipa_study.sheets import column_letter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.datasets.study import PublishedAnswer
    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Annotations
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.imported import PublishedScore
    from genaipa_study.copies import PresumedCopy, TableKind, Tables
    from genaipa_study.layout import PublishedTree


# Names by which an answer mentions a company, beside the companies that go by their own name.
_NAMES = {"facebook": "Facebook|Meta|Instagram", "twitter": "Twitter|[Tt]weets?|X Corp"}
_ENOUGH = 3
"""Answers of a block that have to name another company before the block is taken to be about it."""
_NEAR = 0.95
"""Share of the words of two texts, in their order, from which on they are nearly the same."""


def audit_answers(answers: list[PublishedAnswer], questions: QuestionSet) -> list[Finding]:
    """Find answers about another company or to another question, repeats, and texts without their first letter."""
    return [
        *_find_answers_of_wrong_company_runs(answers),
        *audit_repeated_answers(answers, questions),
        *(
            make_finding_about_answer(
                answer, "lost-first-letter", "The text begins in the middle of a word; the rest is as published."
            )
            for answer in answers
            if answer.text and answer.text.lstrip()[:1].islower()
        ),
    ]


def _group_answers_by_run(answers: Iterable[PublishedAnswer]) -> dict[tuple[object, ...], list[PublishedAnswer]]:
    """Group the answers by block: one sheet, one experiment, one run."""
    blocks: dict[tuple[object, ...], list[PublishedAnswer]] = defaultdict(list)
    for answer in answers:
        if answer.text is not None:
            blocks[answer.file, answer.sheet, answer.experiment, answer.repetition].append(answer)
    return blocks


def _find_answers_of_wrong_company_runs(answers: list[PublishedAnswer]) -> Iterator[Finding]:
    """Yield every answer of a block that is about another company, whether it names one or not."""
    companies = [name for name, document in DOCUMENTS.items() if document.kind == "policy"]
    patterns = {name: re.compile(rf"\b(?:{_NAMES.get(name, DOCUMENTS[name].company)})\b") for name in companies}
    for block in _group_answers_by_run(answers).values():
        mentions = Counter(
            name for answer in block for name, pattern in patterns.items() if pattern.search(answer.text or "")
        )
        own_count = mentions.pop(block[0].document, 0)
        other_name, count = max(mentions.items(), key=lambda item: item[1], default=("", 0))
        # Half of a block may name its own company as well: a system that was asked about it says so.
        if count >= min(_ENOUGH, len(block)) and count >= 2 * own_count:
            reason = (
                f"{count} of the {len(block)} answers of this run name {DOCUMENTS[other_name].company}, and "
                f"{own_count} name {DOCUMENTS[block[0].document].company}: the run is about another company."
            )
            for answer in block:
                yield make_finding_about_answer(answer, "other-company", reason, excludes=True)


def audit_annotations(tree: PublishedTree, document: Document, annotations: Annotations) -> Iterator[Finding]:
    """Yield annotated answers that cite the wrong part, and copies of another answer."""
    path = f"Annotated Answers/Privacy Policy Answers/annotated_answers_{document.company}.csv"
    cells = _map_questions_to_annotation_cells(tree, path)
    for question, answer in annotations.answers.items():
        position = (path, "", cells.get(question, ""))
        if "is a copy of" in answer.note:
            yield Finding("annotation-copied", *position, answer.note, document=document.name, question=question)
        if misplacement := describe_likely_wrong_cited_section(answer, document, annotations.part_set):
            yield Finding("annotation-wrong-part", *position, misplacement, document=document.name, question=question)


def _map_questions_to_annotation_cells(tree: PublishedTree, path: str) -> dict[str, str]:
    """Return question id → the cell of its annotated answer."""
    first, *rows = read_csv_rows(tree.folder / path) or [[]]
    header = [name.strip().lower().replace("_", " ") for name in first]
    letter = column_letter(header.index("annotated answer") + 1) if "annotated answer" in header else ""
    cells = {}
    for number, row in enumerate(rows, start=2):
        label = next((parsed for cell in row if (parsed := parse_question_id_and_label_number(cell))), None)
        if label:
            cells[label[0]] = f"{letter}{number}"
    return cells


_GENERIC = 8
"""Words below which one text can well answer two questions."""
_PAIR = 2
"""Questions between which a copy is sought; a text under more of them is a stock reply."""
_MAX_NAMED = 5
"""Places that a finding names."""
_STEM = 5
"""Letters by which two forms of a word are the same word: "secured" and "security"."""

_Text = tuple[str, ...]


def audit_repeated_answers(answers: Iterable[PublishedAnswer], questions: QuestionSet) -> Iterator[Finding]:
    """Yield equal and nearly equal answers of a system about a document, in all experiments and runs.

    Left out is only an answer whose text was also given to one other question, which it fits better.
    """
    answers_by_subject: defaultdict[tuple[str, str], defaultdict[_Text, list[PublishedAnswer]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for answer in answers:
        text = tuple((answer.text or "").lower().split())
        if len(text) >= _GENERIC:
            answers_by_subject[answer.system, answer.document][text].append(answer)
    for answers_by_text in answers_by_subject.values():
        for text, sharing in answers_by_text.items():
            if len({answer.question for answer in sharing}) > 1:
                yield from _find_answers_to_other_questions(text, sharing, questions)
            elif len(sharing) > 1:
                yield _make_finding_on_repeated_answer("repeated-answer", sharing, "The same text, word for word, is")
        for text_one, text_two, similarity in _find_nearly_equal_texts(answers_by_text):
            alike_answers = [*answers_by_text[text_one], *answers_by_text[text_two]]
            kind = "repeated-answer" if len({answer.question for answer in alike_answers}) == 1 else "near-copy"
            yield _make_finding_on_repeated_answer(
                kind, alike_answers, f"Nearly the same text ({similarity:.1%} of the words) is"
            )


def _find_answers_to_other_questions(
    text: _Text, answers_with_text: list[PublishedAnswer], questions: QuestionSet
) -> Iterator[Finding]:
    """Exclude a text under the one of two questions that it fits less; under more questions, mention it."""
    text_stems = _word_stems(" ".join(text))
    fits: Counter[str] = Counter()
    for answer in answers_with_text:
        shared = len(_word_stems(questions[answer.question].text_in_wording(answer.wording)) & text_stems)
        fits[answer.question] = max(fits[answer.question], shared)
    (rightful, best_fit), (_, worst_fit) = fits.most_common()[0], fits.most_common()[-1]
    if len(fits) > _PAIR or best_fit == worst_fit:
        yield _make_finding_on_repeated_answer(
            "same-answer", answers_with_text, "It is unknown which question the text answers; the same text is"
        )
        return
    for answer in answers_with_text:
        if answer.question != rightful:
            reason = f"The text is the answer to {rightful}, word for word."
            yield make_finding_about_answer(answer, "other-question", reason, excludes=True)


def _make_finding_on_repeated_answer(kind: str, equal_answers: list[PublishedAnswer], sentence_start: str) -> Finding:
    """Return a finding on the first of these answers that names the places of the others."""
    first, *repeats = equal_answers
    places = [
        f"{answer.cell} ({answer.question}, {answer.experiment}, {answer.wording}, run {answer.repetition})"
        for answer in repeats
    ]
    return make_finding_about_answer(first, kind, f"{sentence_start} in {join_some(places, _MAX_NAMED)}.")


def _find_nearly_equal_texts(texts: Iterable[_Text]) -> Iterator[tuple[_Text, _Text, float]]:
    """Yield pairs of texts that are nearly the same, and how much they have in common."""
    bit_by_word: dict[tuple[str, int], int] = {}
    texts_with_bits = [(text, _encode_words_as_bits(text, bit_by_word)) for text in sorted(texts, key=len)]
    for index, (text, bits) in enumerate(texts_with_bits):
        for longer_text, longer_bits in texts_with_bits[index + 1 :]:
            total = len(text) + len(longer_text)
            if 2 * len(text) < _NEAR * total:
                break  # this one and all behind it are too much longer
            if 2 * (bits & longer_bits).bit_count() >= _NEAR * total:
                similarity = SequenceMatcher(None, text, longer_text, autojunk=False).ratio()
                if similarity >= _NEAR:
                    yield text, longer_text, similarity


def _encode_words_as_bits(text: _Text, bit_by_word: dict[tuple[str, int], int]) -> int:
    """Return a number with a bit for every word of a text, numbered if repeated; `bit_by_word` grows with new words."""
    times: Counter[str] = Counter()
    bits = 0
    for word in text:
        times[word] += 1
        bits |= 1 << bit_by_word.setdefault((word, times[word]), len(bit_by_word))
    return bits


def _word_stems(text: str) -> set[str]:
    """Return the beginnings of the words that mean something."""
    return {word[:_STEM] for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS}


COPIED_TABLE = "duplicate-table"
"""The kind of a finding on a table that is a copy of another experiment's."""


def audit_scores(scores: list[PublishedScore]) -> list[Finding]:
    """Find copied tables, columns and rows, values that no score can have, and tables that contradict each other.

    `excludes` of a finding holds for each cell that its `cell` names.
    """
    findings: list[Finding] = []
    for tables in _group_tables_by_system(scores):
        copies = find_table_copies(tables)
        for copy in copies:
            findings += _findings_on_copy_and_unsure_original(copy)
        findings += _find_unreachable_scores(tables)
        findings += _find_impossible_means(tables)
        findings += _find_tables_with_contradicting_means(tables, copies)
    return findings


def _group_tables_by_system(scores: list[PublishedScore]) -> Iterator[Tables]:
    systems: defaultdict[str, Tables] = defaultdict(dict)
    for score in scores:
        if score.experiment != "regulation":
            kind: TableKind = "m_all" if score.document else "metrics"
            table = systems[score.system].setdefault(
                (kind, score.experiment), PublishedTable(kind, score.experiment, {})
            )
            table.rows.setdefault(score.question, {})[score.document] = score
    return iter(systems.values())


def _findings_on_copy_and_unsure_original(presumed_copy: PresumedCopy) -> Iterator[Finding]:
    """Yield the finding on a copy; where it is one by the rule alone, on the original as well."""
    whole = {question for question, _ in presumed_copy.cells} == set(
        presumed_copy.copy.rows
    ) and presumed_copy.part.split()[-1] == "scores"
    kind = COPIED_TABLE if whole else "duplicate-scores"
    equal = f"{presumed_copy.part} equal those of"
    yield _make_finding_about_scores(
        kind,
        presumed_copy.copy.scores_of_cells(presumed_copy.cells),
        f"{equal} {presumed_copy.original}; {presumed_copy.why}.",
        excludes="score",
    )
    if not presumed_copy.sure:
        reason = (
            f"{equal} {presumed_copy.copy}; nothing shows which one is the copy, so a rule decides, and these "
            "scores count."
        )
        yield _make_finding_about_scores(
            kind, presumed_copy.original.scores_of_cells(presumed_copy.original_cells), reason
        )


def _find_unreachable_scores(tables: Tables) -> Iterator[Finding]:
    """Yield cells that no score, nor the mean of a user question's three, can come to."""
    for score in (
        score_of_row for table in tables.values() for row in table.rows.values() for score_of_row in row.values()
    ):
        if score.document:
            possible_values = (
                _list_possible_m_all_means_of_three()
                if faq_or_user_origin(score.question) == "user"
                else _list_possible_m_all_values()
            )
            value = score.m_all or 0.0
            nearest = min(possible_values, key=lambda possible, value=value: abs(possible - value))  # type: ignore[misc]
            if abs(nearest - value) > M_ALL_ROUNDING:
                noun = (
                    "a score"
                    if possible_values is _list_possible_m_all_values()
                    else f"one score or the mean of {PARAPHRASES} scores"
                )
                reason = f"{value:g} can't be {noun}; the nearest possible value is {nearest:.4g}."
                yield _make_finding_about_scores("unreachable-score", [score], reason, excludes="score")


def _find_impossible_means(tables: Tables) -> Iterator[Finding]:
    """Yield rows of metrics in which one can't be the mean of as many values; they stay, for it may be one of fewer."""
    step = min(
        abs(value - other_value)
        for value in shipped_rubric().values
        for other_value in shipped_rubric().values
        if value != other_value
    )
    for score in (value for table in tables.values() for row in table.rows.values() for value in row.values()):
        if score.document or not score.averaged:
            continue
        for metric in shipped_rubric().metrics:
            steps = (score[metric] or 0.0) * score.averaged / step
            if abs(steps - round(steps)) * step / score.averaged > ROUNDING:
                reason = f"{metric.title()} {score[metric]:g} can't be the mean of {score.averaged} values."
                yield _make_finding_about_scores("unreachable-score", [score], reason)


@cache
def _list_possible_m_all_values() -> tuple[float, ...]:
    """Return every value of M_all that five metrics can come to."""
    paper = shipped_rubric()
    scores = map(paper.parse_digits, map("".join, product(paper.value_by_digit, repeat=len(paper.metrics))))
    return tuple(sorted({round(paper.m_all(score), 6) for score in scores}))


@cache
def _list_possible_m_all_means_of_three() -> tuple[float, ...]:
    """Return every mean of three values of M_all."""
    means = (
        sum(three) / PARAPHRASES for three in combinations_with_replacement(_list_possible_m_all_values(), PARAPHRASES)
    )
    return tuple(sorted(set(means)))


def _find_tables_with_contradicting_means(tables: Tables, copies: Iterable[PresumedCopy]) -> Iterator[Finding]:
    """Yield rows whose mean isn't what the metrics imply: a rule chooses, unless one of them holds a copy."""
    copied = {(copy.copy, question) for copy in copies for question, _ in copy.cells}
    for table in tables.values():
        metrics = same_experiment_table_of_other_kind(tables, table)
        if table.kind == "metrics" or metrics is None:
            continue
        loses = _count_complete_questions(table) < _count_complete_questions(metrics)
        for question, row in table.rows.items():
            differ = two_means_if_they_differ(tables, table, question)
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
                yield _make_finding_about_scores("tables-contradict", rows, f"{of_row} The row includes copied scores.")
            if (metrics, question) in copied:
                yield _make_finding_about_scores("tables-contradict", [means], f"{of_means} The metrics are a copy.")
            if not {(table, question), (metrics, question)} & copied:
                rule = f" By rule, M_all is taken from {metrics if loses else table}."
                yield _make_finding_about_scores(
                    "tables-contradict", rows, of_row + rule, excludes="score" if loses else ""
                )
                yield _make_finding_about_scores("tables-contradict", [means], of_means + rule)


def _count_complete_questions(table: PublishedTable) -> int:
    """Count the questions with a number in each column."""
    return sum(
        len(row) == (1 if table.kind == "metrics" else len(table.document_or_metric_columns))
        for row in table.rows.values()
    )


def _make_finding_about_scores(
    kind: str, scores: list[PublishedScore], reason: str, excludes: Literal["", "score"] = ""
) -> Finding:
    """Return a finding about these cells of one table."""
    first = scores[0]
    documents, questions = {score.document for score in scores}, {score.question for score in scores}
    return Finding(
        kind=kind,
        file=first.file,
        sheet=first.sheet,
        cell=_format_cell_ranges(scores),
        reason=reason,
        system=first.system,
        experiment=first.experiment,
        document=first.document if len(documents) == 1 else "",
        question=first.question if len(questions) == 1 else "",
        excludes=excludes,
    )


def _format_cell_ranges(cells: list[PublishedScore]) -> str:
    """Name the cells as a spreadsheet does: "B2:F33", or "B2:B4, B6:B8" where there are others in between."""
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for score in cells:
        lines[_row_number(score.cell)].append(score.cell)
    ranges = []
    # Lines in a row are as far from their place in the list.
    for _, run in groupby(enumerate(sorted(lines)), key=lambda placed: placed[1] - placed[0]):
        run_lines = [line for _, line in run]
        first, last = lines[run_lines[0]][0], lines[run_lines[-1]][-1]
        ranges.append(first if first == last else f"{first}:{last}")
    return ", ".join(ranges)


def _row_number(cell: str) -> int:
    return int(re.sub(r"\D", "", cell))


def make_answer_exclusions(findings: Iterable[Finding]) -> dict[str, Exclusion]:
    """Return the answers that analyses leave out by default, by their keys, each by the first finding that says so."""
    excluded: dict[str, Exclusion] = {}
    for finding in findings:
        if finding.excludes == "answer":
            excluded.setdefault(finding.key, Exclusion("answer", finding.key, finding.kind, finding.reason))
    return excluded


def make_annotation_exclusions(findings: Iterable[Finding]) -> list[Exclusion]:
    """Return the annotated answers that are wrong."""
    return [
        Exclusion("annotation", f"{finding.document}|{finding.question}", finding.kind, finding.reason)
        for finding in findings
        if finding.kind.startswith("annotation-")
    ]


def make_score_exclusions(
    scores: list[PublishedScore], findings: list[Finding], answers: list[PublishedAnswer]
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
    reasons_by_score: list[list[Finding]] = []
    reasons_of_means: defaultdict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for score in scores:
        reasons = [finding for finding in about_scores if _does_finding_concern_score(finding, score)]
        answer_keys = keys.get((score.system, score.experiment, score.document, score.question), [])
        if answer_keys and all(key in about_answers for key in answer_keys):
            reasons.append(about_answers[answer_keys[0]])
        reasons_by_score.append(reasons)
        row = (score.system, score.experiment, score.question)
        for finding in reasons if score.document else ():
            column = finding.kind == "duplicate-scores" and finding.document
            if finding.excludes == "answer" or (column and row not in contradicting):
                reason = f"The mean includes {score.document}. {finding.reason}"
                reasons_of_means[row].append(replace(finding, reason=reason))
    excluded: dict[PublishedScore, Exclusion] = {}
    for score, own_reasons in zip(scores, reasons_by_score, strict=True):
        reasons = (
            own_reasons
            if score.document
            else [*own_reasons, *reasons_of_means[score.system, score.experiment, score.question]]
        )
        if reasons:
            # That a whole table is a copy says more of a score than what else is wrong with it.
            first = min(reasons, key=lambda finding: finding.kind != COPIED_TABLE)
            excluded[score] = Exclusion("score", score.document_question_exclusion_key, first.kind, first.reason)
    return excluded


def _does_finding_concern_score(finding: Finding, score: PublishedScore) -> bool:
    """Tell whether the score is in the cells of the finding."""
    if (finding.file, finding.sheet) != (score.file, score.sheet):
        return False
    if finding.document not in ("", score.document) or finding.question not in ("", score.question):
        return False
    ranges = [[_row_number(cell) for cell in cell_range.split(":")] for cell_range in finding.cell.split(", ")]
    return any(min(lines) <= _row_number(score.cell) <= max(lines) for lines in ranges)
