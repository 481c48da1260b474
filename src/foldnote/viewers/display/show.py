"""Showing a result in the running cell."""

from __future__ import annotations

from foldnote.results import Result
from foldnote.viewers.display.bundles import Bundle, result_bundles


def show_result(result: Result) -> list[Bundle]:
    """Show the whole layout of ``result`` in the running cell and return its mime bundles."""
    from IPython.display import publish_display_data

    bundles = result_bundles(result)
    for part in bundles:
        publish_display_data(dict(part))  # type: ignore[no-untyped-call]
    return bundles
