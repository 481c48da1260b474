"""Functions for recommendations, the account, pipelines and screening."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foldnote.client import BatchHandle, Stage
from foldnote.client.submission.extensions import read_label
from foldnote.models import Account, Recommendation, Tool
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments
from foldnote.notebook.live_outputs import NotebookBatch, NotebookRun, make_live_run


@check_arguments
def recommend(
    prompt: str, /, *, inputs: Iterable[Mapping[str, str]] = (), profile: str | None = None
) -> Recommendation:
    """Recommend tools for a task described in prose, best first, each with its reason.

    Args:
        prompt: the task; sequences in it are used.
        inputs: molecules, each with ``sequence``, ``smiles`` or ``ccd``, and optionally a ``role``.
        profile: which service; by default the active profile's.

    Raises:
        RouterDisabledError: recommendations are not enabled for this account.
        ServiceError: the service refused.
    """
    return connection.find_client(profile).router.ask(prompt, inputs)


@check_arguments
def account(*, profile: str | None = None) -> Account:
    """Return the account of the key in use, with the remaining jobs and hours that the service reports.

    Raises:
        UnauthorizedError: the key is wrong or has expired.
        ServiceError: the service refused.
    """
    return connection.find_client(profile).account.get()


@check_arguments
def provision(*, profile: str | None = None) -> Account:
    """Request a trial key, once, and store it without showing it.

    ``fn.provision().claim_url`` is the address at which you claim the account; anyone who has it can do so.

    Raises:
        ConfigurationError: the profile has a key of its own, or the key could not be kept.
        RateLimitedError: the service has reached its hourly limit of new keys.
        ServiceFaultError: the service issues no keys at the moment.
    """
    return connection.find_client(profile).account.provision()


@check_arguments
def stage(
    name: str, tool: str | Tool, /, *, extensions: Mapping[str, Any] | None = None, **settings: Any
) -> Stage:
    """Describe one run of a tool in a pipeline; a later stage's file field takes ``stage.file("path")``.

    Args:
        name: unique in the pipeline.
        tool: the tool's type, or a tool of any catalog.
        extensions: what is sent in addition to the settings in every run, see ``fn.submit``.
        **settings: fields of the tool's schema.
    """
    return Stage(name, tool if isinstance(tool, str) else tool.type, settings, extensions)


@check_arguments
def pipeline(
    name: str,
    stages: Sequence[Stage],
    /,
    *,
    inputs: Mapping[str, Any] | None = None,
    job_name: str | None = None,
    label: str | None = None,
    project_tag: str | None = None,
    webhook: str | None = None,
    profile: str | None = None,
    again: bool = False,
) -> NotebookRun:
    """Save and run a pipeline; the same call again returns the same run.

    A changed pipeline takes the results of stages that it shares with an earlier run: the same tool, settings
    and file contents. The card shows which; services other than foldnote's run all stages.

    Args:
        name: the pipeline's name; one of the same name is replaced.
        stages: in the order in which they run.
        inputs: settings of this run, ``{stage: {field: value}}``.
        job_name: name of the run; by default derived from stages and inputs.
        label: free text that card, panel and lists show in place of the run's name; it stays on this computer
            and does not identify the run.
        project_tag: identifier of a project.
        webhook: address that the service calls when the run as a whole has ended, see ``fn.submit``.
        profile: which service; by default the active profile's.
        again: start a new run even if the same one exists, and compute all its stages.

    Raises:
        SettingsError: names, settings or references break a rule; nothing was sent.
        JobNameTakenError: the name belongs to another job; the message shows the difference.
        RestrictedRouteError: the key is an unclaimed trial key.
        ServiceError: the service refused.
    """
    client, label = connection.find_client(profile), read_label(label, None)
    saved = client.pipelines.submit(name, stages)
    run = client.pipelines.run(
        saved, inputs, job_name=job_name, project_tag=project_tag, webhook=webhook, again=again
    )
    if label is not None:
        run.relabel(label)
    return make_live_run(run)


@check_arguments
def screen(
    receptor: str,
    ligands: Sequence[str],
    /,
    *,
    tool: str | None = None,
    rank_by: str = "affinity",
    batch_name: str | None = None,
    names: Sequence[str] | None = None,
    project_tag: str | None = None,
    profile: str | None = None,
    again: bool = False,
    **settings: Any,
) -> NotebookBatch:
    """Dock many ligands to one receptor, one job per ligand, and rank them; a repeated call finds the batch.

    Args:
        receptor: a file: ``fn.upload(path)``, ``fn.uploaded(name)``, ``job.file(path)``, ``fn.inline(text)``.
        ligands: files, in the same forms.
        tool: a docking tool; by default the first that runs at the service.
        rank_by: the score that ranks; the lowest comes first.
        batch_name: name of the batch; by default one is made of receptor, ligands and settings.
        names: names of the jobs, in the order of ``ligands``.
        project_tag: identifier of a project.
        profile: which service; by default the active profile's.
        again: make a new batch even if the same screening has one already.
        **settings: further settings of every job.

    Raises:
        SettingsError: there are no ligands, a name breaks a rule, or a text could be meant two ways.
        JobNameTakenError: the name belongs to another job; the message shows the difference.
        RestrictedRouteError: the key is an unclaimed trial key.
        ServiceError: the service refused; its ``row`` is the ligand.
    """
    batch: BatchHandle = connection.find_client(profile).screenings.submit(
        receptor, ligands, tool=tool, settings=settings, rank_by=rank_by, batch_name=batch_name, names=names,
        project_tag=project_tag, again=again,
    )  # fmt: skip
    return NotebookBatch(batch.record, batch._connection, batch._transport)
