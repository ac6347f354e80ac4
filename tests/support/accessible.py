"""Whatever axe-core has against a page: rules of WCAG 2.2 AA and good practice, and no page wider than its window.

watch(page)                    # once for each page that is loaded
assert found(page) == []
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The frame of Streamlit's own around the pages has nothing to be left out at the moment.
_RUN = """async () => {
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
  const said = (id) => ({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary];
  return violations.flatMap(({ id, nodes }) => nodes.map(said(id)));
}"""


def watch(page: Page) -> None:
    """Put axe into a page; the test is skipped where there is none."""
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-core")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))


def found(page: Page) -> list[Any]:
    """What axe has against this page, and whether it is wider than its window."""
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*page.evaluate(_RUN), *(["wider than the window"] if wide else [])]
