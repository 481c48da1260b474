"""Streams with both drivers: when they make requests, how they handle faults, and how they end."""

import inspect

import pytest
from scripted_world import AtOnce, Awaited, ScriptedAsyncWorld, ScriptedWorld, says

from foldnote.client.core.operations import Call, Emit, stream
from foldnote.errors import ServiceUnreachableError


class Counting:
    closed = False

    @stream
    def count(self, most: int):
        """Yield the statuses of ``most`` calls; a lost one counts as 0."""
        try:
            for _ in range(most):
                try:
                    answer = yield Call("GET", "http://x")
                except ServiceUnreachableError:
                    yield Emit(0)
                else:
                    yield Emit(answer.status)
        finally:
            self.closed = True


class CountingAtOnce(AtOnce, Counting): ...


class CountingAwaited(Awaited, Counting): ...


@pytest.fixture(params=["at once", "awaited"])
def make(request):
    def api(*outcomes):
        world = ScriptedWorld(*outcomes) if request.param == "at once" else ScriptedAsyncWorld(*outcomes)
        made = CountingAtOnce(world) if request.param == "at once" else CountingAwaited(world)
        made.world = world
        return made

    return api


async def step(values):
    """Return the next value; None at the end."""
    return await anext(values, None) if hasattr(values, "__anext__") else next(values, None)


async def leave(values):
    if hasattr(values, "aclose"):
        await values.aclose()
    else:
        values.close()


async def test_no_request_is_sent_before_a_value_is_requested(make):
    api = make(says({}), says({}, 201))
    values = api.count(2)
    assert api.world.calls == []
    assert (await step(values), len(api.world.calls)) == (200, 1)
    assert (await step(values), len(api.world.calls)) == (201, 2)


async def test_it_ends_with_its_steps(make):
    api = make(says({}))
    values = api.count(1)
    assert [await step(values), await step(values)] == [200, None]
    assert api.closed


async def test_the_steps_see_the_faults_of_the_world(make):
    api = make(ServiceUnreachableError("gone"), says({}))
    values = api.count(2)
    assert [await step(values), await step(values)] == [0, 200]


async def test_what_is_left_is_closed(make):
    api = make(says({}), says({}))
    values = api.count(2)
    await step(values)
    await leave(values)
    assert api.closed


def test_the_method_tells_its_name_and_signature():
    method = CountingAtOnce(ScriptedWorld()).count
    assert (method.__name__, str(inspect.signature(method))) == ("count", "(most: int)")
    assert "statuses" in method.__doc__
    assert Counting.count.__doc__ == method.__doc__
