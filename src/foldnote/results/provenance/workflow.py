"""The workflow behind a result: one step per job, several for a batch or pipeline.

The steps of a batch or pipeline are read from the manifests in its archive, so they describe what actually
ran. Without manifests, the workflow is a single step described by the job's record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from foldnote.errors import UnreadableFileError
from foldnote.results.archives.archive import BROKEN
from foldnote.results.provenance.manifest import Manifest, read_manifest
from foldnote.text import texts_in

if TYPE_CHECKING:
    from foldnote.results.result import Result

_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class WorkflowStep:
    """One run of a tool.

    Attributes:
        name: name of the job.
        tool: type of the tool.
        settings: the settings used; those submitted if the service does not report them.
        method: name of the method that ran; "" if unknown.
        version: version of the method; "" if unknown.
        notes: remarks by the engine.
        licence: licence of the method; None if unknown.
        homepage: URL of the method; None if unknown.
        packages: versions of the packages in the engine's environment and of its add-ons' methods, by name.
        citations: publications to cite, as text.
        seed: random seed used; None if there was none or it is unknown.
        started: start of the run, RFC 3339, UTC; None if unknown.
        ended: end of the run, RFC 3339, UTC; None if unknown.
        folder: folder of its files in the result; "" for the root.
        after: names of the steps whose files it used as input.
    """

    name: str
    tool: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""
    version: str = ""
    notes: tuple[str, ...] = ()
    licence: str | None = None
    homepage: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    citations: tuple[str, ...] = ()
    seed: int | None = None
    started: str | None = None
    ended: str | None = None
    folder: str = ""
    after: tuple[str, ...] = ()

    def holds(self, name: str) -> bool:
        """Return whether the file ``name`` of the result belongs to this step."""
        return not self.folder or name.startswith(f"{self.folder}/")


def list_steps(result: Result, about: Mapping[str, Any]) -> list[WorkflowStep]:
    """List the steps of a result by start time; ``about`` is its provenance."""
    steps = [_read_step(manifest, folder) for folder, manifest in read_parts(result)]
    if not steps:
        return [_describe_job(about)]
    steps.sort(key=lambda step: step.started or "")
    names = [step.name for step in steps]
    return [_connect(step, [name for name in names if name != step.name]) for step in steps]


def write_workflow(steps: list[WorkflowStep], about: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the workflow as a JSON object: what is needed to run it again, without times and files."""
    return {
        "workflowVersion": 1,
        "name": about["job"]["jobName"],
        "steps": [
            {
                "name": step.name,
                "tool": step.tool,
                "settings": dict(step.settings),
                "seed": step.seed,
                "after": list(step.after),
                "method": {"name": step.method or None, "version": step.version or None},
            }
            for step in steps
        ],
    }


def read_parts(result: Result) -> Iterator[tuple[str, Manifest]]:
    """Yield folder and manifest of each job in an archive of several jobs, skipping damaged manifests."""
    for file in result.files:
        path = PurePosixPath(file.name)
        if path.name == _MANIFEST and len(path.parts) == 2:
            try:
                yield str(path.parent), read_manifest(result.read(file.name), file.name)
            except (UnreadableFileError, *BROKEN):
                continue


def _read_step(manifest: Manifest, folder: str) -> WorkflowStep:
    engine, settings = manifest.data.get("engine"), manifest.data.get("settings")
    engine = engine if isinstance(engine, Mapping) else {}
    added = [add_on.data for add_on in manifest.add_ons]
    return WorkflowStep(
        name=manifest.job_name or folder,
        tool=manifest.tool or "not stated",
        settings=settings if isinstance(settings, Mapping) else {},
        method=manifest.method,
        version=manifest.version,
        notes=manifest.notes,
        licence=engine.get("licence"),
        homepage=engine.get("homepage"),
        packages={
            **(engine.get("packages") or {}),
            **{add_on.method: add_on.version for add_on in manifest.add_ons},
        },
        citations=tuple(add_on["citation"] for add_on in (engine, *added) if add_on.get("citation")),
        seed=manifest.seed,
        started=manifest.started or None,
        ended=manifest.ended or None,
        folder=folder,
    )


def _describe_job(about: Mapping[str, Any]) -> WorkflowStep:
    job, method = about["job"], about["method"]
    return WorkflowStep(
        name=str(job["jobName"]),
        tool=str(job["tool"] or "not stated"),
        settings=about["settings"] or {},
        method=method["name"] or "",
        version=method["version"] or "",
        notes=tuple(method["notes"]),
        licence=method["licence"],
        homepage=method["homepage"],
        packages={
            **about["engine"]["packages"],
            **{add_on["method"]["name"]: add_on["method"]["version"] for add_on in about["addOns"]},
        },
        citations=tuple(about["citations"]),
        seed=about["seed"],
        started=job["started"],
        ended=job["ended"],
    )


def _connect(step: WorkflowStep, others: list[str]) -> WorkflowStep:
    """Fill in ``after``: the steps that the settings refer to, by the name of a job or a stage."""
    heads = {text.partition("/")[0] for text in texts_in(step.settings) if "/" in text and "\n" not in text}
    after = [name for name in others if any(name == head or name.endswith(f"-{head}") for head in heads)]
    return step if not after else WorkflowStep(**{**vars(step), "after": tuple(after)})
