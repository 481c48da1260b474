"""Search ANARCI's profiles in this process, with PyHMMER, which is HMMER 3.4 as a library.

ANARCI starts ``hmmscan`` for each call, which reads the profiles again, and parses its output. Here the
profiles are read once, a sequence is searched once regardless of the number of schemes, and figures are
rounded as in the text output, so that the result is the same. Larralde & Zeller (2023) Bioinformatics 39,
btad214.

ANARCI searches the profiles of all species, but where a domain of the requested species reaches the
threshold it uses only theirs. So these are searched first, half of the profiles, and the others only if no
domain reaches it.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_STATES = 128
"""Match states of a profile: the positions of IMGT."""
_REMEMBERED = 16
"""Number of searches whose alignments are cached."""


@dataclass
class ProfileDomain:
    """A domain of a profile in a sequence, with the attributes of Biopython's HSP that ANARCI reads.

    Starts and ends count from 0, the ends excluded. ``order`` is written by ANARCI.
    """

    hit_id: str
    hit_description: str
    evalue: float
    bitscore: float
    bias: float
    hit_start: int
    hit_end: int
    query_start: int
    query_end: int
    aln_annotation: dict[str, str]
    order: int = 0


@dataclass
class SearchedSequence:
    """All domains found in a sequence of ``seq_len`` residues, those of the best profile first."""

    seq_len: int
    hsps: list[ProfileDomain] = field(default_factory=list)


@functools.cache
def load_anarci() -> Callable[..., tuple[list[Any], list[Any], list[Any]]]:
    """Return ANARCI's function ``anarci``, patched to search and compare with this module."""
    program: Any = importlib.import_module("anarci.anarci")
    _load_profiles(program.HMM_path)
    _load_germlines()

    def run_hmmer(
        sequence_list: Sequence[tuple[str, str]],
        hmm_database: str = "ALL",  # noqa: ARG001  the only one there is
        hmmerpath: str = "",  # noqa: ARG001  no program is started
        ncpu: int | None = None,  # noqa: ARG001
        bit_score_threshold: float = 80,
        hmmer_species: Sequence[str] | None = None,
    ) -> list[Any]:
        found = [
            search(sequence, program.HMM_path, tuple(hmmer_species or ()), bit_score_threshold)
            for _, sequence in sequence_list
        ]
        program.HMMERParser = lambda _: found
        results: list[Any] = program.parse_hmmer_output(os.devnull, bit_score_threshold, hmmer_species)
        return results

    program.run_hmmer = run_hmmer
    program.get_identity = measure_identity
    function: Callable[..., tuple[list[Any], list[Any], list[Any]]] = program.anarci
    return function


@functools.cache
def _load_profiles(folder: str) -> tuple[Any, dict[str, Any]]:
    """Return the amino acid alphabet, and all profiles of ANARCI by name, such as ``human_H``."""
    from pyhmmer.easel import Alphabet
    from pyhmmer.plan7 import HMMPressedFile

    alphabet = Alphabet.amino()
    with HMMPressedFile(Path(folder, "ALL.hmm")) as stream:
        return alphabet, {_as_text(profile.name): profile for profile in stream}


@functools.cache
def _select_profiles(folder: str, species: tuple[str, ...]) -> Any:
    """Return the profiles of these species, or all if there are none, as a block to be searched."""
    from pyhmmer.plan7 import OptimizedProfileBlock

    alphabet, profiles = _load_profiles(folder)
    selected = [profile for name, profile in profiles.items() if not species or name.startswith(species)]
    return OptimizedProfileBlock(alphabet, selected)


def search(
    sequence: str, folder: str, species: tuple[str, ...] = (), threshold: float = 0.0
) -> SearchedSequence:
    """Search the profiles in ``folder`` as ``hmmscan`` does by default.

    If a domain of one of the given species has a bit score of at least ``threshold``, the domains of other
    species are left out.
    """
    domains = _search(sequence, folder, species)
    if species and not any(domain.bitscore >= threshold for domain in domains):
        domains = _search(sequence, folder, ())
    return SearchedSequence(len(sequence), domains)


def _search(sequence: str, folder: str, species: tuple[str, ...]) -> list[ProfileDomain]:
    return [ProfileDomain(*each) for each in _find_domains(sequence, folder, species)]


@functools.lru_cache(maxsize=_REMEMBERED)
def _find_domains(sequence: str, folder: str, species: tuple[str, ...]) -> tuple[tuple[Any, ...], ...]:
    from pyhmmer.easel import TextSequence
    from pyhmmer.plan7 import Pipeline

    alphabet, profiles = _load_profiles(folder)
    digital = TextSequence(name=b"0", sequence=sequence).digitize(alphabet)
    pipeline = Pipeline(alphabet, Z=len(profiles))  # E-values are those of a search of all profiles
    hits = pipeline.scan_seq(digital, _select_profiles(folder, species))
    return tuple(_read_domain(hit, domain) for hit in hits.reported for domain in hit.domains.reported)


def _read_domain(hit: Any, domain: Any) -> tuple[Any, ...]:
    """Return the fields of a ``ProfileDomain``, rounded as in the program's output."""
    aligned = domain.alignment
    reference = "".join("." if letter == "." else "x" for letter in aligned.hmm_sequence)
    return (
        _as_text(hit.name),
        _as_text(hit.description) if hit.description else "",
        float(f"{domain.i_evalue:.2g}"),
        float(f"{domain.score:.1f}"),
        float(f"{domain.bias:.1f}"),
        aligned.hmm_from - 1,
        aligned.hmm_to,
        aligned.target_from - 1,
        aligned.target_to,
        {"RF": reference, "PP": aligned.posterior_probabilities},
    )


def _as_text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def measure_identity(state_sequence: str, germline_sequence: str) -> float:
    """Return the share of a germline's residues, 0 to 1, that an aligned sequence shares; 0 without any.

    The result equals that of ANARCI's ``get_identity`` for the germlines in its table. A sequence is compared
    with all of them at once.
    """
    rows, _, _ = _load_germlines()
    return _compare_with_germlines(state_sequence)[rows[germline_sequence]]


@functools.lru_cache(maxsize=_REMEMBERED)
def _compare_with_germlines(state_sequence: str) -> list[float]:
    import numpy as np

    assert len(state_sequence) == _STATES
    _, letters, compared = _load_germlines()
    same = letters == np.frombuffer(state_sequence.upper().encode("ascii"), dtype=np.uint8)
    shared = (same & (letters != ord("-"))).sum(axis=1)
    identities: list[float] = (shared / np.maximum(compared, 1)).tolist()
    return identities


@functools.cache
def _load_germlines() -> tuple[dict[str, int], Any, Any]:
    """Return ANARCI's germline sequences, each with its row in the arrays that follow.

    These are the letters, uint8 of shape (germlines, 128), and the number of residues of each germline.
    """
    import numpy as np

    table = importlib.import_module("anarci.anarci").all_germlines
    sequences = {
        sequence
        for chains in table.values()
        for species in chains.values()
        for genes in species.values()
        for sequence in genes.values()
    }
    rows = {sequence: row for row, sequence in enumerate(sorted(sequences))}
    letters = np.frombuffer("".join(rows).encode("ascii"), dtype=np.uint8).reshape(-1, _STATES)
    return rows, letters, (letters != ord("-")).sum(axis=1)
