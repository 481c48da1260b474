"""``fn.share`` and ``fn.open_shared``: a link to a job, which a colleague opens with their own key."""

from __future__ import annotations

from foldnote.client import JobHandle
from foldnote.client.resources.shares import find_link_profile
from foldnote.models.share import Share
from foldnote.notebook.argument_checks import check_arguments
from foldnote.notebook.connection import find_client
from foldnote.results import ExportedJob, open_result


@check_arguments
def share(job: JobHandle | str, /, days: float = 30, *, profile: str | None = None) -> Share:
    """Make a link to a job or batch for colleagues with a key of the same service; it is in ``.url``.

    They open it with ``fn.open_shared`` and see the job's settings and result, read-only, and nothing else of
    yours. ``fn.connect().shares`` lists links with who has opened them, and revokes them.

    Args:
        job: the job or batch, or its name.
        days: for how long the link is valid, at most 366.
        profile: the service of a job that is given by name; by default the active profile's.

    Raises:
        NotFoundError: there is no such job.
        FoldnoteError: the service makes no links; ``fn.export`` writes a file instead.
        ServiceError: the service refused.
    """
    name = profile if isinstance(job, str) else job.profile_name
    made: Share = find_client(name).shares.make(job, days)
    return made


@check_arguments
def open_shared(url: str, /, *, profile: str | None = None) -> ExportedJob:
    """Open the link of a colleague with your own key; a cell shows the job as the original, read-only.

    ``.result`` has its structures, tables and scores.

    Args:
        url: the complete link, including the part after ``#``.
        profile: the profile whose key to use; by default the one with the link's address. Your key is sent to
            no other address.

    Raises:
        ArgumentError: it is not such a link.
        ConfigurationError: no profile has the link's address.
        NotFoundError: the link is not valid, or not valid for you.
        UnfinishedJobError: the job has no result yet.
        ServiceError: the service refused.
    """
    found = find_link_profile(url)
    job, path = find_client(profile or found).shares.open(url)
    return ExportedJob(open_result(path), job.to_wire(), job.label)
