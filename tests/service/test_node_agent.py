"""A node's agent: what it removes of agents that were killed before it, and what it leaves."""

import os
import subprocess
import sys

import pytest
from waiting import wait_until

from foldnote.settings import process_environment


@pytest.fixture
def start_agent(tmp_path):
    """Return a function that starts agents on one folder, and returns each process with its own folder."""
    started = []

    def start():
        before = set(tmp_path.glob("agent-*"))
        environment = {**process_environment(), "FOLDNOTE_NODE_DIR": str(tmp_path)}
        command = (sys.executable, "-P", "-m", "foldnote.service.node.agent")
        agent = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(agent)
        folders = wait_until(
            lambda: [each for each in set(tmp_path.glob("agent-*")) - before if (each / "lock").exists()],
            "its folder",
        )
        return agent, folders[0]

    yield start
    for each in started:
        each.stdin.close()
        each.wait(120)
        each.stdout.close()


def test_an_agent_removes_files_of_a_killed_agent_but_not_of_a_running_one(start_agent, tmp_path):
    killed, left = start_agent()
    _, used = start_agent()
    elsewhere = [tmp_path / f"agent-{name}-abcdefgh" for name in ("another", f"{os.uname().nodename}-gpu")]
    for folder in (left, used, *elsewhere):
        folder.mkdir(exist_ok=True)
        (folder / "1-1-nonce").mkdir()
        (folder / "1-1-nonce" / "result.zip").write_bytes(b"of a user")
    for folder in elsewhere:
        (folder / "lock").touch()
    killed.kill()
    killed.wait(120)
    start_agent()
    assert not left.exists()
    assert (used / "1-1-nonce" / "result.zip").exists()
    for folder in elsewhere:
        assert (folder / "1-1-nonce" / "result.zip").exists(), "another machine's locks cannot be seen"


def test_an_agent_that_ends_leaves_nothing(start_agent, tmp_path):
    agent, folder = start_agent()
    assert f"agent-{os.uname().nodename}-" in folder.name
    agent.stdin.close()
    agent.wait(120)
    assert list(tmp_path.iterdir()) == []
