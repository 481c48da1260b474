"""Tools that an administrator registers: a command or container image with a JSON Schema of its settings.

Registering a command means being able to run it. Therefore it requires an administrator's key, and is
disabled by default on a service for several people. The command follows the engines' protocol: it runs in a
folder with `job.json` and `inputs/`, and writes its files to `outputs/`. An image runs without network, with
that folder mounted as `/work`. After a tool is removed, its running jobs continue and its queued jobs end
with an error.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foldnote import catalog
from foldnote.catalog.extent import find_excess
from foldnote.catalog.json_values import parse_value
from foldnote.catalog.keywords import is_schema
from foldnote.models.tool import Tool
from foldnote.service import containers
from foldnote.service.domain.requests import ModelDeployment
from foldnote.service.domain.tool_registry import Toolbox, ToolWithEngine
from foldnote.service.engines.engine import Engine, Environment, Resources, SystemNeed
from foldnote.service.faults import RefusalError, bad_request
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.tools import Definition, ToolStore

log = logging.getLogger(__name__)
HINTS = "x-foldnote"
_HINT_KINDS: dict[str, tuple[type | tuple[type, ...], type | None]] = {
    "alphabet": (str, None),
    "appliesWhen": (dict, list),
    "chains": (dict, int),
    "check": (list, str),
    "columns": (list, str),
    "extensions": (list, str),
    "group": (str, None),
    "of": (str, None),
    "order": ((int, float), None),
    "pairWhen": (dict, list),
    "role": (str, None),
    "unit": (str, None),
}
"""Type of each hint, and of its items or values."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class DeploymentService:
    """Registers, lists and removes tools; changes by another process are seen within seconds.

    Args:
        folder: the value of `{engine_dir}` for registered commands.
        is_open: whether registering tools is enabled.
    """

    def __init__(self, tools: ToolStore, toolbox: Toolbox, folder: Path, *, is_open: bool) -> None:
        self._tools = tools
        self._toolbox = toolbox
        self._folder = folder
        self._is_open = is_open
        self._registered: dict[str, tuple[Definition, Tool]] = {}
        self._too_large: set[str] = set()
        toolbox.read_registered_with(self._read_registered)

    def require_admin(self, caller: Caller) -> None:
        """Check that the caller is an administrator.

        Raises:
            RefusalError: 403.
        """
        if not caller.is_admin:
            raise RefusalError(403, "admin_required", "Registered tools require an administrator's key.")

    def require_deployment_allowed(self, caller: Caller) -> None:
        """Check that the caller is an administrator and that registering is enabled.

        Raises:
            RefusalError: 403.
        """
        self.require_admin(caller)
        if not self._is_open:
            sentence = "Registering tools is disabled at this service. Start it with --allow-deploy-model."
            raise RefusalError(403, "deployment_disabled", sentence)

    def deploy(self, deployment: ModelDeployment) -> Tool:
        """Validate and save a tool, replacing one of the same type.

        Raises:
            RefusalError: 400 naming the invalid field.
        """
        if deployment.type in catalog.tools():
            sentence = f"{deployment.type} is already a tool of the catalog. Choose another type."
            raise bad_request(sentence, code="tool_exists", field="type")
        if (deployment.command is None) == (deployment.image is None):
            raise bad_request("Give either command or image.", code="missing_field", field="command")
        check_schema(deployment.settings_schema)
        self._tools.put(deployment.type, deployment.model_dump(by_alias=True))
        self._toolbox.refresh()
        return self._toolbox.find(deployment.type)

    def remove(self, tool_type: str) -> None:
        """Remove a tool.

        Raises:
            RefusalError: 400 if none is registered under this type.
        """
        if not self._tools.remove(tool_type):
            sentence = f"No tool of type {tool_type[:100]!r} is registered. GET /deployed-models lists them."
            raise bad_request(sentence, code="unknown_tool", field="type")
        self._toolbox.refresh()

    def registered(self) -> list[tuple[Definition, Tool]]:
        """Return the registered tools with their definitions, oldest first."""
        self._toolbox.refresh()
        pairs = list(self._registered.values())
        return [(definition, self._toolbox.describe(tool)) for definition, tool in pairs]

    def _read_registered(self) -> Mapping[str, ToolWithEngine]:
        """Read the registered tools; a tool with an unchanged definition remains the same object."""
        try:
            definitions = self._tools.all()
        except StorageFaultError:
            log.exception("Registered tools cannot be read now; those known before are kept.")
            definitions = [definition for definition, _ in self._registered.values()]
        registered_now: dict[str, tuple[Definition, Tool]] = {}
        registered: dict[str, ToolWithEngine] = {}
        for each in definitions:
            deployment = ModelDeployment.model_validate(each.content)
            old = self._registered.get(each.type)
            tool = old[1] if old is not None and old[0] == each else make_tool(deployment)
            registered_now[each.type] = (each, tool)
            if old is None or old[1] is not tool:
                self._reject_if_too_large(tool)
            if each.type not in self._too_large:
                registered[each.type] = ToolWithEngine(tool, make_engine(deployment, self._folder))
        self._registered = registered_now
        return registered

    def _reject_if_too_large(self, tool: Tool) -> None:
        """Log that a schema, registered before the limits existed, exceeds them; its tool accepts no jobs."""
        self._too_large.discard(tool.type)
        excess = find_excess(parse_value(tool.settings_schema).value)
        if excess:
            self._too_large.add(tool.type)
            log.warning("The registered tool %s accepts no jobs: its schema %s.", tool.type, excess)


def check_schema(schema: dict[str, Any]) -> None:
    """Check that a schema is JSON Schema 2020-12 for an object, without references to other documents.

    Raises:
        RefusalError: 400.
    """
    from jsonschema_rs import ValidationError, meta  # deferred: few services register tools

    excess = find_excess(parse_value(schema).value)
    if excess:
        sentence = f"schema {excess}. Simplify it."
        raise bad_request(sentence, code="schema_too_large", field="schema")
    try:
        meta.validate(schema | {"$schema": _DRAFT})
    except ValidationError as exc:
        raise bad_request(
            f"schema is not a valid JSON Schema: {exc.message[:200]}.", code="invalid_schema", field="schema"
        ) from exc
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        raise bad_request(
            "schema must be of type object with properties.", code="invalid_schema", field="schema"
        )
    if any(not reference.startswith("#") for reference in _references(schema)):
        raise bad_request(
            "schema may only contain references to itself.", code="invalid_schema", field="schema"
        )
    if not is_schema(schema):
        sentence = "schema contains an invalid pattern or $ref."
        raise bad_request(sentence, code="invalid_schema", field="schema")


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from (str(node[key]) for key in ("$ref", "$dynamicRef") if key in node)
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def make_tool(deployment: ModelDeployment) -> Tool:
    """Make the tool: no additional settings unless its schema allows them; binary fields become files."""
    schema = {"additionalProperties": False} | copy.deepcopy(deployment.settings_schema)
    schema["properties"] = {name: _as_object(each) for name, each in schema["properties"].items()}
    for order, field in enumerate(schema["properties"].values()):
        hints = field[HINTS]
        hints.setdefault("order", order)
        if field.get("format") == "binary":
            hints.setdefault("role", "file")
    return Tool(
        type=deployment.type,
        name=deployment.type,
        display_name=deployment.display_name or deployment.type,
        description=deployment.description,
        family=deployment.family,
        modalities=tuple(deployment.modalities),
        functions=tuple(deployment.functions),
        settings_schema=schema,
    )


def _as_object(field: dict[str, Any] | bool) -> dict[str, Any]:
    """Return the schema of a field as an object, without hints of the wrong type."""
    if isinstance(field, bool):
        field = {} if field else {"not": {}}
    noted = field.get(HINTS)
    hints = noted if isinstance(noted, dict) else {}
    return {**field, HINTS: {key: value for key, value in hints.items() if _is_hint(key, value)}}


def _is_hint(key: str, value: Any) -> bool:
    """Return whether the value has the hint's type; unknown hints may have any."""
    kind, inner = _HINT_KINDS.get(key, (object, None))
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, kind) and (inner is None or all(isinstance(item, inner) for item in items))


def make_engine(deployment: ModelDeployment, folder: Path) -> Engine:
    """Make the engine that runs the command or image."""
    command, environment = tuple(deployment.command or ()), Environment(kind="host")
    if deployment.image is not None:
        program = containers.find_program()
        command = containers.make_command(program or containers.PROGRAMS[0], deployment.image)
        needs = (SystemNeed(program or " or ".join(containers.PROGRAMS), "podman"),)
        environment = Environment(kind="host", system=needs, inherit=containers.VARIABLES)
    return Engine(
        folder=folder,
        name=deployment.type,
        method=deployment.image or "A command registered by an administrator",
        kind="registered",
        version=deployment.version,
        tools=(deployment.type,),
        note="Registered by an administrator of this service.",
        command=command,
        time_limit_s=deployment.time_limit_seconds,
        environment=environment,
        resources=Resources(cores=deployment.cores, memory_mb=deployment.memory_mb),
    )
