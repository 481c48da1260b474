"""Compare TM-scores of superpositions with those of the program TM-align, for pairs of the tests' structures.

Needs `TMalign` on the PATH (Debian's package tm-align). Printed for each pair: how `superpose` pairs residues
by default, its TM-score and TM-align's for the same pairing (`-I`), then those of our structural alignment
and of TM-align. All are normalized by the first structure. TM-align gets several chains as one.

    python benchmarks/superposition.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure, Superposition, superpose

FOLDS = Path(__file__).parents[1] / "tests/unit/results/data/folds"
PAIRS = {
    "lysozyme": ["1hmlA 2nwdX", "1akiA 1hmlA", "1akiA 3lzmA"],
    "lysozyme and chitosanase": ["3lzmA 1qgiA"],
    "GFP barrel": ["3kcsA 6oa8A", "3kcsA 1gl4A"],
    "TetR": ["3lsjA 3rd3A"],
    "Ntn hydrolase": ["1p4kA 4osxA"],
    "adenylate kinase": ["4akeA 1akeA"],
    "TIM barrel": ["3enlA 1o1zA"],
    "periplasmic binding": ["3hsyA 3o21A"],
    "immunoglobulin": ["1gl4B 1ncbL"],
    "Fv": ["6y1l_imgt 8ee8_imgt", "6y1l_imgt c143_imgt", "8ee8_imgt c143_imgt", "1ncb_kabat 1igy_kabat"],
}
Rows = list[tuple[str, str, str]]


def read_rows(structure: Structure) -> Rows:
    """Return chain, number and letter of each residue."""
    return [
        (chain.name, number, letter)
        for chain in structure.chains
        for number, letter in zip(chain.numbers, chain.sequence, strict=True)
    ]


def write_single_chain(structure: Structure, path: Path) -> None:
    """Write the structure as one consecutively numbered chain."""
    atoms = [line for line in structure.text.splitlines() if line.startswith("ATOM")]
    path.write_text("\n".join(f"{a[:21]}A{i:4d} {a[27:]}" for i, a in enumerate(atoms, 1)) + "\nTER\nEND\n")


def write_alignment(fit: Superposition, rows: Rows, mobile_rows: Rows, path: Path) -> None:
    """Write the superposition's pairs as a FASTA alignment, mobile structure first, as TM-align expects."""
    pairs = fit.pairs
    partner = {
        (chain, number): (mobile_chain, mobile_number)
        for chain, number, mobile_chain, mobile_number in pairs.iloc[:, :4].itertuples(index=False)
    }
    places = {row[:2]: place for place, row in enumerate(mobile_rows)}
    above, below, done = "", "", 0
    for chain, number, letter in rows:
        other = places.get(partner.get((chain, number), ("", "")))
        if other is not None:
            below += "".join(row[2] for row in mobile_rows[done:other])
            above += "-" * (other - done)
            done = other + 1
        above += letter
        below += "-" if other is None else mobile_rows[other][2]
    below += "".join(row[2] for row in mobile_rows[done:])
    above += "-" * (len(mobile_rows) - done)
    path.write_text(f">mobile\n{below}\n>fixed\n{above}\n")


def run_tm_align(fixed: Path, mobile: Path, alignment: Path | None = None) -> float:
    """Return TM-align's TM-score, normalized by the fixed structure, of a given alignment if there is one."""
    command = ["TMalign", str(mobile), str(fixed), *(["-I", str(alignment)] if alignment else [])]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.findall(r"TM-score= ([\d.]+)", text)[1])


def compare(names: str, folder: Path) -> str:
    """Return one row of the table."""
    fixed, mobile = (Structure.open(FOLDS / f"{name}.pdb.gz") for name in names.split())
    first, second, aligned = (folder / name for name in ("fixed.pdb", "mobile.pdb", "aligned.fasta"))
    write_single_chain(fixed, first)
    write_single_chain(mobile, second)
    try:
        fit = superpose(fixed, mobile)
        write_alignment(fit, read_rows(fixed), read_rows(mobile), aligned)
        same = run_tm_align(first, second, aligned)
        by_itself = f"{fit.pairing:16s} {fit.aligned:3d} {fit.tm_score:.3f}   {same:.3f}"
    except UnreadableFileError:
        by_itself = f"{'not paired':16s}   -     -       -"
    started = time.process_time()
    found = superpose(fixed, mobile, pairing="structure")
    seconds = time.process_time() - started
    theirs = run_tm_align(first, second)
    return (
        f"{names:24s} {by_itself}   {found.aligned:3d} {found.tm_score:.3f}   {theirs:.3f}   {seconds:.2f} s"
    )


def main() -> None:
    """Print the table."""
    if shutil.which("TMalign") is None:
        raise SystemExit("TMalign is not installed: apt-get install tm-align.")
    print(f"{'':24s} {'by itself':16s}     ours  TM-align -I    structure  TM-align   CPU")
    with tempfile.TemporaryDirectory() as folder:
        for fold, pairs in PAIRS.items():
            print(f"-- {fold}")
            for names in pairs:
                print(compare(names, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
