"""Run a service in the foreground until a signal, or as the embedded service until it is idle.

When ready, it prints its address and the path of its key, not the key: terminals, journals and container logs
keep the output of a program. With --json the output includes the key. There is one embedded service per user:
a lock ensures this, and a private runtime file holds its address. Jobs keep running after the service stops,
and the next start adopts them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import gc
import json
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from foldnote import settings
from foldnote.errors import ConfigurationError, EngineError, FoldnoteError
from foldnote.io import FULL_DISK
from foldnote.late import find_version
from foldnote.models.runtime_file import RUNTIME_FILE, RuntimeInfo, read_runtime, write_runtime
from foldnote.number_arguments import read_count, read_positive, read_up_to
from foldnote.service.composition import Service
from foldnote.service.config import ServiceConfig
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.http.app import create_app
from foldnote.service.http.certificates import Certificate, find_certificate, follow_renewals
from foldnote.service.http.connections import (
    ACCEPTED_AT_ONCE,
    MAX_BACKLOG,
    ConnectionLimits,
    limit_accept_error_logging,
    plan_connections,
)
from foldnote.service.http.file_responses import SendingProtocol
from foldnote.service.http.handshakes import listen_with_tls
from foldnote.service.layout import KEY_FILE
from foldnote.service.lock import FolderLock
from foldnote.service.logs import FORMATS, INFO, JSON, LEVELS, start_logging
from foldnote.service.options import (
    BAD_INPUT,
    BROKEN,
    add_limit_arguments,
    read_address,
    read_limits,
    read_proxy,
)
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.sqlite_database import DamagedDatabaseError
from foldnote.text import visible

GRACEFUL_S = 5
_MAX_PORT = 65_535
_IDLE_CHECK_INTERVAL_S = 10.0
_PORT_IN_USE_S = 1.0
_HANDSHAKES_PART = 8
"""One incomplete TLS handshake is allowed per this many connections."""
_COLLECT_AFTER = (20_000, 20, 20)
"""Arguments of `gc.set_threshold`: new objects before a collection, and collections of a younger generation
before one of the next older."""


class Server(uvicorn.Server):
    """uvicorn's server, extended to announce when it is ready and to stop when its service is idle."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        announce: Announcer,
        limits: ConnectionLimits,
        certificate: Certificate | None = None,
    ) -> None:
        super().__init__(config)
        self._app = app
        self._announce = announce
        self._limits = limits
        self._certificate = certificate
        self._watches: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start serving, then announce it."""
        loop = asyncio.get_running_loop()
        limit_accept_error_logging(loop)
        self._app.state.connections = self.server_state.connections
        await super().startup(sockets if self._certificate is None else [])
        if self.should_exit:
            return
        if self._certificate is not None:
            await self._listen_with_tls(self._certificate, sockets or [])
        for listener in sockets or ():
            listener.listen(self._limits.backlog)  # asyncio has set it to the number accepted in one turn
        service: Service = self._app.state.service
        _act_on_signal(loop, "SIGUSR1", service.draining.begin)
        _act_on_signal(loop, "SIGUSR2", service.draining.end)
        self._announce.ready(service)
        if service.config.embedded:
            self._watches.append(asyncio.create_task(self.stop_when_idle(service)))

    async def _listen_with_tls(self, certificate: Certificate, sockets: list[socket.socket]) -> None:
        """Listen as uvicorn would, but limit handshakes and reload renewed certificates."""

        def connect() -> asyncio.Protocol:
            return SendingProtocol(self.config, self.server_state, self.lifespan.state)

        used = certificate.version()
        context, asked = certificate.make_context(), asyncio.Event()
        limit = self._limits.connections // _HANDSHAKES_PART + 1
        for each in sockets:
            self.servers.append(await listen_with_tls(each, context, connect, limit))
        _act_on_signal(asyncio.get_running_loop(), "SIGHUP", asked.set)
        self._watches.append(asyncio.create_task(follow_renewals(certificate, context, used, asked)))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer the long-polling requests, then shut down."""
        service: Service | None = getattr(self._app.state, "service", None)
        if service is not None:
            service.is_closing = True
        await super().shutdown(sockets)

    async def stop_when_idle(self, service: Service) -> None:
        """Exit once the service has been idle for its idle time and no response is being sent."""
        pause_s = min(_IDLE_CHECK_INTERVAL_S, max(0.2, service.config.idle_stop_s / 4))
        while not self.should_exit:
            await asyncio.sleep(pause_s)
            with contextlib.suppress(StorageFaultError):  # a full disk, for example: try again later
                if not self.server_state.tasks and await asyncio.to_thread(service.is_idle):
                    self.should_exit = True


def _act_on_signal(loop: asyncio.AbstractEventLoop, name: str, act: Callable[[], object]) -> None:
    """Call `act` on this signal, where the system has it."""
    if hasattr(signal, name):
        loop.add_signal_handler(getattr(signal, name), act)


def _make_collections_rare() -> None:
    """Exempt the loaded modules from garbage collection, and collect less often.

    With thousands of connections a collection delays every response by a quarter of a second. Reference
    counting frees the objects of a request at once, except for a few reference cycles.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class Announcer:
    """Publishes the address on standard output and, if embedded, in the runtime file."""

    def __init__(self, url: str, *, as_json: bool) -> None:
        self._url = url
        self._as_json = as_json

    def ready(self, service: Service) -> None:
        """Publish the address; with JSON output, the key, too."""
        info = RuntimeInfo(
            url=self._url,
            key=SecretStr(service.local_key),
            pid=os.getpid(),
            version=find_version(),
            started=datetime.now(UTC),
        )
        if service.config.embedded:
            write_runtime(settings.runtime_dir(), info)
        say(info, service.config, as_json=self._as_json)


def say(info: RuntimeInfo, config: ServiceConfig, *, as_json: bool) -> None:
    """Print one line of JSON with address and key, or three lines of text with address and the key's path."""
    folder = config.data_dir.absolute()
    if as_json:
        key = info.key.get_secret_value()
        text = json.dumps({"url": info.url, "key": key, "keyFile": str(folder / KEY_FILE)})
    else:
        which = "--embedded" if config.embedded else f"--data-dir {shlex.quote(str(folder))}"
        text = (
            f"foldnote serves at {info.url}\n"
            f"Its own key is stored in {visible(str(folder / KEY_FILE))}; this command prints it:"
            f" foldnote admin {visible(which)} service-key\n"
            "Stop with Ctrl-C."
        )
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(config: ServiceConfig, as_json: bool) -> int:
    """Serve until a signal or until idle; return the exit status.

    If this user's embedded service is already running, print its address and return 0.
    """
    os.umask(0o077)  # files of the service and its tools are private to the user
    start_logging(config.log_level, config.log_format)
    try:
        return _serve_embedded(config, as_json) if config.embedded else _serve(config, as_json)
    except (EngineError, DamagedDatabaseError) as exc:
        sys.stderr.write(f"{exc}\n")
    except FoldnoteError as exc:
        sys.stderr.write(f"{exc}\n")
        return BAD_INPUT
    except (StorageFaultError, OSError) as exc:
        sys.stderr.write(f"{_explain_unusable(config.data_dir, exc)}\n")
    return BROKEN


def _explain_unusable(folder: Path, exc: Exception) -> str:
    """Say in one sentence what cannot be used, and in another what to do."""
    number, reason = getattr(exc, "errno", None), getattr(exc, "strerror", None) or str(exc).rstrip(".")
    path = Path(getattr(exc, "filename", None) or folder)
    is_inside = path.absolute().is_relative_to(folder.absolute())
    what = f"its data folder {visible(str(folder))}" if is_inside else visible(str(path))
    where = f"{visible(str(path))}: " if is_inside and path != folder else ""
    if isinstance(exc, PermissionError):
        advice = "Run it as the user to whom all files there belong, or give them to its user"
    elif number == errno.EROFS:
        advice = "Its file system can only be read: mount it for writing, or give another --data-dir"
    elif number in FULL_DISK or getattr(exc, "is_full", False):
        advice = "Free space, then start it again"
    elif number in (errno.EMFILE, errno.ENFILE):
        advice = "Let it open more files (ulimit -n, or LimitNOFILE= of systemd), then start it again"
    elif number in (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT, errno.ELOOP):
        advice = "That is not what a service keeps there: move it away, or restore a backup"
    else:
        advice = "Free space or repair the disk, then start it again"
    return f"The service cannot use {what}: {where}{reason}. {advice}."


def _serve_embedded(config: ServiceConfig, as_json: bool) -> int:
    folder = settings.runtime_dir()
    lock = FolderLock(folder, "user's runtime folder")
    if not lock.try_take():
        running = read_runtime(folder)
        if running is not None:
            say(running, config, as_json=as_json)
        return 0
    try:
        return _serve(config, as_json)
    finally:
        (folder / RUNTIME_FILE).unlink(missing_ok=True)
        lock.release()


def _serve(config: ServiceConfig, as_json: bool) -> int:
    limits = plan_connections(config.connections, config.backlog)
    certificate = find_certificate(config.certificate, config.certificate_key)
    if certificate is not None:
        certificate.require_usable()
    listener = _listen(config.host, config.port)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if certificate is None else "https"
    service = Service(config)
    service.start()  # not in the application's startup, where uvicorn would print a traceback
    app = create_app(config, service)
    announce = Announcer(f"{scheme}://{shown}:{port}", as_json=as_json)
    server = Server(_uvicorn_config(app, limits, config), app, announce, limits, certificate)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)  # uvicorn raises the signal again at its end
    _make_collections_rare()
    server.run([listener])
    return 0 if server.started else 1


def _uvicorn_config(app: FastAPI, limits: ConnectionLimits, config: ServiceConfig) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(config.trusted_proxies),
        forwarded_allow_ips=list(config.trusted_proxies),
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACEFUL_S,
        ws="none",
        http=SendingProtocol,
        limit_concurrency=limits.connections + 1,  # uvicorn counts the new connection, too
        backlog=ACCEPTED_AT_ONCE,
    )


def _listen(host: str, port: int) -> socket.socket:
    """Listen at the address; wait for a port in use, since its service may just have been killed.

    A program that the killed service was starting holds the port until its own code is loaded.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    until = time.monotonic() + _PORT_IN_USE_S
    while True:
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio requires it
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(ACCEPTED_AT_ONCE)
        except (OSError, OverflowError) as exc:
            listener.close()
            if getattr(exc, "errno", None) == errno.EADDRINUSE and time.monotonic() < until:
                time.sleep(0.02)
                continue
            reason = getattr(exc, "strerror", None) or "a port is a number from 0 to 65535"
            sentence = f"The service cannot listen on {host}:{port}: {reason}. {_advise_address(exc)}."
            raise ConfigurationError(sentence) from exc
        return listener


def _advise_address(exc: Exception) -> str:
    """Say what to do about an address that cannot be listened on."""
    if isinstance(exc, PermissionError):
        return "Choose a --port from 1024, and put a proxy before it if users need another one"
    if isinstance(exc, socket.gaierror) or getattr(exc, "errno", None) == errno.EADDRNOTAVAIL:
        return "Choose a --host that is an address of this machine, or 0.0.0.0 for all of them"
    return "Choose another --port, or 0 for any free one"


def embedded_config() -> ServiceConfig:
    """Build the configuration of this user's embedded service."""
    return ServiceConfig(
        data_dir=(settings.data_dir() / "service").absolute(),
        embedded=True,
        idle_stop_s=settings.option("service_idle_stop_s"),
        webhooks=settings.config_section("webhooks"),
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `foldnote serve`."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    parser.add_argument(
        "--port", type=read_up_to(read_count, _MAX_PORT), default=0, help="port; 0 for any free one"
    )
    parser.add_argument("--data-dir", type=Path, help="folder of the database, jobs, files and the key")
    parser.add_argument(
        "--json", action="store_true",
        help="when ready, print one line of JSON with url, key (a secret) and keyFile",
    )  # fmt: skip
    parser.add_argument(
        "--tls-cert", type=Path, metavar="FILE",
        help="speak HTTPS with this certificate chain (PEM); a renewed one is used without a restart",
    )  # fmt: skip
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, if --tls-cert lacks it")
    parser.add_argument(
        "--log-format", choices=FORMATS, default=JSON,
        help="how the log on standard error is written: one JSON object a line (default), or text",
    )  # fmt: skip
    parser.add_argument(
        "--log-level", choices=LEVELS, default=INFO,
        help="least level of what is logged (default: info); debug has every request",
    )  # fmt: skip
    parser.add_argument("--no-rate-limit", action="store_true", help="do not limit requests (for benchmarks)")
    parser.add_argument("--workers", type=read_count, help="maximum number of jobs at once")
    parser.add_argument(
        "--connections", type=read_positive, metavar="NUMBER",
        help="maximum number of open connections (default: three quarters of the files that the service may"
        " open, less 256 for itself)",
    )  # fmt: skip
    parser.add_argument(
        "--backlog", type=read_positive, metavar="NUMBER",
        help="maximum number of connections that wait to be accepted (default: as --connections, at most"
        f" {MAX_BACKLOG:,}); on Linux not more than net.core.somaxconn",
    )  # fmt: skip
    parser.add_argument("--public-url", type=read_address, help="base address of signed links")
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME",
        help="accept requests for this host name and those of this machine only; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--trusted-proxy", action="append", default=[], metavar="ADDRESS", type=read_proxy,
        help="trust X-Forwarded-For and X-Forwarded-Proto from the proxy at this address; may be repeated",
    )  # fmt: skip
    parser.add_argument("--no-provisioning", action="store_true", help="do not issue trial keys")
    parser.add_argument("--no-model-router", action="store_true", help="do not recommend tools")
    parser.add_argument(
        "--allow-deploy-model", action="store_true", help="let admin keys register commands as tools"
    )
    parser.add_argument("--embedded", action="store_true", help="this user's own service; stops when idle")
    add_limit_arguments(parser)


def config_of(options: argparse.Namespace) -> ServiceConfig:
    """Build the configuration from the options."""
    if options.embedded:
        return embedded_config()
    limits, trials = read_limits(options)
    return ServiceConfig(
        data_dir=(options.data_dir or settings.data_dir() / "server").absolute(),
        host=options.host,
        port=options.port,
        rate_limit=not options.no_rate_limit,
        public_url=options.public_url,
        allowed_hosts=tuple(options.allowed_host),
        trusted_proxies=tuple(options.trusted_proxy),
        workers=options.workers,
        connections=options.connections,
        backlog=options.backlog,
        allows_deployment=options.allow_deploy_model,
        has_router=not options.no_model_router,
        limits=limits,
        trials=trials,
        executors=settings.config_section("executors"),
        log_format=options.log_format,
        log_level=options.log_level,
        certificate=options.tls_cert,
        certificate_key=options.tls_key,
        store=StoreAddress.read(settings.config_section("store"), settings.store_url()),
        objects=BucketAddress.read(settings.config_section("objects")),
        hub=settings.config_section("jupyterhub"),
        webhooks=settings.config_section("webhooks"),
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of `python -m foldnote.service.serve`."""
    parser = argparse.ArgumentParser(
        prog="foldnote serve", usage="%(prog)s [OPTION ...]", description="Run the job service."
    )
    add_arguments(parser)
    options = parser.parse_args(arguments)
    return main(config_of(options), options.json)


if __name__ == "__main__":
    sys.exit(run())
