"""The name that the client will derive for a form's job from tool, settings and files.

Local files contribute their contents and the names under which they will be uploaded.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from foldnote.client.inputs.file_values import FileValue, LocalFile
from foldnote.client.local.identity import identify, uploads_in
from foldnote.forms.files.file_reference import local_path
from foldnote.io import hash_file
from foldnote.models.names import propose_job_name

_READ_BYTES: Final = 50_000_000
"""Maximum size of a file that is hashed for the job's name while the form is being filled in."""


def propose_name(tool_type: str, content: dict[str, Any], client: Any) -> str:
    """Return the job's name for settings with defaults filled in, and their extensions."""
    return propose_job_name(tool_type, identify_settings(tool_type, content, client))


def identify_settings(tool_type: str, settings: dict[str, Any], client: Any) -> str:
    """Return the submission identity of the settings; ``client`` (or None) knows earlier uploads."""
    digests: dict[str, str] = {}
    sent = _send(settings, digests, _READ_BYTES)
    if client is not None and any(isinstance(value, str | list | dict) for value in sent.values()):
        digests = uploads_in(sent, client.ledger) | digests
    return identify(tool_type, sent, None, digests)


def as_sent(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with local files replaced by the names under which they are uploaded."""
    return {name: _send(value, {}, sys.maxsize) for name, value in settings.items()}


def name_upload(path: Path, digest: str) -> str:
    """Return the name under which a local file with this SHA-256 (hex) is uploaded."""
    return f"{name_folder(digest)}/{path.name}"


def name_folder(digest: str) -> str:
    """Return the upload folder for contents with this SHA-256 (hex)."""
    return f"foldnote-{digest[:12]}"


def _send(value: Any, digests: dict[str, str], largest_bytes: int) -> Any:
    if isinstance(value, dict):
        return {name: _send(item, digests, largest_bytes) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_send(item, digests, largest_bytes) for item in value]
    path = local_path(value) if isinstance(value, LocalFile) and not isinstance(value, FileValue) else None
    if path is None:
        return value
    try:
        state = path.stat()
        if state.st_size > largest_bytes:
            return value
        digest = _hash(path.absolute(), state.st_mtime_ns, state.st_size)
    except OSError:
        return value
    name = name_upload(path, digest)
    digests[name] = digest
    return name


@lru_cache(maxsize=64)
def _hash(path: Path, _changed_ns: int, _size_bytes: int) -> str:
    return hash_file(path)
