"""The panel of a file field for choosing a file: from the user's computer, the folder, uploads, or a job.

It is built when opened and destroyed when closed. The page sends a file from the user's computer to the
service by HTTP; if it cannot, the file is written next to the notebook. No widget stores contents.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from html import escape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote.client.inputs.file_values import FileValue, LocalFile
from foldnote.errors import FoldnoteError
from foldnote.forms.fields.kinds.choice import enumerate_labels
from foldnote.forms.files.contents import size_of
from foldnote.forms.files.file_reference import has_extension, local_path, original_name, suggest_paths
from foldnote.forms.jobs.background_calls import call, start
from foldnote.forms.jobs.job_files import list_members, write_jobs, write_members, write_tree
from foldnote.forms.ui import choice_widgets
from foldnote.forms.ui.stylesheet import read_style
from foldnote.io import hash_bytes
from foldnote.models import JobStatus
from foldnote.text import count, format_size

if TYPE_CHECKING:
    from foldnote.forms.fields.field import Field

FOLDER: Final = "uploads"
"""Folder below the kernel's folder where files from the browser are written."""
_MAX_JOBS: Final = 50
_LIMIT = (
    "Files of up to 10 MB can be uploaded through the notebook's connection; put larger ones next to the "
    "notebook and type their path. Type a job's file as JOB/FILE."
)


class FileChooser:
    """The open panel of one field."""

    def __init__(
        self, field: Field, take: Callable[[str], None], *, is_several: bool = False, job: str = ""
    ) -> None:
        """Build the panel; it offers the files of ``job``, else those of the newest jobs."""
        self._field = field
        self._job = job
        self._take = take
        styles = field.host.styles
        title = field.spec.title
        accept = ",".join(f".{name}" for name in field.spec.extensions)
        self._from_browser = widgets.FileUpload(
            description="Upload from your computer", accept=accept, multiple=is_several, layout=styles.layout
        )
        self._from_browser.add_class("foldnote-second")
        self._from_browser.observe(self._read_browser, "value")
        self._local_files, self._uploads = (
            choice_widgets.Dropdown(
                description=label,
                tooltip=f"{label}, for {title}",
                layout=styles.layout,
                style=styles.description,
                _dom_classes=("foldnote-path",),
            )
            for label in ("Files beside the notebook", "Uploads at the service")
        )
        self._local_files.observe(lambda change: self._choose_local(change["new"] or 0), "index")
        self._uploads.observe(lambda change: self._choose_upload(change["new"] or 0), "index")
        self._paths: list[str] = []
        self._jobs = styles.html("", "foldnote-part")
        self._status = styles.html("", "foldnote-part")
        self._names: list[str] = []
        lead = (
            f'<style>{read_style("science")}</style><span data-accept="{accept}"></span>'
            f'<div class="fn-limit">{_LIMIT}</div>'
        )
        self._lead = styles.html(lead, "foldnote-part", "foldnote-lead")
        self.widget = styles.box([self._from_browser, self._lead, self._status], "foldnote-chooser")
        self._show_folder()
        self._show_uploads()
        if field.host.client is not None:
            start(self._guarded(self._load_job if job else self._load_jobs))
        elif job:
            self._show_status(
                f"The files of {job} cannot be listed: this form is not connected to a service."
            )

    def close(self) -> None:
        """Close the panel's widgets."""
        parts = (self._from_browser, self._local_files, self._uploads, self._jobs, self._status)
        for part in (self._lead, *parts, self.widget):
            part.close()

    async def list_files(self, job: str) -> str:
        """Return the HTML list of a job's files that the field accepts, or why they cannot be listed."""
        try:
            members = await list_members(self._field.host.client, job)
        except FoldnoteError as error:
            return f"<p>{escape(error.message)}</p>"
        except (OSError, zipfile.BadZipFile) as error:
            return f"<p>The files of {escape(job)} could not be read: {escape(str(error))}.</p>"
        return write_members(job, members, self._field.spec.extensions)

    def _add_part(self, part: widgets.Widget) -> None:
        self.widget.children = (*self.widget.children[:-1], part, self._status)

    def _show_folder(self) -> None:
        """Offer the files of the kernel's folder, which is the notebook's, and of `FOLDER` in it."""
        extensions = self._field.spec.extensions
        paths = [*suggest_paths("", extensions), *suggest_paths(f"{FOLDER}/", extensions)]
        sizes = {path: file.stat().st_size for path in paths if (file := local_path(path)) is not None}
        self._paths = ["", *sizes]
        if sizes:
            labels = [_label(path, size_bytes) for path, size_bytes in sizes.items()]
            self._local_files.options = enumerate_labels(
                [f"choose one of {count(len(labels), 'file')}…", *labels]
            )
            self._local_files.index = 0
            self._add_part(self._local_files)

    def _show_uploads(self) -> None:
        uploads = self._field.host.known_uploads()
        accepted = [name for name in uploads if has_extension(name, self._field.spec.extensions)]
        if accepted:
            labels = [_label(original_name(name), size_of(name, uploads)) for name in accepted]
            self._names = ["", *accepted]
            self._uploads.options = enumerate_labels(
                [f"choose one of {count(len(labels), 'upload')}…", *labels]
            )
            self._uploads.index = 0  # a drop-down list created without options has no selection
            self._add_part(self._uploads)

    def _read_browser(self, change: Any) -> None:
        for file in change["new"]:
            try:
                path = save_beside_notebook(str(file["name"]), bytes(file["content"]))
            except OSError as error:
                self._show_status(f"{file['name']} could not be written to {FOLDER}: {error.strerror}.")
                continue
            self._take(LocalFile(path))
        if change["new"]:
            self._from_browser.value = ()  # drops the contents from the widget

    def _choose_local(self, index: int) -> None:
        if index:
            self._take(LocalFile(self._paths[index]))

    def _choose_upload(self, index: int) -> None:
        if index:
            self._take(FileValue(self._names[index]))

    async def _guarded(self, work: Callable[[], Any]) -> None:
        try:
            await work()
        except FoldnoteError as error:
            self._show_status(error.message)

    async def _load_job(self) -> None:
        self._show_status(f"Listing the files of {self._job}…")
        files = await self.list_files(self._job)
        name = escape(self._job)
        tree = write_tree(f"<details open><summary>{name}</summary>{files}</details>", self._field.spec.title)
        self._jobs.value = f'<span class="fn-name">Files of {name}</span>{tree}'
        self._status.value = ""
        self._add_part(self._jobs)

    async def _load_jobs(self) -> None:
        found = await call(self._field.host.client.jobs, "list", limit=_MAX_JOBS)
        done = [job for job in found.page.jobs if job.status is JobStatus.COMPLETE]
        if not done:
            self._show_status("There are no complete jobs yet whose files could be used.")
            return
        name = "the newest jobs" if len(done) > 1 else "the newest job"
        head = f'<span class="fn-name">Files of {name}</span>'
        self._jobs.value = head + write_jobs(done, self._field.spec.title)
        self._add_part(self._jobs)

    def _show_status(self, message: str) -> None:
        self._status.value = f'<span class="fn-readout" role="status">{escape(message)}</span>'


def save_beside_notebook(name: str, content: bytes) -> str:
    """Write a file from the browser; returns its path, relative to the kernel's folder.

    An existing file of the same name with other contents is kept; the new name gets a suffix.

    Raises:
        OSError: it cannot be written.
    """
    folder, plain = Path(FOLDER), PurePosixPath(name.replace("\\", "/")).name.lstrip(".") or "file"
    path = folder / plain
    if path.exists() and path.read_bytes() != content:
        stem, dot, ending = plain.partition(".")
        path = folder / f"{stem}-{hash_bytes(content)[:8]}{dot}{ending}"
    folder.mkdir(exist_ok=True)
    path.write_bytes(content)
    return str(path)


def _label(name: str, size_bytes: int | None) -> str:
    return name if size_bytes is None else f"{name} · {format_size(size_bytes)}"
