"""Tools as data: a JSON Schema and an example for each, and validation of settings with readable messages.

A tool is one file of ``tools/``. Standard keywords define types, bounds and options; ``x-foldnote`` on a
property defines the rest: ``unit``, ``extensions``, ``role``, ``appliesWhen`` (values of other settings),
``appliesIf`` (a schema of all settings), ``group``, ``order``, ``alphabet``, ``chains``, ``columns``, ``of``
(the field that this one refers to), ``pairWhen``, ``pipelineOnly`` and ``check`` (rows of
`foldnote.catalog.checks`). Catalogs of other services are converted by ``foreign``. This room does no I/O
except reading its own files, and does not know uploads, engines or services. A schema of a tool that the
interface's settings reference does not have says ``beyondReference`` in its own ``x-foldnote``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.catalog.bundle import tool, tools
    from foldnote.catalog.checks import CHECKS
    from foldnote.catalog.sequences import (
        ALPHABETS,
        Fault,
        clean_sequence,
        count_sequence_faults,
        find_sequence_faults,
        list_records,
        split_chains,
    )
    from foldnote.catalog.validation import (
        Check,
        applies,
        check,
        check_field,
        default_settings,
        read_records,
    )

__all__ = [
    "ALPHABETS",
    "CHECKS",
    "Check",
    "Fault",
    "applies",
    "check",
    "check_field",
    "clean_sequence",
    "count_sequence_faults",
    "default_settings",
    "find_sequence_faults",
    "list_records",
    "read_records",
    "split_chains",
    "tool",
    "tools",
]

_HOMES = {
    "bundle": ("tool", "tools"),
    "checks": ("CHECKS",),
    "sequences": (
        "ALPHABETS",
        "Fault",
        "clean_sequence",
        "count_sequence_faults",
        "find_sequence_faults",
        "list_records",
        "split_chains",
    ),
    "validation": ("Check", "applies", "check", "check_field", "default_settings", "read_records"),
}


def __getattr__(name: str) -> Any:
    """Import a name from its module: a program that only watches jobs reads no tool and validates nothing."""
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"foldnote.catalog.{home}"), name)
            return value
    raise AttributeError(f"module 'foldnote.catalog' has no attribute {name!r}")
