"""The Python code of a past pipeline run, in which a stage can be changed before running it again."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from foldnote.client import Pipeline, Stage
from foldnote.client.inputs.file_values import is_file_field
from foldnote.forms.batch.mapped_table import list_specs
from foldnote.forms.view.code import Marks, write_arguments
from foldnote.models import Tool
from foldnote.text import visible

_EARLIER_STAGES = "before"
_USED_NAMES = frozenset((_EARLIER_STAGES, "fn"))
_LONG = 4000
"""Length above which a pasted text is referred to in the earlier run, in letters."""
_RESERVED = {"name", "tool", "extensions"}


def write_pipeline(
    pipeline: Pipeline,
    tools: Mapping[str, Tool],
    run_name: str,
    notes: Mapping[str, str],
    options: Mapping[str, str],
    uploads: Sequence[str] = (),
) -> str:
    """Return the pipeline as Python, a variable for each stage.

    Args:
        pipeline: the pipeline as it was run.
        tools: the tools by type.
        run_name: the run in which pasted texts of more than 4000 letters are referred to.
        notes: comments above stages, by the stage's name.
        options: further arguments of ``fn.pipeline``.
        uploads: names of the account's known uploads.
    """
    names = _name_variables([stage.name for stage in pipeline.stages])
    parts = []
    for position, stage in enumerate(pipeline.stages):
        note = [f"# {visible(' '.join(notes[stage.name].split()))}"] if stage.name in notes else []
        variables = {
            field: f"{_EARLIER_STAGES}[{position}].settings[{field!r}]" for field in _find_long(stage)
        }
        before: list[str] = []
        marks = _mark(stage, tools.get(stage.tool), variables, names, uploads)
        lines = write_arguments(stage.settings, marks, before, _RESERVED, stage.extensions)
        call = f"{names[stage.name]} = fn.stage("
        parts += [*before, *note, call, f"    {stage.name!r},", f"    {stage.tool!r},", *lines, ")"]
    head = []
    if any(_find_long(stage) for stage in pipeline.stages):
        profile = f", profile={options['profile']!r}" if "profile" in options else ""
        head = [f"{_EARLIER_STAGES} = fn.job({run_name!r}{profile}).pipeline().stages"]
    arguments = [repr(pipeline.name), f"[{', '.join(names.values())}]"]
    arguments += [f"{name}={value!r}" for name, value in options.items()]
    return "\n".join(["import foldnote as fn", "", *head, *parts, f"fn.pipeline({', '.join(arguments)})"])


def _find_long(stage: Stage) -> list[str]:
    """Return the settings that are long pasted texts."""
    texts = {name: value for name, value in stage.settings.items() if isinstance(value, str)}
    return [name for name, text in texts.items() if "\n" in text and len(text) > _LONG]


def _name_variables(stages: Sequence[str]) -> dict[str, str]:
    """Return a variable for each stage, by the stage's name."""
    variables: dict[str, str] = {}
    for stage in stages:
        identifier = re.sub(r"\W", "_", stage)
        stem = (
            f"stage_{identifier}"
            if not identifier.isidentifier() or keyword.iskeyword(identifier) or identifier in _USED_NAMES
            else identifier
        )
        name, number = stem, 2
        while name in variables.values():
            name, number = f"{stem}_{number}", number + 1
        variables[stage] = name
    return variables


def _mark(
    stage: Stage,
    tool: Tool | None,
    variables: Mapping[str, str],
    names: Mapping[str, str],
    uploads: Sequence[str],
) -> Marks:
    fields: Mapping[str, Any] = (tool.settings_schema or {}).get("properties", {}) if tool else {}
    secrets = {spec.name for spec in list_specs(tool) if spec.is_secret} if tool else set()
    files = {name for name in stage.settings if name in fields and is_file_field(fields[name])}
    return Marks(secrets=secrets, variables=variables, files=files, uploads=uploads, stages=names)
