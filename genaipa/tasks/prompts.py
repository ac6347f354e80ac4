"""The messages that a system is sent, as Jinja templates, in sets that `genaipa run --prompts NAME` chooses from.

`prompts/SET/NAME.jinja` is a template of one set, `prompts/NAME.jinja` one of all sets. A workspace's template
overrides the shipped one of the same name, in its set or in all, and may extend it:
`{% extends "shipped/part.jinja" %}{% block message %}{{ super() }} …{% endblock %}`.
Every template sees `company` and `subject` ("the privacy policy of Uber", in the language that a set's name ends in);
TEMPLATES lists what else. A `Script` makes of them the messages of Algorithm 1 about one document: introductions,
requests for a summary, questions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError, UnknownNameError, UsageError
from genaipa.files.text import read_text, sha256_of
from genaipa.kinds import load_kinds
from genaipa.languages.catalog import LANGUAGES, language_of_prompt_set_or_english, variant_name_for_language
from genaipa.runs.procedure import GUIDED, NEUTRAL, get_plan_if_procedure_run
from genaipa.systems.base import Message
from genaipa.workspace import Workspace, shipped_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.questions.sets import QuestionSet, Wording
    from genaipa.runs.procedure import Initialization
    from genaipa.runs.records import Manifest
    from genaipa.tasks.templates import Templates


# Template → the variables that it sees besides `company` and `subject`.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "introduce-company": (),
    "introduce-document": ("parts",),
    "part": ("part", "parts", "text"),
    "acknowledgement": ("part", "parts"),
    "summarize-by-name": ("words",),
    "summarize-document": ("words",),
    "introduce-summary": ("text",),
    "question": ("question", "question_id"),
}
INCLUDED = ("rules",)
SETS: dict[str, str] = {
    NEUTRAL: "cite the section that the answer relies on, and say so when the document does not contain the answer",
    GUIDED: "also name the section as the document does, or none if the document is silent; summarize by topic",
    "paper": "as the paper describes its prompts, without printing them: no rules, and summaries of any length",
}
"""The shipped sets, the usual one first → how they ask."""
PUBLISHED = "published"
"""Instead of a set: what a published study asked with, which is not known."""
UNKNOWN = "unknown"
"""Instead of a set: what answers were asked with that came from elsewhere, such as a folder of chats."""
NOT_KNOWN = frozenset((PUBLISHED, UNKNOWN))
"""Labels of prompts that nobody here knows."""
_CARRIED = ("text", "question")
"""Variables that messages are sent for: a template that leaves its own out is a mistake."""
_SAMPLE: dict[str, Any] = {
    "company": "ACME",
    "subject": "the privacy policy of ACME",
    "part": 1,
    "parts": 2,
    "words": 400,
}
_MENTIONED = re.compile(r"[\"']([\w-]+)\.jinja[\"']")


@dataclass(frozen=True)
class PromptSet:
    """The templates of a set in effect: name → (layer, file). `originals` are the files that it has as shipped."""

    name: str
    files: dict[str, tuple[str, Path]]
    originals: dict[str, Path]

    @cached_property
    def template_texts(self) -> dict[str, str]:
        """Name → the template's text; `shipped/NAME` for the shipped ones that a user's template builds on."""
        sources = {name: read_text(path) for name, (_, path) in self.files.items()}
        named = re.findall(r"[\"']shipped/([\w-]+)\.jinja[\"']", "".join(sources.values()))
        return sources | {
            f"shipped/{name}": read_text(self.originals[name]) for name in sorted({*named} & self.originals.keys())
        }

    @cached_property
    def used_template_names(self) -> set[str]:
        """The messages, and the templates that any other mentions."""
        return {*TEMPLATES, *_MENTIONED.findall("".join(self.template_texts.values()))}

    @property
    def digests(self) -> dict[str, str]:
        """Name → SHA-256 of the template's text."""
        return {name: sha256_of(source) for name, source in self.template_texts.items()}

    @cached_property
    def _compiled_templates(self) -> Templates:
        from genaipa.tasks.templates import Templates

        return Templates({f"{name}.jinja": source for name, source in self.template_texts.items()})

    def render(self, template_name: str, **variables: object) -> str:
        """Return the message, without white space around it; a DataError names the template and what is wrong."""
        paths = {f"{template}.jinja": path for template, (_, path) in self.files.items()}
        return self._compiled_templates.render(f"{template_name}.jinja", paths, **variables).strip()

    def check_templates(self) -> None:
        """Render every template once with sample values; the first problem as a DataError."""
        for name, variables in TEMPLATES.items():
            path, source = self.files[name][1], self.template_texts[name]
            sample = {key: _SAMPLE.get(key, key) for key in ("company", "subject", *variables)}
            message = self.render(name, **sample)
            if not message:
                raise DataError(path, "renders to an empty message.")
            carried = next((key for key in _CARRIED if key in variables), None)
            if carried and sample[carried] not in message:
                raise DataError(path, f"does not use {{{{ {carried} }}}}, which this message must contain.")
            if re.search(r"{%-?\s*extends\b", source) and not re.search(r"{%-?\s*block\b", source):
                raise DataError(
                    path, "extends another template but overrides nothing; put your text in {% block message %}."
                )


def list_prompt_sets(workspace: Workspace) -> list[str]:
    """Return the sets that there are: the shipped ones, then the folders in `prompts/` of the workspace.

    The messages of other kinds of tasks are in folders there, too, and no sets to ask a system with.
    """
    reserved = prompt_folder_names_of_task_kinds()
    # Whatever else ships in `prompts/` is of some kind of task, be its package here or not.
    layers = (folder for name, folder in workspace.layers if name != "shipped")
    folders = (path for layer in layers for path in sorted((layer / "prompts").glob("[!.]*")))
    user_sets = (path.name for path in folders if path.is_dir() and path.name not in reserved)
    return list(dict.fromkeys((*SETS, *translated_prompt_set_descriptions(), *user_sets)))


def translated_prompt_set_descriptions() -> dict[str, str]:
    """Return the shipped sets in other languages → which set it is, in which."""
    every = {
        variant_name_for_language(name, code): f"{name}, in {language.name}"
        for name in SETS
        for code, language in LANGUAGES.items()
    }
    return {
        name: description
        for name, description in every.items()
        if name not in SETS and (shipped_folder("prompts") / name).is_dir()
    }


def prompt_folder_names_of_task_kinds() -> set[str]:
    """Return the folders in `prompts/` that kinds of tasks have."""
    return {kind.prompts for kind in load_kinds().values()} - {""}


def assemble_prompts_unchecked(workspace: Workspace, name: str = NEUTRAL) -> PromptSet:
    """Return the templates of a set, unchecked; what it does not have of its own is that of all, else of `neutral`."""
    basis = Workspace(home=shipped_folder(), layers=(("shipped", shipped_folder()),))
    files = basis.nearest_files("prompts", NEUTRAL)
    originals = {template: path for template, (_, path) in _overlay_prompt_files_of_layer(files, basis, name).items()}
    for layer in reversed(workspace.layers):
        files = _overlay_prompt_files_of_layer(files, Workspace(home=workspace.home, layers=(layer,)), name)
    return PromptSet(name, dict(sorted(files.items())), originals)


def _overlay_prompt_files_of_layer(
    files: dict[str, tuple[str, Path]], layer: Workspace, prompt_set_name: str
) -> dict[str, tuple[str, Path]]:
    """Return the files, a nearer layer's in place of a farther one's: the set's before all sets'."""
    return {**files, **layer.nearest_files("prompts"), **layer.nearest_files("prompts", prompt_set_name)}


def load_prompts(workspace: Workspace, name: str = NEUTRAL) -> PromptSet:
    """Return the templates of a set in effect, checked; an UnknownNameError if there is no such set."""
    if name not in list_prompt_sets(workspace):
        raise UnknownNameError("set of prompts", name, list_prompt_sets(workspace), "See: genaipa prompts")
    prompts = assemble_prompts_unchecked(workspace, name)
    missing = [template for template in (*TEMPLATES, *INCLUDED) if template not in prompts.files]
    if missing:
        raise UsageError(
            f"the prompt '{missing[0]}' is missing because genaipa is not completely installed; install it again."
        )
    prompts.check_templates()
    return prompts


def map_prompt_sets_to_labels(manifest: Manifest) -> dict[str, str]:
    """Return the labels of a run's sets of prompts in tables, by its records' field `prompts` (empty for a single set).

    The set's name; behind that of a set that is not as shipped, the beginning of a SHA-256 of its templates.
    """
    digests, plan = manifest.digests.prompts, get_plan_if_procedure_run(manifest.spec)
    names = plan.prompts if plan else ()
    if not digests:
        is_recorded = any(facts.words == "recording" for facts in manifest.systems.values())
        return {"": PUBLISHED if is_recorded else UNKNOWN}
    if len(names) == 1:
        return {"": _label_prompt_set(names[0], digests)}
    return {
        name: _label_prompt_set(
            name, {key[len(name) + 1 :]: value for key, value in digests.items() if key.startswith(f"{name}/")}
        )
        for name in names
    }


def find_prompt_set_label(
    manifest: Manifest, label_by_prompt_set: Mapping[str, str], system: str, prompt_set: str
) -> str:
    """Return the label of the set that a system was asked with; a recording answered other prompts than it was sent.

    `label_by_prompt_set` are the run's (`map_prompt_sets_to_labels`).
    """
    facts = manifest.systems.get(system)
    recorded = facts is not None and facts.words == "recording"
    return PUBLISHED if recorded else label_by_prompt_set.get(prompt_set, prompt_set)


def _label_prompt_set(name: str, digests: Mapping[str, str]) -> str:
    if digests == _digest_shipped_prompt_templates(name):
        return name
    return f"{name} ({sha256_of(msgspec.json.encode(digests, order='sorted').decode())[:8]})"


@cache
def _digest_shipped_prompt_templates(prompt_set: str) -> dict[str, str]:
    return assemble_prompts_unchecked(
        Workspace(home=shipped_folder(), layers=(("shipped", shipped_folder()),)), prompt_set
    ).digests


@dataclass(frozen=True)
class IntroductionStep:
    """A message of an introduction and the acknowledgement in place of the system's reply to it."""

    name: str
    message: Message
    acknowledgement: Message


@dataclass(frozen=True)
class Script:
    """The messages for one document, cut into the parts that suit one system.

    Messages are made once and shared by all conversations, so that a long document is held and encoded once.
    """

    document: Document
    parts: tuple[str, ...]
    questions: QuestionSet
    prompts: PromptSet
    summary_words: int = 400

    @cached_property
    def _subject_variables(self) -> dict[str, object]:
        company, language = self.document.company, language_of_prompt_set_or_english(self.prompts.name)
        if self.document.kind == "regulation":
            subject = language.regulation(self.document.about.title, company)
        else:
            subject = language.policy(company)
        return {"company": company, "subject": subject}

    def _render_message_text(self, template: str, **variables: object) -> str:
        return self.prompts.render(template, **self._subject_variables, **variables)

    def _make_step(self, name: str, message: Message, part_number: int = 0) -> IntroductionStep:
        acknowledgement = self._render_message_text("acknowledgement", part=part_number, parts=len(self.parts))
        return IntroductionStep(name, message, Message("assistant", acknowledgement, "acknowledgement"))

    @cached_property
    def _company_steps(self) -> tuple[IntroductionStep, ...]:
        return (
            self._make_step(
                "(introduction)", Message("user", self._render_message_text("introduce-company"), "introduction")
            ),
        )

    @cached_property
    def _document_steps(self) -> tuple[IntroductionStep, ...]:
        total = len(self.parts)
        announcement = Message("user", self._render_message_text("introduce-document", parts=total), "introduction")
        steps = [self._make_step("(introduction)", announcement)]
        for number, text in enumerate(self.parts, 1):
            content = self._render_message_text("part", part=number, parts=total, text=text)
            message = Message("user", content, "part", carries=text, breakpoint=number == total)
            steps.append(self._make_step(f"(part {number})", message, number))
        return tuple(steps)

    def introduction_steps(self, initialization: Initialization, summary: str = "") -> tuple[IntroductionStep, ...]:
        """Return the first messages of a conversation; `summary` for the two initializations that need one."""
        if initialization == "company-name":
            return self._company_steps
        if initialization == "document":
            return self._document_steps
        content = self._render_message_text("introduce-summary", text=summary)
        message = Message("user", content, "introduction", carries=summary, breakpoint=True)
        return (self._make_step("(introduction)", message),)

    def steps_before_summary_request(self, initialization: Initialization) -> tuple[IntroductionStep, ...]:
        """Return the first messages of the conversation that writes the summary."""
        return self._document_steps if initialization == "summary-of-document" else ()

    @cached_property
    def _summary_requests_by_initialization(self) -> dict[str, Message]:
        return {
            initialization: Message(
                "user", self._render_message_text(template, words=self.summary_words), "summary-request"
            )
            for initialization, template in (
                ("summary-by-name", "summarize-by-name"),
                ("summary-of-document", "summarize-document"),
            )
        }

    def summary_request_message(self, initialization: Initialization) -> Message:
        """Return the message that asks for the summary."""
        return self._summary_requests_by_initialization[initialization]

    @cached_property
    def _question_message_cache(self) -> dict[tuple[str, str], Message]:
        return {}

    def question_message(self, question_id: str, wording: Wording) -> Message:
        """Return the message that asks a question in a wording."""
        message = self._question_message_cache.get((question_id, wording))
        if message is None:
            text = self.questions.question_text(question_id, wording, self.document.company)
            content = self._render_message_text("question", question=text, question_id=question_id)
            message = self._question_message_cache[question_id, wording] = Message("user", content, carries=text)
        return message


def list_messages_and_acknowledgements(steps: Sequence[IntroductionStep]) -> list[Message]:
    """Return an introduction with its acknowledgements put in without a call."""
    return [message for step in steps for message in (step.message, step.acknowledgement)]
