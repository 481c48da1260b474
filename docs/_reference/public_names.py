"""The public functions of ``foldnote`` by subject, in the order of their page."""

from __future__ import annotations

import foldnote

_SUBJECTS = {
    "Tools": ("tools", "tool", "recommend", "validate", "quote"),
    "Jobs": ("form", "submit", "job", "jobs", "variable", "purge"),
    "Files": ("upload", "uploaded", "inline"),
    "Batches, screening and pipelines": ("submit_batch", "batch", "batches", "screen", "stage", "pipeline"),
    "Results": (
        "open_result",
        "view",
        "grid",
        "explore",
        "compare",
        "report",
        "export",
        "open_export",
        "share",
        "open_shared",
    ),
    "Services and accounts": ("connect", "account", "provision"),
}
_CLASSES = {"Client", "AsyncClient", "__version__"}
"""Public names that other pages describe."""


def list_functions() -> dict[str, list[str]]:
    """Return the public functions by subject, those without one last."""
    public = [name for name in foldnote.__all__ if name not in _CLASSES]
    listed = {name for names in _SUBJECTS.values() for name in names}
    groups = {title: [name for name in names if name in public] for title, names in _SUBJECTS.items()}
    return groups | ({"More": rest} if (rest := [name for name in public if name not in listed]) else {})
