"""Code for the next cell, which JupyterLab inserts below the cell that shows it."""

from __future__ import annotations

import traitlets

from foldnote.live_widget import LiveWidget, write_module
from foldnote.viewers.render.html import read_asset


class NextCell(LiveWidget):
    """A sentence and code below a card; the lab extension writes the code into a new cell.

    Elsewhere the code can be copied.
    """

    _esm = write_module(read_asset("next_cell.js"))
    _css = read_asset("card.css")
    _code = traitlets.Unicode().tag(sync=True)
    _sentence = traitlets.Unicode().tag(sync=True)
    _is_inserted = traitlets.Bool(False).tag(sync=True)

    def __init__(self, code: str, sentence: str) -> None:
        """Offer ``code``.

        Args:
            code: Python.
            sentence: what to do with the code.
        """
        super().__init__(_code=code, _sentence=sentence)

    @property
    def code(self) -> str:
        """The offered code."""
        return str(self._code)
