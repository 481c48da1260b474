"""Build the HTTP application from routes, error handlers and middleware."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.types import Scope

from foldnote.service.composition import Service
from foldnote.service.config import ServiceConfig
from foldnote.service.http.error_handlers import HANDLERS
from foldnote.service.http.head_requests import HeadMiddleware
from foldnote.service.http.held_bodies import HeldBodiesMiddleware
from foldnote.service.http.linger import LingerMiddleware
from foldnote.service.http.openapi_document import INTERFACE_VERSION, build_document
from foldnote.service.http.origins import OriginMiddleware
from foldnote.service.http.prefixes import PrefixMiddleware
from foldnote.service.http.routes import (
    cancellation,
    deployment,
    discovery,
    downloads,
    files,
    health,
    jobs,
    nodes,
    pipelines,
    presigned,
    provisioning,
    recommending,
    results,
    submission,
    tools,
)
from foldnote.service.http.routes.beyond import hub, sharing, webhooks
from foldnote.service.http.traffic import TrafficMiddleware
from foldnote.service.operation.drain_watch import watch_draining
from foldnote.service.operation.prometheus import Measurements
from foldnote.service.operation.readiness import ReadinessCheck
from foldnote.service.operation.request_tally import RequestTally
from foldnote.service.queue.executors.table import has_remote

ROUTERS = (
    jobs.router,  # requested most often
    submission.router,
    cancellation.router,
    results.router,
    downloads.router,
    files.router,
    presigned.router,
    pipelines.router,
    tools.router,
    discovery.router,
    recommending.router,
    deployment.router,
    provisioning.router,
    health.router,
)


def create_app(config: ServiceConfig, opened: Service | None = None) -> FastAPI:
    """Build the service as an ASGI application, which opens its data folder when its lifespan starts.

    While it runs, `app.state.service` is the `Service`: the one passed as `opened`, or a new one. A server
    may set `app.state.connections` to the collection of its open connections.
    """
    tally = RequestTally()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = opened if opened is not None else await run_in_threadpool(Service, config)
        app.state.service = service
        app.state.readiness = ReadinessCheck(service)
        app.state.rejected_attempts = nodes.RejectedAttempts()
        connections = getattr(app.state, "connections", ())
        app.state.measurements = Measurements(service, tally, connections)
        await run_in_threadpool(service.start)
        watch = asyncio.create_task(watch_draining(service))
        try:
            yield
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            await run_in_threadpool(service.stop)

    # nodes send the most requests, so their routes come first
    own: tuple[APIRouter, ...] = (nodes.router,) if has_remote(config.executors) else ()
    own += (hub.router,) if config.hub else ()
    own += (webhooks.router,) if config.webhooks else ()
    own += () if config.embedded else (sharing.router,)
    app = build_routes(lifespan, own)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(HeldBodiesMiddleware, max_bytes=config.limits.held_bytes)
    app.add_middleware(LingerMiddleware)
    app.add_middleware(TrafficMiddleware, on_request=_record_activity, tally=tally)
    hosts = config.allowed_hosts if config.embedded or config.allowed_hosts else None
    app.add_middleware(OriginMiddleware, hosts=hosts, public_url=config.public_url)
    app.add_middleware(PrefixMiddleware)
    return app


def build_routes(lifespan: object = None, own: Sequence[APIRouter] = ()) -> FastAPI:
    """Build the application without a service, which is sufficient to describe the interface.

    Args:
        lifespan: opens and closes the service.
        own: additional routes, which are not part of the interface.
    """
    app = FastAPI(
        title="Protein Analysis Job Service",
        version=INTERFACE_VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers=dict(HANDLERS),  # type: ignore[arg-type]  # starlette's type is wider than ours
        lifespan=lifespan,  # type: ignore[arg-type]
    )
    for router in (*own, *ROUTERS):
        app.include_router(router)
    app.openapi = lambda: build_document(app)  # type: ignore[method-assign]
    return app


def _record_activity(scope: Scope) -> None:
    scope["app"].state.service.active_at = time.monotonic()
