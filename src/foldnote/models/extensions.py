"""The object ``foldnote``, which submissions to foldnote's own service may contain beside the settings.

It is not part of the interface. A service's catalog lists the parts that a tool accepts (``extensions``);
nothing is sent to services that list none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

WIRE_NAME = "foldnote"
"""Key of the object, beside ``settings``."""
EXTERNAL = "external"
"""The purposes for which the user allows, for this submission only, sending inputs to other machines."""
ALIGNMENT = "alignment"
"""A file value: the user's own multiple sequence alignment."""
LABEL = "label"
"""Free text that the service stores with the job."""
MAX_LABEL_LENGTH = 200
"""Maximum length of a label in characters."""
RETRIES = "retries"
"""Number of times a job is run again after its tool failed; runs lost with a machine do not count."""
MAX_RETRIES = 10
"""Maximum number of retries of a job."""
ON_FAILURE = "onFailure"
"""What a batch does when one of its jobs has failed: continue, or start no more jobs."""
CONTINUE, STOP = "continue", "stop"
ON_FAILURE_WORDS = (CONTINUE, STOP)
"""Values of `ON_FAILURE`."""
POLICY_DEFAULTS: Mapping[str, Any] = {RETRIES: 0, ON_FAILURE: CONTINUE}
"""Policies if none is given, which are those of services without policies."""
REUSE = "reuse"
"""For a pipeline run: whether a stage takes the result of an identical earlier stage."""
WEBHOOK = "webhook"
"""Address to call when the job or batch has ended; empty for none, even if the account has one."""
KEYS = (EXTERNAL, ALIGNMENT, LABEL, RETRIES, ON_FAILURE, REUSE, WEBHOOK)
NOT_CONTENT = frozenset({LABEL, REUSE, WEBHOOK, *POLICY_DEFAULTS})
"""Parts that do not change the result of a run, and so do not identify a submission."""
ALIGNMENT_PATH = f"{WIRE_NAME}.{ALIGNMENT}"
"""Dotted path of the alignment in a body, and its field among a job's input files."""
LABEL_PATH = f"{WIRE_NAME}.{LABEL}"
"""Dotted path of the label in a body."""
WEBHOOK_PATH = f"{WIRE_NAME}.{WEBHOOK}"
"""Dotted path of the webhook in a body."""
MSA_SERVER = "msa-server"
"""Consent to computing an alignment on a server, which receives the sequences of the job."""


def name_consent(purpose: str) -> str:
    """Return the entry in a tool's ``extensions`` for the user's consent to ``purpose``."""
    return f"{EXTERNAL}:{purpose}"


def name_parts(extensions: Mapping[str, Any] | None) -> list[str]:
    """List the parts of an object ``foldnote``, named as in ``Tool.extensions``; each consent is one part."""
    given = extensions or {}
    consents = [name_consent(purpose) for purpose in given.get(EXTERNAL) or ()]
    return [*consents, *(key for key, value in given.items() if key != EXTERNAL and value is not None)]


def keep_taken(extensions: Mapping[str, Any] | None, taken: Iterable[str]) -> dict[str, Any]:
    """Return the parts of an object ``foldnote`` that are in ``taken``."""
    known, given = frozenset(taken), extensions or {}
    consents = [purpose for purpose in given.get(EXTERNAL) or () if name_consent(purpose) in known]
    others = {key: value for key, value in given.items() if key in known and value is not None}
    return ({EXTERNAL: consents} if consents else {}) | others
