"""Buttons that save a plot from the page that shows it: its drawing, and its data.

A script adds them, so an untrusted saved notebook shows the plot without them.
"""

from __future__ import annotations

import pandas as pd

from foldnote.viewers.render.compression import pack
from foldnote.viewers.render.html import read_asset, write_json
from foldnote.viewers.render.paper import is_paper

_MAX_PACKED = 50_000
"""Maximum length of the data that a page contains; larger data is available in Python as DataFrame."""


def write_saving(title: str, data: pd.DataFrame) -> str:
    """Return the script for a figure with the plot ``title`` and its ``data``; empty on paper."""
    if is_paper():
        return ""
    packed = pack(data.to_csv(index=not isinstance(data.index, pd.RangeIndex), lineterminator="\r\n"))
    saved = packed if len(packed) <= _MAX_PACKED else ""
    return f"<script>{read_asset('plot_save.js')}({write_json(title)},{write_json(saved)});</script>"
