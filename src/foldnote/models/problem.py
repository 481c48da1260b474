"""A problem with one field of a submission.

It is a plain class without pydantic, because forms create problems at every keystroke and before any request
to a service.
"""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """A problem with one field."""

    field: str
    """Dotted path of the field in the settings, e.g. ``heavy`` or ``designedResidues.H``."""
    message: str
    """What is wrong and what is allowed, without the field's name."""
    code: str = "invalid"
    """Stable word in snake case: ``required``, ``type``, ``minimum``, ``unknown_field`` …"""

    def at(self, field: str) -> Problem:
        """Return the same problem at the path ``field``."""
        return Problem(field, self.message, self.code)

    def to_wire(self) -> dict[str, str]:
        """Return the problem as a JSON object."""
        return {"field": self.field, "message": self.message, "code": self.code}
