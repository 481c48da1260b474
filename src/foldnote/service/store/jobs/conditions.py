"""SQL conditions that match partial indexes, so that no query of the queue scans all jobs.

Their values are literals, because SQLite uses a partial index only if the statement itself contains the
condition of the index. A test checks the query plan of each.
"""

from __future__ import annotations

import sqlalchemy as sa

from foldnote.models.status import JobStatus
from foldnote.service.store.schema import jobs

_RUNNING, _QUEUED = JobStatus.RUNNING.value, JobStatus.IN_QUEUE.value
IS_RUNNING = sa.text(f"jobs.state = '{_RUNNING}'")
"""Index `jobs_running`."""
IS_QUEUED = sa.text(f"jobs.state = '{_QUEUED}'")
"""Index `jobs_queued`."""
IS_HELD = sa.text(f"jobs.is_held = 1 AND jobs.state = '{_QUEUED}'")
"""Index `jobs_held`."""
IS_UNPURGED = sa.text("jobs.deleted IS NOT NULL AND jobs.is_purged = 0")
"""Index `jobs_unpurged`."""
_CLAIMABLE = f"state = '{_QUEUED}' AND is_held = 0 AND type <> 'batch'"
_OLDEST_CLAIMABLE = f"""
    WITH RECURSIVE owner (account) AS (
        SELECT min(account_id) FROM jobs WHERE {_CLAIMABLE}
        UNION ALL
        SELECT (SELECT min(account_id) FROM jobs WHERE {_CLAIMABLE} AND account_id > account)
        FROM owner WHERE account IS NOT NULL
    )
    SELECT jobs.id, jobs.account_id, jobs.type, jobs.attempt FROM owner JOIN jobs ON jobs.id = (
        SELECT id FROM jobs WHERE {_CLAIMABLE} AND account_id = owner.account
        AND NOT (not_before > :moment AND not_before <= :latest)%s ORDER BY id LIMIT 1
    ) ORDER BY jobs.id
    """  # noqa: S608  every part is written above
_COLUMNS = (jobs.c.id, jobs.c.account_id, jobs.c.type, jobs.c.attempt)
OLDEST_CLAIMABLE = sa.text(_OLDEST_CLAIMABLE % "").columns(*_COLUMNS)
"""The oldest claimable job of each owner, by index `jobs_claimable`: one step per owner, however long the
queue. A job whose `not_before` is later than `latest` is due, because the clock was set back since."""
OLDEST_OF_OTHER_TYPES = (
    sa.text(_OLDEST_CLAIMABLE % " AND type NOT IN :without")
    .bindparams(sa.bindparam("without", expanding=True))
    .columns(*_COLUMNS)
)
"""The same without jobs of types whose executor has no room; it steps over each of these jobs."""
