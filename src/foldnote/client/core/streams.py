"""Write each stream once, and serve it as an iterator or an asynchronous iterator.

A stream is an operation that gives several values, each as soon as it has it: it yields ``Emit(value)``
beside the effects of ``operations``. The ``stream`` descriptor makes the method that a user calls: on a
synchronous client it returns an iterator, on an asynchronous client an asynchronous one, and type checkers
know which. Nothing is requested before the first value is asked for, nor between two of them.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from foldnote.client.core.operations import AsyncApi, AsyncTransport, Effect, SyncApi, Transport
from foldnote.errors import FoldnoteError

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")


@dataclass(frozen=True)
class Emit(Generic[T]):
    """A value for whoever iterates."""

    value: T


Stream = Generator[Effect | Emit[T], Any, None]


def iterate(steps: Stream[T], transport: Transport) -> Iterator[T]:
    """The values of ``steps``, each performed when it is asked for."""
    try:
        wanted = next(steps, None)
        while wanted is not None:
            if isinstance(wanted, Emit):
                yield wanted.value
                wanted = next(steps, None)
                continue
            try:
                outcome = transport.perform(wanted)
            except FoldnoteError as exc:
                wanted = _fail(steps, exc)
            else:
                wanted = _go_on(steps, outcome)
    finally:
        steps.close()  # what the steps hold open is given back at once, also when the iteration is left


async def iterate_async(steps: Stream[T], transport: AsyncTransport) -> AsyncIterator[T]:
    """The values of ``steps``, each awaited when it is asked for."""
    try:
        wanted = next(steps, None)
        while wanted is not None:
            if isinstance(wanted, Emit):
                yield wanted.value
                wanted = next(steps, None)
                continue
            try:
                outcome = await transport.perform(wanted)
            except FoldnoteError as exc:
                wanted = _fail(steps, exc)
            else:
                wanted = _go_on(steps, outcome)
    finally:
        steps.close()  # what the steps hold open is given back at once, also when the iteration is left


def _go_on(steps: Stream[T], outcome: object) -> Effect | Emit[T] | None:
    """What the steps want next; None at their end."""
    try:
        return steps.send(outcome)
    except StopIteration:
        return None


def _fail(steps: Stream[T], exc: FoldnoteError) -> Effect | Emit[T] | None:
    """What the steps want after a fault; None at their end."""
    try:
        return steps.throw(exc)
    except StopIteration:
        return None


class stream(Generic[S, P, T]):  # noqa: N801  reads as a decorator
    """A generator method that gives values, as what a user iterates over."""

    def __init__(self, steps: Callable[Concatenate[S, P], Stream[T]]) -> None:
        self.steps = steps
        self.__doc__ = steps.__doc__

    @cached_property
    def signature(self) -> inspect.Signature:
        """Of the method that a user calls; made when it is first wanted, since there are many."""
        whole = inspect.signature(self.steps)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    @overload
    def __get__(self, api: SyncApi, owner: type | None = None) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, api: AsyncApi, owner: type | None = None) -> Callable[P, AsyncIterator[T]]: ...
    @overload
    def __get__(self, api: None, owner: type | None = None) -> stream[S, P, T]: ...

    def __get__(self, api: Any, owner: type | None = None) -> Any:
        """The method of ``api``; of the class, the descriptor itself."""
        if api is None:
            return self
        driver: Callable[[Stream[T], Any], Any] = iterate_async if isinstance(api, AsyncApi) else iterate

        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return driver(self.steps(api, *args, **kwargs), api._transport)

        call.__name__, call.__qualname__ = self.steps.__name__, self.steps.__qualname__
        call.__doc__ = self.__doc__
        call.__dict__["__signature__"] = self.signature  # what help() and a notebook's ? show
        return call
