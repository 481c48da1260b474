"""A summary of the provenance and files of a result.

It starts with the method that was run, and points out if that is a substitute for the method that the tool is
named after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from foldnote.models.status import JobStatus
from foldnote.results import Manifest, Result, ResultFile, find_metric
from foldnote.text import count, format_duration, format_figure, format_size
from foldnote.viewers.display.batch_rows import read_states

_HUMP = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")
"""Word boundary in a camelCase name such as ``heavyResidues``, but not in ``pKa``."""


def write_summary(result: Result) -> dict[str, str]:
    """Return the terms and their descriptions, in order; unknown ones are left out."""
    rows: dict[str, str] = {"Jobs with a result": _count_complete(result) if result.jobs else ""}
    if result.manifest:
        rows |= _write_manifest(result.manifest)
    labels = label_scores(result.scores)
    rows |= {labels[name]: _figure(name, value) for name, value in result.scores.items()}
    return {term: text for term, text in rows.items() if text}


def _count_complete(result: Result) -> str:
    """Count a batch's complete jobs, as ``19 of 20``; the archive also has folders of failed ones."""
    states = read_states(result)
    complete = states.count(JobStatus.COMPLETE)
    return f"{complete:,}" if complete == len(states) else f"{complete:,} of {len(states):,}"


def write_files(files: Sequence[ResultFile]) -> str:
    """Return the list of files as a collapsed HTML element."""
    rows = "".join(
        f"<dt>{escape(file.name)}</dt><dd>{file.kind.value}, {format_size(file.size_bytes)}</dd>"
        for file in files
    )
    head = f"<summary>{count(len(files), 'file')}</summary>"
    return f'<details class="fnv-words fnv-files">{head}<dl>{rows}</dl></details>'


def _write_manifest(manifest: Manifest) -> dict[str, str]:
    method = manifest.method_title
    if method and manifest.is_substitute:
        method += ", in place of the method that the tool is named after"
    duration = manifest.duration_s
    return {
        "Method": method,
        "Add-on" if len(manifest.add_ons) == 1 else "Add-ons": ", ".join(
            add_on.method_title for add_on in manifest.add_ons
        ),
        "Databases": ", ".join(manifest.database_titles),
        "Note": " ".join(manifest.notes),
        "Seed": manifest.seed_note if manifest.seed is None else str(manifest.seed),
        "Ignored settings": " ".join(f"{name}: {reason}" for name, reason in manifest.ignored.items()),
        "Started": write_time(manifest.started),
        "Took": "" if duration is None else format_duration(duration),
    }


def write_time(text: str) -> str:
    """Format a time as ``2026-11-21 07:13 UTC``; text that is not a time is returned unchanged."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment.tzinfo else text


def label_scores(names: Iterable[str]) -> dict[str, str]:
    """The label of each score; those of one metric, as of Boltz's networks, have their names behind it."""
    labels = {name: label_score(name) for name in names}
    counts = Counter(labels.values())
    plain_names = {name: name.replace("_", " ") for name in labels}
    return {
        name: f"{label} ({plain_names[name]})" if counts[label] > 1 else label
        for name, label in labels.items()
    }


def label_score(name: str) -> str:
    """Return the label of a metric, ``Mean pLDDT``, or another name in words: ``Heavy residues``."""
    metric = find_metric(name)
    if metric is not None:
        first = metric.label.split()[0]
        return metric.label[:1].upper() + metric.label[1:] if first.islower() else metric.label
    parts = [word for part in name.split("_") for word in _HUMP.split(part) if word]
    words = [word.lower() if word[1:].islower() else word for word in parts]
    text = " ".join(words)
    return text[:1].upper() + text[1:] if parts and parts[0].islower() else text


def _figure(name: str, value: object) -> str:
    """Return a score as in the file, with its unit; for pLDDT, its range."""
    if value is None:
        return ""
    text = format_figure(value) if isinstance(value, float) else str(value)
    if "plddt" in name.lower() and isinstance(value, float):
        return f"{text} (0 to 1)" if value <= 1 else f"{text} (0 to 100)"
    metric = find_metric(name)
    unit = metric.unit if metric else ""
    if not unit or unit == "count" or " as the file says" in unit or isinstance(value, str | bool):
        return text
    return f"{text} ({unit})" if " to " in unit or " or " in unit else f"{text} {unit}"
