"""Write each operation once, and run it synchronously or asynchronously.

An operation is written once, as a generator: it yields what it needs from the world (a call, a pause, a
download), is sent the outcome, and returns its value. Two small drivers run it, one on ``httpx.Client``, one
on ``httpx.AsyncClient``. The ``operation`` descriptor makes the method that a user calls: on a synchronous
client it returns the value, on an asynchronous client an awaitable of it, and type checkers know which.

A stream is an operation that gives several values, each as soon as it has it: it yields ``Emit(value)``
beside the effects, and ``stream`` makes an iterator or an asynchronous iterator of it. Nothing is requested
before the first value is asked for, nor between two of them.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from pydantic import SecretStr

from foldnote.client.core.progress import ProgressCallback
from foldnote.errors import FoldnoteError

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        url: absolute address.
        key: sent as ``x-api-key``; None for signed links and open routes.
        json: body as JSON; None for none.
        content: body as bytes, or the path of a file whose bytes are streamed.
        timeout_s: seconds until the request is given up.
        report: told the bytes of ``content`` that are on their way, and all of them.
        limit_bytes: the most bytes of an answer, unpacked, that are read.
    """

    method: str
    url: str
    key: SecretStr | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    content: bytes | Path | None = None
    timeout_s: float = 30.0
    report: ProgressCallback | None = None
    limit_bytes: int = 64_000_000


@dataclass(frozen=True)
class ServiceResponse:
    """What came back.

    Attributes:
        sha256: of a download, the SHA-256 (hex) of the whole file; None where it was not computed.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    sha256: str | None = None


@dataclass(frozen=True)
class Sleep:
    """A pause."""

    seconds: float


@dataclass(frozen=True)
class Download:
    """A body that goes to disk as it arrives; the outcome is an ``ServiceResponse`` with an empty body.

    Bytes that ``part`` already holds are not asked for again where the service allows that. No key is sent.
    ``report`` is told the bytes that are there, and all of them. Where ``is_kept`` says of the answer's
    headers that this content is here already, the body is not read and the outcome's status is 304.
    ``limit_bytes`` is the largest file that is taken.
    """

    url: str
    part: Path
    timeout_s: float = 30.0
    report: ProgressCallback | None = None
    is_kept: Callable[[Mapping[str, str]], bool] | None = None
    limit_bytes: int = 10_000_000_000


@dataclass(frozen=True)
class Run:
    """A function that may block for seconds; the outcome is its value."""

    function: Callable[[], Any]


Effect = Call | Sleep | Download | Run
Operation = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Emit(Generic[T]):
    """A value for whoever iterates."""

    value: T


Stream = Generator[Effect | Emit[T], Any, None]


class Transport(Protocol):
    """What performs effects at once."""

    def perform(self, effect: Effect) -> Any:
        """The outcome of ``effect``.

        Raises:
            TransportError: no answer came.
        """


class AsyncTransport(Protocol):
    """What performs effects when awaited."""

    async def perform(self, effect: Effect) -> Any:
        """The outcome of ``effect``.

        Raises:
            TransportError: no answer came.
        """


class Api:
    """Something whose operations a user calls."""


class SyncApi(Api):
    """Operations return their value."""

    _transport: Transport


class AsyncApi(Api):
    """Operations return an awaitable of their value."""

    _transport: AsyncTransport


def run(steps: Operation[T], transport: Transport) -> T:
    """The value of ``steps``, performed at once."""
    try:
        effect = next(steps)
        while True:
            try:
                outcome = transport.perform(effect)
            except FoldnoteError as exc:
                effect = steps.throw(exc)
            else:
                effect = steps.send(outcome)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        steps.close()  # what the steps hold open is given back at once, also after an interruption


async def run_async(steps: Operation[T], transport: AsyncTransport) -> T:
    """The value of ``steps``, awaited."""
    try:
        effect = next(steps)
        while True:
            try:
                outcome = await transport.perform(effect)
            except FoldnoteError as exc:
                effect = steps.throw(exc)
            else:
                effect = steps.send(outcome)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        steps.close()  # what the steps hold open is given back at once, also after an interruption


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


class _Method:
    """A generator method as what a user calls."""

    def __init__(self, steps: Callable[..., Any]) -> None:
        self.steps = steps
        self.__doc__ = steps.__doc__

    @cached_property
    def signature(self) -> inspect.Signature:
        """Of the method that a user calls; made when it is first wanted, since there are many."""
        whole = inspect.signature(self.steps)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    def bind(self, api: Any, driver: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        """The method of ``api``, whose steps ``driver`` performs."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return driver(self.steps(api, *args, **kwargs), api._transport)

        call.__name__, call.__qualname__ = self.steps.__name__, self.steps.__qualname__
        call.__doc__ = self.__doc__
        call.__dict__["__signature__"] = self.signature  # what help() and a notebook's ? show
        return call


class operation(_Method, Generic[S, P, T]):  # noqa: N801  reads as a decorator
    """A generator method that gives one value."""

    def __init__(self, steps: Callable[Concatenate[S, P], Operation[T]]) -> None:
        super().__init__(steps)

    @overload
    def __get__(self, api: SyncApi, owner: type | None = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, api: AsyncApi, owner: type | None = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, api: None, owner: type | None = None) -> operation[S, P, T]: ...

    def __get__(self, api: Any, owner: type | None = None) -> Any:
        """The method of ``api``; of the class, the descriptor itself."""
        if api is None:
            return self
        return self.bind(api, run_async if isinstance(api, AsyncApi) else run)


class stream(_Method, Generic[S, P, T]):  # noqa: N801  reads as a decorator
    """A generator method that gives values, as what a user iterates over."""

    def __init__(self, steps: Callable[Concatenate[S, P], Stream[T]]) -> None:
        super().__init__(steps)

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
        return self.bind(api, iterate_async if isinstance(api, AsyncApi) else iterate)
