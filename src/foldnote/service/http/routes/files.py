"""PUT /upload, GET /files and DELETE /delete-file: the files of an account."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.file import FilePage, UploadReceipt
from foldnote.service.composition import Service
from foldnote.service.disk import require_space
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.faults import bad_request, not_found, too_large
from foldnote.service.files.links import Target
from foldnote.service.files.names import check_file_name, check_folder, split_path
from foldnote.service.http.bodies import read_chunks, require_length
from foldnote.service.http.routes.downloads import CONTENT_TYPES, file_response
from foldnote.service.http.routes.paths import rest_of_path
from foldnote.service.http.routes.responses import (
    CurrentService,
    Message,
    absolute_url,
    keyed_errors,
    success_response,
)
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.files import FolderRow, StoredFile
from foldnote.text import count

router = APIRouter(tags=["files"])
_WRITE_BYTES = 1 << 20
RAW_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.put(
    "/upload/" + rest_of_path("filename"),
    summary="Upload a file",
    responses={**success_response(UploadReceipt, "The file is stored."), **keyed_errors(400, 413, 507)},
    openapi_extra=RAW_BODY,
)
async def upload_file(
    request: Request,
    filename: str,
    caller: AuthenticatedCaller,
    service: CurrentService,
    folder: str | None = None,
) -> Response:
    """Store the raw body under a name; an existing file of this name is replaced."""
    require_length(request, service.config.limits.upload_bytes, _refuse)
    name, checked_folder = check_file_name(filename), check_folder(folder)
    require_space(service.config)
    stored = await receive(request, service, Owner(caller.account_id, caller.tier), checked_folder, name)
    sha256 = stored.sha256
    signed = service.links.sign(Target("file", stored.file_id, caller.account_id, sha256, name))
    receipt = {
        "message": f"{path_of(stored)} was uploaded.",
        "fileUrl": absolute_url(request, service, f"/files/{quote(path_of(stored))}"),
        "signedUrl": absolute_url(request, service, signed),
    }
    return JSONResponse(receipt)


@router.get(
    "/files",
    summary="List files",
    responses={**success_response(FilePage, "Files of one folder, newest first."), **keyed_errors(400)},
)
def list_files(
    caller: AuthenticatedCaller,
    service: CurrentService,
    limit: Annotated[int, Query(ge=1)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
    include_folders: Annotated[Literal["true"] | None, Query(alias="includeFolders")] = None,
    folder: str | None = None,
) -> Response:
    """List the files at the top level or in a folder; with `includeFolders`, folders come first."""
    checked_folder = check_folder(folder)
    service.direct_uploads.settle_all(caller.account_id)
    limit = min(limit, service.config.limits.file_rows)
    rows, total = _list(service, caller, checked_folder, offset, limit, include_folders is not None)
    return JSONResponse({"files": rows, "total": total, "hasMore": offset + len(rows) < total})


@router.head("/files/" + rest_of_path("filePath"), include_in_schema=False)
@router.get(
    "/files/" + rest_of_path("filePath"),
    summary="Download one of the caller's files",
    response_class=Response,
    responses={200: {"description": "The content.", "content": CONTENT_TYPES}, **keyed_errors(404)},
)
def get_file(
    request: Request,
    path: Annotated[str, Path(alias="filePath")],
    caller: AuthenticatedCaller,
    service: CurrentService,
) -> Response:
    """Download an upload of the caller."""
    service.direct_uploads.settle(caller.account_id, *split_path(path))
    stored = service.store.files.find(caller.account_id, *split_path(path))
    if stored is None:
        raise not_found(f"The file {path[:200]!r} does not exist.", code="file_not_found", field="filePath")
    return file_response(request, service, stored.sha256, stored.name)


@router.delete(
    "/delete-file",
    summary="Delete a file, or all files of a folder",
    responses={**success_response(Message, "Deleted."), **keyed_errors(400)},
)
def delete_file(
    caller: AuthenticatedCaller,
    service: CurrentService,
    file_path: Annotated[str | None, Query(alias="filePath")] = None,
    folder: str | None = None,
) -> Response:
    """Delete one file by its path, or every file in a folder and below it."""
    if (file_path is None) == (folder is None):
        raise bad_request("Give either filePath or folder.", code="missing_field", field="filePath")
    service.direct_uploads.settle_all(caller.account_id)
    if file_path is not None:
        return _delete_one(service, caller, file_path)
    checked_folder = check_folder(folder)
    number = service.store.files.delete_folder(caller.account_id, checked_folder) if checked_folder else 0
    if not number:
        raise bad_request(
            f"There are no files in the folder {(folder or '')[:200]!r}.",
            code="file_not_found",
            field="folder",
        )
    verb = "was" if number == 1 else "were"
    return JSONResponse({"message": f"{count(number, 'file')} in {checked_folder} {verb} deleted."})


def _delete_one(service: Service, caller: Caller, path: str) -> Response:
    if not service.store.files.delete(caller.account_id, *split_path(path)):
        raise bad_request(f"The file {path[:200]!r} does not exist.", code="file_not_found", field="filePath")
    return JSONResponse({"message": f"{path} was deleted."})


class Owner(NamedTuple):
    """The owner of an upload: row and tier of the account."""

    account_id: int
    tier: str


async def receive(request: Request, service: Service, owner: Owner, folder: str, name: str) -> StoredFile:
    """Store the body as it arrives, within the account's storage limit, and commit it under its name.

    Raises:
        RefusalError: 400 for an empty body, 413 for one that is too large or exceeds the storage limit.
    """
    text = request.headers.get("content-length", "0")
    declared = int(text[:19]) if text.isascii() and text.isdigit() else 0
    with service.storage.upload(*owner, declared) as upload_space:
        sha256, size = await _receive(request, service, owner, name, upload_space.remaining_bytes, declared)
        return await run_in_threadpool(service.store.files.put, owner.account_id, folder, name, size, sha256)


async def _receive(
    request: Request, service: Service, owner: Owner, name: str, remaining_bytes: int | None, declared: int
) -> tuple[str, int]:
    """Store the body as it arrives; return its hash and size."""
    max_file_bytes = service.config.limits.upload_bytes
    is_limited_by_storage = remaining_bytes is not None and remaining_bytes < max_file_bytes
    limit = remaining_bytes if remaining_bytes is not None and is_limited_by_storage else max_file_bytes
    refuse = (lambda _: service.storage.exceeded_error(*owner)) if is_limited_by_storage else _refuse
    with service.objects.draft() as draft:
        buffer = bytearray()
        async for chunk in read_chunks(request, limit, refuse):
            buffer += chunk
            if len(buffer) >= _WRITE_BYTES:
                await run_in_threadpool(draft.write, bytes(buffer))
                buffer.clear()
        draft.write(bytes(buffer))
        if not draft.size:
            raise bad_request(f"The file {name!r} is empty.", code="invalid_file", field="filename")
        await run_in_threadpool(service.storage.require_still_fits, *owner, draft.size, declared)
        return await run_in_threadpool(draft.commit), draft.size


def _refuse(limit_bytes: int) -> Exception:
    return too_large(limit_bytes, "The file")


def _list(
    service: Service, caller: Caller, folder: str, offset: int, limit: int, has_folders: bool
) -> tuple[list[dict[str, Any]], int]:
    folders = service.store.files.folders(caller.account_id, folder) if has_folders else []
    page = folders[offset : offset + limit]
    files, total = service.store.files.page(
        caller.account_id, folder, offset=max(0, offset - len(folders)), limit=limit - len(page)
    )
    return [*map(_folder_record, page), *map(file_record, files)], total + len(folders)


def path_of(stored: StoredFile) -> str:
    """Return the value for a file field."""
    return f"{stored.folder}/{stored.name}" if stored.folder else stored.name


def file_record(stored: StoredFile) -> dict[str, Any]:
    """Return one row of GET /files; files at the top level have no `folder`."""
    folder_field = {"folder": stored.folder} if stored.folder else {}
    return {
        "fileId": stored.file_id,
        "fileName": stored.name,
        "name": stored.name,
        "fileSize": stored.size,
        "uploadTime": stored.uploaded,
        **folder_field,
    }


def _folder_record(row: FolderRow) -> dict[str, Any]:
    parent, name = split_path(row.name)
    return {
        "fileId": f"folder:{row.name}",
        "fileName": name,
        "name": name,
        "fileSize": row.size,
        "uploadTime": row.uploaded,
        **({"folder": parent} if parent else {}),
        "isFolder": True,
    }
