"""What tests of attempts on this machine have in common."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from foldnote.service.runner.attempt import Outcome
from foldnote.service.runner.local_runners import LocalRunners
from foldnote.settings import process_environment

PATIENCE_S = 30
T = TypeVar("T")


def wait_until(condition: Callable[[], T], what: str) -> T:
    """What ``condition`` gives once it is true; it fails after half a minute."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)
    return found


def outcome_of(folder: Path) -> Outcome:
    """The outcome of the attempt in a folder, once it is there."""
    return wait_until(lambda: Outcome.read(folder), "the outcome")


@contextmanager
def open_runners(on_ended: Callable[[Path], object]) -> Iterator[LocalRunners]:
    """Runners of their own, which end with the test."""
    made = LocalRunners(process_environment())
    made.open(on_ended)
    yield made
    made.close()
