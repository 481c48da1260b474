"""File-name conventions of prediction programs, as tables.

A prediction consists of several files: a structure, its scores, its aligned errors, perhaps a relaxed copy.
They are grouped by name: without the words that describe a file's contents, the names of one model's files
are equal. A new program needs a new word or row here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of individually compressed files."""

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
        "all",
        "results",
    ]
)
"""Words in file names that describe the contents, not the model."""

_VERSION = re.compile(r"v\d+$")
_TOKENS = re.compile(r"[^a-z0-9]+")
_RANK = re.compile(r"(?:^|[^a-z])rank(?:ed)?[_.-]?(\d{1,6})(?!\d)")
_SEED_SAMPLE = re.compile(
    r".*seed[_-](\d{1,12})(?:[_-]|/(?:[^/]{0,200}/)?[^/]{0,200}?)sample[_-](\d{1,12})(?!\d)"
)
_SAMPLE_FOLDER = re.compile(
    r"^seed[_-]\d+|seed[_-]\d+[_-]sample|(?:^|[_-])(?:rank[_-]?\d+|pred[_-]\d+[_-]\d+)$"
)
_FOLDER_RANK = re.compile(r"(?:^|[_-])rank[_-]?(\d{1,6})$")
_RANKED_FOLDER = re.compile(r"(?:^|/)ranked/(\d{1,6})_[^/]+$")
_ACCEPTED = re.compile(r"(?:^|/)accepted/[^/]+$")
_VARIANT = re.compile(
    r"(?:^|[_.\-])(?:unrelaxed|relaxed|ranked|rank|models?|pred|seed|sample|idx|scores?|summary|confidences?)"
    r"(?=$|[_.\-\d])"
)
_LAST_NUMBER = re.compile(r"(?:(?:[_.\-]+|(?<![A-Z\d]))\d+|(?<=[A-Z])\d{1,2})$")
"""Three or more digits after a capital stay: P12345 and T1024 are names of different proteins."""
_STEP_FOLDER = re.compile(r"(?:^|/)(\d{1,3})_([a-z]+)/[^/]+$")
STEP_WORDS = frozenset(
    [
        "topoaa", "topocg", "rigidbody", "lightdock", "gdock", "flexref", "emref", "mdref", "cgtoaa",
        "openmm", "seletop", "seletopclusts", "ilrmsdmatrix", "rmsdmatrix", "clustfcc", "clustrmsd",
    ]
)  # fmt: skip
"""Steps of a HADDOCK3 run, which have numbered folders; the structures of the last step are its models."""


@dataclass(frozen=True)
class Family:
    """File names of a program that writes the pLDDT into the B-factor column.

    Attributes:
        structure: pattern of the path of a structure, in lower case.
        marker: name, in lower case, of a file that the archive must also contain, in any folder; "" if the
            structure's name is sufficient. ``STEM`` stands for the structure's stem.
        label: name of the program.
    """

    structure: str
    marker: str
    label: str


PLDDT_FAMILIES: tuple[Family, ...] = (
    Family(
        r"(^|/)(ranked|(un)?relaxed_model)_\d+(_\w+)?\.(pdb|cif)$",
        "ranking_debug.json",
        "AlphaFold 2",
    ),
    Family(r"_(un)?relaxed_(rank_\d+_)?alphafold2_\w+_seed_\d+\.(pdb|cif)$", "", "ColabFold"),
    Family(r"_(un)?relaxed_(rank_\d+_model_\d|model_\d_rank_\d+)\.pdb$", "", "ColabFold"),
    Family(r"(^|/)alphalink2_model_\d+_seed_\d+_[\d.]+\.pdb$", "ranking_debug.json", "AlphaLink 2"),
    Family(r"_model_\d_?\w*_(un)?relaxed\.(pdb|cif)$", "timings.json", "OpenFold"),
    Family(r"\.pdb$", "STEM_aux.pt", "RoseTTAFold All-Atom"),
    Family(r"(^|/)af-[\w-]+-f\d+-model_v\d+\.(pdb|cif)$", "", "AlphaFold database"),
)

EITHER_SCALE = frozenset({"RoseTTAFold All-Atom"})
"""Families whose pLDDT is 0 to 1 in some versions; the others write 0 to 100."""


@dataclass(frozen=True)
class LinkKey:
    """A file name without the words in :data:`ROLE_WORDS`: equal for all files of a model.

    Attributes:
        folder: the folder in the archive.
        tokens: the remaining words, in lower case.
    """

    folder: str
    tokens: tuple[str, ...]


def strip_packing(name: str) -> str:
    """Return ``name`` in lower case, without a compression suffix."""
    plain = name.lower()
    return next((plain.removesuffix(suffix) for suffix in PACKED if plain.endswith(suffix)), plain)


def find_link(name: str) -> LinkKey:
    """Return the key of the model that a file belongs to."""
    path = PurePosixPath(strip_packing(name))
    tokens = _TOKENS.split(path.stem)
    link_tokens = tuple(w for w in tokens if w and w not in ROLE_WORDS and not _VERSION.match(w))
    return LinkKey(str(path.parent), link_tokens)


def find_rank(name: str) -> int | None:
    """Return the number after ``rank`` or ``ranked`` in the file's or folder's name; None without one."""
    path = PurePosixPath(name.lower())
    match = (
        _RANK.search(path.name) or _RANKED_FOLDER.search(str(path)) or _FOLDER_RANK.search(path.parent.name)
    )
    return int(match[1]) if match else None


def is_chosen(name: str) -> bool:
    """Return whether a file is in a folder of finally selected designs (``ranked/1_…``)."""
    return _RANKED_FOLDER.search(name.lower()) is not None


def is_sample(name: str) -> bool:
    """Return whether the folders of a file show that it is one of several samples (of a seed or rank)."""
    return bool(find_seed_sample(name)) or bool(
        _SAMPLE_FOLDER.search(PurePosixPath(name.lower()).parent.name)
    )


def find_step(name: str) -> int | None:
    """Return the number of the docking step whose folder contains the file; None for other files."""
    match = _STEP_FOLDER.search(name.lower())
    return int(match[1]) if match and match[2] in STEP_WORDS else None


def find_seed_sample(name: str) -> tuple[int, int] | None:
    """Return the seed and sample in a path such as ``seed-1_sample-0/model.cif``; None without them."""
    match = _SEED_SAMPLE.match(name.lower())
    return (int(match[1]), int(match[2])) if match else None


def find_prediction(name: str) -> str:
    """Return the name of the prediction: the part of the name that all its models share, or ""."""
    path = PurePosixPath(name)
    stem = PurePosixPath(strip_packing(path.name)).stem
    if is_chosen(name):
        return path.parent.parent.name
    if _ACCEPTED.search(name.lower()):  # designs that passed the filters but are not ranked yet
        return path.parent.name
    if is_sample(name) and not find_link(path.name).tokens:
        match = _SAMPLE_FOLDER.search(path.parent.name.lower())
        prefix = path.parent.name[: match.start()] if match else ""
        return prefix or PurePosixPath(find_job_folder(name)).name
    match = _VARIANT.search(stem)
    prefix = path.name[: match.start()] if match else _LAST_NUMBER.sub("", path.name[: len(stem)])
    return prefix or PurePosixPath(find_job_folder(name)).name


def find_job_folder(name: str) -> str:
    """Return the folder of a file, without folders of samples; "" at the top level."""
    parts = PurePosixPath(name).parts[:-1]
    places = [i for i, part in enumerate(parts) if _SAMPLE_FOLDER.search(part.lower())]
    return "/".join(parts[: places[0]] if places else parts)


def is_bulk(name: str, names: frozenset[str]) -> bool:
    """Return whether a file contains large arrays whose scores are in a smaller file among ``names``."""
    tokens = set(_TOKENS.split(PurePosixPath(strip_packing(name)).stem))
    if {"full", "data"} <= tokens or {"predicted", "aligned", "error"} <= tokens:
        return True
    return "confidences" in tokens and "summary" not in tokens and _with_summary(name) in names


def find_plddt_family(name: str, names: frozenset[str]) -> str:
    """Return the label of the family whose B-factors are a pLDDT that the file belongs to; "" for none.

    Args:
        name: path of the structure.
        names: paths of all files in the archive.
    """
    plain = strip_packing(name)
    stem = PurePosixPath(plain).stem
    for family in PLDDT_FAMILIES:
        marker = family.marker.replace("STEM", stem)
        if re.search(family.structure, plain) and (not marker or marker in _list_last_parts(names)):
            return family.label
    return ""


@lru_cache(maxsize=8)
def _list_last_parts(names: frozenset[str]) -> frozenset[str]:
    """Return the file names without folders, in lower case; cached, since every structure needs them."""
    return frozenset(name.lower().rpartition("/")[2] for name in names)


def _with_summary(name: str) -> str:
    folder, _, last = name.rpartition("/")
    index = last.lower().rfind("confidences")
    return (folder + "/" if folder else "") + last[:index] + "summary_" + last[index:]
