"""``fn.tools``: a callable that lists the tools, with a function for each tool as an attribute.

The functions are made from the bundled catalog without asking a service, and from the service's own catalog
once ``fn.tools()`` has listed it. Their settings are validated like those of ``fn.submit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature, cleandoc, signature
from typing import TYPE_CHECKING, Any

from foldnote.catalog.bundle import list_types, read_tool
from foldnote.catalog.functions import (
    SettingArgument,
    avoid,
    find_python_name,
    read_arguments,
    write_docstring,
)
from foldnote.catalog.wording import find_near
from foldnote.errors import ArgumentError, ToolFunctionError
from foldnote.models.settings_table import find_note
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments, check_kinds
from foldnote.notebook.submission import submit, submit_settings

if TYPE_CHECKING:
    from foldnote.client.tables.tool_list import ToolList
    from foldnote.models import Tool
    from foldnote.notebook.live_outputs import NotebookJob

_MANY = 3


@check_arguments
def tool(tool_type: str, /, *, profile: str | None = None) -> Tool:
    """Return one tool of the service.

    Raises:
        UnknownToolError: the service has no such tool.
    """
    return connection.find_client(profile).tools.get(tool_type)


@dataclass(frozen=True)
class ToolText:
    """The data from which the function of a tool is made."""

    type: str
    label: str
    description: str
    schema: Mapping[str, Any]
    citation: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the tool takes settings that its schema does not list."""
        return self.schema.get("additionalProperties") is not False

    def write_docstring(self, arguments: Iterable[SettingArgument]) -> str:
        """Return the docstring of the tool's function: its settings, then the arguments of ``fn.submit``."""
        description = self.description or "Its service does not describe it."
        head = [
            f"Submit a job of {self.label}. {description}",
            f'The same as fn.submit("{self.type}", …): the same call again returns the same job.',
        ]
        tail = ["Returns the job, a live card in a cell: job.wait() waits for it, job.result() opens it."]
        if isinstance(self.citation, Mapping) and self.citation.get("text"):
            doi = self.citation.get("doi")
            tail.append(f"Reference: {self.citation['text']}{f' https://doi.org/{doi}' if doi else ''}")
        texts = {each.name: each.describe() for each in arguments} | _read_option_texts()
        if self.is_open:
            texts[f"**{avoid('settings', texts)}"] = (
                "further settings, which the schema allows without listing them."
            )
        return write_docstring(head, texts, tail)


def _find_options() -> dict[str, Parameter]:
    """Return the keyword arguments of ``fn.submit`` that are not settings."""
    later: dict[str, Any] = {"Tool": Any, "NotebookJob": Any}  # not imported at run time by submission
    parameters = signature(submit, eval_str=True, locals=later).parameters
    return {name: each for name, each in parameters.items() if each.kind is Parameter.KEYWORD_ONLY}


def _read_option_texts() -> dict[str, str]:
    """Read the description of each keyword argument in the docstring of ``fn.submit``."""
    section = cleandoc(submit.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    texts: dict[str, str] = {}
    for line in section.replace("\n        ", " ").splitlines():
        name, _, text = line.strip().partition(": ")
        texts[name] = text
    return {name: texts.get(name, "") for name in _find_options()}


def _make_function(about: ToolText, name: str) -> Callable[..., NotebookJob]:
    options = _find_options()
    arguments = read_arguments(about.schema, options)
    by_name = {each.name: each for each in arguments}

    def call(*args: Any, **given: Any) -> NotebookJob:
        if args:
            first = next(iter(by_name), "setting")
            raise ArgumentError(f"fn.tools.{name} takes settings by name: fn.tools.{name}({first}=…).")
        chosen = {key: given.pop(key) for key in options if key in given}
        check_kinds(f"tools.{name}", signature(submit).bind(about.type, **chosen))
        settings: dict[str, Any] = {}
        for key, value in given.items():
            known = by_name.get(key)
            if value is not None or known is None or known.is_needed or known.takes_none:
                settings[known.setting if known else key] = value
        return submit_settings(about.type, settings, chosen.pop("profile", None), **chosen)

    parameters = [*(each.parameter for each in arguments), *options.values()]
    if about.is_open:
        others = avoid("settings", [each.name for each in parameters])
        parameters.append(Parameter(others, Parameter.VAR_KEYWORD, annotation=Any))
    call.__name__, call.__qualname__ = name, f"tools.{name}"
    call.__doc__ = about.write_docstring(arguments)
    call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": "NotebookJob"}
    call.__signature__ = Signature(parameters, return_annotation="NotebookJob")  # type: ignore[attr-defined]
    return call


def _list_tools(
    search: str = "", /, *, family: str | None = None, modality: str | None = None,
    function: str | None = None, runs_here: bool = False, profile: str | None = None,
) -> ToolList:  # fmt: skip
    found = connection.find_client(profile).tools.list()
    if profile is None:
        _listed.clear()
        _listed.update({each.type: each for each in found})
        _find_function.cache_clear()
    return found.search(search, family=family, modality=modality, function=function, runs_here=runs_here)


_listed: dict[str, Tool] = {}
"""The tools of the active profile's service by type, once they have been listed."""


def _list_names() -> dict[str, str]:
    """Map the Python name of each bundled or listed tool to its type.

    If two tools have the same Python name, it means the tool whose type it is.
    """
    types = sorted({*list_types(), *_listed}, key=lambda each: (find_python_name(each) == each, each))
    return {find_python_name(each): each for each in types}


@cache
def _find_function(name: str) -> Callable[..., NotebookJob] | None:
    tool_type = _list_names().get(name)
    if tool_type is None:
        return None
    if tool_type in _listed:
        one = _listed[tool_type]
        citation = find_note(one.model_extra, one.settings_schema, "citation")
        return _make_function(
            ToolText(one.type, one.label, one.description, one.settings_schema, citation), name
        )
    row = read_tool(tool_type)
    return _make_function(
        ToolText(tool_type, row["displayName"], row["description"], row["schema"], row.get("citation")), name
    )


class ToolFunctions:
    """The tools: ``fn.tools()`` lists them as a table, ``fn.tools.anarci(sequence=…)`` submits a job of one.

    Each tool is a function with the tool's settings and the options of ``fn.submit`` as keyword arguments;
    hyphens in its name are underscores here. ``fn.tools.<Tab>`` completes the names, and Shift-Tab in the
    parentheses shows each setting with its unit, range, options and default. ``.to_frame()`` makes the table
    a DataFrame.

    Args:
        search: words, all of which must occur in a tool's name, description, family, modalities or functions.
        family: e.g. ``"structure-prediction"``.
        modality: what it works on, e.g. ``"antibody"``.
        function: what it does, e.g. ``"docking"``.
        runs_here: only tools that the service can run now.
        profile: which service; by default the active profile's.
    """

    __call__ = staticmethod(check_arguments(_list_tools, "tools"))

    def __init__(self) -> None:
        self.__signature__ = signature(_list_tools)

    def __getattr__(self, name: str) -> Callable[..., NotebookJob]:
        found = None if name.startswith("_") else _find_function(name)
        if found is None:
            raise ToolFunctionError(name, find_near(name, _list_names(), _MANY))
        return found

    def __dir__(self) -> list[str]:
        return sorted(_list_names())

    def __repr__(self) -> str:
        return (
            "<fn.tools: fn.tools() lists the tools; fn.tools.NAME(…) submits a job of one, "
            "e.g. fn.tools.anarci(sequence=…)>"
        )


tools = ToolFunctions()
