"""PolicyQA: replies and their rungs, the published files and their checks, and runs of the suite."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from size import size

from genaipa.errors import GenaipaError
from genaipa.runs.folder import RunFolder
from genaipa.systems.base import Message
from genaipa.tasks.base import Target
from genaipa.workspace import Workspace, find_workspace
from genaipa_suites.data import SHIPPED, read_published_rows
from genaipa_suites.material import UNPARSABLE, Item, Outcome, ParsedReply
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.policyqa import CATEGORIES, PolicyQA, format_answer_reply

if TYPE_CHECKING:
    from commandline import Cli

SAMPLE = SHIPPED / "policyqa/sample.json"
SEGMENT = """We sell nothing. If you don\u2019t opt-out,  “partners” see
your e-mail \u2013 never your card, or the pulse of your heart."""


@cache
def sample() -> str:
    """The made-up file that ships."""
    return SAMPLE.read_text(encoding="utf-8")


def put(split: str, data: Any) -> Path:
    """A file of the workspace in the form of the published ones."""
    path = Path("suites/policyqa", f"{split}.json").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    Path("genaipa.toml").touch()
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def suite(split: str = "sample", *, shots: int = 0, limit: int | None = None, at: Workspace | None = None) -> PolicyQA:
    """The suite as a run of it would have it."""
    plan = SuiteOptions(split, limit, shots, 1, "")
    spec = make_suite_run_spec("policyqa", plan, ("scripted",))
    return PolicyQA(spec, at or find_workspace())


def figures(of: PolicyQA, outcomes: list[Outcome]) -> dict[str, float]:
    """Measure → its figure in per cent, to two decimals."""
    return {measure.name: round(100 * measure.compute(outcomes), 2) for measure in of.measures}


def test_what_is_found_counts_on_its_rung() -> None:
    """The official figures score the answer as said, each rung what was found on it, and shares tell rungs apart."""
    asked = suite()
    item = Item("1", {"text": SEGMENT, "question": "Which?"}, ["your card", "your e-mail"])
    for answer, rung, columns in (
        ("your e-mail", "verbatim", ["f1_squad", "f1_verbatim", "f1_folded", "f1_fuzzy"]),
        ("YOUR E-MAIL", "folded", ["f1_squad", "f1_folded", "f1_fuzzy"]),
        ("your e-mail!", "fuzzy", ["f1_squad", "f1_fuzzy"]),
        ("their e-mail", "absent", []),
        ("", "empty", []),
        ("\u200b\u00ad", "empty", []),
    ):
        given = asked.parse_reply(item, format_answer_reply(answer))
        outcome = Outcome(item, given)
        shown = figures(asked, [outcome])
        assert [name for name in shown if name.startswith("f1") and shown[name] == 100] == columns, answer
        assert [name for name in shown if name.startswith("share") and shown[name]] == [f"share_{rung}"], answer
        assert not given.fault, answer
        assert bool(asked.summarize_fault_or_error(outcome)) == (rung in {"absent", "empty"}), answer
        assert shown["em"] == shown["f1_squad"] == 100 or rung in {"absent", "empty"}, answer
        assert shown["f1_squad"] == (50 if rung == "absent" else 0) or rung not in {"absent", "empty"}, answer


def test_an_answer_is_told_from_the_nearest_reference() -> None:
    """A verbatim answer that is no reference is too long, too short, overlapping or elsewhere."""
    asked = suite()
    item = Item("1", {"text": SEGMENT, "question": "Which?"}, ["The pulse of your heart", "nothing. If you"])
    for answer, error in {
        "nothing. If you": "",
        "pulse of your heart.": "",
        "or the pulse of your heart": "too long",
        "your heart": "too short",
        "sell nothing. If": "overlapping",
        "partners": "elsewhere",
        "PARTNERS": "not word for word",
        "...": "empty answer",
        "nobody": "not in the text",
    }.items():
        outcome = Outcome(item, asked.parse_reply(item, format_answer_reply(answer)))
        assert asked.summarize_fault_or_error(outcome) == error, answer
        assert set(asked.count_errors_by_kind(outcome)) == {error} & set(asked.error_kinds), answer


def test_published_rows_are_of_the_suites_own_measures() -> None:
    """Every row names a split, a category and measures that the suite has; Table 6 is there for both splits."""
    rows = read_published_rows(PolicyQA)
    table = {(row.system, row.split): row.values for row in rows if row.source.endswith("Table 6")}
    assert len(table) == 14
    assert table["BERT-base", "test"] == {"f1_squad": 55.6, "em": 28.1}
    assert {row.group for row in rows if row.breakdown == "category"} == set(CATEGORIES)


def test_bad_replies_are_wrong_answers() -> None:
    """Whatever is no JSON of the right form is unparsable and scored 0, also what Python's reader lets through."""
    asked = suite()
    item = asked.material.items[0]
    bodies = ["", "name", "[]", '{"answer": 3}', '{"reply": "name"}', '{"answer": "\\ud800"}']
    bodies += [
        '{"answer": "a", "b": NaN}',
        '{"answer": "a", "b": 1e999}',
        '<think>{"answer": "a"}</think> None.',
        'So: {"answer": 3}',
        '{"answer": "a"' * 5_000,
        '{"b":' * 9_999,
        "[" * 9_999,
        "```{}``` ```{}```",
        "\ud800",
    ]
    for body in bodies:
        given = asked.parse_reply(item, body)
        assert given.fault == UNPARSABLE, body
        assert not any(figures(asked, [Outcome(item, given)]).values()), body
    assert asked.parse_reply(item, format_answer_reply(item.gold[0]), "truncated").fault == "cut off"


def test_json_in_prose_counts_and_is_marked() -> None:
    """The last object that fits is the answer, after thoughts; the strict figure beside it takes it for none."""
    asked = suite()
    item = asked.material.items[0]
    right = format_answer_reply(item.gold[0])
    for body in (
        f"Sure! Here is the JSON: {right} I hope this helps.",
        f"<think>Perhaps {format_answer_reply('nothing')}?</think>\n{right}",
        f"```json\n{format_answer_reply('nothing')}\n```\nNo:\n```json\n{right}\n```",
        f"{{curly}} {right} {{}}",
    ):
        given = asked.parse_reply(item, body)
        assert given == ParsedReply(given.prediction, "", in_prose=True), body
        assert figures(asked, [Outcome(item, given)])["em"] == 100, body
    assert not asked.parse_reply(item, right).in_prose
    assert not asked.parse_reply(item, f"```json\n{right}\n```").in_prose


def test_a_baseline_runs_on_the_sample(genaipa: Cli) -> None:
    """A baseline answers the made-up items as any system answers, scored without a person: nothing 0, the ceiling 1."""
    for name, score in (("empty", 0.0), ("ceiling", 1.0)):
        done = genaipa("run", "--suite", "policyqa", "--split", "sample", "-s", f"baseline/{name}", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["scores"] == {f"baseline/{name}": score}


def test_nothing_but_segment_and_question_is_shown(tmp_path: Path) -> None:
    """In no wording a message has the segment's labels, the question's type, an answer apart, or the policy's name."""
    for wording in (1, 2, 3):
        plan = SuiteOptions("sample", None, 0, wording, "")
        asked = PolicyQA(make_suite_run_spec("policyqa", plan, ("x",)), find_workspace(tmp_path))
        for policy in json.loads(sample())["data"]:
            for paragraph in policy["paragraphs"]:
                for example in paragraph["qas"]:
                    (message,) = asked.messages(asked.items[example["id"]])
                    assert [message.content.count(part) for part in (paragraph["context"], example["question"])] == [
                        1,
                        1,
                    ]
                    rest = message.content.replace(paragraph["context"], "").replace(example["question"], "")
                    hidden = [*paragraph["summary"], *example["type"].split("|||"), policy["title"].partition(".")[0]]
                    for text in [*hidden, *(one["text"] for one in example["answers"])]:
                        assert text.lower() not in rest.lower(), (wording, text)


def two_splits() -> None:
    """The sample in two halves: dev, and train, which has a segment of dev in other letters besides."""
    data = json.loads(sample())
    first, second = data["data"][:2], data["data"][2:]
    put("dev", {"data": first})
    copy = json.loads(json.dumps(first[0]))
    for paragraph in copy["paragraphs"]:
        paragraph["context"] = paragraph["context"].upper()
        for example in paragraph["qas"]:
            example["id"] += "-copy"
            for answer in example["answers"]:
                answer["text"] = answer["text"].upper()
    put("train", {"data": [copy, *second]})


def test_examples_come_from_train_and_stay_with_the_run(genaipa: Cli) -> None:
    """Shots are train's, with their gold answers, none of a segment that is asked about; a run keeps them for later."""
    two_splits()
    done = genaipa("run", "--suite", "policyqa", "--split", "dev", "-s", "scripted", "--shots", "4", "--json")
    assert done.code == 0, done.err
    asked = suite("dev", shots=4)
    item = asked.material.items[0]
    (first,) = next(iter(asked.dialogues(Target("scripted")))).send(None).messages[:1]
    turns = [message for dialogue in asked.dialogues(Target("x")) for message in next(dialogue).messages]
    answers = {message.content for message in turns if message.role == "assistant"}
    assert answers <= {
        format_answer_reply(one.gold[0]) for one in asked.load("train").items if not one.id.endswith("-copy")
    }
    assert len(answers) == 4
    assert item.shown["question"] not in first.content
    shutil.rmtree("suites")
    again = suite("dev", shots=4)
    again.folder = RunFolder(Path(json.loads(done.out)["folder"]))
    assert [message for dialogue in again.dialogues(Target("x")) for message in next(dialogue).messages] == turns


def test_test_takes_its_examples_from_dev_where_train_is_missing(genaipa: Cli) -> None:
    """The train split is in few places: for test the dev split does, for dev nothing else, and the remedy is said."""
    two_splits()
    Path("suites/policyqa/train.json").rename("suites/policyqa/test.json")
    shot, question = next(next(suite("test", shots=1).dialogues(Target("x")))).messages[1:]
    assert isinstance(shot, Message)
    assert shot.role == "assistant"
    assert question.role == "user"
    done = genaipa("run", "--suite", "policyqa", "--split", "dev", "-s", "scripted", "--shots", "1")
    assert done.code == 2
    assert "'data/train.json' of PolicyQA has not been fetched; run 'genaipa get policyqa'" in done.err


def broken(change: str) -> Any:
    """The sample with one mistake in it."""
    data = json.loads(sample())
    paragraph = data["data"][0]["paragraphs"][0]
    example, other = paragraph["qas"][:2]
    if change == "offset":
        example["answers"][0]["answer_start"] += 1
    elif change == "negative":
        example["answers"][0]["answer_start"] -= len(paragraph["context"])
    elif change == "category":
        example["type"] = "Other|||Other|||Other"
    elif change == "id":
        other["id"] = example["id"]
    elif change == "answers":
        example["answers"] = []
    elif change == "nothing":
        data["data"] = []
    elif change == "form":
        example["answers"] = "your name"
    return data


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "offset",
            r"dev\.json: sample-01: the text does not have 'your name, .*' at position 45; use the published file",
        ),
        ("negative", r"dev\.json: sample-01: the text does not have 'your name"),
        ("category", r"dev\.json: sample-01: its type begins with 'Other', which is not a category"),
        ("id", r"dev\.json: sample-01: this id appears twice"),
        ("answers", r"dev\.json: sample-01: it has no answer"),
        ("nothing", r"dev\.json: has no examples"),
        ("form", r"dev\.json: is not a file of PolicyQA \(Expected `array`, got `str`"),
    ],
)
def test_edited_files_are_refused(change: str, said: str) -> None:
    """A wrong offset, category or id, or another form, is one sentence with the file, the example and the remedy."""
    put("dev", broken(change))
    with pytest.raises(GenaipaError, match=said):
        suite("dev").load("dev")


def test_a_pulled_file_has_as_many_examples_as_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file stands among the pulled data, it is told by its size that it is another split, or a part of one."""
    monkeypatch.setenv("GENAIPA_CACHE", str(Path("cache").absolute()))
    place = PolicyQA.data[0].pulled_folder / "data/dev.json"
    place.parent.mkdir(parents=True)
    place.write_text(sample(), encoding="utf-8")
    with pytest.raises(GenaipaError, match="has 20 examples, but the published file has 3,809 examples; pull it again"):
        suite("dev").load("dev")


@pytest.fixture
def dev(shared: Path) -> PolicyQA:
    """The published dev split."""
    return suite("dev", at=Workspace(shared, (("workspace", linked(shared)),)))


def linked(shared: Path) -> Path:
    """A data folder with the published file in the place of a workspace's own."""
    folder = Path("layer/suites").absolute()
    folder.mkdir(parents=True)
    folder.joinpath("policyqa").symlink_to(shared / "data/policyqa")
    return folder.parent


def answered(of: PolicyQA, name: str) -> list[Outcome]:
    """The outcomes of a baseline."""
    answer = next(one for one in of.baselines if one.name == name).make(of)
    return [Outcome(item, of.parse_reply(item, answer(item))) for item in of.material.items]


def test_the_published_split_is_read_whole(dev: PolicyQA) -> None:
    """Examples, policies, questions, passages, references, categories and long answers are as counted elsewhere."""
    items = dev.material.items
    assert len(items) == 3_809
    assert [len({one.shown[name] for one in items}) for name in ("question", "text")] == [568, 574]
    assert len({one.cluster for one in items}) == 20
    assert sum(len(one.gold) for one in items) == 6_044
    sizes = Counter(one.stratum for one in items)
    assert sorted(sizes.values()) == [3, 58, 66, 87, 101, 148, 453, 1_356, 1_537]
    assert sum(one.groups["answer length"] == ("over 30 words",) for one in items) == 184
    assert sum(len((one.shown["text"] + " " + one.shown["question"]).split()) for one in items) // 1_000 == 352


@pytest.mark.full
def test_baselines_and_people_score_as_computed_elsewhere(dev: PolicyQA) -> None:
    """The parts of a segment, and one reference against the others, have the known figures to two decimals."""
    known = {
        "whole-segment": (4.67, 28.84),
        "first-sentence": (4.02, 26.71),
        "best-overlap": (5.20, 32.06),
        "longest-sentence": (4.91, 30.71),
        "empty": (0, 0),
    }
    for name in size(small=("whole-segment", "best-overlap", "empty"), soak=tuple(known)):
        pair, outcomes = known[name], answered(dev, name)
        assert tuple(round(100 * measure.compute(outcomes), 2) for measure in dev.measures[1::-1]) == pair, name
    several = [one for one in outcomes if len(one.item.gold) > 1]
    assert len(several) == 1_583
    for some in (outcomes, several, outcomes + outcomes):
        found = dev.human_scores_by_measure(some)
        assert (round(100 * found["em"], 2), round(100 * found["f1_squad"], 2)) == (9.29, 52.05)
    assert "(1,583 of 3,809 examples)" in dev.human_scores_note(outcomes)
    assert dev.human_scores_by_measure([one for one in outcomes if len(one.item.gold) == 1]) == {}


# In small test_baselines_and_people_score_as_computed_elsewhere has its figure, another the command line.
@pytest.mark.full
def test_a_run_of_the_pulled_split_scores_the_same(genaipa: Cli, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulled and asked by the command line, a baseline has the same figure; a sample is as large as said."""
    monkeypatch.setenv("GENAIPA_CACHE", str(Path("cache").absolute()))
    pulled = genaipa("get", "policyqa", "--from", shared / "data/policyqa")
    assert pulled.code == 0, pulled.err
    asked = ("run", "--suite", "policyqa", "--split", "dev", "--json", "-s")
    done = genaipa(*asked, "baseline/best-overlap")
    assert json.loads(done.out)["scores"]["baseline/best-overlap"] == pytest.approx(0.3206, abs=5e-5), done.err
    some = json.loads(genaipa(*asked, "baseline/empty", "--limit", "100").out)
    assert some["rows"][0]["answered"] == 100
