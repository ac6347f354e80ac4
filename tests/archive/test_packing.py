"""A study in one archive: what goes along, what stays, and the same tables from it; and a paper's artifact of it."""

from __future__ import annotations

import csv
import fnmatch
import hashlib
import io
import json
import re
import shlex
import subprocess
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysts import make_answers
from commandline import call
from pages import desk_here
from running import TEXT, answers, carry_out, dated, make_workspace, spec, texts_below, write
from stores import GOOD, POOR, opened, score

from genaipa.archive.contents import FORMAT, is_inert_page, may_pack_hold_file
from genaipa.archive.study_pack import PACK, copy_own_rubric_into_pack, read_checked_pack, unpack_and_rebuild_report
from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.files.stamps import now
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import sha256_of
from genaipa.policies.document import load_document
from genaipa.questions.points import Point, make_ticks
from genaipa.runs.permission import license_allows_redistribution
from genaipa.scoring.events import Event, Objection, new_event_id
from genaipa.scoring.objections import make_correction
from genaipa.scoring.rubric import SHIPPED, Rubric, load_rubric
from genaipa.workspace import MARKER, find_workspace, shipped_folder
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

REPLIES = ("See section 1.", "The policy does not mention this.", "Perhaps.")
SENTENCE = "We never sell what we know about you."
ANNOTATED = """
  Q1:
    silent: false
    answer: A sentence that is nobody else's.
    sections: ["1"]
    points:
      - {id: only, text: A point that is nobody else's., sections: ["1"], if_wrong: harm, why: A reason of our own.}
  Q2: {silent: true, answer: It does not say.}
"""


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


def make_study(license_: str, *, scored: bool = True) -> None:
    """A run in the working folder, scored or not, about a document under this license."""
    assert SENTENCE in TEXT
    write("policies/acme.yaml", f"company: ACME\nlicense: {license_}\n")
    given_answers = sorted(answers(make_answers(*REPLIES, annotations=ANNOTATED)), key=lambda record: record.question)
    digests = [record.digest for record in given_answers]
    points = (Point("only", "A point that is nobody else's.", ("1",), if_wrong="harm", why="A reason of our own."),)
    denied = make_ticks(points, [], ["only"])
    given = [
        score("ada", digests[0], GOOD, ticks=denied),
        score("ada", digests[1], POOR),
        score("bo", digests[0], POOR),
    ]
    right = make_correction(load_document("acme"), SENTENCE, silent="no", answer="Never.", why="It says so.")
    wrong = Objection("acme", sha256_of(TEXT), "policy", "Q2", right)
    given.append(Event(new_event_id(), now(), "objection", "bo", digests[1], annotation=wrong))
    with opened("sqlite:///scores.db") as store:
        store.append_new_events(given if scored else [])


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of a study that may be passed on, in its workspace, `study.zip` in it; never changed by a test."""
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        make_study("CC-BY-4.0")
        write("desk.yaml", "left_out: {Bo: 'scored without reading'}\n")
        said = done(call("artifact", "latest", "-o", "art"))
        assert "Fill in the places in [brackets]" in said
        assert ", 3 scores and the report." in said, "an objection is none"
    return folder / "art"


def texts(file: Path | str) -> str:
    """Everything in an archive as one text."""
    with zipfile.ZipFile(file) as archive:
        return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())


def repacked(file: Path, name: str, content: bytes) -> Path:
    """A copy of an archive, in the working folder, in which one file is another, or is added."""
    copy = Path("copy.zip")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(copy, "w") as new:
        for known in old.namelist():
            if known != name:
                new.writestr(known, old.read(known))
        new.writestr(name, content)
    return copy


@pytest.mark.full
def test_a_reviewer_gets_the_same_tables_and_none_of_the_texts(genaipa: Cli) -> None:
    """A pack leaves out what may not be passed on; unpacked elsewhere, every table comes out byte for byte."""
    make_study("not stated; not redistributable")
    done(genaipa("sample", "--size", "1"))
    write("guidelines.md", "## accuracy\n\nOnly what the text says.\n")
    packed = genaipa("pack", "latest", "-o", "study.zip")
    assert genaipa("pack", "latest", "-o", "study.zip").code == 2, "what is there is not overwritten"
    assert "3 scores" in done(packed)
    assert "left out: the text of acme (not stated; not redistributable)" in packed.err
    assert SENTENCE not in texts("study.zip")
    assert "See section 1." in texts("study.zip")
    said = done(genaipa("unpack", "study.zip", "check"))
    assert "identical to the packed ones" in said
    assert ", 3 scores;" in said, "an objection is none"
    assert len(list(Path("check/reports/again/tables").glob("*.csv"))) > 5
    (row,) = Path("check/reports/again/tables/points-harm.csv").read_text().splitlines()[1:]
    assert ",only,1,1,," in row
    again = done(genaipa("report", "-o", "mine", "--formats", "svg", "--workspace", "check"))
    assert "mine/index.html" in again
    for kept in ("waves.jsonl", "guidelines.md"):
        assert Path("check", kept).read_bytes() == Path(kept).read_bytes()
    for path in Path("check/report/tables").iterdir():
        assert (Path("mine/tables") / path.name).read_bytes() == path.read_bytes()
    assert "test" in done(genaipa("runs", "--workspace", "check"))


def test_an_analyst_who_is_left_out_is_so_everywhere(genaipa: Cli) -> None:
    """Their scores are in no average, with the reason beside it, and at no desk; they stay in the store."""
    make_study("CC0")
    with_all = json.loads(done(genaipa("leaderboard", "--json")))["rows"][0]["m_all"]
    write("desk.yaml", "left_out: {Bo: 'scored without reading'}\n")
    board = json.loads(done(genaipa("leaderboard", "--json")))
    assert board["rows"][0]["m_all"] > with_all, "Bo's poor score pulled it down"
    assert "Scores that are not counted anywhere: 1 by bo (scored without reading)." in board["notable"]
    desk = desk_here()
    assert desk.current.list_analysts_with_current_scores() == ["ada"]
    with pytest.raises(UsageError, match="this study leaves out"):
        desk.people.admit_user("BO", requires_login=False)
    assert ",bo," in done(genaipa("scores", "export"))


@pytest.mark.full
def test_an_analyst_who_is_left_out_is_so_for_whoever_unpacks_the_study(genaipa: Cli) -> None:
    """A pack has their scores and the reason, so that its tables come out the same (the test before, unpacked)."""
    make_study("CC0")
    write("desk.yaml", "left_out: {Bo: 'scored without reading'}\n")
    done(genaipa("pack", "-o", "study.zip"))
    unpacked = unpack_and_rebuild_report(Path("study.zip"), Path("there"))
    assert (unpacked.scores, unpacked.different) == (3, [])


def test_what_rules_measured_in_withheld_texts_stays(genaipa: Cli) -> None:
    """Where a document, or its reply, is left out, its citations over time are in the unpacked tables as packed."""
    make_workspace(6)
    write("policies/acme.yaml", "company: ACME\nlicense: not stated\n")
    for day, place in (("2026-05-01", 1), ("2026-06-01", 99)):
        write("acme.yaml", f"default: Section {place} says so.\n")
        dated(carry_out(spec(systems=("scripted/acme.yaml",)))[0], day)
    done(genaipa("pack", "-o", "study.zip"))
    assert SENTENCE not in texts("study.zip")
    unpacked = unpack_and_rebuild_report(Path("study.zip"), Path("there"))
    assert unpacked.different == []
    (table,) = Path("there/reports/again/tables").glob("occasions*.csv")
    assert "cites" in table.read_text()


@pytest.mark.full
def test_the_same_study_gives_the_same_archive(genaipa: Cli, packed: Path) -> None:
    """Two packs of one study are equal byte for byte; with texts that may go along, the document is in it."""
    done(genaipa("pack", "latest", "-o", "two.zip", "--workspace", packed.parent))
    assert Path("two.zip").read_bytes() == (packed / "study.zip").read_bytes()
    assert SENTENCE in texts("two.zip")


def test_no_way_round_leads_to_a_text_that_is_left_out(genaipa: Cli) -> None:
    """Neither acknowledged parts, nor replies that quote, nor the questions of a set that may not be passed on."""
    make_workspace(questions=2)
    write("policies/acme.yaml", "company: ACME\nlicense: not stated\n")
    questions = Path("questions/policy.yaml")
    questions.write_text(questions.read_text().replace("license: Apache-2.0", "license: not stated"))
    both = ("-e", "quality", "-e", "recall")
    done(genaipa("run", "-s", "extractive", "-p", "acme", "--questions", "policy", *both, "--acknowledge", "--yes"))
    done(genaipa("pack", "latest", "-o", "study.zip"))
    said = texts("study.zip")
    for sentence in ("We deliver your order", "Our couriers see your address", "Question 1 on", "P1a?"):
        assert sentence in texts_below(Path("runs"))
        assert sentence not in said
    assert '"claims_silence": "abstains"' in said, "that a reply which is left out knows nothing of the document"
    assert "identical to the packed ones" in done(genaipa("unpack", "study.zip", "check"))


def test_words_that_are_left_out_are_no_damage(genaipa: Cli, packed: Path) -> None:
    """Annotated answers without a license lose their words, and `validate --data` finds nothing changed by that."""
    with zipfile.ZipFile(packed / "study.zip") as archive:
        archive.extractall("there")
    for words in ("A sentence that is nobody else's.", "A point that is nobody else's.", "A reason of our own."):
        assert words not in texts(packed / "study.zip")
    assert "Everything is fine." in done(genaipa("validate", "--data", "--workspace", "there"))


def test_only_the_systems_that_were_meant_are_packed(genaipa: Cli) -> None:
    """Of a run with two systems, only the answers of the one that was named go along."""
    make_workspace(questions=2)
    write("policies/acme.yaml", "company: ACME\nlicense: CC0\n")
    write("one.yaml", "default: What the first one says.\n")
    write("two.yaml", "default: What the second one says.\n")
    carry_out(spec(systems=("scripted/one.yaml", "scripted/two.yaml")))
    done(genaipa("pack", "scripted/one.yaml", "-o", "study.zip"))
    assert "What the first one says." in texts("study.zip")
    assert "What the second one says." not in texts("study.zip")


def test_texts_go_along_only_where_they_are_asked_for(genaipa: Cli) -> None:
    """`--with-texts` puts in what would be left out: the document, also in the messages that introduced it."""
    make_study("not stated", scored=False)
    done(genaipa("pack", "latest", "-o", "bare.zip"))
    assert SENTENCE not in texts("bare.zip")
    done(genaipa("pack", "latest", "-o", "study.zip", "--with-texts"))
    assert SENTENCE in texts("study.zip")


@pytest.mark.full
def test_a_table_that_comes_out_differently_is_named(genaipa: Cli, packed: Path) -> None:
    """Where a packed table is not what its scores give, unpack says which one, and ends with an error."""
    with zipfile.ZipFile(packed / "study.zip") as archive:
        pack = json.loads(archive.read(PACK))
        table = archive.read("report/tables/answers.csv").replace(b"3", b"4")
    pack["files"]["report/tables/answers.csv"] = hashlib.sha256(table).hexdigest()
    changed = repacked(packed / "study.zip", "report/tables/answers.csv", table)
    finished = genaipa("unpack", repacked(changed.rename("changed.zip"), PACK, json.dumps(pack).encode()), "check")
    assert finished.code == 1
    assert "tables/answers.csv" in finished.err


def test_a_changed_file_is_refused(packed: Path) -> None:
    """A file that is not as it was packed is named, and nothing is unpacked."""
    changed = repacked(packed / "study.zip", "scores.jsonl", b"")
    with pytest.raises(DataError, match=r"scores\.jsonl.*was changed after it was packed"):
        unpack_and_rebuild_report(changed, Path("check"))
    assert not Path("check").exists()
    for name in ("../evil.txt", ".env", "systems.yaml", "runs/CON", "report/a.", "runs/.hidden", "C:/evil"):
        with pytest.raises(DataError, match="does not belong in a pack"):
            unpack_and_rebuild_report(repacked(packed / "study.zip", name, b"x"), Path("check"))
    assert not Path("../evil.txt").exists()


def test_a_pack_names_each_rubric_but_the_one_that_needs_no_name(tmp_path: Path) -> None:
    """One of the study's own, and one that ships in another language: both are scored by where it is unpacked."""
    shipped = shipped_folder("rubrics")
    own = tmp_path / "mine.yaml"
    own.write_bytes((shipped / "genaipabench.yaml").read_bytes())
    for file, is_named in ((own, True), (shipped / "genaipabench-de.yaml", True), (shipped / f"{SHIPPED}.yaml", False)):
        folder = tmp_path / f"pack of {file.stem}"
        folder.mkdir()
        (folder / MARKER).write_bytes(b"")
        copy_own_rubric_into_pack(folder, file)
        assert (f'rubric = "{file.stem}"' in (folder / MARKER).read_text()) == is_named
        assert (folder / "rubrics" / file.name).is_file() == is_named
        assert load_rubric(find_workspace(folder)).digest == read_yaml(file, Rubric).digest


def test_what_a_packs_own_rubric_refuses_leaves_nothing(packed: Path) -> None:
    """A pack whose genaipa.toml names a rubric that is not in it ends in a sentence, and in no folder."""
    with zipfile.ZipFile(packed / "study.zip") as archive:
        pack = json.loads(archive.read(PACK))
        marker = archive.read("genaipa.toml") + b'\nrubric = "lost"\n'
    pack["files"]["genaipa.toml"] = hashlib.sha256(marker).hexdigest()
    changed = repacked(packed / "study.zip", "genaipa.toml", marker).rename("changed.zip")
    with pytest.raises(GenaipaError, match="lost"):
        unpack_and_rebuild_report(repacked(changed, PACK, json.dumps(pack).encode()), Path("check"))
    assert not Path("check").exists()


def test_a_pack_holds_data_and_nothing_that_runs(packed: Path) -> None:
    """Code, unknown kinds of files, files that are folders, other runs and long names: refused, nothing is written."""
    with zipfile.ZipFile(packed / "study.zip") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    listing = json.loads(contents[PACK])
    (run,) = listing["runs"]
    page = contents["report/index.html"].decode()
    for name, content in (
        (f"runs/{run}/evil.py", "print()"),
        (f"runs/{run}/prompts/evil.exe", "MZ"),
        (f"runs/{run}/answers.jsonl/x.txt", "x"),
        (f"runs/{run}/{'x' * 300}.txt", "x"),
        (f"runs/{run}", "x"),
        ("runs/other/manifest.json", "{}"),
        ("report/macro.docm", "x"),
        ("report/index.html", "<script>alert(1)</script>"),
        ("report/index.html", page.replace("<body", "<body onload=alert(1)")),
        ("report/other.svg", "<svg xmlns='http://www.w3.org/2000/svg'><a href=' java&#115;cript:alert(1)'/></svg>"),
    ):
        files = listing["files"] | {name: hashlib.sha256(content.encode()).hexdigest()}
        with zipfile.ZipFile("evil.zip", "w") as archive:
            for known, kept in (contents | {PACK: json.dumps(listing | {"files": files}), name: content}).items():
                archive.writestr(known, kept)
        with pytest.raises(DataError, match="genaipa did not write it"):
            unpack_and_rebuild_report(Path("evil.zip"), Path("check"))
        assert not Path("check").exists(), name


def test_every_file_that_is_packed_may_be_unpacked(packed: Path) -> None:
    """A pack of genaipa's own holds only what a pack may hold, and only pages that do nothing."""
    with zipfile.ZipFile(packed / "study.zip") as archive:
        names = [name for name in archive.namelist() if name != PACK]
        assert [name for name in names if not may_pack_hold_file(name)] == []
        pages = [name for name in names if name.endswith((".html", ".svg"))]
        assert len(pages) > 5
        assert [name for name in pages if not is_inert_page(archive.read(name).decode())] == []


@pytest.mark.parametrize(
    "page",
    [
        "<script>",
        "<SCRIPT src=x>",
        "<img src=x onerror=alert(1)>",
        "<img src='x'onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<svg><foreignObject/></svg>",
        "<svg><x:script xmlns:x='http://www.w3.org/2000/svg'/></svg>",
        '<a href="java\nscript:alert(1)">',
        "<a href=javascript:alert(1)>",
        '<a href="data:text/html,x">',
        '<meta http-equiv="refresh" content="0">',
        "<iframe srcdoc=x>",
        '<!DOCTYPE svg [<!ENTITY x "y">]>',
        '<p title="<',
    ],
)
def test_a_page_that_does_something_is_known(page: str) -> None:
    """Scripts, handlers, frames, addresses of scripts and what no parser would read alike; quoted words are none."""
    assert not is_inert_page(f"<p>Before.</p>{page}")
    assert is_inert_page(
        "<p title='turned on x=1'>&lt;script&gt; <img alt='javascript' src='data:image/png;base64,A'></p>"
    )


def test_what_is_no_pack_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """Another file, another archive, a pack from the future, a folder that is in use: each has its sentence."""
    plain = tmp_path / "plain.zip"
    plain.write_text("no archive")
    with pytest.raises(DataError, match="is not a file"):
        read_checked_pack(Path("/dev/zero"))
    with pytest.raises(DataError, match="can't be read as a pack"):
        read_checked_pack(plain)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(DataError, match="is not a genaipa pack"):
        read_checked_pack(tmp_path / "other.zip")
    with pytest.raises(DataError, match="can't be read"):
        read_checked_pack(tmp_path / "absent.zip")
    with zipfile.ZipFile(tmp_path / "torn.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(PACK, "word " * 1000)
    torn = bytearray((tmp_path / "torn.zip").read_bytes())
    torn[40:50] = b"0123456789"
    (tmp_path / "torn.zip").write_bytes(torn)
    with pytest.raises(DataError, match="can't be read as a pack"):
        read_checked_pack(tmp_path / "torn.zip")
    with zipfile.ZipFile(tmp_path / "deep.zip", "w") as archive:
        archive.writestr(PACK, '{"x":' + "[" * 100_000)
    with pytest.raises(DataError, match="nested too deep"):
        read_checked_pack(tmp_path / "deep.zip")
    about = {"format": 99, "genaipa": "9", "names": [], "runs": [], "excluded": False, "rubric": "", "absent": []}
    with zipfile.ZipFile(tmp_path / "new.zip", "w") as archive:
        archive.writestr(PACK, json.dumps({**about, "versions": {}, "files": {}}))
    with pytest.raises(DataError, match="newer version of genaipa"):
        read_checked_pack(tmp_path / "new.zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr(PACK, json.dumps({**about, "format": FORMAT, "versions": {}, "files": {}}))
    with pytest.raises(UsageError, match="already exists and is not empty"):
        unpack_and_rebuild_report(tmp_path / "empty.zip", tmp_path)


def test_an_artifact_has_what_reviewers_ask_for(genaipa: Cli, packed: Path) -> None:
    """Eight files; versions are pins of what is needed, and no words that are left out of the archive are in any."""
    names = {"study.zip", "README.md", "ARTIFACT-APPENDIX.md", "constraints.txt", "croissant.json", "SHA256SUMS"}
    names |= {"heds.json", "heds.tex"}
    assert {path.name for path in packed.iterdir()} == names
    pins = (packed / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+", line) for line in pins)
    assert {"numpy", "matplotlib", "pandas"} <= {line.partition("==")[0] for line in pins}
    assert not {"genaipa", "pytest"} & {line.partition("==")[0] for line in pins}
    readme = (packed / "README.md").read_text()
    assert "Texts: `Apache-2.0`, `CC-BY-4.0`." in readme
    assert " scores, made with" in readme, "what was withdrawn or only looked at is no score"
    assert "`ada`, `bo`" in (packed / "ARTIFACT-APPENDIX.md").read_text(), (
        "the archive has what bo gave, left out or not"
    )
    assert "and 3 scores, made with" in (packed / "ARTIFACT-APPENDIX.md").read_text()
    assert "nobody else's" not in texts_below(packed)
    refused = genaipa("artifact", "latest", "-o", "art.zip", "--workspace", packed.parent)
    assert (refused.code, "an artifact is a folder" in refused.err) == (2, True)


def test_an_artifact_that_is_refused_leaves_no_folder(genaipa: Cli, packed: Path) -> None:
    """What stops it half-way leaves nothing, so that the next try isn't told that the folder exists."""
    desk = packed.parent / "desk.yaml"
    before = desk.read_bytes()
    desk.write_text("left_out: {bo: ' '}\n")
    try:
        refused = genaipa("artifact", "latest", "-o", "new/art", "--workspace", packed.parent)
    finally:
        desk.write_bytes(before)
    assert (refused.code, "gives no reason" in refused.err) == (2, True)
    assert list(Path().iterdir()) == []


def test_a_data_sheet_names_files_of_the_archive(packed: Path) -> None:
    """Each answer's sources are in the study that is beside it, and its evaluators are the study's."""
    sheet = json.loads((packed / "heds.json").read_text())
    entries = [*sheet["questions"].values(), *(entry for each in sheet["criteria"].values() for entry in each.values())]
    sources = {name for entry in entries for name in re.findall(r"study\.zip: ([^\s;]+)", entry.get("source", ""))}
    assert len(sources) > 5
    with zipfile.ZipFile(packed / "study.zip") as archive:
        names = archive.namelist()
    assert [source for source in sources if not fnmatch.filter(names, f"{source}*")] == []
    assert sheet["questions"]["3.2.1"]["answer"].startswith("1. ")


def heads(file: Path) -> dict[str, tuple[list[str], int]]:
    """Path of each table in an archive → its columns and the number of its rows."""
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"report/(answers|scores|tables/.*)\.csv", name)]
        rows = {name: list(csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig")))) for name in names}
    return {name: (head, len(others)) for name, (head, *others) in rows.items()}


def test_the_metadata_name_every_column_of_every_table(packed: Path) -> None:
    """Croissant's record sets have the columns of the files in the archive, in their order."""
    described = {}
    record_sets = json.loads((packed / "croissant.json").read_text())["recordSet"]
    assert len({one["@id"] for one in record_sets}) == len(record_sets)
    for one in record_sets:
        (file,) = {field["source"]["fileObject"]["@id"] for field in one["field"]}
        described[file] = [field["source"]["extract"]["column"] for field in one["field"]]
    assert described == {name: head for name, (head, _) in heads(packed / "study.zip").items()}


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")  # its own package of packages
@pytest.mark.skipif(find_spec("mlcroissant") is None, reason="needs mlcroissant (.ci/mlcroissant.txt)")
def test_croissants_own_reader_reads_every_table(packed: Path) -> None:
    """Without a finding, and each table has the rows of its file."""
    import mlcroissant

    found = mlcroissant.Dataset(str(packed / "croissant.json"))
    issues = found.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    read = {one.fields[0].source.uuid: len(list(found.records(one.uuid))) for one in found.metadata.record_sets}
    assert read == {name: rows for name, (_, rows) in heads(packed / "study.zip").items()}


@pytest.mark.full
def test_an_appendix_commands_do_what_it_says(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command works; tables and figures come out the same without the text that is left out (tests above)."""
    make_study("not stated; not redistributable")
    done(genaipa("artifact", "latest", "-o", "art"))
    monkeypatch.chdir("art")
    assert SENTENCE not in texts_below(Path()) + texts("study.zip")
    assert "- `acme`: `not stated; not redistributable`" in Path("README.md").read_text()
    appendix = Path("ARTIFACT-APPENDIX.md").read_text()
    (expected,) = re.findall("Expected:\n“(.*)”", appendix)
    said = ""
    for block in re.findall(r"```bash\n(.*?)```", appendix, re.DOTALL)[1:]:  # the first installs
        for line in block.splitlines():
            if line.startswith("cd "):
                monkeypatch.chdir(line.removeprefix("cd "))
            elif line.startswith("genaipa "):
                said += done(genaipa(*shlex.split(line)[1:]))
            else:
                subprocess.run(line, shell=True, check=True, capture_output=True)
    assert expected in said
    listed = re.findall(r"^\| `(again/.*?)`", appendix, re.MULTILINE)
    assert len(listed) > 10
    assert [name for name in listed if not Path(name).is_file()] == []


@pytest.mark.parametrize(
    ("license_", "may"),
    [("CC-BY-4.0", True), ("Apache-2.0", True), ("", False), (" ", False), ("not stated; not redistributable", False)],
)
def test_only_a_stated_license_lets_a_text_be_passed_on(license_: str, may: bool) -> None:
    """Silence is no permission."""
    assert license_allows_redistribution(license_) is may
