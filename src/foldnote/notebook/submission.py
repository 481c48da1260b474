"""Functions that submit and validate jobs and upload files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from foldnote.errors import ArgumentError
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments

if TYPE_CHECKING:  # not at run time: reading the signature of submit must stay fast
    from foldnote.catalog.described_tool import DescribedTool
    from foldnote.client import FileValue
    from foldnote.client.submission.quote import Quote
    from foldnote.models import BatchVerdict, Tool, Verdict
    from foldnote.notebook.live_outputs import NotebookJob


def choose_label(tool: DescribedTool, label: str | None, settings: dict[str, Any]) -> str | None:
    """Return the job's label; None if ``label`` is a setting of the tool, to which it is then assigned."""
    from foldnote.forms.fields.section import list_names

    if label is None or "label" not in list_names(tool):
        return label
    settings["label"] = label
    return None


def choose_name(tool: DescribedTool, job_name: str | None, settings: dict[str, Any]) -> str | None:
    """Return the job's name, from ``job_name`` or ``name``, which is removed from ``settings``.

    Raises:
        ArgumentError: both are given, and differ, or the name is not text.
    """
    from foldnote.forms.fields.section import list_names

    if "name" not in settings or "name" in list_names(tool):
        return job_name
    name = settings.pop("name")
    if not isinstance(name, str | None):
        raise ArgumentError(f"The name of a job is text, not {type(name).__name__} ({name!r:.40}).")
    if job_name not in (None, name):
        raise ArgumentError(f"job_name is {job_name!r} and name is {name!r}; give one of them.")
    return name


@check_arguments
def submit(
    tool: str | Tool,
    /,
    *,
    job_name: str | None = None,
    project_tag: str | None = None,
    profile: str | None = None,
    label: str | None = None,
    extensions: Mapping[str, Any] | None = None,
    webhook: str | None = None,
    max_runtime_s: float | None = None,
    weighted_hours_budget: float | None = None,
    again: bool = False,
    **settings: Any,
) -> NotebookJob:
    """Submit a job; the same call again returns the same job.

    Args:
        tool: the tool's type, or a tool of any catalog.
        job_name: name of the job; by default derived from tool and settings. ``name`` means the same for
            tools without a setting of this name.
        project_tag: identifier of a project.
        profile: which service; by default the active profile's.
        label: free text of at most 200 characters, which card, panel and lists show in place of the name. It
            does not identify the job: with another label, the same call finds the same job and relabels it on
            this computer. It is sent to services that accept one.
        extensions: what is sent in addition to the settings if the service accepts it: ``external``, the
            purposes for which you agree that inputs leave the machine, such as ``["msa-server"]``;
            ``alignment``, a file value; ``label``, free text.
        webhook: address that the service calls when the job has ended, if its administrator allows it
            (``client.webhook``); an empty text for none. Raises `SettingsError` if the service calls none.
        max_runtime_s: time limit of the run in seconds, where the service supports it. A new job whose
            estimate is longer is not submitted.
        weighted_hours_budget: a new job whose estimate is higher, in weighted hours, is not submitted.
            Estimates are those of ``fn.quote``; a warning tells if there is none.
        again: submit a new job even if the same submission was made before.
        **settings: fields of the tool's schema. A file field takes ``fn.upload(path)``,
            ``fn.uploaded(name)``, ``job.file(path)`` or ``fn.inline(text)``.

    Raises:
        UnknownToolError: the service has no such tool.
        SettingsError: a setting or the name breaks a rule; nothing was sent.
        JobNameTakenError: the name belongs to another job; the message shows the difference.
        EstimateExceededError: the estimate is above a limit; nothing was sent.
        ServiceError: the service refused.
        TransportError: no answer came, and the service does not know the job.
    """
    if label is not None:
        tool = connection.find_client(profile).tools.get(tool) if isinstance(tool, str) else tool
        label = choose_label(tool, label, settings)
    return submit_settings(
        tool,
        settings,
        profile,
        job_name=job_name,
        project_tag=project_tag,
        label=label,
        extensions=extensions,
        webhook=webhook,
        max_runtime_s=max_runtime_s,
        weighted_hours_budget=weighted_hours_budget,
        again=again,
    )


def submit_settings(
    tool: str | Tool,
    settings: dict[str, Any],
    profile: str | None = None,
    *,
    job_name: str | None = None,
    **options: Any,
) -> NotebookJob:
    """Submit a job with ``settings`` of any name, and the ``options`` of :func:`submit`."""
    from foldnote.notebook.live_outputs import make_live

    client = connection.find_client(profile)
    if "name" in settings:
        tool = client.tools.get(tool) if isinstance(tool, str) else tool
        job_name = choose_name(tool, job_name, settings)
    return make_live(client.jobs.submit(tool, settings, job_name=job_name, **options))


@check_arguments
def quote(
    tool: str | Tool,
    /,
    *,
    job_name: str | None = None,
    profile: str | None = None,
    extensions: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Quote:
    """Estimate run time and cost of a job from earlier jobs of its tool; nothing is submitted.

    The figures are medians over the tool's complete jobs among the account's newest 200, whatever their
    settings; ``has_estimate`` is false if there are none.

    Args:
        tool: the tool's type, or a tool of any catalog.
        job_name: name of the job, see ``fn.submit``.
        profile: which service; by default the active profile's.
        extensions: what would be sent in addition to the settings, see ``fn.submit``.
        **settings: fields of the tool's schema.

    Raises:
        UnknownToolError: the service has no such tool.
        SettingsError: a setting or the name breaks a rule.
        JobNameTakenError: the name belongs to another job; the message shows the difference.
        ServiceError: the service refused.
    """
    client = connection.find_client(profile)
    if "name" in settings:
        tool = client.tools.get(tool) if isinstance(tool, str) else tool
        job_name = choose_name(tool, job_name, settings)
    return client.jobs.quote(tool, settings, job_name=job_name, extensions=extensions)


@check_arguments
def validate(
    tool: str | Tool,
    /,
    *,
    profile: str | None = None,
    extensions: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Verdict | BatchVerdict:
    """Return the service's verdict on settings; nothing is submitted and it costs nothing.

    Args:
        tool: the tool's type, or a tool of any catalog.
        profile: which service; by default the active profile's.
        extensions: what is sent in addition to the settings, see ``fn.submit``.
        **settings: fields of the tool's schema.

    Raises:
        ServiceError: the service refused.
    """
    return connection.find_client(profile).jobs.validate(tool, settings, extensions=extensions)


@check_arguments
def upload(
    source: str | Path | bytes | IO[bytes] | object,
    name: str | None = None,
    folder: str | None = None,
    *,
    profile: str | None = None,
) -> FileValue:
    """Upload a file to the account; returns the value for a file field, ``name`` or ``folder/name``.

    Args:
        source: a path, bytes, an open binary file, a gemmi or biotite structure, a structure of a result, or
            a DataFrame.
        name: the file's name at the service; its extension sets the format of a structure or table.
        folder: folder at the service; none by default.
        profile: which service; by default the active profile's.

    Raises:
        FoldnoteError: the source cannot be read, or has no name.
        ServiceError: the service refused.
    """
    return connection.find_client(profile).files.upload(source, name, folder, progress=True)
