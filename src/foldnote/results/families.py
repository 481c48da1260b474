"""How programs name the files of a prediction, as tables of words.

A prediction is spread over many files: a structure, its scores, its aligned errors, perhaps a relaxed copy.
What belongs together is told from the names alone: take away the words that say what a file holds, and the
names of one model become equal. A new program is a new word or a new row here. Nothing is read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of files that are compressed one by one."""

ROLE_WORDS = frozenset(
    [
        "unrelaxed",
        "relaxed",
        "amber",
        "minimized",
        "score",
        "scores",
        "confidence",
        "confidences",
        "summary",
        "full",
        "data",
        "model",
        "models",
        "pred",
        "prediction",
        "predictions",
        "predicted",
        "aligned",
        "error",
        "pae",
        "pde",
        "plddt",
        "lddt",
        "affinity",
        "aggregated",
        "metrics",
        "result",
        "output",
        "json",
        "ranking",
        "structure",
    ]
)
"""Words of a name that say what the file holds, not which model it is about."""

_VERSION = re.compile(r"v\d+$")
_TOKENS = re.compile(r"[^a-z0-9]+")
_RANK = re.compile(r"(?:^|[^a-z])rank(?:ed)?[_.-]?(\d{1,6})(?!\d)")
_SEED_SAMPLE = re.compile(r"seed[_-](\d{1,12})[_-]sample[_-](\d{1,12})(?!\d)")
_VARIANT = re.compile(
    r"(?:^|[_.\-])(?:unrelaxed|relaxed|ranked|rank|models?|pred|seed|sample|idx|scores?|summary|confidences?)"
    r"(?=$|[_.\-\d])"
)
_LAST_NUMBER = re.compile(r"[_.\-]?\d+$")


@dataclass(frozen=True)
class Family:
    """Names of one kind of prediction whose B-factors are known to be a pLDDT.

    Attributes:
        structure: pattern of the whole path of a structure, lower case.
        marker: pattern of a file that must stand in the archive as well, or "" where the name tells enough.
        label: what to call it.
    """

    structure: str
    marker: str
    label: str


PLDDT_FAMILIES: tuple[Family, ...] = (
    Family(
        r"(^|/)(ranked|(un)?relaxed_model)_\d+(_\w+)?\.(pdb|cif)$",
        r"(^|/)ranking_debug\.json$",
        "AlphaFold 2",
    ),
    Family(r"_(un)?relaxed_rank_\d+_alphafold2_\w+_seed_\d+\.(pdb|cif)$", "", "ColabFold"),
    Family(r"(^|/)af-\w+-f\d+-model_v\d+\.(pdb|cif)$", "", "AlphaFold database"),
)


@dataclass(frozen=True)
class LinkKey:
    """What is left of a name without the words of :data:`ROLE_WORDS`.

    Attributes:
        folder: the folder in the archive.
        tokens: the other words, in lower case.
    """

    folder: str
    tokens: tuple[str, ...]


def strip_packing(name: str) -> str:
    """``name`` in lower case and without the suffix of a compression."""
    plain = name.lower()
    return next((plain.removesuffix(suffix) for suffix in PACKED if plain.endswith(suffix)), plain)


def find_link(name: str) -> LinkKey:
    """Which model the file called ``name`` is about."""
    path = PurePosixPath(strip_packing(name))
    words = _TOKENS.split(path.stem)
    kept = tuple(w for w in words if w and w not in ROLE_WORDS and not _VERSION.match(w))
    return LinkKey(str(path.parent), kept)


def find_rank(name: str) -> int | None:
    """The number behind ``rank`` or ``ranked`` in the file's own name, as it stands there."""
    found = _RANK.search(PurePosixPath(name.lower()).name)
    return int(found[1]) if found else None


def find_seed_sample(name: str) -> tuple[int, int] | None:
    """Seed and sample that a path names, such as ``seed-1_sample-0/model.cif``."""
    found = _SEED_SAMPLE.search(name.lower())
    return (int(found[1]), int(found[2])) if found else None


def find_prediction(name: str) -> str:
    """What was predicted: the part of the name that all models of one prediction share, or ""."""
    path = PurePosixPath(name)
    stem = PurePosixPath(strip_packing(path.name)).stem
    found = _VARIANT.search(stem)
    prefix = path.name[: found.start()] if found else _LAST_NUMBER.sub("", path.name[: len(stem)])
    return prefix or PurePosixPath(find_job_folder(name)).name


def find_job_folder(name: str) -> str:
    """The folder of a file, without folders of single samples; "" at the top."""
    parts = PurePosixPath(name).parts[:-1]
    return "/".join(part for part in parts if not _SEED_SAMPLE.search(part.lower()))


def is_bulk(name: str, names: frozenset[str]) -> bool:
    """Whether a file holds large arrays whose figures stand in a smaller file among ``names``."""
    words = set(_TOKENS.split(PurePosixPath(strip_packing(name)).stem))
    if {"full", "data"} <= words or {"predicted", "aligned", "error"} <= words:
        return True
    return "confidences" in words and "summary" not in words and _with_summary(name) in names


def find_plddt_family(name: str, names: frozenset[str]) -> str:
    """The family whose B-factors are a pLDDT and that ``name``, in an archive of ``names``.

    Belongs to; or "".
    """
    plain = strip_packing(name)
    for family in PLDDT_FAMILIES:
        if re.search(family.structure, plain) and (
            not family.marker or any(re.search(family.marker, other.lower()) for other in names)
        ):
            return family.label
    return ""


def _with_summary(name: str) -> str:
    folder, _, last = name.rpartition("/")
    place = last.lower().rfind("confidences")
    return (folder + "/" if folder else "") + last[:place] + "summary_" + last[place:]
