"""Controls for what a form's batch does after a failure: stop or continue, and retries."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import ipywidgets as widgets

from foldnote.client.inputs.plain_values import make_plain
from foldnote.errors import ArgumentError
from foldnote.forms.ui import choice_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles
from foldnote.models.extensions import (
    CONTINUE,
    MAX_RETRIES,
    ON_FAILURE,
    ON_FAILURE_WORDS,
    RETRIES,
    STOP,
)

_NOT_OFFERED = "This service runs every row once and continues after a failure."


def _name_retries(number: int) -> tuple[str, int]:
    return f"retry {number}×" if number else "run it once", number


_RETRIES = [_name_retries(number) for number in (0, 1, 2, 3, 5, MAX_RETRIES)]


class PolicyControls:
    """Two choices, or a sentence if the service offers neither."""

    def __init__(self, styles: SharedStyles, on_change: Callable[[], object]) -> None:
        """Build an empty box; ``on_change`` is called when a person changes a choice."""
        self._styles = styles
        self._on_change = on_change
        self._choices: dict[str, widgets.Dropdown] = {}
        self._requested: dict[str, Any] = {}
        self.widget: widgets.Box = styles.box([], "foldnote-policy")

    def show(self, accepted: Collection[str], *, has_answer: bool) -> None:
        """Show the choices that the service offers; choices that are already shown keep their values.

        Args:
            accepted: extensions that the service accepts beside the tool's settings.
            has_answer: whether a service has described the tool; otherwise nothing is shown about it.
        """
        offered: dict[str, tuple[str, list[tuple[str, Any]]]] = {
            ON_FAILURE: ("When a job has failed", [("continue", CONTINUE), ("start no more jobs", STOP)]),
            RETRIES: ("A job that fails", _RETRIES),
        }
        for name, (title, options) in offered.items():
            if name in accepted and name not in self._choices:
                self._choices[name] = _make_choice(self._styles, title, options)
                self._apply_requested(name)
                self._choices[name].observe(lambda _change: self._on_change(), "value")
        parts: list[widgets.Widget] = [*self._choices.values()]
        if has_answer and not parts:
            parts = [self._styles.html(f"<span>{_NOT_OFFERED}</span>", "foldnote-part")]
        self.widget.children = parts

    def choose(self, on_failure: str | None = None, retries: int | None = None) -> None:
        """Set the choices that code requests, once the service offers them; None leaves a choice unchanged.

        Raises:
            ArgumentError: the value is not a policy.
        """
        if on_failure not in (None, *ON_FAILURE_WORDS):
            raise ArgumentError(f"on_failure must be 'continue' or 'stop', not {on_failure!r}.")
        retries = make_plain(retries)
        is_number = isinstance(retries, int) and not isinstance(retries, bool) and 0 <= retries <= MAX_RETRIES
        if retries is not None and not is_number:
            raise ArgumentError(f"retries must be a whole number from 0 to {MAX_RETRIES}, not {retries!r}.")
        policies = {ON_FAILURE: on_failure, RETRIES: retries}
        self._requested |= {name: value for name, value in policies.items() if value is not None}
        for name in self._choices:
            self._apply_requested(name)

    def _apply_requested(self, name: str) -> None:
        if name not in self._requested:
            return
        choice, value = self._choices[name], self._requested.pop(name)
        if value not in [option for _, option in choice.options]:
            numbers = {*(option for _, option in choice.options), value}
            choice.options = [_name_retries(option) for option in sorted(numbers)]
        choice.value = value

    @property
    def on_failure(self) -> str:
        """Policy of the batch after a failure: ``continue`` or ``stop``."""
        return self._choices[ON_FAILURE].value if ON_FAILURE in self._choices else CONTINUE

    @property
    def retries(self) -> int:
        """Number of times a job is run again after its tool failed."""
        return self._choices[RETRIES].value if RETRIES in self._choices else 0

    def list_arguments(self) -> dict[str, Any]:
        """Return the choices that differ from the defaults, by their Python argument names."""
        arguments: dict[str, Any] = {"on_failure": self.on_failure, "retries": self.retries}
        return {name: value for name, value in arguments.items() if value not in (CONTINUE, 0)}


def _make_choice(styles: SharedStyles, title: str, options: list[tuple[str, Any]]) -> widgets.Dropdown:
    return choice_widgets.Dropdown(
        options=options,
        value=options[0][1],
        description=write_label(LabelParts(title, "", "", ""), Notice()),
        description_allow_html=True,
        layout=styles.layout,
        style=styles.description,
        _dom_classes=("foldnote-field", "foldnote-choice"),
    )
