"""Fields for files. Widgets hold no contents: the kernel keeps pasted text and shows a short name for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from foldnote.client.inputs.file_values import Contents, FileValue, JobFile
from foldnote.client.inputs.plain_values import make_plain
from foldnote.forms.fields.field import Field, Reading, is_same
from foldnote.forms.fields.kinds.listing import LinesField
from foldnote.forms.files.contents import read_object
from foldnote.forms.files.file_reference import read_reference, resolve_file, suggest_paths
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui import choice_widgets, compact_widgets
from foldnote.text import count, format_size, join_words

if TYPE_CHECKING:
    from foldnote.forms.fields.kinds.chooser import FileChooser


class PastedTexts:
    """Pasted contents, by the short names that the control shows instead."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def hide(self, value: str) -> str:
        """Return the short name of a ``value`` of several lines; one line is returned unchanged."""
        if "\n" not in value:
            return value
        name = f"(pasted text, {format_size(len(value.encode()))})"
        for number in range(2, 1000):
            if self._texts.get(name, value) == value:
                break
            name = f"(pasted text {number}, {format_size(len(value.encode()))})"
        self._texts[name] = value
        return name

    def reveal(self, short_name: str) -> str:
        """Return the text with the short name ``short_name``; any other text is returned unchanged."""
        return self._texts.get(short_name, short_name)


class ChoosingField(Field):
    """Base class of file fields: the panel for choosing a file, and files dropped on the field."""

    chooser: FileChooser | None = None
    """The open panel."""
    is_several = False

    @abstractmethod
    def take(self, value: str) -> None:
        """Hold the path, upload or job file that a person chose."""

    def take_kept(self, is_job: Callable[[str], bool]) -> None:
        """Mark every file that the field holds as one at the service, since a job was run with it.

        ``is_job`` returns whether the text before a slash is a job's name rather than a folder of uploads.
        """
        value = self.read().value
        if isinstance(value, str | list):
            self.write(_at_service(value, is_job))

    def _hold(self, value: Any) -> None:
        """Hold a value that a person chose rather than typed."""
        self.write(value)
        self.is_touched = True
        self.host.field_changed(self)
        self.host.announce(self)

    def read(self) -> Reading:
        """Return the field's value; a text once recognised as a local file or an upload remains one."""
        self._assigned_value = resolve_file(
            self._assigned_value, self.host.known_uploads(), self.spec.extensions
        )
        return super().read()

    @abstractmethod
    def arrange(self) -> None:
        """Show the parts that are open."""

    def make_box(self, line: widgets.Widget, *links: widgets.Widget) -> widgets.Box:
        """Return the line and its links, as a drop target for files."""
        styles = self.host.styles
        self._choose = styles.button(
            "choose…", "foldnote-link", tooltip="Choose a file from your computer, the uploads or a job"
        )
        self._choose.on_click(self._toggle_choose)
        self.links = styles.box([self._choose, *links], "foldnote-links")
        several = ("foldnote-several",) if self.is_several else ()
        return styles.box([line, self.links], "foldnote-file", "foldnote-drop", self.mark, *several)

    @property
    def panel(self) -> list[widgets.Widget]:
        """The panel, if it is open."""
        return [self.chooser.widget] if self.chooser is not None else []

    def close_chooser(self) -> None:
        """Close the panel."""
        chooser, self.chooser = self.chooser, None
        self._choose.description = "choose…"
        self.arrange()
        if chooser is not None:
            chooser.close()

    def open_chooser(self, job: str = "") -> None:
        """Offer files to choose from: those of a job, or of the newest jobs."""
        from foldnote.forms.fields.kinds.chooser import FileChooser

        if self.chooser is not None:
            self.close_chooser()
        self.chooser = FileChooser(self, self.take, is_several=self.is_several, job=job)
        self._choose.description = "close"
        self.arrange()

    def _toggle_choose(self, _button: object) -> None:
        if self.chooser is not None:
            self.close_chooser()
        else:
            self.open_chooser()


_ORIGINS = {
    "local": "on this computer",
    "upload": "at the service",
    "job": "from jobs",
    "text": "pasted",
}


def _at_service(value: Any, is_job: Callable[[str], bool]) -> Any:
    """Return the value with every file marked as one at the service."""
    if isinstance(value, list):
        return [_at_service(item, is_job) for item in value]
    if not isinstance(value, str) or not value or isinstance(value, Contents | JobFile):
        return value
    if "\n" in value:
        return Contents(value)
    head, slash, _ = value.partition("/")
    return JobFile(value) if slash and is_job(head) else FileValue(value)


def _match(texts: list[str], known_files: list[Any]) -> list[Any]:
    """Replace each of ``texts`` by the equal item of ``known_files``, which has a known kind of file."""
    remaining = list(known_files)
    matched = []
    for text in texts:
        position = next(
            (number for number, file in enumerate(remaining) if file in (text, f"{text}\n")), None
        )
        matched.append(text if position is None else remaining.pop(position))
    return matched


class FileField(ChoosingField):
    """One file."""

    width = "wide"
    has_brief_help = True

    def build(self) -> widgets.DOMWidget:
        """Return a line with suggestions, and a link for pasting the contents."""
        styles = self.host.styles
        self._pasted = PastedTexts()
        self._typed_value: Any = ""
        """The text of the line, with the kind of file as which it was first recognised."""
        endings = join_words([f".{extension}" for extension in self.spec.extensions])
        self.control = choice_widgets.Combobox(
            options=self._suggest(""),
            placeholder=f"path or upload{f' ({endings})' if endings else ''}",
            style=styles.text,
            **self.look("path"),
        )
        self.control.observe(self._handle_typed, "value")
        self._paste = styles.button(
            "paste text", "foldnote-link", tooltip="Paste the file's contents instead"
        )
        self._paste.on_click(self._toggle_paste)
        self._area: list[widgets.Widget] = []
        return self.make_box(self.control, self._paste)

    def parse(self) -> Reading:
        """Return the path, name or contents."""
        text = self._pasted.reveal(self.control.value.strip())
        if text != self._typed_value and f"{text}\n" != self._typed_value:
            self._typed_value = text
        self._typed_value = resolve_file(self._typed_value, self.host.known_uploads(), self.spec.extensions)
        return self.describe(self._typed_value) if text else Reading(self.blank)

    def describe(self, value: Any) -> Reading:
        """Return a readout of the file that ``value`` names, or why it cannot be used."""
        if not isinstance(value, str) or not value:
            return Reading(value)
        uploads = self.host.known_uploads()
        reference = read_reference(value, uploads, self.spec.extensions)
        if reference.error:
            return Reading(value, (reference.error,), None, reference.words)
        from foldnote.forms.files.file_insight import inspect_file

        insight = inspect_file(value, reference, self.spec, uploads)
        readout = "; ".join(filter(None, (reference.words, insight.words)))
        return Reading(value, (insight.fault,) if insight.fault else (), None, readout)

    def write(self, value: Any) -> None:
        """Hold ``value``: a path, text, or an object that can be written as a file, such as a DataFrame."""
        super().write(read_object(value, self.spec))

    def render(self, value: Any) -> None:
        """Show the path or name; for contents, their short name."""
        self.control.value = "" if value is MISSING else self._pasted.hide(str(value))

    def refresh_suggestions(self) -> None:
        """Suggest the uploads and local files that exist now."""
        self.control.options = self._suggest(self.control.value)

    def _handle_typed(self, change: Any) -> None:
        if not self._is_writing:
            self.control.options = self._suggest(str(change["new"]))
        self.changed()

    def _suggest(self, text: str) -> list[str]:
        uploads = [name for name in self.host.known_uploads() if name.startswith(text)]
        return list(dict.fromkeys([*suggest_paths(text, self.spec.extensions), *uploads]))[:80]

    def _toggle_paste(self, _button: object) -> None:
        if self._area:
            self._close_paste()
            return
        styles = self.host.styles
        area = compact_widgets.Textarea(
            rows=5,
            placeholder="Paste the contents of the file here",
            style=styles.text,
            continuous_update=True,
            tooltip=f"Contents of {self.spec.title}",
            layout=styles.layout,
            _dom_classes=("foldnote-paste",),
        )
        use = styles.button("Use this text", "foldnote-small")
        use.on_click(lambda _button: self._use_text(area))
        self._area = [area, use]
        self._paste.description = "close"
        self.arrange()

    def _use_text(self, area: widgets.Textarea) -> None:
        self.take_text(str(area.value))
        self._close_paste()

    def take_text(self, text: str) -> None:
        """Hold the contents of a file that a person pasted."""
        if text.strip():
            self.control.value = self._pasted.hide(text if "\n" in text else f"{text}\n")

    def _close_paste(self) -> None:
        for part in self._area:
            if isinstance(part, widgets.Textarea):
                part.value = ""
            part.close()
        self._area = []
        self._paste.description = "paste text"
        self.arrange()

    def take(self, value: str) -> None:
        """Hold the chosen file."""
        self._hold(value)
        if self.chooser is not None:
            self.close_chooser()
            self.control.focus()

    def arrange(self) -> None:
        """Show the line, its links, and what is open below them."""
        self.widget.children = (self.control, self.links, *self.panel, *self._area)


class FilesField(ChoosingField, LinesField):
    """Several files, one per line."""

    has_brief_help = True
    is_several = True

    def build(self) -> widgets.DOMWidget:
        """Return a text area, and a link for choosing files."""
        self._pasted = PastedTexts()
        self._known_files: list[Any] = []
        """The files as last read, so that an unchanged line keeps its kind of file."""
        return self.make_box(self.make_line(self.hint(), "path", "lines", rows=3))

    def take(self, value: str) -> None:
        """Add the chosen file."""
        current = self.read().value
        files = list(current) if isinstance(current, list) else []
        if not any(is_same(value, file) for file in files):
            self._hold([*files, value])

    def arrange(self) -> None:
        """Show the lines, their link, and what is open below them."""
        self.widget.children = (self.control, self.links, *self.panel)

    def hint(self) -> str:
        """Return the placeholder text."""
        return "paths or uploads, one per line"

    def parse(self) -> Reading:
        """Return the files that the lines name."""
        lines = super().parse().value
        if not isinstance(lines, list):
            return Reading(lines)
        texts = [self._pasted.reveal(item) for item in lines]
        self._known_files = resolve_file(
            _match(texts, self._known_files), self.host.known_uploads(), self.spec.extensions
        )
        return self.describe(self._known_files)

    def describe(self, value: Any) -> Reading:
        """Return the number of files by place, and an error for each line that cannot be used."""
        if not isinstance(value, list):
            return Reading(value)
        from foldnote.forms.files.file_insight import inspect_file

        uploads = self.host.known_uploads()
        files = [item if isinstance(item, str) else str(item) for item in value]
        references = [read_reference(file, uploads, self.spec.extensions) for file in files]
        faults = [
            reference.error or inspect_file(file, reference, self.spec, uploads).fault
            for file, reference in zip(files, references, strict=True)
        ]
        errors = tuple(f"Line {line}: {fault}" for line, fault in enumerate(faults, 1) if fault)
        places = [reference.place for reference in references]
        counts = [f"{places.count(place)} {label}" for place, label in _ORIGINS.items() if place in places]
        readout = f"{count(len(value), 'file')}: {', '.join(counts)}" if counts else ""
        return Reading(value, errors, None, readout)

    def write(self, value: Any) -> None:
        """Hold ``value``: paths, texts, or objects that can be written as files."""
        value = make_plain(value)
        is_list = isinstance(value, list | tuple)
        files = [read_object(item, self.spec) for item in value] if is_list else value
        self._known_files = files if isinstance(files, list) else []
        super().write(files)

    def render(self, value: Any) -> None:
        """Show one file per line; for contents, their short names."""
        is_list = isinstance(value, list | tuple)
        super().render([self._pasted.hide(str(item)) for item in value] if is_list else value)
