"""Events of a form's page (drop, paste, keys) and their handling in the kernel.

A small module of JavaScript adds what ipywidgets have no word for: sliders beside numbers, marks that put a
default back, files that are dropped or sent by HTTP, a tree of jobs' files. It sends messages; nothing of
them stays in a widget's state. Where a front end runs no such module, the form works without.
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

import anywidget
import traitlets

from foldnote.client.inputs.file_values import FileValue, JobFile, LocalFile
from foldnote.errors import FoldnoteError
from foldnote.forms.batch.batch_table import BatchTable
from foldnote.forms.fields.field import Field
from foldnote.forms.fields.kinds.chooser import save_beside_notebook
from foldnote.forms.fields.kinds.file import ChoosingField
from foldnote.forms.files.contents import UploadedFile, remember
from foldnote.forms.jobs.background_calls import start
from foldnote.forms.jobs.job_files import fetch_texts
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.forms.submission.verdicts import Verdicts
from foldnote.forms.ui.shared_styles import Looks

_log = logging.getLogger(__name__)
_MOST_TABLE_BYTES: Final = 10_000_000
_LOADER: Final = (
    "export default{async render(x){"
    "const bytes=Uint8Array.from(atob('PACKED'),c=>c.charCodeAt(0)),"
    "unpacked=new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')),"
    "text=await new Response(unpacked).text(),"
    "url=URL.createObjectURL(new Blob([text],{type:'text/javascript'}));"
    "return(await import(url)).default.render(x)}}"
)


@cache
def read_script() -> str:
    """The module, without indents and comments."""
    text = files("foldnote.forms").joinpath("surface.js").read_text(encoding="utf-8")
    return re.sub(r"\n\s*(//[^\n]*)?", "\n", f"\n{text}").replace("\n\n", "\n").strip()


@cache
def pack_script() -> str:
    """The module for the wire: deflated, inside one that unpacks it. It halves what travels."""
    packed = base64.b64encode(zlib.compress(read_script().encode(), 9)).decode()
    return _LOADER.replace("PACKED", packed)


class SurfaceWidget(anywidget.AnyWidget):
    """The model that carries the module."""

    profile = traitlets.Unicode("").tag(sync=True)
    """Profile of the service that files are sent to; empty where the Jupyter server cannot know it."""


class PageForm(FilledForm, Protocol):
    """A form whose page sends files."""

    @property
    def looks(self) -> Looks:
        """The form's shared models."""

    def offer_uploads(self, names: tuple[str, ...]) -> None:
        """Let file fields offer ``names``."""


class Surface:
    """The page of one form."""

    def __init__(self, form: PageForm, batch: BatchTable, verdicts: Verdicts) -> None:
        self._form = form
        self._batch = batch
        self._verdicts = verdicts
        self.widget = SurfaceWidget(
            _esm=pack_script(),
            profile=_name_profile(form.client),
            layout=form.looks.layout,
            _dom_classes=("foldnote-hidden",),
        )
        self.widget.on_msg(self._hear)
        self._answers: dict[str, Callable[..., None]] = {
            "reset": self._reset,
            "upload": self._take_upload,
            "job": self._offer_job,
            "jobFile": self._take_job_file,
            "path": self._take_path,
            "content": self._take_content,
            "rows": self._take_rows,
            "open": self._open_job,
        }

    def _hear(self, _widget: object, message: Any, buffers: Sequence[Any]) -> None:
        """Do what the page asks; a message that is none of ours is left alone."""
        answer = self._answers.get(str(message.get("kind"))) if isinstance(message, Mapping) else None
        if answer is not None:
            self._verdicts.guard(lambda: answer(message, buffers))

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

    def _take_upload(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """A file that the service has: sent just now, or dragged from the list of files."""
        field, name, size = self._find_file(message), str(message.get("name") or ""), message.get("size")
        if field is None or not name:
            return
        if buffers:
            remember(name, bytes(buffers[0]).decode("utf-8", "replace"))
        known = self._form.known_uploads()
        if name not in known:
            self._form.offer_uploads((UploadedFile.of(name, size if isinstance(size, int) else None), *known))
        field.take(FileValue(name))

    def _offer_job(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """A job that was dropped on a field: which of its files is meant, the reader says."""
        field, job = self._find_file(message), message.get("job")
        if field is not None and isinstance(job, str) and job:
            field.open_chooser(job)

    def _take_job_file(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """A file of an earlier job; what it holds is looked at once it was fetched."""
        field, job, path = self._find_file(message), message.get("job"), message.get("path")
        if field is None or not job or not path:
            return
        value = JobFile(f"{job}/{path}")
        field.take(value)
        if self._form.client is not None:
            start(self._look_into(str(job), str(path), value))

    async def _look_into(self, job: str, path: str, value: str) -> None:
        text = await self._ask(job, path)
        if text:
            remember(value, text)
            self._form.refresh()

    async def _ask(self, job: str, path: str) -> str:
        try:
            return (await fetch_texts(self._form.client, job, (path,))).get(path, "")
        except (FoldnoteError, OSError, ValueError) as error:
            _log.info("%s of %s could not be looked into: %s", path, job, error)
            return ""

    def _take_path(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """A file of JupyterLab's file browser."""
        asked = message.get("path")
        if not isinstance(asked, str) or not asked:
            return
        path = locate(asked, message.get("root"))
        if message.get("field"):
            field = self._find_file(message)
            if field is not None:
                field.take(LocalFile(path))
            return
        found = Path(path).expanduser()
        if found.is_file() and found.stat().st_size <= _MOST_TABLE_BYTES:
            self._batch.add_text(found.read_text(encoding="utf-8-sig", errors="replace"))
        else:
            self._form.frame.say(f"{path} is not there for this kernel, or larger than 10 MB.", kind="bad")

    def _take_content(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """A file of the reader's computer, where the Jupyter server takes none."""
        field = self._find_file(message)
        if field is not None and buffers:
            path = save_beside_notebook(str(message.get("name") or "file"), bytes(buffers[0]))
            field.take(LocalFile(path))

    def _take_rows(self, message: Mapping[str, Any], _buffers: Sequence[Any]) -> None:
        """A table that was dropped on the batch."""
        self._batch.add_text(str(message.get("text") or "").removeprefix("\ufeff"))

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
    """Where the kernel finds what JupyterLab's file browser calls ``path``, as short as it can be said.

    Args:
        path: with slashes, from the server's root folder; a drive's name before a colon is left out.
        root: the server's root folder as its page says it, with ``~`` for the home.
    """
    plain = path.partition(":")[2] if re.match(r"\w+:", path) else path
    here = Path.cwd()
    roots = [Path(root).expanduser()] if isinstance(root, str) and root else []
    for folder in (*roots, here, *here.parents):
        found = folder / plain
        if found.exists():
            return str(found.relative_to(here)) if found.is_relative_to(here) else str(found)
    return plain


def _name_profile(client: Any) -> str:
    """The name under which the Jupyter server knows the client's service too."""
    profile = getattr(client, "profile", None)
    name = str(getattr(profile, "name", "") or "")
    return "" if name == "given" else name
