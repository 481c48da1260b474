"""Protection against cross-site requests and DNS rebinding.

A web page can send simple requests to any address, and read the responses if its host name resolves to
127.0.0.1 (DNS rebinding). Browsers report the origin of a request (`Origin`, `Sec-Fetch-Site`) and the
requested host name (`Host`); other clients send no `Origin`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_KEYLESS = "/agent/provision"
"""The only route that changes state without a key or a secret."""


class OriginMiddleware:
    """Refuses (403) requests from pages of other sites, and requests to other host names.

    Args:
        hosts: accepted host names in addition to those of this machine; None for any.
        public_url: public address of the service, if known.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None, public_url: str | None) -> None:
        self._app = app
        public = {parse_host_name(public_url)} if public_url else set()
        self._public = public - {""}
        self._hosts = None if hosts is None else {host.lower() for host in hosts} | self._public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        refusal = self._find_refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        code, sentence = refusal
        await JSONResponse({"error": sentence, "code": code}, 403)(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> tuple[str, str] | None:
        headers = Headers(scope=scope)
        host = parse_host_name("//" + headers.get("host", ""))
        origin = headers.get("origin")
        if self._hosts is not None and not (is_own_machine(host) or host in self._hosts):
            sentence = f"This service does not accept the host name {host[:100]!r}. Use 127.0.0.1."
            return "host_not_allowed", sentence
        from_page = None if origin is None else parse_host_name(origin)
        if self._hosts is not None and from_page is not None:
            is_known = is_own_machine(from_page) or from_page in self._hosts
        elif from_page is not None and scope["path"].endswith(_KEYLESS):
            is_known = from_page == host or from_page in self._public
        else:
            is_known = True
        is_changing = scope["method"] not in _SAFE
        if not is_known or (is_changing and headers.get("sec-fetch-site") == "cross-site"):
            return (
                "origin_not_allowed",
                "This request comes from a page of another site. Send it from a program.",
            )
        return None


def parse_host_name(address: str) -> str:
    """Return the host name of an address, in lower case and without port; empty if there is none."""
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def is_own_machine(host: str) -> bool:
    """Return whether a host name always means the client's own machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
