"""Validation results: verdicts on jobs and batches, and the body of an error response."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from foldnote.models.wire import WireModel, read_object
from foldnote.text import describe_path


class Verdict(WireModel):
    """The response to POST /validate-job for one job."""

    valid: bool
    normalized: dict[str, Any] | None = None
    """The settings with defaults, without fields that do not apply; null if invalid.
    For information only: the validated settings are submitted unchanged."""
    error: str | None = None
    """The first problem; null if valid."""
    field: str | None = None
    """The field of the first problem; null if valid or if no single field is invalid."""
    missing_fields: tuple[str, ...] = ()
    """Missing required fields."""

    @property
    def reason(self) -> str:
        """The problem without the name of its field, to be shown next to it; empty if valid."""
        return _drop_field(self.error, self.field)


class RowVerdict(WireModel):
    """The validation of one row of a batch."""

    index: int
    """0-based row."""
    valid: bool
    normalized: dict[str, Any] | None = None
    error: str | None = None
    field: str | None = None

    @property
    def reason(self) -> str:
        """The problem without the name of its field, to be shown next to it; empty if valid."""
        return _drop_field(self.error, self.field)


class BatchVerdict(WireModel):
    """The response to POST /validate-job for an array of settings."""

    valid: bool
    count: int
    """Rows sent."""
    valid_count: int = Field(alias="valid_count")
    """Number of valid rows; ``valid`` is true if it equals ``count``."""
    results: tuple[RowVerdict, ...]


class ErrorBody(WireModel):
    """The body of an error response; it may have further keys."""

    error: str
    """One sentence with the problem and what is allowed."""
    code: str
    """Stable word in snake case for programs."""
    field: str | None = None
    """Dotted path of the invalid field; null if there is no single one."""
    row: int | None = None
    """0-based row of a batch; null outside batches."""

    def to_wire(self) -> dict[str, object]:
        """Return the body without the keys that do not apply."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _drop_field(error: str | None, field: str | None) -> str:
    """Remove the name of its field from the beginning of an error by foldnote's service."""
    names = (field, describe_path(field)) if field else ()
    found = next((name for name in names if error and error.startswith(f"{name}: ")), None)
    return (error or "") if found is None else (error or "").removeprefix(f"{found}: ")


def read_verdict(answer: object) -> Verdict | BatchVerdict:
    """Return the verdict in ``answer``; one with ``results`` is a batch's.

    Raises:
        ProtocolError: it is not an object.
    """
    fields = read_object(answer, "a verdict")
    if fields.get("results") is None:
        fields.pop("results", None)
        return Verdict.model_validate({"valid": False} | _without_nulls(fields))
    rows = [{"index": number} | dict(row) for number, row in enumerate(fields["results"])]
    valid_count = sum(bool(row.get("valid")) for row in rows)
    counted = {"valid": valid_count == len(rows), "count": len(rows), "valid_count": valid_count}
    return BatchVerdict.model_validate(counted | fields | {"results": rows})


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
