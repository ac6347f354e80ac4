"""Facts about answers: a package brings one, it is read once, a pack keeps it, and one that can't be used is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import carry_out, make_workspace, spec, write

from genaipa.answers import fact
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.archive.study_pack import pack_study, unpack_and_rebuild_report
from genaipa.errors import DataError
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.validation import validate
from genaipa.workspace import find_workspace, shipped_folder
from genaipa_retrieval.fact import Passages

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.answers.study import Study

SHOUTING = """
from genaipa.answers.fact import Column, Fact


class Shouting(Fact):
    name = "shouting"
    columns = {"exclamations": Column("float64", "exclamation marks"), "loudest": Column("category", "loudest word")}
    texts = frozenset({"reply"})
    read_replies = []

    def read_row_of_answer(self, run, record):
        self.read_replies.append(record.reply)
        return {"exclamations": record.reply.count("!"), "loudest": max(record.reply.split(), key=str.isupper)}

    def cache_key_beside_answer_digest(self, run, record):
        return ""

    def redact(self, row):
        return {"exclamations": row["exclamations"]}
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a package with entry points, as a package installer lays one out."""
    folder = tmp_path / "packages"

    def install(name: str, code: str, **facts: str) -> None:
        (folder / f"{name}-1.0.dist-info").mkdir(parents=True)
        (folder / f"{name}-1.0.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        points = "\n".join(f"{each} = {target}" for each, target in facts.items())
        (folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(f"[genaipa.facts]\n{points}\n")
        (folder / f"{name}.py").write_text(code)
        monkeypatch.syspath_prepend(folder)

    return install


def gathered(place: Path | str = ".") -> Study:
    """Return the runs of a workspace, gathered."""
    here = find_workspace(Path(place))
    return gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ()))


def make_run(license: str = "CC0", default: str = "See section 1! HELP!") -> None:  # noqa: A002 - as files call it
    """Make a workspace with four replies of a script, whose words are the document's."""
    make_workspace()
    write("policies/acme.yaml", f"company: ACME\nlicense: {license}\n")
    write("say.yaml", f"default: '{default}'\n")
    folder, _ = carry_out(spec(systems=("scripted/say.yaml",)))
    manifest = folder.manifest()
    manifest.systems["scripted/say.yaml"].words = "document"
    folder.write_manifest(manifest)


def test_a_packages_fact_is_a_column_and_equal_answers_are_read_once(install: Callable[..., None]) -> None:
    """What is read is by answer, beside the core's own facts; the digest and the basis tell equal answers."""
    install("shouting", SHOUTING, shouting="shouting:Shouting")
    make_run()
    frame = gathered().make_tidy_table()
    assert frame["exclamations"].tolist() == [2.0] * 4
    assert set(frame["loudest"]) == {"HELP!"}
    assert (frame["claims_silence"] == "no").all()
    (shouting,) = (each for each in fact.answer_facts() if each.name == "shouting")
    reader = fact.FactReader(fact.RunInputs(None), {}, [shouting])
    record = next(gathered().sources[0].folder.read_verified_answers_with_offsets(fact_record()))[1]
    shouting.read_replies.clear()
    assert reader.read_answer_row(record) == reader.read_answer_row(record)
    assert len(shouting.read_replies) == 1


def fact_record() -> type:
    """Return the form in which facts are given records."""
    from genaipa.runs.records import MeasuredRecordHead

    return MeasuredRecordHead


def test_a_pack_keeps_what_a_fact_lets_go_of(install: Callable[..., None], tmp_path: Path) -> None:
    """Where a reply is left out, its facts stay, as `redact` has them."""
    install("shouting", SHOUTING, shouting="shouting:Shouting")
    make_run("not stated")
    whole = gathered()
    pack_study(find_workspace(), whole.sources, tmp_path / "study.zip")
    unpack_and_rebuild_report(tmp_path / "study.zip", tmp_path / "there")
    frame = gathered(tmp_path / "there").make_tidy_table()
    assert frame["exclamations"].tolist() == [2.0] * 4
    assert set(frame["loudest"]) == {""}, "a word of the reply was not to be passed on"
    assert frame["claims_silence"].tolist() == whole.make_tidy_table()["claims_silence"].tolist()


def test_a_fact_that_cant_be_used_is_a_sentence(install: Callable[..., None]) -> None:
    """A package that fails when it is imported, or takes a column that is another's, ends no report."""
    install("broken", "raise RuntimeError('no luck')", broken="broken:Broken")
    install("thief", SHOUTING.replace("exclamations", "silent"), shouting="thief:Shouting", gone="thief:Gone")
    make_run()
    study = gathered()
    assert set(study.make_tidy_table()["claims_silence"]) == {"no"}
    problems = "\n".join(study.problems)
    assert "The fact broken is left out: broken:Broken can't be loaded (RuntimeError: no luck)." in problems
    assert "The fact gone is left out: thief:Gone can't be loaded (AttributeError:" in problems
    assert "The fact shouting is left out: it has columns that annotation already has: silent." in problems


FAILING = """
from genaipa.answers.fact import Column, Fact, ScoreFact, StudyFact


class Late(Fact):
    name = "late"
    columns = {"late": Column("float64", "a number of the first two answers")}
    reads = 0

    def read_row_of_answer(self, run, record):
        self.reads += 1
        return {"late": 1 / (self.reads < 3)}


class Worded(Fact):
    name = "worded"
    columns = {"worded": Column("float64", "a number, it says")}

    def read_row_of_answer(self, run, record):
        return {"worded": record.reply}


class Short(StudyFact):
    name = "short"
    columns = {"short": Column("float64", "one value for all")}

    def compute_answer_columns(self, study, answers):
        return {"short": [1.0]}


class Unread(ScoreFact):
    name = "unread"
    columns = {"unread": Column("float64", "nothing")}

    def make_event_reader(self, study, answers):
        raise LookupError("no points")
"""


def test_a_fact_that_fails_is_left_out_whole(install: Callable[..., None]) -> None:
    """What it gave before it failed goes, too, and a sentence says why; the other facts stay."""
    classes = {name.lower(): f"failing:{name}" for name in ("Late", "Worded", "Short", "Unread")}
    install("failing", FAILING, **classes, renamed="failing:Late")
    make_run()
    study = gathered()
    assert not {"late", "worded", "short", "unread"} & {*study.answers, *study.table}
    assert set(study.answers["claims_silence"]) == {"no"}
    told = "\n".join(study.problems)
    assert "The fact late is left out: it can't be read (ZeroDivisionError: division by zero)." in told
    assert "The fact worded is left out: it can't be read (TypeError: a value of worded is not a number)." in told
    assert "The fact short is left out: it can't be read (ValueError:" in told
    assert "The fact unread is left out: it can't be read (LookupError: no points)." in told
    assert "The fact renamed is left out: its class names it 'late'." in told


def test_a_metric_with_the_name_of_a_facts_column_is_refused() -> None:
    """The report and validate name the file, the entry and the fact."""
    make_run()
    text = (shipped_folder("rubrics") / "genaipabench.yaml").read_text().replace("\n  clarity:", "\n  cost:")
    write("rubrics/own.yaml", text)
    write("genaipa.toml", 'rubric = "own"\n')
    with pytest.raises(DataError, match=r"own.yaml.*metrics\.cost.* is a column of the fact spending"):
        gathered()
    findings = [each for each in validate(find_workspace()).findings if each.entry == "metrics.cost"]
    assert [each.severity for each in findings] == ["error"]


def test_without_texts_no_reply_is_read() -> None:
    """For scores alone the facts that need a reply, a document or passages are left out; those of records stay."""
    names = {each.name for each in fact.list_facts_reading_no_reply_or_document()}
    assert names >= {"annotation", "prompt-cut", "spending"}
    assert names.isdisjoint({"silence", "citations", "passages", "thoughts"})
    assert set(Passages.columns) <= set(fact.fact_columns())
