"""The routes below ``<base_url>foldnote/api/``: each wants a logged-in user, and writing ones the XSRF token.

This is the whole list: nothing else of the job service can be reached through the Jupyter server.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, FileFindHandler
from tornado import web

from foldnote.errors import (
    BadRequestError,
    ConfigurationError,
    FoldnoteError,
    NotFoundError,
    RateLimitedError,
    TransportError,
)

if TYPE_CHECKING:
    from foldnote.lab.answers import Answer
    from foldnote.lab.poller import Poller

STATIC = Path(__file__).parent.parent / "static"
"""Folder of 3Dmol.js; filled by the build."""

POLLER = "foldnote_poller"
"""Name of the server's setting that holds the poller; None before the first page looks."""

_Value = TypeVar("_Value")

_STATUSES: tuple[tuple[type[FoldnoteError], int], ...] = (
    (NotFoundError, 404),
    (BadRequestError, 400),
    (RateLimitedError, 429),
    (ConfigurationError, 500),
    (TransportError, 503),
    (FoldnoteError, 502),
)


class FoldnoteHandler(APIHandler):
    """What all routes share: the poller, and faults as one JSON shape ``{"error", "message"}``."""

    auth_resource = "foldnote"

    @property
    def poller(self) -> Poller:
        """The poller of this server; the first page to look has it made."""
        poller: Poller | None = self.settings[POLLER]
        if poller is None:
            poller = self.settings[POLLER] = _make_poller()
        return poller

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer a fault in one sentence; ``message`` repeats it for JupyterLab's own readers."""
        fault = kwargs.get("exc_info", (None, None, None))[1]
        sentence = getattr(fault, "log_message", None) or f"The Jupyter server answered {status_code}."
        self.finish(json.dumps({"error": sentence, "message": sentence}))

    async def ask(self, work: Awaitable[_Value]) -> _Value:
        """Wait for the service; its faults become answers.

        Raises:
            HTTPError: the service cannot be reached or refuses.
        """
        try:
            return await work
        except TimeoutError as exc:
            raise _fault(504, "The job service does not answer in time. Try again.") from exc
        except FoldnoteError as exc:
            status = next(status for kind, status in _STATUSES if isinstance(exc, kind))
            raise _fault(status, str(exc).partition("\n")[0]) from exc

    def send(self, answer: Answer) -> None:
        """Answer with a body, or with 304 when the page has it already."""
        self.set_header("Cache-Control", "no-cache, private")
        self.set_header("ETag", answer.tag)
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        else:
            self.finish(answer.body)


class JobsHandler(FoldnoteHandler):
    """``GET jobs``: every job. Looking is not work: it keeps no idle server alive."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What the poller knows."""
        self.send(self.poller.look())


class ToolsHandler(FoldnoteHandler):
    """``GET tools``: the catalog."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The tools of the service."""
        self.send(await self.ask(self.poller.tools()))


class JobHandler(FoldnoteHandler):
    """``DELETE jobs/NAME``."""

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Delete a job and its results."""
        await self.ask(self.poller.delete_job(name))
        self.finish({"message": f"{name} is deleted."})


class StopHandler(FoldnoteHandler):
    """``POST jobs/NAME/stop``."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Stop a job."""
        await self.ask(self.poller.stop_job(name))
        self.finish({"message": f"{name} is asked to stop."})


class LogHandler(FoldnoteHandler):
    """``GET jobs/NAME/log``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """The end of a job's log."""
        self.finish({"log": await self.ask(self.poller.read_log(name))})


_ROOT = "/foldnote/api"

ROUTES: tuple[tuple[Any, ...], ...] = (
    (f"{_ROOT}/jobs", JobsHandler),
    (f"{_ROOT}/tools", ToolsHandler),
    (rf"{_ROOT}/jobs/([^/]+)", JobHandler),
    (rf"{_ROOT}/jobs/([^/]+)/stop", StopHandler),
    (rf"{_ROOT}/jobs/([^/]+)/log", LogHandler),
    (rf"{_ROOT}/static/(3Dmol-min\.js)", FileFindHandler, {"path": [str(STATIC)]}),
)
"""Every route; the extension manager puts the server's own prefix before each."""


def _make_poller() -> Poller:
    """A poller; it is imported here because Jupyter's start need not wait for the models."""
    from foldnote.lab.poller import Poller

    return Poller()


def _fault(status: int, sentence: str) -> web.HTTPError:
    return web.HTTPError(status, sentence.replace("%", "%%"))
