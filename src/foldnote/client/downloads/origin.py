"""The origin of a result: job record, service, client version and input files."""

from __future__ import annotations

import platform
from typing import Any

from foldnote import catalog
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.inputs.file_values import is_file_field
from foldnote.client.local.ledger import Ledger
from foldnote.io import hash_bytes
from foldnote.late import find_version
from foldnote.models import Job, Tool


def describe_origin(connection: ServiceConnection, job: Job) -> dict[str, Any]:
    """Return the origin of a job's result as JSON data; hashes of files unknown on this computer are null."""
    return {
        "job": job.to_wire(),
        "label": Ledger(service=connection.service).label(job.job_name) or job.label,
        "service": {"address": connection.service},
        "client": {"name": "foldnote", "version": find_version(), "python": platform.python_version()},
        "inputs": _list_inputs(connection, job),
    }


def _list_inputs(connection: ServiceConnection, job: Job) -> list[dict[str, Any]]:
    tool = find_tool(connection, job.tool_type)
    if tool is None:
        return []
    uploads = Ledger(service=connection.service).uploads()
    found = []
    for field, schema in tool.settings_schema.get("properties", {}).items():
        value = job.settings.get(field)
        if not is_file_field(schema):
            continue
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text:
                found.append({"field": field} | _describe(text, uploads))
    return found


def _describe(text: str, uploads: dict[str, str]) -> dict[str, Any]:
    if "\n" in text:
        content = text.encode()
        digest = hash_bytes(content)
        return {"name": "inline", "sizeBytes": len(content), "sha256": digest}
    return {"name": text, "sizeBytes": None, "sha256": uploads.get(text)}


def find_tool(connection: ServiceConnection, tool_type: str) -> Tool | None:
    """Return the tool from the service's last list, else from the bundled catalog; None if neither has it."""
    known = next((tool for tool in connection.tools if tool.type == tool_type), None)
    return known or catalog.tools().get(tool_type)
