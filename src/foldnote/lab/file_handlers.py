"""The routes that carry bytes: uploads, downloads, results laid out for a page.

Bytes go through the disk of the Jupyter server, never as a whole through its memory, and no signed link goes
to the page.
"""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from foldnote.lab.handlers import FoldnoteHandler, fault

MOST_UPLOADED_BYTES = 20 * 1024**3
_PAGE_FILES = 100
_CHUNK_BYTES = 1 << 20


class FilesHandler(FoldnoteHandler):
    """``GET files`` and ``DELETE files?path=``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """A page of the account's files."""
        offset = self.get_query_argument("offset", "0")
        if not offset.isdecimal():
            raise fault(400, "offset is a number of files.")
        self.send_record(await self.ask(self.desk.list_files(_PAGE_FILES, int(offset))))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Delete a file of the account."""
        path = self.get_query_argument("path")
        await self.ask(self.desk.delete_file(path))
        self.finish({"message": f"{path} is deleted."})


@web.stream_request_body
class UploadHandler(FoldnoteHandler):
    """``PUT files/upload?name=&folder=`` with the bytes as the body."""

    _spool: IO[bytes] | None = None

    async def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Look at who asks before a byte is taken, and open a place for what comes."""
        await super().prepare(*args, **kwargs)
        if self._finished or self.request.method != "PUT":
            return
        if self.current_user is None:
            raise web.HTTPError(403)
        connection: Any = self.request.connection
        connection.set_max_body_size(MOST_UPLOADED_BYTES)
        self._spool = tempfile.NamedTemporaryFile(prefix="foldnote-upload-")  # noqa: SIM115 - closed in on_finish

    async def data_received(self, chunk: bytes) -> None:
        """Keep a part of the body."""
        if self._spool is not None:
            await asyncio.to_thread(self._spool.write, chunk)

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Send what came to the service."""
        name = self.get_query_argument("name")
        if self._spool is None:
            raise fault(400, "The request has no body.")
        self._spool.flush()
        folder = self.get_query_argument("folder", "") or None
        value = await self.ask(self.desk.upload(Path(self._spool.name), name, folder))
        self.finish({"path": value})

    def on_finish(self) -> None:
        """Give the place back."""
        if self._spool is not None:
            self._spool.close()
        super().on_finish()


class UploadContentsHandler(FoldnoteHandler):
    """``POST files/contents``: a file of JupyterLab's file browser."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Upload the file at ``path`` of the file browser."""
        path = self.read_field("path")
        with await spool_contents(self.contents_manager, path) as spool:
            name = path.rpartition("/")[2]
            self.finish({"path": await self.ask(self.desk.upload(Path(spool.name), name, None))})


class DownloadHandler(FoldnoteHandler):
    """``GET jobs/NAME/result?file=``: the archive, or one file of it, to save."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Bytes as they lie on this computer, after they were fetched."""
        file_name = self.get_query_argument("file", "") or None
        path = await self.ask(self.desk.download(name, file_name))
        shown = (file_name or f"{name}.zip").rpartition("/")[2]
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(shown, safe='')}")
        self.set_header("Content-Length", str(path.stat().st_size))
        self.set_header("X-Content-Type-Options", "nosniff")
        with path.open("rb") as stream:
            while chunk := await asyncio.to_thread(stream.read, _CHUNK_BYTES):
                self.write(chunk)
                try:
                    await self.flush()
                except StreamClosedError:
                    return
        self.finish(set_content_type="application/octet-stream")


class ResultHandler(FoldnoteHandler):
    """``GET jobs/NAME/view``: a job's result, laid out."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """The result for a page."""
        path = await self.ask(self.desk.download(name))
        await _answer_layout(self, "result", path, name)


class FileViewHandler(FoldnoteHandler):
    """``GET view?path=``: a structure or another file of JupyterLab's file browser, laid out."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The file for a page."""
        path = self.get_query_argument("path")
        with await spool_contents(self.contents_manager, path) as spool:
            await _answer_layout(self, "file", Path(spool.name), path.rpartition("/")[2])


async def _answer_layout(handler: FoldnoteHandler, what: str, path: Path, title: str) -> None:
    """Answer with the layout of what is at ``path``."""
    from foldnote.lab.showing import lay_out

    handler.set_header("Content-Type", "application/json")
    handler.finish(await handler.ask(lay_out(what, path, title)))


class _Spool:
    """A file of the contents manager as a file of this computer, under its own name."""

    def __init__(self, name: str, data: bytes) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="foldnote-")
        self.name = str(Path(self._folder.name) / (Path(name).name or "file"))
        Path(self.name).write_bytes(data)

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


async def spool_contents(manager: Any, path: str) -> _Spool:
    """The file at ``path`` of the contents manager, which need not be on this computer's disk.

    Raises:
        HTTPError: there is no such file.
    """
    model = await ensure_async(manager.get(path, content=True, type="file", format="base64"))
    data = await asyncio.to_thread(base64.b64decode, model["content"])
    return await asyncio.to_thread(_Spool, path, data)
