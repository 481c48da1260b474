"""Routes for file contents: uploads, downloads and rendered results.

Contents pass through the disk of the Jupyter server, so that the browser needs no signed link.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from foldnote.lab.handlers.jobs import FoldnoteHandler, as_awaitable, http_error

if TYPE_CHECKING:
    from foldnote.lab.uploads import PlannedUpload, ReportBytes, Uploads, UploadSession

UPLOADS = "foldnote_uploads"
"""Key of the uploads in the web application's settings; absent before the first upload."""
_PAGE_FILES = 100
_CHUNK_BYTES = 1 << 20


class FilesHandler(FoldnoteHandler):
    """``GET files?folder=&offset=`` and ``DELETE files?path=`` or ``?folder=``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with one page of the folders and files at the top or in a folder."""
        offset = self.get_query_argument("offset", "0")
        if not offset.isdecimal():
            raise http_error(400, "offset must be a whole number, 0 or more.")
        folder = self.get_query_argument("folder", "") or None
        self.send_record(await self.map_errors(self.session.list_files(_PAGE_FILES, int(offset), folder)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Delete a file of the account, or a folder with its contents."""
        folder = self.get_query_argument("folder", "")
        path = folder or self.get_query_argument("path")
        await self.map_errors(self.session.delete_folder(path) if folder else self.session.delete_file(path))
        self.finish({"message": f"{path} was deleted."})


class _UploadingHandler(FoldnoteHandler):
    """Base of the upload routes."""

    _track_activity = False

    def make_request(self, name: str, folder: object, size_bytes: int, mark: str) -> PlannedUpload:
        """Return the planned upload of the page's file.

        Raises:
            HTTPError: ``folder`` is not a string.
        """
        from foldnote.lab.uploads import PlannedUpload

        if folder is not None and not isinstance(folder, str):
            raise http_error(400, "The field 'folder' must be a string.")
        return PlannedUpload(self.owner, name, folder or None, size_bytes, mark)

    @property
    def owner(self) -> str:
        """The user and the profile."""
        user = getattr(self.current_user, "username", "")
        return f"{user} {self.get_query_argument('profile', '')}"

    @property
    def uploads(self) -> Uploads:
        """The uploads of this server."""
        uploads: Uploads | None = self.settings.get(UPLOADS)
        if uploads is None:
            from foldnote.lab.uploads import Uploads

            uploads = self.settings[UPLOADS] = Uploads()
        return uploads

    async def forward(self, upload: UploadSession) -> None:
        """Send a file to the service, and respond with the progress."""
        request, session = upload.request, self.session

        async def send(path: Path, meter: ReportBytes) -> str:
            return await session.upload(path, request.name, request.folder, meter)

        self.send_record(await self.map_errors(upload.finish(send)))

    def find(self, name: str) -> UploadSession:
        """Return the upload with this id.

        Raises:
            HTTPError: it is unknown, or another user's.
        """
        upload = self.uploads.find(name, self.owner)
        if upload is None:
            raise http_error(404, "This upload has expired. Start it again.")
        return upload


class UploadsHandler(_UploadingHandler):
    """``POST files/uploads``: start an upload in pieces."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Start an upload, or resume an interrupted one."""
        body = self.read_body()
        size, folder = body.get("sizeBytes"), body.get("folder")
        if not isinstance(size, int):
            raise http_error(400, "The request needs 'sizeBytes', a whole number.")
        request = self.make_request(self.read_field("name"), folder, size, str(body.get("mark", "")))
        self.send_record(
            (await self.map_errors(as_awaitable(lambda: self.uploads.begin(request)))).describe()
        )


class UploadHandler(_UploadingHandler):
    """``GET``, ``PUT ?offset=`` and ``DELETE files/uploads/ID``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with the progress of an upload."""
        self.send_record(self.find(name).describe())

    @web.authenticated
    @authorized
    async def put(self, name: str) -> None:
        """Receive a piece of the file."""
        from foldnote.lab.uploads import MAX_CHUNK_BYTES

        offset, piece = self.get_query_argument("offset", ""), self.request.body
        if not offset.isdecimal():
            raise http_error(400, "offset must be a whole number of bytes, 0 or more.")
        if len(piece) > MAX_CHUNK_BYTES:
            raise http_error(413, f"A piece must have at most {MAX_CHUNK_BYTES:,} bytes.")
        upload = self.find(name)
        self.send_record(await self.map_errors(upload.write_chunk(int(offset), piece)))

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Cancel an upload."""
        self.uploads.drop(self.find(name))
        self.finish({"message": "The upload was cancelled."})


class UploadEndHandler(_UploadingHandler):
    """``POST files/uploads/ID/finish``, repeated until the response has a path."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Send the complete file to the service."""
        await self.forward(self.find(name))


class UploadContentsHandler(_UploadingHandler):
    """``POST files/contents``: upload a file of JupyterLab's file browser."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Upload the file at ``path`` of the file browser."""
        path, body = self.read_field("path"), self.read_body()
        with await spool_contents(self.contents_manager, path) as spool:
            spooled = Path(spool.name)
            mark = secrets.token_hex(8)  # unique: an interrupted upload may be of an older version
            name, size = path.rpartition("/")[2], spooled.stat().st_size
            request = self.make_request(name, body.get("folder"), size, mark)
            upload = await self.map_errors(as_awaitable(lambda: self.uploads.begin(request)))
            try:
                await asyncio.to_thread(shutil.copyfile, spooled, upload.path)
                upload.received_bytes = size
                await self.forward(upload)
            except (OSError, web.HTTPError):  # the page does not know the upload, so nothing would resume it
                self.uploads.drop(upload)
                raise


class DownloadHandler(FoldnoteHandler):
    """``GET`` and ``POST jobs/NAME/result?file=&member=``: download the result archive or one file of it.

    A browser shows no error message for a failed download, so the page first sends a POST to learn of errors.
    """

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Download the file to the Jupyter server, and respond with its size or the error."""
        path = await self.map_errors(self.session.download(name, self.file_name, self.member))
        self.finish({"sizeBytes": path.stat().st_size})

    @property
    def file_name(self) -> str | None:
        """The requested file of the result; None for the archive."""
        return self.get_query_argument("file", "") or None

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Send the downloaded file."""
        file_name = self.file_name
        path = await self.map_errors(self.session.download(name, file_name, self.member))
        download_name = (file_name or f"{name}.zip").rpartition("/")[2]
        with path.open("rb") as stream:
            await send_file(self, stream, path.stat().st_size, download_name)


async def send_file(handler: FoldnoteHandler, stream: IO[bytes], size_bytes: int, name: str) -> None:
    """Respond with a file that a browser saves under ``name``."""
    handler.set_header("Content-Type", "application/octet-stream")
    handler.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(name, safe='')}")
    handler.set_header("Content-Length", str(size_bytes))
    handler.set_header("X-Content-Type-Options", "nosniff")
    while chunk := await asyncio.to_thread(stream.read, _CHUNK_BYTES):
        handler.write_file(chunk)
        try:
            await handler.flush()
        except StreamClosedError:
            return
    handler.finish(set_content_type="application/octet-stream")


class ResultHandler(FoldnoteHandler):
    """``GET jobs/NAME/view?member=``: a rendered result."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with the rendered result."""
        path = await self.map_errors(self.session.download(name, member=self.member))
        service = "" if self.member else self.session.notes.service
        label = "" if self.member else self.session.poller.find_label(name)
        await answer_layout(self, "result", path, name, service=service, label=label)


class FileViewHandler(FoldnoteHandler):
    """``GET view?path=``: a rendered file of JupyterLab's file browser."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with the rendered file."""
        path = self.get_query_argument("path")
        with await spool_contents(self.contents_manager, path) as spool:
            await answer_layout(self, "file", Path(spool.name), path.rpartition("/")[2])


async def answer_layout(
    handler: FoldnoteHandler,
    kind: str,
    path: Path,
    title: str,
    complete: Callable[[bytes], bytes] = lambda layout: layout,
    *,
    service: str = "",
    label: str = "",
) -> None:
    """Respond with the rendered result or file at ``path``; ``complete`` makes the response from it."""
    from foldnote.lab.rendering import lay_out

    colors = handler.get_query_argument("colors", "").removeprefix("automatic")
    handler.set_header("Content-Type", "application/json")
    laid_out = lay_out(kind, path, title, colors, service=service, label=label)
    handler.finish(complete(await handler.map_errors(laid_out)))


class _Spool:
    """A temporary copy of a file of the contents manager, with the same name."""

    def __init__(self, name: str, data: bytes) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="foldnote-")
        self.name = str(Path(self._folder.name) / (Path(name).name or "file"))
        Path(self.name).write_bytes(data)

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


async def spool_contents(manager: Any, path: str) -> _Spool:
    """Return a temporary copy of the file at ``path``; contents managers need not store files on disk.

    Raises:
        HTTPError: there is no such file.
    """
    model = await ensure_async(manager.get(path, content=True, type="file", format="base64"))
    data = await asyncio.to_thread(base64.b64decode, model["content"])
    return await asyncio.to_thread(_Spool, path, data)
