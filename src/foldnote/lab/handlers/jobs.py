"""The base class of all routes, and the routes for jobs, below ``<base_url>foldnote/api/``.

All need a logged-in user, and those that change something the XSRF token. ``?profile=NAME`` selects the
service, by default that of the active profile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from foldnote.errors import (
    ArgumentError,
    BadRequestError,
    ConfigurationError,
    FoldnoteError,
    NotFoundError,
    RateLimitedError,
    ResultError,
    SettingsError,
    TransportError,
    UnfinishedJobError,
)
from foldnote.lab.redaction import redact_links

if TYPE_CHECKING:
    from foldnote.lab.responses import PageResponse
    from foldnote.lab.service_session import ServiceSession
    from foldnote.lab.session_registry import SessionRegistry
    from foldnote.models.wire import WireModel

REGISTRY = "foldnote_sessions"
"""Key of the session registry in the web application's settings; None before the first request."""

MAX_DELAY_S = 600
_MAX_NAMES = 1000
_Value = TypeVar("_Value")

_STATUSES: tuple[tuple[type[FoldnoteError], int], ...] = (
    (NotFoundError, 404),
    (ArgumentError, 400),
    (BadRequestError, 400),
    (UnfinishedJobError, 400),
    (RateLimitedError, 429),
    (ConfigurationError, 400),
    (SettingsError, 400),
    (ResultError, 422),
    (TransportError, 503),
    (FoldnoteError, 502),
)


class FoldnoteHandler(APIHandler):
    """Base of all routes: provides the session registry and answers errors as ``{"error", "message"}``."""

    auth_resource = "foldnote"

    @property
    def registry(self) -> SessionRegistry:
        """The session registry of this server, created at the first request."""
        registry: SessionRegistry | None = self.settings[REGISTRY]
        if registry is None:
            registry = self.settings[REGISTRY] = _make_registry()
        return registry

    @property
    def session(self) -> ServiceSession:
        """The session of the profile named in the request.

        Raises:
            HTTPError: there is no such profile.
        """
        try:
            return self.registry.find(self.get_query_argument("profile", "") or None)
        except FoldnoteError as exc:
            raise http_error(404, str(exc)) from exc

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Respond with an error; ``message`` repeats ``error`` because JupyterLab reads that field."""
        exc = kwargs.get("exc_info", (None, None, None))[1]
        fallback = f"The Jupyter server responded with HTTP status {status_code}."
        if status_code == 403 and self.current_user is None:
            fallback = "You are no longer logged in to Jupyter. Reload the page to log in again."
        sentence = getattr(exc, "log_message", None) or fallback
        self.finish(json.dumps({"error": sentence, "message": sentence}))

    async def map_errors(self, work: Awaitable[_Value]) -> _Value:
        """Await ``work`` and turn its errors into HTTP errors.

        Raises:
            HTTPError: the service cannot be reached or refuses.
        """
        try:
            return await work
        except TimeoutError as exc:
            raise http_error(504, "The job service does not answer in time. Try again.") from exc
        except FoldnoteError as exc:
            status = next(status for kind, status in _STATUSES if isinstance(exc, kind))
            raise http_error(status, exc.first_line) from exc

    @property
    def member(self) -> str | None:
        """Address of the member of the organization who owns the job; None for the account itself."""
        return self.get_query_argument("member", "") or None

    def read_body(self) -> dict[str, Any]:
        """Return the object in the body of the request; empty without a body.

        Raises:
            HTTPError: it is not JSON, or not an object.
        """
        body = self.get_json_body()
        if body is not None and not isinstance(body, dict):
            raise http_error(400, "The body of the request must be a JSON object.")
        return body or {}

    def read_field(self, name: str) -> str:
        """Return the string ``name`` of the JSON body.

        Raises:
            HTTPError: it is missing, empty or not a string.
        """
        value = self.read_body().get(name)
        if not isinstance(value, str) or not value:
            raise http_error(400, f"The request needs {name!r}, a non-empty string.")
        return value

    def read_names(self, field: str = "names") -> list[str]:
        """Return the list ``field`` of the JSON body.

        Raises:
            HTTPError: it is not a list of at most 1,000 non-empty strings.
        """
        names = self.read_body().get(field)
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            raise http_error(400, f"The request needs {field!r}, a list of non-empty strings.")
        if len(names) > _MAX_NAMES:
            raise http_error(400, f"A request may name at most {_MAX_NAMES:,} jobs.")
        return names

    def send(self, response: PageResponse) -> None:
        """Respond with a body, or with 304 when the page already has it."""
        self.set_header("Cache-Control", "no-cache, private")
        self.set_header("ETag", f'W/"{response.tag}"')
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        else:
            self.finish(response.body)

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Write text or JSON, with signatures removed from links."""
        text = json.dumps(chunk) if isinstance(chunk, dict) else chunk
        super().write(redact_links(text.encode() if isinstance(text, str) else text))

    def write_file(self, chunk: bytes) -> None:
        """Write file contents unchanged."""
        super().write(chunk)

    def send_record(self, record: WireModel) -> None:
        """Respond with a record."""
        self.finish(record.to_wire())


class JobsHandler(FoldnoteHandler):
    """``GET jobs``: all jobs or changes. It does not count as activity that keeps an idle server running."""

    _track_activity = False
    _waiting: asyncio.Task[PageResponse] | None = None

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with the known jobs; with ``since``, the changes since then, within ``wait_s`` seconds.

        ``pause_s`` is the minimum polling interval that the user has set, in seconds.
        """
        poller = self.session.poller
        since = self.get_query_argument("since", "") or None
        wait_s = _read_seconds(self.get_query_argument("wait_s", "0"))
        pause_s = _read_seconds(self.get_query_argument("pause_s", "0"))
        if since is None or wait_s == 0:
            self.send(poller.read(since, pause_s))
            return
        self._waiting = asyncio.ensure_future(poller.read_when_changed(since, wait_s, pause_s))
        with suppress(asyncio.CancelledError):
            response = await self._waiting
            if response.tag != since:
                self.send(response)
            else:
                self.set_status(304)
                self.finish()

    def on_connection_close(self) -> None:
        """Stop waiting for a closed page, so that it does not keep the poller running."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().on_connection_close()


class RefreshHandler(FoldnoteHandler):
    """``POST refresh``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Poll the service at once."""
        self.session.poll_now()
        self.finish({"message": "The service is being polled."})


class ToolsHandler(FoldnoteHandler):
    """``GET tools``: the catalog."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with the tools of the service."""
        self.send(await self.map_errors(self.session.poller.tools()))


class ToolHandler(FoldnoteHandler):
    """``GET tools/TYPE``."""

    @web.authenticated
    @authorized
    async def get(self, tool_type: str) -> None:
        """Respond with the settings, outputs and citation of one tool."""
        self.send_record(await self.map_errors(self.session.describe(tool_type)))


class AdviceHandler(FoldnoteHandler):
    """``POST advice``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Respond with tools recommended for the task that ``prompt`` describes."""
        self.send_record(await self.map_errors(self.session.advise(self.read_field("prompt"))))


class DeleteHandler(FoldnoteHandler):
    """``POST jobs/delete``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Delete the jobs ``names`` after ``delayS`` seconds, during which it can be undone.

        Responds after the deletion, which happens even if the page does not wait for the response.
        """
        delay_s = self.read_body().get("delayS", 0)
        if not isinstance(delay_s, int | float) or not 0 <= delay_s <= MAX_DELAY_S:
            raise http_error(400, f"delayS must be a number of seconds, 0 to {MAX_DELAY_S}.")
        outcome = await self.map_errors(self.session.pending.schedule(self.read_names(), delay_s))
        self.finish({"gone": outcome.gone, "faults": outcome.faults})


class KeepHandler(FoldnoteHandler):
    """``POST jobs/keep``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Undo deletions that have not started; responds with the names of the kept jobs."""
        self.finish({"kept": self.session.pending.cancel(self.read_names())})


class TagHandler(FoldnoteHandler):
    """``POST jobs/tag`` with ``names``, ``added`` and ``removed``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Add and remove tags of the jobs ``names``; tags are stored on this computer."""
        added, removed = self.read_names("added"), self.read_names("removed")
        await self.map_errors(self.session.tag(self.read_names(), added, removed))
        self.finish({"message": "The tags were saved."})


class StopHandler(FoldnoteHandler):
    """``POST jobs/stop``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Stop the jobs ``names``."""
        self.finish({"faults": await self.map_errors(self.session.stop(self.read_names()))})


class LogHandler(FoldnoteHandler):
    """``GET jobs/NAME/log``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with the last lines of a job's log."""
        self.finish({"log": await self.map_errors(self.session.read_log(name))})


class SettingsHandler(FoldnoteHandler):
    """``GET jobs/NAME/settings?member=``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with the settings that a job was submitted with."""
        self.finish({"settings": await self.map_errors(self.session.read_settings(name, self.member))})


def http_error(status: int, sentence: str) -> web.HTTPError:
    """Return an HTTP error with a message for the user."""
    return web.HTTPError(status, sentence.replace("%", "%%"))


async def as_awaitable(work: Callable[[], _Value]) -> _Value:
    """Call ``work`` inside an awaitable, so that ``map_errors`` also handles its errors."""
    return work()


def _read_seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError as exc:
        raise http_error(400, "wait_s and pause_s must be numbers of seconds.") from exc


def _make_registry() -> SessionRegistry:
    """Return the session registry; imported here so that Jupyter starts without loading the models."""
    from foldnote.lab.session_registry import SessionRegistry

    return SessionRegistry()
