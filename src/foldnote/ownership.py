"""Folders with a user's own data: created private to this user, and refused if another user controls them.

The owner of a folder can replace its files, even those that only this user may read, such as the file with
the address and the key of the embedded service. The same holds for the creator of a parent folder or link in
a world-writable place such as ``/tmp``. Folders of root that are not world-writable are trusted, and all
folders on systems without owners.
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
"""Maximum number of links to follow, as in Linux."""
_REMEDY = "Set FOLDNOTE_HOME to a folder of your own"


def make_own(path: Path, remedy: str = _REMEDY, *, below: Path | None = None) -> Path:
    """Create the folder ``path`` if it is absent, private to this user, and return it.

    An existing folder of this user is made private. The owner of a parent folder could replace it, so the
    folder ``below`` which it is created must belong to this user, too.

    Raises:
        OSError: it cannot be created.
        ConfigurationError: another user could read or replace its contents.
    """
    check_way(path, remedy)  # checked before anything is created in a place chosen by another user
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found, user = path.stat(), _user()
    check_owner(path, found, remedy)
    if found.st_uid == 0 != user and user is not None and found.st_mode & stat.S_IWOTH:
        raise ConfigurationError(
            f"All users can write to the folder {path}, and could replace your files there. {remedy}."
        )
    if found.st_mode & _OTHERS and found.st_uid == user:
        with contextlib.suppress(OSError):  # a file system without modes
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
    if below is not None:
        check_owner(below, None, remedy)
    return path


def check_owner(path: Path, found: os.stat_result | None, remedy: str) -> None:
    """Accept a folder of this user or of root whose path no other user controls.

    Root may also use a folder of another user that only that user can write, such as a container's mount.

    Raises:
        OSError: the folder does not exist.
        ConfigurationError: it belongs to another user.
    """
    found = found or path.stat()
    user = _user()
    if user is None or found.st_uid in (0, user) or (user == 0 and not found.st_mode & _WRITERS):
        check_way(path, remedy)
        return
    raise ConfigurationError(
        f"The folder {path} belongs to another user ({_name(found.st_uid)}), who could read and replace"
        f" your files there. {remedy}."
    )


def check_way(path: Path, remedy: str) -> None:
    """Refuse a path through a folder or link that another user created in a world-writable place.

    The path need not exist; its existing part is checked.

    Raises:
        ConfigurationError: another user can redirect the path.
    """
    user = _user()
    if user is None:
        return
    for place, found, above in _list_way(path):
        if found.st_uid not in (0, user) and above.stat().st_mode & stat.S_IWOTH:
            raise ConfigurationError(
                f"{place}, a parent of the folder {path}, belongs to another user ({_name(found.st_uid)}),"
                f" who could replace it. {remedy}."
            )


def _list_way(path: Path) -> Iterator[tuple[Path, os.stat_result, Path]]:
    """Yield each folder and link on the path ``path``, with its status and its parent folder.

    Links are followed. The iteration ends at the first one that does not exist.
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


def find_other_owner(path: Path) -> str | None:
    """Return the owner of ``path``, or of its nearest existing parent, if it is neither this user nor root.

    Raises:
        OSError: it cannot be examined.
    """
    while not path.exists() and path.parent != path:
        path = path.parent
    owner = path.stat().st_uid
    return None if owner in (0, _user()) else _name(owner)


def _user() -> int | None:
    """Return the effective user id of this process; None on systems without user ids."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def _name(user: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(user).pw_name
    except (ImportError, KeyError):
        return f"number {user}"
