"""Argument checks of all notebook functions: an invalid call raises an error of one sentence.

Only the form of a call is checked here: the number of positional arguments, the names of the others, and
the types of arguments. Their values are checked where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import BoundArguments, Parameter, Signature, signature
from pathlib import Path
from types import NoneType
from typing import Any, ParamSpec, TypeVar

from foldnote.catalog.wording import find_near
from foldnote.client import BatchHandle, JobHandle
from foldnote.errors import ArgumentError
from foldnote.models import Tool

P = ParamSpec("P")
R = TypeVar("R")

_KINDS: Mapping[str, tuple[type, str]] = {
    "str": (str, "text"),
    "Path": (Path, "a path"),
    "Tool": (Tool, "a tool"),
    "JobHandle": (JobHandle, "a job"),
    "Mapping[str, Any]": (Mapping, "a mapping"),
    "None": (NoneType, ""),
}


_PLACED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of ``function``; an invalid call raises `ArgumentError` with the correct form."""
    known = signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = known.bind(*args, **kwargs)
        except TypeError:
            raise ArgumentError(_explain_call(function.__name__, known, args, kwargs)) from None
        _check_kinds(function.__name__, bound)
        return function(*args, **kwargs)

    return call


def _explain_call(name: str, known: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """What is wrong with a call, and how to write it."""
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


def _check_kinds(name: str, bound: BoundArguments) -> None:
    for argument, value in bound.arguments.items():
        annotation = bound.signature.parameters[argument].annotation
        kinds = [_KINDS.get(part) for part in str(annotation).split(" | ")]
        wanted = [kind for kind in kinds if kind is not None]
        if len(wanted) < len(kinds) or isinstance(value, tuple(kind for kind, _ in wanted)):
            continue
        if bound.signature.parameters[argument].kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL):
            continue
        words = " or ".join(word for _, word in wanted if word)
        raise ArgumentError(f"fn.{name}: {argument} must be {words}, not {_describe_kind(value)}.")


def _describe_kind(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, BatchHandle):
        return "a batch"
    kind = type(value).__name__
    return f"{kind} ({value!r:.40})" if isinstance(value, int | float) else kind
