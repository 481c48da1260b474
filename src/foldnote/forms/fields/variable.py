"""A Python variable bound to a field: the field shows the variable's value and follows its changes.

Variables, and the files that a form names, are checked after each cell. Typing into the field ends the
binding. The variable itself is never changed, and reading a path such as ``df.VH`` or ``settings["heavy"]``
runs no user code: only stored values are read, never a property, method or ``__getitem__`` of a class.
"""

from __future__ import annotations

import ast
import inspect
import weakref
from collections.abc import Mapping
from pathlib import PurePath
from types import MemberDescriptorType
from typing import Any, Final, NamedTuple, Protocol

from foldnote.client.inputs.file_values import LocalFile
from foldnote.client.inputs.plain_values import find_kind
from foldnote.errors import ArgumentError
from foldnote.forms.fields.field import is_same
from foldnote.forms.schema.spec import MISSING
from foldnote.models.problem import Problem
from foldnote.text import count

_LABELLED: Final = {("pandas", "DataFrame"), ("pandas", "Series")}
"""Package and class of objects whose columns or rows are also attributes."""
_INDEXED: Final = {*_LABELLED, ("polars", "DataFrame"), ("polars", "Series"), ("numpy", "ndarray")}
"""Package and class of objects that are indexed by their own code; subclasses are not."""
_TUPLE_FIELD: Final[type[Any]] = type(inspect.Attribute.name)
"""The class of the fields of named tuples."""


class PathStep(NamedTuple):
    """One step of a path: an attribute's name, or the key or position of an item."""

    key: str | int
    is_item: bool


class Variable(NamedTuple):
    """A notebook variable, or a path from one, given instead of a setting's value."""

    text: str
    """The variable or path as code."""
    name: str
    """The variable's name."""
    steps: tuple[PathStep, ...] = ()

    @property
    def is_defined(self) -> bool:
        """Whether the notebook has the variable."""
        return self.name in getattr(_shell(), "user_ns", {})

    def read(self) -> Any:
        """Return the value as plain data; `MISSING` while the variable or the path does not exist."""
        value = self._find()
        return value if value is MISSING else _plain(value)

    def describe_many(self) -> str:
        """Describe an object that is not a single value, with a path to one of its values; else empty."""
        value = self._find()
        if not (isinstance(value, list | tuple) or getattr(value, "shape", None)):
            return ""
        is_series = find_kind(value) == ("pandas", "Series")
        keys = list(value.index[:1]) if is_series else list(range(len(value)))[:1]
        keys = [key.item() if hasattr(key, "item") else key for key in keys]
        paths = [f"{self.text}[{key!r}]" for key in keys if type(key) in (str, int)]
        example = "".join(
            f", such as {path}" for path in paths if isinstance(variable(path).read(), str | int | float)
        )
        return f"{self.text} holds {count(len(value), 'value')}, and this takes one{example}."

    def _find(self) -> Any:
        value = getattr(_shell(), "user_ns", {}).get(self.name, MISSING)
        for step in self.steps:
            value = _find_item(value, step.key) if step.is_item else _find_attribute(value, str(step.key))
        return value


def variable(name: str) -> Variable:
    """Bind a field to a notebook variable: ``fn.form(tool, heavy=fn.variable("my_sequence"))``.

    Args:
        name: the variable's name, or a path from it by attributes and items: ``"df.VH"``, ``'df["VH"][3]'``,
            ``"settings.heavy"``. No code is called.

    Raises:
        ArgumentError: ``name`` is neither.
    """
    root, steps = _read_path(name) if isinstance(name, str) else (None, ())
    if root is None:
        raise ArgumentError(
            'variable() takes the name of a variable in quotation marks, or a path such as "df.VH" or'
            f" 'df[\"VH\"][3]', not {name!r:.80}."
        )
    return Variable(name.strip(), root, steps)


def _read_path(text: str) -> tuple[str | None, tuple[PathStep, ...]]:
    """Return the variable and the steps of a path; None for any other expression."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, ()
    steps: list[PathStep] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            steps.append(PathStep(node.attr, False))
        elif isinstance(node, ast.Subscript) and (key := _read_key(node.slice)) is not None:
            steps.append(PathStep(key, True))
        else:
            return None, ()
        node = node.value
    return node.id, tuple(reversed(steps))


def _read_key(node: ast.expr) -> str | int | None:
    """Return a key that is text or an integer; None for others."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is int:
        return sign * value
    return value if isinstance(value, str) and sign == 1 else None


def _find_attribute(value: Any, name: str) -> Any:
    """Return a stored attribute, or a table's value of this label; `MISSING` if it is computed or absent."""
    if find_kind(value) in _LABELLED:
        return MISSING if hasattr(type(value), name) else _find_item(value, name)
    attribute = inspect.getattr_static(value, name, MISSING)
    if isinstance(attribute, MemberDescriptorType | _TUPLE_FIELD):  # a slot, or a field of a named tuple
        try:
            return attribute.__get__(value, type(value))
        except (AttributeError, TypeError):
            return MISSING
    return MISSING if hasattr(type(attribute), "__get__") else attribute


def _find_item(value: Any, key: str | int) -> Any:
    """Return an item of a dict, list, tuple, array or table; `MISSING` if there is none."""
    try:
        if isinstance(value, dict):
            return dict.get(value, key, MISSING)
        if isinstance(value, list):
            return list.__getitem__(value, key)  # type: ignore[index]
        if isinstance(value, tuple):
            return tuple.__getitem__(value, key)  # type: ignore[index]
        return value[key] if find_kind(value) in _INDEXED else MISSING
    except Exception:  # noqa: BLE001 - libraries raise errors of their own for a key that is not there
        return MISSING


class BoundForm(Protocol):
    """A form that follows variables."""

    def follow(self, values: Mapping[str, Any]) -> None:
        """Take over the variables' new values, and check the files that the settings name."""


class Bindings:
    """The fields of a form that follow variables."""

    def __init__(self, form: BoundForm) -> None:
        self._form = weakref.ref(form)
        self._bound: dict[str, Variable] = {}
        self._last_values: dict[str, Any] = {}
        self._is_listening = False

    @property
    def names(self) -> dict[str, str]:
        """The variable or path of each bound field."""
        return {field: bound.text for field, bound in self._bound.items()}

    def take(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Bind each `Variable` among the values; returns the values with the variables' contents."""
        plain_values: dict[str, Any] = {}
        for name, value in values.items():
            self._bound.pop(name, None)
            if not isinstance(value, Variable):
                plain_values[name] = value
                continue
            self._bound[name] = value
            self._last_values[name] = value.read()
            if self._last_values[name] is not MISSING:
                plain_values[name] = self._last_values[name]
        self.listen(bool(self._bound))
        return plain_values

    def release(self, name: str) -> None:
        """End the binding of the field ``name``."""
        self._bound.pop(name, None)

    def follow(self, *_: object) -> None:
        """Copy the variables' current values to their fields."""
        form = self._form()
        if form is None:
            return
        new_values: dict[str, Any] = {}
        for name, bound in self._bound.items():
            value = bound.read()
            if value is not MISSING and not is_same(value, self._last_values[name]):
                new_values[name] = self._last_values[name] = value
        form.follow(new_values)

    def describe(self, name: str) -> str:
        """Return the note at a bound field: the variable that it follows; empty for other fields."""
        bound = self._bound.get(name)
        if bound is None:
            return ""
        followed = f"follows {'' if bound.steps else 'the variable '}`{bound.text}`"
        if bound.read() is not MISSING:
            return followed
        if not bound.is_defined:
            return f"{followed}, {f'and {bound.name}' if bound.steps else 'which'} is not defined yet"
        return f"{followed}, where no plain value is stored"

    def explain(self, problem: Problem, value: Any) -> Problem:
        """Return the problem with a bound field's value; it names the variable if that holds many values."""
        bound = self._bound.get(problem.field)
        is_wrong = problem.code == "wrong_type" and isinstance(value, list)
        description = bound.describe_many() if bound is not None and is_wrong else ""
        advice = " For one job per value, add the table to the form's batch, or call fn.submit_batch."
        return problem._replace(message=f"{description}{advice}") if description else problem

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
    """Convert a value to plain data: arrays to lists, paths to `LocalFile`; tables are copied."""
    if isinstance(value, PurePath):
        return LocalFile(value)
    if hasattr(value, "equals") and hasattr(value, "columns"):
        return value.copy()
    return value.tolist() if hasattr(value, "tolist") else value
