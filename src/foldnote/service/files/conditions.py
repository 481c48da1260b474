"""Classify an OSError: the disk is full, fails temporarily, or the file itself is invalid.

Only the first two may pass, so only these are retried unchanged.
"""

from __future__ import annotations

import errno

from foldnote.io import FULL_DISK

_PASSING = (
    frozenset({errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}) | FULL_DISK
)


def is_full(fault: OSError) -> bool:
    """Return whether the disk or quota was full."""
    return fault.errno in FULL_DISK


def is_passing(fault: OSError) -> bool:
    """Return whether a retry may succeed: the disk was full, failed or away, or file handles ran out."""
    return fault.errno in _PASSING
