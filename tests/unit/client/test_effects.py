"""Operations written once as generators run with the sync and the async driver."""

import inspect

import pytest
from scripted_world import AtOnce, Awaited, ScriptedAsyncWorld, ScriptedWorld

from foldnote.client.core.operations import Call, Sleep, operation
from foldnote.errors import NotFoundError, ServiceUnreachableError


class Counting:
    """An operation that makes two calls, and closes what it opened."""

    closed = False

    @operation
    def count(self, first: str, *, more: int = 1):
        """Return the sum of two responses."""
        try:
            one = yield Call("GET", first)
            yield Sleep(0.5)
            try:
                two = yield Call("GET", "two")
            except ServiceUnreachableError:
                two = 0
            return one + two + more
        finally:
            self.closed = True


class CountingAtOnce(Counting, AtOnce):
    """The sync class."""


class CountingAwaited(Counting, Awaited):
    """The async class."""


async def value(api, *outcomes):
    if api is CountingAtOnce:
        world = ScriptedWorld(*outcomes)
        return world, api(world).count("one", more=10)
    world = ScriptedAsyncWorld(*outcomes)
    return world, await api(world).count("one", more=10)


FACES = pytest.mark.parametrize("api", [CountingAtOnce, CountingAwaited])


@FACES
async def test_outcomes_go_back_into_the_steps(api):
    world, result = await value(api, 1, 2)
    assert result == 13
    assert [call.url for call in world.calls] == ["one", "two"]
    assert world.pauses == [0.5]


@FACES
async def test_a_lost_answer_is_raised_inside_the_steps(api):
    assert (await value(api, 1, ServiceUnreachableError("gone")))[1] == 11


@FACES
@pytest.mark.parametrize("fault", [NotFoundError("no"), ZeroDivisionError(), KeyboardInterrupt()])
async def test_whatever_ends_the_steps_closes_them(api, fault):
    world = ScriptedWorld() if api is CountingAtOnce else ScriptedAsyncWorld()
    counting = api(world)
    world.perform = failing(fault, awaited=api is CountingAwaited)
    with pytest.raises(type(fault)):
        await settle(counting)
    assert counting.closed


async def settle(counting):
    outcome = counting.count("one")
    return await outcome if inspect.isawaitable(outcome) else outcome


def failing(fault, *, awaited):
    def perform(_):
        raise fault

    async def perform_awaited(_):
        raise fault

    return perform_awaited if awaited else perform


def test_the_method_tells_its_name_its_words_and_its_arguments():
    method = CountingAtOnce(ScriptedWorld()).count
    assert (method.__name__, method.__doc__) == ("count", "Return the sum of two responses.")
    assert list(inspect.signature(method).parameters) == ["first", "more"]


def test_of_the_class_it_is_the_operation_itself():
    assert isinstance(Counting.count, operation)
    assert CountingAtOnce.count.__doc__ == "Return the sum of two responses."


def test_nothing_happens_before_the_awaitable_is_awaited():
    transport = ScriptedAsyncWorld(1, 2)
    CountingAwaited(transport).count("one").close()
    assert transport.calls == []
