"""Read the manifest of a result: the method, version, seed and settings that were actually used.

An engine's method may differ from the one that the tool is named after, and the manifest states it. Results
of other services have no manifest; the method is then unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from foldnote.errors import UnreadableFileError
from foldnote.results.tables.tabular import read_json

_SUBSTITUTE = "substitute"


@dataclass(frozen=True)
class AddOn:
    """An engine that another engine used in its run.

    Attributes:
        name: the add-on's folder name.
        method: the method that it ran.
        version: version of the method; "" if unknown.
        data: its part of the manifest: licence, citation, homepage, note and packages.
    """

    name: str
    method: str
    version: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def method_title(self) -> str:
        """Method and version."""
        return title_method(self.method, self.version)


@dataclass(frozen=True)
class Manifest:
    """The record of one run; text fields are "" if unknown.

    Attributes:
        job_name: name of the job.
        tool: type of the tool requested.
        method: the method that was run.
        kind: relation of the method to the tool: ``genuine``, ``genuine-task``, ``substitute``, ``adapter``
            (the user's own copy of the program) or ``registered`` (a program that a lab registered).
        engine: the engine's folder name.
        version: version of the method.
        notes: remarks by the engine, such as "ProteinMPNN weights; not AbMPNN"; the one on its method first.
        method_note: the remark that every run of the engine has; "" if there is none.
        seed: random seed used; None if there was none or it is unknown.
        seed_note: why there is no seed; "" if there is one or the reason is unknown.
        changed: settings that the engine used with a different value: by name, ``given`` and ``used``.
        ignored: settings without effect: by name, the reason.
        started: start of the run, RFC 3339, UTC.
        ended: end of the run, RFC 3339, UTC.
        add_ons: engines that were used in addition, such as GNINA's rescoring of Vina's poses.
        databases: databases of the service that were searched: of each ``name``, ``modified`` (RFC 3339,
            UTC), ``sizeBytes`` and ``program``.
        data: the complete manifest.
    """

    job_name: str = ""
    tool: str = ""
    method: str = ""
    kind: str = ""
    engine: str = ""
    version: str = ""
    notes: tuple[str, ...] = ()
    method_note: str = ""
    seed: int | None = None
    seed_note: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)
    ignored: Mapping[str, Any] = field(default_factory=dict)
    started: str = ""
    ended: str = ""
    add_ons: tuple[AddOn, ...] = ()
    databases: tuple[Mapping[str, Any], ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def method_title(self) -> str:
        """The method with its version; a version that is part of the method's name is not repeated."""
        return title_method(self.method, self.version)

    @property
    def is_substitute(self) -> bool:
        """Whether the method stands in for the one that the tool is named after."""
        return self.kind == _SUBSTITUTE

    @property
    def has_stand_ins(self) -> bool:
        """Whether the method ran with random stand-in weights, so that its figures mean nothing."""
        weights = _part(self.data, "engine").get("weights") or ()
        return any(isinstance(record, Mapping) and record.get("state") == "stand-in" for record in weights)

    @property
    def database_titles(self) -> tuple[str, ...]:
        """Name and date of each database that was searched, such as ``uniref30_2302_db (2023-05-01)``."""
        return tuple(
            f"{database['name']} ({day})"
            if (day := _text(database, "modified")[:10])
            else str(database["name"])
            for database in self.databases
        )

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end; None if either time is unknown."""
        try:
            return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()
        except (ValueError, TypeError):
            return None


def title_method(method: str, version: str | None) -> str:
    """Join method and version, such as ``AutoDock Vina 1.2.7``, unless the name contains the version."""
    if not version or version in method.split():
        return method
    return f"{method} {version}".strip()


def read_manifest(data: bytes, name: str) -> Manifest:
    """Read a ``manifest.json``.

    Args:
        data: the file's content.
        name: the file's name, for messages.

    Raises:
        UnreadableFileError: it is not a JSON object.
    """
    content = read_json(data, name)
    if not isinstance(content, Mapping):
        raise UnreadableFileError(f"{name} is not a manifest: it is not a JSON object.")
    return make_manifest(content)


def make_manifest(content: Mapping[str, Any]) -> Manifest:
    """Build a manifest from a parsed ``manifest.json``; missing or ill-typed fields count as unknown."""
    job, engine = _part(content, "job"), _part(content, "engine")
    seed = job.get("seed", engine.get("seed"))
    return Manifest(
        job_name=_text(job, "jobName"),
        tool=_text(job, "type", "tool"),
        method=_text(engine, "method"),
        kind=_text(engine, "kind"),
        engine=_text(engine, "name"),
        version=_text(engine, "version"),
        notes=_read_notes(content, engine),
        method_note=_text(engine, "note"),
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        seed_note=_text(job, "seedNote"),
        changed=read_mapping(content, "settingsChanged"),
        ignored=read_mapping(content, "settingsIgnored"),
        started=_text(content, "started"),
        ended=_text(content, "ended", "completed"),
        add_ons=tuple(_read_add_ons(engine)),
        databases=tuple(_read_databases(content)),
        data=content,
    )


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a nested object, or the manifest itself if it is flat."""
    part = content.get(name)
    return part if isinstance(part, Mapping) else content


def read_mapping(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a nested object; empty if there is none."""
    part = content.get(name)
    return part if isinstance(part, Mapping) else {}


def _read_notes(content: Mapping[str, Any], engine: Mapping[str, Any]) -> tuple[str, ...]:
    noted = content.get("notes")
    own = [note] if (note := _text(engine, "note")) else []
    further = [note for note in noted if isinstance(note, str)] if isinstance(noted, list) else []
    return tuple(dict.fromkeys(own + further))


def _read_add_ons(engine: Mapping[str, Any]) -> Iterator[AddOn]:
    """Read the add-ons that were used; others have no part in the result."""
    for record in engine.get("addOns") or ():
        if isinstance(record, Mapping) and record.get("used") is True:
            name = _text(record, "name")
            yield AddOn(name, _text(record, "method") or name, _text(record, "version"), record)


def _read_databases(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = content.get("databases")
    for record in listed if isinstance(listed, list) else ():
        if isinstance(record, Mapping) and _text(record, "name"):
            yield record


def _text(fields: Mapping[str, Any], *names: str) -> str:
    return next((str(fields[name]) for name in names if isinstance(fields.get(name), str | int | float)), "")
