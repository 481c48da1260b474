"""The configuration of a service. This module does not read the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.store.address import StoreAddress

MB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The limits of section 8 of the interface, and those that it leaves to the service.

    Attributes:
        requests_per_second: refill rate of each key's token bucket.
        burst: capacity of each key's token bucket.
        upload_bytes: largest upload.
        validation_bytes: largest body of /validate-job.
        submission_bytes: largest body of /submit-job and /submit-batch, inline files included.
        small_body_bytes: largest body of every other route.
        held_bytes: largest total size of bodies read and checked at the same time, without uploads.
        batch_rows: maximum rows of a batch.
        validation_rows: maximum rows of one validation.
        page_rows: maximum jobs of a page.
        file_rows: maximum files of a page.
        inline_wait_s: seconds that POST /result waits for a batch's archive before it answers 202.
        link_s: lifetime of a signed link in seconds.
        output_bytes: largest outputs of a run that are kept; clients refuse larger archives.
        free_disk_bytes: free space below which nothing new is accepted or started.
        storage_bytes: maximum of an account's files, settings and results together; 0 for no limit.
        ballast_bytes: reserve released when the disk is full, so that jobs can still be stopped and deleted.
    """

    requests_per_second: float = 10.0
    burst: int = 10
    upload_bytes: int = 512 * MB
    validation_bytes: int = 4_500_000
    submission_bytes: int = 64 * MB
    small_body_bytes: int = MB
    held_bytes: int = 256 * MB
    batch_rows: int = 1000
    validation_rows: int = 1000
    page_rows: int = 1000
    file_rows: int = 100
    inline_wait_s: float = 290.0
    link_s: int = 3600
    output_bytes: int = 10 * 1024 * MB
    free_disk_bytes: int = 64 * MB
    ballast_bytes: int = 32 * MB
    storage_bytes: int = 20 * 1024 * MB


@dataclass(frozen=True)
class DispatcherTiming:
    """Intervals of the dispatcher, in seconds.

    Attributes:
        sweep_s: interval of recoveries.
        need_s: that interval while the disk is full, so that deleted data is removed at once.
        poll_min_s: shortest interval between polls of a running attempt.
        poll_max_s: longest interval between polls.
        retry_s: delay before the second attempt; doubled for each further one, up to ``max_retry_s``.
        max_retry_s: longest delay before an attempt.
        grace_s: time between TERM and KILL.
    """

    sweep_s: float = 15.0
    need_s: float = 1.0
    poll_min_s: float = 0.05
    poll_max_s: float = 1.0
    retry_s: float = 5.0
    max_retry_s: float = 60.0
    grace_s: float = 10.0

    def delay_s(self, earlier: int) -> float:
        """Return the delay before the next attempt of a job, after ``earlier`` lost or unstarted ones."""
        return min(self.max_retry_s, self.retry_s * 2.0 ** min(earlier, 10))

    def until_sweep_s(self, *, has_space: bool) -> float:
        """Return the time until the next recovery."""
        return self.sweep_s if has_space else min(self.sweep_s, self.need_s)


@dataclass(frozen=True)
class TrialTerms:
    """Terms of the trial keys that POST /agent/provision issues.

    Attributes:
        is_open: whether trial keys are issued; an embedded service never issues any.
        jobs: total jobs of an unclaimed key.
        monthly_jobs: jobs of a claimed account per calendar month (UTC).
        days: lifetime of an unclaimed key in days.
        hourly_per_source: maximum keys per hour for one client address.
        hourly: maximum keys per hour for all client addresses together.
        allowance_weighted_hours: largest estimate of a free-energy submission with an unclaimed key.
        trial_storage_bytes: maximum of an unclaimed account's files, settings and results; 0 for no limit.
    """

    is_open: bool = True
    jobs: int = 10
    monthly_jobs: int = 10
    days: int = 30
    hourly_per_source: int = 10
    hourly: int = 100
    allowance_weighted_hours: float = 48.0
    trial_storage_bytes: int = 2 * 1024 * MB


@dataclass(frozen=True)
class ServiceConfig:
    """Configuration of one service.

    Attributes:
        data_dir: folder of the database, jobs, files and the key.
        host: address to listen on.
        port: 0 for any free one.
        rate_limit: whether requests are limited per key.
        embedded: whether it is the user's private service, which stops when idle.
        idle_stop_s: seconds without a request or job after which an embedded service stops.
        engine_paths: additional folders with engines.
        public_url: base address of signed links; None for the address of the request.
        allowed_hosts: accepted host names in addition to those of this machine; if empty, an embedded service
            accepts only those of this machine, any other service all names.
        trusted_proxies: addresses of proxies whose `X-Forwarded-For` is trusted.
        workers: maximum number of simultaneous jobs; None for as many as cores and memory allow.
        connections: maximum number of open connections; None for as many as the limit of open files allows.
        backlog: maximum number of connections that wait to be accepted; None for a default.
        has_dispatcher: False keeps every job in the queue (tests of the queue itself).
        allows_deployment: whether an administrator's key may register commands as tools; always allowed in an
            embedded service, whose user could run them anyway.
        has_router: whether POST /model-router recommends tools.
        email: address of the account of the service's own key.
        limits: sizes and rates.
        trials: terms of trial keys.
        pace: intervals of the dispatcher.
        executors: the section `[executors]` of `config.toml`; empty to run everything on this machine.
        certificate: file with the certificate chain of TLS; None for HTTP.
        certificate_key: file with its key, if the first one lacks it.
        log_format: format of the log, `json` or `text`.
        log_level: minimum level of log entries, from `debug` to `error`.
        store: the PostgreSQL database that replicas share, as they share `data_dir`; None for SQLite.
        objects: the bucket with the contents of files and results; None for a folder in `data_dir`.
        hub: the section `[jupyterhub]` of `config.toml`; empty without one.
        webhooks: the section `[webhooks]` of `config.toml`; empty without one.
    """

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 0
    rate_limit: bool = True
    embedded: bool = False
    idle_stop_s: float = 1800.0
    engine_paths: tuple[Path, ...] = ()
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    workers: int | None = None
    connections: int | None = None
    backlog: int | None = None
    has_dispatcher: bool = True
    allows_deployment: bool = False
    has_router: bool = True
    email: str = "local@foldnote.invalid"
    limits: Limits = field(default_factory=Limits)
    trials: TrialTerms = field(default_factory=TrialTerms)
    pace: DispatcherTiming = field(default_factory=DispatcherTiming)
    executors: Mapping[str, Any] = field(default_factory=dict)
    certificate: Path | None = None
    certificate_key: Path | None = None
    log_format: str = "json"
    log_level: str = "info"
    store: StoreAddress | None = None
    objects: BucketAddress | None = None
    hub: Mapping[str, Any] = field(default_factory=dict)
    webhooks: Mapping[str, Any] = field(default_factory=dict)
