"""Seed and settings that a run used, as its engine reports them in ``used.json``.

The report is ``{"seed", "settings", "ignored"}``. Without it nobody knows whether the seed in ``job.json``
had any effect, and then the manifest names none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldnote.service.runner import untrusted

USED = "used.json"
MOST_BYTES = 1 << 20
"""Largest report that is read."""
_NOT_REPORTED = "The engine does not report which seed it used; seedOffered is the one that it was given."
_NO_SEED = "The engine uses no random seed."


@dataclass(frozen=True, slots=True)
class Used:
    """What a run used."""

    seed: int | None = None
    seed_note: str | None = None
    """Why there is no seed; None where there is one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Values that the engine used, of settings that it was given and of others that it computed."""
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Settings that had no effect, with the reason."""

    def describe(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the manifest says of the settings; ``given`` are those of ``job.json``."""
        changed = {
            name: {"given": given.get(name), "used": value}
            for name, value in self.settings.items()
            if name not in given or given[name] != value
        }
        return {"settingsChanged": changed, "settingsIgnored": dict(self.ignored)}


def read_used(work: Path) -> Used:
    """What the engine reports; a report that cannot be read says nothing. Links are not followed."""
    content = _read_json(work)
    if not isinstance(content, dict):
        return Used(seed_note=_NOT_REPORTED)
    seed, settings, ignored = (content.get(name) for name in ("seed", "settings", "ignored"))
    is_seed = isinstance(seed, int) and not isinstance(seed, bool)
    note = _NO_SEED if "seed" in content and seed is None else _NOT_REPORTED
    return Used(
        seed=seed if is_seed else None,
        seed_note=None if is_seed else note,
        settings=settings if isinstance(settings, dict) else {},
        ignored={name: str(why) for name, why in ignored.items()} if isinstance(ignored, dict) else {},
    )


def _read_json(work: Path) -> Any:
    """What the file holds; None when it is absent, a link, no regular file, too large or no JSON."""
    try:
        with untrusted.open_folder(work) as folder:
            return json.loads(untrusted.read_regular(USED, MOST_BYTES, folder) or b"null")
    except (OSError, ValueError, RecursionError):
        return None
