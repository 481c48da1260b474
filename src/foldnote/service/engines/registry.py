"""Find engines: bundled ones, those of installed packages, and those in folders that the user names.

A later source replaces an engine of the same name, so that a lab can replace a bundled engine with its own
build. An unreadable engine is an error and is never skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from foldnote import settings
from foldnote.errors import EngineError, UnknownEngineError
from foldnote.service.engines.engine import Engine, share_environment
from foldnote.service.engines.engine_file import read_engine

ENTRY_POINT_GROUP = "foldnote.engines"
"""An entry point of this group is a path, or a function without arguments that returns one."""


def load_engines(extra: Sequence[Path] = ()) -> dict[str, Engine]:
    """Return every engine by name: bundled, by entry point, ``FOLDNOTE_ENGINE_PATH``, then ``extra``.

    A path is the folder of one engine, or a folder of such folders. Each engine has its add-ons.

    Raises:
        EngineError: a path does not exist, an ``engine.toml`` is invalid, or an engine whose environment
            another one uses is missing.
    """
    named = [Path(text).expanduser() for text in settings.option("engine_path").split(os.pathsep) if text]
    sources = [Path(__file__).parent, *_from_packages(), *named, *extra]
    engines = (read_engine(folder) for source in sources for folder in _engine_folders(source))
    found = {engine.name: engine for engine in engines}
    placed = {name: _place(engine, found) for name, engine in found.items()}
    return {name: replace(engine, add_ons=_find_add_ons(name, placed)) for name, engine in placed.items()}


def engine_for(tool_type: str, engines: Mapping[str, Engine] | Iterable[Engine]) -> Engine | None:
    """Return the engine for ``tool_type``, adapted to the tool and to the installed weights, or None.

    Installed engines are preferred; among several, the one that was loaded last, since it was named more
    explicitly.
    """
    rows: Iterable[Engine] = engines.values() if isinstance(engines, Mapping) else engines
    fitting = [(index, engine) for index, engine in enumerate(rows) if tool_type in engine.tools]
    if not fitting:
        return None
    _, best = max(fitting, key=lambda row: (row[1].state().installed, row[0]))
    return best.for_tool(tool_type)


def _place(engine: Engine, engines: Mapping[str, Engine]) -> Engine:
    """Return the engine with the environment that it uses, if that is another one's."""
    name = engine.environment.same_as
    if not name:
        return engine
    if name not in engines:
        raise EngineError(
            f"The engine {engine.name} uses the environment of {name!r} (environment.same_as), and"
            " there is no such engine."
        )
    return share_environment(engine, engines[name])


def _find_add_ons(name: str, engines: Mapping[str, Engine]) -> tuple[Engine, ...]:
    return tuple(engine for engine in engines.values() if name in engine.adds_to)


def get_engine(name: str, engines: Mapping[str, Engine]) -> Engine:
    """Return the engine called ``name``.

    Raises:
        UnknownEngineError: there is none; the message lists the existing ones.
    """
    if name not in engines:
        raise UnknownEngineError(f"There is no engine {name!r}. Engines: {', '.join(sorted(engines))}.")
    return engines[name]


def _engine_folders(source: Path) -> Iterator[Path]:
    if (source / "engine.toml").is_file():
        yield source
        return
    if not source.is_dir():
        raise EngineError(
            f"The engine path {source} is not a folder. Correct FOLDNOTE_ENGINE_PATH or make it."
        )
    yield from sorted(path.parent for path in source.glob("*/engine.toml"))


def _from_packages() -> Iterator[Path]:
    for point in entry_points(group=ENTRY_POINT_GROUP):
        yield _read_entry_point(point)


def _read_entry_point(point: EntryPoint) -> Path:
    try:
        target = point.load()
        return Path(target() if callable(target) else target)
    except Exception as exc:
        raise EngineError(
            f"The package that offers the engine {point.name!r} ({point.value}) failed: {exc}."
            " Correct or uninstall it."
        ) from exc
