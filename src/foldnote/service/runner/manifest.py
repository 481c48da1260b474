"""The manifest of a result: what was run, with which inputs, seed and settings.

Seed and settings are those that the engine reports in ``used.json``: ``{"seed", "settings", "ignored"}``, and
``addOns`` if the engine has any: ``{"used", "reason"}`` by name; ``databases`` lists the databases searched.
Without this file, it is unknown whether the seed in ``job.json`` had any effect, and the manifest states
none.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldnote.io import hash_bytes
from foldnote.service.runner import attempt as files
from foldnote.service.runner import untrusted
from foldnote.service.runner.attempt import AttemptSpec

SMALL_BYTES = 64 << 10
"""Maximum size of score and notes."""
_CHUNK_BYTES = 1 << 20
_SETTINGS_SHOWN_BYTES = 65_536
USED = "used.json"
_USED_BYTES = 1 << 20
"""Maximum size of ``used.json``."""
_NOT_REPORTED = "The engine was given a seed, and does not report which seed it used."
_NO_SEED = "The engine uses no random seed."
STAND_IN_NOTE = "Ran with stand-in weights: figures mean nothing."
"""First note of every run of a model whose weights are random numbers of the right shapes."""
_NO_REPORT = "The run ended before the engine reported whether it used this add-on."


@dataclass(frozen=True, slots=True)
class Used:
    """Seed, settings and add-ons used by a run."""

    seed: int | None = None
    seed_note: str | None = None
    """Why there is no seed; None if there is one."""
    takes_seed: bool = True
    """Whether the engine can use a seed; if it does not report one, it may have used the one it was given."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Values that the engine used, whether submitted or computed."""
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Settings that had no effect, each with the reason."""
    add_ons: Mapping[str, Any] = field(default_factory=dict)
    """The engine's report on each add-on, by name: ``used``, and the ``reason`` if it was not."""
    databases: tuple[Mapping[str, Any], ...] = ()
    """Databases searched on this machine: ``name``, ``modified``, ``sizeBytes`` and ``program`` of each."""

    def describe(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the manifest's fields on settings; ``settings`` are those of ``job.json``."""
        changed = {
            name: {"given": settings.get(name), "used": value}
            for name, value in self.settings.items()
            if name not in settings or settings[name] != value
        }
        return {"settingsChanged": changed, "settingsIgnored": dict(self.ignored)}

    def describe_engine(self, engine: Mapping[str, Any]) -> dict[str, Any]:
        """Return the manifest's engine, with ``used`` and ``reason`` of each of its add-ons."""
        if "addOns" not in engine:
            return dict(engine)
        silent = {"used": None, "reason": _NO_REPORT}
        used_add_ons = {name: record for name, record in self.add_ons.items() if isinstance(record, dict)}
        return {
            **engine,
            "addOns": [record | used_add_ons.get(record["name"], silent) for record in engine["addOns"]],
        }


def has_stand_ins(spec: AttemptSpec) -> bool:
    """Return whether any weights of the engine are stand-ins."""
    return any(weight.get("state") == "stand-in" for weight in spec.engine.get("weights", ()))


def read_used(attempt_dir: Path) -> Used:
    """Return the engine's report; an unreadable one counts as absent. Links are not followed."""
    content = _read_json(attempt_dir, USED, _USED_BYTES)
    if not isinstance(content, dict):
        return Used(seed_note=_NOT_REPORTED)
    names = ("seed", "settings", "ignored", "addOns", "databases")
    seed, settings, ignored, add_ons, databases = (content.get(name) for name in names)
    is_seed = isinstance(seed, int) and not isinstance(seed, bool)
    takes_seed = "seed" not in content or seed is not None
    return Used(
        seed=seed if is_seed else None,
        seed_note=None if is_seed else _NOT_REPORTED if takes_seed else _NO_SEED,
        takes_seed=takes_seed,
        settings=settings if isinstance(settings, dict) else {},
        ignored={name: str(reason) for name, reason in ignored.items()} if isinstance(ignored, dict) else {},
        add_ons=add_ons if isinstance(add_ons, dict) else {},
        databases=tuple(database for database in databases if isinstance(database, dict))
        if isinstance(databases, list)
        else (),
    )


def make_manifest(
    spec: AttemptSpec,
    state: str,
    started: str,
    outputs: list[dict[str, Any]],
    check: Callable[[], None] | None,
    note: str | None = None,
) -> dict[str, Any]:
    """Return the manifest as JSON, with a note of the service.

    ``check`` is called before each MB of an input; without it inputs are not hashed.
    """
    used = read_used(spec.folder)
    ran = {**spec.settings, **used.settings}
    settings = json.dumps(ran, sort_keys=True)
    is_shown = len(settings) <= _SETTINGS_SHOWN_BYTES
    offered = spec.seed if used.takes_seed else None
    seed = {"seed": used.seed, "seedNote": used.seed_note, "seedOffered": offered}
    return {
        "manifestVersion": 1,
        "job": {"jobName": spec.job_name, "type": spec.tool, **seed},
        "settings": ran if is_shown else None,
        "settingsSha256": hash_bytes(settings.encode()),
        **(used.describe(spec.settings) if is_shown else {}),
        **({"extensions": dict(spec.extensions)} if spec.extensions else {}),
        "inputs": _list_inputs(spec, check),
        **({"databases": list(used.databases)} if used.databases else {}),
        "engine": used.describe_engine(spec.engine),
        "notes": [
            *([STAND_IN_NOTE] if has_stand_ins(spec) else []),
            *([note] if note else []),
            *_read_notes(spec.folder),
        ],
        "state": state,
        "started": started,
        "ended": files.now(),
        "outputs": outputs,
    }


def _list_inputs(spec: AttemptSpec, check: Callable[[], None] | None) -> list[dict[str, Any]]:
    """Return the input files as they are after the run; one that the engine removed has no hash."""
    return [
        {"field": field, "name": path.rpartition("/")[2], **_measure(spec, path, check)}
        for field, paths in spec.files.items()
        for path in paths
    ]


def _measure(spec: AttemptSpec, path: str, check: Callable[[], None] | None) -> dict[str, Any]:
    with untrusted.open_folder(spec.folder) as attempt:
        descriptor = None if check is None else untrusted.open_file(f"{files.WORK}/{path}", attempt)
    if check is None or descriptor is None:
        return {"sizeBytes": None, "sha256": None}
    digest, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "rb", buffering=0) as source:
        while chunk := source.read(_CHUNK_BYTES):
            check()
            digest.update(chunk)
            size += len(chunk)
    return {"sizeBytes": size, "sha256": digest.hexdigest()}


def _read_notes(attempt_dir: Path) -> list[str]:
    """Return the engine's notes on this result: a JSON array of sentences."""
    content = _read_json(attempt_dir, "notes.json", SMALL_BYTES)
    return [str(note) for note in content] if isinstance(content, list) else []


def read_small(attempt_dir: Path, name: str, max_bytes: int = SMALL_BYTES) -> bytes | None:
    """Return a small file of the work folder; None if it does not exist.

    Raises:
        NotRegularError: it is not a regular file, or larger than ``max_bytes``.
        OSError: the machine can open no more files, or its disk fails.
    """
    try:
        with (
            untrusted.open_folder(attempt_dir) as attempt,
            untrusted.open_folder(files.WORK, attempt) as work,
        ):
            return untrusted.read_regular(name, max_bytes, work)
    except OSError as exc:
        if not untrusted.is_absent(exc):
            raise
        return None


def _read_json(attempt_dir: Path, name: str, max_bytes: int) -> Any:
    """Return the content; None if it is absent, a link, not a regular file, too large or not JSON."""
    try:
        content = read_small(attempt_dir, name, max_bytes) or b"null"
        return json.loads(content, parse_float=_read_float, parse_constant=str)
    except (ValueError, RecursionError):
        return None


def _read_float(text: str) -> float | str:
    """Parse a number; return its text if it is too large for a float: JSON has no infinity."""
    number = float(text)
    return number if math.isfinite(number) else text
