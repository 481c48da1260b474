"""What Jupyter's extension manager starts and stops.

It is imported while Jupyter starts, so it brings the routes only: the poller, and with it the models and the
client, are imported when the first page looks.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.extension.application import ExtensionApp

from foldnote.lab.handlers.files import UPLOADS
from foldnote.lab.handlers.jobs import REGISTRY
from foldnote.lab.handlers.routes import ROUTES


class FoldnoteExtension(ExtensionApp):
    """Registers the routes, and ends the poller with the server."""

    name = "foldnote"
    load_other_extensions = True

    def initialize_settings(self) -> None:
        """Leave the session registry of this server empty until the first request."""
        self.settings[REGISTRY] = None

    def initialize_handlers(self) -> None:
        """Register the routes."""
        rows: list[Any] = self.handlers
        rows.extend(ROUTES)

    async def stop_extension(self) -> None:
        """Stop asking the service, and give up what is being sent."""
        server = self.serverapp
        if server is None:
            return
        settings = server.web_app.settings  # the handlers' own; those of the extension are a copy
        registry, uploads = settings.get(REGISTRY), settings.get(UPLOADS)
        if registry is not None:
            await registry.close()
        if uploads is not None:
            uploads.close()
