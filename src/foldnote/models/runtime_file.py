"""The private file through which clients find the running embedded service.

The service writes it when it is ready. It contains the local key, so only its user can read it. It is defined
in ``models`` because service and client do not import each other.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pydantic import SecretStr, ValidationError, field_serializer

from foldnote.io import write_atomically
from foldnote.models.wire import WireModel

RUNTIME_FILE = "service.json"


class RuntimeInfo(WireModel):
    """Address and key of this user's embedded service."""

    url: str
    """Base address on the loopback interface, without a trailing slash."""
    key: SecretStr
    pid: int
    version: str
    """Version of the running foldnote."""
    started: datetime
    """UTC."""

    @field_serializer("key", when_used="json")
    def _write_key(self, value: SecretStr) -> str:
        return value.get_secret_value()


def read_runtime(folder: Path) -> RuntimeInfo | None:
    """Read the runtime file in ``folder``; None if it is missing or unreadable."""
    try:
        return RuntimeInfo.model_validate_json((folder / RUNTIME_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def write_runtime(folder: Path, info: RuntimeInfo) -> Path:
    """Write ``info`` atomically to ``folder``, readable by this user only.

    Raises:
        OSError: the folder cannot be written.
    """
    return write_atomically(folder / RUNTIME_FILE, info.model_dump_json(by_alias=True), is_private=True)
