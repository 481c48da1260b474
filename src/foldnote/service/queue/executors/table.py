"""The executors of a service, and the assignment of engines to them.

They come from one table of the configuration, the section ``[executors]`` of ``config.toml``::

    [executors]
    default = "local"              # the executor of every engine that is not named below

    service_url = "http://head.example.org:8000"   # where other machines reach the service

    [executors.engines]
    colabfold = "cluster"          # engine = executor

    [executors.cluster]            # an executor with its options
    kind = "dask"

``local`` always exists. Other packages add a kind by an entry point of the group ``foldnote.executors``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any

from foldnote.errors import ConfigurationError
from foldnote.service.engines import Engine
from foldnote.service.queue.executors.node_executor import NodeExecutor
from foldnote.service.queue.executors.nodes import LeaseTiming, NodeAttempts
from foldnote.service.queue.executors.protocol import Executor

LOCAL = "local"
GROUP = "foldnote.executors"
"""An entry point of this group is a function ``(name, options, attempts) -> Executor``.

It gets the name of its section, the section's content without ``kind`` and with ``service_url``, and the
``NodeAttempts`` of the service.
"""
_BUNDLED = {
    "batch": "foldnote.service.queue.executors.batch_jobs",
    "dask": "foldnote.service.queue.executors.dask_pool",
}
_OWN_KEYS = frozenset({"default", "engines", "service_url", "lease_s", "heartbeat_s"})
_DAY_S = 86_400
_WHERE = "The section [executors] of config.toml"

Factory = Callable[[str, Mapping[str, Any], NodeAttempts], Executor]


@dataclass(frozen=True)
class ExecutorTable:
    """The table as configured."""

    default: str = LOCAL
    engines: Mapping[str, str] = field(default_factory=dict)
    """Name of the executor, by engine."""
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options, by name of the executor."""
    service_url: str = ""
    """Address at which other machines reach the service; empty if there are none."""
    timing: LeaseTiming = field(default_factory=LeaseTiming)

    @classmethod
    def read(
        cls, content: Mapping[str, Any], known_engines: Collection[str], public_url: str | None = None
    ) -> ExecutorTable:
        """Check the content of the section ``[executors]``.

        Args:
            content: the section.
            known_engines: names of engines.
            public_url: address of the service, if known, for a section without ``service_url``.

        Raises:
            ConfigurationError: it names an unknown executor or engine, or has a value of the wrong type.
        """
        engines = content.get("engines", {})
        sections = {name: row for name, row in content.items() if name not in _OWN_KEYS}
        if not isinstance(engines, Mapping):
            raise ConfigurationError(
                f"{_WHERE} sets engines to {engines!r}; make it a section: [executors.engines]."
            )
        for name, row in sections.items():
            if name == LOCAL or not isinstance(row, Mapping):
                raise ConfigurationError(
                    f"{_WHERE} has {name!r}, which is neither the section of an executor nor one of"
                    f" {', '.join(sorted(_OWN_KEYS))}."
                )
        url = _read_url(content.get("service_url", public_url), is_needed=bool(sections))
        table = cls(content.get("default", LOCAL), engines, sections, url, _read_timing(content))
        table._require_executor("default", table.default)
        for engine, executor in engines.items():
            if engine not in known_engines:
                known = ", ".join(sorted(known_engines))
                raise ConfigurationError(
                    f"{_WHERE} assigns the engine {engine!r}, which does not exist. Engines: {known}."
                )
            table._require_executor(f"engines.{engine}", executor)
        return table

    def _require_executor(self, key: str, name: object) -> None:
        if name != LOCAL and name not in self.sections:
            known = ", ".join((LOCAL, *self.sections))
            raise ConfigurationError(
                f"{_WHERE} sets {key} to {name!r}, which is not an executor. Executors: {known}."
                f" Add a section [executors.NAME] or correct the name."
            )


def _read_url(value: object, *, is_needed: bool) -> str:
    if value is None and not is_needed:
        return ""
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        raise ConfigurationError(
            f"{_WHERE} needs service_url, the address at which the machines of its executors reach this"
            f" service, such as http://head.example.org:8000; it is {value!r}."
        )
    return value.rstrip("/")


def _read_timing(content: Mapping[str, Any]) -> LeaseTiming:
    values = {}
    for name, default in vars(LeaseTiming()).items():
        value = content.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= _DAY_S:
            raise ConfigurationError(
                f"{_WHERE} sets {name} to {value!r}; it must be a number of seconds from 0.1 to {_DAY_S}."
            )
        values[name] = float(value)
    timing = LeaseTiming(**values)
    if timing.heartbeat_s * 2 > timing.lease_s:
        raise ConfigurationError(
            f"{_WHERE} sets lease_s to {timing.lease_s:g} and heartbeat_s to {timing.heartbeat_s:g};"
            " a lease must last at least two heartbeats."
        )
    return timing


class Executors:
    """The executors by name, with the assignment of engines.

    Args:
        members: every executor by name.
        table: assignment of engines.
        attempts: attempts on other machines, for executors that are no longer configured.
    """

    def __init__(
        self, members: Mapping[str, Executor], table: ExecutorTable, attempts: NodeAttempts | None = None
    ) -> None:
        self._members = dict(members)
        self._table = table
        self._attempts = attempts

    def name_for(self, engine: Engine | None) -> str:
        """Return the executor name of an engine; registered tools run on the service's own machine."""
        if engine is None or engine.kind == "registered":
            return LOCAL
        return self._table.engines.get(engine.name, self._table.default)

    def find(self, name: str) -> Executor:
        """Return the executor ``name``; if it is no longer configured, one without machines.

        Raises:
            ConfigurationError: there is none.
        """
        if name not in self._members:
            if self._attempts is None:
                raise ConfigurationError(f"There is no executor {name!r}.")
            self._members[name] = NodeExecutor(self._attempts)
        return self._members[name]

    def all(self) -> Iterable[Executor]:
        """Return every executor, the one of this machine first."""
        return tuple(self._members.values())

    def items(self) -> Iterable[tuple[str, Executor]]:
        """Return every executor with its name, the one of this machine first."""
        return tuple(self._members.items())

    @property
    def default(self) -> str:
        """Name of the executor for engines that are not assigned to another one."""
        return self._table.default

    @property
    def has_several(self) -> bool:
        """Whether queued jobs may need different executors."""
        return len(self._members) > 1


def has_remote(content: Mapping[str, Any]) -> bool:
    """Return whether the section ``[executors]`` configures any executor of other machines."""
    return any(name not in _OWN_KEYS for name in content)


def make_executor(name: str, options: Mapping[str, Any], attempts: NodeAttempts) -> Executor:
    """Make the executor of the section ``[executors.NAME]``.

    Raises:
        ConfigurationError: its kind is unknown, or it cannot be made with these options.
    """
    own = dict(options)
    kind = own.pop("kind", name)
    return _find_factory(name, kind)(name, own, attempts)


def _find_factory(name: str, kind: object) -> Factory:
    if kind in _BUNDLED:
        factory: Factory = importlib.import_module(_BUNDLED[str(kind)]).make_executor
        return factory
    points = {point.name: point for point in entry_points(group=GROUP)}
    if kind not in points:
        known = ", ".join(sorted({*_BUNDLED, *points}))
        raise ConfigurationError(
            f"The section [executors.{name}] of config.toml has the kind {kind!r}, which no installed package"
            f" offers. Kinds: {known}."
        )
    point = points[str(kind)]
    try:
        found: Factory = point.load()
    except Exception as exc:
        raise ConfigurationError(
            f"The package that offers the executor {kind!r} ({point.value}) failed: {exc}."
            " Correct or uninstall it."
        ) from exc
    return found
