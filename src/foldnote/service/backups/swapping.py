"""Exchange a data folder's contents for those of a backup, in steps that can be resumed.

Several files cannot be renamed atomically. Therefore the name of the folder with the new contents records the
progress: as `restore-draft` nothing has changed; as `restore-ready-…` the old contents are being moved out;
as `restore-moved-…` the new ones are being moved in. Each step can be repeated.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.io import sync
from foldnote.service.layout import CONTENTS

log = logging.getLogger(__name__)
_DRAFT, _READY, _MOVED = "restore-draft", "restore-ready-", "restore-moved-"
_KEPT = "replaced-"


def begin_restore(data: Path) -> Path:
    """Create an empty folder for the new contents.

    Raises:
        OSError: it cannot be created.
    """
    draft = data / _DRAFT
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    return draft


def swap(data: Path, moment: str) -> Path | None:
    """Move staged contents into place; return the folder with the old ones, None if there were none.

    Raises:
        OSError: a file cannot be renamed; `finish_restore` resumes.
    """
    word = re.sub("[^0-9TZ]", "", moment)
    os.sync()  # syncing each staged file separately takes minutes
    (data / _DRAFT).rename(data / f"{_READY}{word}")
    sync(data)
    finish_restore(data)
    kept = data / f"{_KEPT}{word}"
    return kept if kept.exists() else None


def finish_restore(data: Path) -> None:
    """Complete a restore that was interrupted while changing the folder; discard an earlier one.

    Raises:
        OSError: it cannot be completed now.
    """
    shutil.rmtree(data / _DRAFT, ignore_errors=True)
    for ready in sorted(data.glob(f"{_READY}*")):
        word = ready.name.removeprefix(_READY)
        _move_contents(data, data / f"{_KEPT}{word}")
        ready.rename(data / f"{_MOVED}{word}")
        sync(data)
    for moved in sorted(data.glob(f"{_MOVED}*")):
        _move_contents(moved, data)
        moved.rmdir()
        sync(data)
        log.info("The restore of %s is complete.", data)


def require_complete(data: Path) -> None:
    """Reject a folder with an unfinished restore.

    Raises:
        ConfigurationError: the restore is unfinished.
    """
    if any(data.glob(f"{_READY}*")) or any(data.glob(f"{_MOVED}*")):
        raise ConfigurationError(
            f"A restore of {data} was interrupted. Start the service or restore again to complete it."
        )


def _move_contents(source: Path, target: Path) -> None:
    names = [name for name in CONTENTS if (source / name).exists()]
    if names:
        target.mkdir(mode=0o700, exist_ok=True)
    for name in names:
        (source / name).rename(target / name)
    if names:
        sync(source)
        sync(target)
