"""What an addition costs, shown by doing it in a copy of genaipa.

A provider with an SDK of its own is three files: its adapter, a line of the table, an extra. A sampling option is
three places: the option, the field, the adapter's table. An option of the procedure is a field of its plan. A command
and a page of the desk are a file and a line each, a form of tables is a function and a line, a language a package.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from copies import copy_genaipa, interpreter
from servers import AnthropicServer, OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Finished
    from copies import Interpreter

TOKEN = "Tok3n-of-twenty-letters"

# The first file.
ADAPTER = '''"""Acme's models."""

from typing import ClassVar

from genaipa.systems.base import Readiness, Reply
from genaipa.systems.endpoint import read_endpoint_from_environment, require_sdk, select_sendable_sampling_options
from genaipa.systems.provider import Provider


class AcmeSystem:
    """`acme/MODEL`."""

    provider: ClassVar[Provider] = Provider(
        name="acme",
        form="acme/MODEL",
        about="any model of Acme's",
        sdk="acme_sdk",
        extra="acme",
        packages=("acme-sdk",),
        keys=("ACME_TOKEN",),
        address="ACME_BASE_URL",
        default_address="https://api.acme.example",
        model_pattern="acme",
        self_names="Acme, Roadrunner",
    )

    def __init__(self, *, name, model, accepts):
        self.name, self.model, self.accepts = name, model, accepts

    async def start(self):
        require_sdk(self.name, self.provider)
        self.endpoint = read_endpoint_from_environment(self.provider, self.name)
        return Readiness()

    async def reply(self, messages, settings):
        import acme_sdk

        if self.model == "refused":
            raise self.endpoint.status_error(401, f"Invalid token {self.endpoint.key}")
        sent = select_sendable_sampling_options(settings, self.accepts, {"temperature": "heat"})
        return Reply(acme_sdk.reply(self.endpoint.key), sent=sent)

    async def count_tokens(self, text):
        return None

    async def close(self):
        pass
'''
# The second, genaipa/systems/provider.py, in which the line is added.
LINE = '    "acme": "genaipa.systems.acme:AcmeSystem",\n'
# What installing makes of the third, pyproject.toml with `acme = ["acme-sdk>=1"]` among the extras.
EXTRA = "Provides-Extra: acme\nRequires-Dist: acme-sdk>=1; extra == 'acme'\n"

SDK = "def reply(key):\n    return f'Yes, says the Roadrunner, with {key}.'\n"


# A sampling option's three places: what stands there, and what is added behind it.
OPTION = {
    "genaipa/cli/commands/run_options.py": (
        "SAMPLING_OPTIONS = {\n",
        '    "verbosity": _make_sampling_option("verbosity", float, "How wordy.", min=0, max=1),\n',
    ),
    "genaipa/systems/base.py": ("    sampling_seed: int | None = None\n", "    verbosity: float | None = None\n"),
    "genaipa/systems/openai.py": ('        "temperature": "temperature",\n', '        "verbosity": "verbosity",\n'),
}


def insert(path: Path, after: str, line: str) -> None:
    """Add a line behind another one, which is there once."""
    text = path.read_text()
    assert text.count(after) == 1, after
    path.write_text(text.replace(after, after + line))


TONE = """
    tone: Annotated[str, make_plan_option("How friendly.", before="repetitions")] = "plain"
"""

# It opens first, being the first in the table.
PAGE = '''"""The number of answers."""

import streamlit as st


def show_page(desk, user):
    """Show it."""
    st.text(f"{user.name} has {len(desk.pool.answers)} answers.")
'''
OPENED = """
import os
from pathlib import Path
from genaipa.ui import signin
from genaipa.ui.settings import DeskSettings
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

os.environ |= DeskSettings(Path.cwd()).to_environment()
test = AppTest.from_file(Path(signin.__file__).parent / "script" / "app.py", default_timeout=60)
test._bidi_component_manager = BidiComponentManager()
test.session_state[signin._NAME] = "Ada"
test.run()
print(*[error.value for error in test.exception], *[text.value for text in test.text], sep="\\n")
"""

FORM = '''def as_markdown(table: Table) -> str:
    """A table of Markdown."""
    return "".join("| " + " | ".join(row) + " |\\n" for row in (visible_headings(table), *table.cells))


'''

EXCHANGE = '''"""Plain text."""

from genaipa_exchange.outgoing import ExportSummary


def write(outgoing, folder):
    """Write a line for each answer."""
    lines = [answer.record.reply + "\\n" for run in outgoing.runs for answer in run.iterate_permitted_answers()]
    (folder / "answers.txt").write_text("".join(lines))
    return ExportSummary(1, len(lines), 0)
'''

LANGUAGE = '''"""Dutch."""

from genaipa.languages.language import Language, Readability, SilenceRules

LANGUAGE = Language(
    code="nl",
    name="Dutch",
    also=("nld", "dut"),
    function_words=frozenset(("de", "en", "het", "uw", "van", "wij", "niet")),
    policy=lambda company: f"het privacybeleid van {company}",
    regulation=lambda title, name: f"de verordening {title or name}",
    no_answer="(geen antwoord)",
    sections={"Section": "Paragraaf"},
    silence=SilenceRules("staat er niet", denial="niet", answered="ja|nee", contrast="maar"),
    readability=Readability("Douma", 206.84, -0.93, -77, syllables=lambda word: len(word) // 3 + 1, connective="en"),
)
'''
SET = """name: policy-nl
title: t
kind: policy
placeholder: X
source: s
license: l
language: nl
categories: {T: Openheid}
questions: [{id: Q1, category: T, origin: user, text: Wat doet X?}]
"""

COMMAND = '''"""`genaipa count`."""

from genaipa.cli.terminal.console import show
from genaipa.cli.terminal.options import current_workspace


def count() -> None:
    """Count the runs.

    All that are here.
    """
    show(f"{len(list(current_workspace().runs.glob('*')))} runs")
'''
# A package's commands: one of genaipa, one of `scores`, and two that are broken.
TALLY = """
from genaipa.cli.terminal.console import show
from genaipa.cli.terminal.headings import PackageCommand

TALLY = PackageCommand("tally:tally", summary="Tally the runs.", heading="Score", after="judge", rare=False)
OF_SCORES = PackageCommand("tally:tally")
BROKEN = PackageCommand("nowhere:tally", summary="Count.", heading="Score")


def tally():
    \"\"\"Tally the runs.\"\"\"
    show("none")
"""
TALLY_ENTRY_POINTS = """[genaipa.commands]
tally = tally:TALLY
scores tally = tally:OF_SCORES
broken = tally:BROKEN
scores broken = tally:BROKEN
gone = nowhere:TALLY
"""


@dataclass
class Changed:
    """A copy with every addition, a process that imported it, and what that listed first, with its modules then."""

    folder: Path
    genaipa: Interpreter
    listed: Finished
    modules: set[str]


def add_everything(copy: Path) -> None:
    """Do what CONTRIBUTING.md's rows say, each to the files that it names."""
    (copy / "genaipa/systems/acme.py").write_text(ADAPTER)
    insert(copy / "genaipa/systems/provider.py", "ADAPTERS: dict[str, str] = {\n", LINE)
    installed = distribution("genaipa")
    information = copy / f"genaipa-{installed.version}.dist-info"
    information.mkdir()
    head, _, rest = (installed.read_text("METADATA") or "").partition("\n\n")
    (information / "METADATA").write_text(f"{head}\n{EXTRA}\n{rest}")
    (information / "entry_points.txt").write_text(installed.read_text("entry_points.txt") or "")
    for path, (after, line) in OPTION.items():
        insert(copy / path, after, line)
    insert(copy / "genaipa/runs/procedure.py", "    ] = 400\n", TONE)
    (copy / "genaipa/ui/pages/answers.py").write_text(PAGE)
    insert(copy / "genaipa/ui/script/app.py", "PAGES = {\n", '    "answers": ("Answers", "answers"),\n')
    render = copy / "genaipa/reports/render.py"
    render.write_text(render.read_text().replace("FORMS = {", FORM + 'FORMS = {".md": as_markdown, '))
    (copy / "genaipa_exchange/plain.py").write_text(EXCHANGE)
    forms = copy / "genaipa_exchange/forms.py"
    line = 'FORMS: tuple[ExchangeFormat, ...] = (\n    ExchangeFormat("plain", "replies alone", plain.write),'
    changed = forms.read_text().replace("FORMS: tuple[ExchangeFormat, ...] = (", line)
    forms.write_text(changed.replace("import chat_import,", "import chat_import, plain,"))
    (copy / "dutch.py").write_text(LANGUAGE)
    information = copy / "dutch-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: dutch\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[genaipa.languages]\nnl = dutch:LANGUAGE\n")
    (copy / "genaipa/cli/commands/count.py").write_text(COMMAND)
    insert(copy / "genaipa/cli/terminal/headings.py", '    "Ask": {\n', '        "count": "Count the runs.",\n')


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[contextlib.ExitStack, list[Changed]]]:
    """What the first test of this file starts."""
    with contextlib.ExitStack() as stack:
        yield stack, []


@pytest.fixture
def changed(started: tuple[contextlib.ExitStack, list[Changed]], tmp_path_factory: pytest.TempPathFactory) -> Changed:
    """One copy and one process for all tests of this file; the provider's SDK is not installed at first."""
    stack, kept = started
    if not kept:
        copy = copy_genaipa(tmp_path_factory.mktemp("copy"), "genaipa_exchange")
        add_everything(copy)
        genaipa = stack.enter_context(interpreter(copy))
        (copy / "acme_sdk.py").write_text("raise SystemExit('imported')")
        listed = genaipa("systems", "--explain")
        (copy / "acme_sdk.py").unlink()
        modules = set(genaipa.execute("import sys; print(*sys.modules)").split())
        kept.append(Changed(copy, genaipa, listed, modules))
    return kept[0]


def install_sdk(into: Path) -> None:
    """Put the SDK where it can be imported, as pip would."""
    (into / "acme_sdk.py").write_text(SDK)
    (into / "acme_sdk-1.5.dist-info").mkdir()
    (into / "acme_sdk-1.5.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme-sdk\nVersion: 1.5\n")


def test_a_new_provider(changed: Changed, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed, diagnosed, asked, priced as unknown, blinded and recorded, and its key stays hidden."""
    genaipa = changed.genaipa
    assert "acme/MODEL" in changed.listed.out, changed.listed.err
    assert "any model of Acme's" in changed.listed.out
    (facts,) = json.loads(genaipa("systems", "acme/one", "--json").out)
    assert facts["missing"] == ["pip install 'genaipa[acme]'", "set ACME_TOKEN"]
    doctor = json.loads(genaipa("doctor", "--json").out)
    rows = {topic: {row["what"]: row for row in doctor[topic]} for topic in ("extras", "keys")}
    assert (rows["extras"]["acme"]["state"], rows["extras"]["acme"]["remedy"]) == (
        "missing",
        "pip install 'genaipa[acme]'",
    )
    assert rows["keys"]["acme"]["remedy"] == "set ACME_TOKEN in the environment or in a .env file"
    asked = ("-p", "brindlecart", "-e", "recall", "--limit", "1", "--temperature", "0.5")
    without = genaipa("run", "-s", "acme/one", *asked)
    assert (without.code, without.out) == (1, "")
    assert "acme/one needs the package 'acme_sdk': pip install 'genaipa[acme]'" in without.err

    install_sdk(changed.folder)
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    done = genaipa("run", "-s", "acme/one,acme/refused", *asked)
    assert done.code == 3, done.err
    (run,) = Path("runs").iterdir()
    records = {record["system"]: record for record in map(json.loads, (run / "answers.jsonl").read_text().splitlines())}
    assert records["acme/one"]["reply"] == "Yes, says the Roadrunner, with [key]."
    assert records["acme/one"]["sent"] == {"temperature": 0.5}
    assert records["acme/refused"]["error"]["kind"] == "authentication"
    assert "acme/refused refused the key in ACME_TOKEN (401): Invalid token [key]" in done.err
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["versions"]["acme-sdk"] == "1.5"
    assert manifest["systems"]["acme/one"]["words"] == "own"
    texts = [path.read_text() for path in run.rglob("*") if path.is_file()]
    assert TOKEN not in "".join([*texts, done.out, done.err])
    probe = (
        "from genaipa.scoring.masking import list_names_revealing_system as list_names; "
        "print(*list_names('acme/one', 'acme/one', ()))"
    )
    assert genaipa.execute(probe).split() == ["Roadrunner", "Acme"]


def test_listing_imports_no_sdk(changed: Changed) -> None:
    """A provider's record is read without its SDK, or any other, being imported."""
    assert "acme/MODEL" in changed.listed.out, changed.listed.err
    assert {"genaipa", "typer"} <= changed.modules
    assert changed.modules.isdisjoint({"openai", "anthropic", "google.genai", "tiktoken", "acme_sdk", "bm25s"})


# In small, test_front_door's test of options and test_providers' of settings as sent find the same kind of failure.
@pytest.mark.full
def test_a_new_sampling_option(changed: Changed, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent, noted as sent, kept in the manifest and compared with a plan; an adapter without it leaves it out."""
    systems = (
        "  with-it: {system: openai/gpt-4o, settings: [verbosity]}\n  without: {system: openai/gpt-4o, settings: []}\n"
    )
    Path("systems.yaml").write_text(f"systems:\n{systems}")
    Path("genaipa.toml").touch()
    plan = (
        "-p",
        "brindlecart",
        "-e",
        "recall",
        "--limit",
        "1",
        "--offline",
        "-s",
        "with-it,without",
        "-s",
        "anthropic/c",
    )
    with OpenAIServer() as server, AnthropicServer(models=("c",)) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", TOKEN)
        done = changed.genaipa("run", *plan, "--verbosity", "0.5")
        again = changed.genaipa("run", *plan, "--verbosity", "0.9")
        assert (done.code, again.code) == (0, 0), done.err + again.err
    runs = sorted(Path("runs").iterdir())
    assert [json.loads((run / "manifest.json").read_text())["spec"]["verbosity"] for run in runs] == [0.5, 0.9]
    records = map(json.loads, (runs[0] / "answers.jsonl").read_text().splitlines())
    sent = {record["system"]: record.get("sent", {}) for record in records}
    assert sent == {"with-it": {"verbosity": 0.5}, "without": {}, "anthropic/c": {"max_tokens": 4096}}
    assert {request.body.get("verbosity") for request in server.requests} == {0.5, 0.9, None}
    assert all("verbosity" not in request.body for request in other.requests)


# In small, test_kinds' options of a stranger's kind go the same way.
@pytest.mark.full
def test_a_new_option_of_the_procedure(changed: Changed) -> None:
    """Its one place, a field of the plan, brings it to the help page, a --config file, Python and the manifest."""
    help_page = changed.genaipa("run", "--help-all").out
    assert re.search(r"  --tone TONE +How friendly.  \[default: plain\]\n  -r, --repetitions", help_page), help_page
    Path("config.yaml").write_text("tone: warm\n")
    plan = ("run", "-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "1", "--offline", "--new")
    for more in (("--tone", "warm"), ("--config", "config.yaml"), ()):
        assert changed.genaipa(*plan, *more).code == 0
    called = "import genaipa; genaipa.run('extractive', 'brindlecart', experiment='quality', limit=1, tone='cold')"
    changed.genaipa.execute(called)
    manifests = [json.loads((run / "manifest.json").read_text()) for run in sorted(Path("runs").iterdir())]
    assert [one["spec"]["plan"]["tone"] for one in manifests] == ["warm", "warm", "plain", "cold"]
    refused = changed.genaipa("run", "-s", "extractive", "--task", "judge", "--tone", "warm")
    assert (refused.code, "--tone is an option of the procedure; leave it out" in refused.err) == (2, True)


# In small, test_pages and test_pages_suites show the table's pages and those of kinds.
@pytest.mark.full
def test_a_new_page_of_the_desk(changed: Changed) -> None:
    """Whoever has signed in finds it among the pages, with the desk and their name."""
    Path("genaipa.toml").touch()
    done = changed.genaipa("run", "-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "2")
    assert done.code == 0, done.err
    assert "Ada has 2 answers.\n" in changed.genaipa.execute(OPENED)


# In small, test_render and test_export show the forms that there are.
@pytest.mark.full
def test_a_new_form_of_tables(changed: Changed, demo: tuple[Path, Finished]) -> None:
    """The leaderboard and a comparison are written in it, by its suffix; a report writes by the same table of forms."""
    for command in (("leaderboard", "-o", "board.md"), ("compare", "careful", "breezy", "-o", "pair.md")):
        done = changed.genaipa(*command, "--workspace", demo[0])
        assert done.code == 0, done.err
    assert "| careful |" in Path("board.md").read_text()
    assert "| M_all" in Path("pair.md").read_text()


@pytest.mark.full
def test_a_new_form_of_other_programs(changed: Changed, demo: tuple[Path, Finished]) -> None:
    """It is listed, and written by its name."""
    assert re.search(r"plain +replies alone", changed.genaipa("export").out)
    done = changed.genaipa("export", "plain", "-o", "out", "--workspace", demo[0])
    assert (done.code, "192 answers" in done.out) == (0, True), done.err
    assert len(Path("out/answers.txt").read_text().splitlines()) >= 96


def test_a_new_language(changed: Changed) -> None:
    """A text is found to be in it, asked about with the variants that are there, and measured by its rules."""
    said = "Wij verzamelen uw naam en het adres van uw huis, en wij verkopen de gegevens niet. Paragraaf 2 zegt meer.\n"
    texts = {
        "genaipa.toml": "",
        "policies/winkel.md": said * 3,
        "questions/policy-nl.yaml": SET,
        "prompts/neutral-nl/part.jinja": "Deel {{ part }}: {{ text }}",
        "prompts/neutral-nl/introduce-document.jinja": "Hier is {{ subject }}.",
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    done = changed.genaipa("run", "-s", "extractive", "-p", "winkel", "-e", "quality", "--dry-run")
    assert done.code == 0, done.err
    assert "winkel: asking in Dutch, with the questions policy-nl and the prompts neutral-nl" in done.err
    assert "Hier is het privacybeleid van Winkel." in done.out
    assert "Wat doet Winkel?" in done.out
    stats = changed.genaipa("policies", "stats", "winkel")
    assert "ease" in stats.out
    assert "Douma (Dutch), 206.84 - 0.93 words/sentences - 77 syllables/words" in stats.out


def test_a_new_command(changed: Changed) -> None:
    """It is on the page of all commands, and has the options that every command has."""
    assert re.search(r"(?m)^  count +Count the runs\.$", changed.genaipa("--help").out)
    Path("here").mkdir()
    assert changed.genaipa("count", "--workspace", "here", "--explain").out == "0 runs\n\nAll that are here.\n"


def test_a_new_command_of_a_package(changed: Changed) -> None:
    """It stands where it asks to, below another command too; one that is broken is in nobody's way."""
    (changed.folder / "tally.py").write_text(TALLY)
    information = changed.folder / "tally-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tally\nVersion: 1\n")
    (information / "entry_points.txt").write_text(TALLY_ENTRY_POINTS)
    page = changed.genaipa("--help").out
    assert re.search(r"(?m)^  judge .*\n  tally +Tally the runs\.\n  score ", page), page
    assert not re.search(r"(?m)^  (broken|gone) ", page)
    assert changed.genaipa("tally", "--explain").out.startswith("none\n")
    assert changed.genaipa("scores", "tally").out == "none\n"
    assert re.search(r"(?m)^  tally +Tally the runs\.$", changed.genaipa("scores", "--help").out)
    refused = changed.genaipa("broken")
    assert (refused.code, "'broken' can't be loaded from nowhere:tally" in refused.err) == (2, True)
    assert "there is no command 'gone'" in changed.genaipa("gone").err
    checked = changed.genaipa("doctor")
    assert (checked.code, "tally: gone can't be imported (ModuleNotFoundError: " in checked.out) == (0, True), checked
