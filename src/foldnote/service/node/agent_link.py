"""The parent's side of an agent: start it where an attempt arrives, and wait for the end of the attempt.

A transport calls this module on a node. ``run_here`` needs only its arguments, so any system that calls a
Python function on another machine can use it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from foldnote import settings

_COMMAND = (sys.executable, "-P", "-m", "foldnote.service.node.agent")
_DIED = "The agent of foldnote on this machine has ended."
_agents: dict[tuple[tuple[str, str], ...], AgentLink] = {}
_lock = threading.Lock()


class AgentDiedError(RuntimeError):
    """The agent ended before its attempt was over; the service waits for the end of the lease."""


class AgentLink:
    """A running agent.

    Args:
        environment: variables in addition to those of this process, whose keys are removed.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            _COMMAND,
            env={**settings.process_environment(), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._waiting: dict[str, threading.Event] = {}
        self._has_ended = False
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, name="foldnote agent", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether it accepts attempts."""
        return not self._has_ended

    def run(self, work: Mapping[str, Any]) -> None:
        """Run one attempt and return when it is over.

        Raises:
            AgentDiedError: the agent ended.
        """
        with self._lock:
            if self._has_ended:
                raise AgentDiedError(_DIED)
            is_new = work["nonce"] not in self._waiting
            over = self._waiting.setdefault(work["nonce"], threading.Event())
            try:
                if is_new:  # an executor may deliver it twice
                    self._input.write(json.dumps(dict(work)) + "\n")
                    self._input.flush()
            except (OSError, ValueError) as exc:
                raise AgentDiedError(_DIED) from exc
        over.wait()
        if self._has_ended and work["nonce"] in self._waiting:
            raise AgentDiedError(_DIED)

    def close(self) -> None:
        """Make it kill its engines, report their attempts as lost, and end."""
        with contextlib.suppress(OSError):
            self._input.close()
        self._process.wait()

    @property
    def _input(self) -> Any:
        return self._process.stdin

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._lock:
                over = self._waiting.pop(json.loads(line)["ended"], None)
            if over is not None:
                over.set()
        with self._lock:
            self._has_ended = True
            waiting = list(self._waiting.values())
        for over in waiting:
            over.set()
        self._process.wait()
        self._process.stdout.close()


def run_here(work: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Run an attempt on this machine, in an agent that is started if there is none.

    Args:
        work: the fields of a ``NodeWork``.
        environment: variables of the agent in addition to those of this process, such as the folder of the
            engines. There is one agent for each set of variables.

    Raises:
        AgentDiedError: the agent ended.
    """
    key = tuple(sorted(environment.items()))
    with _lock:
        agent = _agents.get(key)
        if agent is None or not agent.is_alive:
            agent = _agents[key] = AgentLink(environment)
    agent.run(work)


def close_agents() -> None:
    """End all agents of this process."""
    with _lock:
        agents = list(_agents.values())
        _agents.clear()
    for agent in agents:
        agent.close()
