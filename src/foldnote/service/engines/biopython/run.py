"""Calculate properties of protein sequences with Biopython's ProtParam, and find modification motifs.

Reads job.json and the file of ``fastaFile``. Writes outputs/properties.csv, outputs/composition.csv,
outputs/motifs.csv and, for the first sequences, outputs/hydropathy.csv and outputs/charge.csv.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from Bio.SeqUtils.IsoelectricPoint import IsoelectricPoint
from Bio.SeqUtils.ProtParam import ProteinAnalysis, ProtParamData

MAX_SEQUENCES = 10_000
MAX_LENGTH = 100_000
"""Maximum residues of one sequence; titin has 34,350."""
MAX_DRAWN = 20
"""Maximum sequences whose hydropathy and charge by pH are written, with MAX_DRAWN_RESIDUES in all."""
MAX_DRAWN_RESIDUES = 20_000
ALIPHATIC = {"A": 1.0, "V": 2.9, "I": 3.9, "L": 3.9}
"""Volume of the side chains relative to alanine's (Ikai, J. Biochem. 88, 1895, 1980)."""
NEUTRAL_PH, LEAST_PH, GREATEST_PH = 7.0, -2.0, 18.0
"""Start and bounds of the search for the isoelectric point. Biopython's own search ends at 4.05 and 12, but
the pI of prothymosin is 3.7, and that of a chain of arginines 12.6. The net charge of the longest accepted
sequence, of aspartates or arginines alone, reaches 0 within these bounds."""
DIPEPTIDES = 2
"""Length below which the instability index, a mean over dipeptides, is undefined."""
FIGURES = (
    *("residues", "molecular_weight_da", "isoelectric_point", "charge", "extinction_reduced"),
    *("extinction_bridged", "absorbance_reduced", "absorbance_bridged", "gravy", "aliphatic_index"),
    *("instability_index", "aromaticity", "cysteines"),
)
"""Figures in properties.csv: number of residues; average mass in Da; isoelectric point; charge in e;
extinction coefficients at 280 nm in 1/(M cm) and absorbances of 1 g/l over 1 cm, with reduced and bridged
cysteines; mean Kyte-Doolittle hydropathy; aliphatic index; instability index; share of F, W and Y; number of
cysteines."""
MOTIFS = (
    ("N-glycosylation", "N[^P][ST]", "asparagine of the sequon N-X-S/T, X not proline"),
    ("deamidation", "N[GST]", "asparagine before a small residue"),
    ("isomerisation", "D[GST]", "aspartate before a small residue"),
    ("cleavage", "DP", "acid-labile bond between aspartate and proline"),
    ("pyroglutamate", "^[QE]", "first residue, which may cyclise"),
)
"""Kind, pattern and description of each motif; for deamidation and isomerisation, those most frequent in
antibodies (Lu et al., mAbs 11, 45, 2019, doi:10.1080/19420862.2018.1548233)."""


@dataclass(frozen=True)
class Entry:
    """A sequence of the file with its name, both cleaned up."""

    name: str
    sequence: str


def main() -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    settings = job["settings"]
    window = settings["window"]
    if window % 2 == 0:
        protocol.fail(
            f"window has {window} residues; the window around a residue has an odd number. Take {window + 1}."
        )
    protocol.write_used(seed=None)
    entries = read_entries(Path(job["files"]["fastaFile"][0]))
    rows, known = [], []
    for index, entry in enumerate(entries):
        if index % 200 == 0:
            protocol.report(index / len(entries), f"Sequence {index + 1} of {len(entries)}")
        problem = find_problem(entry.sequence)
        figures = {} if problem else measure(entry.sequence, settings["pH"])
        rows.append({"name": entry.name, **figures, "problem": problem})
        if not problem:
            known.append(entry)
    if not known:
        protocol.fail(f"None of the sequences has figures. {entries[0].name}: {rows[0]['problem']}")
    protocol.write_table("properties.csv", rows, ("name", *FIGURES, "problem"))
    write_composition(known)
    motifs = [row for entry in known for row in find_motifs(entry)]
    protocol.write_table("motifs.csv", motifs, ("name", "motif", "position", "residues", "meaning"))
    drawn = list(choose_drawn(known))
    write_hydropathy(drawn, window)
    write_charges(drawn)
    notes = list_notes(entries, known, drawn)
    protocol.write_notes(notes)
    protocol.write_score(
        dict(rows[0]) | {"pH": settings["pH"]} if len(entries) == 1 else {"sequences": len(entries)}
    )
    protocol.report(1.0, "Done")


def read_entries(path: Path) -> list[Entry]:
    """Return the sequences of a FASTA file; a text without names is one sequence."""
    text = path.read_bytes().decode("utf-8-sig", "replace")
    entries: list[Entry] = []
    name, lines = "", []
    for line in [*text.splitlines(), ">"]:
        if not line.lstrip().startswith(">"):
            lines.append(line)
            continue
        if name or "".join(lines).strip():
            sequence = protocol.clean_sequence("".join(lines)).rstrip("*")
            entries.append(Entry(name or f"sequence {len(entries) + 1}", sequence))
        if len(entries) > MAX_SEQUENCES:
            protocol.fail(f"The file has more than {MAX_SEQUENCES} sequences. Give it in parts.")
        name = line.lstrip()[1:].strip().split(None, 1)[0] if line.lstrip()[1:].strip() else ""
        lines = []
    if not entries:
        protocol.fail("The file has no sequence. Give protein sequences as FASTA.")
    return entries


def find_problem(sequence: str) -> str:
    """Return why a sequence has no figures, as a sentence; empty if it has."""
    if not sequence:
        return "The sequence is empty."
    if not all(letter.isalpha() or letter in "-.*" for letter in sequence):
        return "It is not a sequence: it has digits or other signs. Give one-letter codes of amino acids."
    if strange := protocol.list_nonstandard_letters(sequence):
        return f"The sequence has {strange}; figures are those of the 20 standard amino acids."
    if len(sequence) > MAX_LENGTH:
        return f"The sequence has {len(sequence)} residues; at most {MAX_LENGTH} are read."
    return ""


def measure(sequence: str, ph: float) -> dict[str, Any]:
    """Return the figures of one sequence, by the names of ``FIGURES``."""
    protein = ProteinAnalysis(sequence, monoisotopic=False)
    mass = protein.molecular_weight()
    reduced, bridged = protein.molar_extinction_coefficient()
    counts = protein.count_amino_acids()
    point = IsoelectricPoint(sequence, counts)
    length = len(sequence)
    aliphatic = 100 * sum(weight * counts[letter] for letter, weight in ALIPHATIC.items()) / length
    return {
        "residues": length,
        "molecular_weight_da": round(mass, 1),
        "isoelectric_point": round(point.pi(NEUTRAL_PH, LEAST_PH, GREATEST_PH), 2),
        "charge": round(protein.charge_at_pH(ph) + 0.0, 2),
        "extinction_reduced": reduced,
        "extinction_bridged": bridged,
        "absorbance_reduced": round(reduced / mass, 3),
        "absorbance_bridged": round(bridged / mass, 3),
        "gravy": round(protein.gravy(), 3),
        "aliphatic_index": round(aliphatic, 2),
        "instability_index": round(protein.instability_index(), 2) if length >= DIPEPTIDES else "",
        "aromaticity": round(protein.aromaticity(), 4),
        "cysteines": counts["C"],
    }


def write_composition(entries: Sequence[Entry]) -> None:
    """Write composition.csv."""
    rows = [
        {"name": entry.name} | {letter: entry.sequence.count(letter) for letter in protocol.AMINO_ACIDS}
        for entry in entries
    ]
    protocol.write_table("composition.csv", rows, ("name", *protocol.AMINO_ACIDS))


def find_motifs(entry: Entry) -> Iterator[dict[str, Any]]:
    """Yield the rows of motifs.csv by position, overlapping ones included."""
    found = []
    for kind, pattern, meaning in MOTIFS:
        lookahead = f"(?={pattern})" if not pattern.startswith("^") else pattern
        for match in re.finditer(lookahead, entry.sequence):
            residues = re.match(pattern.lstrip("^"), entry.sequence[match.start() :])
            assert residues is not None
            found.append((match.start() + 1, kind, residues.group(), meaning))
    for position, kind, text, meaning in sorted(found):
        yield {"name": entry.name, "motif": kind, "position": position, "residues": text, "meaning": meaning}


def choose_drawn(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the first sequences, as many as fit into a plot."""
    left = MAX_DRAWN_RESIDUES
    for entry in entries[:MAX_DRAWN]:
        left -= len(entry.sequence)
        if left < 0:
            return
        yield entry


def write_hydropathy(entries: Sequence[Entry], window: int) -> None:
    """Write hydropathy.csv; near the ends the mean is over the existing residues."""
    half = window // 2
    rows = []
    for entry in entries:
        values = [ProtParamData.kd[letter] for letter in entry.sequence]
        for index, letter in enumerate(entry.sequence):
            around = values[max(0, index - half) : index + half + 1]
            mean = sum(around) / len(around)
            rows.append(
                {"chain": entry.name, "number": index + 1, "residue": letter, "hydropathy": f"{mean:.3f}"}
            )
    protocol.write_table("hydropathy.csv", rows)


def write_charges(entries: Sequence[Entry]) -> None:
    """Write charge.csv, a row for each sequence and pH."""
    rows = [
        {"name": entry.name, "ph": tenths / 10, "charge": f"{protein.charge_at_pH(tenths / 10):.3f}"}
        for entry in entries
        for protein in [ProteinAnalysis(entry.sequence)]
        for tenths in range(0, 141, 2)
    ]
    protocol.write_table("charge.csv", rows)


def list_notes(entries: Sequence[Entry], known: Sequence[Entry], drawn: Sequence[Entry]) -> list[str]:
    """Return notes for readers of these figures."""
    notes = []
    if lost := len(entries) - len(known):
        notes.append(f"{lost} of {len(entries)} sequences have no figures; the column problem says why.")
    names = [entry.name for entry in entries]
    if twice := len(names) - len(set(names)):
        notes.append(f"{twice} sequences have the name of another one.")
    if len(drawn) < len(known):
        notes.append(
            f"Hydropathy and charge by pH are those of the first {len(drawn)} of {len(known)} sequences."
        )
    return notes


if __name__ == "__main__":
    sys.exit(main())
