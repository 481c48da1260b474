"""Sort the output of an engine into progress, error sentence, and log.

A line ``FOLDNOTE_PROGRESS {"fraction": 0.4, "message": "…"}`` is progress. A line ``FOLDNOTE_ERROR sentence``
states why the engine failed, and is logged without its prefix. A line that only resembles one of these goes
to the log. The log is truncated at a maximum size, so that a verbose engine cannot fill the disk.

A progress bar redraws its line repeatedly, each time after a carriage return. The log contains the final
state that a terminal would show, and a state of every half minute while the bar is being drawn.
"""

from __future__ import annotations

import json
import math
import os
import stat
import time
from io import FileIO
from pathlib import Path

from foldnote.io import FULL_DISK
from foldnote.service.runner import attempt as files
from foldnote.service.runner.gpus import reports_shortage

PROGRESS_MARK = b"FOLDNOTE_PROGRESS "
ERROR_MARK = b"FOLDNOTE_ERROR "
LOG_LIMIT_BYTES = 50 << 20
_LINE_LIMIT_BYTES = 65_536
_DRAWN_PAUSE_S = 30.0
"""Interval between two logged states of a redrawn line."""
_MESSAGE_LENGTH = 500
_MISSED = b"\n[Lines are missing here, since the disk was full.]\n"
_PROGRESS_PAUSE_S = 0.2
_SHORT_RUN_S = 0.05
"""For a run that ends earlier, only the last progress is published."""
_SHORTAGE_LINES = 40


class LineSorter:
    """Receives chunks of the engine's streams and writes ``log.txt`` and ``progress.json`` of the attempt.

    Attributes:
        error: the sentence of the engine's last FOLDNOTE_ERROR line, or None.
        last_line: the last line of the log that is not blank, or an empty string.
        shortage: the last line that reported insufficient GPU memory, if it is among the last 40; else an
            empty string.
    """

    def __init__(self, attempt_dir: Path) -> None:
        self.error: str | None = None
        self.last_line = ""
        self.shortage = ""
        self._since_shortage = 0
        self._folder = attempt_dir
        self._log: FileIO | None = None
        self._has_missed = False
        """Whether the disk had no space for the last lines."""
        self._rest: dict[int, bytes] = {}
        self._drawn: dict[int, float] = {}
        """Time at which the redrawn line of a stream was last logged, or begun."""
        self._progress: tuple[float | None, str | None] | None = None
        self._published = time.monotonic() + _SHORT_RUN_S - _PROGRESS_PAUSE_S

    def feed(self, stream: int, chunk: bytes) -> None:
        """Accept ``chunk`` of the stream numbered ``stream``; complete lines are sorted, the rest is kept."""
        *lines, rest = (self._rest.get(stream, b"") + chunk).split(b"\n")
        lines = [_last_state(line) for line in lines]
        if lines:
            self._drawn.pop(stream, None)
        if b"\r" in rest:
            state = _last_state(rest)
            rest = state + b"\r" if rest.endswith(b"\r") else state
            lines += self._take_due_state(stream, state)
        if len(rest) > _LINE_LIMIT_BYTES:
            lines, rest = [*lines, rest], b""
        self._rest[stream] = rest
        plain_lines = (line.removeprefix(ERROR_MARK) for line in lines if not self._is_progress(line))
        self._write(b"".join(line + b"\n" for line in plain_lines))

    def _take_due_state(self, stream: int, state: bytes) -> list[bytes]:
        """Return the state of a line that is being redrawn, if it is time to log it."""
        moment = time.monotonic()
        if moment - self._drawn.setdefault(stream, moment) < _DRAWN_PAUSE_S:
            return []
        self._drawn[stream] = moment
        return [state]

    def flush_progress(self, *, at_once: bool = False) -> None:
        """Publish the newest progress, at most five times a second unless ``at_once``, first after 50 ms."""
        if self._progress is None or (not at_once and time.monotonic() - self._published < _PROGRESS_PAUSE_S):
            return
        self._published = time.monotonic()
        try:
            files.write_progress(self._folder, *self._progress)
        except OSError as exc:
            _ignore_full_disk(exc)  # the latest progress is published once there is space
        else:
            self._progress = None

    def finish(self) -> None:
        """Sort unterminated lines, and publish the last progress."""
        for stream in [stream for stream, rest in self._rest.items() if rest]:
            self.feed(stream, b"\n")
        self.flush_progress(at_once=True)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _is_progress(self, line: bytes) -> bool:
        if line.startswith(ERROR_MARK):
            self.error = line.removeprefix(ERROR_MARK).decode("utf-8", "replace").strip()[:_MESSAGE_LENGTH]
            return False
        progress = read_progress_line(line)
        if progress is not None:
            self._progress = progress
            return True
        if text := line.strip():
            self.last_line = text.decode("utf-8", "replace")[:_MESSAGE_LENGTH]
            self._record_shortage()
        return False

    def _record_shortage(self) -> None:
        """Keep the line on GPU memory for a while, since libraries print advice after it."""
        if reports_shortage(self.last_line):
            self.shortage, self._since_shortage = self.last_line, 0
        elif self.shortage:
            self._since_shortage += 1
            if self._since_shortage >= _SHORTAGE_LINES:
                self.shortage = ""

    def _write(self, content: bytes) -> None:
        if not content:
            return
        try:
            if self._log is None:
                self._log = open_log(self._folder / files.LOG)
            left = LOG_LIMIT_BYTES - self._log.tell()
            if left <= 0:
                return
            content = _MISSED + content if self._has_missed else content
            if len(content) > left:
                content = content[:left] + b"\n[The log was truncated here, at 50 MB.]\n"
            self._has_missed = self._log.write(content) != len(content)
        except OSError as exc:
            _ignore_full_disk(exc)
            self._has_missed = True


def _ignore_full_disk(fault: OSError) -> None:
    """Ignore a full disk, since a missing log must not end a run of many hours; raise any other fault."""
    if fault.errno not in FULL_DISK:
        raise fault


def _last_state(line: bytes) -> bytes:
    """Return the visible result of a line whose parts, after carriage returns, overwrite each other."""
    return next((part for part in reversed(line.split(b"\r")) if part), b"") if b"\r" in line else line


def open_log(path: Path) -> FileIO:
    """Open the log for appending; remove anything that an engine put in its place."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        path.rename(path.with_name(f".{path.name}.foreign"))
    return FileIO(os.open(path, flags, 0o644), "ab")


def read_progress_line(line: bytes) -> tuple[float | None, str | None] | None:
    """Return fraction (0 to 1) and message of a progress line; None if it is not one."""
    if not line.startswith(PROGRESS_MARK):
        return None
    try:
        content = json.loads(line.removeprefix(PROGRESS_MARK))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    message = content.get("message")
    text = None if message is None else str(message)[:_MESSAGE_LENGTH]
    return _read_fraction(content.get("fraction")), text


def _read_fraction(value: object) -> float | None:
    """Return the number, limited to 0 to 1; None for anything but a number that a float can represent."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return min(1.0, max(0.0, number)) if math.isfinite(number) else None
