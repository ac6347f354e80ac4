"""Probes for contamination: does a system know the data by heart? Each is shown as a gap, never as a verdict.

The data of every suite were public by 2021. `no-context` asks without the text, so that a score above the empty
answer's is memory; `company-swap` gives the company another name in all that is shown; `continuation` shows the first
half of a text and asks how it goes on, word for word.
"""

from __future__ import annotations

from genaipa.errors import UnknownNameError
from genaipa.suites.material import Item, Material
from genaipa.systems.base import Message

NO_CONTEXT, COMPANY_SWAP, CONTINUATION = "no-context", "company-swap", "continuation"
PROBES = (NO_CONTEXT, COMPANY_SWAP, CONTINUATION)


def applied(probe: str, material: Material) -> Material:
    """The material as this probe shows it; itself without one."""
    if not probe:
        return material
    raise UnknownNameError("probe", probe, PROBES)


def continued(item: Item) -> list[Message]:
    """The message that shows the first half of an item's text, and asks how it goes on."""
    raise UnknownNameError("probe", item.id, ())
