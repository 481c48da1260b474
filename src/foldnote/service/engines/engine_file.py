"""Read and check ``engine.toml``.

Reading an engine runs nothing, and an unchanged one is read only once per process. Errors name the invalid
key, since most of these files are written by other people.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from foldnote.catalog.bundle import list_types
from foldnote.catalog.wording import find_near
from foldnote.errors import EngineError
from foldnote.io import hash_file
from foldnote.service.engines.configuration import read_engine_options
from foldnote.service.engines.engine import (
    DEFAULT_COMMAND,
    Engine,
    Environment,
    EnvironmentKind,
    Kind,
    Resources,
    SystemNeed,
    find_newest_python,
)
from foldnote.service.engines.licences import read_terms
from foldnote.service.engines.locks import LockSource, read_lock
from foldnote.service.engines.refusals import read_refusals
from foldnote.service.engines.weights.declared import read_weights

_FILLED_IN = {
    "add_ons": "an add-on names its engine in adds_to",
    "owner": "environment.same_as names the engine whose environment is used",
}
"""Fields of an engine that no ``engine.toml`` may have."""
_OWN_KEYS = {"kind", "same_as", "modules", "variables"}
"""Keys of the environment that an engine may declare if it uses another one's environment."""


def read_engine(folder: Path) -> Engine:
    """Read the engine in ``folder``.

    Raises:
        EngineError: ``engine.toml`` is missing or invalid; the key is named.
    """
    path = folder / "engine.toml"
    try:
        engine = _read(folder.resolve(), _stamp(path))
    except FileNotFoundError as exc:
        raise EngineError(f"{folder} is not an engine: it has no engine.toml.") from exc
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError, KeyError, ValueError) as exc:
        raise EngineError(f"{path} cannot be used: {_explain(exc)}.") from exc
    lock = engine.environment.lock
    return engine if lock is None else replace(engine, lock_digest=_digest_lock(engine.folder / lock.file))


def _stamp(path: Path) -> tuple[int, ...]:
    """Return a stamp that changes with the file."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=256)
def _read(folder: Path, _stamp: tuple[int, ...]) -> Engine:
    return _make_engine(folder, tomllib.loads((folder / "engine.toml").read_text("utf-8")))


def _explain(exc: Exception) -> str:
    if isinstance(exc, KeyError):
        return f"the key {exc.args[0]!r} is missing"
    return str(exc).replace("Engine.__init__() got an unexpected keyword argument", "unknown key")


def _make_engine(folder: Path, content: dict[str, Any]) -> Engine:
    versions = content.pop("versions", {})
    environment = dict(content.pop("environment", {}))
    resources = Resources(**content.pop("resources", {}))
    environment["steps"] = tuple(_texts(step, "steps") for step in environment.get("steps", ()))
    environment["system"] = tuple(SystemNeed(**need) for need in environment.get("system", ()))
    if lock := environment.get("lock"):
        for key in ("unhashed", "libraries", "built"):
            lock[key] = _texts(lock.get(key, ()), f"lock.{key}")
        environment["lock"] = LockSource(**lock)
    for key in ("path", "modules", "inherit"):
        environment[key] = _texts(environment.get(key, ()), key)
    for key, way in _FILLED_IN.items():
        if key in content:
            raise ValueError(f"unknown key {key!r}; {way}")
    engine = Engine(
        folder=folder,
        environment=Environment(**environment),
        resources=resources,
        **{
            **content,
            "name": content["name"],
            "method": content["method"],
            "kind": content["kind"],
            "version": _choose_version(content, versions, environment.get("newest_python", "")),
            "tools": _texts(content["tools"], "tools"),
            "adds_to": _texts(content.get("adds_to", ()), "adds_to"),
            "extensions": (extensions := _texts(content.get("extensions", ()), "extensions")),
            "refusals": read_refusals(content.get("refusals", ()), extensions),
            "weights": read_weights(content.get("weights", ())),
            "terms": read_terms(content.get("terms", ())),
            "with_optional_weights": _read_changes(
                content.get("with_optional_weights", {}), "with_optional_weights"
            ),
            "options": read_engine_options(content.get("options", ())),
            "outputs": _read_outputs(content),
            "differs": _read_differences(content),
            "omits": _read_omissions(content),
            "command": _texts(content.get("command", DEFAULT_COMMAND), "command"),
        },
    )
    _check(engine)
    return engine


def _choose_version(content: dict[str, Any], versions: dict[str, str], newest_python: str) -> str:
    """Return the version: that of ``versions`` for the Python of the environment, or ``version``."""
    version: str = content["version"]
    return (
        versions.get(".".join(map(str, find_newest_python(newest_python))), version) if versions else version
    )


def _read_outputs(content: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Read the output files by tool; a single list applies to each tool."""
    outputs, tools = content.get("outputs", ()), _texts(content["tools"], "tools")
    if not isinstance(outputs, dict):
        return dict.fromkeys(tools, _texts(outputs, "outputs"))
    if strange := outputs.keys() - set(tools):
        raise ValueError(f"outputs names {sorted(strange)[0]!r}, which is not in tools")
    return {tool: _texts(files, f"outputs.{tool}") for tool, files in outputs.items()}


def _read_differences(content: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Read the differences by tool."""
    differs = content.get("differs", {})
    if not isinstance(differs, dict):
        raise ValueError("differs must be a table of tables, by tool")
    if strange := differs.keys() - set(content["tools"]):
        raise ValueError(f"differs names {sorted(strange)[0]!r}, which is not in tools")
    return {tool: _read_changes(changes, f"differs.{tool}") for tool, changes in differs.items()}


def _read_omissions(content: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Read the functions that the engine does not perform, by tool."""
    omits = content.get("omits", {})
    if not isinstance(omits, dict):
        raise ValueError("omits must be a table of lists, by tool")
    if strange := omits.keys() - set(content["tools"]):
        raise ValueError(f"omits names {sorted(strange)[0]!r}, which is not in tools")
    return {tool: _texts(functions, f"omits.{tool}") for tool, functions in omits.items()}


def _read_changes(changes: object, key: str) -> dict[str, str]:
    """Read a table that replaces the engine's own method, kind and note."""
    if not isinstance(changes, dict) or not all(isinstance(text, str) for text in changes.values()):
        raise ValueError(f"{key} must be a table of texts")
    if strange := changes.keys() - {"method", "kind", "note"}:
        raise ValueError(f"{key} has the key {sorted(strange)[0]!r}; it may have method, kind and note")
    if "kind" in changes and changes["kind"] not in get_args(Kind):
        raise ValueError(f"{key}.kind must be one of {', '.join(get_args(Kind))}")
    return dict(changes)


def _digest_lock(path: Path) -> str:
    try:
        stamp = _stamp(path)
    except OSError:
        read_lock(path)  # raises the reason
        raise
    return _check_and_hash(path, stamp)


@lru_cache(maxsize=256)
def _check_and_hash(path: Path, _stamp: tuple[int, ...]) -> str:
    read_lock(path)
    return hash_file(path)


def _texts(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{key} must be a list of strings")
    return tuple(value)


def _check(engine: Engine) -> None:
    if not engine.name.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"name is {engine.name!r}; use letters, digits, - and _")
    known = list_types()
    if strange := [tool for tool in engine.tools if tool not in known]:
        near = "".join(f": is it {each!r}" for each in find_near(strange[0], known))
        raise ValueError(f"tools names {strange[0]!r}, and there is no such tool{near}")
    if engine.kind not in get_args(Kind):
        raise ValueError(f"kind is {engine.kind!r}; it must be one of {', '.join(get_args(Kind))}")
    if engine.environment.kind not in get_args(EnvironmentKind):
        raise ValueError(f"environment.kind is {engine.environment.kind!r}; it must be venv or host")
    if engine.environment.same_as:
        _check_shared(engine)
    elif engine.environment.kind == "venv" and not engine.environment.steps:
        raise ValueError("environment.steps is empty; a venv needs at least one pip install")
    if engine.environment.kind == "host" and engine.terms:
        raise ValueError("terms are accepted at the installation; environment.kind is host, which has none")
    newest = engine.environment.newest_python
    for key, value in (("newest_python", newest), ("requires_python", engine.environment.requires_python)):
        if not re.fullmatch(r"(3\.\d+)?", value):
            raise ValueError(f"environment.{key} is {value!r}; write it like 3.12")
    if engine.checked_with_published_weights and not engine.weights:
        raise ValueError("checked_with_published_weights is set, and there are no weights")
    if bool(engine.with_optional_weights) != any(each.optional for each in engine.weights):
        raise ValueError("optional weights and with_optional_weights need each other; one of them is missing")


def _check_shared(engine: Engine) -> None:
    """Check that an engine in another one's environment declares nothing else of it."""
    blank = Environment()
    for each in fields(Environment):
        if each.name not in _OWN_KEYS and getattr(engine.environment, each.name) != getattr(blank, each.name):
            raise ValueError(
                f"environment.{each.name} is that of {engine.environment.same_as}, which same_as names;"
                " leave it out"
            )
    if engine.environment.kind != "venv":
        raise ValueError("environment.same_as needs the kind venv")
