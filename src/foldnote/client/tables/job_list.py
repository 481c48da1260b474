"""A list of jobs: handles, a table in a cell, or a DataFrame.

The list stores records; a handle is created when an item is accessed, so that a list of ten thousand jobs
costs no more than its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from foldnote.client.tables.frames import tabulate_jobs
from foldnote.models import Job, JobPage, StatusCounts

if TYPE_CHECKING:
    import pandas as pd

H = TypeVar("H")
G = TypeVar("G")


class JobList(Sequence[H]):
    """Jobs in the service's order, newest first; slicing returns another ``JobList``.

    ``page`` holds the records as the service returned them. The list is immutable; ``refresh()`` of a handle
    returns a new handle.
    """

    def __init__(
        self,
        page: JobPage,
        make_handle: Callable[[Job], H],
        tabulate: Callable[[Iterable[Job]], pd.DataFrame] = tabulate_jobs,
    ) -> None:
        """Wrap ``page``; ``make_handle`` makes a handle of a record, ``tabulate`` a DataFrame of records."""
        self.page = page
        self._make_handle = make_handle
        self._tabulate = tabulate

    @property
    def start_key(self) -> str | None:
        """Pass it to ``list`` to get the next jobs; None if there are no more."""
        return self.page.start_key

    @property
    def statuses(self) -> StatusCounts:
        """Number of jobs in each status, as counted by the service; some deployments count only this page."""
        return self.page.statuses

    @property
    def mark(self) -> str | None:
        """Mark of the listed state, for ``since``; None unless requested."""
        return self.page.mark

    def to_frame(self) -> pd.DataFrame:
        """Convert the list to a DataFrame, without a request.

        Returns:
            One row per job, with the columns of ``client.jobs.to_frame``; for a list of batches, those of
            ``client.batches.to_frame``.
        """
        return self._tabulate(self.page.jobs)

    def with_rows(self, convert: Callable[[H], G]) -> JobList[G]:
        """Return the same list with ``convert`` applied to each handle on access."""
        return JobList(self.page, partial(_convert_handle, convert, self._make_handle), self._tabulate)

    def __len__(self) -> int:
        return len(self.page.jobs)

    def __iter__(self) -> Iterator[H]:
        return map(self._make_handle, self.page.jobs)

    @overload
    def __getitem__(self, position: int) -> H: ...
    @overload
    def __getitem__(self, position: slice) -> JobList[H]: ...

    def __getitem__(self, position: int | slice) -> H | JobList[H]:
        if isinstance(position, slice):
            cut = self.page.model_copy(update={"jobs": self.page.jobs[position], "start_key": None})
            return JobList(cut, self._make_handle, self._tabulate)
        return self._make_handle(self.page.jobs[position])

    def __repr__(self) -> str:
        return repr(self.page)

    def _repr_html_(self) -> str:
        return self.page._repr_html_()

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        printer.text(repr(self))


def _convert_handle(convert: Callable[[H], G], make_handle: Callable[[Job], H], job: Job) -> G:
    return convert(make_handle(job))
