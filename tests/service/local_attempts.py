"""What tests of attempts on this machine have in common."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import waiting

from foldnote.service.runner.attempt import Outcome
from foldnote.service.runner.local_runners import LocalRunners
from foldnote.settings import process_environment

wait_until = partial(waiting.wait_until, patience_s=30)


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
