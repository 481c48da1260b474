"""Slots of nodes: a place that ran one attempt may run the next, without another delivery by the transport.

A node asks for another attempt with the outcome of the one that it ran. If one waits in the line of that
attempt, it is started like any other, and sent in the answer at once. Otherwise the request is held for a
short time, in which an executor may hand on the attempt that the dispatcher has chosen for the same place. If
the node has left meanwhile, the transport delivers it.

An attempt in line is one that was claimed before there was a place for it. It follows only attempts of its
account and tool on its machine, one for each that ends, so that there are never more than places. One that
has waited for ``holds_s`` has left the line, unbegun. The first in line of a place that went back to the
transport is delivered in its stead.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from foldnote.service.faults import RefusalError
from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder, Capacity
from foldnote.service.runner.starter import HOLDS_S

T = TypeVar("T")


class SlotOwner(Protocol):
    """An executor that hands on slots."""

    is_remote: bool


@dataclass(frozen=True)
class SlotTerms:
    """What a slot may be used for.

    Attributes:
        owner: the executor.
        need: what the transport has reserved for it; any machine if it names none.
        lasts_s: seconds from the begin of the first attempt until it goes back to the transport.
        is_timed: whether an attempt must end by then; otherwise it must only begin.
        wait_s: seconds for which the node waits for another attempt.
        on_open: called from any thread when the node waits.
    """

    owner: SlotOwner
    need: Capacity
    lasts_s: float
    is_timed: bool = False
    wait_s: float = 1.0
    on_open: Callable[[], None] = lambda: None

    def suit(self, owner: SlotOwner, order: AttemptOrder, left_s: float) -> bool:
        """Whether the slot, which has ``left_s`` seconds left, may run the attempt."""
        mine, need = self.need, order.need
        return (
            self.owner is owner
            and mine.machine in ("", need.machine)
            and (mine.cores, mine.memory_mb, mine.gpus, mine.gpu_memory_mb)
            == (need.cores, need.memory_mb, need.gpus, need.gpu_memory_mb)
            and left_s > (order.time_limit_s if self.is_timed else 0.0)
        )


@dataclass
class OpenSlot:
    """A slot whose node waits for an attempt.

    Attributes:
        nonce: of the attempt that it ran.
        wake: called from any thread when there is something to do.
    """

    nonce: str
    terms: SlotTerms
    until: float
    """On the monotonic clock: when it goes back to the transport."""
    wake: Callable[[], object]
    given: AttemptIdentity | None = None
    otherwise: Callable[[], None] = field(default=lambda: None)
    """Delivers the given attempt if this node cannot have it."""
    is_closed: bool = False


@dataclass
class SlotUse:
    """A slot while an attempt uses it.

    Attributes:
        line: name of the attempt's line.
        until: on the monotonic clock, when it goes back to the transport; None until the attempt has begun.
    """

    terms: SlotTerms
    line: str
    until: float | None = None


@dataclass
class LinedAttempt:
    """An attempt that waits until another one of its line ends.

    Attributes:
        until: on the monotonic clock.
        on_begun: called from any thread, once it has begun, with the nonce of the attempt that it followed.
        otherwise: delivers it, if the slot of an attempt of its line went back to the transport.
        is_beginning: whether a node is being given it.
    """

    owner: SlotOwner
    order: AttemptOrder
    until: float
    on_begun: Callable[[str], None]
    otherwise: Callable[[], None]
    is_beginning: bool = False


class NodeSlots:
    """The slots of all nodes; nothing here has to survive a restart of the service.

    Attributes:
        holds_s: seconds for which an attempt waits in a line at most.
    """

    def __init__(self) -> None:
        self.holds_s = HOLDS_S
        self._uses: dict[str, SlotUse] = {}
        self._open: dict[str, OpenSlot] = {}
        self._lined: dict[str, LinedAttempt] = {}
        """By nonce, oldest first."""
        self._lock = threading.Lock()

    # for executors

    def expect(self, nonce: str, terms: SlotTerms, line: str = "") -> None:
        """Note that the node that runs this attempt, of the line ``line``, may be given others afterwards."""
        with self._lock:
            self._uses[nonce] = SlotUse(terms, line)

    def forget(self, nonce: str) -> None:
        """Note that the slot of this attempt is back with the transport, which gets the first in its line."""
        with self._lock:
            use = self._uses.pop(nonce, None)
            found = None if use is None else self._find_lined(use, time.monotonic())
            if found is not None:
                del self._lined[found.order.identity.nonce]
        if found is not None:
            found.otherwise()

    def has_open(self, owner: SlotOwner) -> bool:
        """Whether any node of the executor waits for an attempt."""
        return any(slot.terms.owner is owner and slot.given is None for slot in list(self._open.values()))

    def reserve(
        self, owner: SlotOwner, order: AttemptOrder, otherwise: Callable[[], None]
    ) -> OpenSlot | None:
        """Give an attempt to a node that waits for one; it is told so by ``wake`` of the slot.

        If no slot is suitable, the waiting nodes on the machine are let go, since they may hold what the
        attempt needs.

        Args:
            owner: the executor.
            order: the attempt.
            otherwise: called from any thread if the node turns out to have left.
        """
        with self._lock:
            slot = self._give(owner, order, otherwise)
            if slot is None:
                for each in self._open.values():
                    if each.terms.owner is owner and each.terms.need.machine == order.need.machine:
                        each.wake()
            return slot

    def line_up(
        self,
        owner: SlotOwner,
        order: AttemptOrder,
        on_begun: Callable[[str], None],
        otherwise: Callable[[], None],
    ) -> OpenSlot | None:
        """Let an attempt wait until one of its line ends; see ``LinedAttempt``.

        Returns:
            A slot that was given to it, as by ``reserve``, where one of its line has just ended.
        """
        with self._lock:
            slot = self._give(owner, order, otherwise, line=order.line)
            if slot is None:
                nonce, until = order.identity.nonce, time.monotonic() + self.holds_s
                self._lined[nonce] = LinedAttempt(owner, order, until, on_begun, otherwise)
            return slot

    def is_lined(self, nonce: str) -> bool:
        """Whether the attempt waits in a line, and not for too long."""
        lined = self._lined.get(nonce)
        return lined is not None and (lined.is_beginning or time.monotonic() < lined.until)

    def leave(self, nonce: str) -> bool:
        """Take an attempt that will not begin out of its line; whether it was there."""
        with self._lock:
            return self._lined.pop(nonce, None) is not None

    def _give(
        self, owner: SlotOwner, order: AttemptOrder, otherwise: Callable[[], None], line: str | None = None
    ) -> OpenSlot | None:
        """Give an attempt to a waiting node; with ``line`` only to one that ran an attempt of that line."""
        moment = time.monotonic()
        for slot in self._open.values():
            use = self._uses.get(slot.nonce)
            is_of_line = line is None or (use is not None and use.line == line)
            if slot.given is None and is_of_line and slot.terms.suit(owner, order, slot.until - moment):
                slot.given, slot.otherwise = order.identity, otherwise
                self._uses.pop(slot.nonce, None)
                self._uses[order.identity.nonce] = SlotUse(slot.terms, order.line, slot.until)
                return slot
        return None

    def _find_lined(self, use: SlotUse, moment: float) -> LinedAttempt | None:
        """The first in line that suits a slot which is used so."""
        left_s = (moment + use.terms.lasts_s if use.until is None else use.until) - moment
        for each in self._lined.values():
            is_there = not each.is_beginning and moment < each.until and each.order.line == use.line
            if is_there and use.terms.suit(each.owner, each.order, left_s):
                return each
        return None

    # for requests of nodes

    def begin(self, nonce: str) -> None:
        """Note that a node has started the attempt."""
        with self._lock:
            use = self._uses.get(nonce)
            if use is not None and use.until is None:
                use.until = time.monotonic() + use.terms.lasts_s

    def offer(self, nonce: str, wake: Callable[[], object]) -> OpenSlot | None:
        """The slot of an attempt that is about to end; None if it is not to be used again."""
        with self._lock:
            use = self._uses.get(nonce)
            if use is None or use.until is None or time.monotonic() >= use.until:
                return None
            return OpenSlot(nonce, use.terms, use.until, wake)

    def has_line(self, slot: OpenSlot) -> bool:
        """Whether an attempt is in line for a slot."""
        with self._lock:
            use = self._uses.get(slot.nonce)
            return use is not None and self._find_lined(use, time.monotonic()) is not None

    def use_again(self, slot: OpenSlot, begin: Callable[[AttemptIdentity], T]) -> T | None:
        """Begin the first attempt in line for a slot whose attempt has ended; None if there is none.

        Args:
            slot: the slot.
            begin: begins an attempt. The next one is tried if it raises a ``RefusalError``.
        """
        while (lined := self._take_lined(slot)) is not None:
            use, attempt = lined
            nonce, begun = attempt.order.identity.nonce, None
            try:
                with contextlib.suppress(RefusalError):  # it was stopped or given back meanwhile
                    begun = begin(attempt.order.identity)
            finally:
                with self._lock:
                    self._lined.pop(nonce, None)
                    self._uses[slot.nonce if begun is None else nonce] = use
            if begun is not None:
                attempt.on_begun(slot.nonce)
                return begun
        return None

    def _take_lined(self, slot: OpenSlot) -> tuple[SlotUse, LinedAttempt] | None:
        """The first in line, with the slot's use, which no other request then has."""
        with self._lock:
            use = self._uses.get(slot.nonce)
            found = None if use is None else self._find_lined(use, time.monotonic())
            if use is None or found is None:
                return None
            del self._uses[slot.nonce]
            found.is_beginning = True
            return use, found

    def open(self, slot: OpenSlot) -> bool:
        """Let executors use a slot; one of an earlier request for the same attempt is let go.

        Returns:
            False if an attempt is in line for it: then nothing was done.
        """
        with self._lock:
            use = self._uses.get(slot.nonce)
            if use is not None and self._find_lined(use, time.monotonic()) is not None:
                return False
            earlier = self._open.get(slot.nonce)
            if not slot.is_closed:
                self._open[slot.nonce] = slot
        if earlier is not None:
            earlier.wake()
        slot.terms.on_open()
        return True

    def close(self, slot: OpenSlot) -> AttemptIdentity | None:
        """Let the slot go; returns the attempt that was given to it, if any."""
        with self._lock:
            slot.is_closed = True
            if self._open.get(slot.nonce) is slot:
                del self._open[slot.nonce]
            return slot.given
