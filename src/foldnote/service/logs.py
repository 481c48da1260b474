"""The service's log on standard error: one line per entry, without keys, queries or file contents.

Text of requests, engines and other programs gets into messages. So an entry stays one line whatever it
contains, and what looks like a secret is masked wherever it stands.
"""

from __future__ import annotations

import json
import logging
import re
import sys

from foldnote.service.domain.access.keys import KEY_PREFIX
from foldnote.service.http.request_ids import REQUEST_ID
from foldnote.service.store import clock
from foldnote.text import visible

JSON, TEXT = "json", "text"
FORMATS = (JSON, TEXT)
INFO = "info"
LEVELS = ("debug", INFO, "warning", "error")
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
    """``text`` without keys, values of headers that carry keys, and queries of addresses."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


class JsonFormatter(logging.Formatter):
    """An object of ASCII: time, level, logger, message, and request, job and trace where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return json.dumps({name: value for name, value in _read(self, record).items() if value})


class TextFormatter(logging.Formatter):
    """The same to be read by people; control characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
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
        "request_id": REQUEST_ID.get(),
        "job_id": str(getattr(record, "job", "")),
        "trace": mask(formatter.formatException(record.exc_info)) if record.exc_info else "",
    }


def start_logging(level: str = INFO, style: str = JSON) -> None:
    """Send the service's log and uvicorn's faults to standard error.

    Args:
        level: least level of the service's own messages, one of `LEVELS`.
        style: one of `FORMATS`.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == JSON else TextFormatter())
    for name, least in (("foldnote.service", level.upper()), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(least)
