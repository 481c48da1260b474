"""What all routes share, and the routes about jobs, below ``<base_url>foldnote/api/``.

Each wants a logged-in user, and writing ones the XSRF token. ``?profile=NAME`` says which service is meant;
without it the active profile's is.
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
)
from foldnote.lab.redaction import cover_links

if TYPE_CHECKING:
    from foldnote.lab.responses import PageResponse
    from foldnote.lab.service_session import ServiceSession
    from foldnote.lab.session_registry import SessionRegistry
    from foldnote.models.wire import WireModel

REGISTRY = "foldnote_sessions"
"""Name of the server's setting that holds the session registry; None before the first request."""

LONGEST_DELAY_S = 600
_MOST_NAMES = 1000
_Value = TypeVar("_Value")

_STATUSES: tuple[tuple[type[FoldnoteError], int], ...] = (
    (NotFoundError, 404),
    (ArgumentError, 400),
    (BadRequestError, 400),
    (RateLimitedError, 429),
    (ConfigurationError, 400),
    (SettingsError, 400),
    (ResultError, 422),
    (TransportError, 503),
    (FoldnoteError, 502),
)


class FoldnoteHandler(APIHandler):
    """What all routes share: the session registry, and errors as one JSON shape ``{"error", "message"}``."""

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
        """The session of the service that the request names.

        Raises:
            HTTPError: there is no such profile.
        """
        try:
            return self.registry.find(self.get_query_argument("profile", "") or None)
        except FoldnoteError as exc:
            raise fault(404, str(exc)) from exc

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer a fault in one sentence; ``message`` repeats it for JupyterLab's own readers."""
        exc = kwargs.get("exc_info", (None, None, None))[1]
        fallback = f"The Jupyter server answered {status_code}."
        if status_code == 403 and self.current_user is None:
            fallback = "You are not logged in to Jupyter any more. Reload the page to log in again."
        sentence = getattr(exc, "log_message", None) or fallback
        self.finish(json.dumps({"error": sentence, "message": sentence}))

    async def ask(self, work: Awaitable[_Value]) -> _Value:
        """Wait for the service; its faults become answers.

        Raises:
            HTTPError: the service cannot be reached or refuses.
        """
        try:
            return await work
        except TimeoutError as exc:
            raise fault(504, "The job service does not answer in time. Try again.") from exc
        except FoldnoteError as exc:
            status = next(status for kind, status in _STATUSES if isinstance(exc, kind))
            raise fault(status, str(exc).partition("\n")[0]) from exc

    @property
    def member(self) -> str | None:
        """Address of the member of the organization whose job is meant; None for the account's own."""
        return self.get_query_argument("member", "") or None

    def read_field(self, name: str) -> str:
        """A text of the JSON body.

        Raises:
            HTTPError: it is not there.
        """
        value = (self.get_json_body() or {}).get(name)
        if not isinstance(value, str) or not value:
            raise fault(400, f"The request needs the text {name!r}.")
        return value

    def read_names(self, field: str = "names") -> list[str]:
        """The list ``field`` of the JSON body.

        Raises:
            HTTPError: it is no list of at most 1000 texts.
        """
        names = (self.get_json_body() or {}).get(field)
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            raise fault(400, f"The request needs the list {field!r}.")
        if len(names) > _MOST_NAMES:
            raise fault(400, f"At most {_MOST_NAMES} at once.")
        return names

    def send(self, answer: PageResponse) -> None:
        """Answer with a body, or with 304 when the page has it already."""
        self.set_header("Cache-Control", "no-cache, private")
        self.set_header("ETag", f'W/"{answer.tag}"')
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        else:
            self.finish(answer.body)

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Answer with text or JSON; signed links in it lose what makes them work."""
        text = json.dumps(chunk) if isinstance(chunk, dict) else chunk
        super().write(cover_links(text.encode() if isinstance(text, str) else text))

    def write_file(self, chunk: bytes) -> None:
        """Answer with bytes of a file, as they are."""
        super().write(chunk)

    def send_record(self, record: WireModel) -> None:
        """Answer with a record."""
        self.finish(record.to_wire())


class JobsHandler(FoldnoteHandler):
    """``GET jobs``: every job, or what is new. Looking is not work: it keeps no idle server alive."""

    _track_activity = False
    _waiting: asyncio.Task[PageResponse] | None = None

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What the poller knows; with ``since`` what is other than then, waited for ``wait_s`` seconds.

        ``pause_s`` is the least time between two questions to the service that the person wishes.
        """
        poller = self.session.poller
        since = self.get_query_argument("since", "") or None
        wait_s = _read_seconds(self.get_query_argument("wait_s", "0"))
        pause_s = _read_seconds(self.get_query_argument("pause_s", "0"))
        if since is None or wait_s == 0:
            self.send(poller.look(since, pause_s))
            return
        self._waiting = asyncio.ensure_future(poller.look_later(since, wait_s, pause_s))
        with suppress(asyncio.CancelledError):
            answer = await self._waiting
            if answer.tag != since:
                self.send(answer)
            else:
                self.set_status(304)
                self.finish()

    def on_connection_close(self) -> None:
        """Wait no longer for a page that is gone: it must not keep the service being asked."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().on_connection_close()


class RefreshHandler(FoldnoteHandler):
    """``POST refresh``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Have the service asked now."""
        self.session.hurry()
        self.finish({"message": "The service is asked."})


class ToolsHandler(FoldnoteHandler):
    """``GET tools``: the catalog."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The tools of the service."""
        self.send(await self.ask(self.session.poller.tools()))


class ToolHandler(FoldnoteHandler):
    """``GET tools/TYPE``."""

    @web.authenticated
    @authorized
    async def get(self, tool_type: str) -> None:
        """What a person wants to know of one tool."""
        self.send_record(await self.ask(self.session.describe(tool_type)))


class AdviceHandler(FoldnoteHandler):
    """``POST advice``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Tools for the task that ``prompt`` describes."""
        self.send_record(await self.ask(self.session.advise(self.read_field("prompt"))))


class DeleteHandler(FoldnoteHandler):
    """``POST jobs/delete``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Delete the jobs of ``names``, after ``delayS`` seconds in which it can be undone.

        The answer comes when it is done. It is done also for a page that does not wait for the answer.
        """
        delay_s = (self.get_json_body() or {}).get("delayS", 0)
        if not isinstance(delay_s, int | float) or not 0 <= delay_s <= LONGEST_DELAY_S:
            raise fault(400, f"delayS is a number of seconds, at most {LONGEST_DELAY_S}.")
        departed = await self.ask(self.session.pending.leave(self.read_names(), delay_s))
        self.finish({"gone": departed.gone, "faults": departed.faults})


class KeepHandler(FoldnoteHandler):
    """``POST jobs/keep``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Undo deletions that have not begun; gives the names that are kept."""
        self.finish({"kept": self.session.pending.keep(self.read_names())})


class TagHandler(FoldnoteHandler):
    """``POST jobs/tag`` with ``names``, ``added`` and ``removed``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Add tags to the jobs of ``names`` and take others away; they are kept on this computer."""
        added, removed = self.read_names("added"), self.read_names("removed")
        await self.ask(self.session.tag(self.read_names(), added, removed))
        self.finish({"message": "The tags are kept."})


class StopHandler(FoldnoteHandler):
    """``POST jobs/stop``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Stop the jobs of ``names``."""
        self.finish({"faults": await self.ask(self.session.stop(self.read_names()))})


class LogHandler(FoldnoteHandler):
    """``GET jobs/NAME/log``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """The end of a job's log."""
        self.finish({"log": await self.ask(self.session.read_log(name))})


class SettingsHandler(FoldnoteHandler):
    """``GET jobs/NAME/settings?member=``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """What a job was submitted with."""
        self.finish({"settings": await self.ask(self.session.read_settings(name, self.member))})


def fault(status: int, sentence: str) -> web.HTTPError:
    """An error answer with a sentence for a person."""
    return web.HTTPError(status, sentence.replace("%", "%%"))


async def now(work: Callable[[], _Value]) -> _Value:
    """Work that need not be waited for, so that its faults are answered like those of other work."""
    return work()


def _read_seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError as exc:
        raise fault(400, "wait_s and pause_s are numbers of seconds.") from exc


def _make_registry() -> SessionRegistry:
    """The session registry; imported here so that Jupyter starts without loading the models."""
    from foldnote.lab.session_registry import SessionRegistry

    return SessionRegistry()
