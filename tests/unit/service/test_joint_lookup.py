"""Keys requested together are read by one query."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from foldnote.service.domain.joint_lookup import JointLookup


class Table:
    def __init__(self, fault=None):
        self.reads = []
        self.fault = fault

    def read(self, keys):
        self.reads.append(sorted(keys))
        if self.fault is not None:
            raise self.fault
        return {key: key.upper() for key in keys if key != "unknown"}


async def test_keys_of_one_moment_take_one_query():
    table = Table()
    lookup = JointLookup(table.read)
    found = await asyncio.gather(*map(lookup.find, ["a", "b", "unknown", "a"]))
    assert (found, table.reads) == (["A", "B", None, "A"], [["a", "b", "unknown"]])


async def test_a_key_that_is_asked_for_during_a_query_is_read_by_the_next():
    table = Table()
    lookup = JointLookup(table.read)
    first = asyncio.create_task(lookup.find("a"))
    while not table.reads:
        await asyncio.sleep(0)
    assert await lookup.find("a") == await first == "A"
    assert table.reads == [["a"], ["a"]]


async def test_a_cancelled_request_does_not_cancel_the_others():
    lookup = JointLookup(Table().read)
    one, other = (asyncio.create_task(lookup.find("a")) for _ in range(2))
    await asyncio.sleep(0)
    one.cancel()
    assert await other == "A"


async def test_a_fault_reaches_every_request_and_the_next_query_runs():
    table = Table(OSError("the disk failed"))
    lookup = JointLookup(table.read)
    faults = await asyncio.gather(*map(lookup.find, ["a", "b"]), return_exceptions=True)
    assert [type(each) for each in faults] == [OSError, OSError]
    table.fault = None
    assert await lookup.find("a") == "A"


def test_requests_of_several_event_loops_wait_each_in_its_own():
    table = Table()
    lookup = JointLookup(table.read)

    def ask(key):
        return asyncio.run(asyncio.wait_for(lookup.find(key), 10))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, "abcdefgh" * 5)) == list("ABCDEFGH" * 5)


async def test_a_brief_query_runs_at_once_and_raises_its_error():
    table = Table()
    lookup = JointLookup(table.read, is_brief=True)
    assert await asyncio.gather(*map(lookup.find, ["a", "unknown"])) == ["A", None]
    assert table.reads == [["a"], ["unknown"]]
    table.fault = OSError("the disk failed")
    with pytest.raises(OSError, match="the disk failed"):
        await lookup.find("a")
