"""The two sides of a comparison: the runs and system that a name means, its scores, and its questions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.errors import UnknownNameError, UsageError
from genaipa.questions.sets import WORDINGS
from genaipa.reports.chapters.prompting import in_order
from genaipa.reports.tidy import ORDERED
from genaipa.runs.inputs import Inputs
from genaipa.runs.selection import Source
from genaipa.tasks.prompts import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import pandas as pd

    from genaipa.questions.sets import Wording
    from genaipa.workspace import Workspace

REGULATION = "regulation"
_NAMED = 5
"""As many things that differ are named."""


@dataclass(frozen=True)
class Side:
    """One system's scores, its questions and its prompts.

    `texts` are the digests of the texts that went by a document's name: one, unless runs disagree. `asked` are the
    texts of a wording of a question about a document.
    """

    name: str
    frame: pd.DataFrame
    texts: dict[str, set[str]]
    asked: dict[tuple[str, str, Wording], set[str]]

    @property
    def prompts(self) -> set[str]:
        """The sets of prompts that its scored answers were given to."""
        return {*self.frame.loc[self.frame["counted"], "prompts"]} - {""}

    @property
    def questions(self) -> set[tuple[str, str]]:
        """Pairs of a document and a question about it."""
        return {(document, question) for document, question, _ in self.asked}


def merged(sources: Iterable[Source]) -> list[Source]:
    """Each run once, with all systems that are meant of it."""
    runs: dict[str, Source] = {}
    for source in sources:
        before = runs.get(source.folder.name, source)
        runs[source.folder.name] = replace(source, systems=tuple(sorted({*before.systems, *source.systems})))
    return list(runs.values())


def side(
    workspace: Workspace, name: str, sources: Sequence[Source], frame: pd.DataFrame, experiments: Collection[str] = ()
) -> Side:
    """The side that these runs are, from a tidy table that holds them.

    It is limited to these experiments; if none is named, to all but that on regulations. A UsageError if it has
    several systems, or no score there.
    """
    systems = sorted({system for source in sources for system in source.systems})
    if len(systems) > 1:
        one = ", ".join(f"{name}:{system}" for system in systems)
        raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {one}")
    frame = frame[(frame["system"] == systems[0]) & frame["run"].isin([source.folder.name for source in sources])]
    found = Side(name, _chosen(name, frame, experiments), defaultdict(set), defaultdict(set))
    documents, runs = set(found.frame["document"]), set(found.frame["run"])
    loaded: dict[str, dict[str, tuple[str, ...]]] = {}
    for source in sources:
        if source.folder.name in runs:
            manifest = source.manifest
            for document in documents & manifest.documents.keys():
                found.texts[document].add(manifest.documents[document].digest)
                digest = manifest.digests.questions.get(manifest.spec.plan.questions.get(document, ""), "")
                if digest not in loaded:
                    loaded[digest] = _wordings(Inputs(workspace, source.folder), document)
                for question, texts in loaded[digest].items():
                    for wording, text in zip(WORDINGS, texts, strict=False):
                        if wording in manifest.spec.plan.wordings:
                            found.asked[document, question, wording].add(text)
    return found


def _chosen(name: str, frame: pd.DataFrame, experiments: Collection[str]) -> pd.DataFrame:
    """The rows that are compared; a UsageError if none has a score."""
    known = {*ORDERED["experiment"], *frame["experiment"]}
    for experiment in experiments:
        if experiment not in known:
            raise UnknownNameError("experiment", experiment, known)
    chosen = frame[frame["experiment"].isin(list(experiments)) if experiments else frame["kind"] != REGULATION]
    if chosen["counted"].any():
        return chosen
    where = f" in {', '.join(experiments)}" if experiments else ""
    if not experiments and frame["counted"].any():
        raise UsageError(f"'{name}' has scores on regulations only; compare them in the experiment '{REGULATION}'.")
    raise UsageError(f"'{name}' has no score{where} to compare yet; give some with: genaipa score")


def _wordings(inputs: Inputs, document: str) -> dict[str, tuple[str, ...]]:
    """Every question that could be asked about a document: id → its original and its paraphrases."""
    known = inputs.questions(document)
    return {question.id: (question.text, *question.paraphrases) for question in known.questions} if known else {}


def differing(first: Side, second: Side) -> tuple[list[str], set[tuple[str, str]]]:
    """Sentences on what the two don't share, and the documents and questions that they do."""
    said = _only(first.name, second.name, "document", first.texts.keys(), second.texts.keys())
    documents = first.texts.keys() & second.texts.keys()
    changed = {document for document in documents if first.texts[document] != second.texts[document]}
    said += [f"the text of {_listed(changed, 'document')} is not the same"] if changed else []
    same = documents - changed
    ours, theirs = ({pair for pair in one.questions if pair[0] in same} for one in (first, second))
    said += _only(first.name, second.name, "question", {q for _, q in ours - theirs}, {q for _, q in theirs - ours})
    both = first.asked.keys() & second.asked.keys()
    reworded = {
        (document, question)
        for document, question, wording in both
        if document in same and first.asked[document, question, wording] != second.asked[document, question, wording]
    }
    said += [f"the text of {_listed({q for _, q in reworded}, 'question')} is not the same"] if reworded else []
    rubrics = [set(one.frame.loc[one.frame["counted"], "rubric"]) for one in (first, second)]
    if rubrics[0] != rubrics[1]:
        said.append(f"the rubric is not the same ({_listed(rubrics[0], 'digest')} and {_listed(rubrics[1], 'digest')})")
    # Those of a study are not known: that they are others is said, and can't be helped (`studied`).
    prompts = [one.prompts - {PUBLISHED} for one in (first, second)]
    if all(prompts) and prompts[0] != prompts[1]:
        said.append(f"the prompts are not the same ({' and '.join(', '.join(in_order(known)) for known in prompts)})")
    return said, (ours & theirs) - reworded


def studied(first: Side, second: Side) -> list[str]:
    """A sentence where one of the two answered the prompts of a study, and the other did not."""
    return [
        f"{one.name} answered the prompts of its study, which are not known, and {other.name} other ones "
        f"({', '.join(in_order(other.prompts - {PUBLISHED}))}): a part of any difference may come from these."
        for one, other in ((first, second), (second, first))
        if PUBLISHED in one.prompts and other.prompts - {PUBLISHED}
    ]


def _only(first: str, second: str, noun: str, ours: Collection[str], theirs: Collection[str]) -> list[str]:
    return [
        f"only {name} has the {_listed(names, noun)}"
        for name, names in ((first, set(ours) - set(theirs)), (second, set(theirs) - set(ours)))
        if names
    ]


def _listed(names: Iterable[str], noun: str) -> str:
    """`document uber`; `questions T_f1, T_f2, … (32)`."""
    listed = sorted(names)
    if len(listed) == 1:
        return f"{noun} {listed[0]}"
    return f"{noun}s {', '.join(listed[:_NAMED])}" + (f", … ({len(listed)})" if len(listed) > _NAMED else "")


def restricted(one: Side, common: set[tuple[str, str]]) -> Side:
    """The side restricted to questions that the other has; a mean over documents stays where all of them are shared."""
    shared = {question for _, question in common}
    for document in one.texts:
        shared &= {question for about, question in common if about == document}
    whole = common | {("", question) for question in shared}
    about = zip(one.frame["document"], one.frame["question"], strict=True)
    return replace(one, frame=one.frame[[pair in whole for pair in about]])
