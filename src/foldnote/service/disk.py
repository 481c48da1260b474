"""Whether there is room for something new."""

from __future__ import annotations

import shutil

from foldnote.service.config import ServiceConfig
from foldnote.service.handlers import no_space


def require_space(config: ServiceConfig) -> None:
    """Let a request pass that will keep something.

    Raises:
        RefusalError: 507 when less than the floor is free.
    """
    if shutil.disk_usage(config.data_dir).free < config.limits.free_disk_bytes:
        raise no_space()
