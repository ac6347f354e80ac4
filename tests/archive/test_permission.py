"""What a pack passes on: decided by what a system is, under whatever name it was asked."""

from __future__ import annotations

import msgspec
from running import TEXT, answers, carry_out, make_workspace, spec, write

from genaipa.archive.study_pack import iterate_packed_run_files
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import ANSWERS
from genaipa.runs.permission import SharingPermission, classify_origin_of_reply_words
from genaipa.runs.selection import SelectedRun

SENTENCE = "We never sell what we know about you."
OWN = """
from genaipa.systems.base import Readiness, Reply
from genaipa.systems.extractive import ExtractiveSystem
from genaipa.systems.published import PublishedSystem

class Quoting(ExtractiveSystem):
    pass

class Unsaid:
    name = "unsaid"
    async def start(self): return Readiness()
    async def count_tokens(self, text): return None
    async def close(self): pass
    async def reply(self, messages, settings):
        return Reply("We never sell what we know about you.")

class Speaking(Unsaid):
    words = "own"

class Replayed(Unsaid):
    words = PublishedSystem.words
"""


def asked(system: str, license_: str = "not stated") -> RunFolder:
    """A run of a system about a document under a license, in the working folder."""
    assert SENTENCE in TEXT
    make_workspace(questions=1)
    write("policies/acme.yaml", f"company: ACME\nlicense: {license_}\n")
    write("systems.yaml", "systems:\n  short: {system: extractive}\n  mine: {system: 'ownbots:Unsaid'}\n")
    write("ownbots.py", OWN)
    folder, outcome = carry_out(spec(systems=(system,)))
    assert outcome.status == "complete"
    assert answers(folder)[0].reply
    return folder


def test_thoughts_go_with_their_reply() -> None:
    """A reply that is left out takes its thoughts along, also where nothing but thoughts came."""
    write("thinker.py", OWN.replace('Reply("We', 'Reply("<think>We sell it.</think>We'))
    make_workspace(questions=1)
    folder, _ = carry_out(spec(systems=("thinker:Unsaid",)))
    (record,) = answers(folder)
    permission = SharingPermission(folder, folder.manifest())
    for given in (record, msgspec.structs.replace(record, reply=None, status="failed")):
        kept = permission.redact_record(given, lambda _passage: False)
        assert (given.thoughts, kept.reply, kept.thoughts) == ("<think>We sell it.</think>", None, "")


def replies(folder: RunFolder) -> list[object]:
    """The replies that a pack of a run would hold."""
    manifest = folder.manifest()
    content = dict(
        iterate_packed_run_files(SelectedRun(folder, manifest, manifest.spec.systems), include_withheld_texts=False)
    )[ANSWERS]
    return [msgspec.json.decode(line)["reply"] for line in content.splitlines()]


def test_a_quoting_system_is_known_under_any_name() -> None:
    """An alias, a class that inherits from the baseline and one that says nothing: no reply is passed on."""
    for system in ("extractive", "short", "ownbots:Quoting", "ownbots:Unsaid", "mine", "ownbots:Replayed"):
        assert replies(asked(system)) == [None], system


def test_what_is_its_own_or_of_a_free_document_goes_along() -> None:
    """A class that says that its words are its own is a model; of a free document, only recordings stay behind."""
    assert replies(asked("ownbots:Speaking")) == [SENTENCE]
    assert None not in replies(asked("mine", "CC0"))
    assert replies(asked("ownbots:Replayed", "CC0")) == [None]


def test_an_earlier_manifest_is_read_in_favour_of_the_text() -> None:
    """Where a manifest doesn't say whose words replies are, what the name stood for decides, and a doubt keeps back."""
    for system, identity, words in (
        ("short", "extractive", "document"),
        ("bard", "published/bard sha256:1", "recording"),
        ("gpt", "openai/gpt-4.1", "own"),
        ("mine", "ownbots:Unsaid sha256:1", ""),
        ("plugged", "plugged sha256:1", ""),
    ):
        folder = asked("extractive")
        manifest = folder.manifest()
        manifest.systems = {}
        manifest.spec = msgspec.structs.replace(manifest.spec, systems=(system,))
        manifest.digests = msgspec.structs.replace(manifest.digests, systems={system: identity})
        assert classify_origin_of_reply_words(manifest, system) == words
        assert SharingPermission(folder, manifest).may_share_reply(system, "acme") is (words == "own")
