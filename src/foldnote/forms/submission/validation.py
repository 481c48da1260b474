"""Validate a form's current settings.

Problems come from the fields (their contents cannot be read), from the catalog (the value violates the
schema), and from the service's last verdict. A field's problem replaces the catalog's on the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from foldnote import catalog
from foldnote.catalog.described_tool import PlainTool
from foldnote.forms.fields.section import Section, SectionReading, first_step
from foldnote.models.problem import Problem

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool


class FormValidation(NamedTuple):
    """The result of reading and validating all fields."""

    reading: SectionReading
    value: dict[str, Any]
    """The settings as they would be sent."""
    normalized: dict[str, Any]
    """The settings as a service would run them; equal ones are the same job."""
    problems: tuple[Problem, ...]
    """In the order of the fields."""


class Validator:
    """Validates the settings of one form, caching the catalog's last result."""

    def __init__(self, tool: DescribedTool, section: Section) -> None:
        self._tool = tool
        self._trusts_defaults = isinstance(tool, PlainTool) and tool.has_tested_defaults
        self._section = section
        self._checked: tuple[Hashable, catalog.Check] | None = None

    def validate(
        self, verdicts: Mapping[str, str], explain: Callable[[Problem, Any], Problem]
    ) -> FormValidation:
        """Read and validate the fields.

        Args:
            verdicts: the service's messages, by field.
            explain: rewords a problem for the source of the field's value.
        """
        reading = self._section.read()
        validation = _validate(self._section, reading, self._check(reading.value), verdicts)
        problems = [explain(problem, validation.value.get(problem.field)) for problem in validation.problems]
        return validation._replace(problems=tuple(problems))

    def _check(self, settings: Mapping[str, Any]) -> catalog.Check:
        key = _freeze(settings)
        if self._checked is None or self._checked[0] != key:
            self._checked = key, catalog.check(self._tool, settings, trusts_defaults=self._trusts_defaults)
        return self._checked[1]


def _freeze(value: Any) -> Hashable:
    """Return a key that equals another only if the values have the same types, order and contents."""
    if isinstance(value, Mapping):
        return dict, tuple((name, _freeze(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_freeze, value))
    # An array or table may change in place, so its key never equals an earlier one.
    return (type(value), value) if isinstance(value, str | int | float | None) else object()


def _validate(
    section: Section, reading: SectionReading, checked: catalog.Check, verdicts: Mapping[str, str]
) -> FormValidation:
    names = section.names
    applying = {section.fields[position].spec.name for position in reading.state.applying}
    hidden = set(names) - applying
    own = reading.inner
    schema_problems = [
        problem
        for problem in checked.problems
        if first_step(problem.field, names) not in hidden and not _is_covered(problem, own)
    ]
    service_problems = [
        Problem(field=path, message=message, code="service")
        for path, message in verdicts.items()
        if first_step(path, names) in applying
    ]
    order = {name: number for number, name in enumerate(names)}
    problems = sorted(
        dict.fromkeys([*own, *schema_problems, *service_problems]),
        key=lambda entry: order.get(first_step(entry.field, names), len(order)),
    )
    return FormValidation(reading, reading.value, checked.normalized, tuple(problems))


def _is_covered(problem: Problem, own: tuple[Problem, ...]) -> bool:
    """Return whether a field reports a problem at the same path, or a more precise one inside it."""
    if any(_is_at_or_below(problem.field, reported.field) for reported in own):
        return True
    return problem.code == "invalid" and any(
        _is_at_or_below(reported.field, problem.field) for reported in own
    )


def _is_at_or_below(path: str, parent: str) -> bool:
    return not parent or path == parent or path.startswith(f"{parent}.")
