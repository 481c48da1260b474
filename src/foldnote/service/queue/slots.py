"""Slots of nodes: a place that ran one attempt may run the next, without another delivery by the transport.

A node asks for another attempt with the outcome of the one that it ran. The request is then held for a short
time, in which an executor may hand on the attempt that the dispatcher has chosen for the same place. It is
started like any other, and sent in the answer. If the node has left meanwhile, the transport delivers it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder, Capacity


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


class NodeSlots:
    """The slots of all nodes; nothing here has to survive a restart of the service."""

    def __init__(self) -> None:
        self._terms: dict[str, SlotTerms] = {}
        self._until: dict[str, float] = {}
        self._open: dict[str, OpenSlot] = {}
        self._lock = threading.Lock()

    # for executors

    def expect(self, nonce: str, terms: SlotTerms) -> None:
        """Note that the node that runs this attempt may be given another one afterwards."""
        with self._lock:
            self._terms[nonce] = terms

    def forget(self, nonce: str) -> None:
        """Note that the place of this attempt is back with the transport."""
        with self._lock:
            self._terms.pop(nonce, None)
            self._until.pop(nonce, None)

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
            moment = time.monotonic()
            for slot in self._open.values():
                if slot.given is None and slot.terms.suit(owner, order, slot.until - moment):
                    slot.given, slot.otherwise = order.identity, otherwise
                    self._terms.pop(slot.nonce, None)
                    self._until.pop(slot.nonce, None)
                    self._terms[order.identity.nonce] = slot.terms
                    self._until[order.identity.nonce] = slot.until
                    return slot
            for slot in self._open.values():
                if slot.terms.owner is owner and slot.terms.need.machine == order.need.machine:
                    slot.wake()
            return None

    # for requests of nodes

    def begin(self, nonce: str) -> None:
        """Note that a node has started the attempt."""
        with self._lock:
            terms = self._terms.get(nonce)
            if terms is not None:
                self._until.setdefault(nonce, time.monotonic() + terms.lasts_s)

    def offer(self, nonce: str, wake: Callable[[], object]) -> OpenSlot | None:
        """The slot of an attempt that is about to end; None if it is not to be used again."""
        with self._lock:
            terms, until = self._terms.get(nonce), self._until.get(nonce, 0.0)
        return None if terms is None or time.monotonic() >= until else OpenSlot(nonce, terms, until, wake)

    def open(self, slot: OpenSlot) -> None:
        """Let executors use a slot; one of an earlier request for the same attempt is let go."""
        with self._lock:
            earlier = self._open.get(slot.nonce)
            if not slot.is_closed:
                self._open[slot.nonce] = slot
        if earlier is not None:
            earlier.wake()
        slot.terms.on_open()

    def close(self, slot: OpenSlot) -> AttemptIdentity | None:
        """Let the slot go; returns the attempt that was given to it, if any."""
        with self._lock:
            slot.is_closed = True
            if self._open.get(slot.nonce) is slot:
                del self._open[slot.nonce]
            return slot.given
