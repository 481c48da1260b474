"""Waiting for a change of somebody's jobs, so that one who watches need not ask again and again.

The mark of a state is the account's last event: every change of a job's status writes one, in the same
transaction. Progress writes none; it comes along when something else is answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import sqlalchemy as sa
from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from foldnote.service.composition import Service
from foldnote.service.store.database import Database
from foldnote.service.store.schema import events

LONGEST_WAIT_S = 25.0
_LOOK_S = 0.2


def read_mark(database: Database, account_ids: Sequence[int]) -> str:
    """The mark of these accounts' state as it is now."""
    query = sa.select(events.c.id).where(events.c.account_id.in_(account_ids))
    with database.read() as connection:
        return str(connection.execute(query.order_by(events.c.id.desc()).limit(1)).scalar() or 0)


async def wait_for_change(
    request: Request, service: Service, account_id: int, since: str, wait_s: float
) -> str:
    """Hold the request until the state is another one than `since`, or the time is over; gives its mark."""
    database = service.store.database
    end = time.monotonic() + min(wait_s, LONGEST_WAIT_S)
    version, mark = None, since
    while True:
        if (now := database.version()) != version:
            version, mark = now, await run_in_threadpool(read_mark, database, [account_id])
        if mark != since or time.monotonic() >= end or service.is_closing or await request.is_disconnected():
            return mark
        await asyncio.sleep(_LOOK_S)
