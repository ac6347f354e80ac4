"""A study of an assistant that retrieves, for tests: two policies, five questions, and what it is shown for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from running import carry_out, make_workspace, spec, write

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder

COLLECT = "We collect your name and your address. We collect nothing else from you."
KEEP = "We keep your address for one year; then we delete it."
RIVAL = "Rival keeps each parcel's picture in a vault under the lake until its courier has retired from the firm."
BOT = f"""
import re
from genaipa.systems.base import BuiltinSystem, Passage, Reply

SHOWN = {{
    "1": ("What we collect is in the text.", {COLLECT!r}),  # a summary, then the right section
    "2": ({KEEP!r},),                                       # another section
    "4": ({COLLECT!r}, {RIVAL!r}),                          # the document is silent
    "5": ({RIVAL!r},),                                      # not annotated
}}

class Bot(BuiltinSystem):
    words = "own"

    def __init__(self):
        super().__init__(name="bot")

    async def reply_to_last_message(self, messages, settings):
        asked = re.findall(r"Question (\\d) on", messages[-1].content)[-1]
        passages = tuple(Passage(text, "page 7", 0.8125) for text in SHOWN.get(asked, ()))
        return Reply(f"Answer {{asked}}.", passages=passages)
"""
ANNOTATED = """document: acme
questions: policy
annotators: [one]
answers:
  Q1: {silent: false, answer: Name and address., sections: ["1"]}
  Q2: {silent: false, answer: Never., sections: ["2"]}
  Q3: {silent: false, answer: A year., sections: ["3", "1"]}
  Q4: {silent: true, answer: It does not say.}
"""


def make_study(
    license_: str = "CC0",
    *,
    systems: tuple[str, ...] = ("bots:Bot",),
    documents: tuple[str, ...] = ("acme", "rival"),
) -> RunFolder:
    """The working folder as a workspace with these systems' answers about `acme`, under this license, and `rival`."""
    make_workspace(questions=5)
    write("policies/acme.yaml", f"company: ACME\nlicense: {license_}\n")
    write("policies/rival.md", f"# Rival\n\n## 1. All\n\n{RIVAL}\n")
    write("policies/rival.yaml", "company: Rival\nlicense: CC0\n")
    write("annotations/acme.yaml", ANNOTATED)
    write("bots.py", BOT)
    write(
        "say.yaml",
        "rules:\n" + "".join(f"- {{match: Question {n} on, reply: See section {n}.}}\n" for n in range(1, 6)),
    )
    return carry_out(spec(systems=systems, documents=documents))[0]
