"""Compare jobs, results and structures: superposed structures, RMSD by region, sequences, settings, scores.

The first structure is the reference. RMSD is that of Cα (C3' of nucleic acids); how residues are paired and
TM-scores are described in :mod:`foldnote.results.comparison`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results.comparison.fitting import measure_rmsd
from foldnote.results.comparison.superposition import PairingMethod, Superposition, superpose
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.sequences.alignment import Alignment
from foldnote.results.side_by_side.figures import compare_scores, compare_settings
from foldnote.results.side_by_side.items import ComparedItem, Source, make_item, name_sources
from foldnote.results.side_by_side.regions import Residue, StructureRegion, find_regions, select_residues
from foldnote.results.side_by_side.sequence_rows import align_chains
from foldnote.results.structure.structure import Structure
from foldnote.text import count, join_words

MAX_ITEMS = 20
_RMSD_DECIMALS = 6
"""Decimals of RMSDs; further digits are only rounding, since coordinates have three."""
_COLUMNS = (
    "structure", "region", "chain", "residues", "pairs", "rmsd", "rmsd_fitted", "tm_score", "own_tm_score",
    "identity", "pairing",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Comparison(NotebookRepr):
    """Several jobs, results or structures, compared with the first structure among them.

    Attributes:
        items: what is compared, in the order given.
        reference: name of the item whose structure the others are superposed on; "" without a structure.
        fits: the superposition of each other structure on the reference, by name.
        align: the residues that were superposed, in words.
        regions: frameworks and CDRs of the reference; empty if no numbering was found.
        region_source: definition and numbering of the CDRs; "" without regions.
        alignments: the aligned sequences by chain of the reference, the reference first.
        table: see :func:`compare`.
        settings: the settings that differ: one row per setting, one column per job.
        scores: one row per score with ``unit`` and ``better``, one column per job.
        notes: what was not compared and why, and other caveats, as sentences.
    """

    items: tuple[ComparedItem, ...]
    reference: str
    fits: Mapping[str, Superposition]
    align: str
    regions: tuple[StructureRegion, ...]
    region_source: str
    alignments: Mapping[str, Alignment]
    table: pd.DataFrame
    settings: pd.DataFrame
    scores: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The unique labels, in the order given."""
        return tuple(item.name for item in self.items)

    @property
    def structures(self) -> dict[str, Structure]:
        """The compared structures by name, the reference first; with the coordinates of their files."""
        by_name = {item.name: item.structure for item in self.items if item.structure is not None}
        return {name: by_name[name] for name in ([self.reference] if self.reference else []) + [*self.fits]}

    @property
    def deviations(self) -> pd.DataFrame:
        """The distance of each paired residue from its counterpart in the reference.

        Returns:
            One row per pair: ``structure``, ``chain``, ``number``, ``mobile_chain``, ``mobile_number`` str,
            ``distance`` float64 in Å under this superposition.
        """
        frames = [fit.pairs.assign(structure=name) for name, fit in self.fits.items()]
        columns = ["structure", "chain", "number", "mobile_chain", "mobile_number", "distance"]
        return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)}>"


def compare(
    sources: Sequence[Source | ComparedItem], *, align: str = "all", pairing: PairingMethod = "auto"
) -> Comparison:
    """Compare results, models or structures with the first structure among them.

    The table has one row per structure and region of the reference: ``structure``, ``region`` (``all``, a
    chain, the framework, a CDR) and ``chain`` str; ``residues`` int64, in the reference; ``pairs`` int64, of
    them paired; ``rmsd`` float64 in Å under the superposition of the comparison; ``rmsd_fitted`` float64 in
    Å with the region superposed by itself; of all residues ``tm_score`` and ``own_tm_score`` float64, 0 to
    1, normalized by the reference and by the structure itself; ``identity`` float64, 0 to 1, of the pairs;
    ``pairing`` str, how residues were paired. RMSDs of fewer than three pairs are missing.

    Args:
        sources: results, models, structures or paths; 2 to 20.
        align: residues of the reference that are superposed; see
            :func:`foldnote.results.side_by_side.regions.select_residues`.
        pairing: how residues are paired; see :func:`foldnote.results.superpose`.

    Raises:
        ArgumentError: there are fewer than 2 or more than 20, one is a batch or of another type, or ``align``
            or ``pairing`` is unknown.
        UnreadableFileError: a file does not exist, or is damaged.
    """
    if not 2 <= len(sources) <= MAX_ITEMS:
        raise ArgumentError(f"A comparison takes 2 to {MAX_ITEMS} jobs or structures, not {len(sources)}.")
    names = name_sources(sources)
    items = tuple(
        replace(source, name=name) if isinstance(source, ComparedItem) else make_item(source, name)
        for source, name in zip(sources, names, strict=True)
    )
    with_structure = [item for item in items if item.structure is not None]
    first = with_structure[0] if len(with_structure) > 1 else None
    regions, region_source = find_regions(first) if first else ((), "")
    residues, description = _select(first, regions, align)
    fits, faults = _superpose_all(first, with_structure[1:], residues, pairing)
    structures = {item.name: item.structure for item in with_structure if item.structure is not None}
    return Comparison(
        items=items,
        reference=first.name if first else "",
        fits=fits,
        align=description,
        regions=regions,
        region_source=region_source,
        alignments=align_chains(first.name, structures, fits) if first else {},
        table=_make_table(first, regions, fits),
        settings=compare_settings(items),
        scores=compare_scores(items),
        notes=(*_note_items(items, first), *faults, *_note_chains(first, structures, fits)),
    )


def _select(
    first: ComparedItem | None, regions: Sequence[StructureRegion], align: str
) -> tuple[list[Residue], str]:
    if first is None or first.structure is None:
        return [], ""
    return select_residues(align, first.structure, regions)


def _superpose_all(
    first: ComparedItem | None,
    others: Sequence[ComparedItem],
    residues: Collection[Residue],
    pairing: PairingMethod,
) -> tuple[dict[str, Superposition], list[str]]:
    """Superpose each structure on the first; list the others in a sentence for each reason."""
    fits: dict[str, Superposition] = {}
    faults: defaultdict[str, list[str]] = defaultdict(list)
    for item in others:
        if first is None or first.structure is None or item.structure is None:
            continue
        try:
            fit = superpose(first.structure, item.structure, pairing=pairing)
        except UnreadableFileError as exc:
            faults[exc.message.partition(": ")[2] or exc.message].append(item.name)
            continue
        try:
            fits[item.name] = fit.refit(residues) if residues else fit
        except ArgumentError as exc:
            faults[exc.message].append(item.name)
    sentences = [
        f"{join_words(names, 'and')} {'is' if len(names) == 1 else 'are'} not superposed on"
        f" {first.name} and not drawn: {reason}"
        for reason, names in faults.items()
        if first is not None
    ]
    return fits, sentences


def _make_table(
    first: ComparedItem | None, regions: Sequence[StructureRegion], fits: Mapping[str, Superposition]
) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    if first is not None and first.structure is not None:
        parts = _list_parts(first.structure, regions)
        rows = [_measure(name, fit, *part) for name, fit in fits.items() for part in parts]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame.astype(
        dict.fromkeys(("rmsd", "rmsd_fitted", "tm_score", "own_tm_score", "identity"), "float64")
    )


def _list_parts(
    structure: Structure, regions: Sequence[StructureRegion]
) -> list[tuple[str, str, list[Residue]]]:
    """Return (region, chain, residues) of each row of the table; all residues first."""
    chains = [
        (f"chain {chain.name}", chain.name, [(chain.name, number) for number in chain.numbers])
        for chain in structure.chains
    ]
    parts = [("all", "", [residue for _, _, residues in chains for residue in residues])]
    frame = [residue for region in regions if not region.is_cdr for residue in region.residues]
    frames = [("framework", "", frame)] if sum(not region.is_cdr for region in regions) > 1 else []
    return [
        *parts,
        *(chains if len(chains) > 1 else []),
        *frames,
        *((region.label, region.chain, region.residues) for region in regions),
    ]


def _measure(
    name: str, fit: Superposition, region: str, chain: str, residues: list[Residue]
) -> tuple[object, ...]:
    is_selected = fit.select(residues)
    pairs = int(is_selected.sum())
    distances = fit.pairs["distance"].to_numpy(np.float64)[is_selected]
    is_all = region == "all"
    is_measurable = pairs >= 3
    rmsd = float(np.sqrt(np.mean(distances**2))) if is_measurable else np.nan
    fitted = (
        measure_rmsd(fit.mobile_points[is_selected], fit.points[is_selected]) if is_measurable else np.nan
    )
    return (
        name, region, chain, len(residues), pairs,
        round(rmsd, _RMSD_DECIMALS),
        round(fitted, _RMSD_DECIMALS),
        fit.tm_score if is_all else None,
        fit.mobile_tm_score if is_all else None,
        float(fit.is_identical[is_selected].mean()) if pairs else np.nan,
        fit.pairing,
    )  # fmt: skip


def _note_items(items: Sequence[ComparedItem], first: ComparedItem | None) -> list[str]:
    """Return the sentences on tools that differ, missing structures, settings and scores."""
    notes = []
    tools = {item.name: item.tool for item in items if item.tool}
    if len(set(tools.values())) > 1:
        notes.append("Different tools: " + ", ".join(f"{name} {tool}" for name, tool in tools.items()) + ".")
    lacking = [f"{item.name}: {item.problem}" for item in items if item.structure is None]
    if first is None:
        notes.append(f"No structures are compared: at least two are needed. {_join(lacking)}".strip())
    else:
        notes += [f"{text}." for text in lacking]
    notes += [item.note for item in items if item.note]
    unknown = [item.name for item in items if item.is_job and not item.settings]
    if unknown:
        notes.append(f"The settings of {join_words(unknown, 'and')} are not known.")
    return notes


def _join(reasons: Sequence[str]) -> str:
    return " ".join(f"{reason}." for reason in reasons)


def _note_chains(
    first: ComparedItem | None, structures: Mapping[str, Structure], fits: Mapping[str, Superposition]
) -> list[str]:
    """Return sentences on chains without a counterpart, and on chains paired under different names."""
    notes = []
    for name, fit in fits.items():
        assert first is not None
        matched: dict[str, str] = dict(zip(fit.pairs["chain"], fit.pairs["mobile_chain"], strict=True))
        renamed = [f"{b} with {a}" for a, b in matched.items() if a != b]
        if renamed:
            notes.append(f"Chains of {name} are paired with those of {first.name}: {', '.join(renamed)}.")
        for owner, used in ((first.name, set(matched)), (name, set(matched.values()))):
            other = name if owner == first.name else first.name
            alone = [chain.name for chain in structures[owner].chains if chain.name not in used]
            if alone:
                verb = "has" if len(alone) == 1 else "have"
                notes.append(
                    f"{count(len(alone), 'chain')} of {owner} ({', '.join(alone)}) {verb} no counterpart "
                    f"in {other}."
                )
    return notes
