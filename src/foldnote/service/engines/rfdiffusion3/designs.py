"""Collect the output of RFdiffusion3: a structure and figures of each design."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from contigs import name_places
from engine_protocol import write_table
from inputs import KEY

COLUMNS = (
    "file",
    "contig",
    "radius_of_gyration",
    "helix_fraction",
    "sheet_fraction",
    "loop_fraction",
    "n_chainbreaks",
    "max_ca_deviation",
    "n_clashing.interresidue_clashes_w_backbone",
    "n_clashing.interresidue_clashes_w_sidechain",
)
"""First columns of designs.csv; other figures follow by RFdiffusion3's names, the sequence is the last."""
MEANS = ("radius_of_gyration", "helix_fraction", "sheet_fraction", "loop_fraction")
"""Figures whose means over the designs are figures of the run."""
BREAKS = "n_chainbreaks"
_NAME = re.compile(rf"{KEY}_(\d+)_model_(\d+)\.cif\.gz")
_PASSING = re.compile(r"^_entry\.(?:author|date|time)\s.*\n", re.MULTILINE)
"""Keys that differ from run to run, and whose values we know better."""
_LOCAL = ("ckpt_path",)
"""Keys with which RFdiffusion3 describes its machine."""


def collect(source: Path, target: Path, *, is_stand_in: bool) -> list[dict[str, Any]]:
    """Write each design into ``target``, in the order of their creation; return a row of the table for each.

    Args:
        source: RFdiffusion3's folder of results.
        target: the folder of outputs.
        is_stand_in: whether the weights were random, so that figures are meaningless and omitted.
    """
    found = [
        (tuple(map(int, match.groups())), path)
        for path in source.iterdir()
        if (match := _NAME.fullmatch(path.name))
    ]
    rows = []
    for number, (_, path) in enumerate(sorted(found), start=1):
        text = _PASSING.sub("", gzip.decompress(path.read_bytes()).decode("utf-8"))
        record = json.loads(path.with_name(path.name.removesuffix(".cif.gz") + ".json").read_text("utf-8"))
        name = f"design_stand_in_{number}.cif" if is_stand_in else f"design_{number}.cif"
        row = {
            "file": name,
            "contig": _shorten(record["specification"].get("extra", {}).get("sampled_contig", "")),
        }
        if is_stand_in:
            text = _blank_b_factors(text)
        else:
            record["metrics"] = {key: _drop_nan(value) for key, value in record["metrics"].items()}
            figures = record["metrics"].items()
            row |= {key: value for key, value in figures if isinstance(value, int | float)}
            _write_record(target / f"design_{number}.json", record)
        (target / name).write_text(text, "utf-8")
        row["sequence"] = read_sequence(target / name)
        rows.append(row)
    known = dict.fromkeys(key for row in rows for key in row)
    first = [name for name in COLUMNS if name in known]
    others = [name for name in known if name not in (*COLUMNS, "sequence")]
    if rows:
        write_table("designs.csv", rows, [*first, *others, "sequence"])
    return rows


def summarize(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | int]:
    """Return figures of the run: number of designs, number without chain breaks, and means."""
    means = {name: fmean(row[name] for row in rows) for name in MEANS if all(name in row for row in rows)}
    whole = sum(row.get(BREAKS) == 0 for row in rows)
    return {"designs": len(rows), "designs_without_chain_breaks": whole, **means}


def read_sequence(path: Path) -> str:
    """Return one-letter sequences of the protein chains, joined by a slash; X for an unknown residue."""
    import gemmi
    from residue_names import find_letter, is_amino_acid

    structure = gemmi.read_structure(str(path))
    chains = []
    for chain in structure[0]:
        known = [residue for residue in chain if residue.name == "UNK" or is_amino_acid(residue.name)]
        if known:
            chains.append("".join(find_letter(residue.name) for residue in known))
    return "/".join(chains)


def _write_record(path: Path, record: dict[str, Any]) -> None:
    """Write RFdiffusion3's record of a design, without paths of this machine."""
    kept = {key: value for key, value in record.items() if key not in _LOCAL}
    if source := kept["specification"].get("input"):
        kept["specification"]["input"] = Path(source).name
    path.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def _shorten(sampled: str) -> str:
    """Return the sampled contig with ranges of residues and without the letter for protein."""
    words: list[str] = []
    kept: list[tuple[str, int]] = []
    for word in [*sampled.split(","), ""]:
        if word[:1].isalpha():
            kept.append((word[0], int(word[1:])))
            continue
        words += [name_places(kept, len(kept))] if kept else []
        words += [word.removesuffix("P")] if word and word != "0P" else []
        kept = []
    return ",".join(words).replace(" ", "")


def _drop_nan(value: Any) -> Any:
    """Return the figure; None for one that RFdiffusion3 could not compute, since JSON has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _blank_b_factors(text: str) -> str:
    """Return the structure without the sequence entropies, which are meaningless with stand-in weights."""
    import gemmi

    document = gemmi.cif.read_string(text)
    column = document.sole_block().find_values("_atom_site.B_iso_or_equiv")
    for place in range(len(column)):
        column[place] = "0.00"
    return document.as_string()
