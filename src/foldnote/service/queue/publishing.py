"""From a work folder to what is kept: the result archive and the manifest.

The archive holds what the engine left in ``outputs/`` at its root, and beside it the manifest, the score and
the log. Links are not followed: an engine cannot put a file of the machine into a result. It decides neither
how the attempt ended nor when this is done.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldnote.service.queue import attempt as files
from foldnote.service.queue.attempt import AttemptSpec
from foldnote.service.queue.used import read_used

OWN_NAMES = frozenset({"manifest.json", "score.json", "job.log"})
"""What the service itself puts into an archive, beside what the engine left."""
_STRANGE = re.compile("[\\\\\x00-\x1f\ud800-\udfff]")
_CHUNK_BYTES = 1 << 20
_SETTINGS_SHOWN_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Archive:
    """The published result archive."""

    size_bytes: int
    sha256: str


def publish_result(spec: AttemptSpec, state: str, started: str) -> Archive | None:
    """Write ``result.zip`` with its manifest; without any output ``manifest.json`` alone, and give None.

    Raises:
        OSError: the folder cannot be written, for example because the disk is full.
    """
    outputs = find_outputs(spec.folder / files.WORK / "outputs")
    manifest = _make_manifest(spec, state, started, outputs)
    if not outputs:
        files.write_json(spec.folder / files.MANIFEST, manifest, is_durable=False)
        return None
    draft = spec.folder / f".{files.RESULT}"
    _write_archive(spec.folder, outputs, manifest, draft)
    archive = Archive(draft.stat().st_size, _hash_file(draft))
    draft.rename(spec.folder / files.RESULT)
    return archive


def find_outputs(folder: Path) -> dict[str, Path]:
    """Regular files below ``folder`` by the name that they get in the archive, sorted; links are left out."""
    places: dict[str, Path] = {}
    for root, _, names in os.walk(folder, followlinks=False):
        for name in names:
            path = Path(root, name)
            if path.is_file() and not path.is_symlink():
                places[path.relative_to(folder).as_posix()] = path
    found: dict[str, Path] = {}
    for place in sorted(places, key=lambda each: (plain_name(each) != each, each)):
        member = plain_name(place)
        while member in found:
            member = f"_{member}"
        found[f"outputs/{member}" if member in OWN_NAMES else member] = places[place]
    return dict(sorted(found.items()))


def plain_name(place: str) -> str:
    """The place as every reader of archives takes it: no backslash, drive, control or half character."""
    plain = _STRANGE.sub("_", place)
    return plain.replace(":", "_", 1) if plain[1:2] == ":" else plain


def read_score(work: Path) -> dict[str, Any] | None:
    """The flat object of figures in ``score.json``; None when it is absent or is not one."""
    try:
        content = json.loads((work / "score.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return {name: value for name, value in content.items() if _is_figure(value)} or None


def _is_figure(value: object) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _make_manifest(
    spec: AttemptSpec, state: str, started: str, outputs: Mapping[str, Path]
) -> dict[str, Any]:
    used = read_used(spec.folder / files.WORK)
    ran = {**spec.settings, **used.settings}
    settings = json.dumps(ran, sort_keys=True)
    is_shown = len(settings) <= _SETTINGS_SHOWN_BYTES
    seed = {"seed": used.seed, "seedNote": used.seed_note, "seedOffered": spec.seed}
    return {
        "manifestVersion": 1,
        "job": {"jobName": spec.job_name, "type": spec.tool, **seed},
        "settings": ran if is_shown else None,
        "settingsSha256": hashlib.sha256(settings.encode()).hexdigest(),
        **(used.describe(spec.settings) if is_shown else {}),
        "inputs": _list_inputs(spec),
        "engine": dict(spec.engine),
        "notes": _read_notes(spec.folder / files.WORK / "notes.json"),
        "state": state,
        "started": started,
        "ended": files.now(),
        "outputs": [
            {"name": name, "sizeBytes": path.stat().st_size, "sha256": _hash_file(path)}
            for name, path in outputs.items()
        ],
    }


def _list_inputs(spec: AttemptSpec) -> list[dict[str, Any]]:
    """The files that went in, as they are when the run has ended; one that an engine removed has no hash."""
    found = []
    for field, places in spec.files.items():
        for place in places:
            path = spec.folder / files.WORK / place
            is_there = path.is_file() and not path.is_symlink()
            found.append(
                {
                    "field": field,
                    "name": path.name,
                    "sizeBytes": path.stat().st_size if is_there else None,
                    "sha256": _hash_file(path) if is_there else None,
                }
            )
    return found


def _read_notes(path: Path) -> list[str]:
    """What the engine wants to be known of this result: a JSON array of sentences, or nothing."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [str(each) for each in content] if isinstance(content, list) else []


def _write_archive(
    folder: Path, outputs: Mapping[str, Path], manifest: Mapping[str, Any], target: Path
) -> None:
    with target.open("wb") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for name, path in outputs.items():
                _add_file(archive, path, name)
            archive.writestr("manifest.json", json.dumps(manifest))
            _add_file(archive, folder / files.WORK / "score.json", "score.json")
            if not _add_file(archive, folder / files.LOG, "job.log"):
                archive.writestr("job.log", b"")
        stream.flush()
        os.fsync(stream.fileno())


def _add_file(archive: zipfile.ZipFile, path: Path, name: str) -> bool:
    """Add a regular file; False when it is none, or a link."""
    if path.is_symlink() or not path.is_file():
        return False
    archive.write(path, name)
    return True


def _hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
