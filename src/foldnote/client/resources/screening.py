"""Virtual screening: one receptor and many ligands, one job per ligand, ranked by a score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from foldnote.client.core.connection import Resource, ServiceConnection
from foldnote.client.core.job_pages import list_many
from foldnote.client.core.operations import AsyncApi, Operation, Run, SyncApi, operation
from foldnote.client.inputs.file_values import doubt_texts, find_elsewhere
from foldnote.client.inputs.plain_values import make_plain
from foldnote.client.local.identity import identify, uploads_in
from foldnote.client.local.ledger import Ledger
from foldnote.client.resources.batches import AsyncBatchHandle, BatchHandle, BatchHandleOperations
from foldnote.client.submission.idempotency import Post, submit_once
from foldnote.errors import SettingsError
from foldnote.models import BatchStatus, Job, JobStatus, Problem, check_job_name, propose_job_name
from foldnote.text import count

B = TypeVar("B", bound=BatchHandleOperations[Any])
_TYPE = "virtual-screening"
_RECEPTOR, _LIGAND = "receptorFile", "ligandFile"


@dataclass(frozen=True)
class _Screening:
    """A screening to submit."""

    receptor: str
    ligands: list[str]
    tool: str | None
    settings: dict[str, Any]
    rank_by: str
    names: list[str] | None

    def to_wire(self, batch_name: str, project_tag: str | None) -> dict[str, Any]:
        """Return the body of POST /virtual-screening."""
        optional = {"tool": self.tool, "jobNames": self.names, "projectTag": project_tag}
        body = {
            "batchName": batch_name,
            "receptor": self.receptor,
            "ligands": self.ligands,
            "settings": self.settings,
            "rankBy": self.rank_by,
        }
        return body | {name: value for name, value in optional.items() if value is not None}


class ScreeningsOperations(Resource, Generic[B]):
    """POST /virtual-screening."""

    _handle: type[B]

    def _make_handle(self, job: Job) -> B:
        """Make a batch handle of this API (sync or async)."""
        return self._handle(job, self._connection, self._transport)

    @operation
    def submit(
        self,
        receptor: str,
        ligands: Sequence[str],
        *,
        tool: str | None = None,
        settings: Mapping[str, Any] | None = None,
        rank_by: str = "affinity",
        batch_name: str | None = None,
        names: Sequence[str] | None = None,
        project_tag: str | None = None,
        again: bool = False,
    ) -> Operation[B]:
        """Submit a screening, unless the same one was submitted before; returns its batch.

        The batch's archive contains ``ranking.csv``, with the lowest score first.

        Args:
            receptor: value of a file field: ``fn.upload(path)``, ``job.file(path)`` …
            ligands: values of a file field; each becomes a job.
            tool: a docking tool; by default the first that runs at the service.
            settings: further settings of every job.
            rank_by: the score to rank by, lowest first.
            batch_name: name of the batch; by default derived from receptor, ligands and settings.
            names: names of the jobs, in the order of ``ligands``.
            project_tag: identifier of a project.
            again: submit a new batch even if the same screening was submitted before.

        Raises:
            SettingsError: there are no ligands, a name is invalid, or a file name is ambiguous.
            JobNameTakenError: the name belongs to another job; the message shows the difference.
            RestrictedRouteError: the key is an unclaimed trial key.
            ServiceError: the service refused; ``row`` is the index of the ligand.
            TransportError: no answer was received, and the service does not have the batch.
        """
        if isinstance(ligands, str) or not isinstance(ligands, Iterable):
            message = "Give a list of ligands, each a separate file, such as fn.upload(path)."
            raise SettingsError([Problem(field="ligands", message=message)])
        screening = _Screening(
            receptor,
            list(ligands),
            tool,
            make_plain(settings or {}),
            rank_by,
            None if names is None else list(names),
        )
        _check(screening, batch_name, self._connection.service)
        name = batch_name or (yield Run(lambda: _propose(self.ledger, screening)))

        def find_differences(job: Job) -> Operation[list[str]]:
            return (yield from _compare(self._connection, job, screening))

        body = screening.to_wire(name, project_tag)
        post = Post("/virtual-screening", body, name, "batchName", find_differences)
        posted = yield from submit_once(self._connection, post, again=again)
        return self._make_handle(posted.job or _make_batch_job(posted.name, screening, posted.answer))


def _check(screening: _Screening, batch_name: str | None, service: str) -> None:
    files = {"receptor": screening.receptor}
    files |= {f"ligands[{row}]": ligand for row, ligand in enumerate(screening.ligands)}
    problems = [doubt for field, value in files.items() for doubt in doubt_texts(field, value)]
    problems += find_elsewhere({**files, "settings": screening.settings}, service)
    if not screening.ligands:
        problems.append(
            Problem(field="ligands", message="A screening needs at least one ligand.", code="required")
        )
    fault = check_job_name(batch_name) if batch_name is not None else None
    if fault:
        problems.append(Problem(field="batchName", message=fault, code="job_name"))
    if screening.names is not None and len(screening.names) != len(screening.ligands):
        message = (
            f"There are {count(len(screening.names), 'name')} for {count(len(screening.ligands), 'ligand')}."
        )
        problems.append(Problem(field="jobNames", message=message, code="job_name"))
    if problems:
        raise SettingsError(problems)


def _propose(ledger: Ledger, screening: _Screening) -> str:
    content = screening.to_wire("", None)
    identity = identify(_TYPE, content, None, uploads_in(content, ledger))
    return propose_job_name(screening.tool or _TYPE, identity)


def _make_batch_job(name: str, screening: _Screening, answer: Any) -> Job:
    tool_type = answer.get("type") if isinstance(answer, Mapping) else None
    return Job(
        job_name=name,
        type="batch",
        tool=tool_type if isinstance(tool_type, str) else screening.tool,
        status=JobStatus.IN_QUEUE,
        batch_status=BatchStatus.IN_QUEUE,
        batch_size=len(screening.ligands),
    )


def _compare(connection: ServiceConnection, job: Job, screening: _Screening) -> Operation[list[str]]:
    """List how an existing job differs, as far as the service reports its settings."""
    if not job.is_batch:
        return ["that is a single job"]
    if screening.tool and job.tool and job.tool != screening.tool:
        return [f"that batch runs the tool {job.tool}, this one {screening.tool}"]
    if job.batch_size is not None and job.batch_size != len(screening.ligands):
        return [f"that batch has {job.batch_size} ligands, this one {len(screening.ligands)}"]
    newest_first = yield from list_many(connection, {"batch": job.job_name}, len(screening.ligands) + 1)
    wanted = [
        {**screening.settings, _RECEPTOR: screening.receptor, _LIGAND: ligand} for ligand in screening.ligands
    ]
    found = []
    for subjob, settings in zip(newest_first[::-1], wanted, strict=False):
        kept = subjob.settings
        if kept and _strip_ligand(kept) != _strip_ligand(settings):
            names = [name for name in settings if kept.get(name) != settings[name]]
            found.append(f"{subjob.job_name}: {', '.join(names) or 'further settings'} differ")
    return found


def _strip_ligand(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Strip white space around the ligand in the settings: a service adds a line end to a bare SMILES."""
    ligand = settings.get(_LIGAND)
    return {**settings, _LIGAND: ligand.strip() if isinstance(ligand, str) else ligand}


class Screenings(SyncApi, ScreeningsOperations[BatchHandle]):
    """Virtual screenings (synchronous)."""

    _handle = BatchHandle


class AsyncScreenings(AsyncApi, ScreeningsOperations[AsyncBatchHandle]):
    """Virtual screenings (asynchronous)."""

    _handle = AsyncBatchHandle
