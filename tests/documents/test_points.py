"""Points of annotated answers: their form, ticks of them, and the values that follow by the rubric's rule."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from genaipa.errors import DataError
from genaipa.files.strict_yaml import read_yaml
from genaipa.questions.annotations import Annotations, annotation_problems, read_annotations_without_blanks
from genaipa.questions.points import Point, Ticks, make_ticks, points_digest
from genaipa.scoring.events import Event, find_event_problem
from genaipa.scoring.rubric import Metric, PointShares, Rubric, find_rubric_problems, shipped_rubric

POINTS = tuple(
    Point(name, f"Statement {name}.", ("1",), weight)
    for name, weight in (("a", "vital"), ("b", "vital"), ("c", "okay"), ("d", "okay"))
)


def annotated(points: str, silent: str = "no") -> str:
    """Write a file of one annotated answer with these points."""
    return (
        "document: acme\nquestions: policy\nannotators: [A]\nanswers:\n"
        f"  T_f1:\n    silent: {silent}\n    answer: Yes.\n    points: {points}\n"
    )


@pytest.mark.parametrize(
    ("points", "silent", "said"),
    [
        ("[{id: a, text: It is so.}]", "no", "the point 'a' cites no section; name at least one."),
        (
            "[{id: a, text: So., sections: ['1']}, {id: a, text: No., sections: ['2']}]",
            "no",
            "the point 'a' appears twice; give one of the two another id.",
        ),
        (
            "[{id: a, text: So., sections: ['1'], weight: okay}]",
            "no",
            "has no vital point; mark at least one with weight: vital.",
        ),
        (
            "[" + ", ".join(f"{{id: p{n}, text: So., sections: ['1']}}" for n in range(13)) + "]",
            "no",
            "has 13 points; at most 12 are allowed.",
        ),
        (
            "[{id: a, text: So., sections: ['1']}]",
            "yes",
            "is marked silent, so an answer has nothing to state; remove its points.",
        ),
        ("[{id: a b, text: So., sections: ['1']}]", "no", "the point 'a b' needs an id of at most 32 letters"),
        ("[{id: a, text: '', sections: ['1']}]", "no", "the point 'a' has no text."),
    ],
)
def test_each_flaw_of_points_is_one_sentence_that_names_file_and_entry(
    points: str, silent: str, said: str, tmp_path: Path
) -> None:
    """A flaw is one sentence, with file and entry."""
    path = tmp_path / "acme.yaml"
    path.write_text(annotated(points, silent))
    (problem,) = annotation_problems(path, "acme", read_yaml(path, Annotations))
    assert said in str(problem)
    assert problem.entry == "answers.T_f1.points"


@pytest.mark.parametrize("points", ["[{id: a, text: So., sections: ['1'], weight: high}]", "[{id: a}]", "yes"])
def test_a_point_of_another_form_names_the_entry(points: str, tmp_path: Path) -> None:
    """A point of another form is an error of its entry."""
    path = tmp_path / "acme.yaml"
    path.write_text(annotated(points))
    with pytest.raises(DataError, match="points"):
        read_annotations_without_blanks(path)


def test_good_points_are_read_and_written_as_they_are(tmp_path: Path) -> None:
    """Good points are read whole."""
    path = tmp_path / "acme.yaml"
    path.write_text(annotated("[{id: kept, text: Some., sections: ['12.3'], if_wrong: harm, why: It hurts.}]"))
    found = read_annotations_without_blanks(path)
    assert not list(annotation_problems(path, "acme", found))
    assert found.answers["T_f1"].points == (Point("kept", "Some.", ("12.3",), "vital", "harm", "It hurts."),)
    assert found.answers["T_f1"].points[0].weight_and_sections_in_words == "vital, harm if wrong, 12.3"


# Every pair of shares of two vital and two okay points, by the shipped rule: best with all vital and half of the
# others, worst below half of the vital.
CASES = [
    (vital, okay, 1 if vital == 2 and okay >= 1 else (0.5 if vital >= 1 else -1))
    for vital in range(3)
    for okay in range(3)
]


@pytest.mark.parametrize(("vital", "okay", "value"), CASES)
def test_completeness_follows_from_ticks_by_the_shipped_rule(vital: int, okay: int, value: float) -> None:
    """Every case of the rule; a contradicted point counts as one that is not said."""
    rubric = shipped_rubric()
    assert rubric.points_metric == "completeness"
    said = [*"ab"[:vital], *"cd"[:okay]]
    left = [name for name in "abcd" if name not in said]
    assert rubric.value_from_points(POINTS, make_ticks(POINTS, said)) == value
    assert rubric.value_from_points(POINTS, make_ticks(POINTS, said, left)) == value


def test_points_without_okay_ones_need_the_vital_alone() -> None:
    """Without points that may be left out, the vital ones decide."""
    assert shipped_rubric().value_from_points(POINTS[:2], make_ticks(POINTS[:2], ["a", "b"])) == 1


def test_ticks_keep_the_order_of_the_points_and_tell_edited_ones_apart() -> None:
    """Ticks have the order of the points, and the digest of their texts."""
    assert make_ticks(POINTS, ["c", "a"], ["d"]) == Ticks(points_digest(POINTS), ("a", "c"), ("d",))
    marked = msgspec.structs.replace(POINTS[0], if_wrong="harm", weight="okay", why="It hurts.")
    assert points_digest((marked, *POINTS[1:])) == points_digest(POINTS)
    edited = msgspec.structs.replace(POINTS[0], text="Another statement.")
    assert points_digest((edited, *POINTS[1:])) != points_digest(POINTS)
    with pytest.raises(ValueError, match="no point 'z'"):
        make_ticks(POINTS, ["z"])
    with pytest.raises(ValueError, match="'a' can't be both"):
        make_ticks(POINTS, ["a"], ["a"])


def test_ticks_are_a_scores_and_old_events_keep_their_bytes() -> None:
    """Scores have ticks, other events none, and a score without them its old bytes."""
    values = shipped_rubric().make_values(dict.fromkeys(shipped_rubric().metrics, 1.0))
    plain = Event(id="1", time="2026-11-26T10:00:00Z", kind="score", analyst="ana", answer="a", values=values)
    assert b"ticks" not in msgspec.json.encode(plain)
    ticks = Ticks("d")
    assert not find_event_problem(msgspec.structs.replace(plain, ticks=ticks), shipped_rubric())
    assert "can tick points" in find_event_problem(
        msgspec.structs.replace(plain, ticks=Ticks("d", ("a",), ("a",))), shipped_rubric()
    )
    skipped = msgspec.structs.replace(plain, kind="skip", values=None, ticks=ticks)
    assert "can tick points" in find_event_problem(skipped, shipped_rubric())


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"a": (PointShares(1),)}, "needs one entry for each value except the worst, 2 in total."),
        ({"a": (PointShares(1.5), PointShares(0.5))}, "shares must be from 0 to 1."),
        ({"a": (PointShares(0.5), PointShares(1))}, "a worse value can't need more than a better one."),
        (
            {"a": (PointShares(1), PointShares(0.5)), "b": (PointShares(1), PointShares(0.5))},
            "one metric can follow from points",
        ),
    ],
)
def test_a_rule_that_can_not_be_followed_is_refused(rules: dict[str, tuple[PointShares, ...]], said: str) -> None:
    """A rule that can not be followed is refused in one sentence."""
    metrics = {name: Metric(("good", "fair", "bad"), points=rules.get(name, ())) for name in ("a", "b")}
    (problem,) = find_rubric_problems(Path("some.yaml"), Rubric("Some", (1, 0.5, -1), metrics))
    assert said in str(problem)
