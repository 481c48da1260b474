"""The identity of a submission: the same content has the same one, in the client and in a form.

A form shows the name that its job would get, which is made of the identity.
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
    """SHA-256 (hex) that identifies a submission: it depends on tool, settings, requested name and files.

    Args:
        uploads: SHA-256 (hex) by name, for uploaded files that the settings refer to.
    """
    content = {"tool": tool_type, "settings": job_settings, "name": job_name}
    if uploads:
        content["uploads"] = dict(uploads)
    return hash_bytes(json.dumps(content, sort_keys=True).encode())


def keep_content(extensions: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parts beside the settings that may change the result of a run."""
    return {key: value for key, value in (extensions or {}).items() if key not in NOT_CONTENT}


def with_extensions(content: Mapping[str, Any], extensions: Mapping[str, Any] | None) -> dict[str, Any]:
    """A body with what is sent beside the settings, if there is any."""
    return {**content, WIRE_NAME: dict(extensions)} if extensions else dict(content)


def identify_content(content: Mapping[str, Any], extensions: Mapping[str, Any] | None) -> dict[str, Any]:
    """What identifies a submission: its content, and what beside the settings may change its result."""
    return with_extensions(content, keep_content(extensions))


def uploads_in(settings: Mapping[str, Any], ledger: Ledger) -> dict[str, str]:
    """SHA-256 (hex) by name, of files in the settings that were uploaded from this computer."""
    texts = {text for text in texts_in(settings) if len(text) <= _MAX_PATH_LENGTH}
    return {path: digest for path, digest in ledger.uploads().items() if path in texts}
