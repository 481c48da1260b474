"""Files of the account."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from foldnote.models.wire import WireModel, lower_first, read_object


class FileRecord(WireModel):
    """One uploaded file."""

    file_id: str
    """Unique identifier; the name where a deployment gives names only."""
    file_name: str
    """Original name, without its folder."""
    name: str
    """The same as ``file_name``."""
    file_size: int | None = None
    """Bytes; null where a deployment gives names only."""
    upload_time: datetime | None = None
    """UTC; null where a deployment gives names only."""
    folder: str | None = None
    """Folder inside the account; null at the top."""

    @property
    def path(self) -> str:
        """What a file field takes: ``folder/name`` or ``name``."""
        return f"{self.folder}/{self.file_name}" if self.folder else self.file_name


class FilePage(WireModel):
    """One page of GET /files."""

    files: tuple[FileRecord, ...]
    total: int
    """Files that match, on all pages."""
    has_more: bool


class UploadReceipt(WireModel):
    """The answer of PUT /upload/{filename}."""

    message: str = ""
    file_url: str = ""
    """Address of the file at the service; needs the key."""
    signed_url: str = ""
    """Link that works for an hour without the key."""


def read_file_page(answer: object) -> FilePage:
    """The page in ``answer``, which some deployments give as a bare array of names that ignores paging.

    Raises:
        ProtocolError: it is neither.
    """
    if isinstance(answer, list):
        rows = [_read_file(row) for row in answer]
        return FilePage(files=tuple(rows), total=len(rows), has_more=False)
    fields = read_object(answer, "files")
    rows = [_read_file(row) for row in fields.get("files") or []]
    known: dict[str, Any] = {"total": len(rows), "hasMore": False}
    return FilePage.model_validate(
        known | {k: v for k, v in fields.items() if v is not None} | {"files": rows}
    )


def _read_file(row: object) -> FileRecord:
    if isinstance(row, str):
        folder, _, name = row.rpartition("/")
        return FileRecord(file_id=row, file_name=name, name=name, folder=folder or None)
    fields = lower_first(read_object(row, "a file"))
    name = str(fields.get("fileName") or fields.get("name") or "")
    known = {"fileId": name, "fileName": name, "name": name}
    return FileRecord.model_validate(
        known | {key: value for key, value in fields.items() if value is not None}
    )
