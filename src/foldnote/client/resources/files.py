"""Files of the account: sent as a stream, listed, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from foldnote.client.core.connection import Resource, ServiceConnection, path_part
from foldnote.client.core.error_mapping import read_json, understand
from foldnote.client.core.job_pages import check_limit
from foldnote.client.core.operations import AsyncApi, Call, Operation, Run, SyncApi, operation
from foldnote.client.core.progress import ProgressCallback, measure
from foldnote.client.inputs.file_values import FileValue
from foldnote.client.inputs.sources import Source, name_source, open_source
from foldnote.client.local.ledger import Ledger
from foldnote.errors import ServiceError, TooLargeError
from foldnote.models import FilePage, FileRecord, read_file_page

if TYPE_CHECKING:
    import pandas as pd

_UPLOAD_TIMEOUT_S = 3600.0
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
        """Send a file, of any size, and say what a file field of a job takes for it.

        Args:
            source: a path, bytes, an open binary file, or a structure or table object (gemmi, biotite,
                RDKit, pandas, a structure of a result), which is written as the name's ending says; a path
                is streamed from disk.
            name: the file's name at the service; by default the path's.
            folder: folder at the service; none by default.
            progress: show a bar, or call this with the bytes that are on their way and all of them.

        Returns:
            ``name`` or ``folder/name``, as text that a file field takes.

        Raises:
            FoldnoteError: the source cannot be read, or has no name.
            TooLargeError: the service does not take files of this size.
        """
        content, digest = yield Run(lambda: open_source(source, name))
        wanted = name or name_source(source)
        try:
            with measure(progress, wanted) as report:
                yield from _send(self._connection, wanted, folder, content, report)
        finally:
            if isinstance(content, Path) and not isinstance(source, str | Path):
                content.unlink(missing_ok=True)
        path = f"{folder}/{wanted}" if folder else wanted
        yield Run(lambda: Ledger(service=self._connection.service).remember_upload(path, digest))
        return FileValue(path)

    @operation
    def list(
        self, *, limit: int = 50, offset: int = 0, folder: str | None = None, has_folders: bool = False
    ) -> Operation[FilePage]:
        """One page of the account's files.

        Args:
            limit: files a page, at most 100.
            offset: files to skip.
            folder: only the files of this folder.
            has_folders: list the folders there, too, before the files.
        """
        return (yield from _list_page(self._connection, check_limit(limit), offset, folder, has_folders))

    @operation
    def to_frame(self, limit: int = 1000, *, folder: str | None = None) -> Operation[pd.DataFrame]:
        """The account's files as a DataFrame.

        Args:
            limit: the most rows, from as many pages as it takes.
            folder: only the files of this folder.

        Returns:
            One row a file, with the index ``path`` (str, what a file field takes) and the columns ``name``
            and ``folder`` (str), ``size_bytes`` (Int64) and ``uploaded`` (datetime64[us, UTC]); what is not
            there is missing.
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
        yield from self._connection.ask("DELETE", "/delete-file", params={"filePath": path}, repeatable=False)

    @operation
    def delete_folder(self, folder: str) -> Operation[None]:
        """Delete every file in ``folder`` and below it.

        Raises:
            BadRequestError: there are no files in it.
        """
        yield from self._connection.ask("DELETE", "/delete-file", params={"folder": folder}, repeatable=False)


def _list_page(
    connection: ServiceConnection, limit: int, offset: int, folder: str | None, has_folders: bool = False
) -> Operation[FilePage]:
    params = {"limit": str(limit), "offset": str(offset)} | ({"folder": folder} if folder else {})
    params |= {"includeFolders": "true"} if has_folders else {}
    return understand(read_file_page, (yield from connection.ask("GET", "/files", params=params)))


def _list_many(connection: ServiceConnection, limit: int, folder: str | None) -> Operation[FilePage]:
    """At most ``limit`` files, from as many pages as it takes."""
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
    """The bytes to the account; what is too large for the service's own route goes by a presigned link."""
    try:
        yield from connection.ask(
            "PUT",
            f"/upload/{path_part(name)}",
            content=content,
            params={"folder": folder} if folder else None,
            timeout_s=_UPLOAD_TIMEOUT_S,
            report=report,
        )
    except TooLargeError:
        url = yield from _presign(connection, f"{folder}/{name}" if folder else name)
        if url is None:
            raise
        call = Call("PUT", url, content=content, timeout_s=_UPLOAD_TIMEOUT_S, report=report)
        read_json((yield call))


def _presign(connection: ServiceConnection, path: str) -> Operation[str | None]:
    """A link that takes the file without the key; None at a service that gives none."""
    wanted = {"filename": path, "contentType": "application/octet-stream"}
    try:
        answer = yield from connection.ask("POST", "/getPresignedUploadUrl", json=wanted, repeatable=True)
    except ServiceError:
        return None
    url = answer.get("uploadUrl") if isinstance(answer, Mapping) else None
    return url if isinstance(url, str) else None


class Files(SyncApi, FilesOperations):
    """The account's files."""


class AsyncFiles(AsyncApi, FilesOperations):
    """The account's files, awaited."""
