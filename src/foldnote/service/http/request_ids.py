"""The identifier of a request, included in its response and all its log lines."""

from __future__ import annotations

import itertools
import re
import secrets
from contextvars import ContextVar

from starlette.types import Scope

HEADER = b"x-request-id"
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Identifier of the request that the current task or thread works for; empty outside of requests."""
_ACCEPTED = re.compile(rb"[A-Za-z0-9_.-]{8,64}")
_RUN = secrets.token_hex(4)
_numbers = itertools.count(1)


def choose_id(scope: Scope) -> str:
    """Return the identifier that a proxy sent if it is a plain word, else a new one."""
    requested = next((value for name, value in scope["headers"] if name == HEADER), b"")
    return requested.decode("ascii") if _ACCEPTED.fullmatch(requested) else f"{_RUN}-{next(_numbers)}"
