"""The question corpus (paper, section 4): questions, their wordings, and the sets that hold them.

A set is a file `questions/NAME.yaml`. A question's wording is its original text or one of its paraphrases; the
placeholder (`[the company]`, `[regulation]`) is filled in when it is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

import msgspec
from msgspec.structs import replace

from genaipa.errors import DataError, UnknownNameError, clip, name_suggestion
from genaipa.files.html import format_one_line_repr, html_table
from genaipa.files.strict_yaml import read_yaml
from genaipa.languages.catalog import (
    ENGLISH,
    LANGUAGES,
    detect_language_code_or_empty,
    language_name,
    variant_name_for_language,
)
from genaipa.policies.document import DocumentKind
from genaipa.words import join_names, join_some
from genaipa.workspace import PULLED, find_workspace, shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.workspace import Workspace, WorkspaceLike

Wording = Literal["original", "paraphrase-1", "paraphrase-2", "paraphrase-3", "follow-up"]
FOLLOW_UP: Wording = "follow-up"
"""The wording of a question that is asked after the answer to another one, in its conversation; a word of its id."""
WORDINGS: tuple[Wording, ...] = tuple(wording for wording in get_args(Wording) if wording != FOLLOW_UP)
"""The wordings that every question may have: its original text, and paraphrases."""
_NAMED = 5
"""Ids that a message names."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question. `origin` is `faq` (general concerns, f1 to f3) or `user` (asked by a lay user, u1).

    `follow_up` is what may be asked after its answer, in the same conversation, if the set has words for that.
    """

    id: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+$")]
    category: str
    origin: Literal["faq", "user"]
    text: str
    paraphrases: tuple[str, ...] = ()
    follow_up: str = ""

    def text_in_wording(self, wording: Wording) -> str:
        """Text in one wording, with its placeholder."""
        return self.text if wording in ("original", FOLLOW_UP) else self.paraphrases[WORDINGS.index(wording) - 1]


class QuestionSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Questions that are asked together about one kind of document.

    A translation has the ids of the set that it `translates`; `language` is a code of `LANGUAGES`, and found from the
    texts where it is empty. `translators` and `checked_by` are people.
    """

    name: str
    title: str
    kind: DocumentKind
    placeholder: str
    source: str
    license: str
    categories: dict[str, str]
    questions: tuple[Question, ...]
    translates: str = ""
    language: str = ""
    translators: tuple[str, ...] = ()
    checked_by: tuple[str, ...] = ()

    @property
    def language_code(self) -> str:
        """Code of the language of its questions; English where neither the file nor the texts tell."""
        texts = " ".join(question.text for question in self.questions)
        return self.language or detect_language_code_or_empty(texts) or ENGLISH.code

    @property
    def translation_credits(self) -> str:
        """Language, translators and checkers of a translation, in words; empty for any other set."""
        if not self.translates:
            return ""
        by = f" by {join_names(self.translators)}" if self.translators else ""
        checked = f"checked by {join_names(self.checked_by)}" if self.checked_by else "not checked"
        return f"into {language_name(self.language_code)}{by}, {checked}"

    def __repr__(self) -> str:
        return format_one_line_repr("QuestionSet", self.name, f"{len(self.questions)} questions about a {self.kind}")

    def _repr_html_(self) -> str:
        rows = (
            (question.id, self.categories.get(question.category, question.category), question.text)
            for question in self.questions
        )
        return html_table(f"{self.name}: {self.title}", rows, ("question", "category", "text"))

    def question_text(self, question_id: str, wording: Wording, company: str) -> str:
        """Question as put to a system: one wording, with the company (or regulation) filled in."""
        return self[question_id].text_in_wording(wording).replace(self.placeholder, company)

    def category_questions(self, category: str) -> list[Question]:
        """Return the questions of a category, in their order."""
        return [question for question in self.questions if question.category == category]

    def with_follow_up_questions(self, default_text: str) -> QuestionSet:
        """Return the set with a follow-up behind each of its questions: the question's own, else this text."""
        follow_ups = (
            Question(follow_up_id(question.id), question.category, question.origin, question.follow_up or default_text)
            for question in self.questions
        )
        return replace(self, questions=(*self.questions, *follow_ups))

    def __getitem__(self, question_id: str) -> Question:
        for question in self.questions:
            if question.id == question_id:
                return question
        raise UnknownNameError("question", question_id, [q.id for q in self.questions])


def follow_up_id(question_id: str) -> str:
    """Return the id of the question that follows up on another."""
    return f"{question_id}.{FOLLOW_UP}"


def is_follow_up(question_id: str) -> bool:
    """Tell whether a question is a follow-up."""
    return id_without_follow_up_suffix(question_id) != question_id


def id_without_follow_up_suffix(follow_up_question_id: str) -> str:
    """Return the id of the question that a follow-up goes on from."""
    return follow_up_question_id.removesuffix(f".{FOLLOW_UP}")


def list_question_sets(workspace: WorkspaceLike = None) -> list[str]:
    """List the names of the question sets.

    >>> genaipa.list_question_sets()
    ['policy', 'policy-de', 'policy-fr', 'regulation', 'regulation-de', 'regulation-fr']
    """
    return list(find_workspace(workspace).nearest_files("questions"))


def load_question_set(name: str, workspace: WorkspaceLike = None) -> QuestionSet:
    """Load and check a question set by its name.

    An UnknownNameError for a name that no set has, a DataError for a file that can't be used.

    >>> questions = genaipa.load_question_set("policy")
    >>> len(questions.questions), questions.placeholder
    (32, '[the company]')
    """
    files = find_workspace(workspace).nearest_files("questions")
    if name not in files:
        raise UnknownNameError("question set", name, files)
    path = files[name][1]
    questions = read_yaml(path, QuestionSet)
    for error in (*question_problems(path, name, questions), *translation_problems(path, questions, workspace)):
        raise error
    return questions


def default_question_set_name(document: Document, workspace: Workspace) -> str:
    """Return the name of a document's default set: that of its kind, in its language if there is one.

    A published document is asked the set that was published with it. A translation in a layer below a set of one's own
    translates another one, and is not taken.
    """
    if published := find_published_set_name_or_empty(document, workspace):
        return published
    files, layers = workspace.nearest_files("questions"), [name for name, _ in workspace.layers]
    translated, original = variant_name_for_language(document.kind, document.language), document.kind
    if translated not in files:
        return original
    below = original in files and layers.index(files[translated][0]) > layers.index(files[original][0])
    return original if below else translated


class _WrittenFor(msgspec.Struct):
    """Of a file of annotated answers, the set that they answer."""

    questions: str = ""


def find_published_set_name_or_empty(document: Document, workspace: Workspace) -> str:
    """Return the name of the set that a published document's published answers were written to; else nothing."""
    if document.layer != PULLED:
        return ""
    path = dict(workspace.layers)[PULLED] / "annotations" / f"{document.name}.yaml"
    name = read_yaml(path, _WrittenFor).questions if path.is_file() else ""
    # One that a set of one's own hides is another one.
    return name if workspace.nearest_files("questions").get(name, ("",))[0] == PULLED else ""


def question_problems(path: Path, expected_name: str, questions: QuestionSet) -> Iterator[DataError]:
    """Yield every problem of a question file that shows in the file alone."""
    if questions.name != expected_name:
        yield DataError(path, f"is '{questions.name}', but the file has another name; the two must agree.", "name")
    if not questions.placeholder.strip():
        problem = "is blank; give the text that the company's name replaces, such as '[the company]'."
        yield DataError(path, problem, "placeholder")
    seen_ids: set[str] = set()
    for index, question in enumerate(questions.questions):
        entry = f"questions[{index}] ({question.id})"
        if question.id in seen_ids:
            yield DataError(path, "has a duplicate id; each id must be unique.", entry)
        seen_ids.add(question.id)
        if question.category not in questions.categories:
            yield DataError(path, f"the category '{question.category}' is not among the set's categories.", entry)
        if len(question.paraphrases) > len(WORDINGS) - 1:
            yield DataError(path, f"has {len(question.paraphrases)} paraphrases; at most 3 are used.", entry)
        if not all(text.strip() for text in (question.text, *question.paraphrases)):
            yield DataError(path, "has an empty text.", entry)
    # A language of a set that ships may be of a package that is not here.
    if questions.language and questions.language not in LANGUAGES and not path.is_relative_to(shipped_folder()):
        languages = ", ".join(LANGUAGES)
        yield DataError(
            path, f"'{clip(questions.language)}' is not a language that genaipa supports ({languages}).", "language"
        )


def translation_problems(path: Path, questions: QuestionSet, workspace: WorkspaceLike = None) -> Iterator[DataError]:
    """Yield what is wrong with a translation, held against the set that it translates, in its layer or below."""
    source, original = find_workspace(workspace), questions.translates
    if not original:
        return
    layers, layers_by_path = (
        [name for name, _ in source.layers],
        {path: layer for layer, path in source.nearest_files("questions").values()},
    )
    files = (
        source.drop_nearer_layers(layers.index(layers_by_path[path])) if path in layers_by_path else source
    ).nearest_files("questions")
    if not questions.language:
        yield DataError(
            path, f"is missing; a translation must state its language ({', '.join(LANGUAGES)}).", "language"
        )
    if original == questions.name:
        yield DataError(path, "names the set itself; name the set that it translates.", "translates")
    elif original not in files:
        problem = f"there is no question set '{clip(original)}' to translate{name_suggestion(original, files)}"
        yield DataError(path, problem, "translates")
    else:
        try:
            original_ids = {question.id for question in read_yaml(files[original][1], QuestionSet).questions}
        except DataError:
            return  # it is told of that file
        ids = {question.id for question in questions.questions}
        if original_ids != ids:
            lacks = [f"lacks {join_some(sorted(original_ids - ids), _NAMED)}"] if original_ids - ids else []
            additions = [f"also has {join_some(sorted(ids - original_ids), _NAMED)}"] if ids - original_ids else []
            yield DataError(
                path,
                f"the ids must be those of '{original}'; this set {join_names([*lacks, *additions])}.",
                "questions",
            )
