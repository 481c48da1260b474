"""Ask a JupyterHub for the owner of a request's token.

A token is sent to the hub's configured address and nowhere else: no redirect is followed, and no proxy from
the environment is used. No message contains it.
"""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldnote.service.domain.access.hub_options import HubOptions
from foldnote.service.faults import RefusalError, retry_later

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 10.0
_MAX_AT_ONCE = 32
_MAX_RESPONSE_BYTES = 1 << 20
_REFUSED = (401, 403)
_RETRY_S = 5


@dataclass(frozen=True)
class HubUser:
    """A user of the hub.

    Attributes:
        name: name at the hub.
        groups: groups at the hub.
    """

    name: str
    groups: frozenset[str]


class HubUnreachableError(Exception):
    """The hub did not identify the token's owner; the message says why."""


class HubIdentity:
    """Finds the users of tokens; each call is one request to the hub, with a limit on simultaneous ones."""

    def __init__(self, options: HubOptions) -> None:
        self._options = options
        self._open_requests = 0

    async def find(self, token: str) -> HubUser:
        """Return the user of a token that permits use of this service.

        Raises:
            HubUnreachableError: the hub did not identify the owner.
            RefusalError: 401 for a token unknown to the hub, 403 for one that does not permit use of the
                service.
        """
        if self._open_requests >= _MAX_AT_ONCE:
            raise HubUnreachableError("too many users are signing in at this moment")
        self._open_requests += 1
        try:
            status, body = await self._request_user(token)
        finally:
            self._open_requests -= 1
        if status in _REFUSED:
            raise unknown_token()
        if status != 200:
            raise HubUnreachableError(f"it answered with status {status}")
        return self._parse_user(body)

    async def _request_user(self, token: str) -> tuple[int, bytes]:
        import httpx  # deferred: most services have no hub

        url = f"{self._options.api_url}/user"
        headers = {"Authorization": f"token {token}", "Accept": "application/json"}
        try:
            context = ssl.create_default_context()
            async with (
                httpx.AsyncClient(verify=context, trust_env=False, timeout=TIMEOUT_S) as http,
                http.stream("GET", url, headers=headers, follow_redirects=False) as response,
            ):
                return response.status_code, await _read_limited(response)
        except httpx.TimeoutException:
            reason = f"no answer within {TIMEOUT_S:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as exc:
            reason = str(exc).rstrip(".") or type(exc).__name__
        raise HubUnreachableError(reason.replace(token, "[token]"))  # httpx's exception has the token

    def _parse_user(self, body: bytes) -> HubUser:
        try:
            model = json.loads(body)
            kind, name, groups = model["kind"], model["name"], model.get("groups", [])
            scopes = set(model["scopes"])
            is_valid = isinstance(name, str) and all(isinstance(group, str) for group in groups)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_valid = False
        if not is_valid:
            raise HubUnreachableError("what it answered does not come from JupyterHub 3 or later")
        if kind != "user":
            raise RefusalError(403, "hub_user_refused", "This token of JupyterHub belongs to no user.")
        if not scopes & self._options.scopes:
            raise _missing_scope(self._options.service)
        return HubUser(name, frozenset(groups))


async def _read_limited(response: httpx.Response) -> bytes:
    """Read the body, up to a size that no user's record has."""
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _MAX_RESPONSE_BYTES:
            raise ValueError(f"its answer is larger than {_MAX_RESPONSE_BYTES} bytes")
    return body


def unknown_token() -> RefusalError:
    """Build the 401 for a token unknown to the hub."""
    sentence = (
        "JupyterHub does not know the token of this server, or has revoked it. Restart the server:"
        " File > Hub Control Panel > Stop My Server."
    )
    return RefusalError(401, "invalid_hub_token", sentence)


def _missing_scope(service: str) -> RefusalError:
    sentence = (
        "JupyterHub does not permit you to use this service: the token of your server lacks the scope"
        f" access:services!service={service}. Ask the hub's administrator for it, then restart your server."
    )
    return RefusalError(403, "hub_scope_missing", sentence)


def hub_unreachable(reason: str) -> RefusalError:
    """Build the 503 while the hub does not answer."""
    sentence = f"The service cannot ask JupyterHub who you are: {reason}. Nothing was changed; try again."
    return retry_later(503, "hub_unreachable", sentence, _RETRY_S)
