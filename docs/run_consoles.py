"""Run the commands that the documentation shows: `python docs/run_consoles.py [PAGE…]`.

Each page's blocks of `console` run in order in one shell, in an empty workspace, without keys or a network. A line
`$ ` is a command, `> ` continues it, and all else is output. A command ends with 0, or as its comment says ("# ends
with 3"). Each line of output that a page shows is one that is printed, but for blanks and what stands there as `…`.
`<!-- example -->` before a block says that it is not run: it needs a key, a browser or somebody's data.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DOCS = Path(__file__).parent
CLOSED_NETWORK = DOCS.parent / "tests" / "support" / "closed_network"
BLOCK = re.compile(r"(<!-- example -->\n+)?^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST = 300
"""Seconds for a page."""


def commands(page: str) -> list[str]:
    """Return the commands of a page that are no examples, in order."""
    blocks = [block for example, block in BLOCK.findall(page) if not example]
    shown = re.findall(r"^\$ (.*(?:(?<=\\)\n.*|\n> ?.*)*)", "\n".join(blocks), re.MULTILINE)
    return [re.sub(r"^> ?", "", command, flags=re.MULTILINE) for command in shown]


def missing_lines(page: str, printed: str) -> list[str]:
    """Return the lines of output that a page shows and that no command has printed; `…` stands for anything."""
    blocks = "\n".join(block for example, block in BLOCK.findall(page) if not example)
    # The lines of a command that goes on end with a backslash, or begin with the shell's mark.
    output = re.sub(r"^\$ .*(?:(?<=\\)\n.*|\n> ?.*)*", "", blocks, flags=re.MULTILINE)
    known = "\n".join(" ".join(line.split()) for line in printed.splitlines())
    lines = (" ".join(line.split()) for line in output.splitlines())
    return [line for line in lines if line and not re.search(".*".join(map(re.escape, line.split("…"))), known)]


def script(commands: list[str]) -> str:
    """Return a shell's script that stops at the first command that ends otherwise than it should, and names it."""
    lines = []
    for command in commands:
        stated = re.search(r"# ends with (\d+)", command)
        wanted = stated[1] if stated else "0"
        lines += [
            f"{{ {command}\n}}; ended=$?",
            f'[ $ended = {wanted} ] || {{ echo "ended with $ended"; exit {len(lines) // 2 + 1}; }}',
        ]
    return "\n".join(lines)


def run(page: Path) -> tuple[int, float, str]:
    """Return the number of commands that ran, the seconds that they took, and what went wrong, if anything did."""
    wanted = commands(page.read_text(encoding="utf-8"))
    began = time.monotonic()
    if not wanted:
        return 0, 0.0, ""
    with tempfile.TemporaryDirectory(prefix="genaipa-docs-") as folder:
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        (workspace / "genaipa.toml").touch()
        environment = {
            "HOME": folder,
            "LANG": "C.UTF-8",
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", folder),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(CLOSED_NETWORK),
        }
        shell = subprocess.run(
            ["bash", "-c", script(wanted)],  # noqa: S607
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    seconds = time.monotonic() - began
    if shell.returncode == 0:
        text = page.read_text(encoding="utf-8")
        missing = missing_lines(text, shell.stdout)
        other = "".join(f"{page.relative_to(DOCS)}: no command prints: {line}\n" for line in missing)
        return len(wanted), seconds, other
    failed = wanted[min(shell.returncode, len(wanted)) - 1]
    return len(wanted), seconds, f"{page.relative_to(DOCS)}: $ {failed}\n{shell.stdout}"


def main() -> None:
    """Run the pages that are named, or all, side by side; end with 1 if a command did not end as it should."""
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(DOCS.rglob("*.md"))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        done = dict(zip(pages, threads.map(run, pages), strict=True))
    for page, (count, seconds, _) in done.items():
        if count:
            print(f"{page.relative_to(DOCS)}: {count} commands in {seconds:.0f} s")
    if wrong := [fault for _, _, fault in done.values() if fault]:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
