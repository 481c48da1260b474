"""Forms whose values are saved in the notebook as a table, which is updated when they change."""

from __future__ import annotations

from foldnote.cell_outputs import LiveOutput
from foldnote.forms.form import Form
from foldnote.forms.jobs.background_calls import has_running_loop, start
from foldnote.kernel import keeps_live_outputs

_QUIET_S = 1.5
"""Seconds without a change after which the values are saved."""


class SavedForm(Form):
    """Base of the forms of tools and schemas in notebooks."""

    _output: LiveOutput | None = None
    _changes = 0
    _is_kept_live = False

    def note_change(self) -> None:
        """Save the values after ``_QUIET_S`` without changes, where the front end supports it."""
        super().note_change()
        self._changes += 1
        if self._is_kept_live and has_running_loop():
            start(self._save_later(self._changes))

    def _save(self) -> None:
        """Save the current settings in the notebook."""
        if self._output is not None:
            self._output.update(self._repr_mimebundle_())

    async def _save_later(self, change: int) -> None:
        import asyncio

        await asyncio.sleep(_QUIET_S)
        if change == self._changes:
            self._save()

    def _ipython_display_(self) -> None:
        self._output = LiveOutput()
        self._is_kept_live = keeps_live_outputs()
        self._output.show(self._repr_mimebundle_())
