"""Folders that hold a person's own data: made for this user alone, and refused where they are another's.

Who owns a folder can replace what is in it, also a file that only its writer may read: for one, that with the
address and the key of the embedded service. So can who laid out a folder or link on the way to it in a place
where everybody can write, such as ``/tmp``. Folders of root that not everybody can write are trusted; all are
on systems without owners.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from foldnote.errors import ConfigurationError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITERS = stat.S_IWGRP | stat.S_IWOTH
_MAX_LINKS = 40
"""More than Linux follows."""
_REMEDY = "Set FOLDNOTE_HOME to a folder of your own"


def make_own(path: Path, remedy: str = _REMEDY, *, below: Path | None = None) -> Path:
    """Make the folder ``path`` if it is absent, closed to other users, and give it back.

    One of this user's that is open to others is closed. The owner of a folder above could put another one in
    its place, so that the one ``below`` which it is made must be this user's, too.

    Raises:
        OSError: it cannot be made.
        ConfigurationError: another user could read or replace what is in it.
    """
    check_way(path, remedy)  # before anything is created where another user wants it
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found, user = path.stat(), _user()
    check_owner(path, found, remedy)
    if found.st_uid == 0 != user and user is not None and found.st_mode & stat.S_IWOTH:
        raise ConfigurationError(
            f"Everybody can write to the folder {path}, and so replace what you keep there. {remedy}."
        )
    if found.st_mode & _OTHERS and found.st_uid == user:
        with contextlib.suppress(OSError):  # a file system that keeps no modes
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
    if below is not None:
        check_owner(below, None, remedy)
    return path


def check_owner(path: Path, found: os.stat_result | None = None, remedy: str = _REMEDY) -> None:
    """Let pass a folder of this user or of root, to which no other user can have led.

    Root may also use another user's folder that only its owner can write, such as a mount of a container.

    Raises:
        OSError: there is no such folder.
        ConfigurationError: it is another user's.
    """
    found = found or path.stat()
    user = _user()
    if user is None or found.st_uid in (0, user) or (user == 0 and not found.st_mode & _WRITERS):
        check_way(path, remedy)
        return
    raise ConfigurationError(
        f"The folder {path} belongs to another user ({_name(found.st_uid)}), who could read and replace what"
        f" you keep there. {remedy}."
    )


def check_way(path: Path, remedy: str = _REMEDY) -> None:
    """Refuse a path that leads over a folder or link which another user put where everybody can write.

    The path need not exist; what exists of it is looked at.

    Raises:
        ConfigurationError: another user can lead the path elsewhere.
    """
    user = _user()
    if user is None:
        return
    for place, found, above in _list_way(path):
        if found.st_uid not in (0, user) and above.stat().st_mode & stat.S_IWOTH:
            raise ConfigurationError(
                f"{place}, on the way to the folder {path}, belongs to another user ({_name(found.st_uid)}),"
                f" who could put another folder in its place. {remedy}."
            )


def _list_way(path: Path) -> Iterator[tuple[Path, os.stat_result, Path]]:
    """Each folder and link that leads to ``path``, with its status and the folder that it is in.

    Links are followed. It ends at the first that does not exist.
    """
    absolute = path.absolute()
    above, pending = Path(absolute.anchor), [*reversed(absolute.parts[1:])]
    links = 0
    while pending and links <= _MAX_LINKS:
        place = above / pending.pop()
        try:
            found = place.lstat()
        except OSError:
            return
        yield place, found, above
        if stat.S_ISLNK(found.st_mode):
            links += 1
            target = place.readlink()
            pending += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            above = Path(target.anchor) if target.is_absolute() else above
        else:
            above = above.parent if place.name == ".." else place


def _user() -> int | None:
    """The user that this process acts for; None on systems without user numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def _name(user: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(user).pw_name
    except (ImportError, KeyError):
        return f"number {user}"
