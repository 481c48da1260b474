"""The fields for extensions beside a tool's settings: the source of the alignment, and the user's consent.

A form has them if its service accepts such extensions for the tool. They start empty and are emptied when a
job is submitted, so that consent applies to one job only: it is never a default, and never taken from an
earlier job of the cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, FieldHost
from foldnote.forms.fields.section import Section, share
from foldnote.forms.schema.plan import read_plan
from foldnote.forms.schema.spec import MISSING
from foldnote.models.extensions import (
    ALIGNMENT,
    ALIGNMENT_PATH,
    EXTERNAL,
    MSA_SERVER,
    WIRE_NAME,
    name_consent,
)
from foldnote.models.problem import Problem

if TYPE_CHECKING:
    from foldnote.models.tool import ToolEngine

SOURCE = "alignmentSource"
OWN, NO_ALIGNMENT, DATABASES, SERVER = "own", "none", "databases", "server"
USES_MSA = "useMSA"
"""The setting that disables the alignment of tools that align sequences."""
_SOURCE_LABELS = {
    OWN: "My own file",
    NO_ALIGNMENT: "None (single sequence)",
    DATABASES: "The service's own databases — nothing is sent",
    SERVER: "Public ColabFold server — your sequence leaves this machine",
}
_ABOUT = (
    "Where the alignment of related sequences comes from. Choosing the public server is your consent for this"
    " job only; choose it again for the next one. Leave this unset if the service has its own databases or"
    " server."
)


class ExtensionHost(FieldHost, Protocol):
    """The form that the fields belong to."""

    @property
    def section(self) -> Section:
        """The fields of the settings."""

    def set(self, values: Mapping[str, Any], /) -> None:
        """Set fields."""

    def extensions_changed(self) -> None:
        """Called when a person changed the extensions."""


class ExtensionFields:
    """The fields of one form; none if the service accepts no extension that needs a field."""

    def __init__(
        self,
        form: ExtensionHost,
        accepted: Sequence[str],
        engine: ToolEngine | None = None,
        *,
        is_waiting: bool = False,
    ) -> None:
        """Create the fields.

        Args:
            form: the form that they belong to.
            accepted: the extensions that the tool accepts beside its settings.
            engine: the engine of the tool; its databases on the service's machine are searched for
                alignments.
            is_waiting: whether the service has not yet reported the extensions; a tool that aligns sequences
                then reserves the space of the fields, so that the buttons do not move when it answers.
        """
        self._has_room = is_waiting and USES_MSA in form.section.names
        self._form = form
        self._verdicts: dict[str, str] = {}
        schema = _write_schema(accepted, engine.databases if engine is not None else ())
        self.section = Section(read_plan(schema, schema), self) if schema["properties"] else None

    @property
    def widgets(self) -> list[widgets.Widget]:
        """A heading and the fields, or reserved space; empty for none."""
        styles = self._form.styles
        heading = '<div class="fn-group" role="heading" aria-level="3">Beside the settings</div>'
        if self.section is None:
            asked = f'{heading}<div class="fn-room">Asking the service where alignments may come from…</div>'
            return [styles.html(asked, "foldnote-group-title")] if self._has_room else []
        fields = styles.box(self.section.widgets, "foldnote-group", "foldnote-beside")
        return [styles.html(heading, "foldnote-group-title"), fields]

    @property
    def value(self) -> dict[str, Any]:
        """Extensions beside the settings; empty for none."""
        if self.section is None:
            return {}
        values = self.section.read().value
        purposes = [name.partition(":")[2] for name, is_agreed in values.items() if is_agreed is True]
        purposes += [MSA_SERVER] if values.get(SOURCE) == SERVER else []
        own = {ALIGNMENT: values[ALIGNMENT]} if values.get(SOURCE) == OWN and values.get(ALIGNMENT) else {}
        return ({EXTERNAL: purposes} if purposes else {}) | own

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is missing or invalid; paths begin with ``foldnote``."""
        if self.section is None:
            return ()
        reading = self.section.read()
        problems = list(reading.inner)
        if reading.value.get(SOURCE) == OWN and not reading.value.get(ALIGNMENT):
            problems.append(Problem(field=ALIGNMENT, message="Required.", code="missing_field"))
        problems += [
            Problem(field=name, message=text, code="service") for name, text in self._verdicts.items()
        ]
        return tuple(problem.at(f"{WIRE_NAME}.{problem.field}") for problem in problems)

    def express(self) -> None:
        """Show each problem at its field, and hide fields that do not apply."""
        if self.section is not None:
            own = share(self.problems, (WIRE_NAME,)).get(WIRE_NAME, ())
            self.section.express(self.section.read(), own)

    def clear(self) -> None:
        """Empty the fields: consent applied to the job that was just submitted."""
        if self.section is not None:
            self.section.write({})
            self._verdicts = {}
            self.express()

    def show_verdict(self, path: str, message: str) -> bool:
        """Show the service's error on a part; False if it has no field."""
        name = ALIGNMENT if path == ALIGNMENT_PATH else SOURCE
        if self.section is None or self.section.find(name) is None:
            return False
        self._verdicts = {name: message}
        self.express()
        return True

    def go_to(self, path: str) -> None:
        """Focus the field of a path that begins with ``foldnote``."""
        if self.section is not None:
            name = path.removeprefix(f"{WIRE_NAME}.")
            self.section.focus_at(name if name in self.section.names else SOURCE)

    @property
    def styles(self) -> Any:
        """The form's shared layout and style models."""
        return self._form.styles

    @property
    def shows_errors(self) -> bool:
        """Whether the form shows missing values as errors."""
        return self._form.shows_errors

    @property
    def client(self) -> Any:
        """The form's client."""
        return self._form.client

    def field_changed(self, field: Field) -> None:
        """Update the tool's setting from the choice: no alignment is a setting, the others are extensions."""
        self._verdicts = {}
        if field.spec.name == SOURCE and USES_MSA in self._form.section.names:
            source = field.read().value
            if source is not MISSING:
                self._form.set({USES_MSA: source != NO_ALIGNMENT})
        self._form.extensions_changed()

    def announce(self, field: Field) -> None:
        """Let the form read out the problem."""
        self._form.announce(field)

    def note_of(self, _field: Field) -> str:
        """Return an empty note: no variable is bound to these fields."""
        return ""

    def raw_value(self, name: str) -> Any:
        """Return the value of one of these fields, else of a setting."""
        section = getattr(self, "section", None)  # fields read each other while they are being built
        field = section.find(name) if section is not None else None
        return field.read().value if field is not None else self._form.raw_value(name)

    def germline_of(self, _chain: str) -> str:
        """Return nothing: none of these fields has a sequence."""
        return ""

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set settings of the tool."""
        self._form.set(values)

    def known_uploads(self) -> tuple[str, ...]:
        """Return the names of the uploads that the form knows."""
        return self._form.known_uploads()


def _write_schema(accepted: Sequence[str], databases: Sequence[str]) -> dict[str, Any]:
    """Write the JSON Schema of the fields for a tool's extensions and the service's databases."""
    server, parts = name_consent(MSA_SERVER), set(accepted)
    properties: dict[str, Any] = {}
    sources = [OWN] if ALIGNMENT in parts else []
    sources += [NO_ALIGNMENT] if parts & {ALIGNMENT, server} else []
    sources += [DATABASES] if sources and databases else []
    sources += [SERVER] if server in parts else []
    if sources:
        description = f"{_ABOUT} Those of this service are {', '.join(databases)}." if databases else _ABOUT
        properties[SOURCE] = {
            "title": "Alignment",
            "description": description,
            "type": "string",
            "oneOf": [{"const": source, "title": _SOURCE_LABELS[source]} for source in sources],
            "x-foldnote": {"group": "common", "order": 1},
        }
    if ALIGNMENT in parts:
        properties[ALIGNMENT] = {
            "title": "Alignment file",
            "description": "An alignment in A3M format whose first sequence is that of the job.",
            "type": "string",
            "format": "binary",
            "x-foldnote": {
                "group": "common",
                "order": 2,
                "role": "file",
                "extensions": ["a3m"],
                "appliesWhen": {SOURCE: [OWN]},
            },
        }
    for name in accepted:
        head, _, purpose = name.partition(":")
        if head == EXTERNAL and name != server:
            properties[name] = {
                "title": f"I agree: {purpose}",
                "description": f"Inputs of this job leave the machine for the purpose {purpose}.",
                "type": "boolean",
                "x-foldnote": {"group": "common", "order": 3},
            }
    return {"type": "object", "properties": properties, "additionalProperties": False}
