"""Terms that a user must accept before an engine or its weights are installed, and the record of acceptances.

The record is kept when an engine is removed. A user who accepted terms is not asked again for the same ones;
other users of the same folder of engines are, and so is everyone once the terms have changed.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from foldnote import settings
from foldnote.errors import EngineInstallError
from foldnote.io import hold_lock, write_atomically
from foldnote.service.runner.attempt import now

RECORD = "accepted-licences.json"
_LOCK_S = 10.0


@dataclass(frozen=True, slots=True)
class LicenceTerms:
    """Terms that must be accepted."""

    name: str
    """What is licensed: the program, or its weights."""
    licence: str
    source: str
    """Who licenses it."""
    url: str = ""
    """Address of the terms; empty if unknown."""

    @property
    def address(self) -> str:
        """The address as the end of a sentence; empty without one."""
        return f", {self.url}" if self.url else ""


@dataclass(frozen=True, slots=True)
class LicenceAcceptance:
    """The acceptance of terms by a user."""

    engine: str
    terms: LicenceTerms
    user: str
    """Name of the user's account in the operating system."""
    accepted: str
    """RFC 3339 UTC."""


def read_terms(rows: Sequence[Mapping[str, Any]]) -> tuple[LicenceTerms, ...]:
    """Read the ``[[terms]]`` of an ``engine.toml``: what must be accepted for the program itself.

    Raises:
        ValueError: a text is empty, or the URL is not https.
        TypeError: a key is unknown, or missing.
    """
    terms = tuple(LicenceTerms(**row) for row in rows)
    for each in terms:
        if not (each.name and each.licence and each.source):
            raise ValueError("terms.name, licence and source must say something")
        if not each.url.startswith("https://"):
            raise ValueError(f"terms.url is {each.url!r}; give the https address of the licence")
    return terms


def find_acceptance(
    engine: str, terms: LicenceTerms, acceptances: Iterable[LicenceAcceptance]
) -> LicenceAcceptance | None:
    """Return the newest acceptance of exactly these terms for an engine; None if there is none."""
    found = [each for each in acceptances if (each.engine, each.terms) == (engine, terms)]
    return max(found, key=lambda each: each.accepted, default=None)


def find_own_acceptances() -> list[LicenceAcceptance]:
    """Return the acceptances by this user."""
    user = _name_user()
    return [each for each in read_acceptances() if each.user == user]


def read_acceptances() -> list[LicenceAcceptance]:
    """Return all acceptances, the oldest first; empty if the record is missing or damaged."""
    try:
        return _read(_path())
    except (OSError, ValueError, TypeError, KeyError):
        return []


def record_acceptances(engine: str, terms: Iterable[LicenceTerms]) -> None:
    """Record, durably and before anything is installed, that this user has now accepted terms.

    Raises:
        EngineInstallError: the record is damaged or in use, and nothing was written.
        OSError: it cannot be written.
    """
    path = _path()
    new = [LicenceAcceptance(engine, each, _name_user(), now()) for each in terms]
    if not new:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(path.with_name(f".{RECORD}.lock"), _LOCK_S) as is_held:
        if not is_held:
            raise EngineInstallError(f"{path} is in use by another installation. Try again.")
        try:
            known = _read(path) if path.exists() else []
        except (ValueError, TypeError, KeyError) as exc:
            raise EngineInstallError(
                f"{path}, which records the accepted licences, cannot be read: {exc}. Restore it, or rename"
                " it to begin a new record. Then install again."
            ) from exc
        rows = [_write_row(each) for each in (*known, *new)]
        write_atomically(path, json.dumps(rows, indent=1) + "\n", is_durable=True)


def explain_unaccepted(engine: str, terms: Iterable[LicenceTerms]) -> str:
    """Say what must be accepted, and how to accept it without a prompt."""
    rows = "; ".join(f"{each.name}: {each.licence} ({each.source}){each.address}" for each in terms)
    return (
        f"The engine {engine} is under terms that you must accept. {rows}."
        f" If you accept, run `foldnote engines install {engine} --accept-licences`."
    )


def _name_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as in some containers
        return f"account {os.getuid()}"


def _path() -> Path:
    return settings.engines_dir() / RECORD


def _read(path: Path) -> list[LicenceAcceptance]:
    names = [each.name for each in fields(LicenceTerms)]
    return [
        LicenceAcceptance(
            row["engine"], LicenceTerms(**{name: row[name] for name in names}), row["user"], row["accepted"]
        )
        for row in json.loads(path.read_text("utf-8"))
    ]


def _write_row(acceptance: LicenceAcceptance) -> dict[str, str]:
    ours = {"user": acceptance.user, "accepted": acceptance.accepted}
    return {"engine": acceptance.engine, **asdict(acceptance.terms), **ours}
