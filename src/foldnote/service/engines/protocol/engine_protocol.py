"""What the bundled engines say to their runner: progress, failure, score and notes.

It runs inside the engines' own environments and uses the standard library only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

USER_FAILURE = 2
"""Exit status of a failure that the user can mend."""


def read_job() -> dict[str, Any]:
    """The job of this working folder."""
    job: dict[str, Any] = json.loads(Path("job.json").read_text("utf-8"))
    return job


def clean_sequence(text: str) -> str:
    """The sequence without white space, in capitals."""
    return "".join(text.split()).upper()


def report(fraction: float, message: str) -> None:
    """Say how far the run is: ``fraction`` from 0 to 1."""
    line = json.dumps({"fraction": fraction, "message": message})
    sys.stdout.write(f"FOLDNOTE_PROGRESS {line}\n")
    sys.stdout.flush()


def fail(sentence: str) -> NoReturn:
    """End the run with a sentence for the user."""
    sys.stderr.write(f"FOLDNOTE_ERROR {sentence}\n")
    sys.exit(USER_FAILURE)


def write_score(figures: Mapping[str, float | int | str]) -> None:
    """Write the figures of the run."""
    Path("score.json").write_text(json.dumps(figures), "utf-8")


def write_notes(notes: Sequence[str]) -> None:
    """Write what a reader of the result must know; it goes into the manifest."""
    Path("notes.json").write_text(json.dumps(list(notes)), "utf-8")
