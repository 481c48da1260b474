"""What Jupyter's extension manager starts and stops."""

from __future__ import annotations

from typing import Any

from jupyter_server.extension.application import ExtensionApp

from foldnote.lab.handlers import ROUTES
from foldnote.lab.poller import Poller


class FoldnoteExtension(ExtensionApp):
    """Registers the routes, and ends the poller with the server."""

    name = "foldnote"
    load_other_extensions = True

    def initialize_settings(self) -> None:
        """Make the one poller of this server; it does nothing before a page looks."""
        self.settings["foldnote_poller"] = Poller()

    def initialize_handlers(self) -> None:
        """Register the routes."""
        rows: list[Any] = self.handlers
        rows.extend(ROUTES)

    async def stop_extension(self) -> None:
        """Stop asking the service."""
        await self.settings["foldnote_poller"].close()
