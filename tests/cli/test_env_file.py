"""The `.env` of a folder, one's own or a stranger's: what of it reaches the environment, and what is said."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from running import KEY, SYSTEM, make_workspace, write
from servers import OpenAIServer

from genaipa.cli.terminal.env_file import (
    LARGEST,
    LONGEST,
    load_keys_and_addresses_from_dotenv,
    print_which_keys_came_from_env_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Cli

ONE = ("-p", "acme", "-e", "quality", "--limit", "1", "-y")
HERS = "sk-hers-0123456789abcdefSECRET"
"""A key of the user's own."""


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """The environment as it is, put back afterwards."""
    with mock.patch.dict(os.environ):
        yield


def taken(text: str, **environment: str) -> dict[str, str]:
    """Variables that a `.env` of this text adds to an environment."""
    write(".env", text)
    with mock.patch.dict(os.environ, environment):
        before = dict(os.environ)
        load_keys_and_addresses_from_dotenv()
        return {name: value for name, value in os.environ.items() if before.get(name) != value}


def test_only_keys_and_their_own_addresses_are_taken() -> None:
    """A key by its name, an address beside its key in the same file, and nothing else, in whatever form it stands."""
    pair = {"LAB_API_KEY": "k", "LAB_BASE_URL": "http://lab.example/v1"}
    google = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "http://g.example"}
    cases: tuple[tuple[str, dict[str, str]], ...] = (
        ("export LAB_API_KEY='k'\nLAB_BASE_URL=http://lab.example/v1\n", pair),
        ("LAB_BASE_URL=http://lab.example/v1\nLAB_API_KEY=k\n", pair),
        ("GEMINI_API_KEY=k\nGOOGLE_GEMINI_BASE_URL=http://g.example\n", google),
        ("LAB_BASE_URL=http://lab.example/v1\nLAB_API_KEY=\n", {}),
        ("LAB_BASE_URL=http://lab.example/v1\nOTHER_API_KEY=k\n", {"OTHER_API_KEY": "k"}),
        ("VLLM_BASE_URL=http://127.0.0.1:1/v1\n", {}),
        ("EVIL_API_KEY=${OPENAI_API_KEY}\nEVIL_BASE_URL=http://evil.example\n", {}),
        ('LAB_API_KEY="a\\0b"\nLAB_API_KEY="a\x01\\\'"\n', {"LAB_API_KEY": "a\x01'"}),
        ("'A\x1b[31m_API_KEY'=k\n1_API_KEY=k\n", {}),
    )
    for text, expected in cases:
        assert taken(text, OPENAI_API_KEY=HERS) == expected, text
    settings = "GENAIPA_VLLM_COMMAND GENAIPA_VLLM_ARGS GENAIPA_SYSTEM GENAIPA_CACHE HTTPS_PROXY https_proxy ALL_PROXY"
    settings += " SSL_CERT_FILE SSL_CERT_DIR PYTHONPATH LD_PRELOAD PATH OPENAI_ORG_ID OPENAI_CUSTOM_HEADERS RAY_ADDRESS"
    assert taken("".join(f"{name}=x\n" for name in settings.split())) == {}


def test_a_key_of_the_users_own_never_meets_an_address_of_a_file() -> None:
    """Where the environment has a key of the same server, another one in the file is no leave to set its address."""
    cases = (
        ("OPENAI_BASE_URL=http://evil.example/v1\n", {"OPENAI_API_KEY": HERS}),
        ("OPENAI_BASE_URL=http://evil.example/v1\nOPENAI_API_KEY=theirs\n", {"OPENAI_API_KEY": HERS}),
        ("GOOGLE_GEMINI_BASE_URL=http://evil.example\nGEMINI_API_KEY=theirs\n", {"GOOGLE_API_KEY": HERS}),
        ("GOOGLE_GEMINI_BASE_URL=http://evil.example\nGEMINI_API_KEY=x\n", {"GOOGLE_GEMINI_API_KEY": HERS}),
        ("ANTHROPIC_BASE_URL=http://evil.example\nANTHROPIC_API_KEY=x\n", {"ANTHROPIC_CUSTOM_HEADERS": f"k: {HERS}"}),
        ("ANTHROPIC_BASE_URL=http://evil.example\nANTHROPIC_API_KEY=x\n", {"ANTHROPIC_AUTH_TOKEN": HERS}),
    )
    for text, environment in cases:
        assert not [name for name in taken(text, **environment) if name.endswith("_URL")], text
    same = "OPENAI_BASE_URL=http://mine.example/v1\nOPENAI_API_KEY=" + HERS
    assert taken(same, OPENAI_API_KEY=HERS) == {"OPENAI_BASE_URL": "http://mine.example/v1"}


def test_a_strangers_study_gets_no_key_and_runs_nothing(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in its folder nor below it; what was not taken is said, with the remedy."""
    make_workspace()
    with OpenAIServer(models=("m",)) as server:
        write(".env", f"LOOP_BASE_URL={server.url}\nGENAIPA_VLLM_COMMAND=sh -c 'touch {Path.cwd()}/RAN; exit 1'\n")
        monkeypatch.setenv("LOOP_API_KEY", HERS)
        Path("below/deeper").mkdir(parents=True)
        for folder in (".", "below/deeper"):
            monkeypatch.chdir(folder)
            done = genaipa("run", "-s", SYSTEM, *ONE)
            assert done.code != 0
            assert "LOOP_BASE_URL ignored: put the key of the same server into the same file" in done.err
            assert "GENAIPA_VLLM_COMMAND ignored" in done.err
            assert "set them in the environment" in done.err
            genaipa("systems", "--check", "vllm/x/y")
        assert not server.requests + server.lookups
    assert not list(Path.cwd().parents[1].rglob("RAN"))


def test_the_first_lines_say_what_a_file_gave(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which file, for which system, and the address; before anything is sent, and never the key."""
    make_workspace()
    with OpenAIServer(models=("m",), only=KEY) as server:
        write(".env", f"LOOP_BASE_URL={server.url}\nLOOP_API_KEY={KEY}\n")
        Path("below").mkdir()
        monkeypatch.chdir("below")
        done = genaipa("run", "-s", SYSTEM, *ONE)
        assert done.code == 0, done.err
        assert done.err.startswith(f"Key and address of openai-api/loop ({server.url}) from ../.env.\n")
        assert KEY not in done.err + done.out
        assert "from ../.env" in genaipa("systems", SYSTEM, "--check").err
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        assert "Address of openai-api/loop (" in genaipa("run", "-s", SYSTEM, *ONE, "--new").err
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        assert ".env" not in genaipa("run", "-s", SYSTEM, *ONE, "--new").err


def test_origins_of_several_systems(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for all of them; a system that asks another one is called by that one's provider."""
    write(".env", "LAB_API_KEY=k\nLAB_BASE_URL=http://me:secret@lab.example/v1\nOPENAI_API_KEY=k\n")
    load_keys_and_addresses_from_dotenv()
    print_which_keys_came_from_env_file(
        ["openai/a", "openai/b", "rag/openai-api/lab/m", "extractive", "mine:Mine", "anthropic/x"]
    )
    said = capsys.readouterr().err
    assert said == "Key of openai and key and address of openai-api/lab (http://lab.example/v1) from .env.\n"


def test_a_file_that_is_a_bomb(capsys: pytest.CaptureFixture[str]) -> None:
    """Doubled variables, long lines, many lines and odd bytes are a sentence at most, and cost next to nothing."""
    doubled = "V1=aaaaaaaaaaaaaaaa\n" + "".join(f"V{n + 1}=${{V{n}}}${{V{n}}}\n" for n in range(1, 60))
    for text, sentence in (
        (doubled, "V1, V2, V3 and 57 more ignored"),
        ("A=1\n" * (LARGEST // 4 + 1), "is larger than 100 kB"),
        ("this is none\n" * 500, "lines 1, 2, 3 and 497 more, which are not NAME=value"),
        (f"A_API_KEY=a{' ' * LONGEST}b\n" * 20, "lines 1, 2, 3 and 17 more, which are not NAME=value"),
        ("A_API_KEY='\nB=\"\n" * 5000, "genaipa ignores line"),
    ):
        assert len(taken(text)) <= 1
        said = capsys.readouterr().err
        assert sentence in said
        assert len(said) < 1000
    Path(".env").write_bytes(b"A_API_KEY=\xff\n")
    load_keys_and_addresses_from_dotenv()
    assert "is not UTF-8 text" in capsys.readouterr().err
