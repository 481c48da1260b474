"""The sessions of this Jupyter server, one per profile, and the engine manager.

It also lists the profiles, and tests and stores a new key, which is never sent back.
"""

from __future__ import annotations

import asyncio

from pydantic import SecretStr

from foldnote import settings
from foldnote.client import AsyncClient
from foldnote.client.resources.shares import find_link_profile
from foldnote.errors import (
    ConfigurationError,
    FoldnoteError,
    GatewayForbiddenError,
    TransportError,
    UnauthorizedError,
)
from foldnote.lab.connection import Connect, connect
from foldnote.lab.engines import EngineManager
from foldnote.lab.opened_links import OpenedLinks
from foldnote.lab.pacing import PollingPace
from foldnote.lab.responses import ConnectionVerdict, ProfileRecord, ProfilesResponse
from foldnote.lab.service_session import ServiceSession
from foldnote.text import count

_TRIAL_S = 20.0


class SessionRegistry:
    """Sessions by profile name."""

    def __init__(self, open_connection: Connect = connect, pace: PollingPace | None = None) -> None:
        """Start without sessions; one is created at the first request for its profile."""
        self._open_connection = open_connection
        self._pace = pace
        self._sessions: dict[str, ServiceSession] = {}
        self.engines = EngineManager(self._forget_tools)
        self.links = OpenedLinks()

    def find(self, profile_name: str | None) -> ServiceSession:
        """Return the session of the named profile, or of the active one.

        Raises:
            ConfigurationError: there is no profile of this name.
        """
        name = settings.active_profile(profile_name or None).name
        if name not in self._sessions:
            self._sessions[name] = ServiceSession(name, self._open_connection, self._pace)
        return self._sessions[name]

    def find_sharing(self, url: str) -> ServiceSession:
        """Return the session of the profile to which a colleague's link belongs, else the active one.

        Raises:
            ArgumentError: it is not a link to a shared job.
            ConfigurationError: the configuration cannot be read.
        """
        return self.find(find_link_profile(url))

    def list_profiles(self) -> ProfilesResponse:
        """Return the services that can be chosen.

        Raises:
            ConfigurationError: the configuration cannot be read.
        """
        active = settings.active_profile()
        by_name = {profile.name: profile for profile in (*settings.profiles(), active)}
        rows = (
            ProfileRecord(name=name, url=profile.base_url, is_active=name == active.name)
            for name, profile in by_name.items()
        )
        return ProfilesResponse(profiles=tuple(rows))

    async def try_connection(self, base_url: str, key: SecretStr) -> ConnectionVerdict:
        """Test whether the service at ``base_url`` accepts ``key``; nothing is stored."""
        try:
            async with asyncio.timeout(_TRIAL_S), AsyncClient(base_url=base_url, api_key=key) as client:
                page = await client.jobs.list(limit=1)
        except (UnauthorizedError, GatewayForbiddenError):
            return _reject("The service answers, but refuses the key: it is wrong, expired or revoked.")
        except TimeoutError:
            return _reject(f"No answer within {_TRIAL_S:.0f} seconds. Check the address.")
        except TransportError as exc:
            return _reject(exc.first_line)
        except FoldnoteError as exc:
            return _reject(f"The server at this address is not a job service: {exc.first_line}")
        jobs = count(page.statuses.total, "job") if page.statuses.total else "no jobs"
        return ConnectionVerdict(is_good=True, message=f"Connected. The account has {jobs}.")

    async def keep_connection(self, name: str, base_url: str, key: SecretStr) -> ConnectionVerdict:
        """Test the connection and, if it works, store profile and key on this computer.

        Raises:
            ConfigurationError: the name or address is not valid, or the key cannot be stored.
        """
        if name in (settings.EMBEDDED, settings.ENVIRONMENT):
            raise ConfigurationError(f"{name} is a reserved name. Choose another one.")
        verdict = await self.try_connection(base_url, key)
        if verdict.is_good:
            profile = await asyncio.to_thread(settings.save_profile, name, base_url)
            await asyncio.to_thread(settings.store_api_key, profile.name, key)
            before = self._sessions.pop(name, None)
            if before is not None:
                await before.close()
        return verdict

    def _forget_tools(self) -> None:
        for session in self._sessions.values():
            session.poller.forget_tools()

    async def close(self) -> None:
        """Close all sessions and cancel installations."""
        await self.engines.close()
        for session in self._sessions.values():
            await session.close()


def _reject(message: str) -> ConnectionVerdict:
    return ConnectionVerdict(is_good=False, message=message)
