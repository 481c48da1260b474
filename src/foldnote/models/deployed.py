"""Models beyond the catalog: trained by jobs of the account, or registered by an administrator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foldnote.errors import ProtocolError
from foldnote.models.wire import Moment, WireModel, lower_first, read_hidden_json


class FinetunedModel(WireModel):
    """A model produced by a job of the account."""

    model_name: str
    """The value for a setting that takes a model."""
    type: str = ""
    """The tool that produced it; empty if a deployment reports names only."""
    job_name: str = ""
    """The job that produced it; empty if a deployment reports names only."""
    created: Moment = None
    """When it was completed (UTC); null if a deployment does not report it."""


class DeployedTool(WireModel):
    """The response to POST /deploy-model: the registered tool."""

    type: str
    """The tool's type, which submissions name."""
    available: bool = True
    """Whether it can run at the service now."""
    unavailable_reason: str | None = None
    """Why it cannot run, and what to do; null if it can."""
    message: str = ""


class RegisteredTool(DeployedTool):
    """One row of GET /deployed-models: a registered tool with its command or image."""

    display_name: str = ""
    """The displayed name; empty if a deployment reports types only."""
    command: tuple[str, ...] | None = None
    """Program and arguments; null for an image."""
    image: str | None = None
    """The container image; null for a command."""
    created: Moment = None
    """When it was registered (UTC); null if a deployment does not report it."""


def read_registered_tools(answer: object) -> tuple[RegisteredTool, ...]:
    """Return the tools in ``answer``: an object with ``models``, a bare list, records or types.

    Raises:
        ProtocolError: it is none of these.
    """
    return tuple(
        RegisteredTool.model_validate({"type": row} if isinstance(row, str) else _name_tool(row))
        for row in _read_rows(answer, "models")
    )


def read_finetuned_models(answer: object) -> tuple[FinetunedModel, ...]:
    """Return the models in ``answer``: an object with ``models``, a bare list, records or names.

    Raises:
        ProtocolError: it is none of these.
    """
    return tuple(
        FinetunedModel.model_validate({"modelName": row} if isinstance(row, str) else _name_model(row))
        for row in _read_rows(answer, "models")
    )


def read_deployed_tool(answer: object, tool_type: str) -> DeployedTool:
    """Parse the receipt in ``answer``, which is a bare sentence at some deployments."""
    hidden = read_hidden_json(answer)
    if not isinstance(hidden, Mapping):
        return DeployedTool(type=tool_type, message=str(hidden or ""))
    fields = {key: value for key, value in lower_first(hidden).items() if value is not None}
    return DeployedTool.model_validate({"type": tool_type} | fields)


def _name_tool(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {key: value for key, value in lower_first(row).items() if value is not None}
    return fields | ({"type": fields["name"]} if "name" in fields and "type" not in fields else {})


def _name_model(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {key: value for key, value in lower_first(row).items() if value not in (None, "")}
    name = next((fields[word] for word in ("modelName", "name", "jobName") if word in fields), None)
    return fields | ({"modelName": name} if name is not None else {})


def _read_rows(answer: object, key: str) -> Iterator[Any]:
    hidden = read_hidden_json(answer)
    inner = lower_first(hidden).get(key) if isinstance(hidden, Mapping) else hidden
    rows = read_hidden_json(inner)
    if not isinstance(rows, list) or not all(isinstance(row, str | Mapping) for row in rows):
        raise ProtocolError(f"The service should have answered its {key} as an array.")
    yield from rows
