"""A data set in one folder: a policy, two questions with annotated answers, and what a system answered."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import msgspec
import yaml

from genaipa.datasets.base import ImportedStudy, Progress, Pulled, make_pulled_data_workspace
from genaipa.datasets.snapshot import Snapshot, write_cache_file
from genaipa.datasets.study import PublishedAnswer, StudyRun, write_recordings_and_list_systems, write_study_runs
from genaipa.files.text import sha256_of
from genaipa.policies.document import About, load_document
from genaipa.questions.annotations import AnnotatedAnswer, Annotations
from genaipa.questions.sets import Question, QuestionSet, load_question_set
from genaipa.runs.imported import PublishedScore
from genaipa.workspace import pulled_folder

if TYPE_CHECKING:
    from genaipa.workspace import Workspace


class Files(Snapshot):
    """Where the files are published."""

    dataset = "teaset"
    title = "Teaset"
    repository = "example/teaset"


FILES = Files(
    "7ea5e7" * 6 + "7ea5",
    {
        "policy.txt": "2363dd824134f651dd1eeb93750b1c6d54c8a73d",
        "answers.csv": "1c2153fbce45946e89c5fa5cf64ef2bde079cb73",
    },
)


class Teaset:
    """One policy, two questions, one system."""

    name = "teaset"
    title = "Teaset"
    terms = "They may be passed on"
    documents = ("samovar",)
    question_sets = ("teaset",)
    systems = ("published/kettle",)

    def is_pulled(self) -> bool:
        """Whether it was pulled."""
        return (pulled_folder() / "questions" / "teaset.yaml").is_file()

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch the two files, and write document, annotated answers, questions and recording."""
        done = FILES.fetch(origin=origin, offline=offline, progress=progress)
        text, rows = (FILES.folder / "policy.txt").read_text(encoding="utf-8"), self._rows()
        questions = tuple(Question(row["id"], "Tea", "faq", row["question"]) for row in rows)
        answers = {row["id"]: AnnotatedAnswer(silent="no", answer=row["annotated"]) for row in rows}
        records = {
            "policies/samovar.yaml": About("Samovar", license="CC0"),
            "annotations/samovar.yaml": Annotations("samovar", "teaset", ("me",), answers, digest=sha256_of(text)),
            "questions/teaset.yaml": QuestionSet(
                "teaset", "Tea", "policy", "the company", "me", "CC0", {"Tea": "Tea"}, questions
            ),
        }
        write_cache_file(pulled_folder() / "policies" / "samovar.txt", text.encode())
        for path, record in records.items():
            write_cache_file(pulled_folder() / path, yaml.safe_dump(msgspec.to_builtins(record)).encode())
        here = make_pulled_data_workspace()
        document = load_document("samovar", here)
        write_recordings_and_list_systems(
            self._answers(), load_question_set("teaset", here), {"samovar": document}, "a tea party"
        )
        return done

    def import_study(self, workspace: Workspace) -> ImportedStudy:
        """Write its one run."""
        run = StudyRun(
            name="published-kettle-quality",
            system="published/kettle",
            experiment="quality",
            questions="teaset",
            documents={"samovar": load_document("samovar", make_pulled_data_workspace())},
            answers=self._answers(),
            scores=[
                PublishedScore(
                    "published/kettle", "quality", "samovar", row["id"], 10 * float(row["m_all"]), averaged=1
                )
                for row in self._rows()
            ],
            part_set="",
            source="a tea party",
        )
        return write_study_runs(workspace, [run])

    def _rows(self) -> list[dict[str, str]]:
        with (FILES.folder / "answers.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def _answers(self) -> list[PublishedAnswer]:
        return [
            PublishedAnswer(
                system="published/kettle",
                experiment="quality",
                document="samovar",
                question=row["id"],
                wording="original",
                repetition=1,
                asked=row["question"],
                text=row["kettle"],
                file="answers.csv",
                sheet="",
                cell=f"E{line}",
            )
            for line, row in enumerate(self._rows(), start=2)
        ]
