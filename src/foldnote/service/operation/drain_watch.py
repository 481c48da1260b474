"""Watch the marker for draining: log it, report when no job is running, and start jobs again."""

from __future__ import annotations

import asyncio
import logging

from foldnote.service.composition import Service

log = logging.getLogger(__name__)
CHECK_INTERVAL_S = 1.0


async def watch_draining(service: Service) -> None:
    """Check once a second, until cancelled."""
    was_on, quiet_looks = False, 0
    while True:
        is_on = service.draining.is_on()
        running = service.dispatcher.count_running()
        if is_on and not was_on:
            log.warning("draining: no new jobs are taken or started; %d run", running)
            quiet_looks = 0
        elif was_on and not is_on:
            log.warning("draining ended: jobs are taken and started again")
            service.dispatcher.wake()
        if is_on:
            quiet_looks = 0 if running else quiet_looks + 1
            if quiet_looks == 2:  # the second check sees a job that was being claimed when draining began
                log.warning("drained: nothing runs; the service can be stopped")
        was_on = is_on
        await asyncio.sleep(CHECK_INTERVAL_S)
