"""Outputs of a cell: live widgets, and ordinary outputs that are saved in the notebook.

A widget is lost when its kernel ends. The result is therefore an ordinary output, which is updated in place
when the job is final. The output of a widget is saved with HTML that shows its last state. The widget's own
MIME type is added only where the lab extension is absent: a page made from the notebook would prefer that
type to the HTML and could not display it. Outside a notebook, nothing is shown.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from foldnote.kernel import WIDGET_VIEW, FrontEnd, find_front_end
from foldnote.late import load

WIDGET_MIME = "application/vnd.foldnote.widget+json"
"""MIME type of widget outputs for the lab extension, which shows their saved HTML when there is no kernel.
``view`` is the live widget, unless the output has it under its own MIME type."""


def is_notebook() -> bool:
    """Return whether cells with rich outputs run here, as opposed to a terminal or a plain interpreter."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


class CellOutput:
    """An output of a cell that can be replaced after it was shown."""

    def __init__(self) -> None:
        self._display_id = f"foldnote-{uuid.uuid4().hex}"
        self._is_shown = False

    def show(self, bundle: Mapping[str, Any]) -> None:
        """Show a mime bundle in the running cell."""
        self._is_shown = True
        self._publish(bundle, is_update=False)

    def update(self, bundle: Mapping[str, Any]) -> None:
        """Replace the output in every cell that shows it; does nothing before :meth:`show`."""
        if self._is_shown:
            self._publish(bundle, is_update=True)

    def _publish(self, bundle: Mapping[str, Any], *, is_update: bool) -> None:
        from IPython.display import publish_display_data

        transient = {"display_id": self._display_id}
        publish_display_data(dict(bundle), transient=transient, update=is_update)  # type: ignore[no-untyped-call]


class LiveOutput(CellOutput):
    """An output with a widget and HTML that shows the widget's last state."""

    _front_end = FrontEnd.OTHER

    def show(self, bundle: Mapping[str, Any]) -> None:
        """Show a mime bundle in the running cell."""
        self._front_end = find_front_end()
        super().show(bundle)

    def _publish(self, bundle: Mapping[str, Any], *, is_update: bool) -> None:
        super()._publish(shape_for(self._front_end, bundle), is_update=is_update)


def shape_for(front_end: FrontEnd, bundle: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the bundle of a widget with the MIME types that the front end can show; others are unchanged."""
    if WIDGET_VIEW not in bundle:
        return bundle
    still = {kind: data for kind, data in bundle.items() if kind not in (WIDGET_VIEW, WIDGET_MIME)}
    if front_end is FrontEnd.NONE:
        return still
    if front_end is FrontEnd.OWN:
        return {WIDGET_MIME: {"version": 1, "view": bundle[WIDGET_VIEW]}, **still}
    return {WIDGET_MIME: {"version": 1}, WIDGET_VIEW: bundle[WIDGET_VIEW], **still}


class ResultSlot:
    """An output of a cell, reserved for a result that is not available yet."""

    def __init__(self) -> None:
        self._output = LiveOutput()
        self.bundle: Mapping[str, Any] = {}
        """Mime bundle of the result; empty until it is available."""

    def show(self) -> None:
        """Show the output in the running cell, empty or with the result."""
        self._output.show(self.bundle or {"text/html": "", "text/plain": ""})

    def fill(self, result: object) -> None:
        """Show a `foldnote.results.Result` in the output.

        Raises:
            UnreadableFileError: the result cannot be read.
        """
        self.put(load("bundle")(result))

    def put(self, bundle: Mapping[str, Any]) -> None:
        """Show a mime bundle in the output."""
        self.bundle = bundle
        self.update()

    def update(self) -> None:
        """Send the output again, if it has a result."""
        if self.bundle:
            self._output.update(self.bundle)
