"""The provenance of a result as one JSON document, from its manifest, its files and the client's record.

Hashes are computed from the files present. Unknown values are null: if a service writes no manifest, the
settings are those submitted and the method is unknown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldnote.errors import UnreadableFileError
from foldnote.io import hash_file
from foldnote.results.archives.archive import BROKEN
from foldnote.results.provenance.manifest import AddOn, Manifest, read_mapping
from foldnote.results.provenance.workflow import read_parts

if TYPE_CHECKING:
    from foldnote.results.result import Result

_OWN_MANIFEST = "manifest.json"
_OWN_FILES = frozenset({"manifest.json", "score.json", "job.log"})


def describe(result: Result) -> dict[str, Any]:
    """Describe the provenance of a result; see :meth:`foldnote.results.Result.provenance`.

    For an archive of several jobs, ``method`` is empty and ``parts`` has the manifest of each job.
    """
    parts = {folder: part.data for folder, part in read_parts(result)}
    manifest = (None if parts and _OWN_MANIFEST not in result.match(["*"]) else result.manifest) or Manifest()
    origin = result.origin
    record = read_mapping(origin, "job")
    engine = read_mapping(manifest.data, "engine")
    added = [item.data for item in manifest.add_ons]
    normalized = manifest.data.get("settings")
    return {
        "provenanceVersion": 1,
        "job": {
            "jobName": manifest.job_name or record.get("jobName") or result.name,
            "tool": manifest.tool or record.get("tool") or record.get("type"),
            "status": record.get("status") or manifest.data.get("state"),
            "owner": record.get("email"),
            "batch": record.get("batch"),
            "projectTag": record.get("projectTag"),
            "created": record.get("created"),
            "started": manifest.started or record.get("started"),
            "ended": manifest.ended or record.get("completed"),
            "weightedHours": record.get("weightedHours"),
            "cpuSeconds": record.get("cpuSeconds"),
            "peakMemoryMb": record.get("peakMemoryMb"),
            "peakGpuMemoryMb": record.get("peakGpuMemoryMb"),
        },
        "settings": normalized if isinstance(normalized, Mapping) else record.get("settings"),
        "settingsAre": "normalized" if isinstance(normalized, Mapping) else "as submitted",
        "settingsSha256": manifest.data.get("settingsSha256"),
        "method": {
            "name": manifest.method or None,
            "version": manifest.version or None,
            "kind": manifest.kind or None,
            "isSubstitute": manifest.is_substitute if manifest.method else None,
            "licence": engine.get("licence"),
            "homepage": engine.get("homepage"),
            "notes": list(manifest.notes),
        },
        "engine": {"name": manifest.engine or None, "packages": dict(read_mapping(engine, "packages"))},
        "addOns": [_describe_add_on(item) for item in manifest.add_ons],
        "databases": [dict(item) for item in manifest.databases],
        "seed": manifest.seed,
        "seedNote": manifest.seed_note or None,
        "settingsChanged": dict(manifest.changed),
        "settingsIgnored": dict(manifest.ignored),
        "inputs": _list_inputs(manifest, origin),
        "outputs": _list_outputs(result, manifest),
        "parts": parts,
        "archive": _describe_file(result.archive.path),
        "service": dict(read_mapping(origin, "service")) | dict(read_mapping(manifest.data, "service")),
        "client": dict(read_mapping(origin, "client")),
        "citations": [item["citation"] for item in (engine, *added) if item.get("citation")],
    }


def _describe_add_on(add_on: AddOn) -> dict[str, Any]:
    return {
        "name": add_on.name,
        "method": {"name": add_on.method or None, "version": add_on.version or None},
        "licence": add_on.data.get("licence"),
        "homepage": add_on.data.get("homepage"),
        "note": add_on.data.get("note"),
        "packages": dict(read_mapping(add_on.data, "packages")),
    }


def _list_inputs(manifest: Manifest, origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the input files, as recorded by the service or else by the client."""
    for inputs in (manifest.data.get("inputs"), origin.get("inputs")):
        if isinstance(inputs, list) and inputs:
            return [dict(record) for record in inputs if isinstance(record, Mapping)]
    return []


def _list_outputs(result: Result, manifest: Manifest) -> list[dict[str, Any]]:
    announced = {
        str(record.get("name")): record.get("sha256")
        for record in manifest.data.get("outputs") or ()
        if isinstance(record, Mapping)
    }
    rows = []
    for file in result.files:
        digest = _hash_member(result, file.name)
        row: dict[str, Any] = {"name": file.name, "sizeBytes": file.size_bytes, "sha256": digest}
        if file.name in _OWN_FILES:
            row["role"] = "record"
        if file.name in announced:
            row["matchesManifest"] = announced[file.name] == digest
        rows.append(row)
    return rows


def _hash_member(result: Result, name: str) -> str | None:
    """Return the SHA-256 of one file in hexadecimal; None if it is damaged."""
    try:
        with result.archive.open(name) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    except (UnreadableFileError, *BROKEN):
        return None


def _describe_file(path: Path) -> dict[str, Any] | None:
    """Return the name, size and hash of the archive; None for a folder."""
    if not path.is_file():
        return None
    return {"name": path.name, "sizeBytes": path.stat().st_size, "sha256": hash_file(path)}
