"""Validate submissions and insert jobs into the queue.

`validate` returns the verdict that `submit` would give, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from foldnote import catalog
from foldnote.models.extensions import WIRE_NAME
from foldnote.models.names import check_job_name
from foldnote.models.problem import Problem
from foldnote.models.tool import Tool
from foldnote.service.config import Limits
from foldnote.service.domain.access.allowance import Allowance
from foldnote.service.domain.access.storage import StorageService
from foldnote.service.domain.extensions import (
    RunCheck,
    read_extensions,
    without_batch_parts,
)
from foldnote.service.domain.file_resolution import FileResolver, ResolvedFile
from foldnote.service.domain.requests import BatchSubmission, Extensions, JobPayload, JobSubmission
from foldnote.service.domain.tool_registry import UNAVAILABLE, Toolbox
from foldnote.service.domain.webhooks.webhook_rules import WebhookRules, too_many_webhooks
from foldnote.service.faults import RefusalError, bad_request
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.insertion import (
    NameTakenError,
    NewJob,
    NewWebhook,
    TooManyWebhooksError,
)
from foldnote.service.store.quotas import TRIAL, BudgetError, QuotaError
from foldnote.service.store.store import Store
from foldnote.text import describe_path


@dataclass(frozen=True)
class CheckedSettings:
    """Validated settings: their problems, their normalised form, and their files."""

    problems: tuple[Problem, ...]
    normalized: Mapping[str, Any]
    missing_fields: tuple[str, ...]
    located: tuple[ResolvedFile, ...] = ()
    extensions: Mapping[str, Any] | None = None
    """Extensions besides the settings; None for none."""
    webhook: NewWebhook | None = None
    """Webhook of a single job."""


class Intake:
    """Validates submissions and inserts jobs.

    Args:
        wake: called after every commit.
        storage: storage limits of accounts.
        webhooks: URLs that may be called at the end of a job.
        limits: maximum rows of a batch and of one validation.
        allowance: limit of free-energy submissions with unclaimed keys.
    """

    def __init__(
        self,
        store: Store,
        toolbox: Toolbox,
        files: FileResolver,
        wake: Callable[[], None],
        storage: StorageService,
        webhooks: WebhookRules,
        *,
        limits: Limits,
        allowance: Allowance,
    ) -> None:
        self._store = store
        self._toolbox = toolbox
        self._files = files
        self._wake = wake
        self._storage = storage
        self._webhooks = webhooks
        self._limits = limits
        self._allowance = allowance

    def submit(self, caller: Caller, submission: JobSubmission) -> None:
        """Commit the job to the queue.

        Raises:
            RefusalError: 400 naming the invalid field, 403 above a limit of the account.
        """
        require_name(submission.job_name)
        tool = self._toolbox.find(submission.type)
        job = self._make_job(
            caller, tool, submission.job_name, submission.settings, foldnote=submission.foldnote
        )
        job = replace(
            job,
            project_tag=submission.project_tag,
            max_runtime_s=submission.max_runtime_seconds,
        )
        with self._report_taken_names_first(caller, [("jobName", None, job.name)]):
            self._allowance.require(caller, tool, [job])
        self._require_runnable(tool, [job])
        with refusals("jobName"):
            self._store.jobs.add(caller.account_id, job)
        self._wake()

    def submit_batch(
        self, caller: Caller, batch: BatchSubmission, about: Mapping[str, Any] | None = None
    ) -> list[str]:
        """Commit a parent and its subjobs in one transaction; return the subjobs' names.

        `about` becomes the settings of the parent.

        Raises:
            RefusalError: 400 naming the invalid field and row, 403 above a limit of the account.
        """
        require_name(batch.batch_name, "batchName")
        require_rows(batch.settings, self._limits.batch_rows)
        names = batch.job_names or make_names(batch.batch_name, len(batch.settings))
        _require_names(names, len(batch.settings))
        webhook = self._webhooks.choose(caller, batch.foldnote)
        tool = self._toolbox.find(batch.type)
        limit_s = batch.max_runtime_seconds
        rows = [
            replace(
                self._make_job(caller, tool, name, settings, row=row, foldnote=batch.foldnote),
                max_runtime_s=limit_s,
                project_tag=batch.project_tag,
            )
            for row, (name, settings) in enumerate(zip(names, batch.settings, strict=True))
        ]
        requested_names = [("jobNames", row, name) for row, name in enumerate(names)]
        with self._report_taken_names_first(
            caller, [("batchName", None, batch.batch_name), *requested_names]
        ):
            self._allowance.require(caller, tool, rows)
        self._require_runnable(tool, rows, has_rows=True)
        settings, batch_extensions = about or {}, rows[0].extensions
        rows = [replace(row, extensions=without_batch_parts(row.extensions)) for row in rows]
        parent = NewJob(
            batch.batch_name,
            batch.type,
            settings,
            settings,
            batch.project_tag,
            extensions=batch_extensions,
            webhook=webhook,
        )
        with refusals("batchName"):
            hours = batch.weighted_hours_budget
            self._store.jobs.add_batch(caller.account_id, parent, rows, hours_budget=hours)
        self._wake()
        return names

    def _require_runnable(self, tool: Tool, jobs: Sequence[NewJob], *, has_rows: bool = False) -> None:
        """Refuse jobs that cannot run here, or for which their engine needs the user's consent."""
        check = RunCheck(tool, self._toolbox)
        for row, job in enumerate(jobs):
            try:
                check.require_runnable(job.normalized, job.extensions)
            except RefusalError as refusal:
                if has_rows and refusal.code != UNAVAILABLE:
                    refusal.row = row
                raise

    @contextmanager
    def _report_taken_names_first(
        self, caller: Caller, names: Sequence[tuple[str, int | None, str]]
    ) -> Iterator[None]:
        """Report a taken name (400) before an exceeded allowance (403)."""
        try:
            yield
        except RefusalError:
            for field, row, name in names:
                if self._store.jobs.find([caller.account_id], name) is not None:
                    raise name_taken(NameTakenError(name, row), field) from None
            raise

    def validate(self, caller: Caller, payload: JobPayload) -> dict[str, Any]:
        """Validate one job or every row of a batch; return the verdict."""
        try:
            tool = self._toolbox.find(payload.type)
            if isinstance(payload.settings, list):
                return self._validate_rows(caller, tool, payload, payload.settings)
            if payload.job_name is not None:
                require_name(payload.job_name)
        except RefusalError as refusal:
            return {"valid": False, "error": refusal.sentence, "field": refusal.field, "missingFields": []}
        checked = self._check_with_engine(caller, tool, payload.settings, payload.foldnote)
        if checked.problems:
            missing = list(checked.missing_fields)
            return {"valid": False, **_first_problem(checked, payload.settings), "missingFields": missing}
        echo = {"type": tool.type, "settings": dict(checked.normalized)}
        if checked.extensions:
            echo["foldnote"] = dict(checked.extensions)
        head = {} if payload.job_name is None else {"jobName": payload.job_name}
        tail = {} if payload.project_tag is None else {"projectTag": payload.project_tag}
        return {"valid": True, "normalized": head | echo | tail}

    def _validate_rows(
        self, caller: Caller, tool: Tool, payload: JobPayload, rows: list[Any]
    ) -> dict[str, Any]:
        require_rows(rows, self._limits.validation_rows)
        if payload.batch_name is not None:
            require_name(payload.batch_name, "batchName")
        if payload.job_names is not None:
            _require_names(payload.job_names, len(rows))
        self._webhooks.choose(caller, payload.foldnote)
        results = [
            self._validate_row(caller, tool, index, row, payload.foldnote) for index, row in enumerate(rows)
        ]
        valid_count = sum(bool(result["valid"]) for result in results)
        return {
            "valid": valid_count == len(rows),
            "count": len(rows),
            "valid_count": valid_count,
            "results": results,
        }

    def _validate_row(
        self, caller: Caller, tool: Tool, index: int, row: Any, foldnote: Extensions | None
    ) -> dict[str, Any]:
        if not isinstance(row, dict):
            error = "Each element of settings must be an object."
            return {"index": index, "valid": False, "error": error, "field": f"settings.{index}"}
        checked = self._check_with_engine(caller, tool, row, foldnote, is_batch=True)
        if checked.problems:
            return {"index": index, "valid": False, **_first_problem(checked, row)}
        normalized = {"type": tool.type, "settings": dict(checked.normalized)}
        return {"index": index, "valid": True, "normalized": normalized}

    def _check(
        self,
        caller: Caller,
        tool: Tool,
        settings: Mapping[str, Any],
        foldnote: Extensions | None,
        *,
        is_batch: bool = False,
    ) -> CheckedSettings:
        """Check settings, files and extensions."""
        check = catalog.check(tool, settings)
        if check.problems:
            return CheckedSettings(tuple(check.problems), check.normalized, tuple(check.missing_fields))
        located, problems = self._files.locate(caller, tool, check.normalized)
        if problems:
            return CheckedSettings(tuple(problems), check.normalized, ())
        try:
            extensions = read_extensions(foldnote, tool, self._toolbox, is_batch=is_batch)
            webhook = None if is_batch else self._webhooks.choose(caller, foldnote)
        except RefusalError as refusal:
            return CheckedSettings((_as_problem(refusal),), check.normalized, ())
        alignment = self._files.locate_alignment(caller, extensions)
        if isinstance(alignment, Problem):
            return CheckedSettings((alignment,), check.normalized, ())
        inputs = (*located, *alignment)
        return CheckedSettings((), check.normalized, (), inputs, extensions, webhook)

    def _check_with_engine(
        self,
        caller: Caller,
        tool: Tool,
        settings: Mapping[str, Any],
        foldnote: Extensions | None,
        *,
        is_batch: bool = False,
    ) -> CheckedSettings:
        """Check a job, and whether its engine, if installed, would refuse it."""
        checked = self._check(caller, tool, settings, foldnote, is_batch=is_batch)
        if checked.problems or not self._toolbox.can_run(tool.type):
            return checked
        refusal = RunCheck(tool, self._toolbox).find_refusal(checked.normalized, checked.extensions)
        return checked if refusal is None else replace(checked, problems=(_as_problem(refusal),))

    def _make_job(
        self,
        caller: Caller,
        tool: Tool,
        name: str,
        settings: Mapping[str, Any],
        *,
        row: int | None = None,
        foldnote: Extensions | None = None,
    ) -> NewJob:
        checked = self._check(caller, tool, settings, foldnote, is_batch=row is not None)
        if checked.problems:
            first = checked.problems[0]
            is_shared = first.field.startswith(f"{WIRE_NAME}.")
            at = None if is_shared else row
            raise bad_request(problem_sentence(first, settings), code=first.code, field=first.field, row=at)
        if not row:
            self._storage.require(caller.account_id, caller.tier)
        inputs = tuple(self._files.store_input(located) for located in checked.located)
        return NewJob(
            name,
            tool.type,
            settings,
            checked.normalized,
            inputs=inputs,
            extensions=checked.extensions,
            webhook=checked.webhook,
        )


def require_rows(rows: Sequence[Any], most: int, field: str = "settings") -> None:
    """Check the number of rows of a batch.

    Raises:
        RefusalError: 400, stating their number.
    """
    if not 1 <= len(rows) <= most:
        sentence = f"A batch must have 1 to {most} rows; this one has {len(rows)}."
        raise bad_request(sentence, code="batch_size", field=field)


@contextmanager
def refusals(name_field: str) -> Iterator[None]:
    """Convert the store's errors (taken names, exceeded limits) to refusals."""
    try:
        yield
    except NameTakenError as exc:
        raise name_taken(exc, name_field if exc.row is None else "jobNames") from exc
    except QuotaError as exc:
        raise job_limit_reached(exc) from exc
    except BudgetError as exc:
        raise budget_exceeded(exc) from exc
    except TooManyWebhooksError as exc:
        raise too_many_webhooks(exc) from exc


def budget_exceeded(error: BudgetError) -> RefusalError:
    """Build the 403 for an account whose organization has used its weighted hours."""
    sentence = (
        f"Your organization has used {error.spent:.4g} of its {error.budget:g} weighted hours of this month."
        " Ask the administrator of the service, or wait for the next month."
    )
    fields = {"spentWeightedHours": error.spent, "budgetWeightedHours": error.budget}
    return RefusalError(403, "budget_exceeded", sentence, more=fields)


def job_limit_reached(error: QuotaError) -> RefusalError:
    """Build the 403 for an account that has reached its limit of jobs."""
    if error.tier == TRIAL:
        sentence = (
            f"An unclaimed key has {error.allowed} jobs, of which {error.used} are used. Claim the account"
            " with the link that was issued with the key."
        )
    else:
        sentence = (
            f"The account is limited to {error.allowed} jobs per calendar month; {error.used} are used."
        )
    fields = {"jobsAllowed": error.allowed, "jobsUsed": error.used, "jobsWanted": error.wanted}
    return RefusalError(403, "job_limit_reached", sentence, more=fields)


def name_taken(error: NameTakenError, field: str) -> RefusalError:
    """Build the 400 for a name that the account already uses."""
    sentence = f"You already have a job named {error.name!r}. Choose another name, or delete that job."
    return bad_request(sentence, code="job_name_taken", field=field, row=error.row)


def make_names(batch_name: str, count: int) -> list[str]:
    """Return default names of a batch's subjobs: the batch's name and a number."""
    width = len(str(count))
    stem = batch_name[: 100 - width - 1]
    return [f"{stem}-{number:0{width}d}" for number in range(1, count + 1)]


def _as_problem(refusal: RefusalError) -> Problem:
    return Problem(field=refusal.field or "", message=refusal.sentence, code=refusal.code)


def problem_sentence(problem: Problem, settings: Mapping[str, Any]) -> str:
    """Format a problem with its field's name as one sentence; items of lists are counted from 1."""
    path = describe_path(problem.field, settings)
    return f"{path}: {problem.message}" if problem.field else problem.message


def _first_problem(checked: CheckedSettings, settings: Mapping[str, Any]) -> dict[str, Any]:
    first = checked.problems[0]
    return {"error": problem_sentence(first, settings), "field": first.field}


def require_name(name: str, field: str = "jobName", row: int | None = None) -> None:
    """Check that a name is valid.

    Raises:
        RefusalError: 400 if the name is invalid.
    """
    fault = check_job_name(name)
    if fault:
        raise bad_request(fault, code="invalid_job_name", field=field, row=row)


def _require_names(names: Sequence[str], count: int) -> None:
    if len(names) != count:
        sentence = f"jobNames has {len(names)} names for {count} rows of settings."
        raise bad_request(sentence, code="batch_size", field="jobNames")
    seen: set[str] = set()
    for row, name in enumerate(names):
        require_name(name, "jobNames", row)
        if name in seen:
            raise bad_request(
                f"Two rows are named {name!r}.", code="job_name_taken", field="jobNames", row=row
            )
        seen.add(name)
