"""POST /getPresignedUploadUrl, and the upload to this link, which needs no key."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from foldnote.models.wire import WireModel
from foldnote.service.composition import Service
from foldnote.service.disk import require_space
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.requests import UploadRequest
from foldnote.service.faults import not_found
from foldnote.service.files.links import UploadTarget, link_revoked
from foldnote.service.files.names import check_file_name, check_folder, split_path
from foldnote.service.http.routes.downloads import LinkNumber
from foldnote.service.http.routes.files import RAW_BODY, Owner, receive
from foldnote.service.http.routes.paths import rest_of_path
from foldnote.service.http.routes.responses import (
    CurrentService,
    absolute_url,
    error_responses,
    json_body,
    keyed_errors,
    read_small_body,
    success_response,
)

router = APIRouter(tags=["files"])
PATH = "/presigned/" + rest_of_path("filePath")
FilePath = Annotated[str, Path(alias="filePath")]
KeyId = Annotated[str, Query(alias="keyId")]


class UploadLinks(WireModel):
    """The response to POST /getPresignedUploadUrl."""

    upload_url: str
    """PUT the bytes to this address within an hour, once; no key is needed. An object store may have it."""
    head_url: str
    """HEAD to this address answers whether they arrived: 200 or 404."""
    key: str
    """The value for a file field."""


@router.post(
    "/getPresignedUploadUrl",
    summary="Get a link for uploading a file",
    responses={**success_response(UploadLinks, "The links."), **keyed_errors(400, 413)},
    openapi_extra=json_body(UploadRequest),
)
async def get_presigned_upload_url(
    request: Request, caller: AuthenticatedCaller, service: CurrentService
) -> UploadLinks:
    """Sign an upload under one name."""
    folder, name = split_path((await read_small_body(request, service, UploadRequest)).filename)
    target = UploadTarget(caller.account_id, check_folder(folder, "filename"), check_file_name(name))
    direct = await run_in_threadpool(service.direct_uploads.begin, target.owner, target.folder, target.name)
    return UploadLinks(
        upload_url=direct or absolute_url(request, service, service.links.sign(target, "PUT")),
        head_url=absolute_url(request, service, service.links.sign(target, "HEAD")),
        key=f"{target.folder}/{target.name}" if target.folder else target.name,
    )


@router.put(
    PATH,
    summary="Upload by a signed link",
    responses={200: {"description": "The file is stored."}, **error_responses(400, 403, 413, 507)},
    openapi_extra=RAW_BODY,
)
async def put_presigned(
    request: Request,
    service: CurrentService,
    path: FilePath,
    owner: LinkNumber = 0,
    expires: LinkNumber = 0,
    key_id: KeyId = "",
    signature: str = "",
) -> Response:
    """Store the raw body; an existing file of this name is replaced."""
    requested = UploadTarget(owner, *split_path(path))
    target = await run_in_threadpool(_check, service, "PUT", requested, expires, key_id, signature)
    require_space(service.config)
    tier = await run_in_threadpool(service.store.accounts.tier_of, target.owner)
    stored = await receive(request, service, Owner(target.owner, tier), target.folder, target.name)
    return Response(headers={"ETag": f'"{stored.sha256}"'})


@router.head(
    PATH,
    summary="Check whether a presigned upload arrived",
    responses={200: {"description": "It did."}, **error_responses(400, 403, 404, 413)},
)
def head_presigned(
    service: CurrentService,
    path: FilePath,
    owner: LinkNumber = 0,
    expires: LinkNumber = 0,
    key_id: KeyId = "",
    signature: str = "",
) -> Response:
    """Report whether the file exists."""
    target = _check(service, "HEAD", UploadTarget(owner, *split_path(path)), expires, key_id, signature)
    service.direct_uploads.settle(target.owner, target.folder, target.name)
    stored = service.store.files.find(target.owner, target.folder, target.name)
    if stored is None:
        raise not_found(f"The file {path[:200]!r} does not exist.", code="file_not_found", field="filePath")
    return Response(headers={"ETag": f'"{stored.sha256}"', "X-File-Size": str(stored.size)})


def _check(
    service: Service, method: str, target: UploadTarget, expires: int, key_id: str, signature: str
) -> UploadTarget:
    service.links.check(target, method, expires=expires, key_id=key_id, signature=signature)
    if not service.store.accounts.has_live_key(target.owner):
        raise link_revoked()
    return target
