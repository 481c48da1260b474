"""How a running embedded service is found: one small private file.

The service writes it when it is ready, and clients read it. It holds the key of the
machine's own user, so only that user can read it. This is the one place in ``models`` that names a file;
it is here because both sides, which do not know each other, must agree on it.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pydantic import SecretStr, ValidationError, field_serializer

from foldnote.io import write_atomically
from foldnote.models.wire import WireModel

RUNTIME_FILE = "service.json"


class RuntimeInfo(WireModel):
    """Where the embedded service of this user answers."""

    url: str
    """Base address on the loopback interface, without a trailing slash."""
    key: SecretStr
    pid: int
    version: str
    """foldnote's version that is running."""
    started: datetime
    """UTC."""

    @field_serializer("key", when_used="json")
    def _write_key(self, value: SecretStr) -> str:
        return value.get_secret_value()


def read_runtime(folder: Path) -> RuntimeInfo | None:
    """What the runtime file in ``folder`` says; None when there is none or it is unreadable."""
    try:
        return RuntimeInfo.model_validate_json((folder / RUNTIME_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def write_runtime(folder: Path, info: RuntimeInfo) -> Path:
    """Publish ``info`` in ``folder`` at once and for this user's eyes only.

    Raises:
        OSError: the folder cannot be written.
    """
    return write_atomically(folder / RUNTIME_FILE, info.model_dump_json(by_alias=True), is_private=True)
