"""One of several replicas of a service; it owns its attempts as long as it renews its lease in the database.

When a replica has been dead for longer than its lease, the others take over its attempts. The runs on its
machine have ended by then: the lease is also in the folders of these attempts, and their runners end with it.
A replica that restarts soon enough finds its name by its lock and continues with its attempts. Replicas on
the same machine see each other's processes and need not wait.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.io import write_atomically
from foldnote.service.layout import REPLICAS
from foldnote.service.lock import FolderLock
from foldnote.service.runner.attempt import boot_time_s
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.replicas import ReplicaRow, ReplicaStore

log = logging.getLogger(__name__)
_MAX_PER_MACHINE = 64
_RENEWALS = 4
"""Renewals during one lease."""


def require_shared_folder(folder: Path, database: str, *, has_replicas: bool) -> None:
    """Check that the folder belongs to the database, whose replicas must all use the same one.

    Args:
        folder: the data folder; it is marked if it is new.
        database: identity of the database.
        has_replicas: whether the database has been used by replicas.

    Raises:
        ConfigurationError: the folder belongs to another database, or the database to another folder.
    """
    mark = folder / REPLICAS / "database"
    with suppress(FileNotFoundError):
        if mark.read_text("ascii") != database:
            raise ConfigurationError(
                f"The data folder {folder} belongs to another database. Give the address of that one, or"
                " another --data-dir."
            )
        return
    if has_replicas:
        raise ConfigurationError(
            f"The replicas of this database share another data folder than {folder}. Give each of them the"
            " same one, on a file system that their machines share."
        )
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(mark, database, is_durable=True)


class ReplicaName:
    """The name of this replica, unique among all processes: the machine's name and a number.

    Args:
        folder: shared by all replicas.
        taken: names that other machines hold; two containers may have the same host name.
    """

    def __init__(self, folder: Path, taken: Collection[str] = ()) -> None:
        """Take the first free name.

        Raises:
            ConfigurationError: the machine has too many replicas.
            OSError: the lock file cannot be created.
        """
        self._folder = folder
        machine = "".join(each if each.isalnum() else "-" for each in socket.gethostname())[:60]
        for number in range(1, _MAX_PER_MACHINE + 1):
            self.name = f"{machine}-{number}"
            if self.name in taken:
                continue
            self._lock = self._make_lock(self.name)
            if self._lock.try_take():
                return
        raise ConfigurationError(f"{_MAX_PER_MACHINE} replicas are running on this machine already.")

    def _make_lock(self, name: str) -> FolderLock:
        place = self._folder / REPLICAS / name
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FolderLock(place, "folder of the replica")

    def is_free(self, name: str) -> bool:
        """Return whether no process of this machine holds the name."""
        lock = self._make_lock(name)
        is_free = lock.try_take()
        lock.release()
        return is_free

    def release(self) -> None:
        """Release the name for other processes."""
        self._lock.release()


class Replica:
    """The lease of this replica; one thread renews it.

    Args:
        store: leases of all replicas.
        own: its name.
        lease_s: duration of a lease after each renewal, in seconds.
    """

    def __init__(self, store: ReplicaStore, own: ReplicaName, lease_s: float) -> None:
        self._store = store
        self._own = own
        self._lease_s = lease_s
        self._machine = find_machine_identity()
        self._on_renewed: Callable[[], None] = lambda: None
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_stopped, name="replica", daemon=True)
        self.until = 0.0
        """Boot time (s) of this machine at which the lease ends."""

    @property
    def name(self) -> str:
        """The name in the database."""
        return self._own.name

    @property
    def has_lease(self) -> bool:
        """Whether enough of the lease is left to start something."""
        return boot_time_s() < self.until - self._lease_s / (2 * _RENEWALS)

    def start(self, on_renewed: Callable[[], None]) -> None:
        """Take the lease and keep renewing it; `on_renewed` is called from the thread after each renewal.

        Raises:
            StorageFaultError: the database cannot be written now.
        """
        self._on_renewed = on_renewed
        self._renew()
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing the lease."""
        self._is_stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _renew(self) -> None:
        asked = boot_time_s()  # taken before the moment from which the database counts
        margin_s = margin_of(self._lease_s)
        if not self._store.renew(self.name, self._machine, self._lease_s, margin_s):
            raise StorageFaultError(f"Another machine has the name {self.name}.")
        self.until = asked + self._lease_s

    def _renew_until_stopped(self) -> None:
        pause_s = self._lease_s / _RENEWALS
        while not self._is_stopping.wait(pause_s):
            try:
                self._renew()
                self._on_renewed()
                pause_s = self._lease_s / _RENEWALS
            except (StorageFaultError, OSError) as exc:
                pause_s = min(1.0, self._lease_s / _RENEWALS)
                log.warning("The lease of %s could not be renewed: %s", self.name, exc)
            except Exception:  # outermost handler of the thread
                pause_s = min(1.0, self._lease_s / _RENEWALS)
                log.exception("The lease of %s could not be renewed.", self.name)

    def find_dead(self) -> set[str]:
        """Return the names of the replicas whose attempts may be taken over.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        return {row.name for row in self._store.all() if row.name != self.name and self._is_dead(row)}

    def _is_dead(self, row: ReplicaRow) -> bool:
        if row.machine == self._machine:
            with suppress(OSError):
                return self._own.is_free(row.name)
        return row.lease_left_s < -margin_of(self._lease_s)

    def take_over(self, job_id: int, number: int, before: str) -> bool:
        """Take over an attempt of a dead replica; return False if another replica was faster.

        Raises:
            StorageFaultError: the database cannot be written now.
        """
        return self._store.take_over(job_id, number, before, self.name)


def margin_of(lease_s: float) -> float:
    """Return the seconds from the end of a lease until its runners have killed their engines for certain."""
    return min(15.0, max(1.5, lease_s / 4))


def find_taken(rows: Iterable[ReplicaRow], lease_s: float) -> set[str]:
    """Return the names of replicas on other machines that may be alive."""
    own = find_machine_identity()
    return {row.name for row in rows if row.machine != own and row.lease_left_s > -margin_of(lease_s)}


def find_machine_identity() -> str:
    """Identify one boot of this machine, or of the container on it, whose processes see each other."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116  not a file
    except OSError:
        return f"{socket.gethostname()}:{os.getpid()}"
