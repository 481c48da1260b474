"""The base class of all wire records, and shared parsing functions.

Records are frozen, use snake_case in Python and camelCase on the wire, and keep unknown fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
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
        """The record as the JSON object of the interface, camelCase, unknown fields included."""
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
    """The same object with every key's first letter in lower case (``JobName`` → ``jobName``).

    A key that is already in lower case wins over its capitalised twin.
    """
    lowered = {key[:1].lower() + key[1:]: value for key, value in fields.items() if key[:1].isupper()}
    return lowered | {key: value for key, value in fields.items() if not key[:1].isupper()}


def read_hidden_json(value: object) -> object:
    """The object or array in ``value`` if that is a JSON string, else ``value`` itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
