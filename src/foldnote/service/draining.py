"""Draining: take no new jobs and start no queued ones, so that the service can be stopped or moved.

A marker file in the data folder turns draining on. A signal to the service or `foldnote admin drain` writes
it; it survives a restart and is not part of a backup. All other requests are answered as usual.
"""

from __future__ import annotations

from pathlib import Path

from foldnote.io import write_atomically
from foldnote.service.faults import retry_later
from foldnote.service.store import clock

_FILE = "draining"
_RETRY_S = 300
"""Longer than clients wait before they retry, so that they report the refusal at once."""


class Draining:
    """Whether the service of one data folder is draining.

    Args:
        folder: the data folder. Where replicas share it, its marker drains all of them.
        own: folder of this replica; a signal drains only this replica. None if it is the only one.
    """

    def __init__(self, folder: Path, own: Path | None = None) -> None:
        self._all = folder / _FILE
        self._file = (own or folder) / _FILE

    def is_on(self) -> bool:
        """Return whether the service is draining."""
        return self._file.exists() or (self._all != self._file and self._all.exists())

    def begin(self) -> None:
        """Begin to drain; do nothing if the service is draining already.

        Raises:
            OSError: the file cannot be written.
        """
        if not self.is_on():
            write_atomically(self._file, clock.now() + "\n", is_private=True, is_durable=True)

    def end(self) -> bool:
        """Take jobs again; return False if the service was not draining.

        Raises:
            OSError: the file cannot be removed.
        """
        was_on = self.is_on()
        self._file.unlink(missing_ok=True)
        return was_on

    def require_off(self) -> None:
        """Check that new jobs are taken.

        Raises:
            RefusalError: 503 while the service is draining.
        """
        if self.is_on():
            sentence = (
                "The service takes no new jobs now: it is about to be stopped. Running jobs continue,"
                " and everything else works. Try again in a few minutes."
            )
            raise retry_later(503, "service_draining", sentence, _RETRY_S)
