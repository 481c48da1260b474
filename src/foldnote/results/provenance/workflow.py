"""What ran for a result: one step for a job, one for each job of a batch or stage of a pipeline.

The steps of a batch or pipeline are read from the manifests that its archive holds, so they are what really
ran. A result of a service that writes no manifests is one step, as far as the job's record tells it.
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
        name: the job's name.
        tool: type of the tool.
        settings: as they were run; as submitted where the service does not tell more.
        method: name of what really ran; empty where nobody says.
        version: of the method.
        notes: the engine's own sentences.
        licence: of the method; None where nobody says.
        homepage: of the method.
        packages: what the engine was made of, version by name.
        citations: texts.
        seed: random seed; None where there is none.
        started: RFC 3339, UTC; None where nobody says.
        ended: the same.
        folder: where its files lie in the result; empty at the top.
        after: names of the steps whose files it took.
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
        """Whether the file ``name`` of the result is this step's."""
        return not self.folder or name.startswith(f"{self.folder}/")


def list_steps(result: Result, about: Mapping[str, Any]) -> list[WorkflowStep]:
    """The steps of a result, in the order in which they began; ``about`` is its provenance."""
    steps = [_read_step(manifest, folder) for folder, manifest in read_parts(result)]
    if not steps:
        return [_tell_step(about)]
    steps.sort(key=lambda step: step.started or "")
    names = [step.name for step in steps]
    return [_connect(step, [name for name in names if name != step.name]) for step in steps]


def write_workflow(steps: list[WorkflowStep], about: Mapping[str, Any]) -> dict[str, Any]:
    """The workflow as JSON: what would have to be run again, without what the runs were like."""
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
    """By folder, the manifests that an archive of several jobs holds; damaged ones tell nothing."""
    for file in result.files:
        place = PurePosixPath(file.name)
        if place.name == _MANIFEST and len(place.parts) == 2:
            try:
                yield str(place.parent), read_manifest(result.read(file.name), file.name)
            except (UnreadableFileError, *BROKEN):
                continue


def _read_step(manifest: Manifest, folder: str) -> WorkflowStep:
    engine, settings = manifest.data.get("engine"), manifest.data.get("settings")
    engine = engine if isinstance(engine, Mapping) else {}
    return WorkflowStep(
        name=manifest.job_name or folder,
        tool=manifest.tool or "not stated",
        settings=settings if isinstance(settings, Mapping) else {},
        method=manifest.method,
        version=manifest.version,
        notes=manifest.notes,
        licence=engine.get("licence"),
        homepage=engine.get("homepage"),
        packages=engine.get("packages") or {},
        citations=(engine["citation"],) if engine.get("citation") else (),
        seed=manifest.seed,
        started=manifest.started or None,
        ended=manifest.ended or None,
        folder=folder,
    )


def _tell_step(about: Mapping[str, Any]) -> WorkflowStep:
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
        packages=about["engine"]["packages"],
        citations=tuple(about["citations"]),
        seed=about["seed"],
        started=job["started"],
        ended=job["ended"],
    )


def _connect(step: WorkflowStep, others: list[str]) -> WorkflowStep:
    """The step with the names of those whose files its settings name, as jobs or as stages."""
    heads = {text.partition("/")[0] for text in texts_in(step.settings) if "/" in text and "\n" not in text}
    after = [name for name in others if any(name == head or name.endswith(f"-{head}") for head in heads)]
    return step if not after else WorkflowStep(**{**vars(step), "after": tuple(after)})
