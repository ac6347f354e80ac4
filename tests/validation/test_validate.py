"""Checking all data of a workspace at once."""

from __future__ import annotations

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import pytest
import yaml

from genaipa.errors import DataError
from genaipa.files.strict_yaml import MOST_PROBLEMS, convert_to_type, read_valid_yaml_part_and_errors, read_yaml
from genaipa.questions.sets import QuestionSet, load_question_set
from genaipa.validation import validate
from genaipa.workspace import find_workspace, shipped_folder
from genaipa_suites.data import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

DOCUMENT = "# ACME\n\n## 1. Data\n\nWe keep your name.\n\n## 2. Rights\n\nYou may ask.\n"


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder is a workspace, and nothing was pulled."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    Path("genaipa.toml").touch()
    for kind in ("prompts", "questions", "policies", "annotations"):
        Path(kind).mkdir()


def found() -> list[tuple[str, str, str, str]]:
    """(file, entry, severity, problem) of everything that is wrong."""
    home = Path.cwd()
    findings = validate(find_workspace()).findings
    return [(str(Path(f.path).relative_to(home)), f.entry, f.severity, f.problem) for f in findings]


def places() -> list[tuple[str, str, str]]:
    """(file, entry, severity) of everything that is wrong."""
    return [finding[:3] for finding in found()]


def shipped_yaml(name: str) -> dict[str, Any]:
    """A shipped file, to be spoilt."""
    loaded: dict[str, Any] = yaml.safe_load((shipped_folder() / name).read_text(encoding="utf-8"))
    return loaded


def question_set(*questions: str) -> None:
    """A set `mine` of questions written in YAML's flow style."""
    head = "name: mine\ntitle: t\nkind: policy\nplaceholder: X\nsource: s\nlicense: l\ncategories: {T: Trust}\n"
    Path("questions/mine.yaml").write_text(head + "questions:\n" + "".join(f"  - {q}\n" for q in questions))


def annotate(answers: str, *, document: str = "acme", questions: str = "mine", more: str = "") -> None:
    """Annotated answers written in YAML's flow style."""
    head = f"document: {document}\nquestions: {questions}\nannotators: [me]\n{more}"
    Path(f"annotations/{document}.yaml").write_text(f"{head}answers:\n{answers}")


def test_shipped_data_is_clean(genaipa: Callable[..., Finished]) -> None:
    """What ships has nothing that is wrong, so an empty workspace has neither, and the command says what it checked."""
    assert found() == []
    finished = genaipa("validate")
    assert finished.code == 0
    checked = "6 question sets, 4 documents, 4 files of annotated answers, 3 files of corrections, 3 rubrics."
    prompts = list((Path(__file__).parents[2] / "prompts").rglob("*.jinja"))
    assert f"Checked {len(prompts)} prompts, {checked}" in finished.out
    assert "Everything is fine." in finished.out


@pytest.mark.full
def test_published_data_is_clean(genaipa: Callable[..., Finished], shared: Path) -> None:
    """What a pull brings fits together: each id is a question's, each citation finds its part or article.

    The same checks find faults in made-up files in the other tests here.
    """
    genaipa("get", "genaipabench", "--from", shared / "data/genaipabench")
    counts = json.loads(genaipa("validate", "--json").out)
    assert counts["findings"] == []
    assert counts["counts"]["policies"] == {"fine": 11, "checked": 11}


def test_every_bad_question_is_listed() -> None:
    """A file's problems are told all at once, each under its place and id: wrong keys, rules broken, an id twice."""
    good = "{id: A, category: T, origin: faq, text: Why X?}"
    question_set(
        good,
        "{id: B, category: T, origin: faq, txt: Why?}",
        "{id: C, category: Z, origin: faq, text: Why?}",
        "{id: D, category: T, origin: boss, text: Why?}",
        "{id: E, category: T, origin: user, text: '  '}",
        good,
    )
    file = "questions/mine.yaml"
    assert places() == [
        (file, "questions[1] (B)", "error"),
        (file, "questions[2] (C)", "error"),
        (file, "questions[3] (D).origin", "error"),
        (file, "questions[4] (E)", "error"),
        (file, "questions[5] (A)", "error"),
    ]
    problems = [problem for *_, problem in found()]
    assert "'txt'" in problems[0]
    assert "'text'?" in problems[0]
    assert "duplicate" in problems[-1]


def test_a_file_that_cannot_be_read_is_one_problem() -> None:
    """Broken YAML, or a key of the whole file that is wrong, is told once and not for each entry."""
    Path("questions/broken.yaml").write_text("name: [\n")
    question_set("{id: A, category: T, origin: faq, text: Why?}", "{id: B, category: T, origin: faq, text: Why?}")
    path = Path("questions/mine.yaml")
    path.write_text(path.read_text().replace("license:", "licence:"))
    (problem,) = (problem for file, _, _, problem in found() if file == "questions/mine.yaml")
    assert "'licence'" in problem
    assert "'license'?" in problem
    assert [place for place in places() if "broken" in place[0]] == [("questions/broken.yaml", "line 2", "error")]


def test_annotated_answers_are_held_against_questions_and_document() -> None:
    """Ids that are no question's are errors; questions without answer and sections that aren't found are warnings."""
    question_set(*(f"{{id: Q{n}, category: T, origin: faq, text: Why?}}" for n in (1, 2, 3)))
    Path("policies/acme.md").write_text(DOCUMENT)
    annotate(
        "  Q1: {silent: false, answer: Yes., sections: ['1', 'Section 2', '7.7']}\n"
        "  Q3: {silent: false, answer: No., sections: ['Part 1']}\n"
        "  Q9: {silent: true, answer: It does not say.}\n"
    )
    told = found()
    assert {file for file, *_ in told} == {"annotations/acme.yaml"}
    for (_, *place, problem), (*wanted, fact) in zip(
        told,
        (
            ("answers.Q9", "error", "known: Q1, Q2, Q3"),
            ("answers.Q1", "warning", "'7.7'"),
            ("answers.Q3", "warning", "'Part 1'"),
            ("answers", "warning", "Q2"),
        ),
        strict=True,
    ):
        assert place == wanted
        assert fact in problem


def test_parts_are_those_of_the_part_set() -> None:
    """A citation of "Part n" is looked up in the segmentation that the annotations name."""
    question_set("{id: Q1, category: T, origin: faq, text: Why?}")
    Path("policies/acme.md").write_text(DOCUMENT)
    Path("policies/acme.yaml").write_text("company: ACME\npart_sets: {halves: [0, 30]}\n")
    annotate("  Q1: {silent: false, answer: Yes., sections: ['Part 2', 'Part 3']}\n", more="part_set: halves\n")
    ((_, entry, severity, problem),) = found()
    assert (entry, severity, "'Part 3'" in problem) == ("answers.Q1", "warning", True)


def test_annotations_without_their_document_or_questions() -> None:
    """A published document that isn't pulled is named with its command; a question set that isn't there is an error."""
    annotate("  Q1: {silent: true, answer: It does not say.}\n", document="uber", questions="nowhere")
    assert [(entry, severity) for _, entry, severity, _ in found()] == [("questions", "error"), ("document", "warning")]
    assert "genaipa get genaipabench" in found()[1][3]


def test_bad_answers_are_all_listed() -> None:
    """The rules about one annotated answer are applied to each of them."""
    spoilt = shipped_yaml("annotations/brindlecart.yaml")
    spoilt["answers"]["T_f1"]["answer"] = " "
    spoilt["answers"]["T_f3"]["sections"] = ["2"]
    spoilt["answers"]["CA_u1"]["sectoins"] = ["2"]
    spoilt["answers"]["CA_f2"]["sections"] = ["6", "6.3", 6.4]
    Path("annotations/brindlecart.yaml").write_text(yaml.safe_dump(spoilt))
    assert sorted(entry for _, entry, _ in places()) == [
        "answers.CA_f2.sections[2]",
        "answers.CA_u1",
        "answers.T_f1",
        "answers.T_f3",
    ]


def test_documents_are_checked_with_what_is_known_about_them() -> None:
    """A text that isn't UTF-8, a wrong key beside a text, and a description without a text."""
    Path("policies/acme.md").write_text(DOCUMENT)
    Path("policies/acme.yaml").write_text("compny: ACME\n")
    Path("policies/latin.txt").write_bytes(b"caf\xe9")
    Path("policies/alone.yaml").write_text("company: ACME\n")
    assert places() == [
        ("policies/acme.yaml", "", "error"),
        ("policies/alone.yaml", "", "warning"),
        ("policies/latin.txt", "", "error"),
    ]


def test_every_broken_prompt_is_listed() -> None:
    """A variable that doesn't exist, a template that isn't one, and a file that replaces nothing."""
    Path("prompts/question.jinja").write_text("{{ qestion }}")
    Path("prompts/part.jinja").write_text("{% if %}")
    Path("prompts/qestion.jinja").write_text("{{ question }}")
    Path("prompts/tone.jinja").write_text("Be brief.")
    Path("prompts/summarize-document.jinja").write_text('{% include "tone.jinja" %}')
    assert places() == [
        ("prompts/part.jinja", "line 1", "error"),
        ("prompts/qestion.jinja", "", "warning"),
        ("prompts/question.jinja", "", "error"),
    ]
    assert "did you mean 'question'?" in found()[1][3]


def test_a_prompt_of_any_set_is_checked() -> None:
    """A template is checked in the set that it is of, the workspace's own sets included."""
    for name, text in {"guided/part": "{% if %}", "mine/question": "{{ qestion }}", "mine/tune": "La."}.items():
        Path(f"prompts/{name}.jinja").parent.mkdir(exist_ok=True)
        Path(f"prompts/{name}.jinja").write_text(text)
    assert places() == [
        ("prompts/guided/part.jinja", "line 1", "error"),
        ("prompts/mine/question.jinja", "", "error"),
        ("prompts/mine/tune.jinja", "", "warning"),
    ]


def test_systems_of_ones_own_are_checked() -> None:
    """Each entry of systems.yaml that can't be used is named."""
    Path("systems.yaml").write_text(
        "systems:\n  a: {system: gpt}\n  b: {system: openai/m, contxt: 5}\n  c: {system: openai/m}\n"
    )
    assert places() == [("systems.yaml", "systems.a", "error"), ("systems.yaml", "systems.b", "error")]


def test_people_are_checked() -> None:
    """A slip in desk.yaml is named before the desk is opened."""
    Path("desk.yaml").write_text("analysts: [Ada]\nadjudicator: [Ada]\n")
    assert places() == [("desk.yaml", "", "error")]
    assert "unknown key 'adjudicator'" in found()[0][3]


def test_files_that_nothing_reads_are_named() -> None:
    """A wrong suffix, or a second text of the same name, would otherwise be passed over without a word."""
    Path("questions/mine.yml").write_text("name: mine\n")
    Path("policies/acme.md").write_text(DOCUMENT)
    Path("policies/acme.txt").write_text(DOCUMENT)
    Path("policies/.hidden").touch()
    assert [(file, severity) for file, _, severity, _ in found()] == [
        ("policies/acme.txt", "warning"),
        ("questions/mine.yml", "warning"),
    ]
    assert "acme.md" in found()[0][3]
    assert ".yaml" in found()[1][3]


def test_a_link_is_what_it_leads_to() -> None:
    """A link to a text is a document; one that leads to itself, or to a folder, is none."""
    Path("policies/acme.md").write_text(DOCUMENT)
    for name, target in (("linked.md", "acme.md"), ("round.md", "round.md"), ("folder.md", ".")):
        Path("policies", name).symlink_to(target)
    names = find_workspace().nearest_files("policies")
    assert {name for name, (layer, _) in names.items() if layer == "workspace"} == {"acme", "linked"}


def test_runs_are_read_to_the_end(genaipa: Callable[..., Finished]) -> None:
    """A real run is clean; a spoilt line, a cut-off one and a damaged manifest are found, and so is a stray folder."""
    done = genaipa("run", "-s", "scripted", "-p", "vpda", "-i", "company-name", "--name", "r")
    assert done.code == 0, done.err
    assert found() == []
    run = next(Path("runs").iterdir())
    answers = run / "answers.jsonl"
    lines = answers.read_text().splitlines()
    answers.write_text("\n".join([lines[0], "{}", *lines[1:3], '{"key": ']))
    (run / "manifest.json").write_text("{")
    Path("runs/stray").mkdir()
    assert places() == [
        (f"{run}/answers.jsonl", "", "error"),
        (f"{run}/answers.jsonl", "line 2", "error"),
        (f"{run}/answers.jsonl", "line 5", "warning"),
        (f"{run}/manifest.json", "", "error"),
        ("runs/stray", "", "warning"),
    ]


def test_the_command_groups_by_file_and_fails_on_errors_alone(genaipa: Callable[..., Finished]) -> None:
    """Warnings leave the exit code at 0, an error makes it 1; the table names each file once."""
    question_set("{id: Q1, category: T, origin: faq, text: Why?}")
    Path("policies/acme.md").write_text(DOCUMENT)
    annotate("  Q1: {silent: false, answer: Yes., sections: ['8', '9']}\n")
    warned = genaipa("validate")
    assert warned.code == 0
    assert warned.out.count("annotations/acme.yaml") == 1
    fine, checked = map(int, re.search(r"2 warnings; (\d+) of (\d+) files and runs are fine\.", warned.out).groups())
    assert fine == checked - 1
    annotate("  Q2: {silent: true, answer: It does not say.}\n")
    failed = genaipa("validate", "--json")
    assert failed.code == 1
    told = json.loads(failed.out)
    first = told["findings"][0]
    assert "Q1" in first.pop("problem")
    assert first == {
        "path": str(Path("annotations/acme.yaml").resolve()),
        "entry": "answers.Q2",
        "severity": "error",
    }
    assert told["counts"]["annotations"] == {"fine": 4, "checked": 5}


def test_every_problem_of_an_entry_is_listed() -> None:
    """Several slips in one entry, and rules broken beside wrong keys, are told in one go and in the file's order."""
    question_set(
        "{id: A, category: Z, origin: faq, text: ' ', paraphrases: [a, b, c, d]}",
        "{id: A, category: 5, origin: boss, txt: Why?, paraphrases: one}",
        *(f"{{id: B{n}, category: T, origin: faq, text: Why?}}" for n in range(8)),
        "{id: 'B 9', category: T, origin: faq}",
    )
    path = Path("questions/mine.yaml")
    path.write_text(path.read_text().replace("name: mine", "name: yours\nlicence: x").replace("X\n", "' '\n"))
    for (_, entry, _, problem), (place, fact) in zip(
        found(),
        (
            ("", "'license'?"),
            ("name", "'yours'"),
            ("placeholder", "blank"),
            ("questions[0] (A)", "'Z'"),
            ("questions[0] (A)", "4 paraphrases"),
            ("questions[0] (A)", "empty text"),
            ("questions[1] (A)", "'text'?"),
            ("questions[1] (A)", "duplicate"),
            ("questions[1] (A).category", "got a number"),
            ("questions[1] (A).origin", "known: faq, user"),
            ("questions[1] (A).paraphrases", "got text"),
            ("questions[10] (B 9)", "'text' is missing"),
            ("questions[10] (B 9).id", "letters, digits"),
        ),
        strict=True,
    ):
        assert entry == place
        assert fact in problem


def test_answers_that_fit_nothing_are_told_beside_those_that_are_wrong() -> None:
    """An empty answer or a wrong key hides neither an unknown question nor a section that isn't there."""
    question_set("{id: Q1, category: T, origin: faq, text: Why?}", "{id: Q2, category: T, origin: faq, text: Why?}")
    Path("policies/acme.md").write_text(DOCUMENT)
    annotate(
        "  Q1: {silent: true, answer: ' ', sections: ['9', 8]}\n  Q2: {silent: 1, answer: Yes.}\n"
        "  Q9: {silent: true, answer: No word.}\n",
        more="anotators: [me]\n",
    )
    assert [(entry, severity) for file, entry, severity, _ in found() if file.startswith("annotations")] == [
        ("", "error"),
        ("answers.Q1", "error"),
        ("answers.Q1", "error"),
        ("answers.Q1.sections[1]", "error"),
        ("answers.Q2.silent", "error"),
        ("answers.Q9", "error"),
        ("answers.Q1", "warning"),
    ]
    Path("policies/acme.yaml").write_text("company: ' '\ntitel: ACME\nkind: 5\npart_sets: {halves: [30, 0]}\n")
    assert [entry for file, entry, *_ in found() if file == "policies/acme.yaml"] == [
        "",
        "company",
        "kind",
        "part_sets.halves",
    ]


def test_what_is_no_workspace_is_told(genaipa: Callable[..., Finished]) -> None:
    """A marker that is no TOML, files and dangling links where folders belong; who needs the runs is told, too."""
    for text, problem in (
        ("name = [oops", "is not valid TOML"),
        ("nmae = 'x'", "did you mean 'name'?"),
        ("name = 5", "must be text."),
    ):
        Path("genaipa.toml").write_text(text)
        ((file, _, _, said),) = found()
        assert file == "genaipa.toml"
        assert problem in said
    Path("genaipa.toml").write_text("name = 'mine'")
    Path("policies").rmdir()
    Path("policies").write_text("")
    Path("runs").symlink_to("nowhere")
    Path("questions/mine.yaml").symlink_to("gone.yaml")
    Path("systems.yaml").mkdir()
    told = {file: problem for file, *_, problem in found()}
    facts = {
        "policies": "not a folder",
        "questions/mine.yaml": "gone.yaml",
        "runs": "nowhere",
        "systems.yaml": "not a file",
    }
    assert told.keys() == facts.keys()
    assert [file for file in facts if facts[file] not in told[file]] == []
    for command in (("runs",), ("run", "-s", "scripted", "-p", "vpda", "-i", "company-name")):
        finished = genaipa(*command)
        assert finished.code == 2
        assert "runs is a link to nowhere" in finished.err


def test_files_in_a_folder_that_is_no_workspace_are_told_of() -> None:
    """A folder that has questions but no marker is not read; the remedy is named."""
    question_set("{id: T_u1, category: T, origin: user, text: What?}")
    Path("genaipa.toml").unlink()
    assert [(file, severity) for file, _, severity, _ in found()] == [("questions/mine.yaml", "warning")]
    assert "its folder has no genaipa.toml, so it is not a workspace; make it one with: genaipa init ." in found()[0][3]


def test_a_value_of_another_kind_is_told_in_the_words_of_the_file() -> None:
    """Each message names the kind that was expected and the one that was given, or the limit that is broken."""
    for raw, kind, said in (
        ("yes", bool, "expected true or false, got text"),
        (True, str, "expected text, got true or false; put it in quotes."),
        (True, int, "expected a whole number, got true or false."),
        (1.5, int, "expected a whole number, got a number."),
        (None, str, "expected text, got nothing."),
        ([1], str | None, "expected text, got a list."),
        ("a", dict[str, str], "expected a mapping, got text."),
        (3, Literal["a", "b"], "expected text, got a number; put it in quotes."),
        ("c", Literal["a", "b"], "'c' is not a valid value; known: a, b."),
        ("c d", Annotated[str, msgspec.Meta(pattern=r"^\w+$")], "may contain only letters, digits, '.', '_' and '-'."),
        (-1, Annotated[float, msgspec.Meta(ge=0)], "Expected `float` >= 0.0."),
    ):
        with pytest.raises(DataError) as caught:
            convert_to_type([raw], list[kind], "x.yaml")  # type: ignore[valid-type]
        assert str(caught.value).startswith("x.yaml: [0]: ")
        assert said in str(caught.value)


def test_yaml_that_no_person_writes_is_one_short_sentence() -> None:
    """Odd keys, impossible values, deep nesting, expanding aliases and long words are refused with file and line."""
    expanding = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{after}: &{after} [{','.join([f'*{before}'] * 10)}]\n" for before, after in pairwise("abcdefghi")
    )
    for text, said in (
        ("? [a]\n: b\n", "line 1: a list or a mapping can't be a key."),
        ("? {a: b}\n: c\n", "line 1: a list or a mapping can't be a key."),
        (f"name: {'9' * 5000}\n", "line 1: '999"),
        ("\nname: !!float abc\n", "line 2: 'abc' is not a valid float."),
        ("name: !!bool maybe\n", "line 1: 'maybe' is not a valid bool."),
        ("[" * 100_000, "is nested too deeply."),
        (expanding, "holds too many values."),
        ("a: &a [*a]\n", "refers to itself."),
        (f"kind: {'x' * 100_000}\n", "is not a valid value; known: policy, regulation."),
        ("".join(f"k{n}: 1\n" for n in range(2000)), "unknown key 'k0'; known:"),
        ("5: x\n", "the key 5 is not text; put it in quotes."),
    ):
        Path("questions/mine.yaml").write_text(text)
        with pytest.raises(DataError) as caught:
            load_question_set("mine")
        message = str(caught.value).removeprefix(str(Path("questions/mine.yaml").resolve()))
        assert said in message
        assert len(message) < 200
    assert len(read_valid_yaml_part_and_errors(Path("questions/mine.yaml"), QuestionSet, lambda _: ())[1]) == 9
    Path("questions/mine.yaml").write_text("".join(f"k{n}: 1\n" for n in range(2000)))
    found, problems = read_valid_yaml_part_and_errors(Path("questions/mine.yaml"), QuestionSet, lambda _: ())
    assert (found, len(problems)) == (None, MOST_PROBLEMS)


def test_a_file_read_again_is_as_it_stands(tmp_path: Path) -> None:
    """What one reader does to what it got is not in what the next one gets, and a change of the file is."""
    path = tmp_path / "some.yaml"
    path.write_text("names: [a, b]\n")
    read_yaml(path, dict[str, Any])["names"].clear()
    assert read_yaml(path, dict[str, Any]) == {"names": ["a", "b"]}
    path.write_text("names: [c, d]\n")
    assert read_yaml(path, dict[str, Any]) == {"names": ["c", "d"]}


def test_files_of_suites(genaipa: Callable[..., Finished]) -> None:
    """Every split of one's own is read: sizes of good ones, the faults of others, and files that nothing reads."""
    for name in ("opp115", "policyqa", "piextract", "privacyqa", "encoders"):
        Path("suites", name).mkdir(parents=True)
    rows = (SHIPPED / "opp115/sample_dataset.csv").read_bytes()
    Path("suites/opp115/our_own_dataset.csv").write_bytes(rows)
    Path("suites/opp115/test_dataset.csv").write_bytes(rows)
    Path("suites/policyqa/mine.json").write_text('{"data": []}')
    Path("suites/privacyqa/mine.csv").write_text("no table")
    shutil.copy(SHIPPED / "privacyqa/sample_opp_annotations.csv", "suites/privacyqa/mine_opp_annotations.csv")
    Path("suites/piextract/CollectUse_true").mkdir()
    shutil.copy(SHIPPED / "piextract/CollectUse_true/sample.conll03", "suites/piextract/CollectUse_true/mine.conll03")
    settings = (SHIPPED / "encoders/training.yaml").read_text(encoding="utf-8")
    Path("suites/encoders/training.yaml").write_text(re.sub("(?m)^patience: .*", "patience: 0", settings))
    walk = (SHIPPED / "crosswalk.yaml").read_text(encoding="utf-8")
    Path("suites/crosswalk.yaml").write_text(re.sub(r"\[T,", "[TT,", walk, count=1))
    Path("suites/opp-115").mkdir()
    Path("suites/opp-115/a.csv").touch()
    Path("suites/README.md").touch()
    told = {(file, severity): f"{entry} {problem}" for file, entry, severity, problem in found()}
    for file, severity, said in (
        ("crosswalk.yaml", "error", "'TT' is not a category of the question set 'policy': did you mean 'T'?"),
        ("encoders/training.yaml", "error", "patience"),
        ("opp-115/a.csv", "warning", "there is no suite 'opp-115': did you mean 'opp115'?"),
        ("opp115/test_dataset.csv", "warning", "replaces the published datasets/Majority/test_dataset.csv"),
        ("piextract/CollectUse_true/mine.conll03", "error", "'mine.conll03'"),
        ("policyqa/mine.json", "error", "has no examples"),
        ("privacyqa/mine.csv", "error", "line 1"),
    ):
        assert said in told.pop((f"suites/{file}", severity)), file
    assert not told
    finished = genaipa("validate")
    assert finished.code == 1
    assert "9 files of suites." in finished.out
    assert "Splits of opp115 from your own files: test (20 items), our_own (20 items)." in finished.out
    assert json.loads(genaipa("validate", "--json").out)["splits"] == {"opp115": {"test": 20, "our_own": 20}}
