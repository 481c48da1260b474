"""Files of the account: sent as a stream, listed, deleted."""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from foldnote.client.effects import Call, Run, Steps, operation
from foldnote.client.file_values import FileValue
from foldnote.client.ledger import Ledger
from foldnote.client.link import Link
from foldnote.client.refusals import read_json, understand
from foldnote.client.resource import AsyncResource, Resource, SyncResource, path_part
from foldnote.errors import FoldnoteError, ServiceError, TooLargeError
from foldnote.models import FilePage, read_file_page

_UPLOAD_TIMEOUT_S = 3600.0
Source = str | Path | bytes | IO[bytes]


class FilesSteps(Resource):
    """PUT /upload, GET /files, DELETE /delete-file."""

    @operation
    def upload(self, source: Source, name: str | None = None, folder: str | None = None) -> Steps[FileValue]:
        """Send a file, of any size, and say what a file field of a job takes for it.

        Args:
            source: a path, bytes, or an open binary file; a path is streamed from disk.
            name: the file's name at the service; by default the path's.
            folder: folder at the service; none by default.

        Returns:
            ``name`` or ``folder/name``, as text that a file field takes.

        Raises:
            FoldnoteError: the source cannot be read, or has no name.
            TooLargeError: the service does not take files of this size.
        """
        content, digest = yield Run(lambda: _open(source))
        wanted = name or _name_of(source)
        try:
            yield from _send(self._link, wanted, folder, content)
        finally:
            if isinstance(content, Path) and not isinstance(source, str | Path):
                content.unlink(missing_ok=True)
        path = f"{folder}/{wanted}" if folder else wanted
        yield Run(lambda: Ledger(service=self._link.service).remember_upload(path, digest))
        return FileValue(path)

    @operation
    def list(self, *, limit: int = 50, offset: int = 0, folder: str | None = None) -> Steps[FilePage]:
        """One page of the account's files.

        Args:
            limit: files a page, at most 100.
            offset: files to skip.
            folder: only the files of this folder.
        """
        params = {"limit": str(limit), "offset": str(offset)} | ({"folder": folder} if folder else {})
        return understand(read_file_page, (yield from self._link.ask("GET", "/files", params=params)))

    @operation
    def delete(self, path: str) -> Steps[None]:
        """Delete the file at ``path`` (``name`` or ``folder/name``).

        Raises:
            BadRequestError: there is no such file.
        """
        yield from self._link.ask("DELETE", "/delete-file", params={"filePath": path}, repeatable=False)


def _send(link: Link, name: str, folder: str | None, content: bytes | Path) -> Steps[None]:
    """The bytes to the account; what is too large for the service's own route goes by a presigned link."""
    try:
        yield from link.ask(
            "PUT",
            f"/upload/{path_part(name)}",
            content=content,
            params={"folder": folder} if folder else None,
            timeout_s=_UPLOAD_TIMEOUT_S,
        )
    except TooLargeError:
        url = yield from _presign(link, f"{folder}/{name}" if folder else name)
        if url is None:
            raise
        read_json((yield Call("PUT", url, content=content, timeout_s=_UPLOAD_TIMEOUT_S)))


def _presign(link: Link, path: str) -> Steps[str | None]:
    """A link that takes the file without the key; None at a service that gives none."""
    wanted = {"filename": path, "contentType": "application/octet-stream"}
    try:
        answer = yield from link.ask("POST", "/getPresignedUploadUrl", json=wanted, repeatable=True)
    except ServiceError:
        return None
    url = answer.get("uploadUrl") if isinstance(answer, Mapping) else None
    return url if isinstance(url, str) else None


def _name_of(source: Source) -> str:
    if isinstance(source, str | Path):
        return Path(source).name
    name = getattr(source, "name", None)
    if isinstance(name, str) and name:
        return Path(name).name
    raise FoldnoteError("Bytes have no name: say upload(..., name='target.pdb').")


def _open(source: Source) -> tuple[bytes | Path, str]:
    """What to send, and its SHA-256 (hex)."""
    if isinstance(source, bytes):
        return source, hashlib.sha256(source).hexdigest()
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if not path.is_file():
            raise FoldnoteError(f"There is no file {str(path)!r} to upload.")
    elif isinstance(source, io.IOBase) or hasattr(source, "read"):
        path = _spool(source)
    else:
        kind = type(source).__name__
        raise FoldnoteError(f"upload() takes a path, bytes or an open binary file, not {kind}.")
    with path.open("rb") as stream:
        return path, hashlib.file_digest(stream, "sha256").hexdigest()


def _spool(stream: IO[bytes]) -> Path:
    """An open file on disk, so that a lost upload can be repeated from its beginning."""
    with tempfile.NamedTemporaryFile(prefix="foldnote-upload-", delete=False) as copy:
        while chunk := stream.read(1 << 20):
            if isinstance(chunk, str):
                raise FoldnoteError("The file is open as text: open it in binary mode, open(path, 'rb').")
            copy.write(chunk)
        return Path(copy.name)


class Files(SyncResource, FilesSteps):
    """The account's files."""


class AsyncFiles(AsyncResource, FilesSteps):
    """The account's files, awaited."""
