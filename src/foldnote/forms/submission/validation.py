"""Validate what a form holds at one moment.

Three voices judge: the field itself (its contents are no value), the catalog (the value does not fit), and
the service's last verdict. Where the field itself objects, the others are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def judge(tool: Tool, section: Section, verdicts: Mapping[str, str]) -> Judgement:
    """Read the fields and judge them; ``verdicts`` are the service's sentences, by field."""
    read = section.read()
    checked = catalog.check(tool, read.value)
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
