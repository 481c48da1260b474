"""What a form holds at one moment, and everything that is wrong with it.

Three voices judge: the field itself (its contents are no value), the catalog (the value does not fit), and
the service's last verdict. Where the field itself objects, the others are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foldnote import catalog
from foldnote.forms.field import Field, Reading
from foldnote.forms.spec import MISSING
from foldnote.models.tool import Tool
from foldnote.models.verdict import Problem

ABSENT_CODES = ("missing_field", "required")
"""Codes of problems that only say that a required value is still to come."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The state of all fields, read once."""

    readings: Mapping[str, Reading]
    applying: frozenset[str]
    """Names of the fields that mean something beside the other values; the rest is hidden and not sent."""
    value: dict[str, Any]
    """The settings as they would be sent."""
    normalized: dict[str, Any]
    """The same as a service would run them; two equal ones are one job."""
    problems: tuple[Problem, ...]
    """In the order of the fields."""

    def problems_of(self, name: str) -> list[Problem]:
        """The problems of one field and of what is inside it."""
        return [problem for problem in self.problems if top_field(problem) == name]


def judge(tool: Tool, fields: Mapping[str, Field], verdicts: Mapping[str, str]) -> Judgement:
    """Read all ``fields`` and judge them; ``verdicts`` are the service's sentences, by field."""
    readings = {name: field.read() for name, field in fields.items()}
    raw = {name: read.value for name, read in readings.items() if read.value is not MISSING}
    applying = frozenset(name for name in fields if catalog.applies(tool, name, raw))
    value = {name: raw[name] for name in raw if name in applying}
    checked = catalog.check(tool, value)
    own = [
        Problem(field=name, message=message)
        for name, read in readings.items()
        for message in read.errors
        if name in applying
    ]
    objecting = {problem.field for problem in own}
    judged = [problem for problem in checked.problems if top_field(problem) not in objecting]
    told = [
        Problem(field=name, message=said, code="service")
        for name, said in verdicts.items()
        if name in applying
    ]
    order = {name: number for number, name in enumerate(fields)}
    problems = sorted([*own, *judged, *told], key=lambda found: order.get(top_field(found), len(order)))
    return Judgement(readings, applying, value, checked.normalized, tuple(problems))


def top_field(problem: Problem) -> str:
    """The field of the form in which a problem stands."""
    return problem.field.partition(".")[0]


def tell(problem: Problem) -> str:
    """The problem's sentence; one inside a field says where."""
    inside = problem.field.partition(".")[2]
    return f"{inside}: {problem.message}" if inside else problem.message
