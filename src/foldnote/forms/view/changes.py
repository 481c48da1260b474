"""The list of settings that differ from their defaults, each with a reset button; built when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from foldnote.forms.fields.field import Field
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.shared_styles import SharedStyles, set_class
from foldnote.forms.wording import in_one_line

_MAX_SHOWN = 60


class Changes:
    """The button with the number of changed settings, and the list that it opens."""

    def __init__(
        self, styles: SharedStyles, reset: Callable[..., None], insert_panel: Callable[[widgets.Box], None]
    ) -> None:
        self._styles = styles
        self._reset = reset
        self._insert_panel = insert_panel
        self._is_open = False
        self._fields: tuple[Field, ...] = ()
        self.button = styles.button(
            "", "foldnote-link", "foldnote-hidden", tooltip="Settings that differ from their defaults"
        )
        self.button.on_click(self._toggle)
        self.panel: widgets.Box | None = None

    def show(self, fields: Sequence[Field]) -> None:
        """Show ``fields`` as the changed ones."""
        is_news = tuple(fields) != self._fields
        self._fields = tuple(fields)
        self.button.description = f"{len(fields)} changed"
        set_class(self.button, "foldnote-hidden", not fields)
        if not fields:
            self._is_open = False
        if is_news or not self._is_open:
            self._build()

    def _toggle(self, _button: object) -> None:
        self._is_open = not self._is_open
        self._build()

    def _build(self) -> None:
        if self.panel is None:
            if not self._is_open:
                return
            self.panel = self._styles.box([], "foldnote-changes")
            self._insert_panel(self.panel)
        old = self.panel.children
        set_class(self.panel, "foldnote-hidden", not self._is_open)
        if self._is_open:
            rows: list[widgets.Widget] = [self._row(field) for field in self._fields[:_MAX_SHOWN]]
            if len(self._fields) > 1:
                rows.append(self._button(f"Reset all {len(self._fields)}", "", ()))
            self.panel.children = rows
        elif old:
            self.panel.children = ()
        for widget in old:
            widget.close()

    def _row(self, field: Field) -> widgets.Button:
        title, default = field.spec.title, field.initial
        default_text = "empty" if default in (MISSING, None, "") else in_one_line(default, 40)
        return self._button(f"Reset {title}", f"The default is {default_text}", (field.spec.name,))

    def _button(self, text: str, tip: str, names: tuple[str, ...]) -> widgets.Button:
        button = self._styles.button(text, "foldnote-small", tooltip=tip, icon="undo")

        def press(_button: Any) -> None:
            chosen = names or tuple(field.spec.name for field in self._fields)
            self._reset(*chosen)

        button.on_click(press)
        return button
