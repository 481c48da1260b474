"""The fields of one object: a form's own, or those of an object inside it.

A section reads its fields, asks its plan which of them apply, and hands what is wrong to the field that it
concerns. It draws nothing: forms and object fields do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foldnote.catalog.plain import read_plain
from foldnote.catalog.validation import tell_faults
from foldnote.forms.field import Field, FieldHost, Reading
from foldnote.forms.plan import Plan, State, read_plan
from foldnote.forms.registry import kind_for
from foldnote.forms.spec import MISSING
from foldnote.models.tool import Tool
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
        self.more: Field | None = (
            kind_for(plan.more).build(plan.more, host) if plan.more is not None else None
        )
        self.extra: dict[str, Any] = {}
        self._last = self.read()

    def read(self) -> SectionReading:
        """Read all fields."""
        readings = tuple(field.read() for field in self.fields)
        state = self.plan.settle({position: read.value for position, read in enumerate(readings)})
        more = self.more.read() if self.more is not None else None
        others = more.value if more is not None and isinstance(more.value, Mapping) else self.extra
        value = {**state.value, **{key: item for key, item in others.items() if key not in state.value}}
        inner = [
            problem
            for position in sorted(state.applying)
            for problem in list_own(self.fields[position].spec.name, readings[position])
        ]
        if more is not None:
            inner += [*(Problem(field="", message=message) for message in more.errors), *more.inner]
        inner += [
            Problem(field=name, message="This is required and missing.", code="missing_field")
            for kind in self.plan.kinds
            for name in kind.names - value.keys()
            if all(condition.holds(state.value) for condition in kind.when)
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
        self._write_extra(value)
        for field in self.fields:
            if field.spec.name in value:
                field.write(value[field.spec.name])
            else:
                field.clear()

    def reset(self, default: Mapping[str, Any]) -> None:
        """Back to ``default``, and where it is silent to the fields' own defaults."""
        self._write_extra(default)
        for field in self.fields:
            field.reset()
            if field.spec.name in default:
                field.start_with(default[field.spec.name])

    def express(self, read: SectionReading, problems: Sequence[Problem]) -> None:
        """Let every field say what concerns it, and hide those that do not apply."""
        names = self.names
        shared = share(problems, names)
        if self.more is not None:
            others = [problem for problem in problems if first_step(problem.field, names) not in names]
            self.more.express(self.more.read(), others)
        for position, field in enumerate(self.fields):
            is_applying = position in read.state.applying
            concerning = shared.get(field.spec.name, ()) if is_applying else ()
            field.is_required = field.spec.name in read.state.required
            field.express(read.readings[position], concerning)
            field.set_class("foldnote-hidden", not is_applying)

    @property
    def everything(self) -> tuple[Field, ...]:
        """All fields, the one for other names last."""
        return self.fields if self.more is None else (*self.fields, self.more)

    def walk(self) -> Iterator[Field]:
        """All fields and those inside them."""
        for field in self.everything:
            yield from field.walk()

    def focus_at(self, path: str) -> None:
        """Put the cursor into the field that a dotted path names."""
        name = first_step(path, self.names)
        field = self.find(name) or self.more
        if field is not None:
            field.focus_at(path[len(name) + 1 :] if field is not self.more else path)

    def keep_extra(self, given: Mapping[str, Any]) -> None:
        """Take in names that are no fields, beside those that are there."""
        more = self.more.read().value if self.more is not None else self.extra
        self._write_extra({**(more if isinstance(more, Mapping) else {}), **given})

    def _write_extra(self, value: Mapping[str, Any]) -> None:
        names = set(self.names)
        others = {key: item for key, item in value.items() if key not in names}
        self.extra = {} if self.more is not None else others
        if self.more is not None:
            self.more.write(others or MISSING)


def list_names(tool: Tool) -> tuple[str, ...]:
    """Names of all settings that a tool may have, under whatever conditions."""
    schema = tool.settings_schema
    return tuple(dict.fromkeys(part.spec.name for part in read_plan(schema, schema).parts))


def list_own(name: str, read: Reading) -> list[Problem]:
    """What a field objects to in its own contents."""
    own = [Problem(field=name, message=message) for message in read.errors]
    inner = [
        problem.model_copy(update={"field": f"{name}.{problem.field}" if problem.field else name})
        for problem in read.inner
    ]
    return own + inner


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
