"""The pool of answers: what can be scored, and all that one needs to score it."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from running import TEXT, answers, carry_out, latest, make_workspace, procedure, spec, write

from genaipa.errors import GenaipaError
from genaipa.files.text import sha256_of
from genaipa.runs import journal
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.runs.records import answer_digest
from genaipa.runs.selection import SelectedRun
from genaipa.scoring.answers import AnswerPool
from genaipa.workspace import find_workspace

ANNOTATED = """document: acme
questions: policy
annotators: [one]
part_set: published
answers:
  Q1: {silent: false, answer: "%s", sections: ["1"]}
  Q2: {silent: true, answer: It does not say.}
"""


def scripted(rules: str = "", name: str = "say") -> str:
    """A system that follows these rules, and says "See section 2." where none matches."""
    write(f"{name}.yaml", f"rules:\n{rules}\ndefault: See section 2.\n" if rules else "default: See section 2.\n")
    return f"scripted/{name}.yaml"


def pool_of(*runs) -> AnswerPool:
    """The pool of these runs."""
    return AnswerPool(find_workspace(), runs)


def by_question(pool: AnswerPool) -> dict[str, str]:
    """Question → digest of its answer."""
    return {answer.question: answer.digest for answer in pool.answers.values()}


def appended(run, record) -> None:
    """Add a record to a run, as another process would."""
    with (run.path / "answers.jsonl").open("ab") as file:
        file.write(journal.encode_record_line(record))


def replied(record, reply: str, **changes):
    """A record like this one with another reply."""
    document = sha256_of(TEXT)
    return msgspec.structs.replace(record, reply=reply, digest=answer_digest(document, record.asked, reply), **changes)


def test_every_answer_of_a_run_is_there_once():
    """The pool holds the run's answers, and neither its summaries nor its acknowledgements."""
    make_workspace(questions=3)
    run, _ = carry_out(procedure(systems=("extractive",), acknowledge=True))
    kinds = {record.kind for record in run.read_records()}
    assert kinds == {"answer", "summary", "acknowledgement"}
    pool = pool_of(run)
    expected = {record.digest: record for record in answers(run)}
    assert set(pool.answers) == set(pool.arrivals) == set(expected)
    for found in pool.answers.values():
        record = expected[found.digest]
        assert (found.document, found.document_digest, found.kind) == ("acme", sha256_of(TEXT), "policy")
        assert (found.question, found.category, found.wording) == (record.question, "T", "original")
    keys = sorted(occurrence.key for found in pool.answers.values() for occurrence in found.occurrences)
    assert keys == sorted(record.key for record in answers(run))
    assert pool.problems == []


def test_one_text_is_one_answer_wherever_it_was_given():
    """The same reply to the same question in two systems, repetitions and runs is scored once."""
    make_workspace(questions=1)
    systems = (scripted(name="one"), scripted(name="two"))
    first, _ = carry_out(spec(systems=systems, repetitions=2))
    second, _ = carry_out(spec(systems=systems[:1]))
    pool = pool_of(first, second)
    (found,) = pool.answers.values()
    where = [(o.run, o.system, o.initialization, o.repetition) for o in found.occurrences]
    assert sorted(where) == sorted(
        [
            *((first.name, system, "document", repetition) for system in systems for repetition in (1, 2)),
            (second.name, systems[0], "document", 1),
        ]
    )
    assert pool.load_case(found.digest).reply == "See section 2."


def test_failures_are_not_scored_and_refusals_are():
    """An answer that was never had is not in the pool; a refused, a cut-off and an empty one are."""
    make_workspace(questions=4)
    rules = """
  - {match: Question 1, fail: permanent}
  - {match: Question 2, reply: I had rather not., finish: refusal}
  - {match: Question 3, reply: "It says tha", finish: length}
"""
    run, _ = carry_out(spec(systems=(scripted(rules),), conversation="independent"))
    empty = replied(latest(run)[next(r.key for r in answers(run) if r.question == "Q4")], "", status="truncated")
    appended(run, empty)
    pool = pool_of(run)
    assert {found.question: found.status for found in pool.answers.values()} == {
        "Q2": "refused",
        "Q3": "truncated",
        "Q4": "truncated",
    }
    assert pool.load_case(empty.digest).reply == ""


def test_a_run_that_grows_is_read_on():
    """Answers that come after the desk was opened are found by refresh, and a half-written one is waited for."""
    make_workspace(questions=4)
    run, _ = carry_out(spec(systems=("extractive",), limit=(1, 3)))
    log = run.path / "answers.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0])
    pool = pool_of(run)
    assert len(pool.answers) == 1
    assert not pool.read_new_answers()
    with log.open("ab") as file:
        file.write(lines[1] + lines[2][:40])
    assert pool.read_new_answers()
    assert not pool.read_new_answers()
    assert len(pool.answers) == 2
    with log.open("ab") as file:
        file.write(lines[2][40:])
    assert pool.read_new_answers()
    assert pool.arrivals == [record.digest for record in answers(run)]
    assert [pool.load_case(found).reply for found in pool.arrivals] == [record.reply for record in answers(run)]
    assert pool.generation == 0


def test_an_answer_that_was_replaced_goes():
    """Where a later record has another reply under the same key, that one is scored and the first is not."""
    make_workspace(questions=2)
    run, _ = carry_out(spec(systems=("extractive",)))
    pool = pool_of(run)
    record = answers(run)[0]
    new = replied(record, "Something else.")
    appended(run, new)
    assert pool.read_new_answers()
    assert record.digest not in pool.answers
    assert pool.load_case(new.digest).reply == "Something else."
    assert pool.generation == 1
    with pytest.raises(GenaipaError, match="no longer in the runs"):
        pool.load_case(record.digest)
    # It came back under the key: nothing is lost, and it is told of again.
    appended(run, record)
    assert pool.read_new_answers()
    assert pool.load_case(record.digest).reply == record.reply
    assert pool.arrivals[-1] == record.digest


def test_a_file_that_was_edited_is_read_again():
    """A line taken out by hand takes its answer out, one put back brings it back; the others keep their texts."""
    make_workspace(questions=3)
    run, _ = carry_out(spec(systems=("extractive",)))
    pool = pool_of(run)
    log = run.path / "answers.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[1:]))
    assert pool.read_new_answers()
    assert set(pool.answers) == {record.digest for record in answers(run)}
    assert len(pool.answers) == 2
    assert [pool.load_case(record.digest).reply for record in answers(run)] == [record.reply for record in answers(run)]
    log.write_bytes(b"".join(lines))
    assert pool.read_new_answers()
    assert len(pool.answers) == 3
    assert [pool.load_case(record.digest).reply for record in answers(run)] == [record.reply for record in answers(run)]
    assert pool.problems == []


def test_a_damaged_line_takes_only_itself():
    """A line that is no record is told of by its number, and all others can be scored."""
    make_workspace(questions=3)
    run, _ = carry_out(spec(systems=("extractive",)))
    log = run.path / "answers.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + b'{"key": 1}\n' + lines[2])
    pool = pool_of(run)
    assert len(pool.answers) == 2
    lost, said = pool.problems
    assert "lost after the run stopped" in lost or "shorter than when the run stopped" in lost
    assert "answers.jsonl: line 2 is not a record" in said


def test_a_damaged_run_leaves_the_others_alone():
    """A run whose manifest can't be read is told of and left out; the other run's answers are there."""
    make_workspace(questions=2)
    good, _ = carry_out(spec(systems=("extractive",)))
    bad, _ = carry_out(spec(systems=(scripted(),)))
    for name in ("manifest.json", ".manifest.json"):
        (bad.path / name).write_text("{")
    pool = pool_of(bad, good)
    assert set(pool.answers) == {record.digest for record in answers(good)}
    (said,) = pool.problems
    assert "manifest.json: is damaged" in said
    assert said.endswith("The run is left out.")


def test_an_edited_reply_is_not_shown_under_the_old_digest():
    """A record that was changed in place is refused; where the answer stands elsewhere too, it is shown from there."""
    make_workspace(questions=1)
    system = scripted()
    first, _ = carry_out(spec(systems=(system,)))
    second, _ = carry_out(spec(systems=(system,), part_tokens=80))
    alone, both = pool_of(first), pool_of(first, second)
    (found,) = alone.answers
    log = first.path / "answers.jsonl"
    log.write_bytes(log.read_bytes().replace(b"See section 2.", b"See section 9."))
    with pytest.raises(GenaipaError, match=r"answers\.jsonl: no longer has the answer"):
        alone.load_case(found)
    assert both.load_case(found).reply == "See section 2."


def test_a_damaged_record_is_read_where_it_stands_whole():
    """Where one run's line was damaged while the desk was open, the answer is shown from another run."""
    make_workspace(questions=1)
    system = scripted()
    first, _ = carry_out(spec(systems=(system,)))
    second, _ = carry_out(spec(systems=(system,), part_tokens=80))
    both = pool_of(first, second)
    (found,) = both.answers
    log = first.path / "answers.jsonl"
    log.write_bytes(b"#" * log.stat().st_size)
    assert both.load_case(found).reply == "See section 2."
    log = second.path / "answers.jsonl"
    log.write_bytes(b"#" * log.stat().st_size)
    with pytest.raises(GenaipaError, match="no record begins"):
        both.load_case(found)


def test_an_answer_that_can_not_be_read_is_set_aside():
    """It goes from the pool with a sentence, whatever comes later, until its record is written anew."""
    make_workspace(questions=2)
    run, _ = carry_out(spec(systems=("extractive",)))
    pool = pool_of(run)
    record, other = answers(run)
    for _ in range(2):
        pool.drop_unreadable_answer(record.digest, "It can't be read.")
    assert set(pool.answers) == {other.digest}
    assert pool.problems == ["It can't be read."]
    assert pool.generation == 1
    appended(run, replied(record, "Something else."))
    assert pool.read_new_answers()
    assert (len(pool.answers), pool.generation) == (2, 1)
    appended(run, record)
    assert pool.read_new_answers()
    assert pool.problems == []
    assert pool.load_case(record.digest).reply == record.reply


def test_places_have_names_of_their_own():
    """One text about one document under two names, asked by two questions, is one answer that tells all four."""
    make_workspace(questions=2, documents=("acme", "twin"))
    write("policies/twin.md", TEXT)
    questions = Path("questions/policy.yaml")
    questions.write_text(questions.read_text().replace("P2b?", "P1a?").replace("Q2, category: T", "Q2, category: U"))
    questions.write_text(questions.read_text().replace("{T: Transparency}", "{T: Transparency, U: Use}"))
    wordings = ("paraphrase-1", "paraphrase-2")
    run, _ = carry_out(spec(systems=(scripted(),), documents=("acme", "twin"), wordings=wordings))
    alike = next(a for a in pool_of(run).answers.values() if len(a.occurrences) > 2)
    expected = {r.key: r for r in answers(run) if r.asked == "P1a?"}
    assert {o.key for o in alike.occurrences} == set(expected)
    for o in alike.occurrences:
        record = expected[o.key]
        assert (o.document, o.wording, o.question) == (record.document, record.coordinates["wording"], record.question)
        assert o.category == {"Q1": "T", "Q2": "U"}[o.question]
    assert {(o.document, o.wording) for o in alike.occurrences} == {(d, w) for d in ("acme", "twin") for w in wordings}
    first = alike.occurrences[0]
    about = (alike.document, alike.wording, alike.question, alike.category)
    assert about == (first.document, first.wording, first.question, first.category)


def test_a_run_without_its_folder_says_so():
    """An answer whose run was deleted while the desk was open is refused with a sentence."""
    make_workspace(questions=1)
    run, _ = carry_out(spec(systems=("extractive",)))
    pool = pool_of(run)
    shutil.rmtree(run.path)
    assert not pool.read_new_answers()
    with pytest.raises(GenaipaError, match="no longer has the answer"):
        pool.load_case(pool.arrivals[0])


def test_a_paraphrase_has_its_original():
    """A case shows the original wording with the company filled in, from the run's own copy of the questions."""
    make_workspace(questions=1)
    run, _ = carry_out(spec(systems=("extractive",), wordings=("original", "paraphrase-2")))
    Path("questions/policy.yaml").unlink()
    pool = pool_of(run)
    cases = [pool.load_case(found) for found in pool.answers]
    assert {case.answer.wording: (case.asked, case.original) for case in cases} == {
        "original": ("Question 1 on Acme?", ""),
        "paraphrase-2": ("P1b?", "Question 1 on Acme?"),
    }
    kept = run.path / "questions" / "policy.yaml"
    kept.write_text(kept.read_text(encoding="utf-8") + "\n# later\n", encoding="utf-8")
    pool = pool_of(run)
    assert [pool.load_case(found).original for found in pool.answers].count("Question 1 on Acme?") == 1
    assert [said for said in pool.problems if "has changed since the run was made" in said] != []
    kept.unlink()
    lines = run.answers_path.read_bytes().splitlines(keepends=True)
    run.answers_path.write_bytes(b"".join(lines[:-1]))
    assert any("answers were lost after the run stopped" in said for said in pool_of(run).problems)
    run.answers_path.write_bytes(b"".join(lines))
    pool = pool_of(run)
    assert {pool.load_case(found).original for found in pool.answers} == {""}
    assert any("Paraphrases are shown without the original question." in said for said in pool.problems)


def test_a_question_is_shown_as_its_set_words_it():
    """Numbers, quotes and notes that a sheet put around the question for one system don't tell whose answer it is."""
    make_workspace(questions=1)
    run, _ = carry_out(spec(systems=("extractive",), wordings=("original", "paraphrase-1")))
    log = run.path / "answers.jsonl"
    plain = [record.asked for record in answers(run)]
    records = [msgspec.structs.replace(r, asked=f'2. "{r.asked}" (Medium)') for r in run.read_records()]
    log.write_bytes(b"".join(journal.encode_record_line(replied(r, r.reply or "")) for r in records))
    pool = pool_of(run)
    assert [pool.load_case(found).asked for found in pool.arrivals] == plain
    (run.path / "questions" / "policy.yaml").unlink()
    assert pool_of(run).load_case(pool.arrivals[0]).asked.startswith('2. "')


def test_what_a_run_excludes_is_not_offered():
    """An answer that analyses don't count is offered only if asked for, or if it counts elsewhere; it is told of."""
    make_workspace(questions=3)
    system = scripted("  - {match: P1, reply: Never.}")
    run, _ = carry_out(spec(systems=(system,)))
    again, _ = carry_out(spec(systems=(system,), part_tokens=80))
    first = answers(run)[0]
    excluded = Exclusion("answer", first.key, "other-company", "is about another")
    (run.path / EXCLUSIONS).write_bytes(format_exclusions_csv([excluded]))
    narrow = AnswerPool(find_workspace(), [run], excluded=False)
    assert set(narrow.answers) == {record.digest for record in answers(run)[1:]}
    assert narrow.sentence_on_exclusions_or_empty.startswith("1 answer is left out because its run excludes")
    assert first.digest in pool_of(run).answers
    both = AnswerPool(find_workspace(), [run, again], excluded=False)
    assert first.digest in both.answers
    assert both.sentence_on_exclusions_or_empty == ""


def test_of_a_run_only_the_systems_that_are_meant():
    """Where a system was named, the answers of the run's other systems are not among those to score."""
    make_workspace(questions=2)
    run, _ = carry_out(spec(systems=("extractive", scripted())))
    pool = AnswerPool(find_workspace(), [run], sources=[SelectedRun(run, run.manifest(), ("extractive",))])
    assert {o.system for answer in pool.answers.values() for o in answer.occurrences} == {"extractive"}
    assert len(pool.answers) == 2


def test_the_document_is_the_one_that_was_asked_about():
    """While the workspace holds the same text it is taken from there; after a change, from the run's copy."""
    make_workspace(questions=1)
    run, _ = carry_out(spec(systems=("extractive",)))
    case = pool_of(run).load_case(answers(run)[0].digest)
    assert (case.document.text, case.document.layer, case.document.company) == (TEXT, "workspace", "Acme")
    write("policies/acme.md", TEXT + "\n## 4. New\n\nNew.\n")
    case = pool_of(run).load_case(answers(run)[0].digest)
    assert (case.document.text, case.document.layer, case.document.company) == (TEXT, run.name, "Acme")
    for kept in (run.path / "documents").iterdir():
        kept.write_text("Another text.")
    pool = pool_of(run)
    assert not pool.answers
    (said,) = pool.problems
    assert "is not the text that the run asked about" in said


def test_the_annotated_answer_is_of_the_same_text():
    """The workspace's annotations are shown beside the same text, else the run's copy; a missing one is None."""
    workspace = make_workspace(questions=3)
    write("annotations/acme.yaml", ANNOTATED % "As of the run.")
    run, _ = carry_out(spec(systems=("extractive",)))
    assert workspace.nearest_files("annotations")["acme"][0] == "workspace"

    def shown() -> dict[str, tuple[str, str] | None]:
        pool = pool_of(run)
        cases = {question: pool.load_case(found) for question, found in by_question(pool).items()}
        return {q: (c.annotated.answer, c.part_set) if c.annotated else None for q, c in cases.items()}

    silent = ("It does not say.", "published")
    write("annotations/acme.yaml", ANNOTATED % "As of today.")
    assert shown() == {"Q1": ("As of today.", "published"), "Q2": silent, "Q3": None}
    write("policies/acme.md", TEXT + "\nMore.\n")
    assert shown() == {"Q1": ("As of the run.", "published"), "Q2": silent, "Q3": None}
    write("policies/acme.md", TEXT)
    Path("annotations/acme.yaml").unlink()
    assert shown()["Q1"] == ("As of the run.", "published")
    write("annotations/acme.yaml", (ANNOTATED % "Of other questions.").replace("policy", "others"))
    assert shown()["Q1"] is None


def test_the_parts_are_those_that_the_system_was_given():
    """A case knows where each part that the system was sent lies in the document, and none where none was sent."""
    make_workspace(questions=1)
    rules = """
  - {match: (?i)summary of, reply: All of it in short.}
"""
    for initialization, given in (
        ("document", True),
        ("summary-of-document", True),
        ("company-name", False),
        ("summary-by-name", False),
    ):
        run, _ = carry_out(spec(systems=(scripted(rules),), initializations=(initialization,)))
        sent = [
            message.content.partition("\n\n")[2].strip()
            for conversation in run.read_conversations()
            for message in run.read_introduction(conversation.introduction)
            if message.purpose == "part"
        ]
        assert (len(sent) > 1) == given
        pool = pool_of(run)
        case = pool.load_case(pool.arrivals[0])
        assert [case.document.text[slice(*span)] for span in case.parts] == sent, initialization
    assert not case.parts


def test_parts_are_found_among_words_around_them():
    """A template of one's own that says something before and after each part changes nothing."""
    make_workspace(questions=1)
    write("prompts/part.jinja", "Here is part {{ part }}:\n{{ text }}\n## That was part {{ part }} of {{ parts }}.\n")
    run, _ = carry_out(spec(systems=("extractive",)))
    pool = pool_of(run)
    case = pool.load_case(pool.arrivals[0])
    assert len(case.parts) > 1
    kept = "".join(TEXT[start:end] for start, end in case.parts)
    assert "".join(kept.split()) == "".join(TEXT.split())


def test_the_names_are_of_every_system_that_gave_the_answer():
    """An answer that two systems gave alike is masked for both."""
    make_workspace(questions=1)
    run, _ = carry_out(spec(systems=(scripted(name="claude"), scripted(name="bard"))))
    case = pool_of(run).load_case(answers(run)[0].digest)
    assert {"Claude", "Anthropic", "Bard", "Gemini"} <= set(case.names)
    assert list(case.names) == sorted(case.names, key=lambda name: (-len(name), name))
