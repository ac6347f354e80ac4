"""Studies of ours for the goldens, made in the working folder: the same to the last digit whenever they are made."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import yaml
from commandline import call
from judged import GPT, harsh, human, keep, make_run, noisy, truth, verdict
from running import answers, carry_out, make_workspace, spec, write

from genaipa.questions.points import Point, make_ticks
from genaipa.runs import journal
from genaipa.runs.folder import RunFolder
from genaipa.runs.records import Record
from genaipa.runs.selection import find_run
from genaipa.scoring.waves import digest_prefix_used_in_waves, load_waves
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterable


CHATTY = """
rules:
- {match: Question 1 , reply: 'We keep it for a year (Section 3).', usage: {input: 900, cached: 800, output: 12}}
- {match: Question 2 , reply: 'The policy does not mention this.', usage: {input: 910, output: 9}, model: chatty-2}
- {match: Question 3 , reply: 'See sections 2 and 9; nothing else is said of', finish: length}
- {match: Question 4 , reply: 'I cannot help with that.', finish: refusal}
- {match: Question 5 , fail: permanent}
- {match: Question 6 , reply: ''}
- {match: Question 7 , reply: 'I do not know this document.'}
default: 'Section %d says that we deliver your order.'
model: chatty-1
"""
BOT = """
import re
from genaipa.systems.base import BuiltinSystem, Passage, Reply, Usage

SHOWN = {
    "1": ("We keep your address for one year; then we delete it.", "Our couriers see your address."),
    "2": ("We collect your name and your address. We collect nothing else from you.",),
    "3": ("Our couriers see your address on the day of delivery.", "The lighthouse is open on Sundays."),
}

class Searching(BuiltinSystem):
    words = "own"

    def __init__(self):
        super().__init__(name="searching")

    async def reply_to_last_message(self, messages, settings):
        asked = re.findall(r"Question (\\d+) on", messages[-1].content)[-1]
        passages = tuple(Passage(text, f"page {asked}", 0.5) for text in SHOWN.get(asked, ()))
        usage = Usage(input=300, output=20 + int(asked), reasoning=int(asked))
        text = " ".join(passage.text for passage in passages) if asked == "1" else f"Section {asked} says so."
        return Reply(text, usage=usage, passages=passages, thoughts="Hm. " * int(asked))
"""
POINTS = (
    Point("kept", "How long it is kept.", ("3",)),
    Point("sold", "It is not sold.", ("2",), if_wrong="harm", why="People would object."),
    Point("seen", "Who sees it.", ("2",), "okay", "harm", "A stranger may call."),
)


def settle() -> None:
    """Give the answers of each run an order and times that depend on their keys alone."""
    for path in Path("runs").glob("**/answers.jsonl"):
        records = sorted(
            (record for _, record in journal.read_records_with_offsets(path, Record)), key=lambda record: record.key
        )
        settled = (
            msgspec.structs.replace(
                record,
                seconds=zlib.crc32(record.key.encode()) % 9000 / 1000,
                started=f"2026-05-01T{10 + place // 3600:02}:{place // 60 % 60:02}:{place % 60:02}.000Z",
            )
            for place, record in enumerate(records)
        )
        path.write_bytes(b"".join(map(journal.encode_record_line, settled)))
        folder = RunFolder(path.parent)
        manifest = folder.manifest()
        manifest.totals = msgspec.structs.replace(manifest.totals, bytes=path.stat().st_size)
        folder.write_manifest(manifest)


def name_run(run: RunFolder, day: str, name: str = "test") -> RunFolder:
    """Give a run a name without the time of day, as if it had been carried out on that day."""
    path = run.path.rename(run.path.with_name(f"{day}-{name}"))
    folder = RunFolder(path)
    manifest = folder.manifest()
    manifest.name, manifest.created = path.name, f"{day}T10:00:00Z"
    folder.write_manifest(manifest)
    return folder


def annotate(documents: Iterable[str], questions: int, *, points: int = 0) -> None:
    """Annotate the answers to these questions, of which the first ones have points."""
    given = {
        f"Q{n}": {"silent": True, "answer": "It does not say."}
        if n % 5 == 2
        else {"silent": False, "answer": "We keep your address for one year.", "sections": ["3", "2"][: 1 + n % 2]}
        | ({"points": msgspec.to_builtins(POINTS[: 1 + n % 3])} if n <= points else {})
        for n in range(1, questions + 1)
    }
    for name in documents:
        head = {"document": name, "questions": "policy", "annotators": ["one"], "license": "CC0-1.0"}
        write(f"annotations/{name}.yaml", yaml.safe_dump({**head, "answers": given}))
        write(f"policies/{name}.yaml", f"company: {name.title()}\nlicense: CC0-1.0\nlanguage: en\n")


def make_wave(questions: int = 12) -> None:
    """People scored a wave of two systems' answers and three beside it; one was settled, and judges scored all."""
    run = name_run(make_run(questions), "2026-05-01")
    settle()
    worth = truth(sorted({record.digest for record in answers(run)}))
    drawn = call("sample", "--size", "8")
    assert drawn.code == 0, drawn.err
    asked = load_waves(find_workspace()).all_wave_digest_prefixes
    inside = [digest for digest in worth if digest_prefix_used_in_waves(digest) in asked]
    beside = [digest for digest in worth if digest not in inside][:3]
    errs, bo = noisy(1), noisy(3, 0.15)
    keep(human("ada", digest, worth[digest], minute) for minute, digest in enumerate([*inside, *beside]))
    keep(human("bo", digest, bo(worth[digest]), minute) for minute, digest in enumerate(inside[::2], 100))
    settled = human("cy", inside[0], worth[inside[0]], 200)
    keep([msgspec.structs.replace(settled, kind="adjudication")])
    for digest, places in worth.items():
        keep([verdict("harsh", digest, harsh(places)), verdict(GPT, digest, errs(places))])


def make_days(questions: int = 10) -> None:
    """A system was asked twice on each of two days, and another, which searches, once; both days were scored."""
    documents = ("acme", "bolt")
    make_workspace(questions, documents)
    annotate(documents, questions)
    write("golden_bot.py", BOT)
    for day, section, place in (("2026-05-01", 2, 0), ("2026-06-01", 99, 1)):
        write("chatty.yaml", CHATTY % section)
        run = _asked(day, "scripted/chatty.yaml", documents=documents, repetitions=2)
        scored = sorted({record.digest for record in answers(run) if record.reply})
        keep(human("ada", digest, (place + n % 2, place, n % 2, 0, place)) for n, digest in enumerate(scored))
        keep(verdict("harsh", digest, (1, place + n % 2, 1, 0, 2)) for n, digest in enumerate(scored))
    _asked("2026-05-01", "golden_bot:Searching", documents=documents)
    settle()


def _asked(day: str, system: str, **changes: Any) -> RunFolder:
    name = "searching" if ":" in system else "chatty"
    return name_run(carry_out(spec(systems=(system,), **changes))[0], day, name)


def make_points(questions: int = 9) -> None:
    """Two people and a judge ticked the points of two systems' answers about two documents."""
    annotate(("acme", "bolt"), questions, points=questions - 1)
    run = name_run(make_run(questions), "2026-05-01")
    settle()
    records = sorted(answers(run), key=lambda record: (record.system, record.document, record.question))
    for n, record in enumerate(records):
        keep(
            [
                _ticking(human("ada", record.digest, (n % 2, 0, 0, 1, n % 3), n), n, record),
                _ticking(verdict("kind", record.digest, (0, n % 2, 0, 0, 0)), n + n % 4 // 3, record),
            ]
        )
        if record.document == "acme":
            keep([_ticking(human("bo", record.digest, (0, n % 2, 0, 1, n % 3), n), n + n % 5 // 4, record)])


def _ticking(event: Any, n: int, record: Record) -> Any:
    """Tick the points whose place is even, counted from n; contradict each third of the others."""
    number = int(record.question.removeprefix("Q"))
    silent = number % 5 == 2 or number == 9
    points = () if silent else POINTS[: 1 + number % 3]
    said = [point.id for place, point in enumerate(points, n) if place % 2 == 0]
    denied = [point.id for place, point in enumerate(points, n) if place % 2 and place % 3 == 0]
    return msgspec.structs.replace(event, ticks=make_ticks(points, said, denied)) if points else event


def make_corpus() -> None:
    """Two systems were asked two questions about each of six documents, in two languages and three sectors."""
    Path("genaipa.toml").touch()
    english = (
        "# Policy of {}\n\n## 1. Data\n\nWe collect your name. We keep it for {} months.\n\n"
        "## 2. Sharing\n\nWe share nothing.\n"
    )
    german = (
        "# Datenschutz bei {}\n\n## 1. Daten\n\nWir erheben Ihren Namen. Wir speichern ihn {} Monate lang.\n\n"
        "## 2. Weitergabe\n\nWir geben nichts an andere weiter, auch nicht an Behörden.\n"
    )
    rows = [
        {
            "name": name,
            "company": name.title(),
            "text": (german if n % 2 else english).format(name.title(), n + 3),
            "language": "de" if n % 2 else "en",
            "license": "CC0-1.0",
            "sector": ("shop", "bank", "game")[n % 3],
        }
        for n, name in enumerate(("ash", "birch", "cedar", "elm", "fir", "gorse"))
    ]
    write("corpus.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    systems = ("-s", "extractive", "-s", "scripted/careful")
    about = ("-e", "quality", "--limit", "2", "--documents", "corpus.jsonl", "--questions", "policy")
    asked = call("run", *systems, *about)
    assert asked.code == 0, asked.err
    run = name_run(find_run(find_workspace(), "latest"), "2026-05-01")
    settle()
    scored = sorted(answers(run), key=lambda record: (record.system, record.document, record.question))
    for n, record in enumerate(scored[:-2]):
        score = human("ada", record.digest, (n % 3, n % 2, 0, 0, n % 2), n)
        keep([score, verdict("kind", record.digest, (0, n % 2, 0, 0, 0))])
