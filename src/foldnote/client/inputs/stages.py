"""The stages of a pipeline, and what can be found wrong with them before they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldnote import catalog
from foldnote.client.inputs.file_values import FileValue, StageFile, find_doubts, is_file_field
from foldnote.errors import ArgumentError, SettingsError
from foldnote.io import hash_bytes
from foldnote.models import Problem, Tool, check_job_name

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Stage:
    """One run of a tool in a pipeline.

    Attributes:
        name: unique in the pipeline; a file field of a later stage says ``name/path``.
        tool: the tool's type.
        settings: fields of the tool's schema; what is missing may come with each run.
    """

    name: str
    tool: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def file(self, path: str = "") -> FileValue:
        """What a file field of a later stage takes for this stage's output.

        Args:
            path: a file of the result, a pattern (``*.pdb``), or a folder (``models/``); by default the whole
                result, of which the files with the field's extensions count.

        Raises:
            ArgumentError: this leads out of a result.
        """
        if not isinstance(path, str) or path.startswith("/") or ".." in path.split("/") or "\n" in path:
            raise ArgumentError(f"{path!r} is no path inside the result of the stage {self.name!r}.")
        return StageFile(f"{self.name}/{path}")

    def to_wire(self) -> dict[str, Any]:
        """The stage in the body of POST /submit-pipeline."""
        return {"name": self.name, "type": self.tool, "settings": dict(self.settings)}


@dataclass(frozen=True)
class Pipeline:
    """A saved pipeline; ``client.pipelines.run`` takes it."""

    name: str
    stages: tuple[Stage, ...]

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of its stages."""
        rows = [stage.to_wire() for stage in self.stages]
        return hash_bytes(json.dumps(rows, sort_keys=True, default=str).encode())

    def __repr__(self) -> str:
        steps = " → ".join(f"{stage.name} ({stage.tool})" for stage in self.stages)
        return f"<pipeline {self.name}: {steps}>"


def check_stages(name: str, stages: Sequence[Stage], tools: Mapping[str, Tool]) -> None:
    """Let pass stages that can run in this order.

    Raises:
        SettingsError: names, settings or references break a rule; nothing was sent.
    """
    problems = list(_check_names(name, stages))
    for position, stage in enumerate(stages):
        place = f"stages[{position}].settings"
        names = [other.name for other in stages]
        for found in _check_settings(tools[stage.tool], stage, names[:position], names[position:]):
            problems.append(Problem(field=f"{place}.{found.field}", message=found.message, code=found.code))
    if problems:
        raise SettingsError(problems)


def find_input_doubts(
    stages: Sequence[Stage], inputs: Inputs, tools: Mapping[str, Tool]
) -> Iterator[Problem]:
    """The files in a run's inputs that could be meant in two ways; fields are paths below ``inputs``."""
    for stage in stages:
        given = inputs.get(stage.name)
        if isinstance(given, Mapping):
            for found in find_doubts(tools[stage.tool], given):
                yield found.model_copy(update={"field": f"inputs.{stage.name}.{found.field}"})
    loose = {name: value for name, value in inputs.items() if not isinstance(value, Mapping)}
    if stages and loose:
        for found in find_doubts(tools[stages[0].tool], loose):
            yield found.model_copy(update={"field": f"inputs.{found.field}"})


def _check_names(name: str, stages: Sequence[Stage]) -> Iterator[Problem]:
    fault = check_job_name(name)
    if fault:
        yield Problem(field="pipelineName", message=fault, code="job_name")
    if not stages:
        yield Problem(field="stages", message="A pipeline has at least one stage.", code="required")
    seen: set[str] = set()
    for position, stage in enumerate(stages):
        repeated = f"{stage.name!r} is the name of two stages." if stage.name in seen else None
        fault = check_job_name(stage.name) or repeated
        seen.add(stage.name)
        if fault:
            yield Problem(field=f"stages[{position}].name", message=fault, code="job_name")


def _check_settings(
    tool: Tool, stage: Stage, earlier: Sequence[str], later: Sequence[str]
) -> Iterator[Problem]:
    """What is wrong with a stage's settings; what is missing may still come with a run."""
    fields = (tool.settings_schema or {}).get("properties", {})
    settings = dict(stage.settings)
    for name, value in stage.settings.items():
        if name in fields and is_file_field(fields[name]):
            texts = value if isinstance(value, list | tuple) else [value]
            for head in sorted({_find_head(text) for text in texts}.intersection(later)):
                told = f"The stage {head} does not come before the stage {stage.name}."
                yield Problem(field=name, message=told, code="stage_order")
            for text in filter(_is_elsewhere, texts):
                if _find_head(text) in earlier:
                    yield Problem(field=name, message=_tell_clash(text), code="stage_clash")
            settings[name] = _stand_in(value, earlier, fields[name])
    yield from find_doubts(tool, settings)
    yield from (found for found in catalog.check(tool, settings).problems if found.code != "missing_field")


def _is_elsewhere(value: Any) -> bool:
    """Whether a file is said to be an upload or a job's, and no stage's."""
    return isinstance(value, FileValue) and not isinstance(value, StageFile)


def _tell_clash(text: str) -> str:
    head = text.partition("/")[0]
    return (
        f"The service would take {text!r} for a file of the stage {head}, not for an upload or a job's file."
        f" Give the stage another name, or write {head}.file(…) where the stage is meant."
    )


def _find_head(value: Any) -> str:
    """The stage that a file's text may refer to; empty when it refers to none."""
    if not isinstance(value, str) or "\n" in value or "/" not in value:
        return ""
    return value.partition("/")[0]


def _stand_in(value: Any, earlier: Sequence[str], field_schema: Mapping[str, Any]) -> Any:
    """The value with a name of the right kind for each reference: what it leads to is not there yet."""
    if isinstance(value, list | tuple):
        return [_stand_in(item, earlier, field_schema) for item in value]
    if _find_head(value) not in earlier:
        return value
    notes = field_schema.get("x-foldnote")
    extensions = notes.get("extensions") if isinstance(notes, Mapping) else None
    return FileValue(f"output.{extensions[0]}" if extensions else "output")
