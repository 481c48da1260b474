"""Check that the files of an attempt belong to its claim.

A restored, moved or recreated database reuses job numbers, so a folder with the right name may hold another
job's run. The nonce of the claim decides: it is stored in ``spec.json``, ``runner.json`` and
``outcome.json``. Files without it are set aside and never used.
"""

from __future__ import annotations

import logging
from pathlib import Path

from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptSpec, AttemptState, Outcome
from foldnote.service.runner.log_tail import read_tail
from foldnote.service.store import clock
from foldnote.service.store.jobs.queue import AttemptLocation, Claim

log = logging.getLogger(__name__)
FOREIGN = "foreign-"


class ForeignOutcomeError(Exception):
    """A living run has an outcome with a wrong nonce: its engine wrote it."""


def set_aside_foreign_attempt(folder: Path, nonce: str) -> None:
    """Rename a folder that was prepared for another attempt.

    Raises:
        OSError: it cannot be renamed.
    """
    prepared_for = _prepared_for(folder)
    if prepared_for is not None and prepared_for != nonce:
        log.warning("%s holds the run of another job; it is now %s.", folder, files.set_aside(folder))


def has_begun(folder: Path, nonce: str) -> bool:
    """Return whether a runner of the attempt with this nonce has begun."""
    runner = _read_runner(folder)
    if runner is None:
        return False
    return runner.get("nonce") == nonce if "nonce" in runner else _prepared_for(folder) == nonce


def may_have_begun(folder: Path, claim: Claim) -> bool:
    """Return whether an attempt that is over may have begun; after a power cut its files do not show it."""
    return has_begun(folder, claim.nonce) or clock.is_before_boot(claim.claimed)


def take_outcome(state: AttemptState, claim: Claim, folder: Path) -> Outcome | None:
    """Return the outcome of the claim; None until it is published. Rename an outcome of another attempt.

    Raises:
        ForeignOutcomeError: the run is still alive, so its engine wrote the outcome.
        OSError: it cannot be renamed.
    """
    outcome = state.outcome
    if outcome is None or _is_own(outcome, claim, folder):
        return outcome
    if state.alive:
        raise ForeignOutcomeError(folder)
    path = folder / files.OUTCOME
    path.rename(path.with_name(f"{FOREIGN}{files.OUTCOME}"))
    log.warning("The outcome in %s belongs to another attempt and is ignored.", folder)
    return None


def read_own_log(root: Path, attempt: AttemptLocation | None, max_lines: int) -> str:
    """Return the last lines of an attempt's log; empty if there is none or it belongs to another attempt."""
    if attempt is None:
        return ""
    folder = root / attempt.folder
    return read_tail(folder / files.LOG, max_lines) if has_begun(folder, attempt.nonce) else ""


def _is_own(outcome: Outcome, claim: Claim, folder: Path) -> bool:
    """Return whether the outcome has the nonce of the claim.

    Runners of earlier versions wrote no nonce; such an outcome counts if the run started after the claim, in
    a folder prepared for it.
    """
    if outcome.nonce is not None or "nonce" in (_read_runner(folder) or {}):
        return outcome.nonce == claim.nonce
    return _prepared_for(folder) == claim.nonce and (outcome.started or "") >= claim.claimed


def _read_runner(folder: Path) -> dict[str, object] | None:
    try:
        return files.read_json(folder / files.RUNNER)
    except ValueError:  # lost in a power cut, or overwritten by the engine
        return {}


def read_gpus(folder: Path) -> tuple[str, ...]:
    """Return the identities of the GPUs assigned to an attempt; empty if its specification is damaged."""
    spec = _read_spec(folder)
    return spec.gpus if spec is not None else ()


def _prepared_for(folder: Path) -> str | None:
    """Return the nonce that the folder was prepared for; None if unknown."""
    spec = _read_spec(folder)
    return spec.nonce if spec is not None else None


def _read_spec(folder: Path) -> AttemptSpec | None:
    try:
        return files.read_spec(folder)
    except (OSError, ValueError, TypeError, KeyError):
        return None
