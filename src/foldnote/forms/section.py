"""The fields of one object: a form's own, or those of an object inside it.

A section reads its fields, asks its plan which of them apply, and hands what is wrong to the field that it
concerns. It draws nothing: forms and object fields do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foldnote.catalog.plain import read_plain
from foldnote.catalog.validation import tell_faults
from foldnote.forms.field import Field, FieldHost, Reading
from foldnote.forms.plan import Plan, State
from foldnote.forms.registry import kind_for
from foldnote.forms.spec import MISSING
from foldnote.models.verdict import Problem


@dataclass(frozen=True, slots=True)
class SectionReading:
    """What the fields of a section hold at one moment."""

    readings: tuple[Reading, ...]
    """One a field, whether it applies or not."""
    state: State
    value: dict[str, Any]
    """The fields that apply and hold something, and the names that are no fields."""
    inner: tuple[Problem, ...]
    """What the fields that apply have to say against themselves; paths begin at the section."""


class Section:
    """The fields of an object schema.

    Attributes:
        fields: every field, those of other conditions too.
        extra: names and values of the object that are no fields; they are kept and sent.
    """

    def __init__(self, plan: Plan, host: FieldHost) -> None:
        self.plan = plan
        self.fields: tuple[Field, ...] = tuple(
            kind_for(part.spec).build(part.spec, host) for part in plan.parts
        )
        self.extra: dict[str, Any] = {}
        self._last = self.read()

    def read(self) -> SectionReading:
        """Read all fields."""
        readings = tuple(field.read() for field in self.fields)
        state = self.plan.settle({position: read.value for position, read in enumerate(readings)})
        value = {**state.value, **{key: item for key, item in self.extra.items() if key not in state.value}}
        inner = [
            problem
            for position in sorted(state.applying)
            for problem in list_own(self.fields[position].spec.name, readings[position])
        ]
        for when, rules in self.plan.options:
            if all(condition.holds(state.value) for condition in when):
                inner += tell_faults(rules, read_plain(value))
        self._last = SectionReading(readings, state, value, tuple(inner))
        return self._last

    @property
    def last(self) -> SectionReading:
        """What was read last."""
        return self._last

    def find(self, name: str) -> Field | None:
        """The field of this name that applies, else any of this name."""
        found = [position for position, field in enumerate(self.fields) if field.spec.name == name]
        applying = [position for position in found if position in self._last.state.applying]
        return self.fields[(applying or found)[0]] if found else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, each once."""
        return tuple(dict.fromkeys(field.spec.name for field in self.fields))

    def write(self, value: Mapping[str, Any]) -> None:
        """Hold exactly ``value``: what it does not name is not there."""
        names = set(self.names)
        self.extra = {key: item for key, item in value.items() if key not in names}
        for field in self.fields:
            if field.spec.name in value:
                field.write(value[field.spec.name])
            else:
                field.clear()

    def reset(self, default: Mapping[str, Any]) -> None:
        """Back to ``default``, and where it is silent to the fields' own defaults."""
        names = set(self.names)
        self.extra = {key: item for key, item in default.items() if key not in names}
        for field in self.fields:
            field.reset()
            if field.spec.name in default:
                field.start_with(default[field.spec.name])

    def express(self, read: SectionReading, problems: Sequence[Problem]) -> None:
        """Let every field say what concerns it, and hide those that do not apply."""
        shared = share(problems, self.names)
        for position, field in enumerate(self.fields):
            is_applying = position in read.state.applying
            concerning = shared.get(field.spec.name, ()) if is_applying else ()
            field.is_required = field.spec.name in read.state.required
            field.express(read.readings[position], concerning)
            field.set_class("foldnote-hidden", not is_applying)


def list_own(name: str, read: Reading) -> list[Problem]:
    """What a field objects to in its own contents."""
    own = [Problem(field=name, message=message) for message in read.errors]
    return own + [problem.model_copy(update={"field": f"{name}.{problem.field}"}) for problem in read.inner]


def first_step(path: str, names: Iterable[str]) -> str:
    """Which of ``names`` a dotted path begins with; names may have dots themselves."""
    fitting = [name for name in names if path == name or path.startswith(f"{name}.")]
    return max(fitting, key=len) if fitting else path.partition(".")[0]


def share(problems: Iterable[Problem], names: Iterable[str]) -> dict[str, tuple[Problem, ...]]:
    """Problems by the name that their path begins with, each with the rest of its path."""
    names = tuple(names)
    shared: dict[str, tuple[Problem, ...]] = {}
    for problem in problems:
        name = first_step(problem.field, names)
        rest = problem.field[len(name) + 1 :]
        shared[name] = (*shared.get(name, ()), problem.model_copy(update={"field": rest}))
    return shared
