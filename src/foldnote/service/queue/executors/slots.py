"""Slots of nodes: a slot that ran one attempt may run the next without another delivery by the transport.

With the outcome of its attempt, a node asks for another one. If an attempt waits in the same line, it is
started like any other and sent in the response. Otherwise the request is held for a short time, in which an
executor may hand over an attempt that the dispatcher has chosen for the same slot. If the node has left
meanwhile, the transport delivers that attempt.

An attempt in line was claimed before there was a slot for it. It follows only attempts of its account and
tool on its machine, one for each that ends, so there are never more attempts than slots. An attempt that has
waited for ``max_wait_s`` leaves the line unstarted. When a slot goes back to the transport, the transport
delivers the first attempt in its line.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from foldnote.service.faults import RefusalError
from foldnote.service.queue.executors.protocol import AttemptOrder, Capacity
from foldnote.service.runner.starter import MAX_WAIT_S

T = TypeVar("T")


class SlotOwner(Protocol):
    """An executor whose slots can be reused."""

    is_remote: bool


@dataclass(frozen=True)
class SlotTerms:
    """Which attempts a slot may run, and for how long.

    Attributes:
        owner: the executor.
        need: resources that the transport reserved for the slot; any machine if it names none.
        lifetime_s: seconds from the start of the first attempt until the slot goes back to the transport.
        is_timed: whether an attempt must end within that time; otherwise it must only begin.
        wait_s: seconds for which the node waits for another attempt.
        on_open: called from any thread when the node starts to wait.
    """

    owner: SlotOwner
    need: Capacity
    lifetime_s: float
    is_timed: bool = False
    wait_s: float = 1.0
    on_open: Callable[[], None] = lambda: None

    def accepts(self, owner: SlotOwner, order: AttemptOrder, left_s: float) -> bool:
        """Return whether the slot, which has ``left_s`` seconds left, may run the attempt."""
        own_need, need = self.need, order.need
        return (
            self.owner is owner
            and own_need.machine in ("", need.machine)
            and (own_need.cores, own_need.memory_mb, own_need.gpus, own_need.gpu_memory_mb)
            == (need.cores, need.memory_mb, need.gpus, need.gpu_memory_mb)
            and left_s > (order.time_limit_s if self.is_timed else 0.0)
        )


@dataclass
class OpenSlot:
    """A slot whose node waits for an attempt.

    Attributes:
        nonce: nonce of the attempt that the slot ran.
        wake: called from any thread when there is something to do.
    """

    nonce: str
    terms: SlotTerms
    until: float
    """When the slot goes back to the transport, on the monotonic clock."""
    wake: Callable[[], object]
    assigned_attempt: AttemptOrder | None = None
    on_slot_lost: Callable[[], None] = field(default=lambda: None)
    """Called to deliver the given attempt if this node cannot have it."""
    is_closed: bool = False


@dataclass
class SlotUse:
    """A slot in use by an attempt.

    Attributes:
        line: name of the attempt's line.
        until: when the slot goes back to the transport, on the monotonic clock; None until the attempt has
            begun.
    """

    terms: SlotTerms
    line: str
    until: float | None = None


@dataclass
class EnqueuedAttempt:
    """An attempt that waits for another one of its line to end.

    Attributes:
        until: when it leaves the line, on the monotonic clock.
        on_begun: called from any thread with the nonce of the attempt that it followed, once it has begun.
        on_slot_lost: delivers it if the slot of an attempt of its line went back to the transport.
        is_beginning: whether it is being given to a node.
    """

    owner: SlotOwner
    order: AttemptOrder
    until: float
    on_begun: Callable[[str], None]
    on_slot_lost: Callable[[], None]
    is_beginning: bool = False


class NodeSlots:
    """The slots of all nodes; none of this state has to survive a restart of the service.

    Attributes:
        max_wait_s: longest time in seconds that an attempt waits in a line.
    """

    def __init__(self) -> None:
        self.max_wait_s = MAX_WAIT_S
        self._uses: dict[str, SlotUse] = {}
        self._open: dict[str, OpenSlot] = {}
        self._enqueued: dict[str, EnqueuedAttempt] = {}
        """By nonce, oldest first."""
        self._lock = threading.Lock()

    # for executors

    def expect(self, nonce: str, terms: SlotTerms, line: str = "") -> None:
        """Register the slot of this attempt, of the line ``line``; it may run others afterwards."""
        with self._lock:
            self._uses[nonce] = SlotUse(terms, line)

    def release(self, nonce: str) -> None:
        """Note that the attempt's slot went back to the transport, which gets the first one in line."""
        with self._lock:
            use = self._uses.pop(nonce, None)
            found = None if use is None else self._find_enqueued(use, time.monotonic())
            if found is not None:
                del self._enqueued[found.order.identity.nonce]
        if found is not None:
            found.on_slot_lost()

    def has_open(self, owner: SlotOwner) -> bool:
        """Return whether any node of the executor waits for an attempt."""
        return any(
            slot.terms.owner is owner and slot.assigned_attempt is None for slot in list(self._open.values())
        )

    def reserve(
        self, owner: SlotOwner, order: AttemptOrder, on_slot_lost: Callable[[], None]
    ) -> OpenSlot | None:
        """Give an attempt to a waiting node; ``wake`` of the slot notifies the node's request.

        If no slot is suitable, the waiting nodes on the machine are released, since they may hold resources
        that the attempt needs.

        Args:
            owner: the executor.
            order: the attempt.
            on_slot_lost: called from any thread if the node turns out to have left.
        """
        with self._lock:
            slot = self._assign(owner, order, on_slot_lost)
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
        on_slot_lost: Callable[[], None],
    ) -> OpenSlot | None:
        """Put an attempt in line until one of its line ends; see ``EnqueuedAttempt``.

        Returns:
            A slot that the attempt was given, as by ``reserve``, where one of its line has just ended.
        """
        with self._lock:
            slot = self._assign(owner, order, on_slot_lost, line=order.line)
            if slot is None:
                nonce, until = order.identity.nonce, time.monotonic() + self.max_wait_s
                self._enqueued[nonce] = EnqueuedAttempt(owner, order, until, on_begun, on_slot_lost)
            return slot

    def is_enqueued(self, nonce: str) -> bool:
        """Return whether the attempt is in a line and its time there has not passed."""
        enqueued = self._enqueued.get(nonce)
        return enqueued is not None and (enqueued.is_beginning or time.monotonic() < enqueued.until)

    def dequeue(self, nonce: str) -> bool:
        """Take an attempt that will not begin out of its line; return whether it was in one."""
        with self._lock:
            return self._enqueued.pop(nonce, None) is not None

    def _assign(
        self, owner: SlotOwner, order: AttemptOrder, on_slot_lost: Callable[[], None], line: str | None = None
    ) -> OpenSlot | None:
        """Give an attempt to a waiting node; with ``line``, only to one that ran an attempt of that line."""
        moment = time.monotonic()
        for slot in self._open.values():
            use = self._uses.get(slot.nonce)
            is_same_line = line is None or (use is not None and use.line == line)
            if (
                slot.assigned_attempt is None
                and is_same_line
                and slot.terms.accepts(owner, order, slot.until - moment)
            ):
                slot.assigned_attempt, slot.on_slot_lost = order, on_slot_lost
                self._uses.pop(slot.nonce, None)
                self._uses[order.identity.nonce] = SlotUse(slot.terms, order.line, slot.until)
                return slot
        return None

    def _find_enqueued(self, use: SlotUse, moment: float) -> EnqueuedAttempt | None:
        """Return the first attempt in line that suits a slot with this use."""
        left_s = (moment + use.terms.lifetime_s if use.until is None else use.until) - moment
        for each in self._enqueued.values():
            is_ready = not each.is_beginning and moment < each.until and each.order.line == use.line
            if is_ready and use.terms.accepts(each.owner, each.order, left_s):
                return each
        return None

    # for requests of nodes

    def begin(self, nonce: str) -> None:
        """Note that a node has started the attempt."""
        with self._lock:
            use = self._uses.get(nonce)
            if use is not None and use.until is None:
                use.until = time.monotonic() + use.terms.lifetime_s

    def offer(self, nonce: str, wake: Callable[[], object]) -> OpenSlot | None:
        """Return the slot of an attempt that is about to end; None if the slot is not to be reused."""
        with self._lock:
            use = self._uses.get(nonce)
            if use is None or use.until is None or time.monotonic() >= use.until:
                return None
            return OpenSlot(nonce, use.terms, use.until, wake)

    def has_line(self, slot: OpenSlot) -> bool:
        """Return whether an attempt is in line for the slot."""
        with self._lock:
            use = self._uses.get(slot.nonce)
            return use is not None and self._find_enqueued(use, time.monotonic()) is not None

    def start_next(self, slot: OpenSlot, begin: Callable[[AttemptOrder], T]) -> T | None:
        """Begin the first attempt in line for a slot whose attempt has ended; return None if there is none.

        Args:
            slot: the slot.
            begin: begins an attempt. The next one is tried if it raises a ``RefusalError``.
        """
        while (enqueued := self._take_enqueued(slot)) is not None:
            use, attempt = enqueued
            nonce, begun = attempt.order.identity.nonce, None
            try:
                with contextlib.suppress(RefusalError):  # it was stopped or given back meanwhile
                    begun = begin(attempt.order)
            finally:
                with self._lock:
                    self._enqueued.pop(nonce, None)
                    self._uses[slot.nonce if begun is None else nonce] = use
            if begun is not None:
                attempt.on_begun(slot.nonce)
                return begun
        return None

    def _take_enqueued(self, slot: OpenSlot) -> tuple[SlotUse, EnqueuedAttempt] | None:
        """Remove and return the slot's use and its first attempt in line; no other request gets them."""
        with self._lock:
            use = self._uses.get(slot.nonce)
            found = None if use is None else self._find_enqueued(use, time.monotonic())
            if use is None or found is None:
                return None
            del self._uses[slot.nonce]
            found.is_beginning = True
            return use, found

    def open(self, slot: OpenSlot) -> bool:
        """Offer a slot to executors; the slot of an earlier request for the same attempt is released.

        Returns:
            False if an attempt is in line for the slot; then nothing was changed.
        """
        with self._lock:
            use = self._uses.get(slot.nonce)
            if use is not None and self._find_enqueued(use, time.monotonic()) is not None:
                return False
            earlier = self._open.get(slot.nonce)
            if not slot.is_closed:
                self._open[slot.nonce] = slot
        if earlier is not None:
            earlier.wake()
        slot.terms.on_open()
        return True

    def close(self, slot: OpenSlot) -> AttemptOrder | None:
        """Release the slot; return the attempt that was given to it, if any."""
        with self._lock:
            slot.is_closed = True
            if self._open.get(slot.nonce) is slot:
                del self._open[slot.nonce]
            return slot.assigned_attempt
