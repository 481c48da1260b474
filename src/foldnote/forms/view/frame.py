"""The frame of a form: header, groups, footer and status messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets as widgets

from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.code_block import write_code_block
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class
from foldnote.forms.ui.stylesheet import read_style
from foldnote.forms.view.changes import Changes
from foldnote.text import count, escape_html, mark_code

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool
    from foldnote.forms.fields.section import Section

CLOSED = "advanced"
"""Name of the group behind a heading that is closed at first."""
_TITLES = {"required": "Required", "common": "Settings", CLOSED: "More settings"}
_WAITING = "Checking whether the service can run this tool…"
_LONG = 14
"""Minimum number of fields for a form to have a search box."""


class Frame:
    """The widgets around the fields."""

    def __init__(
        self, section: Section, styles: SharedStyles, actions: Actions, *, has_job: bool = True
    ) -> None:
        self.styles = styles
        self.has_job = has_job
        self._section = section
        section.on_shown = self._lay_out
        self.shown_language = ""
        self._live = self._general = self._cost = self._status = self._code = self._note = ""
        """Parts of the message below the buttons, as HTML."""
        self._extension_widgets: list[widgets.Widget] = []
        self.slot = styles.box([], "foldnote-slot")
        self.header = styles.html("", "foldnote-header")
        self.message = styles.html("", "foldnote-message")
        self.changes = Changes(styles, actions.reset, self._show_changes)
        self.search: widgets.Text | None = None
        self.fold: widgets.Button | None = None
        self._advanced: widgets.Box | None = None
        self._is_unfolded = False
        self._groups: dict[str, widgets.Box] = {}
        self._headings: dict[str, widgets.Widget] = {}
        """The title, or the button that unfolds it, of each group."""
        self._build_names(styles, actions)
        self._build_buttons(styles, actions)
        self._build_search()
        search: list[widgets.Widget] = [self.search] if self.search is not None else []
        self.widget = styles.box(
            [self.header, self.example, *search, *self._build_groups(), self._build_footer(), self.slot],
            "foldnote-form",
        )

    def _build_names(self, styles: SharedStyles, actions: Actions) -> None:
        """Build the text boxes of the job's name and label."""
        self.job_name = compact_widgets.Text(
            layout=styles.layout,
            style=styles.text,
            description_allow_html=True,
            _dom_classes=("foldnote-field", "foldnote-job-name"),
        )
        self.label = compact_widgets.Text(
            layout=styles.layout,
            style=styles.text,
            description=write_label(LabelParts("Label", "", "", ""), Notice(())),
            description_allow_html=True,
            placeholder="free text, shown instead of the name",
            _dom_classes=("foldnote-field", "foldnote-job-name", "foldnote-job-label"),
        )
        self.job_name.observe(actions.rename, "value")
        self.label.observe(actions.relabel, "value")

    def _build_buttons(self, styles: SharedStyles, actions: Actions) -> None:
        self.submit = styles.button("Submit", "foldnote-submit", tooltip="Send this job")
        self.attention = styles.button(
            "", "foldnote-attention", "foldnote-hidden", tooltip="Go to the first problem"
        )
        self.validate = styles.button(
            "Validate",
            "foldnote-second",
            tooltip="Validate the settings at the service; nothing is submitted",
        )
        self.add_row = styles.button(
            "Add to batch", "foldnote-second", tooltip="Add these settings as a row of a batch"
        )
        self.copy = styles.button("Copy as Python", "foldnote-second", tooltip="The equivalent Python call")
        self.copy_json = styles.button("Copy as JSON", "foldnote-second", tooltip="The settings as JSON")
        self.example = styles.button(
            "Load example",
            "foldnote-link",
            "foldnote-example",
            "foldnote-hidden",
            tooltip="Fill in an example",
        )
        for button, action in (
            (self.submit, actions.submit),
            (self.copy, actions.copy),
            (self.copy_json, actions.copy_json),
            (self.validate, actions.validate),
            (self.add_row, actions.add_row),
            (self.attention, actions.attend),
        ):
            button.on_click(action)

    def show_tool(self, tool: DescribedTool, *, is_waiting: bool = False) -> None:
        """Show title, description and method of the tool.

        The header reserves space for one sentence on the method, and further notes are at the end of the
        form, so that fields and buttons do not move when the service answers.

        Args:
            tool: the tool.
            is_waiting: whether the service has not yet reported whether it can run the tool.
        """
        line, note, mark = (_WAITING, "", "fn-unknown") if is_waiting else describe_method(tool)
        title, description = escape_html(tool.display_name or tool.type), escape_html(tool.description)
        sentence = f'<span title="{escape_html(line.replace("`", ""))}">{mark_code(line)}</span>'
        self.header.value = (
            f"<style>{read_style()}</style>"
            f'<div class="fn-title" role="heading" aria-level="2">{title}</div>'
            f'<div class="fn-about">{description}</div>'
            + (f'<div class="fn-method {mark}">{sentence}</div>' if self.has_job else "")
        )
        html = f'<div class="fn-note {mark}">{mark_code(note)}</div>' if note and self.has_job else ""
        if html != self._note:
            self._note = html
            self._show_message()

    def show_job_name(self, proposal: str | None, error: str | None) -> None:
        """Show the proposed name as placeholder, and the error of a typed one.

        The name depends on all settings. While the form has problems, it is None and the placeholder says so.
        """
        self.job_name.placeholder = proposal or "derived from the settings"
        parts = LabelParts("Job name", "", "", "")
        errors = (error,) if error else ()
        self.job_name.description = write_label(parts, Notice(errors))
        set_class(self.job_name, "foldnote-wrong", bool(error))

    def show_attention(self, wrong: int, pending: int) -> None:
        """Show how many fields have errors (``wrong``), else how many still need a value (``pending``)."""
        if wrong:
            self.attention.description = f"{count(wrong, 'field needs', 'fields need')} attention"
        elif pending:
            self.attention.description = f"{count(pending, 'required field')} to fill in"
        set_class(self.attention, "foldnote-hidden", not (wrong or pending))
        set_class(self.attention, "foldnote-calm", not wrong)

    def show_fold(self) -> None:
        """Show the number of advanced settings, and of those that differ from their defaults."""
        if self.fold is None or self._advanced is None:
            return
        inside = [field for field in self._section.everything if field.spec.group == CLOSED]
        changed = sum(field.is_changed for field in inside)
        note = f" · {changed} changed" if changed else ""
        self.fold.description = f"{count(len(inside), 'more setting')}{note}"
        self.fold.icon = "caret-right" if self.is_folded else "caret-down"

    @property
    def is_folded(self) -> bool:
        """Whether the advanced group is closed."""
        return self._advanced is not None and not self._is_unfolded

    def unfold(self) -> None:
        """Open the advanced group."""
        if self.is_folded:
            self._toggle_fold()

    def show_status(self, text: str, *, kind: str = "", detail: str = "") -> None:
        """Show a message below the buttons; an empty text clears it.

        Args:
            text: the message; parts in backticks are shown as code.
            kind: ``bad`` for an error, ``well`` for success, or empty.
            detail: a second paragraph.
        """
        mark = f" fn-{kind}" if kind else ""
        role = "alert" if kind == "bad" else "status"
        paragraph = f"<p>{mark_code(detail)}</p>" if detail else ""
        self._status = (
            f'<div class="fn-said{mark}" role="{role}">{mark_code(text)}{paragraph}</div>' if text else ""
        )
        self._show_message()

    def show_code(self, code: str, language: str = "Python") -> None:
        """Show code with a copy button; an empty text closes it."""
        self.shown_language = language if code else ""
        self._code = write_code_block(code, language)
        self._show_message()

    def show_general(self, messages: Sequence[str]) -> None:
        """Show the first three errors on the settings as a whole."""
        html = "".join(f'<div class="fn-error">{escape_html(message)}</div>' for message in messages[:3])
        if html != self._general:
            self._general = html
            self._show_message()

    def show_live(self, text: str) -> None:
        """Let a screen reader read out ``text``, which is also shown at a field."""
        html = f'<span class="fn-live" role="alert">{escape_html(text)}</span>' if text else ""
        if html != self._live:
            self._live = html
            self._show_message()

    def show_cost(self, text: str) -> None:
        """Show what a submission will cost."""
        self._cost = f'<div class="fn-cost">{escape_html(text)}</div>' if text else ""
        self._show_message()

    def show_batch(self, parts: list[widgets.Widget]) -> None:
        """Show the batch table below the buttons."""
        batch = self.styles.box(parts, "foldnote-batch")
        self.widget.children = (*self.widget.children[:-1], batch, self.slot)

    def show_beside(self, parts: list[widgets.Widget]) -> None:
        """Show the fields of the extensions above the buttons, replacing earlier ones."""
        children = [part for part in self.widget.children if part not in self._extension_widgets]
        position = children.index(self._footer)
        self.widget.children = (*children[:position], *parts, *children[position:])
        self._extension_widgets = parts

    def show_surface(self, surface: widgets.Widget) -> None:
        """Add the invisible widget with the page's script."""
        self._footer.children = (*self._footer.children, surface)

    def _show_changes(self, panel: widgets.Box) -> None:
        """Insert the list of changes between the buttons and the message."""
        children = list(self._footer.children)
        children.insert(children.index(self.message), panel)
        self._footer.children = children

    def show_sought(self, text: str) -> None:
        """Show only the fields whose names or descriptions contain all words of ``text``."""
        words = text.lower().split()
        if words:
            self._section.show_sought(words)
            self.unfold()
        for field in self._section.everything:
            field.set_class("foldnote-unsought", not field.spec.has_words(words))
        groups = {field.spec.group for field in self._section.everything if field.spec.has_words(words)}
        for group, heading in self._headings.items():
            set_class(heading, "foldnote-unsought", group not in groups)

    def _build_search(self) -> None:
        number = len(self._section.everything)
        if number < _LONG:
            return
        self.search = compact_widgets.Text(
            description="Search",
            placeholder=f"Search {number} settings",
            layout=self.styles.layout,
            style=self.styles.text,
            _dom_classes=("foldnote-search",),
        )
        self.search.observe(lambda change: self.show_sought(str(change["new"])), "value")

    def _show_message(self) -> None:
        self.message.value = self._live + self._general + self._cost + self._status + self._code + self._note

    def show_sending(self, text: str) -> None:
        """Show on the button what is in progress; an empty text ends it.

        The button stays enabled, since disabling it would remove the keyboard focus; the submission ignores
        a second press.
        """
        self.submit.description = text or "Submit"
        self.submit.icon = "spinner spin" if text else ""
        set_class(self.submit, "foldnote-busy", bool(text))

    def _build_groups(self) -> list[widgets.Widget]:
        parts: list[widgets.Widget] = []
        for group, title in _TITLES.items():
            if not any(field.spec.group == group for field in self._section.everything):
                continue
            box = self._groups[group] = self.styles.box([], "foldnote-group")
            if group == CLOSED:
                self.fold = self.styles.button("", "foldnote-fold", tooltip="Show or hide more settings")
                self.fold.on_click(self._toggle_fold)
                self._headings[group] = self.fold
                self._advanced = box
                box.add_class("foldnote-hidden")
                parts += [self.fold, box]
            else:
                heading = f'<div class="fn-group" role="heading" aria-level="3">{title}</div>'
                self._headings[group] = self.styles.html(heading, "foldnote-group-title")
                parts += [self._headings[group], box]
        self._lay_out()
        return parts

    def _lay_out(self) -> None:
        """Put each field into its group, and the button that builds more fields at the end."""
        fields = self._section.shown
        for group, box in self._groups.items():
            box.children = [field.widget for field in fields if field.spec.group == group]
        if self._section.waiting:
            last = self._groups[self._section.everything[-1].spec.group]
            last.children = (*last.children, self._section.pager)

    def _build_footer(self) -> widgets.Box:
        own = [self.submit, self.validate, self.add_row] if self.has_job else []
        buttons = [*own, self.copy, self.copy_json, self.attention, self.changes.button]
        actions = self.styles.box(buttons, "foldnote-actions")
        name = [self.job_name, self.label] if self.has_job else []
        self._footer = self.styles.box([*name, actions, self.message], "foldnote-footer")
        return self._footer

    def _toggle_fold(self, _button: object = None) -> None:
        if self._advanced is not None:
            self._is_unfolded = not self._is_unfolded
            self._section.open()
            set_class(self._advanced, "foldnote-hidden", self.is_folded)
            self.show_fold()


class Actions(NamedTuple):
    """Handlers of the frame's controls; each accepts the arguments that ipywidgets passes."""

    submit: Callable[..., None]
    validate: Callable[..., None]
    add_row: Callable[..., None]
    copy: Callable[..., None]
    copy_json: Callable[..., None]
    attend: Callable[..., None]
    rename: Callable[..., None]
    relabel: Callable[..., None]
    reset: Callable[..., None]


def describe_method(tool: DescribedTool) -> tuple[str, str, str]:
    """Return a sentence on what runs the tool, further notes on it, and the CSS class of the mark."""
    if tool.available and tool.engine is not None:
        replacement = (
            f", in place of {tool.display_name or tool.type}" if tool.engine.kind == "substitute" else ""
        )
        return f"Runs {tool.engine.method}{replacement}.", tool.engine.note or "", "fn-can"
    if tool.available:
        return "Runs at the connected service.", "", "fn-can"
    if tool.unavailable_reason:
        first, _, notes = tool.unavailable_reason.partition(". ")
        return first.removesuffix(".") + ".", notes, "fn-cannot"
    return "Not connected to a service: settings are checked, but cannot be submitted.", "", "fn-unknown"
