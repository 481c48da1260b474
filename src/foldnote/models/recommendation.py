"""What a service recommends for a task that is described in words."""

from __future__ import annotations

from pydantic import ValidationError

from foldnote.errors import ProtocolError
from foldnote.models.wire import WireModel, lower_first, read_object


class RecommendedTool(WireModel):
    """One tool that fits a described task."""

    tool_id: str
    """Its type."""
    reason: str = ""
    """Why it fits, in a sentence."""


class Recommendation(WireModel):
    """The answer of POST /model-router."""

    tools: tuple[RecommendedTool, ...] = ()
    """Best first; empty when it abstains."""
    abstain: bool = False
    """Whether nothing is recommended."""
    summary: str = ""
    """What was understood; what is missing when it abstains."""


def read_recommendation(answer: object) -> Recommendation:
    """The recommendation in ``answer``.

    Raises:
        ProtocolError: it is not one.
    """
    fields = lower_first(read_object(answer, "a recommendation"))
    try:
        return Recommendation.model_validate(
            {key: value for key, value in fields.items() if value is not None}
        )
    except ValidationError as exc:
        where = ".".join(str(part) for part in exc.errors(include_url=False)[0]["loc"])
        raise ProtocolError(f"The service's recommendation cannot be read at {where}.") from exc
