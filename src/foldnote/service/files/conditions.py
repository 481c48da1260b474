"""Classify an OSError: the disk is full, fails temporarily, or the file itself is at fault.

Only the first two may pass, so only these are retried unchanged.
"""

from __future__ import annotations

import errno

from foldnote.io import FULL_DISK

_PASSING = (
    frozenset({errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}) | FULL_DISK
)


def is_full(fault: OSError) -> bool:
    """Whether the disk or quota was full."""
    return fault.errno in FULL_DISK


def is_passing(fault: OSError) -> bool:
    """Whether a retry may succeed: the disk was full, failed or unreachable, or too many files were open."""
    return fault.errno in _PASSING
