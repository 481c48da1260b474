"""Numbered migrations, applied in order and recorded in a table; never edit an existing one.

They are SQL text and do not use the tables of `schema.py`, because a migration must never change its effect.
The text is SQLite's; `postgres_dialect.py` translates it for PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable

from foldnote.errors import ConfigurationError
from foldnote.service.store.database import RawConnection

Migration = Callable[[RawConnection], None]
MIGRATIONS: list[tuple[str, Migration]] = []


def migration(function: Migration) -> Migration:
    """Register a migration under its own name, in the order of the file."""
    MIGRATIONS.append((function.__name__, function))
    return function


def migrate(connection: RawConnection, *, until: str | None = None, shown: str = "The database") -> list[str]:
    """Apply missing migrations, each in its own transaction, and return their names.

    Args:
        connection: a connection in autocommit mode.
        until: stop after that migration (tests upgrade from every older version).
        shown: name of the database in messages.

    Raises:
        ConfigurationError: a later version changed the database; nothing was changed.
    """
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied TEXT NOT NULL)")
    if unknown := find_unknown(connection):
        raise ConfigurationError(
            f"{shown} was used by a later version of foldnote (it has {min(unknown)}). Install that version,"
            " or restore a backup that this version made. Nothing was changed."
        )
    done = _find_applied(connection)
    applied = []
    for name, function in MIGRATIONS:
        if name not in done:
            _apply(connection, name, function)
            applied.append(name)
        if name == until:
            break
    return applied


def find_unknown(connection: RawConnection) -> set[str]:
    """Return the names of applied migrations that this version lacks: a later version applied them."""
    return _find_applied(connection) - {name for name, _ in MIGRATIONS}


def _find_applied(connection: RawConnection) -> set[str]:
    return {str(row[0]) for row in connection.execute("SELECT name FROM migrations")}


def _apply(connection: RawConnection, name: str, function: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        function(connection)
        connection.execute(
            "INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", (name,)
        )
    except BaseException:  # re-raised: an incomplete migration must never be committed
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _run(connection: RawConnection, statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement)


@migration
def m0001_accounts(connection: RawConnection) -> None:
    """Owners of jobs: organizations, accounts, hashed keys, secrets that sign links."""
    _run(
        connection,
        """
        CREATE TABLE organizations (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
            created TEXT NOT NULL);
        CREATE TABLE accounts (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, tier TEXT NOT NULL,
            organization_id INTEGER REFERENCES organizations(id), created TEXT NOT NULL);
        CREATE INDEX accounts_of_organization ON accounts (organization_id);
        CREATE TABLE keys (sha256 TEXT PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts(id),
            is_admin INTEGER NOT NULL DEFAULT 0, created TEXT NOT NULL, expires TEXT,
            revoked TEXT) WITHOUT ROWID;
        CREATE TABLE secrets (id TEXT PRIMARY KEY, secret BLOB NOT NULL, created TEXT NOT NULL);
        """,
    )


@migration
def m0002_jobs(connection: RawConnection) -> None:
    """Jobs, their attempts and inputs, and the counters by status."""
    _run(
        connection,
        """
        CREATE TABLE jobs (id INTEGER PRIMARY KEY AUTOINCREMENT,
            account_id INTEGER NOT NULL REFERENCES accounts(id), name TEXT NOT NULL, type TEXT NOT NULL,
            state TEXT NOT NULL, settings TEXT NOT NULL, normalized TEXT NOT NULL, project_tag TEXT,
            parent_id INTEGER REFERENCES jobs(id), batch TEXT, row_index INTEGER,
            tool TEXT, batch_state TEXT, batch_size INTEGER,
            created TEXT NOT NULL, started TEXT, completed TEXT, error TEXT, message TEXT, score TEXT,
            weighted_hours REAL, attempt INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0,
            not_before REAL NOT NULL DEFAULT 0, is_cancelled INTEGER NOT NULL DEFAULT 0,
            result_sha256 TEXT, result_size INTEGER, deleted TEXT,
            is_purged INTEGER NOT NULL DEFAULT 0, record TEXT NOT NULL);
        CREATE UNIQUE INDEX jobs_by_name ON jobs (account_id, name) WHERE deleted IS NULL;
        CREATE INDEX jobs_all ON jobs (account_id, id) WHERE deleted IS NULL;
        CREATE INDEX jobs_top ON jobs (account_id, id) WHERE deleted IS NULL AND parent_id IS NULL;
        CREATE INDEX jobs_of_parent ON jobs (parent_id, id) WHERE deleted IS NULL;
        CREATE INDEX jobs_unfinished ON jobs (state, account_id, id, not_before)
            WHERE state IN ('In Queue', 'Running');
        CREATE INDEX jobs_unpurged ON jobs (id) WHERE deleted IS NOT NULL AND is_purged = 0;
        CREATE INDEX jobs_by_result ON jobs (result_sha256) WHERE result_sha256 IS NOT NULL;
        CREATE TABLE attempts (job_id INTEGER NOT NULL REFERENCES jobs(id), number INTEGER NOT NULL,
            nonce TEXT NOT NULL UNIQUE, claimed TEXT NOT NULL, ended TEXT, outcome TEXT,
            PRIMARY KEY (job_id, number)) WITHOUT ROWID;
        CREATE TABLE inputs (job_id INTEGER NOT NULL REFERENCES jobs(id), field TEXT NOT NULL,
            position INTEGER NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
            PRIMARY KEY (job_id, field, position)) WITHOUT ROWID;
        CREATE INDEX inputs_by_object ON inputs (sha256);
        CREATE TABLE counters (account_id INTEGER NOT NULL, parent_id INTEGER NOT NULL, state TEXT NOT NULL,
            count INTEGER NOT NULL, PRIMARY KEY (account_id, parent_id, state)) WITHOUT ROWID;
        """,
    )


@migration
def m0003_files(connection: RawConnection) -> None:
    """Uploaded files: names in folders, content by hash."""
    _run(
        connection,
        """
        CREATE TABLE files (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id TEXT NOT NULL UNIQUE,
            account_id INTEGER NOT NULL REFERENCES accounts(id), folder TEXT NOT NULL, name TEXT NOT NULL,
            size INTEGER NOT NULL, sha256 TEXT NOT NULL, uploaded TEXT NOT NULL, deleted TEXT);
        CREATE UNIQUE INDEX files_by_name ON files (account_id, folder, name) WHERE deleted IS NULL;
        CREATE INDEX files_by_object ON files (sha256) WHERE deleted IS NULL;
        """,
    )


@migration
def m0004_events(connection: RawConnection) -> None:
    """Events, append-only: triggers refuse to change or remove them."""
    connection.execute(
        "CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,"
        " account_id INTEGER NOT NULL, job_id INTEGER, kind TEXT NOT NULL, detail TEXT)"
    )
    connection.execute("CREATE INDEX events_of_job ON events (job_id, id)")
    for verb in ("UPDATE", "DELETE"):
        connection.execute(
            f"CREATE TRIGGER events_no_{verb.lower()} BEFORE {verb} ON events"
            " BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"
        )


@migration
def m0005_trials(connection: RawConnection) -> None:
    """Provisioned accounts: claim links, numbers of jobs used, and recently issued keys."""
    _run(
        connection,
        """
        ALTER TABLE accounts ADD COLUMN claim_sha256 TEXT;
        ALTER TABLE accounts ADD COLUMN claimed TEXT;
        ALTER TABLE accounts ADD COLUMN claimed_by TEXT;
        CREATE UNIQUE INDEX accounts_by_claim ON accounts (claim_sha256) WHERE claim_sha256 IS NOT NULL;
        CREATE TABLE usage (account_id INTEGER NOT NULL REFERENCES accounts(id), period TEXT NOT NULL,
            jobs INTEGER NOT NULL, PRIMARY KEY (account_id, period)) WITHOUT ROWID;
        CREATE TABLE provisions (id INTEGER PRIMARY KEY, source TEXT NOT NULL, at REAL NOT NULL);
        CREATE INDEX provisions_by_time ON provisions (at);
        """,
    )


@migration
def m0006_run_limits(connection: RawConnection) -> None:
    """Limits of a submission: seconds per run, weighted hours per batch."""
    connection.execute("ALTER TABLE jobs ADD COLUMN max_runtime_s REAL")
    connection.execute("ALTER TABLE jobs ADD COLUMN hours_budget REAL")


@migration
def m0007_pipelines(connection: RawConnection) -> None:
    """Saved pipelines, and jobs that wait for earlier stages."""
    _run(
        connection,
        """
        CREATE TABLE pipelines (account_id INTEGER NOT NULL REFERENCES accounts(id), name TEXT NOT NULL,
            stages TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (account_id, name)) WITHOUT ROWID;
        ALTER TABLE jobs ADD COLUMN stage TEXT;
        ALTER TABLE jobs ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX jobs_held ON jobs (parent_id) WHERE is_held = 1;
        """,
    )


@migration
def m0008_budgets(connection: RawConnection) -> None:
    """Weighted hours: the monthly budget of organizations, and the usage of accounts."""
    connection.execute("ALTER TABLE organizations ADD COLUMN budget_weighted_hours REAL")
    connection.execute("ALTER TABLE usage ADD COLUMN weighted_hours REAL NOT NULL DEFAULT 0")


@migration
def m0009_deployments(connection: RawConnection) -> None:
    """Tools registered by administrators."""
    connection.execute(
        "CREATE TABLE deployments (type TEXT PRIMARY KEY, definition TEXT NOT NULL, created TEXT NOT NULL)"
        " WITHOUT ROWID"
    )


@migration
def m0010_queue_indexes(connection: RawConnection) -> None:
    """Indexes for the queue's queries (see `conditions.py`)."""
    _run(
        connection,
        """
        DROP INDEX jobs_unfinished;
        DROP INDEX jobs_held;
        CREATE INDEX jobs_claimable ON jobs (account_id, id)
            WHERE state = 'In Queue' AND is_held = 0 AND type <> 'batch';
        CREATE INDEX jobs_queued ON jobs (not_before) WHERE state = 'In Queue';
        CREATE INDEX jobs_running ON jobs (id) WHERE state = 'Running';
        CREATE INDEX jobs_held ON jobs (id) WHERE is_held = 1 AND state = 'In Queue';
        """,
    )


@migration
def m0011_account_events(connection: RawConnection) -> None:
    """Index for the newest event of an account, which long-polling requests query."""
    connection.execute("CREATE INDEX events_of_account ON events (account_id, id)")


@migration
def m0012_failed_counters(connection: RawConnection) -> None:
    """Numbers of failed subjobs of each batch."""
    connection.execute(
        "INSERT INTO counters SELECT account_id, parent_id, 'failed', count(*) FROM jobs"
        " WHERE parent_id IS NOT NULL AND deleted IS NULL AND state = 'Stopped' AND error IS NOT NULL"
        " GROUP BY account_id, parent_id"
    )


@migration
def m0013_records(connection: RawConnection) -> None:
    """Records in a table of their own, stored newest first, in the order in which pages read them."""
    _run(
        connection,
        """
        CREATE TABLE records (number INTEGER PRIMARY KEY, mark TEXT, text TEXT NOT NULL);
        INSERT INTO records SELECT -id,
            CASE WHEN state = 'Running' OR type = 'batch' THEN char(30) || id || char(30) END, record
            FROM jobs WHERE is_purged = 0 ORDER BY id DESC;
        ALTER TABLE jobs DROP COLUMN record;
        """,
    )


@migration
def m0014_attempt_folders(connection: RawConnection) -> None:
    """Folders of attempts, and a unique name of the database, which only its copies share."""
    _run(
        connection,
        """
        ALTER TABLE attempts ADD COLUMN folder TEXT NOT NULL DEFAULT '';
        UPDATE attempts SET folder = (job_id / 1000) || '/' || job_id || '/' || number;
        CREATE TABLE identity (name TEXT PRIMARY KEY, since TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO identity VALUES (lower(hex(randomblob(8))), strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
        """,
    )


@migration
def m0015_runs(connection: RawConnection) -> None:
    """The latest run of the service, which shows whether a write-ahead log belongs to the database."""
    connection.execute("ALTER TABLE identity ADD COLUMN run TEXT NOT NULL DEFAULT ''")


@migration
def m0016_deleted_contents(connection: RawConnection) -> None:
    """Clear inputs and results of jobs that were deleted earlier."""
    _run(
        connection,
        """
        UPDATE jobs SET settings = '{}', normalized = '{}', error = NULL, message = NULL, score = NULL
            WHERE deleted IS NOT NULL;
        DELETE FROM records WHERE number IN (SELECT -id FROM jobs WHERE deleted IS NOT NULL);
        """,
    )


@migration
def m0017_storage(connection: RawConnection) -> None:
    """Storage of each account, and released contents that are not removed yet."""
    _run(
        connection,
        """
        ALTER TABLE jobs ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE jobs SET stored_bytes = 2 * (length(settings) + length(normalized)) WHERE is_purged = 0;
        CREATE TABLE leavings (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts(id),
            sha256 TEXT NOT NULL, bytes INTEGER NOT NULL);
        CREATE INDEX leavings_of_account ON leavings (account_id, bytes);
        CREATE INDEX files_storage ON files (account_id, size) WHERE deleted IS NULL;
        CREATE INDEX jobs_storage ON jobs (account_id, stored_bytes, result_size) WHERE is_purged = 0;
        """,
    )


@migration
def m0018_measured_runs(connection: RawConnection) -> None:
    """Resources used by a run, as counted by the kernel."""
    connection.execute("ALTER TABLE jobs ADD COLUMN cpu_seconds REAL")
    connection.execute("ALTER TABLE jobs ADD COLUMN peak_memory_mb REAL")


@migration
def m0019_extensions(connection: RawConnection) -> None:
    """Extensions submitted besides the settings: consent, the user's own alignment, a label."""
    connection.execute("ALTER TABLE jobs ADD COLUMN extensions TEXT")


@migration
def m0020_gpu_memory(connection: RawConnection) -> None:
    """GPU memory used by a run."""
    connection.execute("ALTER TABLE jobs ADD COLUMN peak_gpu_memory_mb REAL")


@migration
def m0021_executors(connection: RawConnection) -> None:
    """Name of an attempt's executor, and the token of its runner on another machine."""
    connection.execute("ALTER TABLE attempts ADD COLUMN executor TEXT NOT NULL DEFAULT 'local'")
    connection.execute("ALTER TABLE attempts ADD COLUMN token_sha256 TEXT")


@migration
def m0022_retries(connection: RawConnection) -> None:
    """Number of reruns of a job after failures of its tool."""
    connection.execute("ALTER TABLE jobs ADD COLUMN retries INTEGER")


@migration
def m0023_reused_stages(connection: RawConnection) -> None:
    """Digest of what decides the result of a pipeline's stage, and the job whose result was reused."""
    connection.execute("ALTER TABLE jobs ADD COLUMN stage_digest TEXT")
    connection.execute("ALTER TABLE jobs ADD COLUMN reused_from TEXT")
    connection.execute(
        "CREATE INDEX jobs_by_stage_digest ON jobs (account_id, stage_digest) WHERE stage_digest IS NOT NULL"
    )


@migration
def m0024_replicas(connection: RawConnection) -> None:
    """The replicas of the service, and the one that watches an attempt."""
    _run(
        connection,
        """
        CREATE TABLE replicas (name TEXT PRIMARY KEY, machine TEXT NOT NULL, lease_until REAL NOT NULL)
            WITHOUT ROWID;
        ALTER TABLE attempts ADD COLUMN replica TEXT NOT NULL DEFAULT '';
        """,
    )


@migration
def m0025_direct_uploads(connection: RawConnection) -> None:
    """Uploads to an object store by signed links, until they are registered."""
    _run(
        connection,
        """
        CREATE TABLE direct_uploads (key TEXT PRIMARY KEY,
            account_id INTEGER NOT NULL REFERENCES accounts(id),
            folder TEXT NOT NULL, name TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
        CREATE INDEX direct_uploads_of_account ON direct_uploads (account_id, until);
        """,
    )


@migration
def m0026_engine_version(connection: RawConnection) -> None:
    """The engine that ran a job, so that a stage's result is reused only while it is the same."""
    connection.execute("ALTER TABLE jobs ADD COLUMN engine_version TEXT")


@migration
def m0027_webhooks(connection: RawConnection) -> None:
    """Undelivered webhooks, and the secrets of accounts that sign them."""
    _run(
        connection,
        """
        ALTER TABLE jobs ADD COLUMN webhook TEXT;
        CREATE TABLE webhooks (job_id INTEGER PRIMARY KEY REFERENCES jobs(id),
            account_id INTEGER NOT NULL REFERENCES accounts(id), url TEXT NOT NULL,
            delivery_id TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0);
        CREATE INDEX webhooks_of_account ON webhooks (account_id);
        CREATE TABLE webhook_accounts (account_id INTEGER PRIMARY KEY REFERENCES accounts(id),
            secret BLOB NOT NULL, url TEXT, created TEXT NOT NULL);
        """,
    )


@migration
def m0028_shares(connection: RawConnection) -> None:
    """Links with which colleagues open a job, and who has opened them."""
    _run(
        connection,
        """
        CREATE TABLE shares (id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL UNIQUE, job_id INTEGER NOT NULL REFERENCES jobs(id),
            account_id INTEGER NOT NULL REFERENCES accounts(id),
            created TEXT NOT NULL, expires TEXT NOT NULL);
        CREATE INDEX shares_of_account ON shares (account_id, id);
        CREATE INDEX shares_of_job ON shares (job_id);
        CREATE TABLE share_openings (share_id INTEGER NOT NULL REFERENCES shares(id),
            account_id INTEGER NOT NULL REFERENCES accounts(id), count INTEGER NOT NULL, last TEXT NOT NULL,
            PRIMARY KEY (share_id, account_id)) WITHOUT ROWID;
        CREATE INDEX share_openings_of_account ON share_openings (account_id);
        """,
    )
