"""Options of an engine that the user configures, such as the path of a program installed by the lab.

``engine.toml`` declares the options, and the user sets them in the section ``[engines.NAME]`` of
``config.toml``. They are read for each job, so a change needs no restart of the service, and paths are
checked before a job is queued.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from foldnote import settings
from foldnote.errors import ConfigurationError

OptionKind = Literal["folder", "file", "program", "database", "number", "choice", "arguments"]
_KINDS = get_args(OptionKind)
_NOTHING: tuple[object, ...] = ("", (), [])
"""Values that count as unset."""
DATABASE_MARK = ".dbtype"
"""Suffix of the file that every MMseqs2 database has beside its data."""


@dataclass(frozen=True, slots=True)
class EngineOption:
    """One option of an engine."""

    name: str
    help: str
    """What it is, as a phrase that completes "set NAME: …"."""
    kind: OptionKind = "folder"
    """``folder`` and ``file``: a path; ``program``: a path, or a name that is searched on PATH;
    ``database``: the path of an MMseqs2 database, without the suffixes of its files; ``number``: from
    ``least`` to ``most``; ``choice``: one of ``choices``; ``arguments``: a list of strings."""
    has: tuple[str, ...] = ()
    """Files that the folder must have, relative to it."""
    least: float = 0.0
    most: float = math.inf
    choices: tuple[str, ...] = ()
    default: str | tuple[str, ...] = ""
    """The default value; empty for none."""
    is_needed: bool = True
    """Whether the engine cannot run without it."""
    needs: tuple[str, ...] = ()
    """Options that must be set if this one is."""


@dataclass(frozen=True, slots=True)
class Configured:
    """The values of an engine's options."""

    values: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Valid values by name; paths are absolute. Unset options are omitted."""
    missing: tuple[EngineOption, ...] = ()
    """Unset options that are required, always or by another option that is set."""
    mistakes: tuple[str, ...] = ()
    """Faults in the configured values, one phrase each."""

    def has_file(self, pattern: str) -> bool:
        """Return whether any file matches ``OPTION/PATTERN``, a glob pattern below an option's folder."""
        name, _, below = pattern.partition("/")
        folder = self.values.get(name)
        return isinstance(folder, str) and any(Path(folder).glob(below))


def find_configured(engine: str, options: Sequence[EngineOption]) -> Configured:
    """Return the checked values of the engine's ``options`` in the user's configuration."""
    if not options:
        return Configured()
    try:
        given = settings.engine_options(engine)
    except ConfigurationError as exc:
        return Configured(mistakes=(exc.message,))
    known = {option.name for option in options}
    mistakes = [f"it has no option {name}" for name in given if name not in known]
    values: dict[str, str | list[str]] = {}
    missing = []
    are_set = {name for name, value in given.items() if value not in _NOTHING}
    needed = {name for option in options if option.name in are_set for name in option.needs}
    for option in options:
        value = given.get(option.name, option.default)
        if value in _NOTHING:
            missing += [option] if option.is_needed or option.name in needed else []
            continue
        try:
            values[option.name] = _read(option, value)
        except ValueError as exc:
            mistakes.append(f"{option.name} is {value!r}, {exc}")
    return Configured(values, tuple(missing), tuple(mistakes))


def explain_configuration(engine: str, configured: Configured) -> str | None:
    """Return what must be set or corrected before the engine can run, and where; None if nothing."""
    where = f"in the section [engines.{engine}] of config.toml"
    needs = "; ".join(f"{option.name} ({option.help})" for option in configured.missing)
    if configured.mistakes:
        more = f" Also set {needs}." if needs else ""
        return f"{engine} is configured wrongly {where}: {'; '.join(configured.mistakes)}.{more}"
    return f"{engine} is not configured: set {needs} {where}." if needs else None


def read_engine_options(rows: Sequence[Mapping[str, Any]]) -> tuple[EngineOption, ...]:
    """Read the options that an ``engine.toml`` declares.

    Raises:
        ValueError: a kind is unknown.
        TypeError: a key is missing or unknown.
    """
    lists = ("has", "choices", "needs")
    tables: list[dict[str, Any]] = [
        {key: tuple(value) if key in lists else value for key, value in row.items()} for row in rows
    ]
    options = tuple(EngineOption(**table) for table in tables)
    names = {option.name for option in options}
    for option in options:
        if option.kind not in _KINDS:
            raise ValueError(f"options has the kind {option.kind!r}; it must be one of {', '.join(_KINDS)}")
        if unknown := sorted(set(option.needs) - names):
            raise ValueError(f"the option {option.name} needs {unknown[0]!r}, which is not among options")
    return options


def _read(option: EngineOption, value: object) -> str | list[str]:
    """Return the value in the form that the engine receives.

    Raises:
        ValueError: it cannot be used; the message is the end of a sentence.
    """
    if option.kind == "arguments":
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise ValueError("which is not a list of strings")
        return list(value)
    if option.kind == "number":
        return _read_number(option, value)
    if not isinstance(value, str):
        raise ValueError("which is not a string")
    if option.kind == "choice":
        if value not in option.choices:
            raise ValueError(f"which is not one of {', '.join(option.choices)}")
        return value
    if option.kind == "program":
        return _find_program(value)
    if option.kind == "database":
        return _find_database(Path(value).expanduser())
    return _check_path(option, Path(value).expanduser())


def _read_number(option: EngineOption, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("which is not a number")
    if not option.least <= value <= option.most:
        raise ValueError(f"which is not from {option.least:g} to {option.most:g}")
    return f"{value:g}"


def _find_database(path: Path) -> str:
    if not path.is_absolute():
        raise ValueError("which is not an absolute path")
    if not path.with_name(f"{path.name}{DATABASE_MARK}").is_file():
        raise ValueError(f"which is not an MMseqs2 database: there is no {path.name}{DATABASE_MARK}")
    return str(path)


def _find_program(value: str) -> str:
    if os.sep not in value:
        found = shutil.which(value, path=settings.process_environment().get("PATH"))
        if found is None:
            raise ValueError("which is not on PATH")
        return found
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise ValueError("which is not an absolute path")
    if not path.is_file():
        raise ValueError("which does not exist")
    if not os.access(path, os.X_OK):
        raise ValueError("which may not be executed")
    return str(path)


def _check_path(option: EngineOption, path: Path) -> str:
    if not path.is_absolute():
        raise ValueError("which is not an absolute path")
    if not (path.is_dir() if option.kind == "folder" else path.is_file()):
        raise ValueError(f"which is not a {option.kind}")
    lacking = [name for name in option.has if not (path / name).exists()]
    if lacking:
        raise ValueError(f"which has no {' and no '.join(lacking)}")
    return str(path)
