"""Versions of a document: their history in a git repository, what a new one changes, and which answers hold."""

from __future__ import annotations

import random
import re
import subprocess
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from size import SOAK, size

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import read_yaml
from genaipa.policies.document import About, Document, load_document, metadata_problems
from genaipa.policies.reading import read_markdown
from genaipa.questions.annotations import Annotations, format_annotation_template, load_annotations
from genaipa.questions.sets import load_question_set
from genaipa.workspace import find_workspace
from genaipa_watch.changes import (
    UNCHANGED,
    DocumentChanges,
    mark_changed_words,
    normalize_text_to_words,
    split_sentences,
)
from genaipa_watch.history import read_version_history
from genaipa_watch.policies import compare_versions
from genaipa_watch.versions import CarriedAnswers

BRINDLECART = load_document("brindlecart")
ANSWERS = load_annotations(find_workspace(None), "brindlecart")
ASKED = load_question_set("policy")
LEAVES = [s for s in BRINDLECART.sections if s.level == 3]


def later(text: str, name: str = "brindlecart.2027-01-01") -> Document:
    """A later version with this text."""
    return Document(name, text, msgspec.structs.replace(BRINDLECART.about, digest=""))


def carried(text: str) -> CarriedAnswers:
    """Brindlecart's annotated answers, held against this text."""
    return CarriedAnswers(DocumentChanges(BRINDLECART, later(text)), ANSWERS, ASKED)


# --- what changed --------------------------------------------------------------------------------------------------


def test_layout_links_capitals_and_punctuation_change_no_sentence() -> None:
    """Sentences are the same up to punctuation, capitals, links and layout."""
    text = (
        '## 1 Data\n\nWe keep *data*. See [our page](https://a.example/x_(1)?b=2 "T").\n\n## 2 Rights\n\nYou may ask.'
    )
    other = "## 1. Data\n\n\nWe keep data; see [Our Page](https://b.example).\n\n## 2 Rights\n\n- You may ask!"
    assert normalize_text_to_words(read_markdown(text).text) == normalize_text_to_words(read_markdown(other).text)
    changes = DocumentChanges(later(text, "a.1"), later(other, "a.2"))
    assert changes.has_same_words
    assert not changes.new_sentences_as_words - {"we keep data", "see our page"}


def test_sentences_end_without_blanks_in_chinese() -> None:
    """A full-width stop ends a sentence."""
    assert split_sentences("我们收集数据。您可以删除它。") == ["我们收集数据。", "您可以删除它。"]


def _edit(kind: str, draw: random.Random) -> tuple[str, str]:
    """Brindlecart with an edit of this kind, and the number of the section that it is in."""
    text, section = BRINDLECART.text, draw.choice(LEAVES)
    held = text[section.start : section.end]
    heading, body = held.split("\n", 1)
    said = [s for s in split_sentences(body) if len(s.split()) > 4 and body.count(s) == 1]
    chosen = draw.choice(said)
    if kind == "changed":
        words = chosen.split()
        words[draw.randrange(len(words))] = "whatsoever"
        body = body.replace(chosen, " ".join(words))
    elif kind == "inserted":
        body = body.replace(chosen, chosen + " The zebras of the quay are painted twice a year.")
    elif kind == "deleted":
        body = body.replace(chosen, "")
    elif kind == "renumbered":
        heading = heading.replace(section.number, f"{section.number}9")
    if kind == "moved":
        others = [s for s in LEAVES if s.number.split(".")[0] != section.number.split(".")[0]]
        place = draw.choice(others).end
        rest = text[: section.start] + text[section.end :]
        place -= len(held) if place > section.start else 0
        return rest[:place].rstrip("\n") + "\n\n" + held.strip("\n") + "\n\n" + rest[place:].lstrip(
            "\n"
        ), section.number
    return text[: section.start] + heading + "\n" + body + text[section.end :], section.number


@pytest.mark.parametrize("kind", ["changed", "inserted", "deleted", "renumbered", "moved"])
def test_an_edit_changes_its_section_and_no_other_and_answers_hold_exactly_without_it(kind: str) -> None:
    """Drawn edits (200 at full size): states are right, an answer holds only if its sections do."""
    for seed in range(40 if SOAK else 3):
        text, number = _edit(kind, random.Random(seed))
        held = carried(text)
        states = {
            (c.before or c.after).number: c.state
            for c in held.changes.changes_of_all_sections
            if c.state != "unchanged"
        }  # type: ignore[union-attr]
        wanted = {"moved"} if kind in ("renumbered", "moved") else {"changed", "reworded"}
        assert {*states} == {number}, (kind, seed, states)
        assert states[number] in wanted, (kind, seed, states)
        for one in held.answers:
            cited = any(label == number or number.startswith(f"{label}.") for label in one.answer.sections)
            if one.answer.silent != "yes":
                assert (one.state == "look") == (cited and wanted != {"moved"}), (kind, seed, one.question)
        if wanted == {"moved"}:
            now = f"{number}9" if kind == "renumbered" else number
            for question, answer in held.make_annotations_of_later_version("2027-01-02").answers.items():
                before = ANSWERS.answers[question].sections
                assert answer.sections == tuple(now if label == number else label for label in before)


def test_the_share_of_answers_that_one_changed_section_touches_is_small() -> None:
    """One changed section of brindlecart touches few of its answers: the rest is carried over."""
    seeds = range(size(small=3, soak=12))
    touched = [
        len(carried(_edit("changed", random.Random(seed))[0]).list_question_ids_in_state("look")) for seed in seeds
    ]
    assert 0 < sum(touched) / len(touched) < 6


def test_a_silent_question_is_perhaps_answered_by_a_new_sentence_near_it() -> None:
    """A new section on transparency reports concerns the question on them, and none about employees."""
    new = "### 14.4 Transparency reports\n\nWe publish a transparency report on government data requests each year.\n\n"
    held = carried(BRINDLECART.text.replace("## 15. Changes", new + "## 15. Changes"))
    assert held.list_question_ids_in_state("perhaps") == ["RC_f3"]
    assert not held.list_question_ids_in_state("look")


def test_points_whose_sections_changed_are_named() -> None:
    """A change of 9.2 touches the points that rest on it, and no others of the answer."""
    held = carried(BRINDLECART.text.replace("chats for 90 days after", "chats for 60 days after"))
    one = next(one for one in held.answers if one.question == "DM_u1")
    assert one.state == "look"
    assert set(one.points) == {p.id for p in one.answer.points if "9.2" in p.sections} > set()


def test_the_form_of_a_new_version_has_what_holds_and_the_rest_in_comments(tmp_path: Path) -> None:
    """The form reads as annotated answers of the new text, with the answers that hold alone."""
    held = carried(BRINDLECART.text.replace("chats for 90 days after", "chats for 60 days after"))
    path = tmp_path / "brindlecart.2027-01-01.yaml"
    path.write_text(
        format_annotation_template(
            held.changes.after,
            ASKED,
            "2027-01-02",
            held.make_annotations_of_later_version("2027-01-02"),
            held.format_earlier_answers_with_changes(),
        )
    )
    found = read_yaml(path, Annotations)
    assert found.digest == held.changes.after.digest
    filled = {question for question, answer in found.answers.items() if not answer.is_blank}
    assert filled == set(held.list_question_ids_in_state("holds"))
    assert {
        **found.answers,
        **{q: held.make_annotations_of_later_version("x").answers[q] for q in filled},
    } == found.answers
    assert path.read_text().count("# Before (changed: 9.2 Usual periods):") == len(
        held.list_question_ids_in_state("look")
    )
    assert "    # - id: chats\n" in path.read_text()
    assert found.annotators == (*ANSWERS.annotators, "your name")


def test_words_are_marked_one_by_one() -> None:
    """Of a sentence only the words that differ are marked."""
    pieces = mark_changed_words("We keep chats for 90 days.", "We keep all chats for 60 days.")
    assert [(p.state, p.text.strip()) for p in pieces if p.state != "same"] == [
        ("new", "all"),
        ("gone", "90"),
        ("new", "60"),
    ]


def test_states_that_hold_are_those_of_equal_sentences() -> None:
    """Of all changes of the sections, those that hold have the same sentences before and after."""
    text, _ = _edit("changed", random.Random(5))
    for change in DocumentChanges(BRINDLECART, later(text)).changes_of_all_sections:
        assert change.before
        assert change.after
        same = [
            normalize_text_to_words(document.text[section.start : section.end].partition("\n")[2])
            for document, section in ((BRINDLECART, change.before), (later(text), change.after))
        ]
        assert (same[0] == same[1]) == (change.state in UNCHANGED)


def test_a_version_of_itself_or_without_a_day_is_refused() -> None:
    """Metadata that make no version are one sentence each."""
    for about, said in (
        (About(company="A", version_of="a.1", date="2026-01-01"), "is the document's own name"),
        (About(company="A", version_of="a"), "'' is not a date (YYYY-MM-DD); versions are told apart by date"),
        (About(company="A", version_of="a", date="yesterday"), "'yesterday' is not a date"),
    ):
        (problem,) = metadata_problems(Path("a.1.md"), Document("a.1", "Some text.", about))
        assert said in str(problem)
        assert isinstance(problem, DataError)


# --- the history of a file -----------------------------------------------------------------------------------------

LONG = "\n\n".join(
    f"## {n} Part\n\nWe keep the data that you give us for {n} years, and delete it." for n in range(1, 30)
)
GERMAN = "Wir speichern die Daten, die Sie uns geben, und löschen sie nach der Frist. " * 40


def _git(folder: Path, *arguments: str, day: str = "") -> None:
    moment = f"{day}T12:00:00Z"
    who = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    days = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment} if day else {}
    subprocess.run(
        ["git", "-C", folder, *arguments],
        check=True,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", **who, **days},
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with eight versions of a policy, of which three differ."""
    folder = tmp_path / "collection"
    (folder / "Acme").mkdir(parents=True)
    _git(folder, "init", "-q")
    versions = [
        ("2026-01-01", LONG),
        ("2026-02-01", LONG.replace("data that", "*data* that").replace("## ", "# ")),
        ("2026-03-01", "# 404\n\nThe page was not found."),
        ("2026-03-02", LONG),
        ("2026-04-01", LONG.replace("7 years", "8 years")),
        ("2026-05-01", GERMAN),
        ("2026-06-01", LONG.replace("7 years", "9 years")),
        ("2026-06-01", LONG.replace("7 years", "10 years")),
    ]
    for day, text in versions:
        (folder / "Acme/Privacy Policy.md").write_text(text)
        (folder / "Acme/Terms.md").write_text(text + day)
        _git(folder, "add", ".")
        _git(folder, "commit", "-qm", "x", day=day)
    return folder


def test_versions_that_differ_are_kept_and_the_others_counted(repository: Path) -> None:
    """Layout, error pages, another language and a second version of a day are left out, each counted."""
    found = read_version_history(repository, "Acme/Privacy Policy.md")
    assert [version.date for version in found.versions] == ["2026-01-01", "2026-04-01", "2026-06-01"]
    assert "10 years" in found.versions[-1].text
    assert found.left_out == {"same": 2, "short": 1, "language": 1, "day": 1}
    assert found.version_count_with_left_out == 8


def test_versions_are_in_the_language_of_the_others(repository: Path) -> None:
    """A German policy's history keeps the German versions, and leaves out pages in English and in French."""
    french = "Nous gardons les données que vous nous donnez, et nous les effaçons avec votre accord. " * 40
    for day, text in (("02", GERMAN), ("03", LONG), ("04", french), ("05", GERMAN + "Niemand sonst bekommt sie.")):
        (repository / "Acme/Datenschutz.md").write_text(text)
        _git(repository, "add", ".")
        _git(repository, "commit", "-qm", "x", day=f"2026-07-{day}")
    found = read_version_history(repository, "Acme/Datenschutz.md")
    assert [version.date[-2:] for version in found.versions] == ["02", "05"]
    assert found.left_out == {"language": 2}


def test_a_file_of_error_pages_has_no_version(repository: Path) -> None:
    """Where every version is an error page, none is usual, and none is kept."""
    (repository / "Acme/Gone.md").write_text("# 404\n\nThe page was not found.")
    _git(repository, "add", ".")
    _git(repository, "commit", "-qm", "x", day="2026-08-01")
    found = read_version_history(repository, "Acme/Gone.md")
    assert (found.versions, found.left_out) == ((), {"short": 1})


def test_versions_are_compared_in_one_language() -> None:
    """A version in another language, and a version with itself, are one sentence each."""
    german = load_document("brindlecart-de")
    with pytest.raises(UsageError, match="'brindlecart' is in English, and 'brindlecart-de' is in German; name two"):
        compare_versions(BRINDLECART, german)
    with pytest.raises(UsageError, match="'brindlecart' can't be compared with itself"):
        compare_versions(BRINDLECART, BRINDLECART)


def test_a_version_too_long_for_a_document_is_not_taken_into_memory(repository: Path) -> None:
    """A few kilobytes of a stranger's repository may be gigabytes of text: such a version is counted, and not read."""
    (repository / "Acme/Terms.md").write_text("a " * 4_100_000)
    _git(repository, "commit", "-qam", "x", day="2026-08-01")
    tracemalloc.start()
    found = read_version_history(repository, "Acme/Terms.md")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(found.versions), found.left_out["text"]) == (5, 1)
    assert peak < 4_000_000


def test_nothing_in_a_repository_is_run(repository: Path, tmp_path: Path) -> None:
    """A stranger's repository can't have programs run by its settings."""
    ran = tmp_path / "ran"
    for name in ("core.fsmonitor", "gpg.program", "core.pager", "diff.external"):
        _git(repository, "config", name, f"touch {ran}; false")
    _git(repository, "config", "log.showSignature", "true")
    assert len(read_version_history(repository, "Acme/Privacy Policy.md").versions) == 3
    assert not ran.exists()


def test_no_setting_changes_which_versions_there_are(repository: Path) -> None:
    """Whatever its settings or the user's say of output, a history has the same versions, its first among them."""
    before = read_version_history(repository, "Acme/Privacy Policy.md")
    for setting, value in (
        *(("log.showRoot", "false"), ("i18n.logOutputEncoding", "UTF-16"), ("log.follow", "true"), ("log.date", "raw")),
        *(("diff.renames", "copies"), ("log.diffMerges", "off"), ("color.ui", "always"), ("core.abbrev", "4")),
        *(
            ("format.pretty", "oneline"),
            ("log.decorate", "full"),
            ("core.quotePath", "true"),
            ("diff.noprefix", "true"),
        ),
        *(("diff.orderFile", "/dev/null"), ("diff.noprefix", "true"), ("protocol.ext.allow", "always")),
    ):
        _git(repository, "config", setting, value)
        assert read_version_history(repository, "Acme/Privacy Policy.md") == before, setting


def test_a_repository_that_can_not_be_read_is_one_sentence(repository: Path, tmp_path: Path) -> None:
    """No folder, no repository, a shallow clone, no such file."""
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository}", shallow], check=True)
    for folder, path, said in (
        (tmp_path / "none", "a", "there is no folder"),
        (tmp_path, "a", "git can't read"),
        (shallow, "Acme/Privacy Policy.md", "is a shallow clone without a history; to get it: git fetch --unshallow"),
        (repository, "Acme/Privacy.md", "did you mean --path 'Acme/Privacy Policy.md'?"),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            read_version_history(folder, path)
