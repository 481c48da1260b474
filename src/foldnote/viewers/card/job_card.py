"""The card of one job in a cell: its state, progress and actions.

It polls an asynchronous source in the event loop of the kernel until the job is final. Without a running loop
it shows the given record. Callbacks registered with :meth:`JobCard.on_final` handle the result.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any

import ipywidgets as widgets
import traitlets

from foldnote import settings
from foldnote.cell_outputs import shape_for
from foldnote.errors import FoldnoteError, NotFoundError
from foldnote.kernel import find_front_end
from foldnote.live_widget import LiveWidget, write_module
from foldnote.models import Job, JobStatus
from foldnote.viewers.card.card_html import (
    NO_NOTE,
    CardNote,
    describe_rerun,
    find_appearance,
    write_card,
    write_log,
    write_plain_card,
)
from foldnote.viewers.card.watch import JobSource, JobWatcher, WatchedJob, find_watcher, read_record
from foldnote.viewers.render.html import read_asset

_CONFIRM_S = 5.0
_DELETED = "The service no longer has a job of this name; it was deleted."
_log = logging.getLogger(__name__)

FinalCallback = Callable[[Job], None]
FindResult = Callable[[], Mapping[str, Any]]


class StatusAnnouncer(LiveWidget):
    """The state of a job for screen readers: an invisible live region that stays while the card is redrawn.

    It also notifies the page that the job has ended, so that JupyterLab's list need not wait for its poll.
    """

    _esm = write_module(read_asset("card_status.js"))
    _words = traitlets.Unicode().tag(sync=True)
    _ended = traitlets.Unicode().tag(sync=True)
    """Name of the job once it has ended."""

    def announce(self, job: Job) -> None:
        """Announce the job's state if it has changed."""
        self._words = f"{job.label or job.job_name}: {find_appearance(job).words}"
        self._ended = job.job_name if job.is_final else ""


class JobCard(widgets.VBox):  # type: ignore[misc]
    """A live job card, which follows the job while an event loop runs."""

    def __init__(
        self,
        job: Any,
        source: JobSource | None = None,
        *,
        on_final: FinalCallback | None = None,
        find_result: FindResult | None = None,
        again: str | None = None,
        label: str = "",
        note: CardNote = NO_NOTE,
        run_again: Callable[[], JobCard] | None = None,
        edit: Callable[[], widgets.Widget] | None = None,
        go_on: Callable[[], widgets.Widget] | None = None,
        profile: str = "",
    ) -> None:
        """Show ``job`` and start following it.

        Args:
            job: a job record, or a handle whose ``record`` is one.
            source: provides job records, such as ``AsyncClient(...).jobs``; without it the card is static.
            on_final: see :meth:`on_final`.
            find_result: returns the result's mime bundle once the job is complete. The card then has a button
                that shows it, for pages that were reloaded and therefore lack the output below the card; the
                style sheet hides the button where the result is shown.
            again: advice on running a job without a result again; by default a line of code.
            label: label shown instead of the name; by default the label in the record.
            note: the user's note and tags.
            run_again: submits the job again and returns the new job's card; for *Run again* on the card of a
                stopped or failed job.
            edit: returns a form with the job's settings, for *Edit settings* there.
            go_on: returns a list of tools, for *Continue with…* on the card of a complete job.
            profile: the profile of the job's service, with which *Open in tab* on the card of a complete job
                asks JupyterLab for the result; without it there is no such button.
        """
        self._profile = profile
        self._again = again
        self._label = label
        self._note = note
        self._run_again, self._edit, self._choose_next_tool = run_again, edit, go_on
        self._following: JobCard | None = None
        self.on_save: Callable[[], None] = lambda: None
        """Called when a click has made the copy of the card in the notebook out of date."""
        self.job = read_record(job)
        self.source = source
        self._callbacks: list[FinalCallback] = [on_final] if on_final else []
        self._outage = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._html = widgets.HTML()
        self._log_view = widgets.HTML()
        self._find_result = find_result
        self._result_view = widgets.Output()
        self._buttons = self._build_buttons()
        self._announcer = StatusAnnouncer()
        super().__init__([self._html, self._buttons, self._log_view, self._result_view, self._announcer])
        self.add_class("foldnote-card")
        self._awaits_confirmation = False
        self._watcher: JobWatcher | None = None  # clicks are handled in a different thread than cells
        self.watched = WatchedJob(self.job.job_name, self._receive, self._handle_outage)
        self._redraw()
        self.follow()

    def _build_buttons(self) -> widgets.HBox:
        """Build all buttons of the card; ``_redraw`` hides those that do not apply."""
        self._stop = widgets.Button(description="Stop", icon="stop", tooltip="Stop this job")
        self._log_switch = widgets.ToggleButton(
            description="Log", icon="list", tooltip="Show the log of this job"
        )
        self._result_button = widgets.Button(
            description="Show result",
            icon="eye",
            tooltip="Show the result here; run the cell again to save it in the notebook",
        )
        self._result_button.add_class("foldnote-card-result")
        self._run_again_button = widgets.Button(
            description="Run again", icon="repeat", tooltip="Submit the same settings as a new job"
        )
        self._edit_button = widgets.Button(
            description="Edit settings", icon="pencil", tooltip="Open a form with the settings of this job"
        )
        self._continue_button = widgets.Button(
            description="Continue with…",
            icon="arrow-right",
            tooltip="Choose a tool that takes a file or sequence of this job",
        )
        self._open_button = widgets.Button(
            description="Open in tab",
            icon="window-maximize",
            tooltip="Open the result in a tab of JupyterLab",
        )
        self._open_button.add_class("foldnote-card-open")  # the lab extension listens for the click
        self._result_button.on_click(lambda _: self._show_result())
        self._run_again_button.on_click(lambda _: self._click_run_again())
        self._edit_button.on_click(lambda _: self._click_edit())
        self._continue_button.on_click(lambda _: self._click_continue())
        self._stop.on_click(lambda _: self._click_stop())
        self._log_switch.observe(lambda _: self._switch_log(), names="value")
        return widgets.HBox(
            [
                self._result_button,
                self._continue_button,
                self._open_button,
                self._run_again_button,
                self._edit_button,
                self._stop,
                self._log_switch,
            ]
        )

    def follow(self) -> None:
        """Start polling the job's state; does nothing without a running loop or for a final job."""
        if self.job.is_final:
            self._finish()
            return
        self._watcher = find_watcher(self.source) if self.source else None
        if self._watcher:
            self._watcher.add(self.watched)

    def on_final(self, callback: FinalCallback) -> None:
        """Call ``callback`` with the record once the job is final, or at once if it is."""
        if self.job.is_final:
            callback(self.job)
        else:
            self._callbacks.append(callback)

    def bundle(self) -> dict[str, str]:
        """Return the current state of the card as a static mime bundle."""
        job = self._shown_record()
        outage = _DELETED if self._outage == _DELETED else ""
        html = write_card(job, outage=outage, is_live=False, again=self._again, note=self._note)
        own = {"text/html": html, "text/plain": write_plain_card(job, self._again, self._note)}
        following = self._following.bundle() if self._following else {}
        return {kind: "\n".join(filter(None, [text, following.get(kind)])) for kind, text in own.items()}

    def close(self) -> None:
        """Stop following the job and remove the widget; the job continues."""
        if self._watcher:
            self._watcher.discard(self.watched)
        for part in (*self._buttons.children, *self.children):  # a remaining one would keep this card
            part.close()
        super().close()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        for child in self.children:
            if isinstance(child, LiveWidget):
                child.forget()
        if not isinstance(live, dict):
            return live
        return shape_for(find_front_end(), {**live, **self.bundle()})

    def take(self, job: Job) -> None:
        """Show a record that was received elsewhere, such as by waiting for the job in a cell."""
        was_final, self.job, self._outage = self.job.is_final, job, ""
        self._redraw()
        if job.is_final and not was_final:
            if self._watcher:
                self._watcher.discard(self.watched)
            self._finish()

    def annotate(self, note: CardNote) -> None:
        """Show the user's changed note and tags."""
        self._note = note
        self._redraw()
        self.on_save()

    def note_deletion(self) -> None:
        """Show that the job was deleted, which no record reports."""
        self._outage, self._again = _DELETED, "Run the cell that submitted it to submit it again."
        self._redraw()
        self.on_save()

    def _shown_record(self) -> Job:
        """Return the record as the card describes it."""
        return self.job.with_label(self._label) if self._label else self.job

    async def _receive(self, job: Job) -> None:
        if self.job.is_final:  # ended meanwhile, as received elsewhere
            return
        self.job, self._outage = job, ""
        self._redraw()
        if self._log_switch.value:
            await self._load_log()
        if job.is_final:
            self._finish()

    def _handle_outage(self, reason: FoldnoteError, last_good: datetime | None) -> None:
        if isinstance(reason, NotFoundError):
            self._outage = _DELETED
        else:
            last_contact = (
                f" It last answered at {last_good:%H:%M:%S} UTC."
                if last_good
                else " It has not answered yet."
            )
            self._outage = (
                f"No update: {reason.message}{last_contact} The card keeps trying; the job itself continues."
            )
        self._redraw()

    def _finish(self) -> None:
        waiting, self._callbacks = self._callbacks, []
        for callback in waiting:
            try:
                callback(self.job)
            except FoldnoteError as exc:
                self._show_outage(f"The result cannot be shown: {exc.message}")
            except Exception:  # noqa: BLE001 - callbacks may raise anything, and nothing awaits them
                _log.exception("A callback after the end of job %s failed", self.job.job_name)

    def _redraw(self) -> None:
        record = self._shown_record()
        html = write_card(
            record, outage=self._outage, again=self._again, note=self._note, profile=self._profile
        )
        if self._html.value != html:
            self._html.value = html
        self._announcer.announce(record)
        can_act = self.source is not None
        self._stop.layout.display = "none" if self.job.is_final or not can_act else ""
        self._log_switch.layout.display = "" if can_act else "none"
        has_more = self._find_result is not None and not self._result_view.outputs
        is_complete = self.job.status is JobStatus.COMPLETE
        self._result_button.layout.display = "" if has_more and is_complete else "none"
        self._continue_button.layout.display = (
            "" if is_complete and self._choose_next_tool is not None else "none"
        )
        can_open = is_complete and bool(self._profile) and settings.has_front_end()
        self._open_button.layout.display = "" if can_open else "none"
        has_no_result = bool(describe_rerun(record))
        for button, action in ((self._run_again_button, self._run_again), (self._edit_button, self._edit)):
            button.layout.display = "" if has_no_result and action is not None else "none"
        self._html.layout.width = "auto"

    def _show_outage(self, message: str) -> None:
        self._outage = message
        self._redraw()

    def _show_result(self) -> None:
        """Show the result in an output inside the card, which every page with the card displays."""
        if self._find_result is None:
            return
        try:
            data = dict(self._find_result())
        except FoldnoteError as exc:
            self._show_outage(f"The result cannot be shown: {exc.message}")
            return
        self._result_view.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
        self._redraw()

    def _click_run_again(self) -> None:
        """Submit the job again once, and show the new job's card below."""
        if self._run_again is None:
            return
        self._run_again_button.disabled = True
        try:
            self._following = self._run_again()
        except FoldnoteError as exc:
            self._run_again_button.disabled = False
            self._show_outage(f"The job could not be submitted again: {exc.message}")
            return
        self._run_again = None
        self._again = f"Run again as {self._following.job.job_name}, shown below."
        self.set_trait("children", (*self.children, self._following))
        self._show_outage("")
        self.on_save()
        self._following.on_final(lambda _: self.on_save())

    def _click_edit(self) -> None:
        """Show a form with the settings below."""
        if self._edit is None:
            return
        try:
            form = self._edit()
        except FoldnoteError as exc:
            self._show_outage(f"The form cannot be shown: {exc.message}")
            return
        self._edit = None
        self.set_trait("children", (*self.children, form))
        self._redraw()

    def _click_continue(self) -> None:
        """Show the list of tools below."""
        if self._choose_next_tool is None:
            return
        self._continue_button.disabled = True
        try:
            chooser = self._choose_next_tool()
        except FoldnoteError as exc:
            self._continue_button.disabled = False
            self._show_outage(f"The tools cannot be listed: {exc.message}")
            return
        self._choose_next_tool = None
        self.set_trait("children", (*self.children, chooser))
        self._show_outage("")

    def _click_stop(self) -> None:
        """Ask for confirmation at the first click; stop the job at a second one within ``_CONFIRM_S``."""
        if not self._awaits_confirmation:
            self._set_confirmation(True)
            self._start(self._reset_confirmation())
        else:
            self._set_confirmation(False)
            self._start(self._request_stop())

    def _set_confirmation(self, is_asked: bool) -> None:
        self._awaits_confirmation = is_asked
        self._stop.description = "Stop it now?" if is_asked else "Stop"
        self._stop.button_style = "danger" if is_asked else ""

    async def _reset_confirmation(self) -> None:
        await asyncio.sleep(_CONFIRM_S)
        self._set_confirmation(False)

    async def _request_stop(self) -> None:
        if self.source is None:
            return
        self._stop.disabled = True
        try:
            await self.source.stop(self.job.job_name)
        except FoldnoteError as exc:
            self._stop.disabled = False
            self._show_outage(f"The job could not be stopped: {exc.message}")
        if self._watcher:
            self._watcher.wake(self.watched)

    def _switch_log(self) -> None:
        if self._log_switch.value:
            self._start(self._load_log())
        else:
            self._log_view.value = ""

    async def _load_log(self) -> None:
        if self.source is None:
            return
        try:
            self._log_view.value = write_log(await self.source.logs(self.job.job_name))
        except FoldnoteError as exc:
            self._log_view.value = write_log(f"The log cannot be shown now: {exc.message}")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` in the running loop, keeping a reference to the task; do nothing without a loop."""
        try:
            task = asyncio.get_running_loop().create_task(work)
        except RuntimeError:
            work.close()
            return
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("An action on the card of job %s failed", self.job.job_name, exc_info=task.exception())
