"""The executor ``dask``: the workers of an existing Dask cluster, used as slots.

Dask only carries the order of an attempt to a worker, where an agent fetches the attempt from the service.
Each attempt is bound to one worker that the dispatcher has chosen, so no more are in flight than fit; Dask
never retries one. A future that is done, failed or lost is only a hint to poll the attempt: a scheduler that
dies loses its tasks, not our jobs.

A task runs further attempts as long as its slot receives them, for at most a minute. Then it ends, so that
other users' tasks get their turn.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from foldnote import settings
from foldnote.errors import ConfigurationError
from foldnote.service.node.agent_link import run_here
from foldnote.service.node.order import NodeOrder
from foldnote.service.queue.executors.node_environment import read_environment
from foldnote.service.queue.executors.node_executor import NodeExecutor
from foldnote.service.queue.executors.nodes import NodeAttempts
from foldnote.service.queue.executors.protocol import (
    AttemptIdentity,
    AttemptOrder,
    Capacity,
    UnreachableError,
)
from foldnote.service.queue.executors.slots import SlotTerms
from foldnote.service.runner.attempt import AttemptState

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)
_POLL_S = 1.0
_CONNECT_S = 5.0
_RETRY_MAX_S = 15.0
_CLOSE_S = 2.0
_TASK_TIME_S = 60.0
"""Time during which one task of Dask begins attempts."""
_UNLIMITED_MB = 1 << 30


@dataclass(frozen=True)
class DaskOptions:
    """The section of an executor of the kind ``dask``; all paths are those of the workers' machines.

    Attributes:
        address: address of the scheduler, such as ``tls://head.example.org:8786``.
        service_url: address at which the workers reach the service.
        tls_ca_file: certificates of the CA that signed the cluster's, for an address with ``tls://``.
        tls_cert: certificate of this service for the cluster.
        tls_key: its key.
        engines_dir: folder of the engines' environments.
        weights_dir: folder of the weights.
        engine_path: additional folders of engines, separated as in PATH.
        node_dir: folder of the attempts' files.
    """

    address: str
    service_url: str
    tls_ca_file: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    engines_dir: str = ""
    weights_dir: str = ""
    engine_path: str = ""
    node_dir: str = ""

    @classmethod
    def read(cls, name: str, options: Mapping[str, Any]) -> Self:
        """Check the options of the section ``[executors.NAME]``.

        Raises:
            ConfigurationError: one is unknown, missing or not text.
        """
        where = f"The section [executors.{name}] of config.toml"
        known = {each.name for each in fields(cls)}
        settings.require_known_options(where, options.keys() - {"service_url"}, known - {"service_url"})
        for key, value in options.items():
            if not isinstance(value, str):
                raise ConfigurationError(f"{where} sets {key} to {value!r}; it must be text.")
        address = str(options.get("address", ""))
        if not address.startswith(("tcp://", "tls://")):
            raise ConfigurationError(
                f"{where} needs address, the Dask scheduler's, which begins with tcp:// or tls://;"
                f" it is {address!r}."
            )
        read = cls(**options)
        if address.startswith("tls://") and not (read.tls_ca_file and read.tls_cert and read.tls_key):
            raise ConfigurationError(
                f"{where} needs tls_ca_file, tls_cert and tls_key for an address with tls://."
            )
        return read

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the agents on the workers."""
        return read_environment(self)


@dataclass
class DaskConnection:
    """A connection to the scheduler, and its latest known workers."""

    client: Client
    workers: dict[str, Mapping[str, float]] = field(default_factory=dict)
    """Abstract resources, by address of the worker."""


@dataclass
class MachineCheck:
    """Evidence whether a machine is still alive, after an attempt was lost on it."""

    last_seen: float | None = None
    """The last sign of life, in the scheduler's time, at the first query; None until then."""


class DaskExecutor(NodeExecutor):
    """Slots of a Dask cluster; one thread keeps the connection.

    Args:
        attempts: attempts of all executors of other machines.
        options: its section of the configuration.
    """

    has_lines = True

    def __init__(self, attempts: NodeAttempts, options: DaskOptions) -> None:
        super().__init__(attempts)
        self._options = options
        self._connection: DaskConnection | None = None
        self._machines: tuple[Capacity, ...] = ()
        self._delivered: dict[str, tuple[str, Future]] = {}
        """Machine and future, by nonce, of attempts that Dask may still start, or that followed one in its
        slot."""
        self._unresponsive: set[str] = set()
        """Machines that lost an attempt by the expiry of its lease, until a task of Dask ends there."""
        self._suspected: dict[str, MachineCheck] = {}
        """Machines that lost an attempt, and that Dask may still list although they are gone."""
        self._on_hint: Callable[[str], None] = lambda _: None
        self._lock = threading.Lock()
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run_connection_loop, name="dask", daemon=True)

    def open(self, on_ended: Callable[[str], None]) -> None:
        """See the protocol; connecting does not delay the service."""
        super().open(on_ended)
        self._on_hint = on_ended
        if not self._thread.is_alive():
            self._thread.start()

    def close(self) -> None:
        """See the protocol."""
        self._is_closing.set()
        if self._thread.is_alive():
            self._thread.join(_CONNECT_S)

    def capacity(self) -> tuple[Capacity, ...]:
        """See the protocol; no machines while the scheduler cannot be reached.

        Silent machines come last, since Dask may take minutes to notice that one cannot be reached. A machine
        that lost an attempt is closed until its next sign of life.
        """
        machines, unresponsive, suspected = self._machines, self._unresponsive, self._suspected
        if suspected:
            machines = tuple(replace(each, is_open=each.machine not in suspected) for each in machines)
        return (
            tuple(sorted(machines, key=lambda each: each.machine in unresponsive))
            if unresponsive
            else machines
        )

    def submit(self, order: AttemptOrder) -> None:
        """See the protocol.

        Raises:
            UnreachableError: the scheduler or the worker cannot be reached now.
        """
        connection = self._connection
        if connection is None or order.need.machine not in connection.workers:
            raise UnreachableError("The Dask cluster cannot be reached.")
        nonce, slots = order.identity.nonce, self.attempts.slots
        on_slot_lost = lambda: self._redeliver(order)  # noqa: E731
        if order.at_once:
            slot = slots.line_up(
                self, order, lambda previous: self._take_over_slot(previous, nonce), on_slot_lost
            )
        else:
            slot = slots.reserve(self, order, on_slot_lost)
        if slot is not None:
            self._take_over_slot(slot.nonce, nonce)
            slot.wake()
        elif not order.at_once:
            self._deliver(connection, order)

    def _take_over_slot(self, previous: str, nonce: str) -> None:
        """Note that an attempt took over the slot of an earlier one."""
        with self._lock:
            if previous in self._delivered:
                self._delivered[nonce] = self._delivered.pop(previous)

    def _deliver(self, connection: DaskConnection, order: AttemptOrder) -> None:
        identity, machine = order.identity, order.need.machine
        work = {
            "url": self._options.service_url,
            "job_id": identity.job_id,
            "number": identity.number,
            "nonce": identity.nonce,
        }
        self.attempts.slots.expect(identity.nonce, SlotTerms(self, order.need, _TASK_TIME_S), order.line)
        try:
            future = connection.client.submit(
                run_here,
                work,
                self._options.environment,
                key=f"foldnote-{identity.job_id}-{identity.number}-{identity.nonce[:8]}",
                workers=[machine],
                allow_other_workers=False,
                retries=0,
                pure=False,
                resources=_requested_resources(order.need, connection.workers[machine]),
            )
        except Exception as exc:  # a breaking connection raises various exceptions
            raise UnreachableError(f"The Dask cluster did not take the run: {exc}.") from exc
        with self._lock:
            self._delivered[identity.nonce] = (machine, future)
        future.add_done_callback(lambda done: self._on_future_done(identity, done))

    def _redeliver(self, order: AttemptOrder) -> None:
        """Deliver an attempt whose slot turned out to be gone."""
        nonce = order.identity.nonce
        with self._lock:
            self._delivered.pop(nonce, None)
        connection = self._connection
        try:
            if connection is not None and order.need.machine in connection.workers:
                self._deliver(connection, order)
        except UnreachableError as exc:
            log.warning("job %s: %s", order.identity.job_id, exc.message)
        self._on_hint(nonce)

    def _on_future_done(self, identity: AttemptIdentity, future: Future) -> None:
        if future.status == "error":
            fault = str(future.exception(timeout=1)).rstrip(".")
            self._record_failed_start(identity, f"The Dask worker failed: {fault}.")
        elif future.status == "finished":
            self._record_failed_start(
                identity, "The Dask worker could not start the run: it did not reach the service."
            )
        with self._lock:
            finished_nonces = [nonce for nonce, row in self._delivered.items() if row[1] is future]
            if future.status == "finished":
                self._unresponsive = self._unresponsive - {
                    self._delivered[nonce][0] for nonce in finished_nonces
                }
            for nonce in finished_nonces:
                del self._delivered[nonce]
        for nonce in {identity.nonce, *finished_nonces}:
            self.attempts.slots.release(nonce)
            self._on_hint(nonce)

    def _record_failed_start(self, identity: AttemptIdentity, reason: str) -> None:
        """Record why an attempt did not begin; if no retry can help, this ends the job."""
        if self.attempts.is_wanted(identity) and not self.attempts.has_begun(identity):
            log.warning("job %s: %s", identity.job_id, reason)
            with contextlib.suppress(OSError):  # then the attempt is merely retried
                self.attempts.record_failed_start(identity, reason)

    def holds(self, identity: AttemptIdentity) -> bool:
        """See the base class."""
        if self.attempts.slots.is_enqueued(identity.nonce):
            return True
        with self._lock:
            machine, _ = self._delivered.get(identity.nonce, ("", None))
        connection = self._connection
        return connection is not None and machine in connection.workers

    def poll(self, identity: AttemptIdentity) -> AttemptState:
        """See the protocol; an attempt reported as lost may have been lost together with its machine."""
        state = super().poll(identity)
        if state.outcome is not None and state.outcome.state == "lost":
            self._suspect_machine(identity)
        return state

    def _suspect_machine(self, identity: AttemptIdentity) -> None:
        """Close the machine of a lost attempt until its next sign of life."""
        order = NodeOrder.read(self.attempts.root / identity.place)
        if order is not None:
            with self._lock:
                self._suspected = {**self._suspected, order.machine: MachineCheck()}

    def revoke(self, identity: AttemptIdentity) -> bool:
        """See the protocol; the task is dropped, too."""
        had_begun = self.attempts.has_begun(identity)
        is_revoked = super().revoke(identity)
        if is_revoked and not self.attempts.slots.dequeue(identity.nonce):
            with self._lock:
                machine, future = self._delivered.pop(identity.nonce, ("", None))
            if had_begun or future is not None:
                self._suspect_machine(identity)
            if future is not None:
                self._unresponsive = {*self._unresponsive, machine}
                with contextlib.suppress(Exception):  # the connection may be broken
                    future.release()  # does not wait; nobody else holds the future, so Dask drops the task
        return is_revoked

    # the connection

    def _run_connection_loop(self) -> None:
        pause = _POLL_S
        while not self._is_closing.is_set():
            try:
                if self._connection is None:
                    self._connection = DaskConnection(self._connect())
                self._update_workers(self._connection)
                pause = _POLL_S
            except Exception as exc:  # noqa: BLE001  whatever a broken connection raises
                if self._connection is not None or pause == _POLL_S:
                    log.warning("The Dask scheduler %s cannot be reached: %s", self._options.address, exc)
                self._disconnect()
                pause = min(2 * pause, _RETRY_MAX_S)
            self._is_closing.wait(pause)
        self._disconnect()

    def _connect(self) -> Client:
        from distributed import Client, Security

        options = self._options
        security = None
        if options.address.startswith("tls://"):
            security = Security(
                tls_ca_file=options.tls_ca_file,
                tls_client_cert=options.tls_cert,
                tls_client_key=options.tls_key,
                require_encryption=True,
            )
        return Client(
            options.address, timeout=_CONNECT_S, security=security, set_as_default=False, name="foldnote"
        )

    def _update_workers(self, connection: DaskConnection) -> None:
        """Update the list of workers.

        Raises:
            ConnectionError: the scheduler is gone.
        """
        if connection.client.status != "running":
            raise ConnectionError("the connection was lost")
        suspected_before = self._suspected
        found = connection.client.scheduler_info(n_workers=-1)["workers"]
        connection.workers = {address: row["resources"] for address, row in found.items()}
        previous, self._machines = (
            self._machines,
            tuple(_worker_capacity(*each) for each in sorted(found.items())),
        )
        if self._machines != previous:
            with self._lock:
                left = [nonce for nonce, row in self._delivered.items() if row[0] not in found]
            for nonce in left:
                self._on_hint(nonce)
            self._on_hint("")  # there may be room for queued jobs
        if suspected_before:
            self._reopen_seen_machines(suspected_before, found)

    def _reopen_seen_machines(
        self, suspected_before: Mapping[str, MachineCheck], found: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Open the machines that gave a sign of life since the first query after a loss.

        Args:
            suspected_before: the machines that were closed before the scheduler was queried.
            found: its response; machines missing from it are gone.
        """
        with self._lock:
            suspected = dict(self._suspected)
            for machine, check in suspected_before.items():
                last_seen = found[machine]["last_seen"] if machine in found else None
                if suspected.get(machine) is not check:  # closed again
                    continue
                if last_seen is None or (check.last_seen is not None and last_seen > check.last_seen):
                    del suspected[machine]
                elif check.last_seen is None:
                    check.last_seen = last_seen
            self._suspected = suspected
        if len(suspected) < len(suspected_before):
            self._on_hint("")  # there may be room for queued jobs

    def _disconnect(self) -> None:
        """Drop the connection and all attempts that it might still start."""
        connection, self._connection, self._machines = self._connection, None, ()
        with self._lock:
            nonces = list(self._delivered)
            self._delivered.clear()
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.client.close(timeout=_CLOSE_S)
        for nonce in nonces:
            self.attempts.slots.release(nonce)
            self._on_hint(nonce)


def _worker_capacity(address: str, row: Mapping[str, Any]) -> Capacity:
    """Describe a worker by its resources ``cores``, ``memory`` (bytes) and ``GPU``, or by its report."""
    resources = row["resources"]
    memory = resources.get("memory") or row.get("memory_limit") or 0
    return Capacity(
        cores=int(resources.get("cores") or row["nthreads"]),
        memory_mb=int(memory) >> 20 if memory else _UNLIMITED_MB,
        gpus=int(resources.get("GPU", 0)),
        machine=address,
        slots=int(row["nthreads"]),
    )


def _requested_resources(need: Capacity, offered: Mapping[str, float]) -> dict[str, float]:
    """Return the run's share of the abstract resources that its worker has."""
    requested = {"cores": need.cores, "memory": need.memory_mb << 20, "GPU": need.gpus}
    return {name: float(amount) for name, amount in requested.items() if name in offered and amount}


def make_executor(name: str, options: Mapping[str, Any], attempts: NodeAttempts) -> DaskExecutor:
    """Return the executor of the section ``[executors.NAME]``.

    Raises:
        ConfigurationError: its options are wrong, or ``distributed`` is not installed.
    """
    read = DaskOptions.read(name, options)
    if find_spec("distributed") is None:
        raise ConfigurationError(
            f"The executor {name!r} needs the package distributed: pip install 'foldnote[dask]'."
        )
    return DaskExecutor(attempts, read)
