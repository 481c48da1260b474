"""Export a result as an RO-Crate: its files with machine-readable provenance.

The crate follows the Workflow Run and Provenance Run Crate profiles of the Workflow Run RO-Crate collection
(https://w3id.org/ro/wfrun/workflow/0.5; Leo et al. 2024, doi:10.1371/journal.pone.0309210). Its main entity
is the workflow, with one step per job: one for a single job, several for a batch or pipeline. One
CreateAction describes the whole run; another for each step has the method that ran as its instrument, the
settings as its objects and the step's files as its results. The library ``rocrate``, an optional dependency,
writes the crate.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from foldnote.errors import ArchiveError, ConfigurationError
from foldnote.io import save_file, saving
from foldnote.results.provenance.crate_steps import (
    HOMEPAGE,
    WORKFLOW,
    DescribedStep,
    add,
    add_workflow,
    describe_step,
    refer,
    write_time,
)
from foldnote.results.provenance.manifest import title_method
from foldnote.results.provenance.workflow import WorkflowStep, list_steps, write_workflow

if TYPE_CHECKING:
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    from foldnote.results.result import Result

PROFILE = "https://w3id.org/ro/wfrun/workflow/0.5"
_WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    PROFILE: ("Workflow Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/provenance/0.5": ("Provenance Run Crate", "0.5"),
    _WORKFLOW_CRATE: ("Workflow RO-Crate", "1.0"),
}
_LOCAL_ACCOUNT, _LOCAL_USER = "local@foldnote.invalid", "User of the computer (not named)"
"""The account of a service that has no accounts, and what the crate calls it, whose address nobody has."""
_README = "README.md"
_TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
"""Terms of the profiles that are not in the RO-Crate 1.1 context."""
_DONE = "http://schema.org/CompletedActionStatus"
_FAILED = "http://schema.org/FailedActionStatus"
_NO_LICENCE = "No licence is stated for this result; ask the person who ran the job before sharing it."
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


def save_crate(result: Result, path: Path, licence: str | None = None) -> Path:
    """Write a result as an RO-Crate; see :meth:`foldnote.results.Result.save_crate`.

    Raises:
        ConfigurationError: the library ``rocrate`` is not installed.
        ArchiveError: ``path`` already exists.
        ResultError: it cannot be written; nothing of it remains.
    """
    crate_type = _find_library()
    if path.exists():
        raise ArchiveError(f"{path} already exists; choose another path for the RO-Crate.")
    about = result.provenance()
    with tempfile.TemporaryDirectory(prefix="foldnote-crate-") as folder:
        files = Path(folder)
        result.save_to(files)
        save_file(files / "provenance.json", json.dumps(about, indent=2))
        steps = list_steps(result, about)
        save_file(files / WORKFLOW, json.dumps(write_workflow(steps, about), indent=2))
        crate = crate_type(version="1.1")
        crate.metadata.extra_terms.update(_TERMS)
        _describe_root(crate, about, licence)
        for action in _describe_runs(crate, about, files, steps):
            crate.root_dataset.append_to("mentions", action)
        _add_readme(crate, files, steps)
        with saving(path, sum(path_inside.stat().st_size for path_inside in files.rglob("*"))):
            try:
                _write_zip(crate, path) if path.suffix.lower() == ".zip" else crate.write(path)
            except BaseException:  # includes KeyboardInterrupt: a partial crate would block the next attempt
                _remove_partial(path)  # before free space is measured for the message
                raise
    return path


def _write_zip(crate: ROCrate, path: Path) -> None:
    """Write the crate as a ZIP file; its own method leaves handles open where the disk is full."""
    with tempfile.TemporaryDirectory(prefix="foldnote-crate-") as name:
        folder = Path(name) / "crate"
        crate.write(folder)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            for file in sorted(folder.rglob("*")):
                target.write(file, file.relative_to(folder))


def _remove_partial(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _find_library() -> Any:
    try:
        from rocrate.rocrate import ROCrate
    except ImportError as exc:
        raise ConfigurationError(
            "Writing RO-Crates requires the library rocrate: pip install 'foldnote[crate]'"
        ) from exc
    return ROCrate


def _describe_root(crate: ROCrate, about: Mapping[str, Any], licence: str | None) -> None:
    job = about["job"]
    root = crate.root_dataset
    root["conformsTo"] = [
        add(crate, url, "CreativeWork", name=name, version=version)
        for url, (name, version) in _PROFILES.items()
    ]
    crate.metadata["conformsTo"] = [{"@id": "https://w3id.org/ro/crate/1.1"}, {"@id": _WORKFLOW_CRATE}]
    root["author"] = _add_agent(crate, about)
    root["name"] = f"Result of the job {job['jobName']}"
    root["description"] = f"Output of {about['method']['name'] or job['tool']}, with settings and provenance."
    root["datePublished"] = job["ended"] or datetime.now(UTC).isoformat(timespec="seconds")
    if licence and licence.startswith(("https://", "http://")):
        root["license"] = add(crate, licence, "CreativeWork", name=licence, url=licence)
    else:
        root["license"] = add(crate, "#licence", "CreativeWork", name=licence or _NO_LICENCE)


def _add_readme(crate: ROCrate, files: Path, steps: Sequence[WorkflowStep]) -> None:
    """Add a README for people, unless the result contains one."""
    if (files / _README).exists():
        return
    root = crate.root_dataset
    ran = [f"- {step.name}: {title_method(step.method or step.tool, step.version)}" for step in steps]
    text = f"""# {root["name"]}

{root["description"]}

Steps:

{chr(10).join(ran)}

`ro-crate-metadata.json` describes each file in machine-readable form. Settings, times and hashes are in
`provenance.json`, the steps in `{WORKFLOW}`.

Licence: {root["license"]["name"]}
"""
    save_file(files / _README, text)
    about = {"name": "About this folder", "encodingFormat": "text/markdown", "about": refer(root)}
    crate.add_file(files / _README, _README, properties=about)


def _describe_runs(
    crate: ROCrate, about: Mapping[str, Any], files: Path, steps: Sequence[WorkflowStep]
) -> list[ContextEntity]:
    """Describe the run of the whole workflow, then that of each step."""
    job = about["job"]
    outputs = {
        row["name"]: _add_output(crate, files, row)
        for row in about["outputs"]
        if (files / row["name"]).is_file()
    }
    described = [describe_step(crate, number, step) for number, step in enumerate(steps, 1)]
    inputs = _add_inputs(crate, about)
    workflow = add_workflow(crate, files / WORKFLOW, about, described, inputs, list(outputs.values()))
    record = crate.add_file(
        files / "provenance.json",
        "provenance.json",
        properties={"name": "Provenance of the result", "encodingFormat": "application/json"},
    )
    agent = _add_agent(crate, about)
    common = {"agent": refer(agent), "actionStatus": _find_status(job["status"])}
    objects = [*inputs, *(value for item in described for value in item.settings)]
    run = add(
        crate,
        "#run",
        "CreateAction",
        name=f"Run of {job['tool']}: {job['jobName']}",
        description=f"The steps of {WORKFLOW} ran as {job['jobName']}.",
        startTime=write_time(job["started"]),
        endTime=write_time(job["ended"]),
        object=[refer(item) for item in objects],
        result=[refer(item) for item in outputs.values()],
        instrument=refer(workflow),
        subjectOf=refer(record),
        location=str(about["service"]["address"]) if about["service"].get("address") else None,
        **common,
    )
    return [run, *(_describe_run(crate, item, outputs, common) for item in described)]


def _describe_run(
    crate: ROCrate, described: DescribedStep, outputs: Mapping[str, Any], common: Mapping[str, Any]
) -> ContextEntity:
    """Describe the run of one step, with the method that actually ran."""
    step = described.step
    return add(
        crate,
        f"#run-{described.number}",
        "CreateAction",
        name=f"Run of {step.tool}: {step.name}",
        description=f"{step.method or step.tool} ran as the job {step.name}.",
        startTime=write_time(step.started),
        endTime=write_time(step.ended),
        object=[refer(setting) for setting in described.settings],
        result=[refer(file) for name, file in outputs.items() if step.holds(name)],
        instrument=refer(described.method),
        **common,
    )


def _find_status(status: str | None) -> str:
    return _DONE if status in ("Complete", "succeeded", None) else _FAILED


def _add_agent(crate: ROCrate, about: Mapping[str, Any]) -> ContextEntity:
    """Return the account that submitted the job; the client if the service does not name one."""
    owner = about["job"]["owner"]
    if owner:
        return add(crate, "#owner", "Person", name=_LOCAL_USER if owner == _LOCAL_ACCOUNT else owner)
    client = about["client"]
    return add(
        crate,
        "#client",
        "SoftwareApplication",
        name=client.get("name") or "foldnote",
        softwareVersion=client.get("version") or "not stated",
        url=HOMEPAGE,
    )


def _add_inputs(crate: ROCrate, about: Mapping[str, Any]) -> list[Any]:
    """Add the input files by name and hash only, since they remain at the service."""
    return [
        add(
            crate,
            f"#input-{number}",
            "CreativeWork",
            name=str(record.get("name")),
            about=str(record.get("field") or ""),
            sha256=record.get("sha256"),
            contentSize=str(record["sizeBytes"]) if record.get("sizeBytes") is not None else None,
        )
        for number, record in enumerate(about["inputs"], 1)
    ]


def _add_output(crate: ROCrate, files: Path, row: Mapping[str, Any]) -> Any:
    properties = {
        "name": row["name"],
        "contentSize": str(row["sizeBytes"]),
        "sha256": row["sha256"],
        "encodingFormat": _find_format(row["name"]),
    }
    return crate.add_file(files / row["name"], row["name"], properties=properties)


def _find_format(name: str) -> str:
    ending = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
    return _FORMATS.get(ending) or guess_type(name)[0] or "application/octet-stream"
