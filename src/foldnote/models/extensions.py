"""What a submission to foldnote's own service may have beside its settings: the object ``foldnote``.

The interface knows nothing of it. So a service names in its catalog which parts a tool takes
(``extensions``), and other services are sent none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

WIRE_NAME = "foldnote"
"""Key of the object, beside ``settings``."""
EXTERNAL = "external"
"""The purposes for which the user agrees, for this submission only, that inputs leave the machine."""
ALIGNMENT = "alignment"
"""A file value: the user's own multiple sequence alignment."""
LABEL = "label"
"""Free text that the service keeps with the job."""
KEYS = (EXTERNAL, ALIGNMENT, LABEL)
ALIGNMENT_PATH = f"{WIRE_NAME}.{ALIGNMENT}"
"""Dotted path of the alignment in a body, and its field among a job's input files."""
MSA_SERVER = "msa-server"
"""The purpose of asking an alignment server: the sequences of the job are sent to it."""


def name_consent(purpose: str) -> str:
    """The name by which a tool says that it takes the user's consent for ``purpose``."""
    return f"{EXTERNAL}:{purpose}"


def name_parts(extensions: Mapping[str, Any] | None) -> list[str]:
    """The parts of an object ``foldnote``, as a tool's ``extensions`` name them: each consent is one part."""
    given = extensions or {}
    consents = [name_consent(purpose) for purpose in given.get(EXTERNAL) or ()]
    return [*consents, *(key for key, value in given.items() if key != EXTERNAL and value is not None)]


def keep_taken(extensions: Mapping[str, Any] | None, taken: Iterable[str]) -> dict[str, Any]:
    """The parts of an object ``foldnote`` that ``taken`` names; empty when none is."""
    known, given = frozenset(taken), extensions or {}
    consents = [purpose for purpose in given.get(EXTERNAL) or () if name_consent(purpose) in known]
    others = {key: value for key, value in given.items() if key in known and value is not None}
    return ({EXTERNAL: consents} if consents else {}) | others
