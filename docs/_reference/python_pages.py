"""Generate pages of the public Python names from their docstrings: functions, client, results and errors.

Members are read from the classes themselves, since each operation of the client is defined once for its synchronous and
its asynchronous class. A public name without a docstring fails the build.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.ext.napoleon import Config, GoogleDocstring

import foldnote
from _reference.public_names import list_functions
from foldnote import client, errors, results
from foldnote.client.core.operations import Api, operation, stream

_HANDLES = {"H": "JobHandle", "J": "JobHandle", "B": "BatchHandle", "R": "PipelineRun"}
"""Type variables of operations, and the classes that replace them on a synchronous client."""
_NAPOLEON = Config(napoleon_use_ivar=True, napoleon_use_rtype=False, napoleon_custom_sections=None)


def write_python_pages(folder: Path) -> None:
    """Write the pages of functions, client, results and errors.

    Raises:
        ExtensionError: a public name has no docstring.
    """
    pages = {
        "functions": _write_functions(),
        "client": _write_client(),
        "results": _write_results(),
        "errors": _write_errors(),
    }
    for name, lines in pages.items():
        (folder / f"{name}.rst").write_text("\n".join(lines) + "\n", "utf-8")


def _write_functions() -> Iterator[str]:
    yield from _head("Functions", "``import foldnote as fn`` gives these names, for notebooks and scripts.")
    yield ".. py:module:: foldnote\n"
    for title, names in list_functions().items():
        yield from _head(title, level="-")
        for name in names:
            value = getattr(foldnote, name)
            if inspect.isroutine(value):
                yield from _describe("function", name, inspect.signature(value), value.__doc__)
            else:  # fn.tools can be called, and has a function for each tool
                yield from _describe(
                    "function", name, inspect.signature(type(value).__call__), type(value).__doc__
                )


def _write_client() -> Iterator[str]:
    yield from _head(
        "The client",
        "What programs use: ``fn.Client`` is synchronous, ``fn.AsyncClient`` the same with ``await``. The methods below are"
        " those of the synchronous classes; those of the asynchronous ones have the same names, arguments and errors.",
    )
    yield ".. py:module:: foldnote.client\n"
    yield from _describe_class(client.Client, "Client")
    yield from _describe_class(client.AsyncClient, "AsyncClient", members=False)
    yield from _head("Resources", "Attributes of a client.", level="-")
    resources = client._RESOURCES  # noqa: SLF001  its table of resources
    for attribute, (module, kind) in resources.items():
        found = getattr(import_module(f"foldnote.client.{module}"), kind)
        yield from _head(f"client.{attribute}", level="~")
        yield from _describe_class(found, kind)
    yield from _head("Handles and values", level="-")
    for name in ("JobHandle", "BatchHandle", "PipelineRun", "FileValue", "Stage", "Pipeline", "Ledger"):
        yield from _describe_class(getattr(client, name), name)


def _write_results() -> Iterator[str]:
    yield from _head("Results", "")
    yield ".. py:module:: foldnote.results\n"
    yield f"{results.__doc__}\n"
    for name in sorted(results.__all__, key=lambda each: (not inspect.isclass(getattr(results, each)), each)):
        value = getattr(results, name)
        if inspect.isclass(value):
            yield from _describe_class(value, name)
        elif inspect.isroutine(value):
            yield from _describe("function", name, inspect.signature(value), value.__doc__)
        elif name == "METRICS":
            yield from _describe("data", name, None, "The known metrics by name: :class:`Metric` each.")


def _write_errors() -> Iterator[str]:
    yield from _head(
        "Errors",
        "Exceptions of ``foldnote.errors``; all but :exc:`Interrupted` derive from :exc:`FoldnoteError`.",
    )
    yield f"{errors.__doc__.split('    FoldnoteError')[0]}\n"
    found = [
        each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, BaseException)
    ]
    warnings = [each for each in found if issubclass(each, Warning)]
    for value in [each for each in found if each not in warnings] + warnings:
        if value.__module__ == errors.__name__ and not value.__name__.startswith("_"):
            base = value.__mro__[1].__name__
            text = (
                f"{inspect.cleandoc(value.__doc__ or '')}\n\nA :exc:`{base}`."
                if base.endswith("Error")
                else value.__doc__
            )
            yield from _describe("exception", value.__name__, None, text)


def _describe_class(value: type, name: str, members: bool = True) -> Iterator[str]:
    known = None if issubclass(value, Enum) or not members else _find_signature(value)
    yield from _describe("class", name, known, value.__doc__)
    if not members:
        return
    for member, (kind, signature, text) in _list_members(value).items():
        if text is None and kind == "attribute":
            continue  # a data class, whose docstring describes its attributes
        yield textwrap.indent("\n".join(_describe(kind, member, signature, text, f"{name}.{member}")), "   ")


def _find_signature(value: type) -> inspect.Signature | None:
    if value.__init__ is object.__init__ or issubclass(value, Api):
        return None  # users do not create handles and resources
    try:
        return inspect.signature(value)
    except ValueError:
        return None


def _list_members(value: type) -> dict[str, tuple[str, inspect.Signature | None, str | None]]:
    """Return public methods, operations and properties in the order of their definitions."""
    found: dict[str, tuple[str, inspect.Signature | None, str | None]] = {}
    for owner in reversed(value.__mro__):
        if not owner.__module__.startswith("foldnote."):
            continue
        for name, member in vars(owner).items():
            if name.startswith("_") or name in getattr(value, "model_fields", {}):
                continue
            text = inspect.getdoc(member) if not isinstance(member, str | int | float | tuple) else None
            if isinstance(member, operation | stream):
                found[name] = ("method", _drop_self(member.signature), member.__doc__)
            elif isinstance(member, classmethod | staticmethod):
                found[name] = ("classmethod", inspect.signature(getattr(value, name)), text)
            elif inspect.isfunction(member):
                found[name] = ("method", _drop_self(inspect.signature(member)), text)
            elif isinstance(member, property) or type(member).__name__ == "cached_property":
                found[name] = ("property", None, text)
    return found


def _drop_self(signature: inspect.Signature) -> inspect.Signature:
    rows = [each for each in signature.parameters.values() if each.name != "self"]
    return signature.replace(parameters=rows)


def _describe(
    kind: str, name: str, signature: inspect.Signature | None, text: str | None, whole: str = ""
) -> Iterator[str]:
    if not text or not text.strip():
        raise ExtensionError(f"the public name {whole or name} has no docstring")
    told = f"{name}{_format(signature)}" if signature is not None else name
    body = str(GoogleDocstring(inspect.cleandoc(text), _NAPOLEON, what=kind, name=name))
    yield f".. py:{kind}:: {told}\n"
    yield textwrap.indent(_tidy(body), "   ") + "\n"


def _format(signature: inspect.Signature) -> str:
    """Format the signature with short type names."""
    text = re.sub(r"\b(?:[a-z_]+\.)+([A-Z]\w*)", r"\1", str(signature))
    # annotations are strings; defaults keep their quotes
    text = re.sub(r"(?<=: |> )(['\"])(.*?)\1", r"\2", text)
    head, arrow, returned = text.rpartition(" -> ")
    returned = re.sub(r"^Operation\[(.*)\]$", r"\1", returned)
    returned = re.sub(r"^Stream\[(.*)\]$", r"Iterator[\1]", returned)
    returned = re.sub(r"\b[HBRJ]\b", lambda found: _HANDLES[found[0]], returned)
    return f"{head}{arrow}{returned}"


def _tidy(text: str) -> str:
    """Keep roles for public names of `foldnote.results` as links; make those of internal names code."""

    def link(found: re.Match[str]) -> str:
        target = found[2].lstrip("~")
        is_public = target.partition(".")[0] in results.__all__ and "." not in target
        return (
            f":py:{found[1]}:`~foldnote.results.{target}`"
            if is_public
            else f"``{target.rpartition('.')[2]}``"
        )

    return re.sub(r":(attr|class|data|func|meth|mod):`([^`]+)`", link, text)


def _head(title: str, text: str = "", level: str = "=") -> Iterator[str]:
    yield f"{title}\n{level * len(title)}\n"
    if text:
        yield f"{text}\n"
