"""The panel of a file field in which a file is chosen: from one's own computer, an upload, an earlier job.

It is built when it is opened and gone when it is closed. A file from the browser is written beside the
notebook, so that it stays with the work and travels by HTTP at Submit; no widget keeps its contents.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from html import escape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.errors import FoldnoteError
from foldnote.forms import lean
from foldnote.forms.contents import remember, size_of
from foldnote.forms.file_reference import has_extension
from foldnote.forms.kinds.choice import enumerate_labels
from foldnote.forms.sending import call, start
from foldnote.forms.style import read_style
from foldnote.forms.words import count, size
from foldnote.models import JobStatus

if TYPE_CHECKING:
    from foldnote.forms.field import Field

FOLDER: Final = "uploads"
"""Where files from the browser are written, below the kernel's folder."""
_MOST_JOBS: Final = 50
_MOST_FILES: Final = 300
_READ_BYTES: Final = 20_000_000


class Chooser:
    """The open panel of one field."""

    def __init__(self, field: Field, take: Callable[[str], None]) -> None:
        self._field = field
        self._take = take
        looks = field.host.looks
        title = field.spec.title
        extensions = field.spec.extensions
        self._from_browser = widgets.FileUpload(
            description="Upload from your computer",
            accept=",".join(f".{name}" for name in extensions),
            layout=looks.layout,
        )
        self._from_browser.add_class("foldnote-second")
        self._from_browser.observe(self._read_browser, "value")
        self._uploads = self._list(f"Uploads at the service, for {title}", self._chose_upload)
        self._jobs = self._list(f"Jobs, for {title}", self._chose_job)
        self._files = self._list(f"Files of the job, for {title}", self._chose_file)
        self._said = looks.html("", "foldnote-part")
        self._names: dict[str, list[str]] = {"uploads": [], "jobs": [], "files": []}
        self._archive: Path | None = None
        self._style = looks.html(f"<style>{read_style('science')}</style>", "foldnote-hidden")
        self.widget = looks.box([self._style, self._from_browser, self._said], "foldnote-chooser")
        self._show_uploads()
        if field.host.client is not None:
            self._run(self._load_jobs)

    def close(self) -> None:
        """Take the panel away."""
        lists = (self._uploads, self._jobs, self._files)
        for part in (self._style, self._from_browser, *lists, self._said, self.widget):
            part.close()

    def _list(self, label: str, chosen: Callable[[int], None]) -> widgets.Dropdown:
        looks = self._field.host.looks
        found = lean.Dropdown(
            description=label.partition(",")[0],
            tooltip=label,
            layout=looks.layout,
            style=looks.description,
            _dom_classes=("foldnote-path",),
        )
        found.observe(lambda change: chosen(change["new"] or 0), "index")
        return found

    def _fill(self, kind: str, box: widgets.Dropdown, lead: str, rows: list[tuple[str, str]]) -> None:
        self._names[kind] = ["", *(name for name, _ in rows)]
        box.options = enumerate_labels([lead, *(label for _, label in rows)])
        if box not in self.widget.children:
            self.widget.children = (*self.widget.children[:-1], box, self._said)

    def _show_uploads(self) -> None:
        known = self._field.host.known_uploads()
        fitting = [name for name in known if has_extension(name, self._field.spec.extensions)]
        if fitting:
            rows = [(name, _label(name, size_of(name, known))) for name in fitting]
            self._fill("uploads", self._uploads, f"choose one of {count(len(rows), 'upload')}…", rows)

    def _read_browser(self, change: Any) -> None:
        for file in change["new"]:
            try:
                path = save_beside_notebook(str(file["name"]), bytes(file["content"]))
            except OSError as error:
                self._say(f"{file['name']} could not be written to {FOLDER}: {error.strerror}.")
                continue
            self._from_browser.value = ()  # contents do not stay in a widget
            self._take(path)
            return

    def _chose_upload(self, index: int) -> None:
        if index:
            self._take(str(self._names["uploads"][index]))

    def _chose_job(self, index: int) -> None:
        if index:
            self._run(lambda: self._load_files(self._names["jobs"][index]))

    def _chose_file(self, index: int) -> None:
        if not index:
            return
        member = self._names["files"][index]
        value = f"{self._names['jobs'][self._jobs.index]}/{member}"
        if self._archive is not None:
            remember(value, read_member(self._archive, member))
        self._take(value)

    def _run(self, work: Callable[[], Any]) -> None:
        start(self._guarded(work))

    async def _guarded(self, work: Callable[[], Any]) -> None:
        try:
            await work()
        except FoldnoteError as error:
            self._say(error.message)
        except (OSError, zipfile.BadZipFile) as error:
            self._say(f"The job's files could not be read: {error}.")

    async def _load_jobs(self) -> None:
        page = await call(self._field.host.client.jobs, "list", limit=_MOST_JOBS)
        done = [job for job in page.jobs if job.status is JobStatus.COMPLETE]
        rows = [(job.job_name, f"{job.job_name} · {job.type}") for job in done]
        if rows:
            self._fill("jobs", self._jobs, f"choose one of {count(len(rows), 'complete job')}…", rows)
        else:
            self._say("There are no complete jobs yet whose files could be used.")

    async def _load_files(self, job_name: str) -> None:
        self._say(f"The files of {job_name} are fetched…")
        self._archive = Path(await call(self._field.host.client.jobs, "download", job_name))
        extensions = self._field.spec.extensions
        with zipfile.ZipFile(self._archive) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
        fitting = [info for info in members if has_extension(info.filename, extensions)]
        rows = [(info.filename, _label(info.filename, info.file_size)) for info in fitting[:_MOST_FILES]]
        self._fill("files", self._files, f"choose one of {count(len(rows), 'file')}…", rows)
        others = len(members) - len(fitting)
        told = f"{count(len(fitting), 'file')} of {job_name} can be used here"
        self._say(f"{told}; {count(others, 'other')} of another kind." if others else f"{told}.")

    def _say(self, words: str) -> None:
        self._said.value = f'<span class="fn-readout" role="status">{escape(words)}</span>'


def save_beside_notebook(name: str, content: bytes) -> str:
    """Write a file from the browser; its path below the kernel's folder. Another file of this name stays.

    Raises:
        OSError: it cannot be written.
    """
    folder, plain = Path(FOLDER), PurePosixPath(name.replace("\\", "/")).name.lstrip(".") or "file"
    path = folder / plain
    if path.exists() and path.read_bytes() != content:
        stem, dot, ending = plain.partition(".")
        path = folder / f"{stem}-{hashlib.sha256(content).hexdigest()[:8]}{dot}{ending}"
    folder.mkdir(exist_ok=True)
    path.write_bytes(content)
    return str(path)


def read_member(archive: Path, member: str) -> str:
    """A file of a result as text; empty where it is too large to be looked at here."""
    with zipfile.ZipFile(archive) as files:
        if files.getinfo(member).file_size > _READ_BYTES:
            return ""
        return files.read(member).decode("utf-8", "replace")


def _label(name: str, size_bytes: int | None) -> str:
    return name if size_bytes is None else f"{name} · {size(size_bytes)}"
