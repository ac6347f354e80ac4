"""GenAIPABench as a data set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from genaipa_study.layout import DOCUMENTS, POLICY_SET, REGULATION_SET

if TYPE_CHECKING:
    from genaipa.datasets.base import ImportedStudy, Progress, Pulled
    from genaipa.workspace import Workspace


class GenAIPABench:
    """Seven documents, 38 questions and their annotated answers, and what three chatbots answered and were scored."""

    name = "genaipabench"
    title = "GenAIPABench"
    terms = "They have no license that allows redistribution, so do not share them"
    documents = tuple(DOCUMENTS)
    question_sets = (POLICY_SET, REGULATION_SET)
    systems = ("published/chatgpt-4", "published/bard", "published/bingai")
    """In the order in which the paper names them."""

    def is_pulled(self) -> bool:
        """Tell whether documents, questions and annotated answers were pulled."""
        from genaipa_study.pull import is_converted_data_available

        return is_converted_data_available()

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch and convert the published files, and write the recordings of the study's systems."""
        from genaipa_study.layout import published_tree
        from genaipa_study.pull import pull
        from genaipa_study.study import write_study_recordings_and_list_problems

        pulled_files = pull(origin=origin, offline=offline, progress=progress)
        return replace(
            pulled_files, notes=(*pulled_files.notes, *write_study_recordings_and_list_problems(published_tree()))
        )

    def import_study(self, workspace: Workspace) -> ImportedStudy:
        """Write the study's answers and scores as runs, with the audit of both."""
        from genaipa_study.layout import published_tree
        from genaipa_study.study import import_study_and_write_audit

        return import_study_and_write_audit(published_tree(), workspace)
