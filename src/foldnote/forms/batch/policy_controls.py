"""What a form's batch does after a failure, where the service offers it: go on or stop, and retries."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import ipywidgets as widgets

from foldnote.forms.ui import choice_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import Looks
from foldnote.models.extensions import CONTINUE, MAX_RETRIES, ON_FAILURE, RETRIES, STOP

_UNTAKEN = "This service runs every row once and goes on after a failure."
_RETRIES = [("run it once", 0), *((f"retry {number}×", number) for number in (1, 2, 3, 5, MAX_RETRIES))]


class PolicyControls:
    """Two choices, or a sentence where the service offers neither."""

    def __init__(self, looks: Looks, on_change: Callable[[], object]) -> None:
        """Build an empty box; ``on_change`` is called when a person chose something else."""
        self._looks = looks
        self._on_change = on_change
        self._choices: dict[str, widgets.Dropdown] = {}
        self.widget: widgets.Box = looks.box([], "foldnote-policy")

    def show(self, taken: Collection[str], *, has_answer: bool) -> None:
        """Show the choices that the service offers; those that were shown before keep what was chosen.

        Args:
            taken: what the service takes beside the tool's settings.
            has_answer: whether there is a service that has described the tool; else nothing is said of it.
        """
        offered: dict[str, tuple[str, list[tuple[str, Any]]]] = {
            ON_FAILURE: ("When a job has failed", [("go on", CONTINUE), ("start no more jobs", STOP)]),
            RETRIES: ("A job that fails", _RETRIES),
        }
        for name, (title, options) in offered.items():
            if name in taken and name not in self._choices:
                self._choices[name] = _choose(self._looks, title, options)
                self._choices[name].observe(lambda _change: self._on_change(), "value")
        parts: list[widgets.Widget] = [*self._choices.values()]
        if has_answer and not parts:
            parts = [self._looks.html(f"<span>{_UNTAKEN}</span>", "foldnote-part")]
        self.widget.children = parts

    @property
    def on_failure(self) -> str:
        """``continue`` or ``stop``."""
        return self._choices[ON_FAILURE].value if ON_FAILURE in self._choices else CONTINUE

    @property
    def retries(self) -> int:
        """How often a job is run again after its tool failed."""
        return self._choices[RETRIES].value if RETRIES in self._choices else 0

    def list_arguments(self) -> dict[str, Any]:
        """What differs from the default, by the name of the argument in Python."""
        given: dict[str, Any] = {"on_failure": self.on_failure, "retries": self.retries}
        return {name: value for name, value in given.items() if value not in (CONTINUE, 0)}


def _choose(looks: Looks, title: str, options: list[tuple[str, Any]]) -> widgets.Dropdown:
    return choice_widgets.Dropdown(
        options=options,
        value=options[0][1],
        description=write_label(LabelParts(title, "", "", ""), Notice()),
        description_allow_html=True,
        layout=looks.layout,
        style=looks.description,
        _dom_classes=("foldnote-field", "foldnote-choice"),
    )
