"""PrivacyQA's splits as items: a question about a policy, whose sentences are the long text that its items share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa_suites.material import Item, Material
from genaipa_suites.privacyqa.silence import RULES, empty, rule_for
from genaipa_suites.privacyqa.subset import read_subset
from genaipa_suites.privacyqa.table import NO_CATEGORY, plain, read_categories, read_table

if TYPE_CHECKING:
    from genaipa_suites.data import DataFiles
    from genaipa_suites.privacyqa.table import Question

SUBSET = "subset"


def load(files: DataFiles, split: str, *, sentences: bool = True) -> Material:
    """All questions of a split; with `sentences` about their policies, else each alone.

    Shown are the question as `text` and, with sentences, the policy's name as `company`. Gold are the annotators'
    sets of sentences by their numbers (`references`), the ones the file says are relevant, the number of sentences,
    whether the question is unanswerable, and how many of the annotators marked nothing.
    """
    table = read_subset(files) if split == SUBSET else read_table(files, split)
    categories = read_categories(files, split)
    rule = RULES[rule_for(table.questions, split)]

    def item(question: Question) -> Item:
        policy = question.policy
        marked_nothing, annotators = empty(question), len(question.references)
        gold: dict[str, Any] = {
            "unanswerable": rule(marked_nothing, annotators),
            "empty": marked_nothing,
            "annotators": annotators,
        }
        shown = {"text": question.text}
        if sentences:
            gold |= {
                "references": question.references,
                "relevant": question.relevant,
                "sentences": len(table.policies[policy]),
            }
            shown["company"] = policy
        known = (policy, question.id), (policy, plain(question.text))
        groups = next((categories[key] for key in known if key in categories), ())
        return Item(
            question.id,
            shown,
            gold,
            document=policy if sentences else "",
            cluster=policy,
            stratum=policy,
            groups={"category": groups or (NO_CATEGORY,)} if categories else {},
        )

    return Material(tuple(map(item, table.questions)), dict(table.policies) if sentences else {})
