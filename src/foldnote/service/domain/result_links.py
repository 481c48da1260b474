"""Signed links for POST /result: to a job's archive, to one of its files, or to its structures."""

from __future__ import annotations

import tempfile
from pathlib import Path

from foldnote.models.status import BatchStatus, JobStatus
from foldnote.service.domain.batch_archives import Aggregator
from foldnote.service.domain.file_resolution import suggest_names
from foldnote.service.domain.requests import ResultRequest
from foldnote.service.faults import RefusalError, job_not_found, not_found
from foldnote.service.files import archives
from foldnote.service.files.links import LinkSigner, Target
from foldnote.service.files.objects import ObjectStore
from foldnote.service.store.jobs.jobs import JobRow
from foldnote.service.store.jobs.records import BATCH_TYPE
from foldnote.service.store.store import Store

SHARED = "share"
"""Holder of a link that was made through a share of the job."""


class PreparingError(Exception):
    """The batch's archive is being built."""


class ResultService:
    """Makes links to results; the content is stored before the link is made."""

    def __init__(self, store: Store, objects: ObjectStore, links: LinkSigner, aggregator: Aggregator) -> None:
        self._aggregator = aggregator
        self._store = store
        self._objects = objects
        self._links = links

    def link(self, reader: int, account_ids: tuple[int, ...], request: ResultRequest) -> str:
        """Make the path and query of a link for the account `reader` to a job of one of the accounts.

        Raises:
            PreparingError: the archive of the batch is being built.
            RefusalError: 400 while the job is unfinished, 404 without the job, its result or the file.
        """
        row = self._store.jobs.find(account_ids, request.job_name)
        if row is None:
            raise job_not_found(request.job_name)
        sha256 = self.find_result(row)
        name = f"{row['name']}.zip"
        try:
            if request.file_name is not None:
                name, sha256 = self._one_file(self._objects.path(sha256), request.file_name)
            elif request.pdbs_only:
                archive = self._objects.path(sha256)
                name, sha256 = f"{row['name']}-structures.zip", self._structures(archive)
        except archives.DamagedArchiveError as exc:
            raise damaged_result(row, exc) from exc
        return self.sign(row["id"], reader, sha256, name)

    def sign(self, job_id: int, reader: int, sha256: str, name: str) -> str:
        """Make the path and query of a link to a content of a job, for the account `reader`."""
        return self._links.sign(Target("job", str(job_id), reader, sha256, name))

    def sign_share(self, share_id: int, reader: int, row: JobRow) -> str:
        """Make the path and query of a link to the archive of a shared job, for the account `reader`.

        Raises:
            PreparingError: the archive of the batch is being built.
            RefusalError: 400 while the job is unfinished, 404 without a result.
        """
        sha256 = self.find_result(row)
        return self._links.sign(Target(SHARED, str(share_id), reader, sha256, f"{row['name']}.zip"))

    def find_result(self, row: JobRow) -> str:
        """Return the SHA-256 of a job's archive.

        Raises:
            PreparingError: the archive of the batch is being built.
            RefusalError: 400 while the job is unfinished, 404 without a result.
        """
        if row["batch_state"] == BatchStatus.AGGREGATING:
            raise PreparingError(row["name"])
        if not JobStatus(row["state"]).is_final:
            raise unfinished(row)
        sha256: str | None = row["result_sha256"]
        if sha256 is None and row["type"] == BATCH_TYPE:
            sha256 = self._find_partial(row)
        if sha256 is None or not self._objects.has(sha256):
            raise without_result(row)
        return sha256

    def _find_partial(self, row: JobRow) -> str | None:
        """Return the archive of a stopped batch's completed jobs; its last runs may still be ending."""
        counts = self._store.jobs.child_counts([row["account_id"]], row["id"]).statuses
        if counts[JobStatus.RUNNING] or counts[JobStatus.IN_QUEUE]:
            raise PreparingError(row["name"])
        return self._aggregator.build_partial(row["id"])

    def _one_file(self, archive: Path, requested: str) -> tuple[str, str]:
        member = archives.find_member(archive, requested)
        if member is None:
            sentence = f"The result has no file {requested[:200]!r}.{suggest_names(archive, requested)}"
            raise not_found(sentence, code="file_not_found", field="fileName")
        with self._objects.draft() as draft:
            archives.read_member(archive, member, draft.write)
            return member.rpartition("/")[2], draft.commit()

    def _structures(self, archive: Path) -> str:
        names = archives.structure_names(archive)
        if not names:
            raise not_found("The result has no structure files.", code="no_structures", field="pdbsOnly")
        with tempfile.TemporaryFile() as subset, self._objects.draft() as draft:
            archives.write_subset(archive, names, subset)
            subset.seek(0)
            while chunk := subset.read(archives.CHUNK):
                draft.write(chunk)
            return draft.commit()


def unfinished(row: JobRow) -> RefusalError:
    """Build the 400 with the job's status."""
    sentence = f"The job {row['name']!r} is unfinished: its status is {row['state']}."
    return RefusalError(400, "job_unfinished", sentence, field="jobName", more={"status": row["state"]})


def damaged_result(row: JobRow, error: archives.DamagedArchiveError) -> RefusalError:
    """Build the 404 for single files of a damaged archive, which can still be downloaded as a whole."""
    sentence = f"No file can be extracted from the result of {row['name']!r}: {error}. Run the job again."
    return RefusalError(404, "result_damaged", sentence, field="jobName")


def without_result(row: JobRow) -> RefusalError:
    """Build the 404 for a job that ended without any output."""
    if row["error"]:
        sentence = f"The job {row['name']!r} has no result. {row['error']}"
    else:
        sentence = f"The job {row['name']!r} ended with status {row['state']} and has no result."
    return RefusalError(404, "no_result", sentence, field="jobName", more={"status": row["state"]})
