"""Where a structure's pLDDT is, if it has one.

B-factors look alike whatever they mean: an experiment's disorder, a predictor's error in Å, zeros. So they
count as pLDDT only on evidence, looked for in this order: an mmCIF quality metric that says so, a score file
of the same prediction whose values they repeat, a header that names pLDDT. Without evidence there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gemmi
import numpy as np
import pandas as pd
from numpy.typing import NDArray

ScoreFigures = Mapping[str, Sequence[float]]
"""Per-residue figures of a score file, by name."""

_TOLERANCE = 0.51
"""Largest difference, on the scale 0 to 100, between a score file's values and their copy in a B-factor."""


def find_plddt(
    structure: gemmi.Structure, text: str, form: str, figures: ScoreFigures
) -> pd.DataFrame | None:
    """The pLDDT of the polymer residues of the first model, or None.

    Returns:
        One row a residue: ``chain`` str, ``number`` str, ``residue`` str, ``plddt`` float64 (0 to 100).
    """
    rows = [
        (chain.name, str(residue.seqid), residue.name, float(np.mean([atom.b_iso for atom in residue])))
        for chain in structure[0]
        for residue in chain.get_polymer()
        if len(residue)
    ]
    frame = pd.DataFrame(rows, columns=["chain", "number", "residue", "plddt"])
    values = frame["plddt"].to_numpy(np.float64)
    if form == "mmcif":
        local = _read_local_metric(structure, text)
        frame["plddt"] = values if local is None else local
        found = local is not None or _names_plddt_metric(text)
    else:
        found = _repeats(values, figures.get("plddt")) or _header_names_plddt(text)
    if not found or frame.empty:
        return None
    return _on_scale(frame)


def _on_scale(frame: pd.DataFrame) -> pd.DataFrame | None:
    """The frame on the scale 0 to 100; None when its values cannot be a pLDDT."""
    values = frame["plddt"].to_numpy(np.float64)
    known = values[np.isfinite(values)]
    if len(known) == 0 or known.max() <= 0 or known.min() < 0 or known.max() > 100.01:
        return None
    return frame.assign(plddt=values * 100) if known.max() <= 1 else frame


def _repeats(values: NDArray[np.float64], given: Sequence[float] | None) -> bool:
    if given is None or len(given) != len(values) or len(values) == 0:
        return False
    wanted = np.asarray(given, dtype=np.float64)
    scaled = wanted * 100 if np.nanmax(wanted) <= 1 else wanted
    own = values * 100 if values.max() <= 1 else values
    # A residue whose first atom line is damaged still agrees; one stray residue in fifty is let pass.
    return bool(np.mean(np.abs(scaled - own) <= _TOLERANCE) >= 0.98)


def _header_names_plddt(text: str) -> bool:
    start = text.find("\nATOM")
    header = text[: start if start >= 0 else 0].upper()
    return "PLDDT" in header or "ALPHAFOLD MONOMER" in header


def _find_block(text: str) -> gemmi.cif.Block | None:
    try:
        document = gemmi.cif.read_string(text)
    except (ValueError, RuntimeError):
        return None
    return next((block for block in document if block.find_loop("_atom_site.id")), None)


def _plddt_metrics(block: gemmi.cif.Block) -> set[str]:
    """Ids of the quality metrics that are a pLDDT by type or by name."""
    table = block.find("_ma_qa_metric.", ["id", "name", "?type"])
    ids = set()
    for row in table:
        words = [gemmi.cif.as_string(row[column]) for column in (1, 2) if row.has(column)]
        if any("plddt" in word.lower() for word in words):
            ids.add(gemmi.cif.as_string(row[0]))
    return ids


def _names_plddt_metric(text: str) -> bool:
    block = _find_block(text)
    return block is not None and bool(_plddt_metrics(block))


def _read_local_metric(structure: gemmi.Structure, text: str) -> NDArray[np.float64] | None:
    """Values of a per-residue pLDDT metric in the order of the polymer residues, or None."""
    block = _find_block(text)
    if block is None:
        return None
    wanted = _plddt_metrics(block)
    columns = ["label_asym_id", "label_seq_id", "metric_id", "metric_value"]
    found = {
        (gemmi.cif.as_string(row[0]), row[1]): gemmi.cif.as_number(row[3])
        for row in block.find("_ma_qa_metric_local.", columns)
        if gemmi.cif.as_string(row[2]) in wanted
    }
    residues = [r for chain in structure[0] for r in chain.get_polymer() if len(r)]
    values = np.array([found.get((r.subchain, str(r.label_seq)), np.nan) for r in residues])
    return values if len(values) and np.isfinite(values).mean() > 0.5 else None
