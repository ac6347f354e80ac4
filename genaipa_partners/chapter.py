"""Partners: how harsh each is, how far they agree, and the ranking without that; a chapter of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd

from genaipa.languages.catalog import language_name
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.conduct import describe_scores_not_blind
from genaipa.reports.crossed import document_numbers_or_minus_one, number_labels_and_list_distinct
from genaipa.reports.table import Table, make_table
from genaipa.scoring.agreement import alpha_ac2_and_reason_columns, measure_agreement_by_group
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.words import format_count
from genaipa_partners.joining import read_partner_or_empty
from genaipa_partners.severity import (
    LEAST_ANSWERS,
    LEAST_PARTNERS,
    LEVEL,
    SEVERITY_LEVEL,
    average_without_partner_severity,
    fit_partner_severities,
    measure_partner_severities,
    measure_severities_on_shared_answers,
)
from genaipa_partners.split import read_pack_digests_and_shared_digests

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope
    from genaipa.scoring.events import Event
    from genaipa.stats.arrays import Floats, Labels

_METHOD = f"""A partner&rsquo;s severity is the mean difference of their M<sub>all</sub> from the other partners&rsquo;,
on the answers that they share and, within each system and language, on their own, which chance dealt; both are weighted
by their precision. Student&rsquo;s t, robust and never below all partners&rsquo; variance; intervals hold for all
partners together ({SEVERITY_LEVEL:.1%}, Bonferroni). Whoever stands out is left out of what the others are compared
with. The ranking takes severities out by weighted least squares."""
_WITHIN, _BETWEEN = "within a partner", "between partners"


class PartnersChapter(ChapterMaker):
    """Severity of partners, their agreement, and averages without severity."""

    needs = frozenset({"partner"})
    needs_scores = True
    after = "agreement"
    is_urgent = True

    def make(self, study: Study, scope: FigureScope) -> Chapter | None:  # noqa: ARG002 - without figures
        """Make the chapter; None where one partner alone scored."""
        scores = average_scores_given_by_partners(study)
        if scores["partner"].nunique() < 2:  # noqa: PLR2004 - nobody to compare with
            return None
        return Chapter(
            "partners",
            "Partners",
            "Partners scored parts that chance dealt, and some answers all of them: both tell how harsh each is. "
            f"{describe_scores_not_blind(_name_partners_as_analysts(study.independent_scores))}".strip(),
            nonempty_tables(
                tabulate_partner_severities(scores),
                rank_systems_without_partner_severity(scores),
                tabulate_alpha_in_and_across_partners(study),
            ),
            method=_METHOD,
            first=("partners",),
        )

    def notable(self, study: Study) -> Iterable[str]:
        """Return a sentence on each partner who stands out."""
        table = tabulate_partner_severities(average_scores_given_by_partners(study))
        for row in table.data.to_dict("records"):
            if row["stands_out"]:
                yield describe_partner_severity(row)


def describe_partner_severity(severity_row: Any) -> str:
    """Return how a partner who stands out differs from the others."""
    harsher = severity_row["difference"] < 0
    ends = sorted(abs(severity_row[end]) for end in ("low", "high"))
    answers = [f"the same {format_count(severity_row['shared'], 'answer')}"] if severity_row["shared"] else []
    answers += [f"{format_count(severity_row['own'], 'answer')} of their own"] if severity_row["own"] else []
    return (
        f"{severity_row['partner']} scores {abs(severity_row['difference']):.1f} points "
        f"{'lower' if harsher else 'higher'} "
        f"({ends[0]:.1f} to {ends[1]:.1f}) than the other partners on {' and '.join(answers)}."
    )


def average_scores_given_by_partners(study: Study) -> pd.DataFrame:
    """Return what each partner gave to each answer, by its system and experiment: the mean of their analysts' M_all.

    `answer` is the text in packs, which several systems' answers may share, `language` its document's, `cell` what is
    compared of answers that a partner alone has: system and language, empty for what was dealt to several. Scores that
    saw others' are not in it, nor excluded answers.
    """
    columns = ["system", "experiment", "document", "question", "answer", "partner"]
    if "partner" not in study.table:
        return pd.DataFrame(columns=[*columns, "m_all", "language", "cell"])
    table = study.table
    usable = (table["scorer"] == "human") & (table["role"] == "score") & (table["independent"] == "yes")
    usable &= (table["excluded"] == "") & table["partner"].notna() & (table["partner"].astype(str) != "")
    frame = table.loc[usable, [*columns, "analyst", "m_all"]].astype(dict.fromkeys([*columns, "analyst"], "str"))
    once = frame.drop_duplicates([*columns, "analyst"])
    means: pd.DataFrame = once.groupby(columns, sort=True)[["m_all"]].mean().reset_index()
    texts, shared = read_pack_digests_and_shared_digests(study.workspace)
    language = means["document"].map(study.document_languages).fillna("")
    text = means["answer"].map(lambda answer: texts.get(answer, answer))
    cell = (means["system"] + " " + language).mask(text.isin(shared), "")
    return means.assign(answer=text, language=language, cell=cell)


def _convert_scores_to_values_and_labels(scores: pd.DataFrame) -> tuple[Floats, Labels, Labels, Labels]:
    """Return values of scores, and the numbers of partner, answer and cell: -1 for an empty one."""
    partners, answers = (
        number_labels_and_list_distinct(scores["partner"])[0],
        number_labels_and_list_distinct(scores["answer"])[0],
    )
    return scores["m_all"].to_numpy(dtype=float), partners, answers, document_numbers_or_minus_one(scores["cell"])


def tabulate_partner_severities(scores: pd.DataFrame) -> Table:
    """Tabulate how far each partner is above or below the others."""
    once = scores.drop_duplicates(["answer", "partner"])
    values, partners, answers, cells = _convert_scores_to_values_and_labels(once)
    severities = measure_partner_severities(values, partners, answers, cells)
    standing_out = np.array([severity.stands_out for severity in severities], dtype=bool)
    on_shared = measure_severities_on_shared_answers(values, partners, answers, standing_out)
    rows = []
    for number, name in enumerate(number_labels_and_list_distinct(once["partner"])[1]):
        severity, is_partner = severities[number], partners == number
        codes = sorted({code for code in once.loc[is_partner, "language"] if code})
        rows.append(
            {
                "partner": name,
                "languages": ", ".join(map(language_name, codes)),
                "answers": int(is_partner.sum()),
                "m_all": float(values[is_partner].mean()),
                "shared": severity.answers,
                "own": severity.own,
                "difference": severity.difference,
                "low": severity.low,
                "high": severity.high,
                "on_shared": on_shared[number].difference,
                "stands_out": severity.stands_out,
            }
        )
    rows.sort(key=lambda row: (np.isnan(row["difference"]), row["difference"]))
    columns = ["partner", "languages", "answers", "m_all", "shared", "own", "difference", "low", "high", "on_shared"]
    return make_table(
        "partners",
        "How harsh partners are",
        "Points of M_all by which a partner is above (+) or below (-) the others, on answers that they share and on "
        "those of their own, dealt by chance within a system and language; with an interval that holds for all "
        f"partners together: in {100 * SEVERITY_LEVEL:g} of 100 such studies all of them contain the true value; blank "
        f"below {LEAST_ANSWERS} answers. "
        "Whoever stands out is not among those with whom the others are compared. On shared: the same comparison on "
        "shared answers alone.",
        pd.DataFrame(rows, columns=[*columns, "stands_out"]),
        columns,
        headings={"low": "interval", "on_shared": "on shared"},
        formats={"low": "+.1f", "high": "+.1f", "on_shared": "+.1f"},
        aside=("stands_out",),
    )


def rank_systems_without_partner_severity(scores: pd.DataFrame) -> Table:
    """Rank the systems of each experiment by the mean of partners' scores, with their severities taken out."""
    values, partners, answers, cells = _convert_scores_to_values_and_labels(scores)
    once = ~scores.duplicated(["answer", "partner"]).to_numpy()
    compared = values[once], partners[once], answers[once], cells[once]
    standing_out = np.array([severity.stands_out for severity in measure_partner_severities(*compared)], dtype=bool)
    fit = fit_partner_severities(*compared, is_reference_partner=~standing_out)
    # As the leaderboard averages: answers of a question about a document, then documents, then questions.
    cells_of_answers = scores.groupby(["experiment", "system", "question", "document"])["answer"]
    questions = scores.groupby(["experiment", "system", "question"])["document"]
    weights = 1 / (cells_of_answers.transform("nunique") * questions.transform("nunique")).to_numpy(dtype=float)
    rows = []
    for experiment, system in scores[["experiment", "system"]].drop_duplicates().itertuples(index=False):
        mask = ((scores["experiment"] == experiment) & (scores["system"] == system)).to_numpy()
        mean = average_without_partner_severity(values, partners, answers, fit, mask, answer_weights=weights)
        rows.append({"experiment": experiment, "system": system, "m_all": mean.mean, **mean._asdict()})
    columns = ["experiment", "rank", "system", "adjusted", "low", "high", "partners_low", "partners_high"]
    data = pd.DataFrame(rows)
    ends = ["low", "high", "partners_low", "partners_high"]
    data[ends] = data[ends].clip(*M_ALL_RANGE)
    data["rank"] = data.groupby("experiment")["adjusted"].rank(ascending=False, method="min").astype(int)
    data = data.sort_values(["experiment", "rank", "system"])
    return make_table(
        "partners-ranking",
        "Ranking without partners' severity",
        "The mean M_all of each system over questions, with each partner's severity taken out, as the partners who do "
        "not stand out measure it, so all means rise where the others are harsh. As scored: with severities in it, "
        "which is the leaderboard's average of this experiment where partners alone scored, each an answer once. A "
        "harsh partner can swap only systems that are closer than half an interval. The interval is for other answers "
        "by these partners, and for partners like these, harsh ones among them (never narrower; blank below "
        f"{LEAST_PARTNERS}).",
        data,
        [*columns, "m_all", "answers", "partners"],
        headings={
            "adjusted": "M_all",
            "low": "these partners",
            "partners_low": "partners like these",
            "m_all": "as scored",
            "answers": "different answers",
        },
        formats=dict.fromkeys(("adjusted", "low", "high", "partners_low", "partners_high"), ".1f"),
    )


def tabulate_alpha_in_and_across_partners(study: Study) -> Table:
    """Tabulate alpha of analysts of the same partner, and of partners with each other, by metric."""
    scores = [event for event in study.independent_scores if read_partner_or_empty(event)]
    rows = []
    for of, events in (
        (_BETWEEN, _first_scores_with_partner_as_analyst(scores)),
        (_WITHIN, _make_answers_distinct_per_partner(scores)),
    ):
        groups = dict.fromkeys((event.answer for event in events), of)
        for answers, metrics in measure_agreement_by_group(events, study.rubric, groups).values():
            for metric, agreed in metrics.items() if answers else ():
                about = {"of": of, "metric": study.rubric.display_names[metric], "answers": answers}
                rows.append({**about, **alpha_ac2_and_reason_columns(agreed)})
    measures = ["alpha", "low", "high", "ac2", "agreement"]
    columns = ["of", "metric", *measures, "answers", "reason"]
    return make_table(
        "partners-agreement",
        "Agreement within and between partners",
        "Krippendorff's alpha for ordinal values (1 is perfect agreement, 0 agreement by chance) with its interval "
        f"({LEVEL:.0%} confidence, for other answers of this kind), Gwet's AC2, and the share of equal values. Between "
        "partners: each partner's first score of an answer that several have; within: answers that two analysts of "
        "one partner scored.",
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(measures, "float64")),
        columns,
        headings={"of": "agreement", "low": "from", "high": "to", "ac2": "AC2", "agreement": "same value"},
        formats=dict.fromkeys(("low", "high"), ".2f"),
    )


def _first_scores_with_partner_as_analyst(scores: Iterable[Event]) -> list[Event]:
    """Return the first score that each partner gave to an answer, as the partner's own."""
    first: dict[tuple[str, str], Event] = {}
    for event in scores:
        first.setdefault((event.answer, read_partner_or_empty(event)), event)
    return [msgspec.structs.replace(event, analyst=partner) for (_, partner), event in first.items()]


def _name_partners_as_analysts(scores: Iterable[Event]) -> list[Event]:
    """Return partners' scores as given by the partner, each still the only one of its analyst and answer."""
    return [
        msgspec.structs.replace(event, analyst=partner, answer=f"{event.answer} {event.analyst}")
        for event in scores
        if (partner := read_partner_or_empty(event))
    ]


def _make_answers_distinct_per_partner(scores: Sequence[Event]) -> list[Event]:
    """Return the scores as if an answer were another one for each partner."""
    return [msgspec.structs.replace(event, answer=f"{event.answer} {read_partner_or_empty(event)}") for event in scores]
