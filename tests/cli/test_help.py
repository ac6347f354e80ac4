"""Help pages, completion by Tab, usage errors, and what becomes of output that can't be written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from genaipa.cli import root_command
from genaipa.cli.terminal.headings import GROUPS, RENAMED, STARTS, command_names
from genaipa.errors import MissingPackageError, NotReadyError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    Cli = Callable[..., Finished]


def test_genaipa_alone_is_its_help(genaipa: Cli) -> None:
    """It is a page like any other, on standard output and no error, so that `genaipa | less` shows it."""
    alone, asked = genaipa(), genaipa("--help")
    assert (alone.code, alone.out, alone.err) == (0, asked.out, "")


def test_summaries_are_whole_in_every_group(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any width each command is in its group with its first sentence, uncut; and no line is too long."""
    pages = {name: genaipa(name, "--help").out for name in command_names()}
    summaries = {name: " ".join(page.split("\n\n")[1].split()) for name, page in pages.items()}
    for width in (60, 80, 100, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        page = genaipa("--help-all").out
        flat = " ".join(page.split())
        assert [group for group in GROUPS if f"\n{group}:\n" in page] == list(GROUPS)
        for name, summary in summaries.items():
            assert f" {name} {summary.partition('. ')[0].rstrip('.')}" in flat, (width, name)
        assert "…" not in page
        assert "..." not in page.partition("Options:")[0].replace("[ARGS]...", "")
        assert max(len(line) for line in page.splitlines() if line.strip() not in dict(STARTS)) <= width


def test_summaries_have_eight_words_at_most() -> None:
    """Of every command, and of the commands of commands."""

    def summaries(command: Any, path: str) -> Iterator[tuple[str, str]]:
        for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
            one = command.get_command(None, name)
            yield f"{path} {name}", one.get_short_help_str(1000)
            yield from summaries(one, f"{path} {name}")

    found = dict(summaries(root_command(), "genaipa"))
    assert {name: summary for name, summary in found.items() if not 0 < len(summary.split()) <= 8} == {}


def test_each_option_is_once_on_the_whole_page_and_the_short_one_has_those_without_a_panel(genaipa: Cli) -> None:
    """At any width no name is cut; the short page counts what it leaves out, a kind's own options among it."""
    option = re.compile(r"^  (?:-\w, )?(--[a-z-]+)", flags=re.MULTILINE)
    for name in ("run", "judge", "score", "report"):
        page, short = genaipa(name, "--help-all").out, genaipa(name, "--help").out
        listed, first = option.findall(page), option.findall(short)
        assert len(listed) == len(set(listed))
        assert first == option.findall(page.partition("\nOptions:\n")[2].partition("\n\n")[0])
        assert f"{len(listed) - len(first)} more options: genaipa {name} --help-all\n" in short
        assert not re.search(r"\d{8}", page), "no bound that nobody comes near"
    run = genaipa("run", "--help-all").out
    assert re.search(r"\nA sister benchmark:\n  --suite(?s:.)*--split(?s:.)*--shots(?s:.)*--probe", run)
    headings = re.findall(r"^([A-Z].*):$", run, flags=re.MULTILINE)
    assert headings[:6] == ["Options", "What to ask", "A corpus", "How to ask", "Speed", "Cost"]
    assert "more options" not in genaipa("runs", "--help").out


def test_every_command_explains_itself_and_can_be_quiet(genaipa: Cli) -> None:
    """Also one without an explanation of its own, or without a result; both at once are a contradiction."""
    assert genaipa("runs", "--explain").out.startswith("No runs in ")
    assert "The exit code is 1 if there is an error" in genaipa("validate", "--explain").out
    batches = genaipa("runs", "batches").out
    explained = genaipa("runs", "batches", "--explain").out
    assert explained.startswith(batches)
    assert len(explained) > len(batches)
    assert "There is nothing more to explain here" in genaipa("policies", "list", "--explain").out
    assert json.loads(genaipa("policies", "--json", "--explain").out)
    refused = genaipa("doctor", "--quiet", "--explain")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert re.search("--explain .* --quiet ", refused.err)


def test_old_names_work_and_tell_the_new_ones(genaipa: Cli) -> None:
    """Commands by their earlier names, with a line on stderr; options by earlier names, and in the plural."""
    for old, new in RENAMED.items():
        assert genaipa(old).err.startswith(f"genaipa {old} is now: genaipa {' '.join(new)}\n")
        assert f"\n  {old} " not in genaipa("--help-all").out
    assert genaipa("batches").out == genaipa("runs", "batches").out
    one = genaipa("run", "--system", "extractive", "--policy", "brindlecart", "--experiment", "quality", "--dry-run")
    plural = genaipa("run", "--systems=extractive", "--policies", "brindlecart", "-e", "quality", "--dry-run")
    assert (one.code, one.out) == (plural.code, plural.out)
    Path("genaipa.toml").touch()
    Path("a.txt").write_text("We keep nothing about anybody.")
    add = ("policies", "add", "a.txt", "--name", "a", "--company", "A")
    assert [genaipa(*add, *more).code for more in ((), (), ("--force",), ("--replace",))] == [0, 2, 0, 0]
    assert "--replace" not in genaipa("policies", "add", "--help").out


def test_placeholders_are_words_in_capitals() -> None:
    """No type of Python's is shown for a value, and none in braces."""
    folder = Path(__file__).parents[2] / "docs" / "reference" / "cli"
    page = "\n".join(path.read_text() for path in sorted(folder.glob("*.md")))
    assert not re.findall(r"<[a-z]+[\[ >]|\{", page)
    assert "\nUsage: genaipa show [OPTIONS] RUN [ANSWER]\n" in page


def test_usage_errors_are_a_sentence(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin as all errors do, name what the user wrote, the nearest name and the help page; the code is 2."""
    for command, said in {
        ("shwo",): r"'shwo'.*'show'\?.* genaipa --help",
        ("run", "--sytem", "x"): r"'--sytem'.*'--system'\?.* genaipa run --help",
        ("run", "-r", "0"): "--repetitions .* 1.* genaipa run --help",
        ("run", "--seed", "abc"): "--seed .* whole number.* genaipa run --help",
        ("show",): "RUN .* genaipa show --help",
        ("score", "--port"): "'--port'.*",
        ("doctor", "more"): "'more' is an unexpected argument.* genaipa doctor --help",
        ("doctor", "more", "and"): "unexpected arguments: more and.* genaipa doctor --help",
    }.items():
        found = genaipa(*command)
        assert (found.code, found.out) == (2, "")
        assert re.fullmatch(f"genaipa: .*{said}\n", found.err), found.err
    monkeypatch.setenv("GENAIPA_SEED", "abc")
    assert "GENAIPA_SEED (in the environment, for --seed) must be a whole number" in genaipa("run").err


def test_the_workspace_may_be_named_before_the_command(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds for a command and for a command's own commands, over the environment; after the command it wins."""
    for name in ("first", "second", "third"):
        (Path(name) / "policies").mkdir(parents=True)
        Path(name, "genaipa.toml").touch()
        Path(name, "policies", f"{name}.txt").write_text("We keep nothing about anybody.")
    monkeypatch.setenv("GENAIPA_WORKSPACE", "third")
    for command in (("policies",), ("policies", "list"), ("policies", "stats")):
        found = genaipa("--workspace", "first", *command).out
        assert (" first " in found, " third " in found) == (True, False)
    assert " second " in genaipa("-w", "first", "policies", "list", "-w", "second").out
    assert " third " in genaipa("policies").out


def test_tab_completes_names(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the protocol that bash speaks: each kind of name, after a comma too, in the workspace that is named."""
    Path("mine/questions").mkdir(parents=True)
    Path("mine/genaipa.toml").touch()
    Path("mine/questions/ours.yaml").touch()
    done = genaipa("-w", "mine", "run", "-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "2")
    run = re.search(r"genaipa show (\S+)", done.out)[1]
    asked = re.findall(r"\b[A-Z]+_[fu]\d\b", genaipa("-w", "mine", "show", run).out)
    for line, wanted in {
        "genaipa run -s gpt-4": {"gpt-4", "gpt-4o", "gpt-4.1"},
        "genaipa run --system gpt-4.1,extr": {"gpt-4.1,extractive"},
        "genaipa run -p ub": {"uber"},
        "genaipa run -e rec": {"recall"},
        "genaipa run -i sum": {"summary-by-name", "summary-of-document"},
        "genaipa -w mine run --resume 2": {run},
        "genaipa show --workspace mine lat": {"latest"},
        f"genaipa -w mine show {run} ": set(asked),
        "genaipa -w mine compare extr": {"extractive"},
        "genaipa -w mine questions o": {"ours"},
        "genaipa prompts introduce-d": {"introduce-document"},
        "genaipa policies show br": {"brindlecart", "brindlecart-de", "brindlecart-fr"},
        "genaipa systems claude-o": {"claude-opus"},
        "genaipa -w nowhere show l": set(),
    }.items():
        monkeypatch.setenv("_GENAIPA_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (not line.endswith(" "))))
        assert set(genaipa().out.split()) == wanted, line


@pytest.mark.full
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_sentence() -> None:
    """Output that can't be written ends in one sentence and exit code 1, at exit too; so does closed output."""
    for command, redirected in (
        ("policies", "> /dev/full"),
        ("policies --json", "> /dev/full"),
        ("scores export", "> /dev/full"),
        ("", "> /dev/full"),
        ("policies", ">&-"),
    ):
        line = f"'{sys.executable}' -m genaipa {command} {redirected}"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        assert done.returncode == 1, line
        assert re.fullmatch(
            r"genaipa: (the output could not be written \(.*\); .*|standard output is closed; .*)\n", done.stderr
        )


def test_help_imports_little() -> None:
    """Showing the help imports neither rich nor anything that a command needs."""
    probe = "import sys; from genaipa.cli import run_command_line; run_command_line(['--help'])"
    line = f"{probe}; print(*{{name.partition('.')[0] for name in sys.modules}}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert not {"rich", "msgspec", "yaml", "jinja2", "httpx2", "pandas", "numpy"} & set(done.stderr.split())


def test_kinds_of_error_have_one_exit_code_each() -> None:
    """A missing package is 1, whatever needs it; a name that is unknown or could be several things is 2."""
    assert MissingPackageError.exit_code == NotReadyError("").exit_code == 1
    assert UnknownNameError("run", "x", ()).exit_code == UsageError.exit_code == 2
