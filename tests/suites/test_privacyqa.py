"""PrivacyQA: its scorers, its files and their checks, baselines, whole runs about a shared policy."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from pathlib import Path

import pytest
from servers import reply
from size import size
from suiting import figures, keep, outcomes, suite

from genaipa.errors import DataError, UsageError
from genaipa_suites.data import SHIPPED, read_published_rows
from genaipa_suites.material import OUT_OF_RANGE, UNPARSABLE, Outcome
from genaipa_suites.privacyqa.scores import (
    mean_scores_between_annotators,
    mean_scores_leaving_one_out,
    overlap_scores,
)
from genaipa_suites.privacyqa.table import (
    CORPUS,
    PART,
    SUBSET_FILE,
    TABLES,
    PolicyQuestion,
    choose_unanswerable_rule_name,
)
from genaipa_suites.privacyqa_pairs import TEST as PAIRS

SAMPLE = SHIPPED / "privacyqa"
EXPECTED = {
    "everything": (10.98, 10.64, 5.81, 100),
    "word-count-2": (10.05, 8.70, 11.93, 8.68),
    "word-count-3": (9.84, 8.37, 9.48, 10.22),
    "word-count-5": (10.76, 9.30, 8.99, 13.41),
    "word-count-2-no-stop-words": (12.17, 10.32, 15.60, 9.98),
    "word-count-3-no-stop-words": (12.84, 10.82, 14.37, 11.61),
    "word-count-5-no-stop-words": (14.29, 12.32, 13.21, 15.56),
    "no-answer": (0, 0, 0, 0),
}
"""Baseline → F1 of means, mean F1, P, R in percent on four policies of the subset, by a script of others."""


pytestmark = pytest.mark.usefixtures("own_workspace")


@pytest.fixture
def part(shared: Path) -> Path:
    """Four policies of the subset and the categories, as a user's own data."""
    folder = Path("suites/privacyqa")
    shutil.copytree(shared / "data" / "privacyqa_subset", folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    shutil.copy(shared / "data" / "privacyqa_categories" / "test_opp_annotations.csv", folder)
    return folder


def own(text: str) -> Path:
    """A test table of a user's own, with this text."""
    place = Path("suites/privacyqa/policy_test_data.csv")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def said(sentences: list[int]) -> str:
    """A reply with these sentences."""
    return json.dumps({"sentences": sentences})


# The scorers.


def test_the_papers_score_leaves_each_annotator_out() -> None:
    """By hand: of three annotators each is left out once, and the best of the other two counts, two empty sets as 1."""
    first, second, third = [1, 2], [2], list[int]()
    # Left out in turn, the best F1 of [2] against the others: 1, 2/3, 1; of nothing: 1, 1, 0.
    assert mean_scores_leaving_one_out([2], [first, second, third]) == pytest.approx(
        (1, (1 + 0.5 + 1) / 3, (1 + 2 / 3 + 1) / 3)
    )
    assert mean_scores_leaving_one_out([], [first, second, third]) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    # Each against the others: [1, 2] and [2] find each other, the empty set finds nobody.
    # The best recall may be another annotator's than the best F1: for [1, 2, 3] it is that of [1].
    several = [[1, 2, 3], [1], [1, 2, 3, 4, 5, 6]]
    assert mean_scores_between_annotators(several)[:2] == pytest.approx(((1 + 1 + 1 / 2) / 3, (1 + 1 / 3 + 1) / 3))
    assert mean_scores_between_annotators([first, second, third]) == pytest.approx(
        (1.5 / 3, 1.5 / 3, (2 / 3 + 2 / 3) / 3)
    )


def test_leaving_one_out_never_gains() -> None:
    """On random sets, the n - 1 score is a mean of maxima over all but one reference, and at most the best of all."""
    draw = random.Random(5)
    for _ in range(size(small=200, soak=3_000)):
        sets = [draw.sample(range(1, 6), draw.randrange(4)) for _ in range(draw.randrange(2, 7))]
        mine = draw.sample(range(1, 6), draw.randrange(4))
        every = [overlap_scores(mine, one).f1 for one in sets]
        others = itertools.combinations(range(len(sets)), len(sets) - 1)
        stated = [max(every[place] for place in places) for places in others]
        assert mean_scores_leaving_one_out(mine, sets).f1 == pytest.approx(sum(stated) / len(stated))
        assert mean_scores_leaving_one_out(mine, sets).f1 <= max(every) + 1e-9


# Its data.


@pytest.mark.parametrize("name", EXPECTED)
def test_baselines_reach_the_known_figures(part: Path, name: str) -> None:
    """Each baseline reaches, to two decimals, the figures that another script computed on the four policies."""
    found = figures(suite("privacyqa", "subset"), name)
    assert tuple(found.values())[:4] == EXPECTED[name], found


def test_a_part_of_the_subset_is_told_to_be_one(part: Path) -> None:
    """Files of a user's own are read by their names' ends, said to be a part, with categories by another file's ids."""
    loaded = suite("privacyqa", "subset")
    assert "109 of 194 published questions, about 4 of 7 policies (461 sentences)" in loaded.notes[-1]
    assert {len(sentences) for sentences in loaded.material.documents.values()} == {173, 176, 87, 25}
    categories = [item.groups["category"] for item in loaded.material.items]
    assert sum("First Party Collection/Use" in one for one in categories) > len(categories) / 3
    assert not any("privacy policy; " in item.shown["text"] for item in loaded.material.items)


def test_a_subset_is_read_however_its_lines_end() -> None:
    """Evidence with or without its last line break, in a text with Windows' ones; a question asked twice."""
    text = "We keep it.\n\nWe share it.\n"
    spans = {(0, 11): [1], (0, 12): [1], (13, 25): [3], (13, 26): [3]}
    asked = [
        {
            "query": 'Consider "Inkwell"\'s privacy policy; is it kept?',
            "snippets": [{"file_path": "privacy_qa/Inkwell.txt", "span": (begin, end), "answer": text[begin:end]}],
        }
        for begin, end in spans
    ]
    own(json.dumps({"tests": asked})).rename("suites/privacyqa/privacy_qa.json")
    for written in (text, text.replace("\n", "\r\n"), text.rstrip("\n") + "\r\n"):
        Path("suites/privacyqa/Inkwell.txt").write_bytes(written.encode())
        items = suite("privacyqa", "subset").load("subset").items
        assert [item.gold["relevant"] for item in items] == list(spans.values())
        assert len({item.id for item in items}) == len(spans)


def test_another_subset_than_the_published_is_refused(part: Path) -> None:
    """Pulled files have to be the published ones; evidence has to be the lines that its span is of."""
    text = (part / "privacy_qa.json").read_text(encoding="utf-8")
    (part / "privacy_qa.json").unlink()
    keep(PART, SUBSET_FILE, text.encode())
    with pytest.raises(DataError, match="has 109 questions, but the published file has 194"):
        suite("privacyqa", "subset").load("subset")
    (part / "privacy_qa.json").write_text(text, encoding="utf-8")
    policy = part / "corpus" / "Keep.txt"
    whole = policy.read_text(encoding="utf-8")
    for edited in (f"x{whole}", whole.swapcase(), whole.replace("\n", " ")):
        policy.write_text(edited, encoding="utf-8")
        with pytest.raises(
            DataError, match=r"test \d+: its evidence \(\d+ to \d+\) does not consist of whole lines of Keep.txt"
        ):
            suite("privacyqa", "subset").load("subset")
    policy.unlink()
    keep(PART, f"{CORPUS}Keep.txt", b"One line.\n")
    with pytest.raises(DataError, match="has 1 lines, but the published file has 87"):
        suite("privacyqa", "subset").load("subset")


def test_the_official_form_is_read_as_it_is() -> None:
    """Quotation marks stay, None is no annotator, ids lose blanks, and unanswerable is what one marks nothing of."""
    loaded = suite("privacyqa", "sample")
    items = {item.id: item for item in loaded.material.items}
    assert loaded.material.documents["Larkpost"][3].startswith('"Tracking data" are')
    first = items["Larkpost_1_0"]
    assert first.gold["references"] == {"Ann1": [3], "Ann2": [3], "Ann3": [3, 4], "Ann5": [3]}
    assert (first.gold["relevant"], first.gold["sentences"], first.cluster) == ([3, 4], 13, "Larkpost")
    assert first.groups == {"category": ("First Party Collection/Use",)}
    assert sum(item.gold["unanswerable"] for item in items.values()) == 5
    assert all(set(item.shown) == {"text", "company"} for item in items.values())
    assert loaded.notes[-1].endswith(
        "5 of 20 questions are unanswerable. Questions in which annotators marked no sentence: 5 (any of them), "
        "3 (most of them), 2 (all of them)"
    )


def test_edited_tables_are_refused() -> None:
    """Mixed splits, double rows, missing sentences, other labels, tabs too few: each is said with its line."""
    text = (SAMPLE / "sample.csv").read_text(encoding="utf-8")
    header, row, second, *_ = text.split("\n")
    cases = {
        text.replace(
            "\ttest\t", "\ttrain\t", 1
        ): "line 2: its split is 'train', not 'test': a file must have the rows of a single split",
        f"{text}{row}\n": "sentence 0 of question Larkpost_1_0 is already in line 2",
        text.replace(f"{row}\n", ""): "question Larkpost_1_0: has 12 of the 13 sentences of Larkpost",
        text.replace("Irrelevant", "No", 1): "line 2: its Any_Relevant is 'No', not Relevant or Irrelevant",
        text.replace("\tIrrelevant\tNone", "\tIrrelevant", 1): "line 2: has 12 fields, not 13",
        text.replace("\tLarkpost _1_0_0\t", "\tLarkpost\t", 1): "does not end in _ and a number",
        text.replace("Larkpost Privacy Policy", "Other", 1): "line 15: its sentence differs from the earlier text with",
        text.replace("Irrelevant", "Relevant", 1): "question Larkpost_1_0: Any_Relevant differs from what",
        f"{header}\n": "has no rows",
        f"{row}\n{second}\n": "line 1: its first line must name the tab-separated columns Folder DocID",
        "version https://git-lfs.github.com/spec/v1\n": "is a Git-LFS pointer",
    }
    for edited, expected in cases.items():
        own(edited)
        with pytest.raises(DataError) as caught:
            suite("privacyqa", "test").load("test")
        assert expected in str(caught.value), (expected, str(caught.value))
    own(text).with_name("mine.csv").write_text(text, encoding="utf-8")
    assert len(suite("privacyqa", "test").material.items) == len(suite("privacyqa", "mine").material.items) == 20
    with pytest.raises(UsageError, match=r"there is no 'yours.csv' in .*; name a split that exists"):
        suite("privacyqa", "yours").load("yours")


def test_a_train_table_has_one_label() -> None:
    """A train table is read by its own columns, and scored by the measures of one reference."""
    rows = [line.split("\t") for line in (SAMPLE / "sample.csv").read_text(encoding="utf-8").splitlines()]
    rows[0][7] = "Label"
    rows = [[*row[:4], row[4].replace("test", "train"), *row[5:8]] for row in rows]
    own("").with_name(Path(TABLES["train"]).name).write_text("\n".join(map("\t".join, rows)), encoding="utf-8")
    loaded = suite("privacyqa", "train")
    assert loaded.material.items[0].gold["references"] == {"Label": [3, 4]}
    found = figures(loaded, loaded.gold_reply)
    assert "leave_one_out_f1_mean" not in found
    assert found["best_of_n_f1_mean"] == 100


def test_a_pulled_table_has_the_published_counts() -> None:
    """A table that is not the published one is refused where it was pulled."""
    source = suite("privacyqa", "test").data[0]
    keep(source, TABLES["test"], (SAMPLE / "sample.csv").read_bytes())
    with pytest.raises(
        DataError, match="has 250 rows, 2 policies, 20 questions, but the published file has 62,150 rows"
    ):
        suite("privacyqa", "test").load("test")


def test_the_rule_that_gives_the_papers_number_is_taken() -> None:
    """Of 400 test questions 99 are unanswerable by the paper: the rule by which they are is taken, else `any`."""
    sets = [{"a": [], "b": [], "c": [1]}] * 99 + [{"a": [], "b": [2], "c": [1]}] * 50 + [{"a": [1], "b": [1]}] * 251
    questions = [PolicyQuestion(str(number), "p", "?", references) for number, references in enumerate(sets)]
    assert choose_unanswerable_rule_name(questions, "test") == "most"
    assert choose_unanswerable_rule_name(questions[1:], "test") == "any"


def test_published_rows_have_measures_of_these_suites() -> None:
    """The papers' rows are in columns of the same definition."""
    silent, *_, human = (row for row in read_published_rows(suite("privacyqa", "sample")) if "Table 6" in row.source)
    assert (silent.values["leave_one_out_f1_of_means"], human.values["leave_one_out_p"]) == (28.0, 68.8)


# Replies.


def test_a_fault_earns_nothing() -> None:
    """Garbage scores 0 wherever more is better, where nobody marked a sentence too, and 1 where less is."""
    loaded = suite("privacyqa", "sample")
    silent = figures(loaded, "no-answer")
    assert (silent["silence_unanswerable_r"], silent["silence_false_silence_rate"]) == (100, 100)
    for bad, fault in (
        ("none", UNPARSABLE),
        ('{"sentences": [true]}', UNPARSABLE),
        ('{"sentences": null}', UNPARSABLE),
        (said([0]), OUT_OF_RANGE),
        (said([1, 99]), OUT_OF_RANGE),
    ):
        found = figures(loaded, lambda _item, bad=bad: bad)
        rates = {name for name in found if name.endswith("_rate")}
        assert all(value == (100 if name in rates else 0) for name, value in found.items()), (bad, found)
        assert {one.parsed.fault for one in outcomes(loaded, lambda _item, bad=bad: bad)} == {fault}


def test_the_reasons_of_scores() -> None:
    """An outcome says whether it was silent or answered wrongly, missed evidence, or took too much."""
    loaded = suite("privacyqa", "sample")
    items = loaded.items
    for identifier, sentences, why in (
        ("Larkpost_1_0", [3, 3], ""),
        ("Larkpost_1_0", [], "false silence"),
        ("Larkpost_1_0", [4], "part of the evidence"),
        ("Larkpost_1_0", [3, 4, 5], "more than the evidence"),
        ("Larkpost_1_0", [1], "none of the evidence"),
        ("Larkpost_1_8", [1], "false answer"),
        ("Larkpost_1_8", [], ""),
    ):
        item = items[identifier]
        outcome = Outcome(item, loaded.parse_reply(item, said(sentences)))
        assert loaded.summarize_fault_or_error(outcome) == why, (identifier, sentences)
        assert loaded.count_errors_by_kind(outcome) == ({why: 1} if why else {})
    assert loaded.readable_gold(items["Larkpost_1_7"]) == {"Ann1": "10", "Ann2": "10", "Ann3": "9, 10", "Ann5": "none"}
    assert loaded.readable_item_fields(items["Larkpost_1_7"])["policy"][0] == "[1] Larkpost Privacy Policy"


def test_people_are_scored_against_each_other() -> None:
    """The human row is of annotators against the others; the annotator who agrees best is the ceiling, above it."""
    loaded = suite("privacyqa", "sample")
    people = loaded.human_scores_by_measure(outcomes(loaded, "none".format))
    ceiling = figures(loaded, "best-annotator")
    assert set(people) < set(ceiling)
    assert all(0.5 < value <= ceiling[name] / 100 for name, value in people.items())
    assert loaded.gold_reply(loaded.items["Larkpost_1_7"]) == said([10])


# Whole runs.


def test_a_policy_is_sent_as_one_prefix(genaipa, server) -> None:
    """All questions about a policy go on from the very same messages, which are kept once; gold reaches its figure."""
    loaded = suite("privacyqa", "sample")
    replies = {item.shown["text"]: loaded.gold_reply(item) for item in loaded.material.items}

    def answered(_number: int, body: dict) -> object:
        asked = str(body["messages"][-1]["content"])
        return reply(next(right for question, right in replies.items() if question in asked))

    server.script = answered
    done = genaipa("run", "--suite", "privacyqa", "--split", "sample", "--system", "openai-api/loop/m")
    assert done.code == 0, done.err
    assert " 100 % (20 answers)" in done.out
    calls = [request.body for request in server.requests if server.is_call(request)]
    prefixes = {json.dumps(body["messages"][:-1]) for body in calls}
    assert (len(calls), len(prefixes)) == (20, 2)
    assert all(('"sentences"' in prefix and "[13] " in prefix) or "[12] " in prefix for prefix in prefixes)
    (folder,) = Path("runs").iterdir()
    assert len(list((folder / "introductions").iterdir())) == 2
    assert len((folder / "conversations.jsonl").read_text().splitlines()) == 2
    assert genaipa("validate", "--data").code == 0


def test_an_estimate_sees_the_shared_prefix(genaipa, server) -> None:
    """What all questions about a policy repeat is told to come from a cache, once it is long enough for one."""
    text = (SAMPLE / "sample.csv").read_text(encoding="utf-8")
    own(text.replace("Larkpost Privacy Policy", "Larkpost Privacy Policy " + "and so on " * 3_000))
    asked = ("run", "--suite", "privacyqa", "--split", "test", "--system", "openai/gpt-4o-mini", "--estimate", "--json")
    done = genaipa(*asked)
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["rows"]
    assert row["cached_cost"] < 0.7 * row["cost"]


def test_every_wording_shows_the_policy_and_no_gold() -> None:
    """In each wording all sentences and their numbers stand before the question, and messages differ by it alone."""
    for wording in (1, 2, 3):
        loaded = suite("privacyqa", "sample", wording=wording)
        first, second = loaded.material.items[:2]
        one, other = loaded.messages(first), loaded.messages(second)
        assert [message.role for message in one] == ["user", "assistant", "user"]
        assert (one[0] is other[0], one[0].breakpoint) == (True, True)
        assert '"sentences"' in "".join(message.content for message in one)
        assert all(sentence in one[0].content for sentence in loaded.material.documents["Larkpost"])
        assert one[2].content.replace(first.shown["text"], second.shown["text"]) == other[2].content


def test_examples_are_about_policies_of_the_train_split() -> None:
    """An example brings its policy, and only the policy that is asked about ends in a breakpoint."""
    text = (SAMPLE / "sample.csv").read_text(encoding="utf-8")
    own(text)
    rows = [line.split("\t")[:8] for line in text.splitlines()]
    rows[0][7] = "Label"
    train = "\n".join("\t".join(row) for row in rows).replace("\ttest\t", "\ttrain\t").replace("Larkpost", "Milepost")
    own(text).with_name("policy_train_data.csv").write_text(train, encoding="utf-8")
    loaded = suite("privacyqa", "test", shots=2)
    (call,) = next(iter(loaded.dialogues(_target())))
    assert len(call.messages) == 2 * 4 + 3
    assert [message.breakpoint for message in call.messages].count(True) == 1
    assert all("Milepost" in call.messages[place].content for place in (0, 4))
    with pytest.raises(UsageError, match="use fewer shots"):
        _ = suite("privacyqa", "test", shots=20).material


def _target() -> object:
    from genaipa.tasks.base import Target

    return Target("openai/gpt-4o")


# Pairs.


def test_pairs_are_scored_as_legalbench_scores_them() -> None:
    """Balanced accuracy is the mean of both labels' shares, a fault is wrong, and a line that is no pair is refused."""
    loaded = suite("privacyqa-pairs", "sample")
    assert len(loaded.material.items) == 20
    assert set(figures(loaded, loaded.gold_reply).values()) == {100}
    assert figures(loaded, "majority") == {"balanced_accuracy": 50, "accuracy": 50, "macro_f1": 33.33}
    assert set(figures(loaded, lambda _item: '{"relevant": 1}').values()) == {0}
    first, second = loaded.material.items[:2]
    for wording in (1, 2, 3):
        ((one,), (other,)) = map(suite("privacyqa-pairs", "sample", wording=wording).messages, (first, second))
        assert '"relevant"' in one.content
        assert one.content.replace(first.shown["text"], second.shown["text"]) == other.content
    place = Path("suites/privacyqa-pairs/mine.jsonl")
    place.parent.mkdir(parents=True)
    place.write_text('{"context": "We keep it.", "question": "how long", "answer": "Yes"}\n')
    with pytest.raises(DataError, match="line 1: Invalid enum value 'Yes'"):
        suite("privacyqa-pairs", "mine").load("mine")
    keep(suite("privacyqa-pairs", "test").data[0], PAIRS, place.read_bytes().replace(b"Yes", b"True"))
    with pytest.raises(DataError, match="has 1 relevant pairs, 0 irrelevant pairs, but the published file has 5,449"):
        suite("privacyqa-pairs", "test").load("test")
