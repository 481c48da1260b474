"""Watch and drain a service, and show its own key."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from foldnote import settings
from foldnote.errors import ConfigurationError
from foldnote.models.status import JobStatus
from foldnote.service.admin.opening import Report, use_store
from foldnote.service.draining import Draining
from foldnote.service.layout import KEY_FILE
from foldnote.service.runner.gpus import find_gpus
from foldnote.service.store.store import Store
from foldnote.text import count, format_size

_CHECK_INTERVAL_S = 1.0


def drain(folder: Path, options: argparse.Namespace) -> Report:
    """Let the service take and start no new jobs; with `--wait`, return when no job is running.

    Raises:
        ConfigurationError: the folder has no service.
    """
    return use_store(
        folder, options, lambda store, _: _drain(Draining(folder), store, is_waiting=options.wait)
    )


def _drain(draining: Draining, store: Store, *, is_waiting: bool) -> Report:
    draining.begin()
    idle_checks = 0
    while is_waiting and idle_checks < 2 and draining.is_on():  # a job may just have been claimed
        idle_checks = 0 if store.queue.running() else idle_checks + 1
        time.sleep(_CHECK_INTERVAL_S)
    is_draining, running = draining.is_on(), len(store.queue.running())
    what = f"{count(running, 'job')} still run" if running else "Nothing runs: it can be stopped"
    message = f"The service takes no new jobs. {what}. `foldnote admin resume` undoes this."
    if not is_draining:
        message = "Draining was ended meanwhile: the service takes jobs."
    return {"message": message, "draining": is_draining, "running": running}


def resume(folder: Path, options: argparse.Namespace) -> Report:
    """Let a draining service take and start jobs again.

    Raises:
        ConfigurationError: the folder has no service.
    """
    was_on = use_store(folder, options, lambda *_: Draining(folder).end())
    message = "The service takes jobs again." if was_on else "The service was not draining."
    return {"message": message, "wasDraining": was_on}


def show_status(folder: Path, options: argparse.Namespace) -> Report:
    """Show unfinished jobs, whether the service is draining, free disk space, and this machine's GPUs.

    Raises:
        ConfigurationError: the folder has no service.
    """
    jobs = use_store(folder, options, lambda store, _: store.operation.job_totals().unfinished)
    states = (JobStatus.RUNNING, JobStatus.IN_QUEUE)
    running, waiting = (sum(jobs[each] for each in jobs if each[1] == state) for state in states)
    is_draining, free = Draining(folder).is_on(), shutil.disk_usage(folder).free
    found = find_gpus(settings.process_environment())
    drained = "The service is draining: it takes no new jobs." if is_draining else "The service takes jobs."
    figures = f"Running: {running:,}, waiting: {waiting:,}, free disk space: {format_size(free)}."
    return {
        "message": f"{drained} {figures}\n{found.describe()}",
        "draining": is_draining,
        "running": running,
        "waiting": waiting,
        "freeBytes": free,
        "gpus": [{"identity": each.identity, "memoryMb": each.memory_mb or None} for each in found.gpus],
    }


def show_service_key(folder: Path, _: argparse.Namespace) -> Report:
    """Show the service's own key, which may administer it.

    Raises:
        ConfigurationError: the folder has no readable key.
    """
    key_file = folder / KEY_FILE
    try:
        key = key_file.read_text("ascii").strip()
    except OSError as exc:
        raise ConfigurationError(
            f"The key in {key_file} cannot be read: {exc.strerror}. The first start of the service makes it,"
            " for its own user; run this command as that user, with the service's --data-dir."
        ) from exc
    return {"message": key, "key": key, "keyFile": str(key_file)}
