"""Files of the account: upload (streamed), list and delete."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from foldnote.client.core.connection import Resource, ServiceConnection, path_part
from foldnote.client.core.error_mapping import parse_response, read_json
from foldnote.client.core.job_pages import check_limit
from foldnote.client.core.operations import AsyncApi, Call, Operation, Run, SyncApi, operation
from foldnote.client.core.progress import ProgressCallback, track_bytes
from foldnote.client.inputs.file_values import FileValue, ServiceUpload
from foldnote.client.inputs.sources import Source, name_source, open_source
from foldnote.client.local.ledger import Ledger
from foldnote.errors import ServiceError, TooLargeError
from foldnote.models import FilePage, FileRecord, read_file_page

if TYPE_CHECKING:
    import pandas as pd

_UPLOAD_TIMEOUT_S = 3600.0
_NOT_TAKEN = frozenset({400, 413, 507})
"""Statuses for an upload that arrived and was refused."""
_LARGEST_PAGE = 100


class FilesOperations(Resource):
    """PUT /upload, GET /files, DELETE /delete-file."""

    @operation
    def upload(
        self,
        source: Source,
        name: str | None = None,
        folder: str | None = None,
        *,
        progress: bool | ProgressCallback = False,
    ) -> Operation[FileValue]:
        """Upload a file of any size; returns the value for a file field of a job.

        Args:
            source: a path, bytes, an open binary file, or a structure or table object (gemmi, biotite, RDKit,
                pandas, a structure of a result), which is written in the format of the name's extension; a
                path is streamed from disk.
            name: the file's name at the service; by default the path's.
            folder: folder at the service; none by default.
            progress: True to show a bar, or a callback (bytes sent, total bytes).

        Returns:
            ``name`` or ``folder/name``, for a file field.

        Raises:
            FoldnoteError: the source cannot be read, or has no name.
            TooLargeError: the file is larger than the service accepts.
        """
        content, digest = yield Run(lambda: open_source(source, name))
        wanted = name or name_source(source)
        try:
            with track_bytes(progress, wanted) as report:
                yield from _send(self._connection, wanted, folder, content, report)
        finally:
            if isinstance(content, Path) and not isinstance(source, str | Path):
                content.unlink(missing_ok=True)
        path = f"{folder}/{wanted}" if folder else wanted
        yield Run(lambda: Ledger(service=self._connection.service).remember_upload(path, digest))
        return ServiceUpload(path, self._connection.service)

    @operation
    def list(
        self, *, limit: int = 50, offset: int = 0, folder: str | None = None, has_folders: bool = False
    ) -> Operation[FilePage]:
        """Get one page of the account's files.

        Args:
            limit: files per page, at most 100.
            offset: number of files to skip.
            folder: only files in this folder.
            has_folders: also list the subfolders, before the files.
        """
        return (yield from _list_page(self._connection, check_limit(limit), offset, folder, has_folders))

    @operation
    def to_frame(self, limit: int = 1000, *, folder: str | None = None) -> Operation[pd.DataFrame]:
        """Get the account's files as a DataFrame.

        Args:
            limit: maximum number of rows, from as many pages as needed.
            folder: only files in this folder.

        Returns:
            One row per file, with the index ``path`` (str, the value for a file field) and the columns
            ``name`` and ``folder`` (str), ``size_bytes`` (Int64) and ``uploaded`` (datetime64[us, UTC]);
            unknown values are missing.
        """
        page = yield from _list_many(self._connection, check_limit(limit), folder)
        frame: pd.DataFrame = yield Run(page.to_frame)
        return frame

    @operation
    def delete(self, path: str) -> Operation[None]:
        """Delete the file at ``path`` (``name`` or ``folder/name``).

        Raises:
            BadRequestError: there is no such file.
        """
        yield from self._connection.request(
            "DELETE", "/delete-file", params={"filePath": path}, repeatable=False
        )

    @operation
    def delete_folder(self, folder: str) -> Operation[None]:
        """Delete every file in ``folder`` and its subfolders.

        Raises:
            BadRequestError: there are no files in it.
        """
        yield from self._connection.request(
            "DELETE", "/delete-file", params={"folder": folder}, repeatable=False
        )


def _list_page(
    connection: ServiceConnection, limit: int, offset: int, folder: str | None, has_folders: bool = False
) -> Operation[FilePage]:
    params = {"limit": str(limit), "offset": str(offset)} | ({"folder": folder} if folder else {})
    params |= {"includeFolders": "true"} if has_folders else {}
    return parse_response(read_file_page, (yield from connection.request("GET", "/files", params=params)))


def _list_many(connection: ServiceConnection, limit: int, folder: str | None) -> Operation[FilePage]:
    """Get at most ``limit`` files, from as many pages as needed."""
    found: dict[str, FileRecord] = {}
    total, has_more = 0, True
    while has_more and len(found) < limit:
        page = yield from _list_page(connection, min(_LARGEST_PAGE, limit - len(found)), len(found), folder)
        before = len(found)
        found |= {file.path: file for file in page.files}
        total = max(page.total, len(found))
        has_more = page.has_more and len(found) > before  # some deployments ignore paging
    return FilePage(files=tuple(found.values())[:limit], total=total, has_more=has_more)


def _send(
    connection: ServiceConnection,
    name: str,
    folder: str | None,
    content: bytes | Path,
    report: ProgressCallback | None,
) -> Operation[None]:
    """Upload the content; files too large for the service's own route go to a presigned link."""
    try:
        yield from connection.request(
            "PUT",
            f"/upload/{path_part(name)}",
            content=content,
            params={"folder": folder} if folder else None,
            timeout_s=_UPLOAD_TIMEOUT_S,
            report=report,
        )
    except TooLargeError:
        url, head_url = yield from _presign(connection, f"{folder}/{name}" if folder else name)
        if url is None:
            raise
        call = Call("PUT", url, content=content, timeout_s=_UPLOAD_TIMEOUT_S, report=report)
        read_json((yield call))
        if head_url is not None:  # an object store takes any size; the service judges what it finds there
            arrived = yield Call("HEAD", head_url, timeout_s=_UPLOAD_TIMEOUT_S)
            if arrived.status in _NOT_TAKEN:
                read_json(arrived)


def _presign(connection: ServiceConnection, path: str) -> Operation[tuple[str | None, str | None]]:
    """Get presigned links for uploading the file without the key, and for asking whether it arrived.

    Each is None if the service does not issue it.
    """
    wanted = {"filename": path, "contentType": "application/octet-stream"}
    try:
        answer = yield from connection.request("POST", "/getPresignedUploadUrl", json=wanted, repeatable=True)
    except ServiceError:
        return None, None
    links = answer if isinstance(answer, Mapping) else {}
    url, head_url = links.get("uploadUrl"), links.get("headUrl")
    return url if isinstance(url, str) else None, head_url if isinstance(head_url, str) else None


class Files(SyncApi, FilesOperations):
    """The account's files (synchronous)."""


class AsyncFiles(AsyncApi, FilesOperations):
    """The account's files (asynchronous)."""
