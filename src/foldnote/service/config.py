"""What a service is told when it starts. Nothing here reads the environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Section 8 of the interface and the sizes that it leaves open.

    Attributes:
        requests_per_second: refill of each key's bucket.
        burst: capacity of each key's bucket.
        upload_bytes: largest upload.
        validation_bytes: largest body of /validate-job.
        submission_bytes: largest body of /submit-job and /submit-batch, inline files included.
        small_body_bytes: largest body of every other route.
        held_bytes: largest sum of the bodies that are read and checked at once, uploads excepted.
        batch_rows: most rows of a batch.
        validation_rows: most rows of one validation.
        page_rows: most jobs of a page.
        file_rows: most files of a page.
        inline_wait_s: seconds that POST /result waits for a batch's archive before it answers 202.
        link_s: seconds that a signed link works.
        output_bytes: a run's outputs are kept up to this size; archives with more are refused by readers.
        free_disk_bytes: below this much free space nothing new is accepted or started.
        storage_bytes: of an account's files, settings and results together; 0 for no limit.
        ballast_bytes: kept to be let go when the disk is full, so that jobs can still be stopped and deleted.
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
    """The dispatcher's rhythm, in seconds.

    Attributes:
        sweep_s: time between two recoveries.
        need_s: the same while the disk has no space for new work, so that what is deleted goes at once.
        poll_min_s: shortest time between two looks at a running attempt.
        poll_max_s: longest time between two looks.
        retry_s: wait before the second attempt; doubled for each further one.
        grace_s: time between TERM and KILL.
    """

    sweep_s: float = 15.0
    need_s: float = 1.0
    poll_min_s: float = 0.05
    poll_max_s: float = 1.0
    retry_s: float = 5.0
    grace_s: float = 10.0

    def until_sweep_s(self, *, has_space: bool) -> float:
        """Time until the next recovery."""
        return self.sweep_s if has_space else min(self.sweep_s, self.need_s)


@dataclass(frozen=True)
class TrialTerms:
    """What POST /agent/provision gives, and how often.

    Attributes:
        is_open: whether trial keys are given out at all; an embedded service never does.
        jobs: jobs of an unclaimed key, in all.
        monthly_jobs: jobs of a claimed account in a calendar month (UTC).
        days: life of an unclaimed key.
        hourly_per_source: keys that one address gets within an hour.
        hourly: keys that all addresses together get within an hour.
        allowance_weighted_hours: largest estimate of a free-energy submission of an unclaimed key.
        trial_storage_bytes: of an unclaimed account's files, settings and results together; 0 for no limit.
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
    """One service.

    Attributes:
        data_dir: folder of the database, jobs, files and the key.
        host: address to listen on.
        port: 0 for any free one.
        rate_limit: whether requests are limited per key.
        embedded: one per user, private, stops when idle.
        idle_stop_s: seconds without request or job after which an embedded service stops.
        engine_paths: more folders that hold engines.
        public_url: address that signed links begin with; None for the one that was asked.
        allowed_hosts: names that it answers to besides those of this machine; without any, an embedded
            service answers to this machine's only and another one to every name.
        trusted_proxies: addresses whose word is taken for whom they ask for (`X-Forwarded-For`).
        workers: jobs at once at most; None for what cores and memory allow.
        has_dispatcher: False keeps every job in the queue (tests of the queue itself).
        allows_deployment: whether an admin key may register commands as tools; an embedded service, whose
            user could run them anyway, always allows it.
        has_router: whether POST /model-router recommends tools.
        email: address of the account that the service's own key acts for.
        limits: sizes and rates.
        trials: terms of the keys that POST /agent/provision gives.
        pace: rhythm of the dispatcher.
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
    has_dispatcher: bool = True
    allows_deployment: bool = False
    has_router: bool = True
    email: str = "local@foldnote.invalid"
    limits: Limits = field(default_factory=Limits)
    trials: TrialTerms = field(default_factory=TrialTerms)
    pace: DispatcherTiming = field(default_factory=DispatcherTiming)
