"""The routes that carry bytes: uploads, downloads, results laid out for a page.

Bytes go through the disk of the Jupyter server, and no signed link goes to the page.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from foldnote.lab.handlers.jobs import FoldnoteHandler, fault, now

if TYPE_CHECKING:
    from foldnote.lab.uploads import Meter, Uploads, UploadSession, Wish

UPLOADS = "foldnote_uploads"
"""Name of the server's setting that holds the files on their way; not there before the first."""
_PAGE_FILES = 100
_CHUNK_BYTES = 1 << 20


class FilesHandler(FoldnoteHandler):
    """``GET files?folder=&offset=`` and ``DELETE files?path=`` or ``?folder=``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """A page of the folders and files at the top, or in a folder."""
        offset = self.get_query_argument("offset", "0")
        if not offset.isdecimal():
            raise fault(400, "offset is a number of files.")
        folder = self.get_query_argument("folder", "") or None
        self.send_record(await self.ask(self.session.list_files(_PAGE_FILES, int(offset), folder)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Delete a file of the account, or a folder with all that is in it."""
        folder = self.get_query_argument("folder", "")
        path = folder or self.get_query_argument("path")
        await self.ask(self.session.delete_folder(path) if folder else self.session.delete_file(path))
        self.finish({"message": f"{path} is deleted."})


class _UploadingHandler(FoldnoteHandler):
    """What the routes of uploads share."""

    _track_activity = False

    def make_wish(self, name: str, folder: object, size_bytes: int, mark: str) -> Wish:
        """What the page wants to send.

        Raises:
            HTTPError: the folder is no text.
        """
        from foldnote.lab.uploads import Wish

        if folder is not None and not isinstance(folder, str):
            raise fault(400, "The folder is a text.")
        return Wish(self.owner, name, folder or None, size_bytes, mark)

    @property
    def owner(self) -> str:
        """Who asks, and for which profile."""
        user = getattr(self.current_user, "username", "")
        return f"{user} {self.get_query_argument('profile', '')}"

    @property
    def uploads(self) -> Uploads:
        """The files that are on their way through this server."""
        found: Uploads | None = self.settings.get(UPLOADS)
        if found is None:
            from foldnote.lab.uploads import Uploads

            found = self.settings[UPLOADS] = Uploads()
        return found

    async def pass_on(self, upload: UploadSession) -> None:
        """Have a file sent to the service, and answer how far that is."""
        wish, session = upload.wish, self.session

        async def send(path: Path, meter: Meter) -> str:
            return await session.upload(path, wish.name, wish.folder, meter)

        self.send_record(await self.ask(upload.finish(send)))

    def find(self, name: str) -> UploadSession:
        """The upload of this id.

        Raises:
            HTTPError: it is not known, or another user's.
        """
        found = self.uploads.find(name, self.owner)
        if found is None:
            raise fault(404, "This upload is not known here any more. Begin it again.")
        return found


class UploadsHandler(_UploadingHandler):
    """``POST files/uploads``: a file of the page's computer that will come in pieces."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Begin an upload, or go on with the one that was broken off."""
        body = self.get_json_body() or {}
        size, folder = body.get("sizeBytes"), body.get("folder")
        if not isinstance(size, int):
            raise fault(400, "The request needs the number 'sizeBytes'.")
        wish = self.make_wish(self.read_field("name"), folder, size, str(body.get("mark", "")))
        self.send_record((await self.ask(now(lambda: self.uploads.begin(wish)))).answer())


class UploadHandler(_UploadingHandler):
    """``GET``, ``PUT ?offset=`` and ``DELETE files/uploads/ID``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """How far an upload is."""
        self.send_record(self.find(name).answer())

    @web.authenticated
    @authorized
    async def put(self, name: str) -> None:
        """Take a piece of the file."""
        from foldnote.lab.uploads import MOST_PIECE_BYTES

        offset, piece = self.get_query_argument("offset", ""), self.request.body
        if not offset.isdecimal():
            raise fault(400, "offset is a number of bytes.")
        if len(piece) > MOST_PIECE_BYTES:
            raise fault(413, f"A piece has at most {MOST_PIECE_BYTES} bytes.")
        upload = self.find(name)
        self.send_record(await self.ask(upload.take(int(offset), piece)))

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Give an upload up."""
        self.uploads.drop(self.find(name))
        self.finish({"message": "The upload is given up."})


class UploadEndHandler(_UploadingHandler):
    """``POST files/uploads/ID/finish``: asked until the answer has a path."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Pass the whole on to the service."""
        await self.pass_on(self.find(name))


class UploadContentsHandler(_UploadingHandler):
    """``POST files/contents``: a file of JupyterLab's file browser."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Upload the file at ``path`` of the file browser."""
        path, body = self.read_field("path"), self.get_json_body() or {}
        with await spool_contents(self.contents_manager, path) as spool:
            place = Path(spool.name)
            mark = secrets.token_hex(8)  # never one that was broken off: the file may have changed since
            name, size = path.rpartition("/")[2], place.stat().st_size
            wish = self.make_wish(name, body.get("folder"), size, mark)
            upload = await self.ask(now(lambda: self.uploads.begin(wish)))
            await asyncio.to_thread(shutil.copyfile, place, upload.path)
            upload.received_bytes = size
        await self.pass_on(upload)


class DownloadHandler(FoldnoteHandler):
    """``GET`` and ``POST jobs/NAME/result?file=&member=``: the archive, or one file of it, to save.

    A browser that saves what it gets shows nobody why it got nothing, so a page asks by POST first.
    """

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Have it fetched; the answer comes when it lies on this computer, or says why it cannot."""
        path = await self.ask(self.session.download(name, self.file_name, self.member))
        self.finish({"sizeBytes": path.stat().st_size})

    @property
    def file_name(self) -> str | None:
        """The file of the result that is meant; None for the archive."""
        return self.get_query_argument("file", "") or None

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Bytes as they lie on this computer, after they were fetched."""
        file_name = self.file_name
        path = await self.ask(self.session.download(name, file_name, self.member))
        shown = (file_name or f"{name}.zip").rpartition("/")[2]
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(shown, safe='')}")
        self.set_header("Content-Length", str(path.stat().st_size))
        self.set_header("X-Content-Type-Options", "nosniff")
        with path.open("rb") as stream:
            while chunk := await asyncio.to_thread(stream.read, _CHUNK_BYTES):
                self.write_file(chunk)
                try:
                    await self.flush()
                except StreamClosedError:
                    return
        self.finish(set_content_type="application/octet-stream")


class ResultHandler(FoldnoteHandler):
    """``GET jobs/NAME/view?member=``: a job's result, laid out."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """The result for a page."""
        path = await self.ask(self.session.download(name, member=self.member))
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
    from foldnote.lab.rendering import lay_out

    colors = handler.get_query_argument("colors", "").removeprefix("automatic")
    handler.set_header("Content-Type", "application/json")
    handler.finish(await handler.ask(lay_out(what, path, title, colors)))


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
