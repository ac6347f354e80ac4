"""What a report is about: runs by name or system, their answers, scores, gaps and exclusions."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from analysts import make_answers
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened, score, undo

from genaipa.answers.fact import answer_facts, list_facts_reading_no_reply_or_document
from genaipa.answers.gather import gather_study
from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.reports.notable import notable_sentences
from genaipa.runs import inputs
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.runs.imported import PUBLISHED_SCORES, PublishedScore, format_published_scores_csv
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace

SILENT = """
  Q1: {silent: false, answer: It says so., sections: ["1"]}
  Q2: {silent: true, answer: It does not say.}
  Q3: {silent: partly, answer: Some of it., sections: ["1"]}
"""
REPLIES = ("See section 1.", "The policy does not mention this.", "Perhaps.")


def gathered(*names: str, events=(), **options):
    """What a report about these runs has to work with, after these events in the store."""
    here = find_workspace()
    with opened("sqlite:///scores.db") as store:
        store.append_new_events(events)
        return gather_study(here, select_runs_and_apply_filters(here, names or ("latest",)), store, **options)


def test_each_answer_comes_with_what_is_known_of_it():
    """Document, question, experiment, silence of the document and of the reply, time and status are in its row."""
    folder = make_answers(*REPLIES[:2], "I know nothing of this policy.", annotations=SILENT)
    frame = gathered().make_tidy_table().set_index("question")
    assert frame["silent"].to_dict() == {"Q1": "no", "Q2": "yes", "Q3": "partly"}
    assert frame["claims_silence"].to_dict() == {"Q1": "no", "Q2": "yes", "Q3": "abstains"}
    assert set(frame["experiment"]) == {"quality"}
    assert set(frame["run"]) == {folder.name}
    assert set(frame["source"]) == {"faq"}
    assert frame["answer"].to_dict() == {record.question: record.digest for record in answers(folder)}
    assert (frame["seconds"] >= 0).all()
    ((_, order),) = folder.manifest().orders.items()
    assert frame["position"].to_dict() == {question: place for place, question in enumerate(order, 1)}
    assert set(frame["conversation"]) == {folder.manifest().spec.plan.conversation}


def test_of_a_recording_neither_order_nor_conversation_is_known():
    """Whoever recorded the replies asked in an order and in conversations of their own."""
    folder = make_answers(*REPLIES)
    manifest = folder.manifest()
    manifest.systems["scripted/say.yaml"].words = "recording"
    folder.write_manifest(manifest)
    frame = gathered().make_tidy_table()
    assert set(frame["position"]) == {0}
    assert set(frame["conversation"]) == {""}


def test_scores_are_joined_to_the_answers_they_are_for():
    """A correction replaces the score before it, an undone one is gone, others stay unscored."""
    folder = make_answers(*REPLIES)
    digest = {record.question: record.digest for record in answers(folder)}
    wrong = score("ada", digest["Q2"], POOR)
    found = gathered(
        events=[
            score("ada", digest["Q1"], POOR),
            score("ada", digest["Q1"], GOOD),
            score("bo", digest["Q1"], POOR),
            wrong,
            undo(wrong),
            score("ada", "0" * 64, GOOD),
        ]
    )
    counted = found.make_tidy_table()[found.make_tidy_table()["counted"]]
    assert sorted(zip(counted["question"], counted["analyst"], counted["relevance"], strict=True)) == [
        ("Q1", "ada", 1.0),
        ("Q1", "bo", -1.0),
    ]
    assert len(found.make_tidy_table()) == 4
    assert len(found.log.counted) == 5


def test_without_an_event_left_nothing_is_scored():
    """Answers that are scored anew with no event at all are as those that nobody scored."""
    folder = make_answers(*REPLIES)
    found = gathered(events=[score("ada", record.digest) for record in answers(folder)])
    assert found.make_tidy_table()["counted"].all()
    again = found.replace_scores_from_events([]).make_tidy_table()
    assert again["m_all"].isna().all()
    assert set(again["analyst"]) == {""}
    assert not again["counted"].any()


def test_failures_and_questions_not_asked_are_rows():
    """What failed has its status, and what a run that stopped has not asked is missing, one row for each."""
    make_workspace(questions=3)
    rules = "- {match: Question 1 on, reply: Yes.}\n- {match: Question 2 on, fail: permanent}\n"
    write("say.yaml", f"rules:\n{rules}")
    carry_out(spec(systems=("scripted/say.yaml",), conversation="independent", wordings=("original",)))
    frame = gathered().make_tidy_table().set_index("question")
    assert frame.loc["Q2", "status"] == "failed"
    assert frame.loc["Q2", "answer"] == ""
    assert not frame["counted"].any()
    assert set(frame.index) == {"Q1", "Q2", "Q3"}


def test_what_a_plan_still_lacks_is_missing():
    """A question without any record is there as missing, with all that its plan says of it."""
    folder = make_answers(*REPLIES)
    path = folder.path / "answers.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"question":"Q3"' not in line]
    path.write_bytes(b"".join(kept))
    frame = gathered().make_tidy_table().set_index("question")
    assert frame["status"].to_dict() == {"Q1": "answered", "Q2": "answered", "Q3": "missing"}
    assert frame.loc["Q3", "key"].endswith("|Q3")


def test_a_system_stands_for_all_of_its_runs():
    """Runs are chosen by system too, and of a run with several systems only the one that was named is taken."""
    make_workspace(questions=2)
    write("other.yaml", "default: No.\n")
    write("say.yaml", "default: Yes.\n")
    carry_out(spec(systems=("scripted/say.yaml", "scripted/other.yaml")))
    carry_out(spec(systems=("scripted/say.yaml",), seed=7))
    frame = gathered("scripted/say.yaml").make_tidy_table()
    assert set(frame["system"]) == {"scripted/say.yaml"}
    assert len(set(frame["run"])) == 2
    assert len(select_runs_and_apply_filters(find_workspace(), ())) == 2


def test_one_id_with_different_words_is_noticed():
    """Where two runs asked different words under one id, the first words are kept and the id is named."""
    make_workspace(questions=2)
    write("say.yaml", "default: Yes.\n")
    carry_out(spec(systems=("scripted/say.yaml",)))
    questions = Path("questions/policy.yaml")
    questions.write_text(questions.read_text().replace("Question 2 on [the company]?", "Another on [the company]?"))
    carry_out(spec(systems=("scripted/say.yaml",)))
    found = gathered("scripted/say.yaml")
    assert found.questions.reworded == {"Q2"}
    assert found.questions.texts["Q2"] == "Question 2 on [the company]?"
    assert [sentence for sentence in notable_sentences(found) if sentence.endswith("mix them: Q2.")]


def test_what_a_run_excludes_is_marked():
    """An excluded answer carries its reason, and its score counts only with exclusions included."""
    folder = make_answers(*REPLIES)
    first = next(record for record in answers(folder) if record.question == "Q1")
    reasons = [Exclusion("answer", first.key, "other-company", why) for why in ("is about Facebook", "is about X")]
    folder.write_file(EXCLUSIONS, format_exclusions_csv(reasons))
    given = [score("ada", first.digest, GOOD)]
    found = gathered(events=given)
    assert found.make_tidy_table().set_index("question").loc["Q1", "excluded"] == "other-company: is about Facebook"
    assert not found.make_tidy_table()["counted"].any()
    assert gathered(count_excluded=True).make_tidy_table()["counted"].sum() == 1


def test_a_file_of_exclusions_with_a_slip_is_told():
    """A key that no answer has is a sentence of the report; a row of an unknown sort is an error that names it."""
    folder = make_answers(*REPLIES)
    folder.write_file(
        EXCLUSIONS, format_exclusions_csv([Exclusion("answer", "a|b", "other-company", "is about Facebook")])
    )
    (problem,) = gathered().problems
    assert problem == f"{folder.path / EXCLUSIONS}: the run has no answer a|b; correct the key."
    folder.write_file(EXCLUSIONS, b"what,key,kind,reason\nanswers,a|b,other-company,No.\n")
    with pytest.raises(DataError, match=r"exclusions\.csv: row 2: .*answers"):
        gathered()


def test_published_scores_are_rows_of_their_own():
    """A published cell has its question's category and source; a mean over documents has no document."""
    folder = make_answers(*REPLIES, annotations=SILENT)
    system = "scripted/say.yaml"
    folder.write_file(
        PUBLISHED_SCORES,
        format_published_scores_csv(
            [
                PublishedScore(system, "quality", "acme", "Q2", 77.5, averaged=1),
                PublishedScore(system, "quality", "", "Q2", None, 1.0, 1.0, 1.0, 1.0, -1.0, averaged=5),
                PublishedScore("another", "quality", "acme", "Q2", 10.0),
            ]
        ),
    )
    folder.write_file(
        EXCLUSIONS, format_exclusions_csv([Exclusion("score", "|Q2", "duplicate-scores", "Of robustness.")])
    )
    frame = gathered().make_tidy_table()
    table = frame[frame["unit"] == "table"].set_index("document")
    assert table["m_all"].to_dict() == {"acme": 77.5, "": 82.0}
    assert table["silent"].to_dict() == {"acme": "yes", "": ""}
    assert set(table["category"]) == {"T"}
    assert table["excluded"].to_dict() == {"acme": "", "": "duplicate-scores: Of robustness."}
    assert table["counted"].to_dict() == {"acme": True, "": False}
    assert len(frame) == 5


def test_a_published_system_stands_for_the_study_itself():
    """Where a study was imported and its system asked again, the system's name means the study, and a run's the run."""
    make_workspace(questions=2)
    write("say.yaml", "default: Yes.\n")
    study, _ = carry_out(spec(systems=("scripted/say.yaml",)))
    again, _ = carry_out(spec(systems=("scripted/say.yaml",), seed=7))
    here = find_workspace()
    assert len(select_runs_and_apply_filters(here, ["scripted/say.yaml"])) == 2
    study.write_file(PUBLISHED_SCORES, format_published_scores_csv([]))
    assert [source.folder.name for source in select_runs_and_apply_filters(here, ["scripted/say.yaml"])] == [study.name]
    assert [source.folder.name for source in select_runs_and_apply_filters(here, ())] == [study.name]
    assert [source.folder.name for source in select_runs_and_apply_filters(here, [again.name])] == [again.name]


def test_names_that_mean_nothing_are_errors():
    """An unknown run is named with those there are; no run at all says how to make one."""
    make_workspace()
    here = find_workspace()
    with pytest.raises(UsageError, match="genaipa run"):
        gather_study(here, [], None)
    make_answers(*REPLIES)
    with pytest.raises(GenaipaError, match="nothing-like-it"):
        select_runs_and_apply_filters(here, ["nothing-like-it"])
    with pytest.raises(UsageError, match="genaipa get genaipabench --runs"):
        select_runs_and_apply_filters(here, ["published/bard"])


def test_without_a_store_everything_is_unscored():
    """A report can be made before anyone scored."""
    make_answers(*REPLIES)
    here = find_workspace()
    assert (
        not gather_study(here, select_runs_and_apply_filters(here, ["latest"]), None).make_tidy_table()["counted"].any()
    )


def test_for_scores_alone_no_reply_is_read(monkeypatch):
    """What replies claim, which takes longest to find out, is left empty; everything else is the same."""
    folder = make_answers(*REPLIES, annotations=SILENT)
    whole = gathered(events=[score("ada", answers(folder)[0].digest, GOOD)]).make_tidy_table()
    monkeypatch.setattr(
        "genaipa.answers.silence.classify_whether_silence_is_claimed", lambda *_: pytest.fail("a reply is read")
    )
    alone = gathered(without_reading_texts=True).make_tidy_table()
    assert set(alone["claims_silence"]) == {""}
    read = [name for fact in {*answer_facts()} - {*list_facts_reading_no_reply_or_document()} for name in fact.columns]
    pd.testing.assert_frame_equal(*(frame.drop(columns=read) for frame in (alone, whole)))


def test_runs_with_the_same_texts_share_their_annotated_answers(monkeypatch):
    """The workspace's annotated answers are found once for both runs, and again for other words of a question."""
    make_answers(*REPLIES, annotations=SILENT)
    carry_out(spec(systems=("scripted/say.yaml",), seed=7))
    found = []
    real = inputs.find_annotation_file
    monkeypatch.setattr(inputs, "find_annotation_file", lambda *given: found.append(given) or real(*given))
    frame = gathered("scripted/say.yaml").make_tidy_table()
    assert sorted(zip(frame["question"], frame["silent"], strict=True)) == [
        *[("Q1", "no")] * 2,
        *[("Q2", "yes")] * 2,
        *[("Q3", "partly")] * 2,
    ]
    assert len(found) == 1
    questions = Path("questions/policy.yaml")
    questions.write_text(questions.read_text().replace("Question 2 on", "Question 2, another, on"))
    carry_out(spec(systems=("scripted/say.yaml",), seed=8))
    assert len(gathered("scripted/say.yaml").make_tidy_table()["run"].unique()) == 3
    assert len(found) == 3
