"""Saved pipelines, and the stages of running ones that wait for earlier stages."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.models.extensions import REUSE
from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.database import Database, has_any
from foldnote.service.store.events import write_event
from foldnote.service.store.jobs.batches import stop_waiting, update_parent_of_subjob
from foldnote.service.store.jobs.conditions import IS_HELD
from foldnote.service.store.jobs.insertion import Input, NewJob, SubjobPosition, input_rows, insert_jobs
from foldnote.service.store.jobs.records import refresh_record, write_text
from foldnote.service.store.jobs.reuse import reuse_result
from foldnote.service.store.quotas import Quotas, count_jobs
from foldnote.service.store.schema import inputs, jobs, pipelines


@dataclass(frozen=True)
class DoneStage:
    """A stage that precedes the waiting one; `error` says why it did not complete."""

    name: str
    state: str
    error: str | None
    normalized: str
    result_sha256: str | None
    is_deleted: bool


@dataclass(frozen=True)
class Variant:
    """One of a stage's jobs: its inputs, and by field the path that differs from other jobs of the stage.

    Attributes:
        digest: digest of everything that decides its result, see ``digest_stage``.
    """

    inputs: tuple[Input, ...]
    paths: Mapping[str, str]
    digest: str = ""


@dataclass(frozen=True)
class HeldStage:
    """A stage that can be started or ended; `inputs` are those known at the submission of the pipeline."""

    job_id: int
    account_id: int
    parent_id: int
    name: str
    batch: str
    stage: str
    row_index: int
    project_tag: str | None
    settings: str
    type: str
    normalized: str
    inputs: tuple[Input, ...]
    earlier: tuple[DoneStage, ...]
    extensions: str | None = None
    """JSON: what was submitted besides the settings; None for nothing."""


_IS_HELD = (IS_HELD, jobs.c.deleted.is_(None))
_before = jobs.alias()
_UNFINISHED = sa.select(_before.c.id).where(
    _before.c.parent_id == jobs.c.parent_id,
    _before.c.row_index < jobs.c.row_index,
    _before.c.state.in_([str(JobStatus.IN_QUEUE), str(JobStatus.RUNNING)]),
    _before.c.deleted.is_(None),
)
_ANY_HELD = f"SELECT 1 FROM jobs WHERE {IS_HELD} AND deleted IS NULL LIMIT 1"  # noqa: S608
_READY = sa.select(jobs).where(*_IS_HELD, ~sa.exists(_UNFINISHED)).order_by(jobs.c.id)


class PipelineStore:
    """Queries about pipelines."""

    def __init__(self, database: Database, quotas: Quotas) -> None:
        self._database = database
        self._quotas = quotas

    def save(self, account_id: int, name: str, stages: Sequence[Mapping[str, Any]]) -> None:
        """Save a pipeline, replacing one of the same name."""
        row = {"account_id": account_id, "name": name, "stages": write_text(stages), "created": clock.now()}
        statement = insert(pipelines).values(row)
        new = {"stages": statement.excluded.stages, "created": statement.excluded.created}
        with self._database.write(account_id) as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["account_id", "name"], set_=new)
            )
            write_event(connection, account_id, None, "pipeline saved", name)

    def find(self, account_id: int, name: str) -> list[dict[str, Any]] | None:
        """Return the stages of a saved pipeline, or None."""
        query = sa.select(pipelines.c.stages).where(
            pipelines.c.account_id == account_id, pipelines.c.name == name
        )
        with self._database.read() as connection:
            text = connection.execute(query).scalar_one_or_none()
        return None if text is None else list(json.loads(text))

    def ready(self) -> list[HeldStage]:
        """Return waiting stages whose preceding stages have all ended; called at the end of every job."""
        if not has_any(self._database, _ANY_HELD):
            return []
        with self._database.read() as connection:
            return [_read_held(connection, row) for row in connection.execute(_READY).mappings().all()]

    def release(self, held_stage: HeldStage, variants: Sequence[Variant], engine_version: str) -> bool:
        """Make a stage claimable with all its inputs; return False if it was stopped or deleted meanwhile.

        A stage with several variants becomes that many jobs at the same position of the pipeline. If the run
        reuses results, a job that an earlier stage has computed with this version of the engine is complete
        at once.

        Raises:
            QuotaError: the account may not have so many jobs; nothing is changed.
        """
        first, *others = variants
        with self._database.write(jobs=[held_stage.job_id]) as connection:
            values: dict[str, object] = {"is_held": 0, "message": None, "stage_digest": first.digest}
            if first.paths:
                values["settings"] = _with_paths(held_stage.settings, first)
                values["normalized"] = _with_paths(held_stage.normalized, first)
            statement = sa.update(jobs).where(jobs.c.id == held_stage.job_id, *_IS_HELD)
            if connection.execute(statement.values(values)).rowcount == 0:
                return False
            connection.execute(sa.delete(inputs).where(inputs.c.job_id == held_stage.job_id))
            if first.inputs:
                connection.execute(sa.insert(inputs), input_rows(held_stage.job_id, first.inputs))
            write_event(connection, held_stage.account_id, held_stage.job_id, "released")
            refresh_record(connection, held_stage.job_id)
            ids = [held_stage.job_id]
            if others:
                ids += self._add_variants(connection, held_stage, others)
            if _reuses(connection, held_stage.parent_id):
                for job_id, variant in zip(ids, variants, strict=True):
                    reuse_result(connection, held_stage.account_id, job_id, variant.digest, engine_version)
                update_parent_of_subjob(connection, held_stage.parent_id)
            return True

    def _add_variants(
        self, connection: sa.Connection, held_stage: HeldStage, variants: Sequence[Variant]
    ) -> list[int]:
        names = _free_names(connection, held_stage, len(variants))
        new = [
            NewJob(
                name,
                held_stage.type,
                json.loads(_with_paths(held_stage.settings, variant)),
                json.loads(_with_paths(held_stage.normalized, variant)),
                held_stage.project_tag,
                variant.inputs,
                stage=held_stage.stage,
                stage_digest=variant.digest,
                extensions=None if held_stage.extensions is None else json.loads(held_stage.extensions),
            )
            for name, variant in zip(names, variants, strict=True)
        ]
        ids = insert_jobs(
            connection,
            held_stage.account_id,
            new,
            position=SubjobPosition(held_stage.parent_id, held_stage.batch),
        )
        connection.execute(sa.update(jobs).where(jobs.c.id.in_(ids)).values(row_index=held_stage.row_index))
        grown = sa.update(jobs).where(jobs.c.id == held_stage.parent_id)
        connection.execute(grown.values(batch_size=jobs.c.batch_size + len(ids)))
        refresh_record(connection, held_stage.parent_id)
        count_jobs(connection, held_stage.account_id, len(ids), self._quotas)
        return ids

    def abandon(self, held_stage: HeldStage, error: str) -> None:
        """End a stage that can no longer start."""
        with self._database.write(jobs=[held_stage.job_id]) as connection:
            query = sa.select(jobs.c.id).where(jobs.c.id == held_stage.job_id, *_IS_HELD)
            if connection.execute(query).first() is not None:
                stop_waiting(
                    connection, held_stage.account_id, held_stage.parent_id, [held_stage.job_id], error=error
                )
                update_parent_of_subjob(connection, held_stage.parent_id)


def _reuses(connection: sa.Connection, parent_id: int) -> bool:
    """Return whether the run of a pipeline reuses results of earlier stages."""
    query = sa.select(jobs.c.extensions).where(jobs.c.id == parent_id)
    return bool(json.loads(connection.execute(query).scalar_one() or "{}").get(REUSE))


def _with_paths(settings: str, variant: Variant) -> str:
    """Return the settings with the reference replaced by the variant's paths."""
    return write_text(json.loads(settings) | variant.paths)


def _free_names(connection: sa.Connection, held_stage: HeldStage, count: int) -> list[str]:
    """Return names for the additional jobs of a stage: its own name with the first free numbers."""
    stem = held_stage.name[:95]
    numbers = itertools.count(2)
    names: list[str] = []
    while len(names) < count:
        candidates = [f"{stem}-{number}" for number in itertools.islice(numbers, count + 100)]
        query = sa.select(jobs.c.name).where(
            jobs.c.account_id == held_stage.account_id, jobs.c.deleted.is_(None), jobs.c.name.in_(candidates)
        )
        used = set(connection.execute(query).scalars())
        names += [name for name in candidates if name not in used]
    return names[:count]


def _read_held(connection: sa.Connection, row: sa.RowMapping) -> HeldStage:
    own = sa.select(inputs).where(inputs.c.job_id == row["id"]).order_by(inputs.c.field, inputs.c.position)
    before = (jobs.c.parent_id == row["parent_id"], jobs.c.row_index < row["row_index"])
    earlier = connection.execute(
        sa.select(jobs).where(*before).order_by(jobs.c.row_index, jobs.c.id)
    ).mappings()
    return HeldStage(
        job_id=row["id"],
        account_id=row["account_id"],
        parent_id=row["parent_id"],
        name=row["name"],
        batch=row["batch"],
        stage=row["stage"],
        row_index=row["row_index"],
        project_tag=row["project_tag"],
        settings=row["settings"],
        type=row["type"],
        normalized=row["normalized"],
        inputs=tuple(Input(each.field, each.name, each.sha256) for each in connection.execute(own)),
        earlier=tuple(_read_done(each) for each in earlier),
        extensions=row["extensions"],
    )


def _read_done(row: sa.RowMapping) -> DoneStage:
    return DoneStage(
        name=row["stage"],
        state=row["state"],
        error=row["error"],
        normalized=row["normalized"],
        result_sha256=row["result_sha256"],
        is_deleted=row["deleted"] is not None,
    )
