"""Assemble one service from its store, queue, files and engines."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path

from foldnote import settings
from foldnote.errors import ConfigurationError
from foldnote.io import hold_lock, sync
from foldnote.ownership import check_owner
from foldnote.service.backups.swapping import finish_restore
from foldnote.service.config import ServiceConfig
from foldnote.service.disk import Disk
from foldnote.service.domain.access.allowance import Allowance
from foldnote.service.domain.access.gate import Gate
from foldnote.service.domain.access.hub_options import HubOptions
from foldnote.service.domain.access.hub_sign_in import HubSignIn
from foldnote.service.domain.access.keys import hash_key, make_key, read_or_make_key_file
from foldnote.service.domain.access.limiter import RateLimiter
from foldnote.service.domain.access.storage import StorageService
from foldnote.service.domain.access.trials import TrialService
from foldnote.service.domain.batch_archives import Aggregator
from foldnote.service.domain.cursors import PageKeys
from foldnote.service.domain.deployment import DeploymentService
from foldnote.service.domain.direct_uploads import DirectUploads
from foldnote.service.domain.file_resolution import FileResolver
from foldnote.service.domain.intake import Intake
from foldnote.service.domain.joint_lookup import JointLookup
from foldnote.service.domain.pipelines.stage_scheduler import StageScheduler
from foldnote.service.domain.pipelines.submission import PipelineService
from foldnote.service.domain.result_links import ResultService
from foldnote.service.domain.screening import ScreeningService
from foldnote.service.domain.sharing import Sharing
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.domain.webhooks.webhook_options import WebhookOptions
from foldnote.service.domain.webhooks.webhook_rules import WebhookRules
from foldnote.service.domain.webhooks.webhook_sender import WebhookSender
from foldnote.service.draining import Draining
from foldnote.service.engines import load_engines
from foldnote.service.files.links import LinkSigner
from foldnote.service.files.object_opening import open_objects
from foldnote.service.layout import CONTENTS, DATABASE, JOBS, KEY_FILE, REPLICAS
from foldnote.service.lock import FolderLock
from foldnote.service.queue.dispatcher import Dispatcher
from foldnote.service.queue.executors.local import LocalExecutor
from foldnote.service.queue.executors.nodes import NodeAttempts
from foldnote.service.queue.executors.protocol import Executor
from foldnote.service.queue.executors.table import LOCAL, Executors, ExecutorTable, make_executor
from foldnote.service.queue.replica import Replica, ReplicaName, find_taken, require_shared_folder
from foldnote.service.store import opening
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.events import read_state_tokens
from foldnote.service.store.quotas import Quotas
from foldnote.service.store.sqlite_database import SqliteDatabase
from foldnote.service.store.store import Store

log = logging.getLogger(__name__)
_KEY_S = 10.0


class Service:
    """A running service on its own data folder, or one of several replicas that share a folder.

    Raises:
        ConfigurationError: another service uses the folder, or it cannot hold a database.
        EngineError: an ``engine.toml`` is invalid.
    """

    def __init__(self, config: ServiceConfig) -> None:
        self.config = config
        _make_folder(config.data_dir)
        _make_private(config.data_dir)
        limits = config.limits
        self.disk = Disk(config.data_dir, limits.free_disk_bytes, limits.ballast_bytes)
        self._lock: FolderLock | ReplicaName
        self.replica: Replica | None = None
        if config.store is None:
            self.store = self._open_file(config.data_dir)
        else:
            self.store = self._open_server(config.data_dir, config.store)
        own = config.data_dir / REPLICAS / self.replica.name if self.replica else None
        self.draining = Draining(config.data_dir, own)
        name = self.replica.name if self.replica else ""
        self.objects = open_objects(config.data_dir, config.objects, name)
        self.objects.clear_drafts()
        secrets = self.store.accounts.link_secrets()
        self.links = LinkSigner(secrets, limits.link_s)
        secret = next(iter(secrets.values()))
        self.page_keys = PageKeys(secret)
        self.first_pages = JointLookup(self.store.first_pages.read)
        """Reads the first pages of several accounts together, where the database is shared."""
        is_shared = self.store.database.is_shared
        self.state_tokens = JointLookup(
            partial(read_state_tokens, self.store.database), is_brief=not is_shared
        )
        """Reads the state tokens of several accounts together."""
        limiter = RateLimiter(limits.requests_per_second, limits.burst)
        self.gate = Gate(self.store.accounts, limiter if config.rate_limit else None)
        self.trials = TrialService(self.store.trials, self.store.accounts, config, secret)
        self.hub = self._find_hub(secret)
        self.local_key = self._make_local_key()
        self.storage = StorageService(self.store.storage, config)
        self.direct_uploads = DirectUploads(self.store, self.objects, self.storage, limits)
        webhook_options = WebhookOptions.read(config.webhooks)
        self.webhooks = WebhookRules(self.store.webhooks, webhook_options)
        self._webhook_sender = WebhookSender(self.store.webhooks, webhook_options)
        self._build_queue(calls_webhooks=webhook_options is not None)
        self.results = ResultService(self.store, self.objects, self.links, self.aggregator)
        self.sharing = Sharing(self.store, self.results)
        self.active_at = time.monotonic()
        self._is_started = False
        self.is_closing = False
        """Whether the service is stopping, so that long-polling requests must be answered."""

    def _open_file(self, folder: Path) -> Store:
        """Open the data folder, which no other service may use."""
        if (folder / REPLICAS).exists():  # a new database lacks the jobs, and their results would be removed
            raise ConfigurationError(
                f"The data folder {folder} belongs to a service whose database is in PostgreSQL. Set its"
                " address in FOLDNOTE_STORE_URL or the section [store] of config.toml, or give another"
                " --data-dir."
            )
        self._lock = FolderLock(folder, "data folder")
        self._lock.take()
        finish_restore(folder)
        opening.check_files(folder / DATABASE)
        store = Store(folder / DATABASE, self._quotas(), self.disk.drop_ballast)
        if isinstance(store.database, SqliteDatabase):
            opening.begin_run(store.database)
        return store

    def _open_server(self, folder: Path, address: StoreAddress) -> Store:
        """Open the database that the replicas share."""
        if (folder / DATABASE).exists():
            raise ConfigurationError(
                f"The data folder {folder} has a database of its own. Give the replicas another --data-dir,"
                " or remove url from the section [store] of config.toml."
            )
        store = Store(address, self._quotas())
        rows = store.replicas.all()
        require_shared_folder(folder, store.queue.identity, has_replicas=bool(rows))
        own = self._lock = ReplicaName(folder, find_taken(rows, address.lease_s))
        self.replica = Replica(store.replicas, own, address.lease_s)
        store.queue.replica = own.name
        return store

    def _find_hub(self, secret: bytes) -> HubSignIn | None:
        options = HubOptions.read(self.config.hub)
        if options is None:
            return None
        return HubSignIn(options, self.store.accounts, self.store.organizations, secret)

    def _quotas(self) -> Quotas:
        return Quotas(self.config.trials.jobs, self.config.trials.monthly_jobs)

    def _build_queue(self, *, calls_webhooks: bool) -> None:
        config = self.config
        self.aggregator = Aggregator(self.store, self.objects, self._webhook_sender.wake)
        engines = load_engines(config.engine_paths)
        self.toolbox = Toolbox(engines, calls_webhooks=calls_webhooks)
        is_open = config.allows_deployment or config.embedded
        self.deployments = DeploymentService(self.store.tools, self.toolbox, config.data_dir, is_open=is_open)
        self.node_attempts, executors = self._build_executors(config.data_dir / JOBS, engines)
        self._local_engines = [each for each in engines.values() if executors.name_for(each) == LOCAL]
        self.dispatcher = Dispatcher(
            self.store,
            self.objects,
            self.toolbox,
            executors,
            config.data_dir / JOBS,
            config.pace,
            config.workers,
            self._on_ended,
            self.disk,
            config.limits.output_bytes,
            self.draining.is_on,
            self.replica,
        )
        self.default_executor = executors.default
        self.files = FileResolver(self.store, self.objects, self.direct_uploads)
        self.scheduler = StageScheduler(self.store, self.objects, self.toolbox, self.files, self._on_released)
        self.pipelines = PipelineService(self.store, self.toolbox, self.files, self.webhooks, self._on_queued)
        allowance = Allowance(self.objects, config.trials.allowance_weighted_hours)
        self.intake = Intake(
            self.store,
            self.toolbox,
            self.files,
            self.dispatcher.wake,
            self.storage,
            self.webhooks,
            limits=config.limits,
            allowance=allowance,
        )
        self.screening = ScreeningService(self.toolbox, self.intake, self.files, config.limits.batch_rows)

    def _build_executors(self, root: Path, engines: Collection[str]) -> tuple[NodeAttempts, Executors]:
        """Return the executors of the configuration, and the attempts that run on other machines."""
        table = ExecutorTable.read(self.config.executors, engines, self.config.public_url)
        self.node_url = table.service_url
        """Address at which other machines reach the service; empty if no executor has any."""
        name = self.replica.name if self.replica else ""
        attempts = NodeAttempts(self.store.node_attempts, root, table.timing, name)
        if not self.objects.is_remote:
            attempts.adopt = self.objects.adopt
        members: dict[str, Executor] = {LOCAL: LocalExecutor(root, settings.process_environment())}
        for name, options in table.sections.items():
            members[name] = make_executor(name, {**options, "service_url": table.service_url}, attempts)
        return attempts, Executors(members, table, attempts)

    def _on_queued(self) -> None:
        self.scheduler.wake()
        self.dispatcher.wake()

    def _on_released(self) -> None:
        self.dispatcher.wake()
        self.aggregator.wake()

    def _on_ended(self) -> None:
        self.scheduler.wake()
        self.aggregator.wake()
        self._webhook_sender.wake()

    def _make_local_key(self) -> str:
        key_file = self.config.data_dir / KEY_FILE
        if self.replica is None:
            key = read_or_make_key_file(key_file)
        else:  # another replica may be starting for the first time, too
            with hold_lock(key_file.with_suffix(".lock"), timeout_s=_KEY_S):
                key = read_or_make_key_file(key_file)
        account = self.store.accounts.ensure_account(self.config.email)
        self.store.accounts.add_key(account, hash_key(key), is_admin=True)
        return key

    def issue_key(self, email: str, tier: str = "full", *, expires: str | None = None) -> str:
        """Issue a key for the account of this address, which is created if missing."""
        key = make_key()
        account = self.store.accounts.ensure_account(email, tier)
        self.store.accounts.add_key(account, hash_key(key), expires=expires)
        return key

    def start(self) -> None:
        """Recover unfinished work and start running jobs; do nothing if already started.

        Raises:
            ConfigurationError: an executor cannot be used.
        """
        if self.config.has_dispatcher and not self._is_started:
            self._is_started = True
            if self.replica is not None:
                self.replica.start(self.dispatcher.extend_leases)
            self.store.database.listen(self.dispatcher.wake)
            self._webhook_sender.start()
            self.aggregator.start()
            self.scheduler.start()
            self.dispatcher.start()
            self._warn_of_lacking_gpus()

    def _warn_of_lacking_gpus(self) -> None:
        """Log which engines assigned to this machine need more GPUs than it has."""
        (local,) = (use for use in self.dispatcher.uses() if use.name == LOCAL)
        number = sum(machine.gpus for machine in local.machines)
        lacking = [
            f"{each.name} ({each.resources.gpus})"
            for each in self._local_engines
            if each.resources.gpus > number and each.state().installed
        ]
        if lacking:
            log.warning(
                "A run of an engine needs more GPUs than this machine has (%d): %s. It gets fewer, and is"
                " slow or fails; assign the engine to an executor that has GPUs.",
                number,
                ", ".join(lacking),
            )

    def stop(self) -> None:
        """Stop; running jobs continue and are adopted at the next start."""
        self.dispatcher.stop()
        if self.replica is not None:
            self.replica.stop()
        self.scheduler.stop()
        self.aggregator.stop()
        self._webhook_sender.stop()
        self.store.close()
        self._lock.release()

    def is_idle(self) -> bool:
        """Return whether no request came for the idle time and no job is queued or running."""
        is_quiet = time.monotonic() - self.active_at >= self.config.idle_stop_s
        return is_quiet and not self.store.queue.has_unfinished()


def _make_folder(folder: Path) -> None:
    """Create the data folder durably; unreadable parents are not synced."""
    new = [each for each in folder.parents if not each.exists()]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_owner(folder, None, "Give another --data-dir")
        for each in (folder, *new):
            with contextlib.suppress(PermissionError):
                sync(each.parent)
    except OSError as exc:
        sentence = f"The data folder {folder} cannot be created: {exc.strerror}. Use another --data-dir."
        raise ConfigurationError(sentence) from exc


def _make_private(folder: Path) -> None:
    """Make files of an earlier version private; others may still see the folder itself."""
    for name in CONTENTS:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            mode = (folder / name).stat().st_mode
            if mode & 0o077:
                (folder / name).chmod(mode & 0o700)
