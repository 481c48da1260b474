"""The files, jobs and engine that examples of the docs rely on, by page."""

from pathlib import Path

import gemmi
import pandas as pd
from foreign_archives import boltz
from result_archives import DATA, write_ensemble, write_zip
from test_batch import make_batch

EXAMPLES = Path(__file__).parents[2] / "src" / "foldnote" / "catalog" / "examples"
LYSOZYME = Path(__file__).parents[2] / "notebooks" / "data" / "t4-lysozyme-l99a.pdb"
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
SITE = (14.0, 3.5, -20.1)
"""The docking site of the docs, in Å."""
_ENGINE = """
import json
from pathlib import Path
job = json.loads(Path("job.json").read_text())
Path("used.json").write_text(json.dumps({{"seed": job["seed"]}}))
Path("outputs/model.pdb").write_bytes(Path({model!r}).read_bytes())
"""


def write_quick_engine(folder: Path, page: str) -> Path:
    """Write an engine that immediately returns a known structure for any input; return the folder to search.

    The structure is the backbone of an Fv, or a small protein with all atoms for the page whose next tool needs them.
    """
    model = EXAMPLES / ("trp-cage.pdb" if page == "client.md" else "trastuzumab-fv.pdb")
    home = folder / "known"
    home.mkdir(parents=True)
    (home / "run.py").write_text(_ENGINE.format(model=str(model)))
    (home / "engine.toml").write_text(
        'name = "known"\nmethod = "A known structure"\nkind = "substitute"\nversion = "1"\ntools = ["abodybuilder", "alphafold"]\n'
        'note = "It computes nothing."\nlicence = "BSD-3-Clause"\ntime_limit_s = 60\n'
        'extensions = ["external:msa-server"]\n[environment]\nkind = "host"\n'
        "[resources]\ncores = 1\nmemory_mb = 64\n"
    )
    return folder


def write_antibodies(folder: Path) -> None:
    """Write two tables of antibodies: ``antibodies.csv`` and ``plate.xlsx``."""
    table = pd.DataFrame(
        {"id": ["mAb1", "mAb2"], "VH": [VH, VH[1:]], "VL": [VL, VL[1:]], "KD_nM": [0.8, 12.0]}
    )
    table.to_csv(folder / "antibodies.csv", index=False)
    plate = table.rename(columns={"VH": "Seq1", "VL": "Seq2", "id": "Clone"})
    plate.assign(Clone=["C1", "C2"]).to_excel(folder / "plate.xlsx", index=False)


def write_docking(folder: Path) -> None:
    """Write a receptor whose cavity is at ``SITE``, and three ligands."""
    from rdkit import Chem
    from rdkit.Chem import AllChem

    structure = gemmi.read_structure(str(LYSOZYME))
    xylene = [
        atom.pos for chain in structure[0] for residue in chain if residue.name == "TMP" for atom in residue
    ]
    center = sum(xylene, gemmi.Position(0, 0, 0)) / len(xylene)
    for chain in structure[0]:
        for place in reversed(range(len(chain))):
            if all(atom.pos.dist(center) > 8 for atom in chain[place]):
                del chain[place]
    shift = gemmi.Position(*SITE) - center
    structure[0].transform_pos_and_adp(gemmi.Transform(gemmi.Mat33(), shift))
    structure.write_pdb(str(folder / "receptor.pdb"))
    (folder / "ligands").mkdir()
    for name, smiles in (("ligand", "Cc1ccc(C)cc1"), ("ligands/a", "c1ccccc1"), ("ligands/b", "Cc1ccccc1")):
        molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
        AllChem.EmbedMolecule(molecule, randomSeed=1)
        Chem.MolToMolFile(molecule, str(folder / f"{name}.sdf"))


def write_results(folder: Path) -> None:
    """Write results of other programs: a prediction with an alignment, poses, an ensemble and a batch."""
    alignment = (EXAMPLES / "ubiquitin-family.a3m").read_text()
    write_zip(folder / "result.zip", boltz() | {"msa/fv.a3m": alignment})
    poses = {
        "poses.pdbqt": (DATA / "vina_poses.pdbqt").read_text(),
        "receptor.pdb": (DATA / "abl_pocket.pdb").read_text(),
    }
    write_zip(folder / "docking.zip", poses)
    (folder / "nmr.pdb").write_text(write_ensemble())
    write_zip(folder / "panel.zip", make_batch(["fv-1", "fv-2"]))


def submit_jobs(folder: Path) -> None:
    """Submit a batch ``panel`` with the jobs ``fv-1`` and ``fv-2``, and the job ``fv-17``."""
    import foldnote as fn

    table = pd.DataFrame({"name": ["fv-1", "fv-2"], "VH": [VH, VH[1:]], "VL": [VL, VL]})
    batch = fn.submit_batch("abodybuilder", table, names="name", batch_name="panel")
    job = fn.submit("abodybuilder", heavy=VH[2:], light=VL, job_name="fv-17")
    batch.wait()
    job.wait()


WORLDS = {
    "client.md": (write_antibodies,),
    "howto.md": (write_antibodies, write_docking),
    "results.md": (write_results, submit_jobs),
    "views.md": (submit_jobs,),
}
"""Preparations before the examples of a page."""
