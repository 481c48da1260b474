"""The service's log: one JSON object a line on standard error, without keys, queries or file contents."""

from __future__ import annotations

import json
import logging
import sys

from foldnote.service.store import clock


class JsonFormatter(logging.Formatter):
    """Time, level, source, message, and the trace of a fault."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "time": clock.now(),
            "level": record.levelname.lower(),
            "from": record.name.rpartition(".")[2],
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def start_logging(level: int = logging.INFO) -> None:
    """Send the service's log and uvicorn's faults to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name, least in (("foldnote.service", level), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(least)
