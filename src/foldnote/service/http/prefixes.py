"""Serve every route without a prefix, under `/v1` and under `/api`, by removing the prefix before routing.

Clients join URLs from parts, and deployed services accept an extra slash after the prefix or at the end.
Therefore `/api//jobs` and `/jobs/` mean `/jobs`. File names are not changed.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

PREFIXES = ("/v1", "/api")
NAMES_OF_FILES = ("upload/", "files/", "presigned/", "download/")
"""Prefixes of paths that end in a name, which may contain slashes."""


class PrefixMiddleware:
    """Forwards a request with its prefix as root path, so that links keep the prefix."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route one request."""
        if scope["type"] == "http":
            path = "/" + scope["path"].lstrip("/")
            prefix = next((candidate for candidate in PREFIXES if path.startswith(candidate + "/")), "")
            rest = path[len(prefix) :].lstrip("/")
            if not rest.startswith(NAMES_OF_FILES):
                rest = rest.rstrip("/")
            root_path = scope.get("root_path", "") + prefix
            scope = dict(scope) | {"path": f"{prefix}/{rest}", "root_path": root_path}
        await self._app(scope, receive, send)
