"""A result as an RO-Crate: its files with who made them, from what, when, in a form that other programs read.

The crate follows the Process Run Crate profile of the Workflow Run RO-Crate collection
(https://w3id.org/ro/wfrun/process/0.5; Leo et al. 2024, doi:10.1371/journal.pone.0309210): one CreateAction,
its instrument is the method that really ran, its objects are settings and input files, its results are the
files. It is written with the ``rocrate`` library, which is an extra.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from foldnote.errors import ArchiveError, ConfigurationError

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

    from foldnote.results.result import Result

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_DONE = "http://schema.org/CompletedActionStatus"
_FAILED = "http://schema.org/FailedActionStatus"
_NO_LICENCE = "No licence is stated for this result; ask whoever ran the job before it is passed on."
_MOST_TEXT = 2000
_FORMATS = {
    ".pdb": "chemical/x-pdb",
    ".cif": "chemical/x-cif",
    ".mmcif": "chemical/x-mmcif",
    ".sdf": "chemical/x-mdl-sdfile",
    ".mol2": "chemical/x-mol2",
    ".fasta": "text/x-fasta",
    ".a3m": "text/x-fasta",
    ".log": "text/plain",
    ".npz": "application/zip",
}


def save_crate(result: Result, place: Path, licence: str | None = None) -> Path:
    """Write a result as an RO-Crate; see :meth:`foldnote.results.Result.save_crate`.

    Raises:
        ConfigurationError: the library ``rocrate`` is not installed.
        ArchiveError: something is at ``place`` already.
    """
    crate_type = _find_library()
    if place.exists():
        raise ArchiveError(f"{place} exists already; choose another place for the crate.")
    about = result.provenance()
    with tempfile.TemporaryDirectory(prefix="foldnote-crate-") as folder:
        files = Path(folder)
        result.save_to(files)
        (files / "provenance.json").write_text(json.dumps(about, indent=2), "utf-8")
        crate = crate_type(version="1.1")
        _describe_root(crate, about, licence)
        action = _describe_action(crate, about, files)
        crate.root_dataset.append_to("mentions", action)
        if place.suffix.lower() == ".zip":
            crate.write_zip(place)
        else:
            crate.write(place)
    return place


def _find_library() -> Any:
    try:
        from rocrate.rocrate import ROCrate
    except ImportError as exc:
        raise ConfigurationError(
            "The library rocrate, which writes RO-Crates, is not installed: pip install 'foldnote[crate]'"
        ) from exc
    return ROCrate


def _describe_root(crate: ROCrate, about: Mapping[str, Any], licence: str | None) -> None:
    job = about["job"]
    profile = _add(crate, PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
    root = crate.root_dataset
    root["conformsTo"] = profile
    root["name"] = f"Result of the job {job['jobName']}"
    root["description"] = (
        f"What {about['method']['name'] or job['tool']} computed, with settings and provenance."
    )
    root["datePublished"] = job["ended"] or datetime.now(UTC).isoformat(timespec="seconds")
    if licence and licence.startswith(("https://", "http://")):
        root["license"] = _add(crate, licence, "CreativeWork", name=licence, url=licence)
    else:
        root["license"] = licence or _NO_LICENCE


def _describe_action(crate: ROCrate, about: Mapping[str, Any], files: Path) -> Any:
    job = about["job"]
    inputs = [*_add_settings(crate, about), *_add_inputs(crate, about)]
    results = [_add_output(crate, files, row) for row in about["outputs"] if (files / row["name"]).is_file()]
    record = crate.add_file(
        files / "provenance.json",
        "provenance.json",
        properties={"name": "Provenance of the result", "encodingFormat": "application/json"},
    )
    failed = job["status"] not in ("Complete", "succeeded", None)
    properties: dict[str, Any] = {
        "@type": "CreateAction",
        "name": f"Run of {job['tool']}: {job['jobName']}",
        "description": f"{about['method']['name'] or job['tool']} ran as the job {job['jobName']}.",
        "startTime": _write_time(job["started"]),
        "endTime": _write_time(job["ended"]),
        "actionStatus": _FAILED if failed else _DONE,
        "object": [{"@id": entity.id} for entity in inputs],
        "result": [{"@id": entity.id} for entity in results],
        "instrument": {"@id": _add_method(crate, about).id},
        "agent": {"@id": _add_agent(crate, about).id},
        "subjectOf": {"@id": record.id},
    }
    if about["service"].get("address"):
        properties["location"] = str(about["service"]["address"])
    return _add(crate, "#run", **properties)


def _add_method(crate: ROCrate, about: Mapping[str, Any]) -> Any:
    """The program that really ran; the tool that was asked for where nobody says."""
    method, job = about["method"], about["job"]
    papers = [
        _add(crate, f"#citation-{number}", "ScholarlyArticle", name=text)
        for number, text in enumerate(about["citations"], 1)
    ]
    return _add(
        crate,
        method["homepage"] or "#method",
        "SoftwareApplication",
        name=method["name"] or job["tool"],
        softwareVersion=method["version"] or "not stated",
        description=" ".join(method["notes"]) or None,
        url=method["homepage"],
        license=method["licence"],
        citation=[{"@id": paper.id} for paper in papers] or None,
        softwareRequirements=[f"{name} {version}" for name, version in about["engine"]["packages"].items()]
        or None,
    )


def _add_agent(crate: ROCrate, about: Mapping[str, Any]) -> Any:
    """Whose account submitted the job; the client where the service does not say."""
    owner = about["job"]["owner"]
    if owner:
        return _add(crate, "#owner", "Person", name=owner)
    client = about["client"]
    return _add(
        crate,
        "#client",
        "SoftwareApplication",
        name=client.get("name") or "foldnote",
        softwareVersion=client.get("version") or "not stated",
    )


def _add_settings(crate: ROCrate, about: Mapping[str, Any]) -> list[Any]:
    settings = dict(about["settings"] or {})
    if about["seed"] is not None:
        settings.setdefault("seed", about["seed"])
    return [
        _add(crate, f"#setting-{name}", "PropertyValue", name=name, value=_write_value(value))
        for name, value in settings.items()
    ]


def _write_value(value: Any) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}… ({len(text)} characters)"


def _add_inputs(crate: ROCrate, about: Mapping[str, Any]) -> list[Any]:
    """The input files, which are at the service: named and hashed, not part of the crate."""
    return [
        _add(
            crate,
            f"#input-{number}",
            "CreativeWork",
            name=str(each.get("name")),
            about=str(each.get("field") or ""),
            sha256=each.get("sha256"),
            contentSize=str(each["sizeBytes"]) if each.get("sizeBytes") is not None else None,
        )
        for number, each in enumerate(about["inputs"], 1)
    ]


def _add_output(crate: ROCrate, files: Path, row: Mapping[str, Any]) -> Any:
    properties = {
        "name": row["name"],
        "contentSize": str(row["sizeBytes"]),
        "sha256": row["sha256"],
        "encodingFormat": _find_format(row["name"]),
    }
    return crate.add_file(files / row["name"], row["name"], properties=properties)


def _write_time(text: str | None) -> str | None:
    """A time in whole seconds, which every reader of the profile takes."""
    if not text:
        return None
    return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds")


def _find_format(name: str) -> str:
    ending = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
    return _FORMATS.get(ending) or guess_type(name)[0] or "application/octet-stream"


def _add(crate: ROCrate, identifier: str, kind: str | None = None, **properties: Any) -> Any:
    from rocrate.model.contextentity import ContextEntity

    known = {name: value for name, value in properties.items() if value is not None}
    return crate.add(ContextEntity(crate, identifier, properties=({"@type": kind} if kind else {}) | known))
