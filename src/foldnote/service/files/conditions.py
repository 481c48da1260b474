"""What a fault of the file system means: the disk is full, it does not answer, or the file is the matter.

Only the first two pass, so only after these is a thing tried again as it was.
"""

from __future__ import annotations

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_PASSING = frozenset({errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}) | _FULL


def is_full(fault: OSError) -> bool:
    """Whether there was no room."""
    return fault.errno in _FULL


def is_passing(fault: OSError) -> bool:
    """Whether the same may work later: the disk was full, failed or out of reach, or too much was open."""
    return fault.errno in _PASSING
