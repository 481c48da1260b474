"""Rules by which an engine refuses jobs before they are queued, as declared in its ``engine.toml``.

A row of ``[[refusals]]`` selects jobs by the values of their settings, and states what else they need before
the engine can run them: an extension besides the settings, such as the user's consent to query a server, or
an option configured at the service. The engine itself is not started for this check.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foldnote.models.extensions import ALIGNMENT, EXTERNAL, LABEL, name_parts
from foldnote.service.engines.configuration import Configured
from foldnote.settings import process_environment

_CONSENT = re.compile(rf"{EXTERNAL}:[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rule for refusing jobs: it applies if all of its conditions hold."""

    sentence: str
    """What is wrong, and each way to correct it."""
    field: str
    """Dotted path of the invalid field."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Values that the job's settings must have, after defaults are filled in."""
    given: tuple[str, ...] = ()
    """Extensions (``alignment``, ``external:…``) that must all be given."""
    unless: tuple[str, ...] = ()
    """Extensions of which none must be given."""
    unless_set: tuple[str, ...] = ()
    """Variables of the service's environment of which none must be set."""
    without: tuple[str, ...] = ()
    """Settings of which none must be given."""
    unless_configured: tuple[str, ...] = ()
    """Options of the engine, or files in an option's folder (``OPTION/PATTERN``), none of which must
    exist."""
    code: str = "not_agreed"
    """Error code; the default means that the job lacks something that the engine needs."""

    def applies(
        self, settings: Mapping[str, Any], parts: Sequence[str], configured: Configured | None = None
    ) -> bool:
        """Return whether a job with these settings and extensions is refused."""
        options = configured or Configured()
        variables = process_environment()
        return (
            all(settings.get(name) == value for name, value in self.settings.items())
            and all(part in parts for part in self.given)
            and not any(part in parts for part in self.unless)
            and not any(variables.get(name) for name in self.unless_set)
            and all(settings.get(name) in (None, "") for name in self.without)
            and not any(
                options.has_file(each) if "/" in each else each in options.values
                for each in self.unless_configured
            )
        )


def find_refusal(
    refusals: Sequence[Refusal],
    settings: Mapping[str, Any],
    extensions: Mapping[str, Any] | None,
    configured: Configured | None = None,
) -> Refusal | None:
    """Return the first refusal that applies to a job, or None; ``configured`` has the engine's options."""
    parts = name_parts(extensions)
    return next((each for each in refusals if each.applies(settings, parts, configured)), None)


def read_refusals(rows: Sequence[Mapping[str, Any]], extensions: Sequence[str]) -> tuple[Refusal, ...]:
    """Read the refusals of an ``engine.toml``.

    Args:
        rows: the tables of ``[[refusals]]``.
        extensions: extensions that the engine accepts.

    Raises:
        ValueError: an extension is unknown, or a refusal names a part that the engine does not accept.
        TypeError: a key is missing or unknown.
    """
    for name in extensions:
        if name != ALIGNMENT and not _CONSENT.fullmatch(name):
            told = "; every job takes a label" if name == LABEL else ""
            raise ValueError(f"extensions has {name!r}; it may have alignment and external:<purpose>{told}")
    lists = ("given", "unless", "unless_set", "without", "unless_configured")
    tables: list[dict[str, Any]] = [
        {key: tuple(value) if key in lists else value for key, value in row.items()} for row in rows
    ]
    refusals = tuple(Refusal(**table) for table in tables)
    for each in refusals:
        for part in (*each.given, *each.unless):
            if part not in extensions:
                raise ValueError(f"refusals names {part!r}, which is not in extensions")
    return refusals
