"""Batches: many jobs of one tool, submitted together, watched as one, fetched as one archive."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from foldnote.client import batching, waiting
from foldnote.client.effects import AsyncFace, AsyncWorld, Run, Steps, SyncFace, World, operation
from foldnote.client.frames import tabulate_batch
from foldnote.client.handle import HandleSteps
from foldnote.client.ledger import Ledger
from foldnote.client.link import Link
from foldnote.client.resource import Resource
from foldnote.client.tools import recall_tool
from foldnote.errors import NotFoundError
from foldnote.models import Job, Tool

if TYPE_CHECKING:
    import pandas as pd

B = TypeVar("B")
_MOST_SUBJOBS = 1_000_000


class BatchHandleSteps(HandleSteps):
    """What can be done with a batch; it is final when its archive is built, or nothing is left to build."""

    @operation
    def subjobs(self) -> Steps[list[Job]]:
        """The records of the batch's jobs, in the order of their rows."""
        return (yield from _list_subjobs(self._link, self.job_name))

    @operation
    def to_frame(self) -> Steps[pd.DataFrame]:
        """The batch's jobs with what went in and what came out.

        Returns:
            One row a subjob, in the order of the batch's rows, with the columns of ``client.jobs.to_frame``,
            then ``settings.NAME`` (as submitted) and ``score.NAME`` (figures of the result; missing where a
            job has none), units as the tool has them.
        """
        found = yield from _list_subjobs(self._link, self.job_name)
        frame: pd.DataFrame = yield Run(lambda: tabulate_batch(found))
        return frame


class BatchHandle(SyncFace, BatchHandleSteps):
    """A batch; each operation returns when it is done."""

    def __init__(self, record: Job, link: Link, world: World) -> None:
        self.record, self._link, self._world = record, link, world


class AsyncBatchHandle(AsyncFace, BatchHandleSteps):
    """A batch; each operation is awaited."""

    def __init__(self, record: Job, link: Link, world: AsyncWorld) -> None:
        self.record, self._link, self._world = record, link, world


class BatchesSteps(Resource, Generic[B]):
    """POST /submit-batch, and the batches among the jobs."""

    ledger: Ledger

    @abstractmethod
    def _hold(self, job: Job) -> B:
        """The batch in the hand, with this face's kind of operations."""

    @operation
    def submit(
        self,
        tool: str | Tool,
        rows: Sequence[batching.Row],
        batch_name: str | None = None,
        names: Sequence[str] | None = None,
        *,
        project_tag: str | None = None,
    ) -> Steps[B]:
        """The batch that these rows are: the one that they became before, or a new one.

        Every row is judged before any is submitted, here and by the service.

        Args:
            tool: the tool or its type.
            rows: the settings of each job.
            batch_name: the wished name of the batch; by default one is derived from tool and rows.
            names: names of the jobs, in the order of ``rows``; by default the batch's name and a number.
            project_tag: identifier of a project.

        Raises:
            UnknownToolError: the service has no such tool.
            ToolUnavailableError: the service cannot run it; the message says what to do.
            BatchSettingsError: rows break a rule; its ``to_frame()`` has the verdict on each row.
            SettingsError: a name breaks a rule, or the service refuses the batch as a whole.
            JobNameTakenError: the name belongs to something else; the message shows the difference.
            ProtocolError: the service left a row without a verdict.
            ServiceError: the service refused.
            TransportError: no answer came, and the service does not know the batch.
        """
        known = tool if isinstance(tool, Tool) else (yield from recall_tool(self._link, tool))
        attempt = yield Run(
            lambda: batching.prepare(self.ledger, known, rows, batch_name, names, project_tag)
        )
        return self._hold((yield from batching.submit_batch(self._link, self.ledger, attempt)))

    @operation
    def get(self, batch_name: str) -> Steps[B]:
        """One batch by its name.

        Raises:
            NotFoundError: there is no such batch.
        """
        job = yield from waiting.get_job(self._link, batch_name)
        if not job.is_batch:
            raise NotFoundError(f"{batch_name!r} is a single job, no batch.", status=404)
        return self._hold(job)


def _list_subjobs(link: Link, batch_name: str) -> Steps[list[Job]]:
    newest_first = yield from waiting.list_many(link, {"batch": batch_name}, _MOST_SUBJOBS)
    return newest_first[::-1]


class Batches(SyncFace, BatchesSteps[BatchHandle]):
    """Batches; each operation returns when it is done."""

    def __init__(self, link: Link, world: World) -> None:
        self._link, self._world = link, world
        self.ledger = Ledger(service=link.service)

    def _hold(self, job: Job) -> BatchHandle:
        return BatchHandle(job, self._link, self._world)


class AsyncBatches(AsyncFace, BatchesSteps[AsyncBatchHandle]):
    """Batches; each operation is awaited."""

    def __init__(self, link: Link, world: AsyncWorld) -> None:
        self._link, self._world = link, world
        self.ledger = Ledger(service=link.service)

    def _hold(self, job: Job) -> AsyncBatchHandle:
        return AsyncBatchHandle(job, self._link, self._world)
