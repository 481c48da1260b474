"""The body of every refusal."""

from __future__ import annotations

from foldnote.models.wire import WireModel


class ErrorBody(WireModel):
    """What the service says when it refuses; more keys may stand beside these."""

    error: str
    """One sentence: what is wrong and what would be right."""
    code: str
    """Stable word in snake case for programs."""
    field: str | None = None
    """Dotted path of the field at fault; null when no single one is."""
    row: int | None = None
    """0-based row of a batch; null outside batches."""

    def to_wire(self) -> dict[str, object]:
        """The body without the keys that do not apply."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
