"""Routes for the set-up: profiles, a new connection, the account, and this computer's engines."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from foldnote.lab.handlers.jobs import FoldnoteHandler, as_awaitable, http_error


class ProfilesHandler(FoldnoteHandler):
    """``GET profiles`` and ``POST profiles``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with the services that can be chosen."""
        self.send_record(await self.map_errors(as_awaitable(self.registry.list_profiles)))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Test an address and a key, and store them if they work; the key is never sent back."""
        from pydantic import SecretStr

        registry, name = self.registry, self.read_field("name")
        address, key = self.read_field("url"), SecretStr(self.read_field("key").strip())
        self.send_record(await self.map_errors(registry.keep_connection(name, address, key)))


class AccountHandler(FoldnoteHandler):
    """``GET account``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with the account of the key; with ``fresh=1``, requested again."""
        is_fresh = self.get_query_argument("fresh", "") == "1"
        self.send_record(await self.map_errors(self.session.read_account(is_fresh=is_fresh)))


class ClaimHandler(FoldnoteHandler):
    """``GET account/claim``: redirects to the page where a person claims a trial account.

    The link contains a token, so the redirect is given only to users who follow it from a page of this
    server.
    """

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Redirect the browser without a history entry or a referrer."""
        if self.request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise http_error(403, "This link works from JupyterLab only.")
        url = await self.map_errors(self.session.account.find_claim())
        if url is None:
            raise http_error(404, "This account needs no claim: its key is not an unclaimed trial key.")
        if not url.startswith(("https://", "http://")):
            raise http_error(502, "The service gave a claim link that is not a web address.")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")
        self.redirect(url)


class EnginesHandler(FoldnoteHandler):
    """``GET engines``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with the engines of this computer, with running installations."""
        self.send_record(await self.map_errors(self.registry.engines.list_engines()))


class EngineHandler(FoldnoteHandler):
    """``POST engines/NAME`` with ``action``.

    To install, also ``acceptsLicences`` once the user has seen the licences, and ``optionalWeights`` if these
    are wanted.
    """

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Begin to install or remove an engine, or cancel the operation in progress."""
        action = self.read_field("action")
        if action not in ("install", "remove", "cancel"):
            raise http_error(400, "The action is install, remove or cancel.")
        if action == "cancel":
            await self.map_errors(self.registry.engines.cancel(name))
            self.finish({"message": f"{name}: cancelled."})
            return
        engine_names = {
            engine.name for engine in (await self.map_errors(self.registry.engines.list_engines())).engines
        }
        if name not in engine_names:
            raise http_error(404, f"There is no engine {name!r}.")
        body = self.read_body()
        options = {
            "has_accepted": body.get("acceptsLicences") is True,
            "with_optional": body.get("optionalWeights") is True,
        }
        await self.map_errors(as_awaitable(lambda: self.registry.engines.begin(action, name, **options)))
        self.set_status(202)
        self.finish({"message": f"{name}: {action} has begun."})
