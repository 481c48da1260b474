"""The routes about the set-up: which services there are, a new connection, and this computer's engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jupyter_server.auth.decorator import authorized
from tornado import web

from foldnote.lab.handlers import FoldnoteHandler, fault

_Value = TypeVar("_Value")


class ProfilesHandler(FoldnoteHandler):
    """``GET profiles`` and ``POST profiles``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The services that can be chosen."""
        self.send_record(await self.ask(_now(self.desks.list_profiles)))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Try an address and a key and keep them when they are good; the key is never answered."""
        from pydantic import SecretStr

        desks, name = self.desks, self.read_field("name")
        address, key = self.read_field("url"), SecretStr(self.read_field("key").strip())
        self.send_record(await self.ask(desks.keep_connection(name, address, key)))


class EnginesHandler(FoldnoteHandler):
    """``GET engines``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The engines of this computer, with what goes on."""
        self.send_record(await self.ask(self.desks.engines.list_engines()))


class EngineHandler(FoldnoteHandler):
    """``POST engines/NAME`` with ``action``."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Begin to install or to remove an engine."""
        action = self.read_field("action")
        if action not in ("install", "remove"):
            raise fault(400, "The action is install or remove.")
        known = {engine.name for engine in (await self.ask(self.desks.engines.list_engines())).engines}
        if name not in known:
            raise fault(404, f"There is no engine {name!r}.")
        await self.ask(_now(lambda: self.desks.engines.begin(action, name)))
        self.set_status(202)
        self.finish({"message": f"{name}: {action} has begun."})


async def _now(work: Callable[[], _Value]) -> _Value:
    """Work that need not be waited for, so that its faults are answered like those of other work."""
    return work()
