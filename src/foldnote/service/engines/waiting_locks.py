"""Let installers of the same engine or the same weights take turns, and say for whom each waits.

The lock is the system's, so that of a dead process is free. A file beside it names the holder, for those who
wait.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from foldnote.io import hold_lock, write_atomically

_RETRY_INTERVAL_S = 1.0
"""Interval between two reports of the wait; ``on_wait`` may end the wait by raising an exception."""


@contextmanager
def wait_for_lock(path: Path, doing: str, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock on the file ``path`` as soon as it is free.

    Args:
        path: a file for this purpose only.
        doing: the work done under the lock, as shown to those who wait: ``installing anarci``.
        on_wait: called about once a second with the holder, such as ``process 4711 of ada, which has been
            installing anarci since 14:03``.

    Raises:
        OSError: the file cannot be created.
    """
    while True:
        with hold_lock(path, _RETRY_INTERVAL_S) as is_held:
            if is_held:
                with _publish_holder(path, doing):
                    yield
                return
        on_wait(describe_holder(path))


@contextmanager
def try_lock(path: Path, doing: str) -> Iterator[bool]:
    """Hold the lock on the file ``path`` if it is free; yield whether it is held.

    Raises:
        OSError: the file cannot be created.
    """
    with hold_lock(path) as is_held:
        if not is_held:
            yield False
            return
        with _publish_holder(path, doing):
            yield True


def describe_holder(path: Path) -> str:
    """Describe the holder of the lock, as far as known: process, user, its work and since when."""
    try:
        row = json.loads(_holder_path(path).read_text("utf-8"))
        return f"process {row['pid']} of {row['user']}, which has been {row['doing']} since {row['since']}"
    except (KeyError, OSError, TypeError, ValueError):
        return "another process"


@contextmanager
def _publish_holder(path: Path, doing: str) -> Iterator[None]:
    since = datetime.now().astimezone().strftime("%H:%M")
    row = {"pid": os.getpid(), "user": _name_user(), "doing": doing, "since": since}
    with suppress(OSError):  # a full disk is reported by whatever needs the space
        write_atomically(_holder_path(path), json.dumps(row))
    try:
        yield
    finally:
        with suppress(OSError):
            _holder_path(path).unlink()


def _holder_path(path: Path) -> Path:
    return path.with_name(f"{path.name}-holder")


def _name_user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name, as in some containers
        return "an unnamed user"
