"""A Python variable bound to a field: the field shows the variable's value and follows its changes.

Variables, and the files that a form names, are checked after each cell. Typing into the field ends the
binding. The variable itself is never changed.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol

from foldnote.client.inputs.file_values import LocalFile
from foldnote.errors import ArgumentError
from foldnote.forms.fields.field import is_same
from foldnote.forms.schema.spec import MISSING


@dataclass(frozen=True, slots=True)
class Variable:
    """The name of a notebook variable, given in place of a setting's value."""

    name: str

    def read(self) -> Any:
        """The variable's value as plain data; `MISSING` while it is not defined."""
        names = getattr(_shell(), "user_ns", {})
        return _plain(names[self.name]) if self.name in names else MISSING


def variable(name: str) -> Variable:
    """Bind a field to a notebook variable: ``fn.form(tool, heavy=fn.variable("my_sequence"))``.

    Raises:
        ArgumentError: ``name`` is not a valid variable name.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentError(f"variable() takes the name of a variable in quotation marks, not {name!r:.80}.")
    return Variable(name)


class Follower(Protocol):
    """A form that follows variables."""

    def follow(self, values: Mapping[str, Any]) -> None:
        """Take over the variables' new values, and check the files that the settings name."""


class Bindings:
    """The fields of a form that follow variables."""

    def __init__(self, form: Follower) -> None:
        self._form = weakref.ref(form)
        self._bound: dict[str, Variable] = {}
        self._seen: dict[str, Any] = {}
        self._is_listening = False

    @property
    def names(self) -> dict[str, str]:
        """The variable of each bound field."""
        return {field: bound.name for field, bound in self._bound.items()}

    def take(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Bind each `Variable` among the values; returns the values with the variables' contents."""
        taken: dict[str, Any] = {}
        for name, value in values.items():
            self._bound.pop(name, None)
            if not isinstance(value, Variable):
                taken[name] = value
                continue
            self._bound[name] = value
            self._seen[name] = value.read()
            if self._seen[name] is not MISSING:
                taken[name] = self._seen[name]
        self.listen(bool(self._bound))
        return taken

    def release(self, name: str) -> None:
        """End the binding of the field ``name``."""
        self._bound.pop(name, None)

    def follow(self, *_: object) -> None:
        """Copy the variables' current values to their fields."""
        form = self._form()
        if form is None:
            return
        news: dict[str, Any] = {}
        for name, bound in self._bound.items():
            value = bound.read()
            if value is not MISSING and not is_same(value, self._seen[name]):
                news[name] = self._seen[name] = value
        form.follow(news)

    def describe(self, name: str) -> str:
        """The note at a bound field: the variable that it follows; empty for other fields."""
        bound = self._bound.get(name)
        if bound is None:
            return ""
        is_there = bound.read() is not MISSING
        return f"follows the variable {bound.name}{'' if is_there else ', which is not defined yet'}"

    def listen(self, is_wanted: bool) -> None:
        """Start checking variables and files after each cell, if ``is_wanted``."""
        if self._is_listening or not is_wanted:
            return
        self._is_listening = True
        events = getattr(_shell(), "events", None)
        if events is None:
            return
        reference = weakref.WeakMethod(self.follow)

        def after_cell(*_: object) -> None:
            follow = reference()
            if follow is None:
                events.unregister("post_run_cell", after_cell)
            else:
                follow()

        events.register("post_run_cell", after_cell)


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _plain(value: Any) -> Any:
    """A value as plain data: arrays as lists, paths as `LocalFile`; a table is copied, to detect changes."""
    if isinstance(value, PurePath):
        return LocalFile(value)
    if hasattr(value, "equals") and hasattr(value, "columns"):
        return value.copy()
    return value.tolist() if hasattr(value, "tolist") else value
