"""Every route answers bare, under `/v1` and under `/api`: the prefix is set aside before routing."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

PREFIXES = ("/v1", "/api")


class PrefixMiddleware:
    """Hands a prefixed request on with the prefix as its root path, so that links keep it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route one request."""
        if scope["type"] == "http":
            path = scope["path"]
            prefix = next((each for each in PREFIXES if path.startswith(each + "/")), None)
            if prefix is not None:
                scope = dict(scope) | {"root_path": scope.get("root_path", "") + prefix}
        await self._app(scope, receive, send)
