"""Common base of executors of other machines: the service itself keeps the state of their attempts.

A transport only carries the order to a machine. ``NodeAttempts`` knows from the runner's own requests whether
the attempt was started, is alive, must stop or has ended.
"""

from __future__ import annotations

from collections.abc import Callable

from foldnote.service.queue.executors.nodes import NodeAttempts
from foldnote.service.queue.executors.protocol import (
    AttemptIdentity,
    AttemptOrder,
    Capacity,
    UnreachableError,
)
from foldnote.service.runner.attempt import AttemptState


class NodeExecutor:
    """An executor without machines, which only follows attempts that were delivered before.

    A transport overrides ``submit``, ``capacity`` and ``holds``, and ``open`` and ``close`` where it has a
    connection.
    """

    is_remote = True
    has_lines = False

    def __init__(self, attempts: NodeAttempts) -> None:
        self.attempts = attempts

    def open(self, on_ended: Callable[[str], None]) -> None:
        """See the protocol."""
        self.attempts.listen(on_ended)

    def close(self) -> None:
        """See the protocol."""

    def submit(self, order: AttemptOrder) -> None:
        """See the protocol.

        Raises:
            UnreachableError: always.
        """
        raise UnreachableError(f"No machine takes attempts of {order.engine} any more.")

    def holds(self, identity: AttemptIdentity) -> bool:  # noqa: ARG002
        """Return whether the transport may still start an attempt that has not begun."""
        return False

    def poll(self, identity: AttemptIdentity) -> AttemptState:
        """See the protocol."""
        return self.attempts.poll(identity, may_start=self.holds(identity))

    def cancel(self, identity: AttemptIdentity, grace_s: float = 10.0) -> None:
        """See the protocol."""
        self.attempts.cancel(identity, grace_s)

    def revoke(self, identity: AttemptIdentity) -> bool:
        """See the protocol."""
        return self.attempts.revoke(identity)

    def capacity(self) -> tuple[Capacity, ...]:
        """See the protocol."""
        return ()
