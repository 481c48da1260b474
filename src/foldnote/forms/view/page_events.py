"""Events of a form's page (drop, paste, keys) and their handling in the kernel.

A JavaScript module adds what ipywidgets lack: sliders next to numbers, marks that restore a default, files
that are dropped or sent by HTTP, a tree of jobs' files. It communicates by messages, so that nothing is
stored in a widget's state. Forms also work in front ends that do not run it.
"""

from __future__ import annotations

import base64
import logging
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Protocol

import traitlets

from foldnote.client.inputs.file_values import FileValue, JobFile, LocalFile
from foldnote.errors import FoldnoteError
from foldnote.forms.batch.batch_table import ACTS, BatchTable
from foldnote.forms.fields.field import Field
from foldnote.forms.fields.kinds.chooser import save_beside_notebook
from foldnote.forms.fields.kinds.file import ChoosingField, FileField
from foldnote.forms.fields.kinds.sequence import SequenceField
from foldnote.forms.files.contents import UploadedFile, remember
from foldnote.forms.jobs.background_calls import start
from foldnote.forms.jobs.job_files import fetch_texts
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.forms.submission.verdicts import Verdicts
from foldnote.forms.ui.compact_widgets import locked
from foldnote.forms.ui.shared_styles import SharedStyles
from foldnote.forms.view.molecule_editor import MoleculeEditor
from foldnote.live_widget import LiveWidget, write_module

_log = logging.getLogger(__name__)
_MAX_TABLE_BYTES: Final = 10_000_000
_MAX_SEQUENCE_BYTES: Final = 1_000_000
_LOADER: Final = (
    "async function render(x){"
    "const bytes=Uint8Array.from(atob('PACKED'),c=>c.charCodeAt(0)),"
    "unpacked=new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')),"
    "text=await new Response(unpacked).text(),"
    "url=URL.createObjectURL(new Blob([text],{type:'text/javascript'}));"
    "return(await import(url)).default.render(x)}"
)


@cache
def read_script() -> str:
    """Return the JavaScript module, without indentation and comments."""
    text = files("foldnote.forms").joinpath("surface.js").read_text(encoding="utf-8")
    return re.sub(r"\n\s*(//[^\n]*)?", "\n", f"\n{text}").replace("\n\n", "\n").strip()


@cache
def pack_script() -> str:
    """Return the deflated module inside a loader that unpacks it; this halves its size."""
    packed = base64.b64encode(zlib.compress(read_script().encode(), 9)).decode()
    return write_module(_LOADER.replace("PACKED", packed))


class SurfaceWidget(LiveWidget):
    """The widget that contains the module."""

    profile = traitlets.Unicode("").tag(sync=True)
    """Profile of the service that files are sent to; empty if the Jupyter server does not know it."""


class PageForm(FilledForm, Protocol):
    """A form whose page sends messages."""

    @property
    def styles(self) -> SharedStyles:
        """The form's shared layout and style models."""

    @property
    def batch_table(self) -> BatchTable:
        """The batch of the form."""

    def offer_uploads(self, names: tuple[str, ...]) -> None:
        """Suggest the uploads ``names`` in file fields."""


class Surface:
    """Handles the messages from the page of one form."""

    def __init__(self, form: PageForm, verdicts: Verdicts) -> None:
        self._form = form
        self._verdicts = verdicts
        self.widget = SurfaceWidget(
            _esm=pack_script(),
            profile=_name_profile(form.client),
            layout=form.styles.layout,
            _dom_classes=("foldnote-hidden",),
        )
        self.widget.on_msg(self._receive)
        editor = MoleculeEditor(self._find, self._send)
        self._handlers: dict[str, Callable[..., None]] = {
            "reset": self._reset,
            "act": self._act,
            "upload": self._take_upload,
            "job": self._offer_job,
            "jobFile": self._take_job_file,
            "path": self._take_path,
            "content": self._take_content,
            "text": self._take_text,
            "rows": self._take_rows,
            "row": self._change_row,
            "open": self._open_job,
            "draw": editor.open,
            "drawing": editor.judge,
            "useDrawing": editor.use,
        }

    @locked
    def _receive(self, _widget: object, message: Any, buffers: Sequence[Any]) -> None:
        """Handle a message from the page; unknown ones are ignored."""
        handler = self._handlers.get(str(message.get("kind"))) if isinstance(message, Mapping) else None
        if handler is not None:
            self._verdicts.guard(lambda: handler(message, buffers))

    def _send(self, message: Mapping[str, Any], buffers: Sequence[bytes]) -> None:
        self.widget.send(dict(message), list(buffers))

    def _find(self, message: Mapping[str, Any]) -> Field | None:
        mark = message.get("field")
        return next((field for field in self._form.section.walk() if field.mark == mark), None)

    def _find_file(self, message: Mapping[str, Any]) -> ChoosingField | None:
        field = self._find(message)
        return field if isinstance(field, ChoosingField) and not field.spec.is_read_only else None

    def _reset(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        field = self._find(message)
        if field is not None and not field.spec.is_read_only:
            field.start_with(field.initial)
            field.host.field_changed(field)

    def _act(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Perform the action of a button next to a caution."""
        field = self._find(message)
        if field is not None and not field.spec.is_read_only:
            field.act(str(message.get("act") or ""))

    def _take_upload(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Accept a file at the service: uploaded just now, or dragged from the list of files."""
        field, name, size = self._find_file(message), str(message.get("name") or ""), message.get("size")
        if field is None or not name:
            return
        if buffers:
            remember(name, bytes(buffers[0]).decode("utf-8", "replace"))
        uploads = self._form.known_uploads()
        if name not in uploads:
            self._form.offer_uploads(
                (UploadedFile.of(name, size if isinstance(size, int) else None), *uploads)
            )
        field.take(FileValue(name))

    def _offer_job(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Let the user choose a file of a job that was dropped on a field."""
        field, job = self._find_file(message), message.get("job")
        if field is not None and isinstance(job, str) and job:
            field.open_chooser(job)

    def _take_job_file(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Accept a file of an earlier job, and inspect its contents once they are downloaded."""
        field, job, path = self._find_file(message), message.get("job"), message.get("path")
        if field is None or not job or not path:
            return
        value = JobFile(f"{job}/{path}")
        field.take(value)
        if self._form.client is not None:
            start(self._inspect(str(job), str(path), value))

    async def _inspect(self, job: str, path: str, value: str) -> None:
        text = await self._fetch(job, path)
        if text:
            remember(value, text)
            self._form.refresh()

    async def _fetch(self, job: str, path: str) -> str:
        try:
            return (await fetch_texts(self._form.client, job, (path,))).get(path, "")
        except (FoldnoteError, OSError, ValueError) as error:
            _log.info("%s of %s could not be read: %s", path, job, error)
            return ""

    def _take_path(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Accept a file of JupyterLab's file browser."""
        browser_path = message.get("path")
        if not isinstance(browser_path, str) or not browser_path:
            return
        path = locate(browser_path, message.get("root"))
        target = self._find(message)
        if isinstance(target, SequenceField):
            self._take_letters(target, path)
            return
        if message.get("field"):
            field = self._find_file(message)
            if field is not None:
                field.take(LocalFile(path))
            return
        file = Path(path).expanduser()
        if file.is_file() and file.stat().st_size <= _MAX_TABLE_BYTES:
            self._form.batch_table.add_file(file.read_bytes(), file.name)
        else:
            fault = f"{path} was not found by this kernel, or is larger than 10 MB."
            self._form.frame.show_status(fault, kind="bad")

    def _take_letters(self, field: SequenceField, path: str) -> None:
        """Accept the text of a sequence file of JupyterLab's file browser."""
        file = Path(path).expanduser()
        if field.spec.is_read_only:
            return
        if file.is_file() and file.stat().st_size <= _MAX_SEQUENCE_BYTES:
            field.take_text(file.read_text(encoding="utf-8", errors="replace"))
        else:
            message = f"{path} was not found by this kernel, or is larger than 1 MB."
            self._form.frame.show_status(message, kind="bad")

    def _take_content(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Accept a sequence file, or a file that the Jupyter server could not forward."""
        sequence_field = self._find(message)
        if isinstance(sequence_field, SequenceField) and buffers and not sequence_field.spec.is_read_only:
            sequence_field.take_text(bytes(buffers[0]).decode("utf-8", "replace"))
            return
        field = self._find_file(message)
        if field is not None and buffers:
            path = save_beside_notebook(str(message.get("name") or "file"), bytes(buffers[0]))
            field.take(LocalFile(path))

    def _take_text(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Accept a multi-line text that was pasted into the line of a file field."""
        field = self._find_file(message)
        if isinstance(field, FileField) and buffers:
            field.take_text(bytes(buffers[0]).decode("utf-8", "replace"))

    def _take_rows(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Add the rows of a table that was dropped on the batch."""
        if buffers:
            self._form.batch_table.add_file(bytes(buffers[0]), str(message.get("name") or "The file"))

    def _change_row(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """Perform the action of a button of the batch's table."""
        act, row = message.get("act"), message.get("row")
        if act in ACTS and isinstance(row, int):
            self._form.batch_table.change(act, row)

    def _open_job(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """List the files of a job in the tree of the field's chooser."""
        field, job = self._find_file(message), str(message.get("job") or "")
        if field is None or field.chooser is None:
            return
        chooser = field.chooser

        async def list_files() -> None:
            html = await chooser.list_files(job)
            self.widget.send({"kind": "files", "job": job, "html": html})

        start(list_files())


def locate(path: str, root: object = None) -> str:
    """Return the kernel's path of a file in JupyterLab's file browser, relative to the working folder.

    Args:
        path: path with slashes, from the server's root folder; a drive name before a colon is ignored.
        root: the server's root folder, with ``~`` for the home folder.
    """
    plain = path.partition(":")[2] if re.match(r"\w+:", path) else path
    working_folder = Path.cwd()
    roots = [Path(root).expanduser()] if isinstance(root, str) and root else []
    for folder in (*roots, working_folder, *working_folder.parents):
        candidate = folder / plain
        if candidate.exists():
            return (
                str(candidate.relative_to(working_folder))
                if candidate.is_relative_to(working_folder)
                else str(candidate)
            )
    return plain


def _name_profile(client: Any) -> str:
    """Return the name of the client's profile; empty if the Jupyter server does not know it."""
    profile = getattr(client, "profile", None)
    name = str(getattr(profile, "name", "") or "")
    return "" if name == "given" else name
