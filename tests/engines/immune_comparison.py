"""Run ImmuneBuilder's own classes with the weights and seed of one of our runs, and compare the results."""

import csv
import json
from pathlib import Path

import gemmi
import numpy as np
from real_engine import run_directly

SEED = 7
# The refinement places hydrogens at random, so the direct run must draw the same numbers.
_DIRECT = """
import functools, json, os, random, shutil, sys, numpy, torch
from pathlib import Path
import ImmuneBuilder
from pdbfixer import PDBFixer
name, seed, sequences = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
weights = Path("all")
shutil.copytree(os.environ["FOLDNOTE_WEIGHTS"], weights)
if name == "ABodyBuilder2":
    shutil.copy(Path(ImmuneBuilder.__file__).parent / "trained_model" / "antibody_model_1", weights)
random.seed(seed); numpy.random.seed(seed); torch.manual_seed(seed)
PDBFixer.addMissingAtoms = functools.partialmethod(PDBFixer.addMissingAtoms, seed=seed)
predicted = getattr(ImmuneBuilder, name)(weights_dir=str(weights)).predict(sequences)
predicted.save_all("saved")
numpy.save("ranking", predicted.ranking)
"""


def predict_directly(engine, method: str, sequences: dict[str, str], folder: Path) -> None:
    """Write ``saved`` (the package's files; its errors are mean squares in Å²) and ``ranking.npy`` to a folder."""
    run_directly(
        engine, [str(engine.python), "-c", _DIRECT, method, str(SEED), json.dumps(sequences)], folder
    )


def read_rows(outputs: Path) -> list[dict[str, str]]:
    """Return the rows of numbering.csv."""
    with (outputs / "numbering.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def list_heavy_atoms(path: Path) -> dict[tuple[str, str, str, str], list[float]]:
    """Return positions in Å by chain, number, residue and atom."""
    return {
        (chain.name, str(residue.seqid), residue.name, atom.name): atom.pos.tolist()
        for chain in gemmi.read_structure(str(path))[0]
        for residue in chain
        for atom in residue
        if not atom.is_hydrogen()
    }


def compare_errors(outputs: Path, direct: Path) -> None:
    """Assert that errors in the table and as B-factors are those of the package."""
    expected = np.sqrt(np.load(direct / "saved/error_estimates.npy"))
    assert expected.max() > 0.1
    rows = read_rows(outputs)
    np.testing.assert_allclose([float(row["predicted_error"]) for row in rows], expected, atol=6e-4)
    structure = gemmi.read_structure(str(outputs / "prediction.pdb"))
    residues = [(chain.name, residue) for chain in structure[0] for residue in chain]
    assert [(row["chain"], row["position"]) for row in rows] == [
        (chain, str(residue.seqid)) for chain, residue in residues
    ]
    found = [{atom.b_iso for atom in residue} for _, residue in residues]
    assert {len(values) for values in found} == {1}
    np.testing.assert_allclose([values.pop() for values in found], expected, atol=6e-3)


def compare_atoms(outputs: Path, direct: Path) -> int:
    """Assert that atoms are where the package puts them; return the number of the model that it ranks first."""
    ours = list_heavy_atoms(outputs / "prediction.pdb")
    theirs = list_heavy_atoms(direct / "saved/final_model.pdb")
    assert ours.keys() == theirs.keys()
    assert max(np.linalg.norm(np.subtract(ours[key], theirs[key])) for key in ours) < 0.002
    return int(np.load(direct / "ranking.npy")[0]) + 1
