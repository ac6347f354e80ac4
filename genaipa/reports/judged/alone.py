"""A judge alone: its verdicts in the place of people's scores. They are no estimate of what people would say.

A judge is a model with a prompt, and its passes count as analysts do. What it left out is planned and not scored: the
rule on looking early (`reports.evidence`) goes by that, so that a judge who scored all is at its end at once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.answers.tidy import list_metrics
from genaipa.errors import UsageError, clip, format_shell_command
from genaipa.judging.name import NAME, Judge, are_of_same_family
from genaipa.reports.averages import average_answers
from genaipa.reports.figures.style import clean_name_on_one_line, last_part_labels
from genaipa.reports.judged.verdicts import name_judges_by_model_and_prompt
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.systems.provider import match_system_name_or_empty, shorten_system_names
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from genaipa.answers.study import Study
    from genaipa.workspace import Workspace

    Judges = dict[str, list[str]]

NO_ESTIMATE = "not an estimate of what people would say"
_LONGEST = 40
"""Characters of a name in a sentence."""
_NAMED = 2
"""Judges that a sentence names."""


def group_passes_by_judge(frame: pd.DataFrame, rubric_digest: str = "") -> Judges:
    """Return each judge of a tidy table, by its short name, with the analysts that are its passes.

    Only verdicts by the rubric of `rubric_digest` count, where one is given. A judge is called by its model, and two of
    one model by their prompts, too.
    """
    rows = frame[(frame["scorer"] == "machine") & frame["m_all"].notna() & (frame["unit"] == "answer")]
    if rubric_digest:
        rows = rows[rows["rubric"] == rubric_digest]
    passes = {name: judge for name in map(str, rows["analyst"].unique()) if (judge := Judge.parse(name))}
    full_names = name_judges_by_model_and_prompt({(judge.model, judge.prompt) for judge in passes.values()})
    short, often = shorten_system_names({model for model, _ in full_names}), Counter(model for model, _ in full_names)
    judges: Judges = {}
    for name, judge in sorted(passes.items()):
        of_prompt = full_names[judge.model, judge.prompt].removeprefix(judge.model) if often[judge.model] > 1 else ""
        judges.setdefault(f"{short[judge.model]}{of_prompt}", []).append(name)
    return judges


def resolve_judge_name_or_raise(asked_name: str, passes_by_judge: Judges, workspace: Workspace) -> str:
    """Return the judge that a name means: as tables call it, its model's name, or as it was asked for.

    A UsageError that lists the judges there are, for none of this name and for several.
    """
    if asked_name in passes_by_judge:
        return asked_name
    models = {judge: Judge.parse(analysts[0]).model for judge, analysts in passes_by_judge.items()}  # type: ignore[union-attr]
    wanted = {asked_name}
    if asked_name not in models.values():
        short = match_system_name_or_empty(asked_name, dict.fromkeys(models.values()))
        wanted = {short} if short else _find_models_served_as_judge(asked_name, workspace)
    meant = [judge for judge, model in models.items() if model in wanted]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise UsageError(
            f"'{clip(asked_name)}' names {len(meant)} judges; name one of them: {_quote_judge_names(meant)}."
        )
    verdicts = (
        f"the verdicts here are by {_quote_judge_names(passes_by_judge)}"
        if passes_by_judge
        else "no judge has scored any of them"
    )
    raise UsageError(f"the judge '{clip(asked_name)}' has no verdicts on these answers; {verdicts}.")


def _find_models_served_as_judge(judge_name: str, workspace: Workspace) -> set[str]:
    """Return the models that a judge was served as that was asked for by this name."""
    models: set[str] = set()
    for folder in list_run_folders_oldest_first(workspace):
        outline = folder.manifest()
        if outline.spec.task == NAME and (
            system := match_system_name_or_empty(judge_name, outline.spec.systems, outline.models)
        ):
            models |= {system, *outline.models.get(system, ())}
    return models


def _quote_judge_names(judges: Collection[str]) -> str:
    return join_names([f"'{clean_name_on_one_line(judge)}'" for judge in judges])


def advise_judge_comparison_if_possible(
    passes_by_judge: Judges, analysts_of_each_side: Sequence[Collection[str]], side_names: Sequence[str]
) -> str:
    """Return what to add on judges who scored both sides, by the analysts who `analysts_of_each_side` each.

    Empty without any.
    """
    shared_judges = [
        name
        for name, passes in passes_by_judge.items()
        if all(not side.isdisjoint(passes) for side in map(set, analysts_of_each_side))
    ]
    if not shared_judges:
        return ""
    compare = format_shell_command("genaipa", "compare", *side_names, "--judge")
    if len(shared_judges) == 1:
        return (
            f". The judge {clean_name_on_one_line(shared_judges[0])} scored both: {compare} "
            f"{format_shell_command(shared_judges[0])}"
        )
    return f". {len(shared_judges)} judges scored both, {_quote_judge_names(shared_judges)}: {compare} NAME"


def note_systems_of_judge_family(judge: str, *frames: pd.DataFrame) -> str:
    """Return the sentence on systems of the judge's own family, in tables that count its verdicts; else nothing."""
    judged = pd.concat([frame.loc[frame["counted"], ["system", "model", "analyst"]] for frame in frames]).astype("str")
    models = {parsed.model for name in judged["analyst"].unique() if (parsed := Judge.parse(name))}
    family_systems = [
        str(system)
        for system, rows in judged.groupby("system")
        if any(
            are_of_same_family(model, name)
            for model in models
            for name in (str(system), *rows["model"].unique())
            if name
        )
    ]
    return (
        f"The judge {clean_name_on_one_line(judge)} is from the same family as {join_names(family_systems)}, and may "
        "favour it."
        if family_systems
        else ""
    )


def let_only_judge_passes_count(
    frame: pd.DataFrame, judge_passes: Collection[str], *, count_excluded: bool = False
) -> pd.DataFrame:
    """Return the tidy table as these passes of a judge alone score it: their verdicts count, and nobody else's score.

    An answer without a verdict keeps one row, without values; waves of people's are no plan of a judge.
    """
    rows = frame[frame["unit"] == "answer"]
    verdicts = rows[rows["analyst"].isin(list(judge_passes)) & (rows["scorer"] == "machine") & rows["m_all"].notna()]
    answer_keys = pd.MultiIndex.from_frame(rows[["run", "key"]])
    unjudged = rows[~answer_keys.isin(pd.MultiIndex.from_frame(verdicts[["run", "key"]]))].drop_duplicates(
        ["run", "key"]
    )
    values = [*list_metrics(frame), "m_all", "m_all_positive", "m_all_negative"]
    unjudged = unjudged.assign(**dict.fromkeys(values, float("nan")), averaged=0)
    judged = pd.concat([verdicts, unjudged]).sort_index(kind="stable").assign(pi=float("nan"))
    counted = judged["m_all"].notna() & ((judged["excluded"] == "") | count_excluded)
    none = pd.Categorical([""] * len(judged))
    judged = judged.assign(counted=counted, in_wave=none, planned=none)
    judged.attrs = frame.attrs
    return judged


def mean_m_all_by_system(frame: pd.DataFrame) -> dict[str, float]:
    """Return the M_all (10 to 100) of each system, by name: over answers, then over questions, as `genaipa judge`."""
    by_answer = average_answers(frame).astype({"system": "str"})
    question_means = by_answer.groupby(["system", "question"], observed=True)["m_all"].mean()
    return {str(system): float(mean) for system, mean in question_means.groupby(level=0).mean().items()}


def describe_averages_by_judge(study: Study) -> str:
    """Return what judges alone gave, in a sentence without its full stop; empty where none scored an answer.

    Systems stand by name and never by value.
    """
    judges = group_passes_by_judge(study.table, study.rubric.digest)
    parts = []
    for judge, analysts in list(judges.items())[:_NAMED]:
        means = mean_m_all_by_system(let_only_judge_passes_count(study.table, analysts))
        names = last_part_labels(means, _LONGEST)
        values = ", ".join(f"{names[system]} {mean:.0f}" for system, mean in means.items())
        parts.append(f"by {clean_name_on_one_line(judge)} alone: {values}")
    remainder = f"; and by {format_count(len(judges) - _NAMED, 'more judge')}" if len(judges) > _NAMED else ""
    return f"Judged {'; '.join(parts)}{remainder} ({NO_ESTIMATE})" if parts else ""


def note_unfinished_judges(frame: pd.DataFrame, passes_by_judge: Mapping[str, Collection[str]]) -> str:
    """Return a sentence on the judges that did not score all answers; empty where each did."""
    scorable = frame[(frame["unit"] == "answer") & (frame["answer"] != "") & (frame["excluded"] == "")]
    whole = len(scorable.drop_duplicates(["run", "key"]))
    sentences = []
    for judge, analysts in passes_by_judge.items():
        scored = len(scorable[scorable["analyst"].isin(list(analysts))].drop_duplicates(["run", "key"]))
        if scored < whole:
            sentences.append(f"{clean_name_on_one_line(judge)} scored {scored:,} of {whole:,} answers.")
    return " ".join(sentences)
