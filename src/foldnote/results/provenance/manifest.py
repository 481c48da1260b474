"""The manifest: what was really run.

An engine's method may not be the one that the tool is named after; the manifest is where a result says so.
Results from elsewhere have none, and then nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from foldnote.errors import UnreadableFileError
from foldnote.results.tables.tabular import read_json

_GENUINE = ("", "genuine", "genuine-task")


@dataclass(frozen=True)
class Manifest:
    """What a run says of itself; every part may be unknown.

    Attributes:
        job_name: the job.
        tool: tool type that was asked for.
        method: what was really run.
        kind: ``genuine``, ``genuine-task``, ``substitute`` or ``adapter``.
        engine: the engine's folder name.
        version: version of the method.
        notes: the engine's own sentences, such as "ProteinMPNN weights; not AbMPNN".
        seed: random seed that was used; None when there was none, or when nobody says.
        seed_note: why there is no seed; empty when there is one, or when nobody says.
        changed: settings that the engine used with another value than it was given: ``given`` and ``used``.
        ignored: settings that had no effect, with the reason.
        started: RFC 3339, UTC.
        ended: RFC 3339, UTC.
        data: the whole file.
    """

    job_name: str = ""
    tool: str = ""
    method: str = ""
    kind: str = ""
    engine: str = ""
    version: str = ""
    notes: tuple[str, ...] = ()
    seed: int | None = None
    seed_note: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)
    ignored: Mapping[str, Any] = field(default_factory=dict)
    started: str = ""
    ended: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def method_title(self) -> str:
        """Method and version; a version that the method's name already has is not repeated."""
        return title_method(self.method, self.version)

    @property
    def is_substitute(self) -> bool:
        """Whether the method is another one than the tool is named after."""
        return self.kind not in _GENUINE

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end, or None when a time is unknown."""
        try:
            return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()
        except (ValueError, TypeError):
            return None


def title_method(method: str, version: str | None) -> str:
    """A method with its version, such as ``AutoDock Vina 1.2.7``; what its name already says is said once."""
    if not version or version in method.split():
        return method
    return f"{method} {version}".strip()


def read_manifest(data: bytes, name: str) -> Manifest:
    """The manifest in ``data``.

    Raises:
        UnreadableFileError: it is not a JSON object.
    """
    content = read_json(data, name)
    if not isinstance(content, Mapping):
        raise UnreadableFileError(f"{name} is not a manifest: it is not a JSON object.")
    return make_manifest(content)


def make_manifest(content: Mapping[str, Any]) -> Manifest:
    """The manifest with this content."""
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
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        seed_note=_text(job, "seedNote"),
        changed=_mapping(content, "settingsChanged"),
        ignored=_mapping(content, "settingsIgnored"),
        started=_text(content, "started"),
        ended=_text(content, "ended", "completed"),
        data=content,
    )


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A nested object, or the manifest itself where a program keeps everything on one level."""
    part = content.get(name)
    return part if isinstance(part, Mapping) else content


def _mapping(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name)
    return part if isinstance(part, Mapping) else {}


def _read_notes(content: Mapping[str, Any], engine: Mapping[str, Any]) -> tuple[str, ...]:
    noted = content.get("notes")
    own = [engine["note"]] if isinstance(engine.get("note"), str) and engine["note"] else []
    more = [note for note in noted if isinstance(note, str)] if isinstance(noted, list) else []
    return tuple(dict.fromkeys(own + more))


def _text(fields: Mapping[str, Any], *names: str) -> str:
    return next((str(fields[name]) for name in names if isinstance(fields.get(name), str | int | float)), "")
