"""The identity of a submission: a hash of its content, computed in the same way by the client and by forms.

A form shows the name that its job would get, which is derived from the identity.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from foldnote.io import hash_bytes
from foldnote.models.extensions import NOT_CONTENT, WIRE_NAME
from foldnote.text import texts_in

if TYPE_CHECKING:
    from foldnote.client.local.ledger import Ledger

_MAX_PATH_LENGTH = 512


def identify(
    tool_type: str,
    job_settings: Mapping[str, Any],
    job_name: str | None = None,
    uploads: Mapping[str, str] | None = None,
) -> str:
    """Compute the SHA-256 (hex) that identifies a submission.

    Args:
        uploads: SHA-256 (hex) by name, for uploaded files that the settings refer to.
    """
    content = {"tool": tool_type, "settings": job_settings, "name": job_name}
    if uploads:
        content["uploads"] = dict(uploads)
    return hash_bytes(json.dumps(content, sort_keys=True).encode())


def select_content(extensions: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parts beside the settings that may change the result of a run."""
    return {key: value for key, value in (extensions or {}).items() if key not in NOT_CONTENT}


def with_extensions(content: Mapping[str, Any], extensions: Mapping[str, Any] | None) -> dict[str, Any]:
    """Add what is sent beside the settings to a body, if there is any."""
    return {**content, WIRE_NAME: dict(extensions)} if extensions else dict(content)


def identify_content(content: Mapping[str, Any], extensions: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what identifies a submission: its body, and the extensions that may change its result."""
    return with_extensions(content, select_content(extensions))


def uploads_in(settings: Mapping[str, Any], ledger: Ledger) -> dict[str, str]:
    """Return the SHA-256 (hex), by name, of files in the settings that were uploaded from this computer."""
    texts = {text for text in texts_in(settings) if len(text) <= _MAX_PATH_LENGTH}
    return {path: digest for path, digest in ledger.uploads().items() if path in texts}
