"""Files of the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldnote.models.html_repr import show_grid, write_grid
from foldnote.models.wire import Moment, WireModel, lower_first, read_object

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("file", "size", "uploaded")


class FileRecord(WireModel):
    """One uploaded file."""

    file_id: str
    """Unique identifier; the name if a deployment reports names only."""
    file_name: str
    """Original name, without its folder."""
    name: str
    """The same as ``file_name``."""
    file_size: int | None = None
    """Size in bytes; null if a deployment reports names only."""
    upload_time: Moment = None
    """Time of the upload (UTC); null if a deployment reports names only."""
    folder: str | None = None
    """Folder of the account; null for the top level."""
    is_folder: bool = False
    """Whether this is a folder, whose ``file_size`` is the total of all files in and below it."""

    @property
    def path(self) -> str:
        """The value for a file field: ``folder/name`` or ``name``."""
        return f"{self.folder}/{self.file_name}" if self.folder else self.file_name


class FilePage(WireModel):
    """One page of GET /files."""

    files: tuple[FileRecord, ...]
    total: int
    """Number of matching files on all pages."""
    has_more: bool

    def to_frame(self) -> pd.DataFrame:
        """Return the files as a DataFrame.

        Returns:
            One row per file, with the index ``path`` (str, the value for a file field) and the columns
            ``name`` and ``folder`` (str; missing at the top level), ``size_bytes`` (Int64) and ``uploaded``
            (datetime64[us, UTC]); the last two are missing if a deployment reports names only.
        """
        import pandas as pd

        times = pd.Series([file.upload_time for file in self.files], dtype="object")
        columns = {
            "name": pd.Series([file.file_name for file in self.files], dtype="str"),
            "folder": pd.Series([file.folder for file in self.files], dtype="str"),
            "size_bytes": pd.Series([file.file_size for file in self.files], dtype="Int64"),
            "uploaded": pd.to_datetime(times, utc=True).astype("datetime64[us, UTC]"),
        }
        paths = pd.Index([file.path for file in self.files], dtype="str", name="path")
        return pd.DataFrame(columns).set_index(paths)

    def __repr__(self) -> str:
        return write_grid(self._title(), _COLUMNS, map(_row, self.files))

    def _repr_html_(self) -> str:
        return show_grid(self._title(), _COLUMNS, map(_row, self.files))

    def _title(self) -> str:
        return f"{len(self.files):,} of {self.total:,} files" if self.files else "No files here."


def _row(file: FileRecord) -> tuple[object, ...]:
    size = None if file.file_size is None else f"{file.file_size:,} B"
    return file.path, size, None if file.upload_time is None else f"{file.upload_time:%Y-%m-%d %H:%M} UTC"


class UploadReceipt(WireModel):
    """The response to PUT /upload/{filename}."""

    message: str = ""
    file_url: str = ""
    """Address of the file at the service; needs the key."""
    signed_url: str = ""
    """Link that is valid for an hour without the key."""


def read_file_page(answer: object) -> FilePage:
    """Parse the page in ``answer``; at some deployments it is a bare array of all names.

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
