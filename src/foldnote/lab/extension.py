"""The extension application that Jupyter starts and stops.

It is imported while Jupyter starts, so it imports the routes only; the poller, the models and the client are
imported at the first request.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.extension.application import ExtensionApp

from foldnote import settings
from foldnote.lab.handlers.files import UPLOADS
from foldnote.lab.handlers.jobs import REGISTRY
from foldnote.lab.handlers.routes import ROUTES


class FoldnoteExtension(ExtensionApp):
    """Registers the routes, and stops the pollers when the server stops."""

    name = "foldnote"
    load_other_extensions = True

    def initialize_settings(self) -> None:
        """Defer the session registry to the first request, and announce the lab extension to kernels."""
        self.settings[REGISTRY] = None
        settings.announce_front_end()

    def initialize_handlers(self) -> None:
        """Register the routes."""
        rows: list[Any] = self.handlers
        rows.extend(ROUTES)

    async def stop_extension(self) -> None:
        """Stop all pollers, and release the uploads in progress."""
        server = self.serverapp
        if server is None:
            return
        shared = server.web_app.settings  # the settings that handlers use; those of the extension are a copy
        registry, uploads = shared.get(REGISTRY), shared.get(UPLOADS)
        if registry is not None:
            await registry.close()
        if uploads is not None:
            uploads.close()
