"""Shared by tests of attempts on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import waiting

from foldnote.service.runner.attempt import Outcome
from foldnote.service.runner.local_runners import LocalRunners
from foldnote.settings import process_environment

wait_until = partial(waiting.wait_until, patience_s=120)


def outcome_of(folder: Path) -> Outcome:
    """Wait for the outcome of the attempt in a folder and return it."""
    return wait_until(lambda: Outcome.read(folder), "the outcome")


@contextmanager
def open_runners(on_ended: Callable[[Path], object]) -> Iterator[LocalRunners]:
    """Start separate runners for the test and close them afterwards."""
    made = LocalRunners(process_environment())
    made.open(on_ended)
    yield made
    made.close()
