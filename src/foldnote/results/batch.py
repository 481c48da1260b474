"""The archive of a batch or pipeline, with a folder for each job.

Tables of several jobs have a column with the job's name; the manifest of a batch contains the values common
to the manifests of all its jobs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.archives.archive import Archive, Member
from foldnote.results.archives.opening import open_archive
from foldnote.results.core.lazy_parts import Parts
from foldnote.results.naming.file_kinds import structure_order
from foldnote.results.provenance.manifest import Manifest, make_manifest
from foldnote.results.result import Result
from foldnote.results.sequences.antibody_numbering import Region
from foldnote.results.tables.delimited import JOB_COLUMN
from foldnote.results.tables.tabular import Scalar, read_table

TABLE = re.compile(r"(batch-)*results\.csv")
"""The service's table of a batch: one row per job, with the column ``jobName``."""
_GUARD = re.compile(r"^'('*[=+\-@\t\r])")
_DOMAIN_FIGURES = {"chain_type": "chain type", "species": "species", "v_gene": "V gene", "j_gene": "J gene"}
"""Columns of ``summary.csv`` of a numbering (a row per domain) and their headings."""
_MANIFEST = "manifest.json"
_JOB = "job"


class BatchResult(Result):
    """The result of a batch or pipeline, as opened by :func:`foldnote.results.open_result`.

    Models, poses, structures and tables are those of all jobs, under the folders of their jobs; tables about
    them have ``job`` (str) as first column. ``scores`` and ``regions``, which only single jobs have, are
    empty; see :attr:`jobs`.
    """

    def __init__(
        self, archive: Archive, jobs: Iterable[str], name: str | None, origin: Mapping[str, Any] | None
    ) -> None:
        """Keep an open archive and the folders of its jobs."""
        super().__init__(archive, name, origin)
        self._jobs = Parts("jobs", jobs, lambda job: Result(JobArchive(archive, job), job))

    def __reduce__(self) -> tuple[type[Result], tuple[Any, ...]]:
        """Pickle only the archive, which is opened again where the result is loaded."""
        return type(self), (self.archive, tuple(self._jobs), self.name, self.origin)

    @property
    def jobs(self) -> Mapping[str, Result]:
        """The results of the jobs by name, in the order of the rows."""
        return self._jobs

    @property
    def pose_table(self) -> pd.DataFrame:
        """The poses of all jobs: ``job``, then the columns of a single job's table."""
        return self._stack(lambda job: job.pose_table)

    @property
    def contact_table(self) -> pd.DataFrame:
        """Contacts of each job's poses with its receptor: ``job``, then the columns of a job's own table."""
        return self._stack(lambda job: job.contact_table)

    @property
    def interaction_table(self) -> pd.DataFrame:
        """Typed interactions of each job's poses: ``job``, then the columns of a job's own table."""
        return self._stack(lambda job: job.interaction_table)

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """The scores of every score file, with ``job`` and ``file`` as first columns."""
        return self._stack(lambda job: job.score_table)

    @cached_property
    def scores(self) -> Mapping[str, Scalar]:
        """Empty: each job has its own scores, and the table of the batch has all."""
        return {}

    @cached_property
    def manifest(self) -> Manifest | None:
        """The values common to the manifests of all jobs; None if there are none."""
        own = [manifest.data for job in self.jobs.values() if (manifest := job.manifest) is not None]
        shared = share_contents(own) if len(own) == len(self.jobs) else {}
        return make_manifest(shared) if shared else None

    @cached_property
    def numbering(self) -> pd.DataFrame | None:
        """The antibody numbering of all jobs, with ``job`` as first column; None without one."""
        numberings = {name: job.numbering for name, job in self.jobs.items()}
        numbered = {name: frame for name, frame in numberings.items() if frame is not None}
        return stack_tables(numbered) if numbered else None

    @property
    def regions(self) -> tuple[Region, ...]:
        """Empty: regions belong to single jobs."""
        return ()

    def _read_table(self, name: str) -> pd.DataFrame:
        frame = super()._read_table(name)
        return remove_guards(frame) if TABLE.fullmatch(name) else frame

    def _stack(self, read_table_of: Callable[[Result], pd.DataFrame]) -> pd.DataFrame:
        return stack_tables({name: read_table_of(job) for name, job in self.jobs.items()})


def open_result(path: str | Path, name: str | None = None, origin: Mapping[str, Any] | None = None) -> Result:
    """Return the result at ``path``: a ZIP or tar archive, an unpacked folder, or a single file.

    The result of a batch or pipeline has those of its jobs in :attr:`Result.jobs`.

    Args:
        path: the archive, folder or file.
        name: name to show; by default the file's.
        origin: the client's data on the job for :meth:`Result.provenance`, as ``job.origin()`` returns them.

    Raises:
        ArchiveError: ``path`` does not exist, or the archive has no complete file or is not safe to read.
    """
    archive = open_archive(path)
    jobs = _list_jobs(archive)
    return BatchResult(archive, jobs, name, origin) if jobs else Result(archive, name, origin)


def _list_jobs(archive: Archive) -> tuple[str, ...]:
    names = [member.name for member in archive.members]
    table_name = find_batch_table(names)
    table = None
    if table_name is not None:
        with suppress(UnreadableFileError):  # the result itself reports it when it is read
            table = read_table(archive.read(table_name), table_name)
    return find_jobs(names, table)


class JobArchive(Archive):
    """A top-level folder of an archive, as an archive."""

    def __init__(self, whole: Archive, folder: str) -> None:
        """List the members below ``folder``, with names relative to it."""
        self._whole = whole
        self._prefix = f"{folder}/"
        inner = ((m.name, m.size_bytes) for m in whole.members if m.name.startswith(self._prefix))
        damaged = ((name, text) for name, text in whole.problems if name.startswith(self._prefix))
        cut = len(self._prefix)
        members = [Member(name[cut:], size) for name, size in inner]
        super().__init__(whole.path, members, [(name[cut:], text) for name, text in damaged])

    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a member's bytes."""
        return self._whole.open(self._prefix + name)


def find_batch_table(names: Iterable[str]) -> str | None:
    """Return the name of the table of a batch's jobs among the files of an archive; None without one."""
    return next((name for name in sorted(names, key=len) if TABLE.fullmatch(name)), None)


def find_jobs(names: Iterable[str], table: pd.DataFrame | None) -> tuple[str, ...]:
    """Return the folders of a batch's jobs in row order; empty for the archive of a single job.

    Args:
        names: names of the files in the archive.
        table: the service's table of the jobs. Without one, the jobs are the folders with a manifest, if
            there are several, in natural order.
    """
    files = list(names)
    folders = dict.fromkeys(path.parts[0] for path in map(PurePosixPath, files) if len(path.parts) > 1)
    if table is not None and JOB_COLUMN in table.columns:
        return tuple(name for name in table[JOB_COLUMN].astype(str) if name in folders)
    file_set = set(files)
    described = [folder for folder in folders if f"{folder}/{_MANIFEST}" in file_set]
    if _MANIFEST in file_set or len(described) < 2:
        return ()
    return tuple(sorted(described, key=structure_order))


def remove_guards(table: pd.DataFrame) -> pd.DataFrame:
    """Remove the apostrophes that keep spreadsheet programs from evaluating cells."""
    texts = [name for name in table.columns if pd.api.types.is_string_dtype(table[name])]
    bare = {name: table[name].str.replace(_GUARD, r"\1", regex=True) for name in texts}
    return table.assign(**bare)


def stack_tables(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Concatenate the tables of jobs, with the job's name (``job``, str) as first column.

    An index other than a RangeIndex becomes columns; an existing column ``job`` is renamed ``job_before``.
    """
    frames = []
    for job, table in tables.items():
        frame = table if isinstance(table.index, pd.RangeIndex) else table.reset_index()
        frame = frame.rename(columns={_JOB: f"{_JOB}_before"})
        frame.insert(0, _JOB, pd.Series([job] * len(frame), index=frame.index, dtype="str"))
        frames.append(frame)
    filled = [frame for frame in frames if len(frame)] or frames
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame({_JOB: pd.Series(dtype="str")})


def share_contents(contents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the keys and values that several JSON objects have in common, recursively."""
    if not contents:
        return {}
    first, *following = contents
    shared: dict[str, Any] = {}
    for key, value in first.items():
        values = [content.get(key) for content in following]
        if isinstance(value, Mapping) and all(isinstance(item, Mapping) for item in values):
            shared[key] = share_contents([value, *(item for item in values if isinstance(item, Mapping))])
        elif all(item == value and isinstance(item, type(value)) for item in values):
            shared[key] = value
    return shared


def read_figures(result: Result) -> dict[str, Any]:
    """Return the figures of one job for the table of its batch, which are those of an antibody numbering.

    They are chain type, species, germline genes and CDR sequences, by heading. Values of several domains or
    definitions are separated by ``; ``. Empty for other results, whose figures are their scores.
    """
    try:
        summary = result.tables.get("summary.csv") if result.regions else None
    except UnreadableFileError:
        summary = None
    figures: dict[str, Any] = {}
    for column, heading in _DOMAIN_FIGURES.items():
        if summary is not None and column in summary.columns:
            figures[heading] = "; ".join(summary[column].dropna().astype(str))
    for label, sequence in _list_cdrs(result):
        figures[label] = f"{figures[label]}; {sequence}" if label in figures else sequence
    return figures


def _list_cdrs(result: Result) -> Iterator[tuple[str, str]]:
    try:
        regions = result.regions
    except UnreadableFileError:
        return
    for region in regions:
        if region.is_cdr:
            yield region.label, region.sequence
