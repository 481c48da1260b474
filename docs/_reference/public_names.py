"""The functions of ``foldnote`` by subject, in the order of their page."""

from __future__ import annotations

import foldnote

FUNCTIONS = {
    "Tools": ("tools", "tool", "recommend", "validate", "quote"),
    "Jobs": ("form", "submit", "job", "jobs", "variable"),
    "Files": ("upload", "uploaded", "inline"),
    "Batches, screening and pipelines": ("submit_batch", "batch", "batches", "screen", "stage", "pipeline"),
    "Results": ("open_result", "view", "grid", "explore", "compare", "report"),
    "Services and accounts": ("connect", "account", "provision"),
}
_ELSEWHERE = {"Client", "AsyncClient", "__version__"}


def find_unlisted() -> set[str]:
    """Public names that stand in no group, and names in a group that are not public."""
    return set(foldnote.__all__) ^ ({name for names in FUNCTIONS.values() for name in names} | _ELSEWHERE)
