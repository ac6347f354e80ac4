"""The desk's pages in tests: what a user has in front of them, over a real run and a real store of scores."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest
from running import carry_out, make_workspace, spec
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.people import User
from genaipa.ui import signin
from genaipa.ui.desk import Desk, open_desk
from genaipa.ui.settings import DeskSettings
from genaipa.ui.widgets import PAGES_KEY
from rubrics import typed

if TYPE_CHECKING:
    from collections.abc import Iterator

EDSGER = User("edsger", scores=True, adjudicates=True)


@contextlib.contextmanager
def _ones_own_main() -> Iterator[None]:
    """Streamlit puts the page in the place of this process's main module; a process that is started later needs it."""
    main = sys.modules["__main__"]
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _page(name, desk, user):
    # Streamlit runs the text of this function on its own: nothing of this file is known in it.
    import importlib

    importlib.import_module(name if "." in name else f"genaipa.ui.pages.{name}").show_page(desk, user)


class Shown:
    """A page as a user has it in front of them."""

    def __init__(self, name: str, desk: Desk, user: User = EDSGER) -> None:
        kwargs = {"name": name, "desk": desk, "user": user}
        self.test = AppTest.from_function(_page, kwargs=kwargs, default_timeout=60)
        # Streamlit would look through every installed package for components of theirs; ours come with the page.
        self.test._bidi_component_manager = BidiComponentManager()
        self.run()

    def run(self) -> None:
        """Open the page anew, with what was chosen since."""
        with _ones_own_main():
            self.test.run()
        self.check()

    def check(self) -> None:
        """Fail with what went wrong on the page."""
        assert [error.value for error in self.test.exception] == []

    def elements(self) -> Iterator[Any]:
        """Everything on the page that is not only there to hold others."""
        waiting = [self.test.main]
        while waiting:
            node = waiting.pop(0)
            waiting = [*getattr(node, "children", {}).values(), *waiting]
            if not getattr(node, "children", None):
                yield node

    def components(self) -> dict[str, dict[str, Any]]:
        """Key → data of each of the desk's own components."""
        return {_key(e): json.loads(e.proto.json) for e in self.elements() if e.type == "bidi_component"}

    def text(self) -> str:
        """Everything that the components and the page's own words say."""
        own = [
            element.value
            for kind in ("title", "header", "subheader", "markdown", "caption")
            for element in self.test.get(kind)
        ]
        return json.dumps(self.components(), ensure_ascii=False) + "\n".join(own)

    def rows(self, key: str) -> list[list[str]]:
        """The texts in a table."""
        rows = self.components()[key]["rows"]
        return [[cell if isinstance(cell, str) else cell["text"] for cell in row["cells"]] for row in rows]

    def tell(self, key: str, event: str, value: Any) -> None:
        """What the browser does when a component tells of an event."""
        element = next(e for e in self.elements() if e.type == "bidi_component" and _key(e) == key)
        told = json.dumps([{"event": event, "value": value}])
        self._send(WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{element.proto.id}__events", json_trigger_value=told))

    def charts(self) -> dict[str, dict[str, Any]]:
        """Key → specification of each of Streamlit's own charts in which something can be chosen."""
        return {_key(e): json.loads(e.proto.spec) for e in self._charts()}

    def chart_rows(self, key: str) -> list[dict[str, Any]]:
        """The data of such a chart."""
        (proto,) = (e.proto for e in self._charts() if _key(e) == key)
        rows: list[dict[str, Any]] = pa.ipc.open_stream(proto.data.data).read_all().to_pylist()
        return rows

    def _charts(self) -> Iterator[Any]:
        return (e for e in self.elements() if e.type == "vega_lite_chart" and e.proto.id)

    def select(self, key: str, parameter: str, **fields: str) -> None:
        """Click what has these fields in a chart, as the browser tells of it."""
        element = next(e for e in self._charts() if _key(e) == key)
        chosen = json.dumps({"selection": {parameter: [fields]}})
        self._send(WidgetState(id=element.proto.id, string_value=chosen))

    def _send(self, told: WidgetState) -> None:
        states = self.test._tree.get_widget_states()
        states.widgets.append(told)
        with _ones_own_main():
            self.test._run(states)
        self.check()


class OpenApp(NamedTuple):
    """The desk's whole script after it has run: the paths of its pages, and what the one that is open says."""

    pages: list[str]
    text: str


def open_app(name: str, path: str = "") -> OpenApp:
    """Open the desk of the working folder as somebody who signs in by name, at a page's address."""
    with pytest.MonkeyPatch.context() as patched:
        for variable, value in DeskSettings(Path.cwd()).to_environment().items():
            patched.setenv(variable, value)
        test = AppTest.from_file(Path(signin.__file__).parent / "script" / "app.py", default_timeout=60)
        test._bidi_component_manager = BidiComponentManager()
        test.session_state[signin._NAME] = name
        test._page_hash = calc_hash(path) if path else test._page_hash
        with _ones_own_main():
            test.run()
    assert [error.value for error in test.exception] == []
    return OpenApp([*test.session_state[PAGES_KEY]], "\n".join(caption.value for caption in test.caption))


def _key(element: Any) -> str:
    """The key with which a component was mounted: the end of its id."""
    return element.proto.id.split("-", 2)[2]


def desk_here(*runs: str, **plan: Any) -> Desk:
    """A desk on the working folder, for these runs or all."""
    return open_desk(DeskSettings(Path.cwd(), runs, plan=ScoringPlan(**{"per_answer": 2, "calibration": 0} | plan)))


def score(desk: Desk, analyst: str, answer: str, keys: str, note: str = "") -> Event:
    """A score as the scoring page keeps it."""
    values = typed(keys)
    return desk.queue.save_score(analyst, answer, values, note=note, seconds=60, suggested={}, id=new_event_id())


def make_desk() -> Desk:
    """A desk with the four answers of one system, none of them scored."""
    make_workspace(4)
    carry_out(spec(systems=("extractive",), initializations=("company-name",)))
    return desk_here()


def digests(desk: Desk) -> list[str]:
    """The answers by the name of their question."""
    return sorted(desk.pool.answers, key=lambda digest: desk.pool.answers[digest].question)


def dispute(desk: Desk) -> Desk:
    """The same desk with two answers on which ada and grace differ (the first more), one alike and one scored once."""
    first, second, third, fourth = digests(desk)
    for answer, ada, grace in ((first, "11111", "13111"), (second, "11111", "11112"), (third, "22222", "22222")):
        score(desk, "ada", answer, ada, note=f"ada on {desk.pool.answers[answer].question}")
        score(desk, "grace", answer, grace)
    score(desk, "ada", fourth, "11111")
    return desk
