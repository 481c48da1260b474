"""``fn.purge``: delete old jobs after showing them."""

from __future__ import annotations

from collections.abc import Sequence

from foldnote.errors import ArgumentError
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments
from foldnote.text import count


@check_arguments
def purge(older_than: str, /, *, ask: bool = True, profile: str | None = None) -> Sequence[str]:
    """Delete the jobs that ended longer ago, with their results, after showing them and asking.

    Queued and running jobs are never deleted. ``client.jobs.list_older("30d")`` only lists them.

    Args:
        older_than: an age in hours, days or weeks: ``"12h"``, ``"30d"``, ``"4w"``.
        ask: ask before deleting.
        profile: which service; by default the active profile's.

    Returns:
        The names of the deleted jobs and batches.

    Raises:
        ArgumentError: it is not an age, or the user declined or cannot be asked; nothing was deleted.
        ServiceError: the service refused.
    """
    client = connection.find_client(profile)
    old = client.jobs.list_older(older_than)
    if not old:
        return []
    if ask:
        _confirm(f"{old!r}\n\nDelete {count(len(old), 'job')} with their results? [y/N] ")
    return client.jobs.purge(old)


def _confirm(question: str) -> None:
    """Ask the user to confirm.

    Raises:
        ArgumentError: the user declined, or cannot be asked.
    """
    try:
        answer = input(question)
    except (EOFError, OSError, NotImplementedError) as exc:  # an unattended notebook, or a script
        raise ArgumentError("Nothing was deleted. Pass ask=False to delete unconfirmed.") from exc
    if answer.strip().lower() not in ("y", "yes"):
        raise ArgumentError("Nothing was deleted.")
