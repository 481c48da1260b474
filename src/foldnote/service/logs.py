"""The service's log on standard error: one line per entry, without keys, queries or file contents.

Messages can contain text from requests, engines and other programs. Therefore an entry stays on one line
whatever it contains, and anything that looks like a secret is masked. A fault that repeats, such as a full
disk that a thread runs into every second, is logged once with its traceback, then as a count once a minute.
"""

from __future__ import annotations

import copy
import json
import logging
import re
import sys
import time
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TextIO

from foldnote.service.domain.access.keys import KEY_PREFIX
from foldnote.service.http.request_ids import REQUEST_ID
from foldnote.service.store import clock
from foldnote.text import count, visible

JSON, TEXT = "json", "text"
FORMATS = (JSON, TEXT)
INFO = "info"
LEVELS = ("debug", INFO, "warning", "error")
REPEAT_INTERVAL_S = 60.0
"""Seconds during which a repeated entry is counted instead of written."""
_MASK = "***"
_SECRETS = (
    (re.compile(rf"\b{KEY_PREFIX}[A-Za-z0-9_-]{{8,}}"), f"{KEY_PREFIX}{_MASK}"),
    (
        re.compile(r"(?i)\b((?:x-api-key|authorization|cookie)\b[\"']?\s*[:=,]\s*b?[\"']?)[^\"'\r\n]+"),
        rf"\1{_MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {_MASK}"),
    (re.compile(r"(?<=\S)\?[^\s\"'<>?]*=[^\s\"'<>]*"), f"?{_MASK}"),
    (
        re.compile(r"(?i)\b(signature|token|password|secret|nonce)(=|[\"']?:\s*[\"']?)[^\s&\"',;]+"),
        rf"\1\2{_MASK}",
    ),
)


def mask(text: str) -> str:
    """Mask keys, values of headers that carry keys, and query strings of URLs in ``text``."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


class JsonFormatter(logging.Formatter):
    """One ASCII JSON object: time, level, logger, message; request, job and traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one line."""
        return json.dumps({name: value for name, value in _read(self, record).items() if value})


class TextFormatter(logging.Formatter):
    """The same fields as text for people; control characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one line."""
        row = _read(self, record)
        marks = "".join(f" {name}={row[name]}" for name in ("request_id", "job_id") if row[name])
        text = " | ".join(row[name] for name in ("message", "trace") if row[name])
        line = f"{row['time']} {row['level']:<8}{row['logger'].rpartition('.')[2]}{marks}: {text}"
        return visible(line).replace("\n", "\\n").replace("\t", "\\t")


def _read(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, str]:
    return {
        "time": clock.now(),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": mask(record.getMessage()),
        "request_id": getattr(record, "request_id", REQUEST_ID.get()),
        "job_id": str(getattr(record, "job", "")),
        "trace": mask(formatter.formatException(record.exc_info)) if record.exc_info else "",
    }


@dataclass
class _RepeatCount:
    """How often a written entry has been repeated."""

    ends: float
    count: int = 0
    last: str = ""

    def make_summary_record(self, record: logging.LogRecord) -> logging.LogRecord:
        """Return an entry without traceback that states the number of repeats and the time of the last."""
        entry = copy.copy(record)
        entry.msg = f"{record.getMessage()} (repeated {count(self.count, 'time')}, last at {self.last})"
        entry.args, entry.exc_info, entry.exc_text = None, None, None
        entry.__dict__["request_id"] = ""
        return entry


class CountingLogHandler(logging.StreamHandler[TextIO]):
    """Writes entries; a repeated warning or fault is written once, then as a count once a minute.

    Two faults are the same if the same type of exception was raised in the same thread, whatever the job or
    file; two warnings are the same if their texts are.

    Args:
        stream: output stream.
        clock_s: returns the time in seconds.
    """

    def __init__(self, stream: TextIO, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._clock_s = clock_s
        self._repeat_counts: dict[Hashable, tuple[logging.LogRecord, _RepeatCount]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write the counts that are due, then write or count this entry."""
        now = self._clock_s()
        self._write_repeat_counts(now)
        if record.levelno >= logging.WARNING:
            key = _repeat_key(record)
            if key in self._repeat_counts:
                repeat_count = self._repeat_counts[key][1]
                repeat_count.count, repeat_count.last = repeat_count.count + 1, clock.now()
                return
            self._repeat_counts[key] = (record, _RepeatCount(now + REPEAT_INTERVAL_S))
        super().emit(record)

    def close(self) -> None:
        """Write the counts that are still pending."""
        with self.lock or nullcontext():
            self._write_repeat_counts(float("inf"))
        super().close()

    def _write_repeat_counts(self, now: float) -> None:
        due = [(key, *pair) for key, pair in self._repeat_counts.items() if pair[1].ends <= now]
        for key, record, repeat_count in due:
            if repeat_count.count:
                super().emit(repeat_count.make_summary_record(record))
                self._repeat_counts[key] = (record, _RepeatCount(now + REPEAT_INTERVAL_S))
            else:
                del self._repeat_counts[key]


def _repeat_key(record: logging.LogRecord) -> Hashable:
    fault = record.exc_info[1] if record.exc_info else None
    if fault is None:
        return record.name, record.getMessage()
    reason = fault.errno if isinstance(fault, OSError) and fault.errno else str(fault)
    return record.name, record.threadName, record.msg, type(fault), reason


def start_logging(level: str = INFO, style: str = JSON) -> None:
    """Send the service's log and uvicorn's faults to standard error.

    Args:
        level: least level of the service's own messages, one of `LEVELS`.
        style: one of `FORMATS`.
    """
    handler = CountingLogHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == JSON else TextFormatter())
    for name, least in (("foldnote.service", level.upper()), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(least)
