"""Fields that contain fields: objects, rows, maps and unions.

A holder is the host of the fields inside it. Its value is composed of their values, and a problem with a part
is shown at that part's field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.label import Notice, write_foot
from foldnote.forms.ui.shared_styles import SharedStyles
from foldnote.forms.wording import in_one_line
from foldnote.models.problem import Problem


class ContainerField(Field):
    """One setting that contains other settings."""

    width = "wide"

    @property
    def styles(self) -> SharedStyles:
        """The form's shared layout and style models."""
        return self.host.styles

    @property
    def shows_errors(self) -> bool:
        """Whether the form shows missing values as errors."""
        return self.host.shows_errors

    @property
    def client(self) -> Any:
        """The form's client."""
        return self.host.client

    def field_changed(self, _field: Field) -> None:
        """Report a change inside as a change of this field."""
        self.changed()

    def announce(self, field: Field) -> None:
        """Let the form read out the problem."""
        self.host.announce(field)

    def parts(self, _value: Any) -> dict[Any, Field]:
        """Return the fields of the parts of ``value``, by name or position."""
        return {}

    def raw_value(self, name: str) -> Any:
        """Return the value of the field ``name`` inside this one, else of the nearest such field outside."""
        inside = next((field for field in self.inside() if field.spec.name == name), None)
        return inside.read().value if inside is not None else self.host.raw_value(name)

    def germline_of(self, chain: str) -> str:
        """Return what the form knows of the germline."""
        return self.host.germline_of(chain)

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set fields inside this one; names that are not among them are ignored."""
        for field in self.inside():
            if field.spec.name in values:
                value = values[field.spec.name]
                field.write(MISSING if value is None else value)
                field.is_touched = True
        self.changed()

    def note_of(self, _field: Field) -> str:
        """Return an empty note: the form has notes for its own fields only."""
        return ""

    def known_uploads(self) -> tuple[str, ...]:
        """Return the names of the uploads that the form knows."""
        return self.host.known_uploads()

    def inside(self) -> Sequence[Field]:
        """Return the fields directly in this one, built so far."""
        return ()

    def walk(self) -> Iterator[Field]:
        """Yield this field and all fields inside it."""
        yield self
        for field in self.inside():
            yield from field.walk()

    def describe(self, value: Any) -> Reading:
        """Return a readout of a value that the fields inside cannot show."""
        return Reading(value, readout="" if value is None else f"holds {in_one_line(value)}")

    def write_head(self, notice: Notice) -> str:
        """Return the title with its marks."""
        return f'<span class="fn-label">{self._parts.head(notice)}</span>'

    def write_foot(self, notice: Notice) -> str:
        """Return the lines below the title."""
        foot = write_foot(self._parts, notice)
        return f'<span class="fn-foot">{foot}</span>' if foot else ""

    def notice_of(self, reading: Reading, problems: Sequence[Problem]) -> Notice:
        """Return the notice of the field itself, without problems of the fields inside."""
        own = [problem for problem in problems if not problem.field and not self.is_pristine(problem)]
        return Notice(
            errors=tuple(problem.message for problem in own),
            readout="; ".join(filter(None, (reading.readout, self.host.note_of(self)))),
            is_changed=self.differs(reading.value),
            is_required=self.is_required,
        )

    def lock(self) -> None:
        """Lock the fields inside."""
        for field in self.walk():
            if field is not self:
                field.lock()


def prefix_path(name: str, problem: Problem) -> Problem:
    """Return the problem with ``name`` before its path."""
    path = f"{name}.{problem.field}" if problem.field else name
    return problem.at(path)


def list_problems(reading: Reading) -> list[Problem]:
    """Return the problems of a reading: its errors, and those of the fields inside."""
    return [*(Problem(field="", message=message) for message in reading.errors), *reading.inner]


def require(path: str = "") -> Problem:
    """Return the problem of a missing required value at ``path``."""
    return Problem(field=path, message="Required.", code="missing_field")
