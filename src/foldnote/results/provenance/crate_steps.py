"""Describe the workflow of an RO-Crate: its steps, their parameters with values, and the methods that ran.

The steps come from :mod:`foldnote.results.provenance.workflow`; :mod:`foldnote.results.provenance.crate`
writes the crate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from foldnote.results.provenance.workflow import WorkflowStep

if TYPE_CHECKING:
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

WORKFLOW = "foldnote-workflow.json"
HOMEPAGE = "https://github.com/foldnote/foldnote"
_WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
_PARAMETER_PROFILE = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
_MAX_TEXT = 2000


@dataclass(frozen=True)
class DescribedStep:
    """A step with its entities in the crate.

    Attributes:
        number: 1-based position.
        step: the step.
        settings: one PropertyValue for each setting.
        method: the SoftwareApplication that ran.
    """

    number: int
    step: WorkflowStep
    settings: tuple[ContextEntity, ...]
    method: ContextEntity


def describe_step(crate: ROCrate, number: int, step: WorkflowStep) -> DescribedStep:
    """Add the settings, the seed and the method of a step to the crate."""
    settings = dict(step.settings)
    has_own = any("seed" in name.lower() and value == step.seed for name, value in settings.items())
    if step.seed is not None and not has_own:
        settings["seed"] = step.seed
    values = tuple(
        add(
            crate,
            f"#setting-{number}-{quote(name)}",
            "PropertyValue",
            name=name,
            value=_write_value(value),
            exampleOfWork={"@id": f"#parameter-{quote(name)}"},
        )
        for name, value in settings.items()
    )
    return DescribedStep(number, step, values, _add_method(crate, step))


def add_workflow(
    crate: ROCrate,
    file: Path,
    about: Mapping[str, Any],
    steps: Sequence[DescribedStep],
    inputs: Sequence[ContextEntity],
    outputs: Sequence[Any],
) -> Any:
    """Add the workflow as the crate's main entity.

    Args:
        crate: the crate.
        file: the workflow file to include.
        about: the provenance of the result.
        steps: the described steps, in order.
        inputs: entities of the input files.
        outputs: entities of the result's files.

    Returns:
        The entity of the workflow.
    """
    language = add(
        crate,
        "#workflow-language",
        "ComputerLanguage",
        name="foldnote workflow",
        description="JSON: steps in the order in which they run, each with its tool, settings and seed.",
        url=HOMEPAGE,
    )
    tools = list(dict.fromkeys(item.step.tool for item in steps))
    methods = list(dict.fromkeys(item.method.id for item in steps))
    workflow = crate.add_file(
        file,
        WORKFLOW,
        properties={
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
            "name": f"Workflow of {about['job']['jobName']}",
            "description": f"Runs {' and '.join(tools)}.",
            "encodingFormat": "application/json",
            "version": "1",
            "url": HOMEPAGE,
            "conformsTo": refer(add(crate, _WORKFLOW_PROFILE, "CreativeWork", name="ComputationalWorkflow")),
            "programmingLanguage": refer(language),
            "input": one_or_all([refer(item) for item in _add_parameters(crate, steps, inputs)]),
            "output": refer(_add_output_parameter(crate, outputs)) if outputs else [],
            "hasPart": one_or_all([{"@id": method} for method in methods]),
            "step": one_or_all([refer(_add_how_to(crate, item)) for item in steps]),
        },
    )
    crate.root_dataset["mainEntity"] = workflow
    return workflow


def _add_how_to(crate: ROCrate, described: DescribedStep) -> ContextEntity:
    return add(
        crate,
        f"#step-{described.number}",
        "HowToStep",
        name=described.step.name,
        position=described.number,
        description=f"Runs {described.step.tool}.",
        workExample=refer(described.method),
    )


def _add_parameters(
    crate: ROCrate, steps: Sequence[DescribedStep], inputs: Sequence[ContextEntity]
) -> list[ContextEntity]:
    """Add one parameter per setting of any step, with its values, and one for the input files."""
    values: dict[str, list[ContextEntity]] = {}
    for described in steps:
        for value in described.settings:
            values.setdefault(str(value["name"]), []).append(value)
    parameters = [
        _add_parameter(
            crate,
            f"#parameter-{quote(name)}",
            name,
            _find_type(examples[0]["value"]),
            workExample=[refer(example) for example in examples],
        )
        for name, examples in values.items()
    ]
    if inputs:
        description = "Input files of the job, identified by name and hash; they are not part of the crate."
        parameters.append(
            _add_parameter(crate, "#input-files", "input files", "File", description=description)
        )
    return parameters


def _add_output_parameter(crate: ROCrate, outputs: Sequence[Any]) -> ContextEntity:
    for output in outputs:
        output["exampleOfWork"] = {"@id": "#result-files"}
    description = "Files written by the steps."
    examples = [refer(output) for output in outputs]
    return _add_parameter(
        crate, "#result-files", "result files", "File", description=description, workExample=examples
    )


def _add_parameter(crate: ROCrate, identifier: str, name: str, kind: str, **more: Any) -> ContextEntity:
    profile = add(crate, _PARAMETER_PROFILE, "CreativeWork", name="FormalParameter")
    return add(
        crate,
        identifier,
        "FormalParameter",
        name=name,
        additionalType=kind,
        conformsTo=refer(profile),
        **more,
    )


def _find_type(value: object) -> str:
    if isinstance(value, bool):
        return "Boolean"
    return "Integer" if isinstance(value, int) else "Float" if isinstance(value, float) else "Text"


def _add_method(crate: ROCrate, step: WorkflowStep) -> ContextEntity:
    """Add the method that ran; the requested tool if the method is not known."""
    name = step.method or step.tool
    papers = [
        add(crate, f"#citation-{quote(step.tool)}-{number}", "ScholarlyArticle", name=text)
        for number, text in enumerate(step.citations, 1)
    ]
    return add(
        crate,
        f"#method-{quote(step.tool)}" + (f"-{quote(step.version)}" if step.version else ""),
        "SoftwareApplication",
        name=name,
        softwareVersion=step.version or "not stated",
        description=" ".join(step.notes) or None,
        url=step.homepage,
        license=step.licence,
        citation=[refer(paper) for paper in papers] or None,
        softwareRequirements=[f"{package} {version}" for package, version in step.packages.items()] or None,
    )


def _write_value(value: Any) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}… ({len(text)} characters)"


def write_time(text: str | None) -> str | None:
    """Format an RFC 3339 time in UTC and whole seconds, which all readers of the profile accept."""
    if not text:
        return None
    return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds")


def one_or_all(value: Any) -> Any:
    """Replace a list of length 1 by its item, as JSON-LD does."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def refer(entity: Any) -> dict[str, str]:
    """Return a JSON-LD reference to an entity of the crate."""
    return {"@id": entity.id}


def add(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> ContextEntity:
    """Add an entity to the crate; properties with the value None are left out."""
    from rocrate.model.contextentity import ContextEntity

    present = {name: one_or_all(value) for name, value in properties.items() if value is not None}
    entity: ContextEntity = crate.add(ContextEntity(crate, identifier, properties={"@type": kind} | present))
    return entity
