"""The base class of all wire records, their times, and shared parsing functions.

Records are frozen, use snake_case in Python and camelCase on the wire, and keep unknown fields. Times are in
UTC, whatever zone a service writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from foldnote.errors import ProtocolError


class WireModel(BaseModel):
    """A frozen record of the interface; unknown fields stay in ``model_extra``."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        protected_namespaces=(),
        defer_build=True,  # a program that only submits needs few of them
    )

    def to_wire(self) -> dict[str, Any]:
        """Return the record as the JSON object of the interface, camelCase, unknown fields included."""
        return self.model_dump(mode="json", by_alias=True)


def read_object(answer: object, what: str) -> dict[str, Any]:
    """``answer`` as a JSON object.

    Raises:
        ProtocolError: it is something else.
    """
    if isinstance(answer, Mapping):
        return dict(answer)
    raise ProtocolError(f"The service should have answered {what} as an object, not {type(answer).__name__}.")


def lower_first(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same object with every key's first letter in lower case (``JobName`` → ``jobName``).

    A key that is already in lower case wins over its capitalised twin.
    """
    lowered = {key[:1].lower() + key[1:]: value for key, value in fields.items() if key[:1].isupper()}
    return lowered | {key: value for key, value in fields.items() if not key[:1].isupper()}


def read_hidden_json(value: object) -> object:
    """Parse ``value`` if it is a JSON string of an object or array; return any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def to_utc(value: datetime | None) -> datetime | None:
    """Convert a time to UTC; one without a zone is taken as UTC.

    None for the year 1, which some services write for future events, and for times that overflow.
    """
    if value is None or value.year <= 1:
        return None
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None


Moment = Annotated[datetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is taken to be in UTC."""

ZonedMoment = Annotated[AwareDatetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is refused."""
