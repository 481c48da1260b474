"""The tools that were registered with POST /deploy-model."""

from __future__ import annotations

import argparse

from foldnote.errors import ConfigurationError
from foldnote.service.admin.opening import Report
from foldnote.service.store.store import Store


def list_tools(store: Store, _: argparse.Namespace) -> Report:
    """List the tools registered with POST /deploy-model."""
    rows = [
        {
            "type": each.type,
            "created": each.created,
            **{key: each.content.get(key) for key in ("command", "image")},
        }
        for each in store.tools.all()
    ]
    lines = [f"{row['type']}: {row['image'] or ' '.join(row['command'] or ())[:200]}" for row in rows]
    return {"message": "\n".join(lines) or "No tools are registered.", "tools": rows}


def remove_tool(store: Store, options: argparse.Namespace) -> Report:
    """Remove a registered tool: running jobs continue, queued jobs end with an error.

    Raises:
        ConfigurationError: there is no such tool.
    """
    if not store.tools.remove(options.type):
        raise ConfigurationError(
            f"No tool of type {options.type!r} is registered. `foldnote admin tools` lists them."
        )
    return {"message": f"{options.type} was removed; its jobs and results stay.", "type": options.type}
