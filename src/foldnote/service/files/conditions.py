"""Classify an OSError: the disk is full, it fails for now, or the file itself is at fault.

Only the first two pass, so only after these is a thing tried again as it was.
"""

from __future__ import annotations

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_PASSING = frozenset({errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}) | _FULL


def is_full(fault: OSError) -> bool:
    """Whether the disk or quota was full."""
    return fault.errno in _FULL


def is_passing(fault: OSError) -> bool:
    """Whether a repetition may work: the disk was full, failed or unreachable, or too many files open."""
    return fault.errno in _PASSING
