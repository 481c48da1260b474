"""Keep the selection of an explorer and a residue field of a form in sync.

The form is described by a protocol, because viewers do not import forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from foldnote.errors import ArgumentError

Residue = tuple[str, str]
Chains = Mapping[str, Sequence[str]]
"""Residue numbers of each chain, in the structure's order."""

_SPAN = re.compile(r"(-?\d+[A-Za-z]?)-(-?\d+[A-Za-z]?)")


class SupportsFields(Protocol):
    """The part of a form that the binding uses."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Its fields by name."""

    def set(self, values: Mapping[str, Any], /) -> None:
        """Set the values of fields."""

    def reset(self, *names: str) -> None:
        """Reset fields to their defaults."""

    def observe(self, function: Callable[[], object]) -> None:
        """Call ``function()`` after every change."""


class SupportsSelection(Protocol):
    """The part of an explorer that the binding uses."""

    selection: list[Residue]

    def observe(self, handler: Callable[[Any], None], names: str) -> None:
        """Call ``handler(change)`` after every change of a trait."""


class SelectionBinding:
    """Binds the selection of one explorer to one field."""

    def __init__(self, explorer: SupportsSelection, chains: Chains, form: SupportsFields, name: str) -> None:
        """Start with the field's residues, or with the selection if the field is empty.

        Raises:
            ArgumentError: the form has no such field, or it is not a field for residues.
        """
        field = form.fields.get(name)
        if field is None:
            raise ArgumentError(f"The form has no field {name!r}. It has: {', '.join(form.fields)}.")
        if field.spec.notes.get("role") != "residues":
            fitting = [
                key
                for key, candidate in form.fields.items()
                if candidate.spec.notes.get("role") == "residues"
            ]
            advice = f"Residue fields: {', '.join(fitting)}." if fitting else "This form has none."
            raise ArgumentError(f"The field {name!r} is not a residue field. {advice}")
        self._explorer, self._chains, self._form, self._name = explorer, chains, form, name
        self._is_map = field.spec.type == "object"
        self._chain_name = field.spec.notes.get("chain")
        self._is_busy = False
        if self._read_field():
            self._follow_form()
        else:
            self._follow_explorer()
        form.observe(self._follow_form)
        explorer.observe(lambda _: self._follow_explorer(), "selection")

    def _read_field(self) -> list[Residue] | None:
        """Return the residues in the field; None while its value is invalid."""
        field = self._form.fields.get(self._name)
        reading = field.read() if field is not None else None
        return None if reading is None or reading.errors else self._parse_value(reading.value)

    def _follow_form(self) -> None:
        """Select the field's residues."""
        residues = self._read_field()
        if self._is_busy or residues is None or residues == list(self._explorer.selection):
            return
        self._is_busy = True
        try:
            self._explorer.selection = residues
        finally:
            self._is_busy = False

    def _follow_explorer(self) -> None:
        """Write the selection into the field, and deselect residues that it does not accept."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            for name, value in self._format_values(list(self._explorer.selection)).items():
                if value:
                    self._form.set({name: value})
                else:
                    self._form.reset(name)
        finally:
            self._is_busy = False
        self._follow_form()

    def _parse_value(self, value: Any) -> list[Residue]:
        """Return the residues in a field's value, in the structure's order; unknown ones are left out."""
        texts: Mapping[str, Any]
        if isinstance(value, Mapping):
            texts = value
        elif isinstance(value, str):
            texts = {self._find_chain(): value}
        else:
            return []
        numbers_by_chain = {
            chain: _expand(text, self._chains[chain])
            for chain, text in texts.items()
            if chain in self._chains and isinstance(text, str)
        }
        return [
            (chain, n)
            for chain, numbers in self._chains.items()
            for n in numbers
            if n in numbers_by_chain.get(chain, ())
        ]

    def _format_values(self, residues: Sequence[Residue]) -> dict[str, Any]:
        """Return the values of the field and of its chain field."""
        selected = set(residues)
        texts = {
            name: " ".join(n for n in numbers if (name, n) in selected)
            for name, numbers in self._chains.items()
        }
        texts_by_chain = {chain: text for chain, text in texts.items() if text}
        if self._is_map:
            return {self._name: texts_by_chain}
        form_chain = self._find_chain()
        chain = (
            form_chain if form_chain in texts_by_chain or not texts_by_chain else next(iter(texts_by_chain))
        )
        values = {self._name: texts_by_chain.get(chain)}
        return values | ({self._chain_name: chain} if texts_by_chain and self._has_chain_field() else {})

    def _has_chain_field(self) -> bool:
        return isinstance(self._chain_name, str) and self._chain_name in self._form.fields

    def _find_chain(self) -> str:
        """Return the chain of a field without chain names: that in the form, or the structure's first."""
        if self._has_chain_field():
            chain = self._form.fields[str(self._chain_name)].read().value
            return chain if isinstance(chain, str) else ""
        return next(iter(self._chains), "")


def _expand(text: str, numbers: Sequence[str]) -> set[str]:
    """Return the residues of one chain in a text of numbers and ranges."""
    positions = {number: position for position, number in enumerate(numbers)}
    residues: set[str] = set()
    for entry in text.replace(",", " ").split():
        span = _SPAN.fullmatch(entry)
        if span and span[1] in positions and span[2] in positions:
            residues.update(numbers[positions[span[1]] : positions[span[2]] + 1])
        elif entry in positions:
            residues.add(entry)
    return residues
