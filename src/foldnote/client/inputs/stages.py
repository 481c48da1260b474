"""The stages of a pipeline, and their validation before they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldnote import catalog
from foldnote.client.inputs.file_values import (
    FileValue,
    StageFile,
    find_doubts,
    find_elsewhere,
    is_file_field,
)
from foldnote.client.inputs.plain_values import make_plain
from foldnote.errors import ArgumentError, SettingsError
from foldnote.io import hash_bytes
from foldnote.models import Problem, Tool, check_job_name
from foldnote.models.extensions import WIRE_NAME

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Stage:
    """One run of a tool in a pipeline.

    Attributes:
        name: unique in the pipeline; a file field of a later stage refers to it as ``name/path``.
        tool: the tool's type.
        settings: fields of the tool's schema; missing ones may be given with each run.
        extensions: what is sent in addition to the settings if the service accepts it; None for nothing.
    """

    name: str
    tool: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    extensions: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Convert numbers and columns of numpy and pandas."""
        object.__setattr__(self, "settings", make_plain(self.settings))

    def file(self, path: str = "") -> FileValue:
        """Refer to this stage's output in a file field of a later stage.

        Args:
            path: a file of the result, a pattern (``*.pdb``), or a folder (``models/``); by default all files
                of the result that have one of the field's extensions.

        Raises:
            ArgumentError: ``path`` is not inside a result.
        """
        if not isinstance(path, str) or path.startswith("/") or ".." in path.split("/") or "\n" in path:
            raise ArgumentError(f"{path!r} is not a path inside the result of the stage {self.name!r}.")
        return StageFile(f"{self.name}/{path}")

    def to_wire(self) -> dict[str, Any]:
        """Return the stage in the body of POST /submit-pipeline."""
        row = {"name": self.name, "type": self.tool, "settings": dict(self.settings)}
        return row | ({WIRE_NAME: dict(self.extensions)} if self.extensions else {})


@dataclass(frozen=True)
class Pipeline:
    """A saved pipeline, which ``client.pipelines.run`` runs."""

    name: str
    stages: tuple[Stage, ...]

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the stages."""
        rows = [stage.to_wire() for stage in self.stages]
        return hash_bytes(json.dumps(rows, sort_keys=True, default=str).encode())

    def __repr__(self) -> str:
        steps = " → ".join(f"{stage.name} ({stage.tool})" for stage in self.stages)
        return f"<pipeline {self.name}: {steps}>"


def check_stages(name: str, stages: Sequence[Stage], tools: Mapping[str, Tool], service: str) -> None:
    """Validate stages: names, settings, uploads, and references to earlier stages.

    Args:
        name: the pipeline's name.
        stages: in running order.
        tools: the stages' tools, by type.
        service: the one that is to run them (see ``Client.service``).

    Raises:
        SettingsError: names, settings or references break a rule; nothing was sent.
    """
    problems = list(_check_names(name, stages))
    for position, stage in enumerate(stages):
        place = f"stages[{position}].settings"
        names = [other.name for other in stages]
        checked = _check_settings(tools[stage.tool], stage, names[:position], names[position:])
        for found in (*checked, *find_elsewhere(stage.settings, service)):
            problems.append(Problem(field=f"{place}.{found.field}", message=found.message, code=found.code))
    if problems:
        raise SettingsError(problems)


def read_records(stages: Sequence[Stage], inputs: Inputs, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """Replace FASTA records in a run's inputs by their letters; see `catalog.read_records`."""
    named = {stage.name: tools[stage.tool] for stage in stages if stage.tool in tools}
    read: dict[str, Any] = {}
    for name, value in inputs.items():
        if isinstance(value, Mapping) and name in named:
            read[name] = catalog.read_records(named[name], value)
        elif stages and stages[0].name in named:
            read |= catalog.read_records(named[stages[0].name], {name: value})
        else:
            read[name] = value
    return read


def find_input_doubts(
    stages: Sequence[Stage], inputs: Inputs, tools: Mapping[str, Tool]
) -> Iterator[Problem]:
    """Find ambiguous file names in a run's inputs; fields are paths below ``inputs``."""
    for stage in stages:
        settings = inputs.get(stage.name)
        if isinstance(settings, Mapping):
            for found in find_doubts(tools[stage.tool], settings):
                yield found.at(f"inputs.{stage.name}.{found.field}")
    loose = {name: value for name, value in inputs.items() if not isinstance(value, Mapping)}
    if stages and loose:
        for found in find_doubts(tools[stages[0].tool], loose):
            yield found.at(f"inputs.{found.field}")


def _check_names(name: str, stages: Sequence[Stage]) -> Iterator[Problem]:
    fault = check_job_name(name)
    if fault:
        yield Problem(field="pipelineName", message=fault, code="job_name")
    if not stages:
        yield Problem(field="stages", message="A pipeline needs at least one stage.", code="required")
    seen: set[str] = set()
    for position, stage in enumerate(stages):
        repeated = f"Two stages are named {stage.name!r}." if stage.name in seen else None
        fault = check_job_name(stage.name) or repeated
        seen.add(stage.name)
        if fault:
            yield Problem(field=f"stages[{position}].name", message=fault, code="job_name")


def _check_settings(
    tool: Tool, stage: Stage, earlier: Sequence[str], later: Sequence[str]
) -> Iterator[Problem]:
    """Find the problems of a stage's settings; missing ones may be given with a run."""
    fields = (tool.settings_schema or {}).get("properties", {})
    settings = dict(stage.settings)
    for name, value in stage.settings.items():
        if name in fields and is_file_field(fields[name]):
            texts = value if isinstance(value, list | tuple) else [value]
            for head in sorted({_find_head(text) for text in texts}.intersection(later)):
                message = f"The stage {head} does not come before the stage {stage.name}."
                yield Problem(field=name, message=message, code="stage_order")
            for text in filter(_is_elsewhere, texts):
                if _find_head(text) in earlier:
                    yield Problem(field=name, message=_describe_clash(text), code="stage_clash")
            settings[name] = _stand_in(value, earlier, fields[name])
    yield from find_doubts(tool, settings)
    yield from (found for found in catalog.check(tool, settings).problems if found.code != "missing_field")


def _is_elsewhere(value: Any) -> bool:
    """Return whether a file is explicitly marked as an upload's or a job's."""
    return isinstance(value, FileValue) and not isinstance(value, StageFile)


def _describe_clash(text: str) -> str:
    head = text.partition("/")[0]
    return (
        f"The service would read {text!r} as a file of the stage {head}, not as an upload or a job's file."
        f" Rename the stage, or write {head}.file(…) to refer to it."
    )


def _find_head(value: Any) -> str:
    """Return the name of the stage that the value of a file field may refer to; empty if none."""
    if not isinstance(value, str) or "\n" in value or "/" not in value:
        return ""
    return value.partition("/")[0]


def _stand_in(value: Any, earlier: Sequence[str], field_schema: Mapping[str, Any]) -> Any:
    """Replace references by placeholder file names with a valid extension: the files do not exist yet."""
    if isinstance(value, list | tuple):
        return [_stand_in(item, earlier, field_schema) for item in value]
    if _find_head(value) not in earlier:
        return value
    notes = field_schema.get("x-foldnote")
    extensions = notes.get("extensions") if isinstance(notes, Mapping) else None
    return FileValue(f"output.{extensions[0]}" if extensions else "output")
