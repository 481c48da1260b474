"""Folders that hold a person's own data: made for this user alone, and refused where they are another's.

Who owns a folder can replace what is in it, also a file that only its writer may read: for one, that with the
address and the key of the embedded service. Folders of root are trusted, as is all on systems without owners.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from foldnote.errors import ConfigurationError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITERS = stat.S_IWGRP | stat.S_IWOTH
_REMEDY = "Set FOLDNOTE_HOME to a folder of your own"


def make_own(path: Path, remedy: str = _REMEDY, *, below: Path | None = None) -> Path:
    """Make the folder ``path`` if it is absent, closed to other users, and give it back.

    One of this user's that is open to others is closed. The owner of a folder above could put another one in
    its place, so that the one ``below`` which it is made must be this user's, too.

    Raises:
        OSError: it cannot be made.
        ConfigurationError: it is another user's, who could read and replace what is in it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    check_owner(path, found, remedy)
    if found.st_mode & _OTHERS and found.st_uid == _user():
        with contextlib.suppress(OSError):  # a file system that keeps no modes
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
    if below is not None:
        check_owner(below, None, remedy)
    return path


def check_owner(path: Path, found: os.stat_result | None = None, remedy: str = _REMEDY) -> None:
    """Let pass a folder of this user or of root.

    Root may also use one of another user that nobody else can write, as mounted folders of containers are.

    Raises:
        OSError: there is no such folder.
        ConfigurationError: it is another user's.
    """
    found = found or path.stat()
    user = _user()
    if user is None or found.st_uid in (0, user) or (user == 0 and not found.st_mode & _WRITERS):
        return
    raise ConfigurationError(
        f"The folder {path} belongs to another user ({_name(found.st_uid)}), who could read and replace what"
        f" you keep there. {remedy}."
    )


def _user() -> int | None:
    """The user that this process acts for; None on systems without user numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def _name(user: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(user).pw_name
    except (ImportError, KeyError):
        return f"number {user}"
