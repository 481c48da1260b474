"""Let installers of the same engine or the same weights take turns, and say whom each waits for.

The lock is the system's: that of a process that died is free. Beside it a file says who holds it, for those
who wait.
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

_TRY_S = 1.0
"""How long the lock is tried before the wait is told again; ``tell`` may end the wait by an exception."""


@contextmanager
def wait_for_turn(path: Path, doing: str, tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock on the file ``path``, once nobody else does.

    Args:
        path: a file for this purpose only.
        doing: what is done meanwhile, as others are told it: ``installing anarci``.
        tell: gets about once a second who is waited for, such as ``process 4711 of ada, which has been
            installing anarci since 14:03``.

    Raises:
        OSError: the file cannot be created.
    """
    while True:
        with hold_lock(path, _TRY_S) as is_held:
            if is_held:
                with _say_holder(path, doing):
                    yield
                return
        tell(describe_holder(path))


@contextmanager
def try_turn(path: Path, doing: str) -> Iterator[bool]:
    """Hold the lock on the file ``path`` if nobody else does; gives whether it is held.

    Raises:
        OSError: the file cannot be created.
    """
    with hold_lock(path) as is_held:
        if not is_held:
            yield False
            return
        with _say_holder(path, doing):
            yield True


def describe_holder(path: Path) -> str:
    """Who holds the lock: process, user, what it does and since when, as far as that is known."""
    try:
        row = json.loads(_holder(path).read_text("utf-8"))
        return f"process {row['pid']} of {row['user']}, which has been {row['doing']} since {row['since']}"
    except (KeyError, OSError, TypeError, ValueError):
        return "another process"


@contextmanager
def _say_holder(path: Path, doing: str) -> Iterator[None]:
    since = datetime.now().astimezone().strftime("%H:%M")
    row = {"pid": os.getpid(), "user": _name_user(), "doing": doing, "since": since}
    with suppress(OSError):  # a full disk is told by what needs the room
        write_atomically(_holder(path), json.dumps(row))
    try:
        yield
    finally:
        with suppress(OSError):
            _holder(path).unlink()


def _holder(path: Path) -> Path:
    return path.with_name(f"{path.name}-holder")


def _name_user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name, as in some containers
        return "an unnamed user"
