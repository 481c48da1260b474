"""The fields of one object: a form's own, or those of an object inside it.

A section reads its fields, uses its plan to find which of them apply, and passes each problem to the field
that it concerns. Forms and object fields define its layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ipywidgets as widgets

from foldnote.catalog.json_values import parse_value
from foldnote.catalog.validation import find_problems
from foldnote.forms.fields.field import Field, FieldHost, Reading, is_same
from foldnote.forms.fields.registry import kind_for
from foldnote.forms.schema.plan import Plan, PlanState, read_plan
from foldnote.forms.schema.shapes import is_list_of_scalars
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.ui.compact_widgets import delay_opening
from foldnote.models.problem import Problem

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool

_MAX_ROUNDS: Final = 4
MAX_AT_ONCE: Final = 200
"""Number of fields of one object that are built at once; further optional fields are built on demand."""
_PLAIN: Final = ("string", "number", "integer", "boolean")


class SectionReading(NamedTuple):
    """The readings of a section's fields, and the object that they form."""

    readings: tuple[Reading, ...]
    """One per field, whether it applies or not."""
    state: PlanState
    value: dict[str, Any]
    """Values of the fields that apply, and of names that are not fields."""
    inner: tuple[Problem, ...]
    """Problems found by the fields that apply; paths are relative to the section."""


class WaitingField(Field):
    """The value of a setting whose field is not built yet, without a control."""

    def build(self) -> widgets.DOMWidget:
        """Return an empty widget that the form shares and never shows."""
        return self.host.styles.hidden_box

    def parse(self) -> Reading:
        """Return the value of an empty control."""
        return Reading(self.blank)

    def render(self, value: Any) -> None:
        """Do nothing: there is no control."""

    def set_label(self, label: str) -> None:
        """Do nothing: there is no label."""

    def set_class(self, name: str, is_on: bool) -> None:
        """Do nothing: the widget is shared."""


class Section:
    """The fields of an object schema.

    Attributes:
        fields: every field, including those that do not apply now.
        extra: values of names that are not fields; they are kept and sent.
    """

    def __init__(self, plan: Plan, host: FieldHost, *, closed: str = "") -> None:
        """Build the fields.

        Args:
            plan: what the schema requires.
            host: the form, or the field that holds the section.
            closed: the closed group of fields; its optional fields are built when it is opened.
        """
        host.styles.eager_fields_left -= len(plan.parts)
        self.plan = plan
        self._host = host
        self._closed = closed
        self.on_shown: Callable[[], None] = _ignore
        """Called after waiting fields were built, to show their widgets."""
        waits = len(plan.parts) > MAX_AT_ONCE
        self.fields: tuple[Field, ...] = tuple(
            WaitingField(part.spec, host)
            if (waits and position >= MAX_AT_ONCE and not part.spec.required) or self._is_closed(part.spec)
            else kind_for(part.spec).build(part.spec, host)
            for position, part in enumerate(plan.parts)
        )
        self.pager: widgets.Button | None = None
        self._label_pager()
        self.more: Field | None = (
            kind_for(plan.more).build(plan.more, host) if plan.more is not None else None
        )
        self.extra: dict[str, Any] = {}
        self._problems: tuple[Problem, ...] = ()
        self._holding: dict[int, tuple[int, ...]] = {}
        """Indices of the conditional descriptions that the fields show, by position."""
        self._last = self.read()

    def read(self) -> SectionReading:
        """Read all fields, after replacing those whose description depends on the new values."""
        readings, state = self._evaluate()
        for _ in range(_MAX_ROUNDS):
            if not self._update_descriptions(state):
                break
            readings, state = self._evaluate()
        further = self.more.read() if self.more is not None else None
        additional = (
            further.value if further is not None and isinstance(further.value, Mapping) else self.extra
        )
        value = {**state.value, **{key: item for key, item in additional.items() if key not in state.value}}
        inner = [
            problem
            for position in sorted(state.applying)
            for problem in list_own(self.fields[position].spec.name, readings[position])
        ]
        if further is not None:
            inner += [*(Problem(field="", message=message) for message in further.errors), *further.inner]
        inner += [
            Problem(field=name, message="Required.", code="missing_field")
            for kind in self.plan.kinds
            for name in kind.names - value.keys()
            if all(condition.holds(state.value) for condition in kind.when)
        ]
        for when, rules in self.plan.options:
            if all(condition.holds(state.value) for condition in when):
                inner += find_problems(rules, parse_value(value))
        self._last = SectionReading(readings, state, value, tuple(inner))
        return self._last

    def _evaluate(self) -> tuple[tuple[Reading, ...], PlanState]:
        readings = tuple(field.read() for field in self.fields)
        return readings, self.plan.evaluate(
            {position: reading.value for position, reading in enumerate(readings)}
        )

    def _update_descriptions(self, state: PlanState) -> bool:
        """Replace fields whose conditional descriptions changed; returns whether there were any."""
        fields = list(self.fields)
        for position, part in enumerate(self.plan.parts):
            holding = state.narrowings.get(position, ())
            if not part.narrowings or holding == self._holding.get(position, ()):
                continue
            self._holding[position] = holding
            before = fields[position]
            spec = part.describe(holding)
            build = WaitingField if isinstance(before, WaitingField) else kind_for(spec).build
            fields[position] = build(spec, self._host)
            fields[position].take_over(before)
        if fields == list(self.fields):
            return False
        self.fields = tuple(fields)
        self.on_shown()
        return True

    @property
    def last(self) -> SectionReading:
        """The last reading."""
        return self._last

    def find(self, name: str) -> Field | None:
        """Return the field of this name that applies, else the first of this name; None if there is none."""
        positions = [position for position, field in enumerate(self.fields) if field.spec.name == name]
        applying = [position for position in positions if position in self._last.state.applying]
        return self.fields[(applying or positions)[0]] if positions else None

    def reveal(self, name: str) -> Field | None:
        """Return the field of this name, building it if necessary; None if there is none."""
        field = self.find(name)
        if isinstance(field, WaitingField):
            self.show([self.fields.index(field)])
        return self.find(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the fields."""
        return tuple(dict.fromkeys(field.spec.name for field in self.fields))

    @property
    def by_name(self) -> dict[str, Field]:
        """The fields by name; of several with one name the one that applies."""
        return {name: self.fields[position] for name, position in self._list_positions().items()}

    def _list_positions(self) -> dict[str, int]:
        """Return the position of the applying field of each name, else of the first with this name."""
        positions: dict[str, int] = {}
        applying = self._last.state.applying
        for position, field in enumerate(self.fields):
            name = field.spec.name
            if name not in positions or (position in applying and positions[name] not in applying):
                positions[name] = position
        return positions

    @property
    def defaults(self) -> dict[str, Any]:
        """Default of each setting, without those that hold under a condition only."""
        return {
            name: self.plan.parts[position].spec.default for name, position in self._list_positions().items()
        }

    def _is_closed(self, spec: FieldSpec) -> bool:
        """Return whether a field waits for its group to be opened; until then it reads as its default."""
        if not self._closed or spec.group != self._closed or spec.required:
            return False
        return spec.type in _PLAIN or (spec.default is not MISSING and is_list_of_scalars(spec))

    @property
    def _unbuilt(self) -> tuple[int, ...]:
        return tuple(
            position for position, field in enumerate(self.fields) if isinstance(field, WaitingField)
        )

    @property
    def waiting(self) -> tuple[int, ...]:
        """Positions of the fields that are not built yet, without those of the closed group."""
        return tuple(
            position for position in self._unbuilt if not self._is_closed(self.fields[position].spec)
        )

    def open(self) -> None:
        """Open the closed group: build its fields."""
        group, self._closed = self._closed, ""
        positions = [position for position in self._unbuilt if self.fields[position].spec.group == group]
        if positions:
            self.show(positions[:MAX_AT_ONCE])

    @property
    def widgets(self) -> list[Any]:
        """The widgets of the built fields, and the button that builds more."""
        return [*(field.widget for field in self.shown), *([self.pager] if self.waiting else [])]

    @property
    def shown(self) -> list[Field]:
        """The fields that are built."""
        return [field for field in self.everything if not isinstance(field, WaitingField)]

    def show_more(self) -> None:
        """Build the next of the waiting fields."""
        self.show(self.waiting[:MAX_AT_ONCE])

    @delay_opening()
    def show(self, positions: Iterable[int]) -> None:
        """Build those of the fields at these positions that are waiting."""
        fields = list(self.fields)
        for position in positions:
            waiting = fields[position]
            if isinstance(waiting, WaitingField):
                fields[position] = kind_for(waiting.spec).build(waiting.spec, self._host)
                fields[position].take_over(waiting)
        self.fields = tuple(fields)
        self._label_pager()
        self.express(self.read(), self._problems)
        self.on_shown()

    def show_sought(self, words: Sequence[str]) -> None:
        """Build the waiting fields that a search for ``words`` finds."""
        positions = [position for position in self._unbuilt if self.fields[position].spec.has_words(words)]
        if positions:
            self.show(positions[:MAX_AT_ONCE])

    def show_given(self) -> None:
        """Build the waiting fields whose value differs from the initial one."""
        current = {position: self.fields[position].read().value for position in self._unbuilt}
        changed = [
            position
            for position, value in current.items()
            if value is not MISSING and not is_same(value, self.fields[position].initial)
        ]
        if changed:
            self.show(changed[:MAX_AT_ONCE])

    def _label_pager(self) -> None:
        remaining = len(self.waiting)
        if self.pager is None and remaining:
            self.pager = self._host.styles.button("", "foldnote-add", "foldnote-pager")
            self.pager.on_click(lambda _button: self.show_more())
        if self.pager is not None:
            self.pager.description = f"Show {min(remaining, MAX_AT_ONCE)} of {remaining} more settings"

    def write(self, value: Mapping[str, Any]) -> None:
        """Hold exactly ``value``: fields that it does not name are cleared."""
        self._write_extra(value)
        for field in self.fields:
            if field.spec.name in value:
                field.write(value[field.spec.name])
            else:
                field.clear()
        self.show_given()

    def reset(self, default: Mapping[str, Any]) -> None:
        """Return to ``default``, and to their own defaults for the fields that it does not name."""
        self._write_extra(default)
        for field in self.fields:
            field.reset()
            if field.spec.name in default:
                field.start_with(default[field.spec.name])

    def express(self, reading: SectionReading, problems: Sequence[Problem]) -> None:
        """Show readout and problems at each field, and hide fields that do not apply."""
        self._problems = tuple(problems)
        names = self.names
        shared = share(problems, names)
        if self.more is not None:
            additional = [problem for problem in problems if first_step(problem.field, names) not in names]
            self.more.express(self.more.read(), additional)
        for position, field in enumerate(self.fields):
            is_applying = position in reading.state.applying
            concerning = shared.get(field.spec.name, ()) if is_applying else ()
            field.is_required = field.spec.name in reading.state.required
            field.express(reading.readings[position], concerning)
            field.set_class("foldnote-hidden", not is_applying)

    @property
    def everything(self) -> tuple[Field, ...]:
        """All fields, the one for other names (if any) last."""
        return self.fields if self.more is None else (*self.fields, self.more)

    def walk(self) -> Iterator[Field]:
        """Yield all fields, including those inside others."""
        for field in self.everything:
            yield from field.walk()

    def focus_at(self, path: str) -> None:
        """Focus the field at a dotted path."""
        name = first_step(path, self.names)
        field = self.reveal(name) or self.more
        if field is not None:
            field.focus_at(path[len(name) + 1 :] if field is not self.more else path)

    def keep_extra(self, values: Mapping[str, Any]) -> None:
        """Add values of names that are not fields."""
        present = self.more.read().value if self.more is not None else self.extra
        self._write_extra({**(present if isinstance(present, Mapping) else {}), **values})

    def _write_extra(self, value: Mapping[str, Any]) -> None:
        names = set(self.names)
        additional = {key: item for key, item in value.items() if key not in names}
        self.extra = {} if self.more is not None else additional
        if self.more is not None:
            self.more.write(additional or MISSING)


def _ignore() -> None:
    """Do nothing; used before the section is shown."""


def list_names(tool: DescribedTool) -> tuple[str, ...]:
    """Return the names of all settings of a tool, including those that apply under conditions only."""
    schema = tool.settings_schema
    return tuple(dict.fromkeys(part.spec.name for part in read_plan(schema, schema).parts))


def list_own(name: str, reading: Reading) -> list[Problem]:
    """Return the problems in a reading of the field ``name``; their paths begin with it."""
    own = [Problem(field=name, message=message) for message in reading.errors]
    inner = [problem.at(f"{name}.{problem.field}" if problem.field else name) for problem in reading.inner]
    return own + inner


def first_step(path: str, names: Iterable[str]) -> str:
    """Return the longest of ``names`` (may contain dots) that begins a dotted path, else its first step."""
    fitting = [name for name in names if path == name or path.startswith(f"{name}.")]
    return max(fitting, key=len) if fitting else path.partition(".")[0]


def share(problems: Iterable[Problem], names: Iterable[str]) -> dict[str, tuple[Problem, ...]]:
    """Group problems by the name that their path begins with, and remove it from the path."""
    names = tuple(names)
    shared: dict[str, tuple[Problem, ...]] = {}
    for problem in problems:
        name = first_step(problem.field, names)
        inner_path = problem.field[len(name) + 1 :]
        shared[name] = (*shared.get(name, ()), problem.at(inner_path))
    return shared
