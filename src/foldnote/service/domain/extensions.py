"""Check the extensions of a submission: the object `foldnote` besides the settings.

The accepted parts depend on the tool's engine; all tools accept a label and policies. Extensions are not
part of the settings, so the interface's schema is unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.models.extensions import (
    ALIGNMENT,
    ALIGNMENT_PATH,
    EXTERNAL,
    ON_FAILURE,
    POLICY_DEFAULTS,
    REUSE,
    WEBHOOK,
    WIRE_NAME,
    name_consent,
)
from foldnote.models.tool import Tool
from foldnote.service.domain.requests import Extensions
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.engines.refusals import find_refusal
from foldnote.service.faults import RefusalError, bad_request

_DEFAULTS = {EXTERNAL: [], **POLICY_DEFAULTS, REUSE: False}


def read_extensions(
    extensions: Extensions | None, tool: Tool, toolbox: Toolbox, *, is_batch: bool = False
) -> dict[str, Any] | None:
    """Return the given parts as stored with the job; None for none. Omit policies that are the default.

    Raises:
        RefusalError: 400 for a part that the tool does not accept.
    """
    if extensions is None:
        return None
    parts = {name: value for name, value in extensions.model_dump(by_alias=True).items() if value is not None}
    parts = {name: value for name, value in parts.items() if value != _DEFAULTS.get(name)}
    parts.pop(WEBHOOK, None)  # not for the run: the URL may contain a secret, and is stored separately
    if EXTERNAL in parts:
        parts[EXTERNAL] = list(dict.fromkeys(parts[EXTERNAL]))
    accepted = toolbox.extensions(tool.type)
    purposes = [name.partition(":")[2] for name in accepted if name.startswith(f"{EXTERNAL}:")]
    for purpose in parts.get(EXTERNAL, ()):
        if name_consent(purpose) not in accepted:
            permitted = f"It may for {', '.join(purposes)}." if purposes else "It never sends anything."
            sentence = f"{tool.type} does not send inputs for {purpose[:100]!r}. {permitted}"
            raise bad_request(sentence, code="not_taken", field=f"{WIRE_NAME}.{EXTERNAL}")
    if ALIGNMENT in parts and ALIGNMENT not in accepted:
        sentence = f"{tool.type} does not accept an alignment besides its settings. Remove it."
        raise bad_request(sentence, code="not_taken", field=ALIGNMENT_PATH)
    if ON_FAILURE in parts and not is_batch:
        sentence = "Only a batch continues or stops after a failure. Leave this out for a single job."
        raise bad_request(sentence, code="not_taken", field=f"{WIRE_NAME}.{ON_FAILURE}")
    if parts.get(REUSE):
        sentence = "Only the run of a pipeline reuses results. Leave this out here."
        raise bad_request(sentence, code="not_taken", field=f"{WIRE_NAME}.{REUSE}")
    return parts or None


def without_batch_parts(extensions: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the parts that apply to each job of a batch; None for none."""
    return {name: value for name, value in (extensions or {}).items() if name != ON_FAILURE} or None


class RunCheck:
    """Checks whether jobs of a tool can run here, looking up the tool's engine only once."""

    def __init__(self, tool: Tool, toolbox: Toolbox) -> None:
        engine = toolbox.engine_of(tool.type)
        self._refusals = engine.refusals if engine is not None else ()
        self._configured = engine.configured() if engine is not None and engine.refusals else None
        self._unavailable: RefusalError | None = None
        try:
            toolbox.require_engine(tool)
        except RefusalError as unavailable:
            self._unavailable = unavailable

    def require_runnable(self, settings: Mapping[str, Any], extensions: Mapping[str, Any] | None) -> None:
        """Refuse a job that cannot run here, or that lacks something its engine requires, such as consent.

        If the engine is not installed, the refusal gives both reasons.

        Raises:
            RefusalError: 400, saying what to do.
        """
        refusal = self.find_refusal(settings, extensions)
        if self._unavailable is not None:
            if refusal is not None:
                self._unavailable.sentence = f"{self._unavailable.sentence} Once it can: {refusal.sentence}"
            raise self._unavailable
        if refusal is not None:
            raise refusal

    def find_refusal(
        self, settings: Mapping[str, Any], extensions: Mapping[str, Any] | None
    ) -> RefusalError | None:
        """Return the refusal by the tool's engine, installed or not; None if it accepts the job."""
        if self._configured is None:
            return None
        refusal = find_refusal(self._refusals, settings, extensions, self._configured)
        return (
            None if refusal is None else bad_request(refusal.sentence, code=refusal.code, field=refusal.field)
        )
