"""Write each operation once, and run it synchronously or asynchronously.

An operation is a generator: it yields effects (a call, a pause, a download), is sent their outcomes, and
returns its value. Two small drivers run it, one on ``httpx.Client``, one on ``httpx.AsyncClient``. The
``operation`` descriptor makes the method that a user calls: on a synchronous client it returns the value, on
an asynchronous client an awaitable of it, and type checkers know which.

A stream is an operation with several values: it also yields ``Emit(value)``, and ``stream`` turns it into an
iterator or an asynchronous iterator. It is lazy: a request is sent only when the next value is asked for.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from pydantic import SecretStr

from foldnote.client.core.progress import ProgressCallback
from foldnote.errors import ArgumentError, FoldnoteError, Interrupted

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        url: absolute address.
        key: sent as ``x-api-key``; None for signed links and open routes.
        json: body as JSON; None for no body.
        content: body as bytes, or the path of a file whose bytes are streamed.
        timeout_s: timeout of the request in seconds.
        report: progress callback: bytes of ``content`` sent, and its size.
        limit_bytes: largest answer that is read, in bytes after decompression.
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
    """An HTTP response; its repr omits the body, which may hold a key and would appear in tracebacks.

    Attributes:
        sha256: SHA-256 (hex) of a downloaded file; None if not computed.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    sha256: str | None = None


@dataclass(frozen=True)
class Sleep:
    """A pause."""

    seconds: float


@dataclass(frozen=True)
class Download:
    """A body that is written to disk as it arrives; the outcome is a ``ServiceResponse`` with an empty body.

    Bytes that ``part`` already holds are not requested again where the service supports ranges. No key is
    sent. ``report`` receives the bytes on disk and the size of the file. When ``is_cached`` returns true for
    the answer's headers, the content is already in the cache: the body is not read and the status is 304.
    ``limit_bytes`` is the largest accepted file.
    """

    url: str
    part: Path
    timeout_s: float = 30.0
    report: ProgressCallback | None = None
    is_cached: Callable[[Mapping[str, str]], bool] | None = None
    limit_bytes: int = 10_000_000_000


@dataclass(frozen=True)
class Run:
    """A call of a function that may block for seconds; the outcome is its value."""

    function: Callable[[], Any]


Effect = Call | Sleep | Download | Run
Operation = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Emit(Generic[T]):
    """A value of a stream."""

    value: T


Stream = Generator[Effect | Emit[T], Any, None]


class Transport(Protocol):
    """Performs effects synchronously."""

    def perform(self, effect: Effect) -> Any:
        """Perform ``effect`` and return its outcome.

        Raises:
            TransportError: no answer was received.
        """


class AsyncTransport(Protocol):
    """Performs effects asynchronously."""

    async def perform(self, effect: Effect) -> Any:
        """Perform ``effect`` and return its outcome.

        Raises:
            TransportError: no answer was received.
        """


class Api:
    """Base of classes with operations."""


class SyncApi(Api):
    """Operations return their value."""

    _transport: Transport


class AsyncApi(Api):
    """Operations return an awaitable of their value."""

    _transport: AsyncTransport


def run(steps: Operation[T], transport: Transport) -> T:
    """Run ``steps`` synchronously and return their value."""
    try:
        effect = next(steps)
        while True:
            try:
                outcome = transport.perform(effect)
            except FoldnoteError as exc:
                effect = steps.throw(exc)
            except KeyboardInterrupt as exc:
                raise Interrupted().with_traceback(exc.__traceback__) from None
            else:
                effect = steps.send(outcome)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        steps.close()  # release resources now, also after an interruption


async def run_async(steps: Operation[T], transport: AsyncTransport) -> T:
    """Run ``steps`` asynchronously and return their value."""
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
        steps.close()  # release resources now, also after an interruption


def iterate(steps: Stream[T], transport: Transport) -> Iterator[T]:
    """Iterate over the values of ``steps``."""
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
                wanted = _throw(steps, exc)
            except KeyboardInterrupt as exc:
                raise Interrupted().with_traceback(exc.__traceback__) from None
            else:
                wanted = _resume(steps, outcome)
    finally:
        steps.close()  # release resources now, also when the iteration is abandoned


async def iterate_async(steps: Stream[T], transport: AsyncTransport) -> AsyncIterator[T]:
    """Iterate asynchronously over the values of ``steps``."""
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
                wanted = _throw(steps, exc)
            else:
                wanted = _resume(steps, outcome)
    finally:
        steps.close()  # release resources now, also when the iteration is abandoned


def _resume(steps: Stream[T], outcome: object) -> Effect | Emit[T] | None:
    """Send an outcome into the steps and return the next effect; None at the end."""
    try:
        return steps.send(outcome)
    except StopIteration:
        return None


def _throw(steps: Stream[T], exc: FoldnoteError) -> Effect | Emit[T] | None:
    """Throw an exception into the steps and return the next effect; None at the end."""
    try:
        return steps.throw(exc)
    except StopIteration:
        return None


def explain_arguments(method: Callable[P, T]) -> Callable[P, T]:
    """Decorator: a call with an unknown argument raises ``ArgumentError``, which names the closest one."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        check_arguments(method.__name__, signature, args, kwargs)
        return method(*args, **kwargs)

    return call


def check_flag(name: str, value: object) -> None:
    """Check that an argument is true or false.

    Raises:
        ArgumentError: it is not.
    """
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):  # numpy's booleans, too
        raise ArgumentError(f"{name} must be True or False, not {value!r:.40}.")


def check_arguments(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Check that a method accepts these arguments.

    Raises:
        ArgumentError: it does not; the message names the argument, and the closest one that it has.
    """
    try:
        signature.bind(*args, **kwargs)
    except TypeError as exc:
        known = [each for each in signature.parameters if each != "self"]
        unknown = next((each for each in kwargs if each not in known), None)
        if unknown is None:
            raise ArgumentError(f"{name}(): {exc}.") from None
        near = get_close_matches(unknown, known, 1)
        hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(known) or 'no arguments'}."
        raise ArgumentError(f"{name}() has no argument {unknown!r}. {hint}") from None


class _Method:
    """A descriptor that makes a callable method from a generator method."""

    def __init__(self, steps: Callable[..., Any]) -> None:
        self.steps = steps
        self.__doc__ = steps.__doc__

    @cached_property
    def signature(self) -> inspect.Signature:
        """Signature of the method that a user calls; computed on first use, since there are many."""
        whole = inspect.signature(self.steps)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    @cached_property
    def flags(self) -> frozenset[str]:
        """Arguments that are true or false; text in their place, such as ``"no"``, would count as true."""
        parameters = self.signature.parameters.values()
        return frozenset(each.name for each in parameters if each.annotation in ("bool", bool))

    def bind(self, api: Any, driver: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        """Make the method of ``api``, whose steps ``driver`` runs."""

        def call(*args: Any, **kwargs: Any) -> Any:
            for name in self.flags.intersection(kwargs):
                check_flag(f"{self.steps.__name__}(): {name}", kwargs[name])
            try:
                steps = self.steps(api, *args, **kwargs)
            except TypeError:
                check_arguments(self.steps.__name__, self.signature, args, kwargs)
                raise
            return driver(steps, api._transport)

        call.__name__, call.__qualname__ = self.steps.__name__, self.steps.__qualname__
        call.__doc__ = self.__doc__
        call.__dict__["__signature__"] = self.signature  # for help() and IPython's ?
        return call


class operation(_Method, Generic[S, P, T]):  # noqa: N801  reads as a decorator
    """Decorator for a generator method that returns one value."""

    def __init__(self, steps: Callable[Concatenate[S, P], Operation[T]]) -> None:
        super().__init__(steps)

    @overload
    def __get__(self, api: SyncApi, owner: type | None = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, api: AsyncApi, owner: type | None = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, api: None, owner: type | None = None) -> operation[S, P, T]: ...

    def __get__(self, api: Any, owner: type | None = None) -> Any:
        """Return the bound method; accessed on the class, the descriptor itself."""
        if api is None:
            return self
        return self.bind(api, run_async if isinstance(api, AsyncApi) else run)


class stream(_Method, Generic[S, P, T]):  # noqa: N801  reads as a decorator
    """Decorator for a generator method that yields values; a user iterates over them."""

    def __init__(self, steps: Callable[Concatenate[S, P], Stream[T]]) -> None:
        super().__init__(steps)

    @overload
    def __get__(self, api: SyncApi, owner: type | None = None) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, api: AsyncApi, owner: type | None = None) -> Callable[P, AsyncIterator[T]]: ...
    @overload
    def __get__(self, api: None, owner: type | None = None) -> stream[S, P, T]: ...

    def __get__(self, api: Any, owner: type | None = None) -> Any:
        """Return the bound method; accessed on the class, the descriptor itself."""
        if api is None:
            return self
        return self.bind(api, iterate_async if isinstance(api, AsyncApi) else iterate)
