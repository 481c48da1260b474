"""Refusals: raised anywhere in the service, written as the interface's error body in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.text import format_size


class RefusalError(Exception):
    """A request that the service answers with an error.

    Attributes:
        status: HTTP status.
        code: stable word in snake case.
        sentence: what is wrong and what would be right.
        field: dotted path of the field at fault, None when no single one is.
        row: 0-based row of a batch, None outside batches.
        more: additional keys of the body.
        headers: additional headers of the response.
    """

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        *,
        field: str | None = None,
        row: int | None = None,
        more: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.sentence = sentence
        self.field = field
        self.row = row
        self.more = dict(more or {})
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """Return the error body defined by the interface."""
        body: dict[str, Any] = {"error": self.sentence, "code": self.code}
        if self.field is not None:
            body["field"] = self.field
        if self.row is not None:
            body["row"] = self.row
        return body | self.more


class BareRefusalError(Exception):
    """A refusal whose body the interface prescribes: the gateway's 403, or the 413 without a body.

    Attributes:
        status: HTTP status.
        body: JSON object, None for no body at all.
    """

    def __init__(self, status: int, body: Mapping[str, Any] | None = None) -> None:
        super().__init__(str(status))
        self.status = status
        self.body = body


def bad_request(
    sentence: str, *, code: str = "invalid_request", field: str | None = None, row: int | None = None
) -> RefusalError:
    """Build a 400 response."""
    return RefusalError(400, code, sentence, field=field, row=row)


def not_found(sentence: str, *, code: str = "not_found", field: str | None = None) -> RefusalError:
    """Build a 404 response."""
    return RefusalError(404, code, sentence, field=field)


def too_large(limit_bytes: int, what: str = "The request body") -> RefusalError:
    """Build a 413 response; the rest of the body is not read, so the connection is closed."""
    sentence = f"{what} is larger than the limit of {limit_bytes} bytes."
    return RefusalError(
        413, "too_large", sentence, more={"limitBytes": limit_bytes}, headers={"Connection": "close"}
    )


def retry_later(status: int, code: str, sentence: str, seconds: int) -> RefusalError:
    """Build a refusal with the time to wait, in its body and its header."""
    headers = {"Retry-After": str(seconds)}
    return RefusalError(status, code, sentence, more={"retryAfterSeconds": seconds}, headers=headers)


def job_not_found(name: str, status: int = 404) -> RefusalError:
    """Build a 404 response, or 400 where the interface demands it (stop, delete)."""
    return RefusalError(status, "job_not_found", f"The job {name[:200]!r} does not exist.", field="jobName")


def no_space(needed_bytes: int | None = None, free_bytes: int = 0) -> RefusalError:
    """Build a 507 response.

    ``needed_bytes`` is the space that must be free before anything new is taken; None after a failed write.
    """
    if needed_bytes is None:
        reason = "The disk of the service is full."
    else:
        reason = (
            f"The service takes nothing new while less than {format_size(needed_bytes)} of its disk are free;"
            f" {format_size(free_bytes)} are."
        )
    sentence = f"{reason} Nothing was changed; free some space and try again."
    return RefusalError(507, "insufficient_storage", sentence)
