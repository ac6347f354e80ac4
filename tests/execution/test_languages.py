"""Documents in other languages: asked in theirs by default, in one language a run, and told apart in reports."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from running import write
from stores import score

from benchmarks.made_up import made_up
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.execution.observer import Observer
from genaipa.execution.prepare import prepare_run
from genaipa.policies.corpus import encode_corpus_line
from genaipa.policies.document import load_document
from genaipa.questions.sets import load_question_set
from genaipa.reports.notable import notable_sentences
from genaipa.runs.run import load_run
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.store import open_or_create_store
from genaipa.tasks.request import RunRequest
from genaipa.validation import validate
from genaipa.workspace import find_workspace
from rubrics import typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

SHORT = ("-s", "extractive", "-e", "quality", "--limit", "2")
DUTCH = """
Wij verzamelen uw naam, uw adres en uw bestellingen, zolang de wet dat vraagt. Dat is nodig om de waren te leveren en om
op uw vragen te antwoorden. Of wij iets verkopen? Nee, wij verkopen niets aan wie dan ook, en u kunt schrijven.
"""
OWN = """name: policy
title: t
kind: policy
placeholder: X
source: s
license: l
categories: {T: Trust}
questions: [{id: Q1, category: T, origin: user, text: What does X do?}]
"""


@pytest.fixture(autouse=True)
def _workspace() -> None:
    write("genaipa.toml", "")


class Said(Observer):
    """Keeps what is said before a run."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def on_note(self, sentence: str) -> None:
        """Keep it."""
        self.sentences.append(sentence)


def asked(*documents: str, **plan: Any) -> tuple[dict[str, str], tuple[str, ...], list[str]]:
    """The question sets and the sets of prompts that documents are asked about with, and what is said before."""
    said = Said()
    request = RunRequest(("extractive",), documents, plan={"experiment": "quality", "limit": "2"} | plan)
    spec = prepare_run(find_workspace(), request, said).spec
    return dict(spec.plan.questions), spec.plan.prompts, said.sentences


def test_a_document_is_asked_about_in_its_language(genaipa: Cli) -> None:
    """Questions and prompts are their variants, and a line says so; a name that the user gives wins over both."""
    taken = "brindlecart-de: asking in German, with the questions policy-de and the prompts neutral-de"
    assert asked("brindlecart-de") == ({"brindlecart-de": "policy-de"}, ("neutral-de",), [taken])
    english = {"brindlecart-de": "policy"}
    sets, prompts, said = asked("brindlecart-de", questions=("policy",))
    assert (sets, prompts, [one for one in said if "German" in one]) == (english, ("neutral",), [])
    sets, prompts, said = asked("brindlecart-fr", prompts=("paper",))
    assert (sets, prompts) == ({"brindlecart-fr": "policy-fr"}, ("paper",))
    assert said == ["brindlecart-fr: asking in French, with the questions policy-fr and the prompts paper"]
    assert asked("brindlecart") == ({"brindlecart": "policy"}, ("neutral",), [])
    compared = asked("brindlecart-fr", experiment="prompting")
    assert (compared[1], compared[2][0].rpartition("; ")[2]) == (
        ("neutral", "guided"),
        "not available in French: neutral and guided",
    )
    shown = genaipa("prompts", "introduce-document", "-p", "brindlecart-fr").out
    assert "le texte suivant\u202f: la politique de confidentialité de Brindlecart." in shown.replace("\xa0", "\u202f")


def test_a_language_without_a_variant_is_asked_about_in_english() -> None:
    """The usual questions and prompts are taken, and a line says so, of stated languages and of unknown ones."""
    write("policies/laden.md", DUTCH)
    write("policies/laden.yaml", "company: Laden\nlanguage: nl\n")
    dutch = "asking in Dutch, with the questions policy and the prompts neutral"
    lacking = f"laden: {dutch}; not available in Dutch: policy and neutral"
    assert asked("laden") == ({"laden": "policy"}, ("neutral",), [lacking])
    write("policies/laden.yaml", "company: Laden\n")
    seems = "laden: asking in English, because the document seems to be in Dutch, for which there are no questions"
    assert asked("laden", "brindlecart")[2] == [seems]
    # A set of one's own in place of the shipped one is none that the shipped translation translates.
    write("questions/policy.yaml", OWN)
    assert asked("brindlecart-de")[0] == {"brindlecart-de": "policy"}
    assert [one.path for one in validate(find_workspace()).findings if "questions" in one.path] == []


def test_one_run_asks_in_one_language(genaipa: Cli, tmp_path: Path) -> None:
    """Documents in several languages are refused in a sentence, of a corpus, too; one set asks about all."""
    refused = genaipa("run", *SHORT, "-p", "brindlecart,brindlecart-de")
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1), refused.err
    assert all(said in refused.err for said in ("brindlecart would", "English", "brindlecart-de in German", "'policy'"))
    corpus = tmp_path / "c.jsonl"
    corpus.write_bytes(b"".join(map(encode_corpus_line, (*made_up(3), load_document("brindlecart-de")))))
    refused = genaipa("run", *SHORT, "--documents", corpus)
    assert (refused.code, "but brindlecart-de in German; ask" in refused.err) == (2, True)
    assert not Path("runs").exists()
    both = asked("brindlecart", "brindlecart-de", questions=("policy",))
    assert both[:2] == ({"brindlecart": "policy", "brindlecart-de": "policy"}, ("neutral",))


def test_reports_tell_languages_apart(genaipa: Cli) -> None:
    """A run in German and one in English are two groups by language, and whose translation was asked is said."""
    for document in ("brindlecart", "brindlecart-de"):
        assert genaipa("run", *SHORT, "-p", document, "--name", f"about-{document}").code == 0
        with contextlib.closing(open_or_create_store(find_workspace())) as store:
            given = "11111" if document == "brindlecart" else "33333"
            store.append_new_events(
                [score("Ada", one.digest, typed(given)) for one in load_run(f"about-{document}").answers()]
            )
    shown = json.loads(genaipa("leaderboard", "--by", "language", "--json").out)["groups"]["rows"]
    assert {row["group"]: row["mean"] for row in shown} == {"en": 100.0, "de": 10.0}
    gathered = gather_study_with_stored_scores(find_workspace(), select_runs_and_apply_filters(find_workspace(), []))
    said = [one for one in notable_sentences(gathered) if "words under" in one or "Translated" in one]
    assert said == ["Translated questions: policy-de, into German by the genaipa authors, not checked."]
    english = load_question_set("policy")
    for one in load_run("about-brindlecart").answers():
        question = one.coordinates["question"]
        assert gathered.questions.texts[question] == english[question].text
    assert gathered.questions.categories["T"] == "Transparency"
