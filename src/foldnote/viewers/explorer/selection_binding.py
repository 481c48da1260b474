"""One choice of residues in an explorer and in a field of a form: whichever is changed, the other follows.

It knows of a form only that it has fields by name, is set by name and tells of changes, since viewers do not
import forms.
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


class Fillable(Protocol):
    """What is asked of a form."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Its fields by name."""

    def set(self, values: Mapping[str, Any], /) -> None:
        """Put values into fields."""

    def reset(self, *names: str) -> None:
        """Put the defaults back."""

    def observe(self, function: Callable[[], object]) -> None:
        """Call ``function()`` after every change."""


class Selecting(Protocol):
    """What is asked of an explorer."""

    selection: list[Residue]

    def observe(self, handler: Callable[[Any], None], names: str) -> None:
        """Call ``handler(change)`` after every change of a trait."""


class SelectionBinding:
    """The link of one explorer with one field."""

    def __init__(self, explorer: Selecting, chains: Chains, form: Fillable, name: str) -> None:
        """Begin with what the field holds, or else with what is chosen.

        Raises:
            ArgumentError: the form has no such field, or the field takes no residues.
        """
        field = form.fields.get(name)
        if field is None:
            raise ArgumentError(f"The form has no field {name!r}. It has: {', '.join(form.fields)}.")
        if field.spec.notes.get("role") != "residues":
            fitting = [key for key, one in form.fields.items() if one.spec.notes.get("role") == "residues"]
            advice = f"Those that do: {', '.join(fitting)}." if fitting else "No field of this form does."
            raise ArgumentError(f"The field {name!r} takes no residues. {advice}")
        self._explorer, self._chains, self._form, self._name = explorer, chains, form, name
        self._is_map = field.spec.type == "object"
        self._chain_name = field.spec.notes.get("chain")
        self._is_busy = False
        if self._named():
            self._follow_form()
        else:
            self._follow_explorer()
        form.observe(self._follow_form)
        explorer.observe(lambda _: self._follow_explorer(), "selection")

    def _named(self) -> list[Residue] | None:
        """The residues that the field names now; None while something is wrong with it."""
        field = self._form.fields.get(self._name)
        read = field.read() if field is not None else None
        return None if read is None or read.errors else self._read(read.value)

    def _follow_form(self) -> None:
        """Choose what the field names."""
        found = self._named()
        if self._is_busy or found is None or found == list(self._explorer.selection):
            return
        self._is_busy = True
        try:
            self._explorer.selection = found
        finally:
            self._is_busy = False

    def _follow_explorer(self) -> None:
        """Write what is chosen into the field; what it does not take is not chosen any more."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            for name, value in self._write(list(self._explorer.selection)).items():
                if value:
                    self._form.set({name: value})
                else:
                    self._form.reset(name)
        finally:
            self._is_busy = False
        self._follow_form()

    def _read(self, value: Any) -> list[Residue]:
        """The residues that a field's value names, in the structure's order; others are left out."""
        texts: Mapping[str, Any]
        if isinstance(value, Mapping):
            texts = value
        elif isinstance(value, str):
            texts = {self._held_chain(): value}
        else:
            return []
        named = {
            chain: _expand(text, self._chains[chain])
            for chain, text in texts.items()
            if chain in self._chains and isinstance(text, str)
        }
        return [(chain, n) for chain, all_ in self._chains.items() for n in all_ if n in named.get(chain, ())]

    def _write(self, chosen: Sequence[Residue]) -> dict[str, Any]:
        """Values of the field, and of the one that says which chain is meant."""
        wanted = set(chosen)
        texts = {c: " ".join(n for n in all_ if (c, n) in wanted) for c, all_ in self._chains.items()}
        named = {chain: text for chain, text in texts.items() if text}
        if self._is_map:
            return {self._name: named}
        held = self._held_chain()
        chain = held if held in named or not named else next(iter(named))
        found = {self._name: named.get(chain)}
        return found | ({self._chain_name: chain} if named and self._has_chain_field() else {})

    def _has_chain_field(self) -> bool:
        return isinstance(self._chain_name, str) and self._chain_name in self._form.fields

    def _held_chain(self) -> str:
        """The chain that a field without chains means: the form's, or the structure's first."""
        if self._has_chain_field():
            held = self._form.fields[str(self._chain_name)].read().value
            return held if isinstance(held, str) else ""
        return next(iter(self._chains), "")


def _expand(text: str, numbers: Sequence[str]) -> set[str]:
    """The residues of one chain that are named one by one or as ranges."""
    places = {number: place for place, number in enumerate(numbers)}
    found: set[str] = set()
    for word in text.replace(",", " ").split():
        span = _SPAN.fullmatch(word)
        if span and span[1] in places and span[2] in places:
            found.update(numbers[places[span[1]] : places[span[2]] + 1])
        elif word in places:
            found.add(word)
    return found
