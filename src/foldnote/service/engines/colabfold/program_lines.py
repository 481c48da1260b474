"""The output lines of a running program, with a mark for silence, so that progress is reported again."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Iterator

QUIET_S = 5.0
"""Seconds without output after which the progress is reported again."""


def start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start a program with all of its output in one stream."""
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
    """Yield the lines of the program, and None after a period of silence."""
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
