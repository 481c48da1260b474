"""Downloads by signed link: without a key, for one hour, with ranges, as attachments, never cached."""

from __future__ import annotations

import os
import re
from io import FileIO
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, StreamingResponse
from pydantic import BeforeValidator
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from foldnote.service.composition import Service
from foldnote.service.domain.result_links import SHARED
from foldnote.service.faults import RefusalError, not_found
from foldnote.service.files.links import Target, link_revoked
from foldnote.service.files.object_bucket import ObjectBucket
from foldnote.service.http.file_responses import EXTENSION
from foldnote.service.http.routes.responses import CurrentService, error_responses

router = APIRouter(tags=["downloads"])
PATH = "/download/{holder}/{holderId}/{sha256}/{name}"
SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_NO_NUMBER = -1
_PLAIN_RANGE = re.compile(r"bytes=([0-9]{1,18})-([0-9]{1,18})?")


class FileDownload(FileResponse):
    """A file or one range of it, sent by `os.sendfile` if possible.

    Other requests, such as those for several ranges, are sent in chunks of 1 MB, each passing through a
    thread.
    """

    chunk_size = 1 << 20

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the content.

        Raises:
            RefusalError: 404 if it was removed meanwhile.
        """
        if scope["method"] != "GET" or EXTENSION not in scope.get("extensions", {}):
            await super().__call__(scope, receive, send)
            return
        try:
            file = await run_in_threadpool(open, self.path, "rb", 0)
        except FileNotFoundError:
            raise _gone() from None
        with file:
            self.set_stat_headers(os.fstat(file.fileno()))
            part = self._choose_part(Headers(scope=scope))
            if part is not None:
                await self._send_part(send, file, *part)
        if part is None:
            await super().__call__(scope, receive, send)

    def _choose_part(self, headers: Headers) -> tuple[int, int] | None:
        """Set the headers for one range and return its start and end; None for several or unusual ranges."""
        size, requested = int(self.headers["content-length"]), headers.get("range")
        if requested is None:
            return 0, size
        plain = _PLAIN_RANGE.fullmatch(requested)
        if plain is None or headers.get("if-range", self.headers["etag"]) != self.headers["etag"]:
            return None
        start, last = int(plain[1]), min(int(plain[2] or size), size - 1)
        if start > last:
            return None
        self.status_code = 206
        self.headers["content-range"] = f"bytes {start}-{last}/{size}"
        self.headers["content-length"] = str(last + 1 - start)
        return start, last + 1

    async def _send_part(self, send: Send, file: FileIO, start: int, end: int) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        parameters = {"file": file, "offset": start, "count": end - start, "more_body": True}
        await send({"type": EXTENSION, **parameters})
        await send({"type": "http.response.body"})


class BucketDownload(StreamingResponse):
    """A content of the bucket, or one range of it, forwarded as it arrives.

    Args:
        objects: reads the content.
        sha256: SHA-256 of the content.
        size_bytes: size of the content.
        request_headers: headers of the request.
        headers: headers of the response.
        media_type: media type of the content.
    """

    def __init__(
        self,
        objects: ObjectBucket,
        sha256: str,
        size_bytes: int,
        request_headers: Headers,
        headers: dict[str, str],
        media_type: str,
    ) -> None:
        own_headers = {"Accept-Ranges": "bytes", "ETag": f'"{sha256}"'}
        part = _find_range(request_headers, own_headers["ETag"], size_bytes)
        start, end = part or (0, size_bytes)
        if part is not None:
            own_headers["Content-Range"] = f"bytes {start}-{end - 1}/{size_bytes}"
        own_headers["Content-Length"] = str(end - start)
        super().__init__(
            objects.read(sha256, part), 206 if part else 200, {**headers, **own_headers}, media_type
        )


def _find_range(request_headers: Headers, etag: str, size_bytes: int) -> tuple[int, int] | None:
    """Return start and end of the requested range; None for several, unusual or no ranges."""
    plain = _PLAIN_RANGE.fullmatch(request_headers.get("range", ""))
    if plain is None or request_headers.get("if-range", etag) != etag:
        return None
    start, last = int(plain[1]), min(int(plain[2] or size_bytes), size_bytes - 1)
    if start > last:
        raise HTTPException(416, headers={"Content-Range": f"bytes */{size_bytes}"})
    return start, last + 1


def _read_number(given: str | int) -> str | int:
    """Parse a number in a link, or the default; anything else becomes a number that is never signed."""
    text = str(given)
    return text if text.isascii() and text.isdigit() and len(text) < 19 else _NO_NUMBER


LinkNumber = Annotated[int, Query(), BeforeValidator(_read_number)]
"""Owner or expiry of a signed link; anything but a number makes the link invalid, answered with 403."""
ANY_TYPE = "application/octet-stream"
MEDIA_TYPES = {".zip": "application/zip", ".json": "application/json"}
CONTENT_TYPES: dict[str, dict[str, object]] = {kind: {} for kind in (ANY_TYPE, *MEDIA_TYPES.values())}
"""The OpenAPI declaration of a stored content."""


@router.head(PATH, include_in_schema=False)
@router.get(
    PATH,
    summary="Download by a signed link",
    response_class=FileResponse,
    responses={
        200: {"description": "The content.", "content": CONTENT_TYPES},
        206: {
            "description": "The requested ranges.",
            "content": CONTENT_TYPES | {"multipart/byteranges": {}},
        },
        307: {"description": "The content is at the object store, by a link that it signed."},
        416: {"description": "The range is outside the content."},
        **error_responses(400, 403, 404),
    },
)
def download(
    request: Request,
    service: CurrentService,
    holder: str,
    holder_id: Annotated[str, Path(alias="holderId")],
    sha256: str,
    name: str,
    owner: LinkNumber = 0,
    expires: LinkNumber = 0,
    key_id: Annotated[str, Query(alias="keyId")] = "",
    signature: str = "",
) -> Response:
    """Download the content of a link."""
    target = Target(holder, holder_id, owner, sha256, name)
    service.links.check(target, expires=expires, key_id=key_id, signature=signature)
    _require_holder(service, target)
    link = service.objects.find_link(target.sha256, request.method)
    if link is not None:
        # the request carries no key, so the redirect cannot pass one to the object store
        return RedirectResponse(link, 307, {**SAFE_HEADERS, "X-Content-SHA256": target.sha256})
    return file_response(request, service, target.sha256, target.name)


def file_response(request: Request, service: Service, sha256: str, name: str) -> Response:
    """Send a stored content as a download.

    Raises:
        RefusalError: 404 if it was removed.
    """
    objects = service.objects
    if not objects.has(sha256):
        raise _gone()
    kind = MEDIA_TYPES.get(f".{name.rpartition('.')[2].lower()}", ANY_TYPE)
    if isinstance(objects, ObjectBucket) and not objects.is_cached(sha256):
        disposition = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"}
        size_bytes = objects.size_bytes(sha256)
        headers = {**SAFE_HEADERS, **disposition}
        return BucketDownload(objects, sha256, size_bytes, request.headers, headers, kind)
    headers = {**SAFE_HEADERS, "ETag": f'"{sha256}"'}
    return FileDownload(objects.path(sha256), media_type=kind, filename=name, headers=headers)


def _require_holder(service: Service, target: Target) -> None:
    """Require that the link's job or file still exists and that the account may still read it."""
    if target.holder == "attempt":  # an input, for the node that runs the attempt
        job_id, _, number = target.holder_id.partition("-")
        if not service.node_attempts.is_running(int(job_id), int(number)):
            raise _gone()
        return
    if not service.store.accounts.has_live_key(target.owner):
        raise link_revoked()
    if target.holder == SHARED:
        if service.sharing.find_holder(target.owner, int(target.holder_id)) is None:
            raise _gone()
        return
    if target.holder == "job":
        row = service.store.jobs.find_by_id(int(target.holder_id))
        owner = None if row is None else row["account_id"]
    else:
        stored = service.store.files.find_by_id(target.holder_id)
        owner = None if stored is None else stored.account_id
    if owner is None or not service.store.accounts.may_read(target.owner, owner):
        raise _gone()


def _gone() -> RefusalError:
    return not_found("The job or file of this link was deleted.", code="gone")
