"""Wrong nonces and tokens of nodes are limited; other refusals do not count."""

import pytest
from fastapi import Request

import foldnote.service.http.routes.paths  # noqa: F401 - registers the routes' parameter type
from foldnote.service.faults import RefusalError, no_space
from foldnote.service.http.routes.nodes import RejectedAttempts
from foldnote.service.queue.executors.nodes import attempt_refused

NODE = Request({"type": "http", "client": ("192.0.2.7", 40_000)})


async def find_statuses(rejected, make_refusal, times):
    """Return the statuses of this many refused requests of one node."""

    def refuse():
        raise make_refusal()

    statuses = []
    for _ in range(times):
        with pytest.raises(RefusalError) as refused:
            await rejected.guard(NODE, refuse)
        statuses.append(refused.value.status)
    return statuses


async def test_wrong_tokens_are_limited():
    assert 429 in await find_statuses(RejectedAttempts(), attempt_refused, 40)


async def test_the_limit_names_what_was_too_much():
    """A node presents no key, so the sentence names none."""
    rejected = RejectedAttempts()
    await find_statuses(rejected, attempt_refused, 40)

    def refuse():
        raise attempt_refused()

    with pytest.raises(RefusalError, match="^Too many rejected attempts from this address. Try again in"):
        await rejected.guard(NODE, refuse)


async def test_other_refusals_do_not_use_up_the_limit():
    rejected = RejectedAttempts()
    assert set(await find_statuses(rejected, no_space, 40)) == {507}
    assert await find_statuses(rejected, attempt_refused, 1) == [403]
