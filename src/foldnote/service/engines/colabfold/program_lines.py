"""The lines of a program while it runs, and that it is silent for a while, so that progress is told again."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Iterator

QUIET_S = 5.0
"""Seconds without a line of the program after which the progress is told again."""


def start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start a program; all that it writes is one stream."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
    )


def read_lines(process: subprocess.Popen[str]) -> Iterator[str | None]:
    """The lines of the program, and None where it has said nothing for a while."""
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    stream = process.stdout
    assert stream is not None

    def pump() -> None:
        for line in stream:
            waiting.put(line)
        waiting.put(None)

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            line = waiting.get(timeout=QUIET_S)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line
