"""Jobs as a list: rows with their verbs, a table in a cell, and a DataFrame.

The list keeps the records that the service gave; a row is made of one when somebody takes it, so that a list
of ten thousand costs no more than its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from foldnote.client.tables.frames import tabulate_jobs
from foldnote.models import Job, JobPage, StatusCounts

if TYPE_CHECKING:
    import pandas as pd

H = TypeVar("H")
G = TypeVar("G")


class JobList(Sequence[H]):
    """Jobs in the service's order, newest first; a slice of it is such a list too.

    ``page`` holds the records as the service gave them. Nothing here changes: a row looks again by its own
    ``refresh()``, and gives a new one.
    """

    def __init__(
        self,
        page: JobPage,
        hold: Callable[[Job], H],
        tabulate: Callable[[Iterable[Job]], pd.DataFrame] = tabulate_jobs,
    ) -> None:
        """Make rows of the records of ``page`` with ``hold``, and DataFrames of them with ``tabulate``."""
        self.page = page
        self._hold = hold
        self._tabulate = tabulate

    @property
    def start_key(self) -> str | None:
        """Continues the list after its last row; None where nothing follows."""
        return self.page.start_key

    @property
    def statuses(self) -> StatusCounts:
        """How many jobs the service counts in each status; some deployments count this page only."""
        return self.page.statuses

    @property
    def mark(self) -> str | None:
        """Stands for the state that the list tells of; ``since`` takes it. None unless it was asked for."""
        return self.page.mark

    def to_frame(self) -> pd.DataFrame:
        """The rows as a DataFrame; nothing is asked of the service.

        Returns:
            One row a job, with the columns of ``client.jobs.to_frame``, of a list of batches with those of
            ``client.batches.to_frame``.
        """
        return self._tabulate(self.page.jobs)

    def with_rows(self, convert: Callable[[H], G]) -> JobList[G]:
        """The same list with rows that ``convert`` makes of its own."""
        return JobList(self.page, lambda job: convert(self._hold(job)), self._tabulate)

    def __len__(self) -> int:
        return len(self.page.jobs)

    def __iter__(self) -> Iterator[H]:
        return map(self._hold, self.page.jobs)

    @overload
    def __getitem__(self, position: int) -> H: ...
    @overload
    def __getitem__(self, position: slice) -> JobList[H]: ...

    def __getitem__(self, position: int | slice) -> H | JobList[H]:
        if isinstance(position, slice):
            cut = self.page.model_copy(update={"jobs": self.page.jobs[position], "start_key": None})
            return JobList(cut, self._hold, self._tabulate)
        return self._hold(self.page.jobs[position])

    def __repr__(self) -> str:
        return repr(self.page)

    def _repr_html_(self) -> str:
        return self.page._repr_html_()

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        printer.text(repr(self))
