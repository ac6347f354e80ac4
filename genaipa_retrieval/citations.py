"""Citations by a vendor's own feature, beside those in the answer's words, against the annotated sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from genaipa.answers.fact import Column, Fact
from genaipa.errors import GenaipaError
from genaipa.reports import averages
from genaipa.reports.averages import BOTH
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.table import Table, make_table
from genaipa_retrieval.fact import make_passage_counter

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.answers.fact import Row, RunInputs
    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope
    from genaipa.runs.records import MeasuredRecordHead

_MEANINGS = {
    "vendor_citations": "passages that the answer cites through its vendor's own feature; empty, like the next seven "
    "columns, where the run did not ask for any",
    "vendor_right": "those of them that contain a sentence of the sections that the annotated answer rests on",
    "vendor_unplaced": "those of them that are not in the document",
    "vendor_sections": "annotated sections from which the feature cites a sentence",
    "own_citations": "citations of this document in the answer's own words (found by rules)",
    "own_right": "those of them that are, contain or lie in an annotated section",
    "own_sections": "annotated sections that the answer's own words cite",
    "annotated_sections": "sections that the annotated answer rests on",
}
_BY = ["system", "experiment"]


class VendorCitations(Fact):
    """The citations of an answer by its vendor's feature, and in its own words."""

    name = "vendor-citations"
    columns: ClassVar = {name: Column("float64", meaning) for name, meaning in _MEANINGS.items()}
    texts = frozenset({"reply", "passages", "document", "annotation"})

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:
        """Count both kinds of citations, of an answer of a run that asked for the vendor's."""
        if not run.inputs.manifest.spec.citations or record.kind != "answer":
            return {}
        try:
            return _count_vendor_and_own_citations(run, record)
        except GenaipaError:
            return {}  # which is said elsewhere


def _count_vendor_and_own_citations(run: RunInputs, record: MeasuredRecordHead) -> Row:
    from genaipa.scoring.evidence.examine import collect_reply_evidence, locate_annotated_sections
    from genaipa.scoring.evidence.section_finder import overlap_by_half_of_shorter

    document = run.inputs.document(record.document)
    annotated, part_set = run.inputs.annotated_answer_and_part_set_name(
        record.document, record.question, corrected=run.corrected
    )
    right = run.compute_once(make_passage_counter).right_sections(record.document, record.question)
    cited = [passage for passage in record.passages if passage.cited]
    spans = [(passage.start, passage.end) for passage in cited if passage.start is not None and passage.end is not None]
    evidence = collect_reply_evidence(
        record.reply or "",
        document,
        part_spans_given=run.inputs.spans_of_document_parts_given(record),
        annotated=annotated,
        annotated_part_set=part_set,
        system_had_summary=record.coordinates.get("initialization", "").startswith("summary"),
    )
    targets = (
        [span for _, span in locate_annotated_sections(annotated, document, part_set) if span] if annotated else []
    )
    own_references = [reference for reference in evidence.references if not reference.outside]
    return {
        "vendor_citations": len(cited),
        "vendor_right": sum(right.overlaps_passage(span) for span in spans),
        "vendor_unplaced": len(cited) - len(spans),
        "vendor_sections": sum(
            any(overlap_by_half_of_shorter(sentence, span) for sentence in sentences for span in spans)
            for sentences in right.sections
        ),
        "own_citations": len(own_references),
        "own_right": sum(bool(reference.expected) for reference in own_references),
        "own_sections": len({targets[index] for reference in own_references for index in reference.expected}),
        "annotated_sections": len(right.sections),
    }


class CitationsChapter(ChapterMaker):
    """Whether the citations of a vendor's feature are of the sections that the right answer rests on."""

    needs = frozenset({"vendor_citations"})
    after = "silent"

    def make(self, study: Study, scope: FigureScope) -> Chapter:  # noqa: ARG002 - no figure
        """Make the chapter."""
        table = tabulate_vendor_and_own_citation_quality(study)
        return Chapter(
            "vendor-citations",
            "Citations of the vendor's feature",
            "Whether the passages that an answer cites through its vendor's own feature are those that the "
            "right answer rests on.",
            nonempty_tables(table),
            [],
            [] if table else ["No answer with such citations has an annotated answer that rests on a section."],
        )


def tabulate_vendor_and_own_citation_quality(study: Study) -> Table:
    """Tabulate recall and precision of the feature's citations, beside those of the answer's own words."""
    rows = study.rows_once_per_answer("vendor-citations")
    rows = rows[(rows["annotated_sections"] > 0) & ~rows["left_out"]]
    data = averages.summarize_each_group(rows, _BY, _compare_vendor_and_own_citations)
    shares = ("vendor_recall", "own_recall", "mean", *BOTH[:-1], "vendor_precision", "own_precision", "unplaced")
    columns = [*_BY, "answers", "vendor_recall", "own_recall", "n", "mean", *BOTH]
    columns += ["vendor_precision", "own_precision", "each", "unplaced"]
    data = data.reindex(columns=columns)
    return make_table(
        "vendor-citations",
        "Citations through the vendor's feature and in the answer's own words",
        "Answers whose annotated answer rests on sections of the document. Recall is the share of these sections that "
        "an answer cites: from which the feature cites a sentence, or which its own words name (found by rules). "
        "Precision is the share of all citations that cite such a section; a citation of words that are not in the "
        "document counts as a wrong one. The difference of the recalls is paired by answer. "
        f"{averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        headings={
            "vendor_recall": "recall, feature",
            "own_recall": "recall, own words",
            "n": "questions",
            "mean": "recall, feature minus own words",
            "vendor_precision": "precision, feature",
            "own_precision": "precision, own words",
            "each": "citations by answer",
            "unplaced": "not in the document",
        },
        formats={"answers": ",d", "each": ".1f", **dict.fromkeys(shares, ".0%")},
    )


def _compare_vendor_and_own_citations(rows: pd.DataFrame) -> dict[str, object]:
    vendor_recalls, own_recalls = (
        rows[name] / rows["annotated_sections"] for name in ("vendor_sections", "own_sections")
    )
    recalls = [
        estimate_crossed_mean(recall, rows["question"], rows["document"]).mean
        for recall in (vendor_recalls, own_recalls)
    ]
    difference = estimate_crossed_mean(vendor_recalls - own_recalls, rows["question"], rows["document"], limits=(-1, 1))
    sums = rows[[*_MEANINGS]].sum()
    return {
        "answers": len(rows),
        "vendor_recall": recalls[0],
        "own_recall": recalls[1],
        **averages.mean_and_interval_columns(difference),
        "vendor_precision": sums["vendor_right"] / (sums["vendor_citations"] or float("nan")),
        "own_precision": sums["own_right"] / (sums["own_citations"] or float("nan")),
        "each": rows["vendor_citations"].mean(),
        "unplaced": sums["vendor_unplaced"] / (sums["vendor_citations"] or float("nan")),
    }
