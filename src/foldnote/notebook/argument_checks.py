"""Argument checks of all notebook functions: an invalid call raises a one-sentence error.

Only the form of a call is checked here: the number of positional arguments, the names of the others, and the
types of arguments. Their values are checked where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import BoundArguments, Parameter, Signature, signature
from pathlib import Path
from types import NoneType
from typing import Any, ParamSpec, TypeVar

from foldnote.catalog.wording import find_near
from foldnote.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")

_PLACED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


_WORDS = {
    "str": "text",
    "Path": "a path",
    "Tool": "a tool",
    "JobHandle": "a job",
    "Mapping[str, Any]": "a mapping",
    "Mapping[str, str]": "a mapping",
    "Mapping[str, Sequence[Any]]": "a mapping",
    "None": "",
}
"""Descriptions of the types that an argument may have, by their names in annotations."""
_MAPPINGS = dict.fromkeys((each for each, words in _WORDS.items() if words == "a mapping"), Mapping)
_LIGHT: Mapping[str, type] = {"str": str, "Path": Path, "None": NoneType, **_MAPPINGS}


@cache
def _find_kind(name: str) -> type:
    """Return the type that a name of `_WORDS` stands for."""
    from foldnote.client import JobHandle  # deferred, as below: a function is wrapped before it is called
    from foldnote.models import Tool

    return {"Tool": Tool, "JobHandle": JobHandle}[name]


def _is_one_of(value: object, names: Sequence[str]) -> bool:
    """Return whether a value has one of the types; types that are slow to import are checked last."""
    if isinstance(value, tuple(_LIGHT[name] for name in names if name in _LIGHT)):
        return True
    return isinstance(value, tuple(_find_kind(name) for name in names if name not in _LIGHT))


def check_arguments(function: Callable[P, R], name: str = "") -> Callable[P, R]:
    """Check the arguments of ``function``; an invalid call raises `ArgumentError` with the correct form.

    Args:
        function: the function to wrap.
        name: its name in messages, after ``fn.``; by default its own.
    """
    known, called = signature(function), name or function.__name__

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = known.bind(*args, **kwargs)
        except TypeError:
            raise ArgumentError(_explain_call(called, known, args, kwargs)) from None
        check_kinds(called, bound)
        return function(*args, **kwargs)

    return call


def _explain_call(name: str, known: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Explain what is wrong with a call, and how to write it."""
    parameters = known.parameters.values()
    placed = [one for one in parameters if one.kind in _PLACED]
    named = [one.name for one in parameters if one.kind in _NAMED]
    takes_any = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)
    needed = [one.name for one in placed[len(args) :] if one.default is Parameter.empty]
    lacking = [one for one in needed if one not in kwargs]
    unknown = [given for given in kwargs if given not in named]
    if len(args) > len(placed):
        which = ", ".join(one.name for one in placed)
        takes = f"{len(placed)} positional ({which})" if placed else "no positional ones"
        example = " Write settings as name=value, or **{…} for those of a dict." if takes_any else ""
        return f"fn.{name} got {len(args)} positional arguments and takes {takes}.{example}"
    if lacking:
        all_needed = ", ".join(one.name for one in placed if one.default is Parameter.empty)
        return f"fn.{name} needs {' and '.join(lacking)}: fn.{name}({all_needed})."
    if unknown:
        near = find_near(unknown[0], named)
        hint = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(named)}."
        return f"fn.{name} has no argument {unknown[0]!r}. {hint}"
    return f"fn.{name} cannot be called like this: help(fn.{name}) shows how."


def check_kinds(name: str, bound: BoundArguments) -> None:
    """Check the types of the arguments of a call.

    Raises:
        ArgumentError: an argument has none of the types of its annotation.
    """
    for argument, value in bound.arguments.items():
        annotation = bound.signature.parameters[argument].annotation
        kinds = str(annotation).split(" | ")
        if kinds == ["bool"]:
            if not isinstance(value, bool):
                from foldnote.client.core.operations import check_flag  # deferred: it loads pydantic

                check_flag(f"fn.{name}: {argument}", value)
            continue
        if any(kind not in _WORDS for kind in kinds) or _is_one_of(value, kinds):
            continue
        if bound.signature.parameters[argument].kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL):
            continue
        words = " or ".join(_WORDS[kind] for kind in kinds if _WORDS[kind])
        raise ArgumentError(f"fn.{name}: {argument} must be {words}, not {_describe_kind(value)}.")


def list_items(name: str, source: Any, kinds: tuple[type, ...], words: str) -> list[Any]:
    """Return one item, or several in an iterable, as a list.

    Args:
        name: name of the function in messages.
        source: one of ``kinds``, or an iterable of them.
        kinds: the types that an item may have.
        words: description of valid items, for a message.

    Raises:
        ArgumentError: ``source`` is neither.
    """
    is_one = isinstance(source, kinds) or not isinstance(source, Iterable)
    items = [source] if is_one else list(source)
    for item in items:
        if not isinstance(item, kinds):
            raise ArgumentError(f"fn.{name} takes {words}, or a list of these, not {_describe_kind(item)}.")
    return items


def _describe_kind(value: Any) -> str:
    from foldnote.client import BatchHandle

    if value is None:
        return "None"
    if isinstance(value, BatchHandle):
        return "a batch"
    kind = type(value).__name__
    return f"{kind} ({value!r:.40})" if isinstance(value, int | float) else kind
