"""Tools that an administrator registers: a command line or a container image with a JSON Schema of its own.

Whoever may register a command may run it, so this needs an admin key, and on a service for several people it
is off until it is turned on. The command speaks the engines' protocol: it runs in a folder with `job.json`
and `inputs/` and leaves its files in `outputs/`. An image runs without a network, in that folder as `/work`.
A tool that is removed takes no more jobs: those that run go on, those that wait end and say why.
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
from foldnote.service.domain.tool_registry import Registered, Toolbox
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
"""What a hint is, and of what kind its items or values are."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class DeploymentService:
    """Registers, lists and removes tools; changes by another process are seen within seconds.

    Args:
        folder: where registered commands find `{engine_dir}`.
        is_open: whether tools may be registered at all.
    """

    def __init__(self, tools: ToolStore, toolbox: Toolbox, folder: Path, *, is_open: bool) -> None:
        self._tools = tools
        self._toolbox = toolbox
        self._folder = folder
        self._is_open = is_open
        self._known: dict[str, tuple[Definition, Tool]] = {}
        self._too_large: set[str] = set()
        toolbox.follow(self._read)

    def require(self, caller: Caller) -> None:
        """Require an administrator.

        Raises:
            RefusalError: 403.
        """
        if not caller.is_admin:
            raise RefusalError(403, "admin_required", "Registered tools are for an administrator's key.")

    def require_open(self, caller: Caller) -> None:
        """Require an administrator, and that registering is enabled.

        Raises:
            RefusalError: 403.
        """
        self.require(caller)
        if not self._is_open:
            sentence = "Registering tools is off at this service. Start it with --allow-deploy-model."
            raise RefusalError(403, "deployment_disabled", sentence)

    def deploy(self, wanted: ModelDeployment) -> Tool:
        """Check and save a tool; one registered under the same type is replaced.

        Raises:
            RefusalError: 400 with the field at fault.
        """
        if wanted.type in catalog.tools():
            sentence = f"{wanted.type} is a tool of the catalog. Choose another type."
            raise bad_request(sentence, code="tool_exists", field="type")
        if (wanted.command is None) == (wanted.image is None):
            raise bad_request("Give either command or image.", code="missing_field", field="command")
        check_schema(wanted.settings_schema)
        self._tools.put(wanted.type, wanted.model_dump(by_alias=True))
        self._toolbox.refresh()
        return self._toolbox.find(wanted.type)

    def remove(self, tool_type: str) -> None:
        """Remove a tool.

        Raises:
            RefusalError: 400 where none is registered under this type.
        """
        if not self._tools.remove(tool_type):
            sentence = (
                f"No tool is registered as {tool_type[:100]!r}. GET /deployed-models lists those that are."
            )
            raise bad_request(sentence, code="unknown_tool", field="type")
        self._toolbox.refresh()

    def registered(self) -> list[tuple[Definition, Tool]]:
        """Every registered tool with its definition, the oldest first."""
        self._toolbox.refresh()
        return [(definition, self._toolbox.describe(tool)) for definition, tool in list(self._known.values())]

    def _read(self) -> Mapping[str, Registered]:
        """What is registered now; a tool whose definition is the same stays the same object."""
        try:
            definitions = self._tools.all()
        except StorageFaultError:
            log.exception("Registered tools cannot be read now; those known before stay.")
            definitions = [definition for definition, _ in self._known.values()]
        known: dict[str, tuple[Definition, Tool]] = {}
        registered: dict[str, Registered] = {}
        for each in definitions:
            wanted = ModelDeployment.model_validate(each.content)
            old = self._known.get(each.type)
            tool = old[1] if old is not None and old[0] == each else make_tool(wanted)
            known[each.type] = (each, tool)
            if old is None or old[1] is not tool:
                self._note_excess(tool)
            if each.type not in self._too_large:
                registered[each.type] = Registered(tool, make_engine(wanted, self._folder))
        self._known = known
        return registered

    def _note_excess(self, tool: Tool) -> None:
        """Log that a schema registered before limits existed exceeds them; such a tool takes no jobs."""
        self._too_large.discard(tool.type)
        excess = find_excess(parse_value(tool.settings_schema).value)
        if excess:
            self._too_large.add(tool.type)
            log.warning("The registered tool %s takes no jobs: its schema %s.", tool.type, excess)


def check_schema(schema: dict[str, Any]) -> None:
    """Require a JSON Schema 2020-12 of an object without references to other documents.

    Raises:
        RefusalError: 400.
    """
    from jsonschema_rs import ValidationError, meta  # few services ever register a tool

    excess = find_excess(parse_value(schema).value)
    if excess:
        sentence = f"schema {excess}. Write it with fewer or shorter parts."
        raise bad_request(sentence, code="schema_too_large", field="schema")
    try:
        meta.validate(schema | {"$schema": _DRAFT})
    except ValidationError as exc:
        raise bad_request(
            f"schema is no JSON Schema: {exc.message[:200]}.", code="invalid_schema", field="schema"
        ) from exc
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        raise bad_request(
            "schema must be of type object with properties.", code="invalid_schema", field="schema"
        )
    if any(not reference.startswith("#") for reference in _references(schema)):
        raise bad_request("schema may refer to itself only.", code="invalid_schema", field="schema")
    if not is_schema(schema):
        sentence = "schema cannot be used: a pattern or a $ref in it is broken."
        raise bad_request(sentence, code="invalid_schema", field="schema")


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield from (str(each[key]) for key in ("$ref", "$dynamicRef") if key in each)
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def make_tool(wanted: ModelDeployment) -> Tool:
    """The tool as the catalog shows it: closed unless its schema says otherwise, binary fields as files."""
    schema = {"additionalProperties": False} | copy.deepcopy(wanted.settings_schema)
    schema["properties"] = {name: _as_object(each) for name, each in schema["properties"].items()}
    for order, field in enumerate(schema["properties"].values()):
        hints = field[HINTS]
        hints.setdefault("order", order)
        if field.get("format") == "binary":
            hints.setdefault("role", "file")
    return Tool(
        type=wanted.type,
        name=wanted.type,
        display_name=wanted.display_name or wanted.type,
        description=wanted.description,
        family=wanted.family,
        modalities=tuple(wanted.modalities),
        functions=tuple(wanted.functions),
        settings_schema=schema,
    )


def _as_object(field: dict[str, Any] | bool) -> dict[str, Any]:
    """The schema of a field as an object, without hints of the wrong type."""
    if isinstance(field, bool):
        field = {} if field else {"not": {}}
    given = field.get(HINTS)
    hints = given if isinstance(given, dict) else {}
    return {**field, HINTS: {key: value for key, value in hints.items() if _is_hint(key, value)}}


def _is_hint(key: str, value: Any) -> bool:
    """Whether the value has the hint's type; unknown hints may have any."""
    kind, inner = _HINT_KINDS.get(key, (object, None))
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, kind) and (inner is None or all(isinstance(each, inner) for each in items))


def make_engine(wanted: ModelDeployment, folder: Path) -> Engine:
    """The engine that runs the command or image."""
    command, environment = tuple(wanted.command or ()), Environment(kind="host")
    if wanted.image is not None:
        program = containers.find_program()
        command = containers.make_command(program or containers.PROGRAMS[0], wanted.image)
        needs = (SystemNeed(program or " or ".join(containers.PROGRAMS), "podman"),)
        environment = Environment(kind="host", system=needs, inherit=containers.VARIABLES)
    return Engine(
        folder=folder,
        name=wanted.type,
        method=wanted.image or "A command that an administrator registered",
        kind="registered",
        version=wanted.version,
        tools=(wanted.type,),
        note="Registered by an administrator of this service.",
        command=command,
        time_limit_s=wanted.time_limit_seconds,
        environment=environment,
        resources=Resources(cores=wanted.cores, memory_mb=wanted.memory_mb),
    )
