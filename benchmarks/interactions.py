"""Compare interactions of ligands with those that PLIP finds in the same PDB files, by residue and kind.

Needs an interpreter with PLIP (`pip install openbabel-wheel lxml numpy`, then `pip install --no-deps plip`)
and a folder of PDB files, such as `plip/test/pdb` of PLIP's repository. Compared are PLIP's hydrogen bonds up
to 3.5 Å, its water bridges with the limits of our hydrogen bonds, and its hydrophobic contacts before it
drops some. For each kind: residues that both find, that only we find, and that only PLIP finds, over all
ligands; then the time of both.

    python benchmarks/interactions.py FOLDER PYTHON_WITH_PLIP
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from foldnote.results import Structure, find_interactions, list_ligands
from foldnote.results.docking.interactions import KINDS
from foldnote.results.structure.interfaces.hydrogen_bonds import HYDROGEN_BOND_A, MIN_ANGLE_DEGREES

Found = dict[str, list[tuple[str, str, str]]]
"""For each ligand, such as ``STI A:201``: kind, chain and number of each interaction."""
_PLIP = """
import json, logging, sys
logging.disable(logging.CRITICAL)
from plip.basic import config
from plip.structure.preparation import PDBComplex
config.WATER_BRIDGE_MAXDIST, config.WATER_BRIDGE_THETA_MIN = float(sys.argv[2]), float(sys.argv[3])
complex = PDBComplex()
complex.load_pdb(sys.argv[1])
for ligand in complex.ligands:
    complex.characterize_complex(ligand)
found = {}
for site, own in complex.interaction_sets.items():
    name, chain, number = site.split(":")
    bonds = own.all_hbonds_pdon + own.all_hbonds_ldon
    kinds = {
        "hydrogen bond": [one for one in bonds if one.distance_ad <= float(sys.argv[2])],
        "ionic": own.saltbridge_lneg + own.saltbridge_pneg, "pi stacking": own.pistacking,
        "cation-pi": own.pication_laro + own.pication_paro, "halogen bond": own.halogen_bonds,
        "water bridge": own.water_bridges,
        "hydrophobic": own.all_hydrophobic if hasattr(own, "all_hydrophobic") else own.hydrophobic_contacts,
    }
    found[f"{name} {chain}:{number}"] = [
        (kind, one.reschain, str(one.resnr)) for kind, ones in kinds.items() for one in ones
    ]
print(json.dumps(found))
"""


def ask_plip(python: str, path: Path) -> Found:
    """Return PLIP's interactions of each ligand; empty if PLIP cannot read the file."""
    limits = [str(HYDROGEN_BOND_A), str(MIN_ANGLE_DEGREES)]
    command = [python, "-c", _PLIP, str(path), *limits]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"{path.name}: {run.stderr.strip().splitlines()[-1:]}")
        return {}
    return {name: [tuple(each) for each in ones] for name, ones in json.loads(run.stdout).items()}


def find_ours(path: Path) -> Found:
    """Return our interactions of each ligand."""
    structure = Structure.open(path)
    return {
        molecule.name: [
            (str(row.kind), str(row.chain), str(row.number))
            for row in find_interactions(structure, molecule).itertuples()
        ]
        for molecule in list_ligands(structure)
    }


def main(folder: str, python: str) -> None:
    """Compare all files of a folder."""
    counts: Counter[tuple[str, str]] = Counter()
    ligands, seconds = 0, Counter[str]()
    for path in sorted(Path(folder).glob("*.pdb")):
        begin = time.perf_counter()
        theirs = ask_plip(python, path)
        seconds["PLIP"] += time.perf_counter() - begin
        begin = time.perf_counter()
        ours = find_ours(path)
        seconds["foldnote"] += time.perf_counter() - begin
        for name in ours.keys() & theirs.keys():
            ligands += 1
            mine, other = set(ours[name]), set(theirs[name])
            for label, which in (("both", mine & other), ("ours", mine - other), ("PLIP", other - mine)):
                counts.update((each[0], label) for each in which)
    print(f"{ligands} ligands\n{'kind':16}{'both':>8}{'only ours':>12}{'only PLIP':>12}")
    for kind in KINDS:
        if kind not in ("covalent", "metal"):  # PLIP lists the other partners of metals
            print(f"{kind:16}{counts[kind, 'both']:8}{counts[kind, 'ours']:12}{counts[kind, 'PLIP']:12}")
    print(", ".join(f"{name} {taken:.1f} s" for name, taken in seconds.items()))


if __name__ == "__main__":
    main(*sys.argv[1:3])
