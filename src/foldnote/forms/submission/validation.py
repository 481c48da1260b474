"""Validate what a form holds at one moment.

Problems come from the field itself (its contents are not a value), from the catalog (the value does not fit
the schema), and from the service's last verdict. A field's own objection replaces the catalog's.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from foldnote import catalog
from foldnote.forms.fields.section import Section, SectionReading, first_step
from foldnote.models.tool import Tool
from foldnote.models.verdict import Problem


@dataclass(frozen=True, slots=True)
class Judgement:
    """The state of all fields, read once."""

    read: SectionReading
    value: dict[str, Any]
    """The settings as they would be sent."""
    normalized: dict[str, Any]
    """The same as a service would run them; two equal ones are one job."""
    problems: tuple[Problem, ...]
    """In the order of the fields."""


class Validator:
    """Validates the settings of one form, and only when they differ from those validated last."""

    def __init__(self, tool: Tool, section: Section) -> None:
        self._tool = tool
        self._section = section
        self._checked: tuple[Hashable, catalog.Check] | None = None

    def judge(self, verdicts: Mapping[str, str]) -> Judgement:
        """Read the fields and judge them; ``verdicts`` are the service's sentences, by field."""
        read = self._section.read()
        return _judge(self._section, read, self._check(read.value), verdicts)

    def _check(self, settings: Mapping[str, Any]) -> catalog.Check:
        key = _freeze(settings)
        if self._checked is None or self._checked[0] != key:
            self._checked = key, catalog.check(self._tool, settings)
        return self._checked[1]


def _freeze(value: Any) -> Hashable:
    """A key that equals another one only where both values have the same types, order and contents."""
    if isinstance(value, Mapping):
        return dict, tuple((name, _freeze(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_freeze, value))
    # An array or a table may change in place, so it never equals what it was.
    return (type(value), value) if isinstance(value, str | int | float | None) else object()


def _judge(
    section: Section, read: SectionReading, checked: catalog.Check, verdicts: Mapping[str, str]
) -> Judgement:
    names = section.names
    applying = {section.fields[position].spec.name for position in read.state.applying}
    hidden = set(names) - applying
    own = read.inner
    judged = [
        problem
        for problem in checked.problems
        if first_step(problem.field, names) not in hidden and not _is_answered(problem, own)
    ]
    told = [
        Problem(field=path, message=said, code="service")
        for path, said in verdicts.items()
        if first_step(path, names) in applying
    ]
    order = {name: number for number, name in enumerate(names)}
    problems = sorted(
        dict.fromkeys([*own, *judged, *told]),
        key=lambda found: order.get(first_step(found.field, names), len(order)),
    )
    return Judgement(read, read.value, checked.normalized, tuple(problems))


def _is_answered(problem: Problem, own: tuple[Problem, ...]) -> bool:
    """Whether a field has said it already, in its own words or nearer to the place."""
    if any(_is_at_or_below(problem.field, said.field) for said in own):
        return True
    return problem.code == "invalid" and any(_is_at_or_below(said.field, problem.field) for said in own)


def _is_at_or_below(path: str, other: str) -> bool:
    return not other or path == other or path.startswith(f"{other}.")
