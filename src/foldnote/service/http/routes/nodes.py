"""Internal routes for runners on other machines.

They are not in the OpenAPI document, and absent unless an executor of other machines is configured. Starting
an attempt needs its nonce; every other request needs the token that the nonce was exchanged for. Neither is a
user's key, and no user's key opens these routes. Wrong ones are limited per client address.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.routing import Route

from foldnote.service.composition import Service
from foldnote.service.disk import require_space
from foldnote.service.domain.access.gate import too_many
from foldnote.service.domain.access.limiter import RateLimiter
from foldnote.service.domain.requests import RequestBody
from foldnote.service.faults import RefusalError, bad_request, not_found, too_large
from foldnote.service.files.links import Target
from foldnote.service.http.bodies import read_chunks
from foldnote.service.http.routes.responses import CurrentService, find_service, read_small_body
from foldnote.service.node.order import NodeOrder
from foldnote.service.queue.executors.nodes import (
    DRAFT,
    UPLOADS,
    FinalReport,
    HeartbeatReport,
    NodeAttempts,
    RemoteAttempt,
    attempt_refused,
)
from foldnote.service.queue.executors.slots import OpenSlot
from foldnote.service.runner.attempt import LOG, MANIFEST, Outcome
from foldnote.service.runner.output_lines import LOG_LIMIT_BYTES
from foldnote.service.runner.publishing import MAX_FIGURES

router = APIRouter(prefix="/internal/attempts", include_in_schema=False)
HASH_HEADER = "x-content-sha256"
_BEARER = "Bearer "
_WRITE_BYTES = 1 << 20
_MANIFEST_BYTES = 64 << 20
_ARCHIVE_OVERHEAD_BYTES = 64 << 20
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00)$"
_REJECTED_PER_S, _REJECTED_BURST = 1.0, 20
Sentence = Annotated[str, Field(max_length=4000)]
Moment = Annotated[str, Field(pattern=_TIME)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
T = TypeVar("T")


class StartBody(RequestBody):
    """POST /internal/attempts/start."""

    job_id: int
    number: int
    nonce: str = Field(max_length=200)


class HeartbeatBody(RequestBody):
    """POST …/heartbeat."""

    progress: float | None = Field(default=None, ge=0, le=1)
    message: str | None = Field(default=None, max_length=500)
    log: str = ""
    """A part of the log, in Base64."""
    log_offset: int = Field(default=0, ge=0)
    """Offset of that part in the log, in bytes."""


class OutcomeBody(RequestBody):
    """POST …/outcome: the fields of an `Outcome`."""

    state: Literal["succeeded", "failed", "stopped", "timed_out", "lost"]
    nonce: str = Field(max_length=200)
    error: Sentence | None = None
    score: dict[str, bool | str | int | float] | None = Field(default=None, max_length=MAX_FIGURES)
    result_size_bytes: int | None = Field(default=None, ge=0)
    result_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    started: Moment | None = None
    ended: Moment | None = None
    note: Sentence | None = None
    cpu_seconds: Number | None = None
    peak_memory_mb: Number | None = None
    peak_gpu_memory_mb: Number | None = None
    is_input_refused: bool = False
    engine_version: Sentence | None = None


class EndingBody(OutcomeBody, HeartbeatBody):
    """The fields of an outcome, with the last heartbeat and small outputs."""

    outputs: dict[Literal["manifest.json", "result.zip"], str] = Field(default={})
    """Small outputs by name, in Base64."""
    takes_next: bool = False
    """Whether the node is ready to run another attempt now."""


class RejectedAttempts:
    """Limits how often a client address may present a wrong nonce or token."""

    def __init__(self) -> None:
        self._limiter = RateLimiter(_REJECTED_PER_S, _REJECTED_BURST)

    async def guard(self, request: Request, act: Callable[[], T]) -> T:
        """Call ``act`` in a thread, and count if it refuses a nonce or token (403).

        Raises:
            RefusalError: 403 from ``act``; after too many of them, 429 instead.
        """
        try:
            return await run_in_threadpool(act)
        except RefusalError as exc:
            if exc.status == 403:
                wait_s = self._limiter.take(request.client.host if request.client else "")
                if wait_s > 0:
                    raise too_many("rejected attempts from this address", wait_s) from exc
            raise


def _rejected_attempts(request: Request) -> RejectedAttempts:
    limit: RejectedAttempts = request.app.state.rejected_attempts
    return limit


JobId = Annotated[int, Path(ge=1, lt=2**63)]
AttemptNumber = Annotated[int, Path(ge=1, lt=2**31)]


def _bearer_token(request: Request) -> str:
    header = request.headers.get("authorization", "")
    return header.removeprefix(_BEARER) if header.startswith(_BEARER) else ""


async def _admit(
    request: Request, service: CurrentService, job_id: JobId, number: AttemptNumber
) -> RemoteAttempt:
    token = _bearer_token(request)
    return await _rejected_attempts(request).guard(
        request, lambda: service.node_attempts.admit(job_id, number, token)
    )


AdmittedAttempt = Annotated[RemoteAttempt, Depends(_admit)]
"""The attempt to which the request's token belongs."""


@router.post("/start")
async def start_attempt(request: Request, service: CurrentService) -> Response:
    """Exchange an attempt's nonce, once, for a token and the order."""
    body = await read_small_body(request, service, StartBody)
    if not (0 < body.job_id < 2**63 and 0 < body.number < 2**31):
        raise attempt_refused()
    token, order = await _rejected_attempts(request).guard(
        request, lambda: service.node_attempts.start(body.job_id, body.number, body.nonce)
    )
    return _start_response(service, token, order)


def _start_response(service: Service, token: str, order: NodeOrder) -> Response:
    """Build the response with which an attempt begins."""
    content = order.as_content()
    holder = f"{order.job_id}-{order.number}"
    for row in content["inputs"]:
        target = Target("attempt", holder, order.account_id, row["sha256"], row["name"])
        row["url"] = f"{service.node_url}{service.links.sign(target)}"
    return JSONResponse({"token": token, "order": content})


@router.post("/{job_id}/{number}/heartbeat")
async def renew_lease(request: Request, service: CurrentService, attempt: AdmittedAttempt) -> Response:
    """Renew the lease; the response says whether to stop."""
    body = await read_small_body(request, service, HeartbeatBody)
    report = _heartbeat_report(body)
    response = await run_in_threadpool(service.node_attempts.record_heartbeat, attempt, report)
    return JSONResponse({"cancelGraceS": response.cancel_grace_s, "logBytes": response.log_bytes})


@router.put("/{job_id}/{number}/outputs/{name:anything}")
async def upload_output(
    request: Request, service: CurrentService, attempt: AdmittedAttempt, name: str
) -> Response:
    """Store a file of the attempt, whose SHA-256 is in a header."""
    if name not in UPLOADS:
        raise not_found(f"A node uploads {', '.join(UPLOADS)} and nothing else.", field="name")
    await run_in_threadpool(require_space, service.config)
    expected = request.headers.get(HASH_HEADER, "")
    draft = attempt.folder / f"{DRAFT}{secrets.token_hex(8)}"
    try:
        found = await _receive(request, draft, _max_upload_bytes(service, name))
        if not secrets.compare_digest(found.encode(), expected.encode("utf-8", "replace")):
            raise bad_request(f"The content has the SHA-256 {found}.", code="wrong_hash", field=HASH_HEADER)
        await run_in_threadpool(service.node_attempts.store_output, attempt, name, draft)
    finally:
        draft.unlink(missing_ok=True)
    return Response(status_code=204)


async def finish_attempt(request: Request) -> Response:
    """Accept the outcome, which ends the attempt; the response may contain the slot's next attempt."""
    request.scope["route"] = _OUTCOME_ROUTE  # names it in metrics; FastAPI does so for its own routes only
    service, job_id, number = find_service(request), *_attempt_of_path(request)
    body = await read_small_body(request, service, EndingBody)
    outcome = Outcome(**body.model_dump(include=set(OutcomeBody.model_fields)))
    outputs = {str(name): _decode(each, "outputs") for name, each in body.outputs.items()}
    ending = FinalReport(outcome, _heartbeat_report(body), outputs)
    node = NextAttemptRequest(request, service.node_attempts)

    def accept() -> None:  # in one thread, since each change of threads takes as long as all of this
        attempt = service.node_attempts.admit(job_id, number, _bearer_token(request))
        if outputs:
            require_space(service.config)
        node.finish(attempt, ending, takes_next=body.takes_next)

    try:
        await _rejected_attempts(request).guard(request, accept)
        next_attempt = await node.wait_for_next_attempt()
    finally:
        node.withdraw_slot()
    return Response(status_code=204) if next_attempt is None else _start_response(service, *next_attempt)


def _attempt_of_path(request: Request) -> tuple[int, int]:
    job_id, number = request.path_params["job_id"], request.path_params["number"]
    if not (0 < job_id < 2**63 and 0 < number < 2**31):
        raise attempt_refused()
    return job_id, number


# called for every job, so it bypasses FastAPI's handling of parameters
_OUTCOME_ROUTE = Route(
    f"{router.prefix}/{{job_id:int}}/{{number:int}}/outcome", finish_attempt, methods=["POST"]
)
router.routes.append(_OUTCOME_ROUTE)


class NextAttemptRequest:
    """A node that waits, in the request that ends its attempt, for the next one."""

    def __init__(self, request: Request, attempts: NodeAttempts) -> None:
        self._request = request
        self._attempts = attempts
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._slot: OpenSlot | None = None
        self._next_attempt: tuple[str, NodeOrder] | None = None
        self._is_delivered = False

    def finish(self, attempt: RemoteAttempt, ending: FinalReport, *, takes_next: bool) -> None:
        """Accept the outcome, from any thread, and offer the slot of the attempt if it may be used again.

        Raises:
            RefusalError: the outcome is not accepted.
            OSError: the attempt's folder cannot be written.
        """
        self._attempt = attempt
        if takes_next:
            wake = lambda: self._loop.call_soon_threadsafe(self._wake.set)  # noqa: E731
            self._slot = self._attempts.slots.offer(attempt.nonce, wake)
        self._attempts.finish(attempt, ending, self._slot)
        if takes_next:
            self._next_attempt = self._attempts.find_started_next(attempt)

    async def wait_for_next_attempt(self) -> tuple[str, NodeOrder] | None:
        """Return token and order of the next attempt, already begun; None if none came in time."""
        if self._slot is None or self._next_attempt is not None:
            return self._next_attempt
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), self._slot.terms.wait_s)
        assigned_attempt = self._attempts.slots.close(self._slot)
        if assigned_attempt is not None and not await self._request.is_disconnected():
            with contextlib.suppress(RefusalError):  # it may no longer start
                self._next_attempt = await run_in_threadpool(
                    self._attempts.start_next, self._attempt, assigned_attempt
                )
            self._is_delivered = True
        return self._next_attempt or self._attempts.find_started_next(self._attempt)

    def withdraw_slot(self) -> None:
        """Withdraw the slot; an attempt that was given to it but not taken is delivered by the transport."""
        if self._slot is not None:
            assigned_attempt = self._attempts.slots.close(self._slot)
            if assigned_attempt is not None and not self._is_delivered:
                self._loop.run_in_executor(None, self._slot.on_slot_lost)


def _heartbeat_report(body: HeartbeatBody) -> HeartbeatReport:
    return HeartbeatReport(body.progress, body.message, _decode(body.log, "log"), body.log_offset)


def _decode(text: str, field: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise bad_request(f"{field} is not Base64.", field=field) from exc


async def _receive(request: Request, draft: FilePath, limit_bytes: int) -> str:
    """Write the body to ``draft``, sync it, and return its SHA-256."""
    digest, buffer = hashlib.sha256(), bytearray()
    refuse: Callable[[int], Exception] = lambda limit: too_large(limit, "The output")  # noqa: E731
    with draft.open("xb", buffering=0) as target:

        def write(content: bytes) -> None:
            digest.update(content)
            target.write(content)

        async for chunk in read_chunks(request, limit_bytes, refuse):
            buffer += chunk
            if len(buffer) >= _WRITE_BYTES:
                await run_in_threadpool(write, bytes(buffer))
                buffer.clear()
        await run_in_threadpool(write, bytes(buffer))
        await run_in_threadpool(os.fsync, target.fileno())
    return digest.hexdigest()


def _max_upload_bytes(service: Service, name: str) -> int:
    limits: dict[str, Any] = {LOG: LOG_LIMIT_BYTES + 1024, MANIFEST: _MANIFEST_BYTES}
    return int(limits.get(name, service.config.limits.output_bytes + _ARCHIVE_OVERHEAD_BYTES))
