"""Fields that contain fields: objects, rows, maps and unions.

A holder is the host of the fields inside it. Its value is put together from theirs, so that each of them
keeps exactly what it was given; what is wrong inside is said inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from foldnote.forms.fields.field import Field, Reading, tell
from foldnote.forms.ui.label import Notice, write_foot
from foldnote.forms.ui.shared_styles import Looks
from foldnote.forms.wording import in_one_line
from foldnote.models.verdict import Problem


class HolderField(Field):
    """One setting that has settings inside it."""

    width = "wide"

    @property
    def looks(self) -> Looks:
        """The form's shared models."""
        return self.host.looks

    @property
    def shows_errors(self) -> bool:
        """As the form says."""
        return self.host.shows_errors

    @property
    def client(self) -> Any:
        """The form's client."""
        return self.host.client

    def field_changed(self, _field: Field) -> None:
        """A change inside is a change of this."""
        self.changed()

    def announce(self, field: Field) -> None:
        """The form reads it out."""
        self.host.announce(field)

    def parts(self, _value: Any) -> dict[Any, Field]:
        """The fields of the parts of a value, by name or position."""
        return {}

    def raw_value(self, name: str) -> Any:
        """The value of the nearest field of this name, looking outwards."""
        inside = next((field for field in self.inside() if field.spec.name == name), None)
        return inside.read().value if inside is not None else self.host.raw_value(name)

    def note_of(self, _field: Field) -> str:
        """Nothing is said of fields inside."""
        return ""

    def known_uploads(self) -> tuple[str, ...]:
        """As the form knows them."""
        return self.host.known_uploads()

    def inside(self) -> Sequence[Field]:
        """The fields directly in this one, built so far."""
        return ()

    def walk(self) -> Iterator[Field]:
        """This field and all below it."""
        yield self
        for field in self.inside():
            yield from field.walk()

    def describe(self, value: Any) -> Reading:
        """A value that the fields inside cannot hold is named."""
        return Reading(value, readout="" if value is None else f"holds {in_one_line(value)}")

    def write_head(self, notice: Notice) -> str:
        """The title with its marks."""
        return f'<span class="fn-label">{self._parts.head(notice)}</span>'

    def write_foot(self, notice: Notice) -> str:
        """The lines below the title."""
        written = write_foot(self._parts, notice)
        return f'<span class="fn-foot">{written}</span>' if written else ""

    def notice_of(self, read: Reading, problems: Sequence[Problem]) -> Notice:
        """What the field itself has to say; what is wrong inside it left out."""
        own = [problem for problem in problems if not problem.field and not self.is_pristine(problem)]
        return Notice(
            errors=tuple(tell(problem) for problem in own),
            readout="; ".join(filter(None, (read.readout, self.host.note_of(self)))),
            is_changed=self.differs(read.value),
            is_required=self.is_required,
        )

    def lock(self) -> None:
        """Everything inside is locked too."""
        for field in self.walk():
            if field is not self:
                field.lock()


def below(name: str, problem: Problem) -> Problem:
    """A problem seen from one level higher."""
    path = f"{name}.{problem.field}" if problem.field else name
    return problem.model_copy(update={"field": path})


def all_of(read: Reading) -> list[Problem]:
    """What a reading objects to, in itself and inside."""
    return [*(Problem(field="", message=message) for message in read.errors), *read.inner]


def absent(path: str = "") -> Problem:
    """A value is still to come at ``path``."""
    return Problem(field=path, message="Required.", code="missing_field")
