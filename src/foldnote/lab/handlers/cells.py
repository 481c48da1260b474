"""The route about the code of a notebook cell; the code is parsed and never run."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from foldnote.lab.handlers.jobs import FoldnoteHandler


class FormCellsHandler(FoldnoteHandler):
    """``POST cells/forms`` with ``code``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Respond with cells that show the forms of the calls in the code; nothing is sent to a service."""
        from foldnote.catalog.calls import read_form_cells
        from foldnote.lab.responses import FormCellRecord, FormCellsResponse

        form_cells = await self.map_errors(asyncio.to_thread(read_form_cells, self.read_field("code")))
        cells = tuple(
            FormCellRecord(label=cell.label, code=cell.code, unread=cell.unread) for cell in form_cells
        )
        self.send_record(FormCellsResponse(cells=cells))
