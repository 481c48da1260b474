"""The tables after the last migration, for building queries.

The migrations (`migrations.py`) create them; a test compares the two. Times are RFC 3339 UTC text, sizes are
in bytes, states are the values of `foldnote.models.status`.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()
Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""A whole number of up to 63 bits."""
MEASURED = {"is_measured": True}
"""Marks a column of `jobs` that holds a measurement, written when the run ends."""

organizations = sa.Table(
    "organizations",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created", sa.Text, nullable=False),
    # of a calendar month (UTC), None for no limit
    sa.Column("budget_weighted_hours", sa.Float),
)

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("email", sa.Text, nullable=False, unique=True),
    # "full" (no limits), "trial" (unclaimed) or "claimed" (free account)
    sa.Column("tier", sa.Text, nullable=False),
    sa.Column("organization_id", Whole, sa.ForeignKey("organizations.id")),
    sa.Column("created", sa.Text, nullable=False),
    # provisioned accounts: hash of the claim link's token, and when and for whom it was claimed
    sa.Column("claim_sha256", sa.Text),
    sa.Column("claimed", sa.Text),
    sa.Column("claimed_by", sa.Text),
)

keys = sa.Table(
    "keys",
    metadata,
    sa.Column("sha256", sa.Text, primary_key=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("is_admin", Whole, nullable=False, default=0),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("expires", sa.Text),
    sa.Column("revoked", sa.Text),
)

secrets = sa.Table(
    "secrets",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("normalized", sa.Text, nullable=False),
    sa.Column("project_tag", sa.Text),
    # subjobs of a batch: their parent and their row in it
    sa.Column("parent_id", Whole, sa.ForeignKey("jobs.id")),
    sa.Column("batch", sa.Text),
    sa.Column("row_index", Whole),
    # batches only
    sa.Column("tool", sa.Text),
    sa.Column("batch_state", sa.Text),
    sa.Column("batch_size", Whole),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("started", sa.Text),
    sa.Column("completed", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("message", sa.Text),
    sa.Column("score", sa.Text),
    sa.Column("weighted_hours", sa.Float, info=MEASURED),
    sa.Column("cpu_seconds", sa.Float, info=MEASURED),
    sa.Column("peak_memory_mb", sa.Float, info=MEASURED),
    sa.Column("peak_gpu_memory_mb", sa.Float, info=MEASURED),
    sa.Column("engine_version", sa.Text, info=MEASURED),
    # maximum seconds of a run, None for the engine's limit; maximum weighted hours of a batch's runs
    sa.Column("max_runtime_s", sa.Float),
    sa.Column("hours_budget", sa.Float),
    # a pipeline's subjobs: the stage's name, and whether it waits for preceding stages
    sa.Column("stage", sa.Text),
    sa.Column("is_held", Whole, nullable=False, default=0),
    # SHA-256 of the inputs that decide a stage's result, and the name of the job whose result was reused
    sa.Column("stage_digest", sa.Text),
    sa.Column("reused_from", sa.Text),
    # the number of the attempt that owns the row; 0 before the first claim
    sa.Column("attempt", Whole, nullable=False, default=0),
    # losses to infrastructure so far, and the Unix time (s) before which the job is not claimed again
    sa.Column("losses", Whole, nullable=False, default=0),
    sa.Column("not_before", sa.Float, nullable=False, default=0.0),
    # reruns after failures of the tool, None for none
    sa.Column("retries", Whole),
    sa.Column("is_cancelled", Whole, nullable=False, default=0),
    sa.Column("result_sha256", sa.Text),
    sa.Column("result_size", Whole),
    sa.Column("deleted", sa.Text),
    # approximate size of settings and inline files
    sa.Column("stored_bytes", Whole, nullable=False, default=0, server_default="0"),
    # JSON: what was submitted besides the settings, None for nothing
    sa.Column("extensions", sa.Text),
    # delivery state of the webhook, None without one
    sa.Column("webhook", sa.Text),
    # whether the folders of a deleted job are gone
    sa.Column("is_purged", Whole, nullable=False, default=0),
)

records = sa.Table(
    "records",
    metadata,
    # the negative job id, so that records are stored newest first
    sa.Column("number", Whole, primary_key=True),
    # placeholder in a page for a record that is completed in each response, else None
    sa.Column("mark", sa.Text),
    # the wire record, serialised by the last change of the job
    sa.Column("text", sa.Text, nullable=False),
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("job_id", Whole, sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("number", Whole, primary_key=True),
    sa.Column("nonce", sa.Text, nullable=False, unique=True),
    sa.Column("claimed", sa.Text, nullable=False),
    sa.Column("ended", sa.Text),
    sa.Column("outcome", sa.Text),
    # path below the folder of all attempts
    sa.Column("folder", sa.Text, nullable=False, server_default=""),
    # name of the executor that runs it
    sa.Column("executor", sa.Text, nullable=False, server_default="local"),
    # the replica of the service that watches it; empty if there is only one
    sa.Column("replica", sa.Text, nullable=False, server_default=""),
    # of a run on another machine: hash of its token, None until it is started, empty once that is forbidden
    sa.Column("token_sha256", sa.Text),
)

replicas = sa.Table(
    "replicas",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    # one boot of one machine, or of one container on it
    sa.Column("machine", sa.Text, nullable=False),
    # end of the lease on its attempts: Unix time (s) of the database
    sa.Column("lease_until", sa.Float, nullable=False),
)

identity = sa.Table(
    "identity",
    metadata,
    # part of the path of every attempt; a restored backup gets a new one
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("since", sa.Text, nullable=False),
    # name of the service's latest run, also in a file beside the database
    sa.Column("run", sa.Text, nullable=False, server_default=""),
)

leavings = sa.Table(
    "leavings",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    # a content released by a deleted file or job; the row is removed together with the content
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("bytes", Whole, nullable=False),
)

inputs = sa.Table(
    "inputs",
    metadata,
    sa.Column("job_id", Whole, sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("field", sa.Text, primary_key=True),
    sa.Column("position", Whole, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
)

pipelines = sa.Table(
    "pipelines",
    metadata,
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    # JSON array of name, type, settings
    sa.Column("stages", sa.Text, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
)

deployments = sa.Table(
    "deployments",
    metadata,
    sa.Column("type", sa.Text, primary_key=True),
    # JSON, as submitted
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
)

files = sa.Table(
    "files",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("file_id", sa.Text, nullable=False, unique=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("folder", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("size", Whole, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("uploaded", sa.Text, nullable=False),
    sa.Column("deleted", sa.Text),
)

direct_uploads = sa.Table(
    "direct_uploads",
    metadata,
    # name of the object in the bucket
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("folder", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    # Unix time (s)
    sa.Column("until", sa.Float, nullable=False),
)

usage = sa.Table(
    "usage",
    metadata,
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), primary_key=True),
    # "trial", or a calendar month (UTC) as 2026-11
    sa.Column("period", sa.Text, primary_key=True),
    sa.Column("jobs", Whole, nullable=False),
    # total of the runs that ended in the month
    sa.Column("weighted_hours", sa.Float, nullable=False, default=0.0),
)

provisions = sa.Table(
    "provisions",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    # keyed hash of the requesting address
    sa.Column("source", sa.Text, nullable=False),
    # Unix time (s)
    sa.Column("at", sa.Float, nullable=False),
)

counters = sa.Table(
    "counters",
    metadata,
    sa.Column("account_id", Whole, primary_key=True),
    # 0: the account's top-level jobs; -1: all its jobs; else the subjobs of that parent
    sa.Column("parent_id", Whole, primary_key=True),
    sa.Column("state", sa.Text, primary_key=True),
    sa.Column("count", Whole, nullable=False),
)

shares = sa.Table(
    "shares",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    # of the token in the link, which is not stored
    sa.Column("sha256", sa.Text, nullable=False, unique=True),
    # the owner's name for the link
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("job_id", Whole, sa.ForeignKey("jobs.id"), nullable=False),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("expires", sa.Text, nullable=False),
)

share_openings = sa.Table(
    "share_openings",
    metadata,
    # number and last time of an account's openings of the shared job
    sa.Column("share_id", Whole, sa.ForeignKey("shares.id"), primary_key=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("count", Whole, nullable=False),
    sa.Column("last", sa.Text, nullable=False),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    # not delivered yet; the row is removed upon delivery or when retries end
    sa.Column("job_id", Whole, sa.ForeignKey("jobs.id"), primary_key=True),
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("url", sa.Text, nullable=False),
    # identical at every attempt, so that receivers recognise duplicates
    sa.Column("delivery_id", sa.Text, nullable=False),
    sa.Column("attempts", Whole, nullable=False, default=0),
    # Unix time (s) of the next attempt
    sa.Column("due", sa.Float, nullable=False, default=0.0),
)

webhook_accounts = sa.Table(
    "webhook_accounts",
    metadata,
    sa.Column("account_id", Whole, sa.ForeignKey("accounts.id"), primary_key=True),
    # the key that signs webhooks
    sa.Column("secret", sa.LargeBinary, nullable=False),
    # URL for every job of the account, None for none
    sa.Column("url", sa.Text),
    sa.Column("created", sa.Text, nullable=False),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("account_id", Whole, nullable=False),
    sa.Column("job_id", Whole),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("detail", sa.Text),
)
