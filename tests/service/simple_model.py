"""A model of the service in a few dictionaries, which gives the same responses as simply as possible.

Jobs are stored by account and name; a batch is a job with rows. The runner's side calls `claim`, `finish`, `lose` and
`aggregate`; all other methods are requests of clients.
"""

from dataclasses import dataclass, field

QUEUED, RUNNING, COMPLETE, STOPPED = "In Queue", "Running", "Complete", "Stopped"
FINAL = (COMPLETE, STOPPED)


@dataclass
class ModelJob:
    name: str
    status: str = QUEUED
    parent: "ModelJob | None" = None
    rows: "list[ModelJob] | None" = None
    batch_status: str | None = None
    is_cancelled: bool = False
    is_deleted: bool = False
    is_failed: bool = False
    retries_left: int = 0
    stops_at_failure: bool = False
    """For a batch: whether its remaining jobs are skipped after a failure."""
    content: str | None = None
    """The content of the job's result."""
    archive: dict[str, str] | None = None
    """For a batch whose archive is built: the content of each subjob in it."""

    @property
    def living_rows(self) -> "list[ModelJob]":
        return [row for row in self.rows or [] if not row.is_deleted]


@dataclass
class Model:
    """The jobs of one account, oldest first, including deleted ones."""

    jobs: list[ModelJob] = field(default_factory=list)

    def find(self, name: str) -> ModelJob | None:
        return next((job for job in self.jobs if job.name == name and not job.is_deleted), None)

    def listed(self, *, has_subjobs: bool = False, batch: str | None = None) -> list[ModelJob]:
        """Return the jobs, newest first."""
        found = [job for job in self.jobs if not job.is_deleted]
        if batch is not None:
            parent = self.find(batch)
            found = [] if parent is None else parent.living_rows
        elif not has_subjobs:
            found = [job for job in found if job.parent is None]
        return found[::-1]

    # requests of clients

    def submit(self, name: str) -> bool:
        if self.find(name):
            return False
        self.jobs.append(ModelJob(name))
        return True

    def submit_batch(self, name: str, rows: list[str], retries: int, *, stops: bool) -> bool:
        if any(self.find(each) for each in (name, *rows)):
            return False
        parent = ModelJob(name, rows=[], batch_status=QUEUED, stops_at_failure=stops)
        parent.rows = [ModelJob(row, parent=parent, retries_left=retries) for row in rows]
        self.jobs += [parent, *parent.rows]
        return True

    def stop(self, name: str) -> bool:
        job = self.find(name)
        if job is None:
            return False
        for each in (job, *job.living_rows):
            if each.status == RUNNING and each.rows is None:
                each.is_cancelled = True
            elif each.status not in FINAL:
                self._end(each)
        self._follow(job.parent)
        return True

    def delete(self, name: str) -> bool:
        job = self.find(name)
        if job is None:
            return False
        for each in (job, *job.living_rows):
            each.is_deleted = True
            if each.status == QUEUED or (each.rows is not None and each.status not in FINAL):
                self._end(each)
            elif each.status == RUNNING:
                each.is_cancelled = True
        self._follow(job.parent)
        return True

    @staticmethod
    def _end(job: ModelJob) -> None:
        job.status = STOPPED
        if job.rows is not None:
            job.batch_status = STOPPED

    # events of runners

    def claim(self, job: ModelJob) -> None:
        job.status = RUNNING
        self._follow(job.parent)

    def finish(self, job: ModelJob, status: str, content: str | None) -> None:
        """Keep a stopped job stopped even if its run finished first; its result is kept."""
        if status == STOPPED and job.retries_left and not job.is_cancelled:
            job.status, job.retries_left = QUEUED, job.retries_left - 1
        else:
            job.status, job.content = STOPPED if job.is_cancelled else status, content
            job.is_failed = status == STOPPED
        self._follow(job.parent)

    def lose(self, job: ModelJob) -> None:
        job.status = QUEUED
        self._follow(job.parent)

    def aggregate(self) -> None:
        for job in self.jobs:
            if job.batch_status == "Aggregating" and not job.is_deleted:
                job.archive = self.contents(job) or None
                job.status = job.batch_status = COMPLETE if job.archive else STOPPED

    @staticmethod
    def contents(batch: ModelJob) -> dict[str, str]:
        return {row.name: row.content for row in batch.living_rows if row.content is not None}

    @staticmethod
    def _follow(parent: ModelJob | None) -> None:
        if parent is None or parent.is_deleted or parent.status in FINAL:
            return
        if parent.stops_at_failure and any(row.is_failed for row in parent.living_rows):
            for row in parent.living_rows:
                row.status = STOPPED if row.status == QUEUED else row.status
        statuses = [row.status for row in parent.living_rows]
        if QUEUED not in statuses and RUNNING not in statuses:
            parent.status, parent.batch_status = RUNNING, "Aggregating"
        elif set(statuses) == {QUEUED}:
            parent.status = parent.batch_status = QUEUED
        else:
            parent.status = parent.batch_status = RUNNING
