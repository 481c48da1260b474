"""Completion as users have it: press Tab in real shells and read what they insert."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from foldnote.client.local.ledger import Ledger

COMMANDS = Path(sys.executable).parent
JOB = "trastuzumab-heavy"
TYPED = [
    ("foldnote sche", "schema"),
    ("foldnote schema abodyb", "abodybuilder"),
    (f"foldnote wait {JOB[:6]}", JOB),
    ("foldnote jobs --wat", "--watch"),
]
PATIENCE_S = 60


@pytest.fixture
def environment(tmp_path, monkeypatch) -> dict[str, str]:
    """Return the environment of a user who has submitted one job."""
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "home"))
    Ledger().remember("0" * 64, JOB, "anarci")
    path = f"{COMMANDS}:{os.environ['PATH']}"
    return os.environ | {"HOME": str(tmp_path), "PATH": path, "TERM": "dumb", "PS1": "ready> "}


Press = Callable[[str, str], str]


@pytest.fixture(params=["bash", "zsh"])
def press(request, environment, tmp_path) -> Iterator[Press]:
    """Type a line and press Tab; return the line once the shell has written the expected word."""
    start = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[request.param]
    prepare = {
        "bash": "bind 'set enable-bracketed-paste off'",
        "zsh": f"autoload -U compinit; compinit -u -d {tmp_path}/dump",
    }[request.param]
    shell = pexpect.spawn(
        request.param, start, env=environment, encoding="utf-8", timeout=PATIENCE_S, dimensions=(40, 200)
    )

    def type_and_press(line: str, awaited: str) -> str:
        shell.send(f"{line}\t")
        shell.expect(re.escape(awaited))
        written = shell.before + shell.after
        shell.sendcontrol("u")
        return written

    shell.sendline(f"{prepare}; eval \"$(foldnote completion {request.param})\"; echo prepa''red")
    shell.expect("prepared")
    yield type_and_press
    shell.close(force=True)


def test_tab_completes_commands_tools_jobs_and_options(press):
    for line, word in TYPED:
        assert word not in line
        assert press(line, word).endswith(word)


@pytest.mark.parametrize(("line", "word"), TYPED)
def test_fish_offers_commands_tools_jobs_and_options(environment, line, word):
    assert shutil.which("fish"), "scripts/install-test-programs installs it"
    script = f"foldnote completion fish | source; complete -C '{line}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE_S,
    )
    assert word in {offered.split("\t")[0] for offered in done.stdout.splitlines()}, done.stderr
