"""AutoDock Vina through our engine gives the same results as Vina itself for the same files and seed."""

import csv
import json
from itertools import permutations
from pathlib import Path

import gemmi
import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from real_engine import load_engines, run_directly, run_engine

from foldnote import catalog
from foldnote.results import open_result
from foldnote.results.molecules.pdbqt import list_side_chains

HERE = Path(__file__).parent
LYSOZYME = HERE / "data" / "t4-lysozyme-l99a.pdb"
XYLENE = "Cc1ccc(C)cc1 p-xylene\n"
EXAMPLE = catalog.tool("vina").example_job["settings"]
SEED = 42
DIRECT = """
import json, sys
from meeko import MoleculePreparation, PDBQTWriterLegacy
from rdkit import Chem
from rdkit.Chem import AllChem
from vina import Vina
job = json.loads(sys.argv[1])
molecule = Chem.AddHs(Chem.MolFromMolFile(job["ligand"]))
rules = AllChem.ETKDGv3()
rules.randomSeed = job["seed"]
AllChem.EmbedMolecule(molecule, rules)
AllChem.MMFFOptimizeMolecule(molecule, maxIters=1000)
ligand, *_ = PDBQTWriterLegacy.write_string(MoleculePreparation().prepare(molecule)[0])
vina = Vina(seed=job["seed"], cpu=1, verbosity=0)
vina.set_receptor(job["receptor"])
vina.set_ligand_from_string(ligand)
vina.compute_vina_maps(center=job["center"], box_size=job["size"])
vina.dock(exhaustiveness=job["exhaustiveness"], n_poses=job["poses"])
lines = vina.poses(n_poses=job["poses"]).splitlines()
print(json.dumps([float(line.split()[3]) for line in lines if line.startswith("REMARK VINA RESULT")]))
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["vina"].state().installed, reason="needs: foldnote engines install vina"
    ),
]


def dock(folder, receptor, ligand, offered=7, **settings):
    """Return outcome and outputs of a run that is offered a seed; files are given as texts."""
    given = catalog.default_settings(catalog.tool("vina")) | settings
    texts = {"receptorFile": receptor, "ligandFile": ligand}
    return run_engine("vina", folder, given, offered, texts)


def read_table(outputs):
    with (outputs / "docking.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_notes(outputs):
    return " ".join(json.loads((outputs.parent / "notes.json").read_text()))


@pytest.fixture(scope="module", autouse=True)
def vina_alone(tmp_path_factory):
    """Only Vina's own environment is installed; its add-ons have separate tests."""
    folder = tmp_path_factory.mktemp("engines")
    (folder / "vina").symlink_to(load_engines()["vina"].home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDNOTE_ENGINES_DIR", str(folder))
        yield


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """Run the tool's own example: benzene and the Trp-cage (PDB 1L2Y)."""
    folder = tmp_path_factory.mktemp("example")
    more = {key: EXAMPLE[key] for key in ("boxCenter", "boxSize", "exhaustiveness", "numPoses")}
    outcome, outputs = dock(
        folder, EXAMPLE["receptorFile"], EXAMPLE["ligandFile"], offered=7, seed=SEED, **more
    )
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Dock p-xylene from its SMILES, in a box around the cavity of T4 lysozyme L99A."""
    folder = tmp_path_factory.mktemp("site")
    more = {"boxCenter": [42.3, 45.4, 18.2], "boxSize": [12, 12, 12], "exhaustiveness": 4}
    outcome, outputs = dock(folder, LYSOZYME.read_text(), XYLENE, **more)
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "vina"
    needs_seed = True
    # preparing each receptor takes seconds
    rare_odd_inputs = tuple(odd.name for odd in list_odd_inputs("vina"))

    @pytest.mark.exhaustive  # `run` is the example with a given seed
    def test_the_example_runs(self, tmp_path):
        super().test_the_example_runs(tmp_path)

    @pytest.fixture
    def run(self, example):
        return example


def test_the_requested_seed_is_used_and_recorded(example):
    manifest = read_manifest(example)
    assert (manifest["job"]["seed"], manifest["job"]["seedOffered"], manifest["settings"]["seed"]) == (
        SEED,
        7,
        SEED,
    )


def test_the_offered_seed_is_used_and_recorded_if_none_is_requested(site):
    manifest = read_manifest(site)
    assert (manifest["job"]["seed"], manifest["settings"]["seed"]) == (7, 7)


def test_affinities_are_those_of_a_direct_run_with_the_same_seed(example, tmp_path):
    (tmp_path / "ligand.sdf").write_text(EXAMPLE["ligandFile"])
    job = {
        "seed": SEED,
        "receptor": str(example / "receptor.pdbqt"),
        "ligand": str(tmp_path / "ligand.sdf"),
        "center": EXAMPLE["boxCenter"],
        "size": EXAMPLE["boxSize"],
        "exhaustiveness": EXAMPLE["exhaustiveness"],
        "poses": EXAMPLE["numPoses"],
    }
    engine = load_engines()["vina"]
    printed = run_directly(engine, [str(engine.python), "-c", DIRECT, json.dumps(job)], tmp_path)
    theirs = json.loads(printed.strip().splitlines()[-1])
    assert [float(row["affinity"]) for row in read_table(example)] == theirs
    assert len(theirs) > 1


def test_the_best_pose_is_first_and_its_affinity_is_the_score(example):
    affinities = [float(row["affinity"]) for row in read_table(example)]
    score = json.loads((example.parent / "score.json").read_text())
    assert affinities == sorted(affinities)
    assert (score["affinity"], score["poses"]) == (affinities[0], len(affinities))
    assert score["ligandEfficiency"] == pytest.approx(affinities[0] / 6, abs=1e-4)
    assert affinities[0] < 0


def test_every_form_of_the_result_has_every_pose(example):
    count = len(read_table(example))
    poses = (example / "poses.sdf").read_text()
    assert poses.count("$$$$") == poses.count("<affinity>") == count
    assert (example / "poses.pdbqt").read_text().count("MODEL ") == count
    assert "HD" in (example / "receptor.pdbqt").read_text()


def test_the_crystal_pose_is_found_in_the_cavity(site):
    crystal = next(residue for residue in gemmi.read_pdb(str(LYSOZYME))[0]["A"] if residue.name == "TMP")
    found = next(
        residue
        for chain in gemmi.read_pdb(str(site / "complex.pdb"))[0]
        for residue in chain
        if residue.name == "LIG"
    )
    middles = [sum((atom.pos for atom in each), gemmi.Position(0, 0, 0)) / 8 for each in (crystal, found)]
    assert len(found) == len(crystal) == 8
    assert middles[0].dist(middles[1]) < 1.0


def test_the_crystal_ligand_is_the_reference_of_the_poses(site):
    """p-Xylene has four symmetric pairings; a search of all 40,320 permutations finds none that is better."""
    crystal = next(residue for residue in gemmi.read_pdb(str(LYSOZYME))[0]["A"] if residue.name == "TMP")
    places = np.array([atom.pos.tolist() for atom in crystal])
    result = open_result(site)
    (best, *_) = result.poses
    assert best.reference == "TMP A:163"
    assert best.scores["rmsd_to_reference"] == pytest.approx(
        search_pairings(best.molecule, places), abs=0.002
    )
    assert best.scores["rmsd_to_reference"] < 2.0, "the usual limit of a successful redocking"
    table = result.rmsd_to(LYSOZYME, "A:163")
    assert table["rmsd_to_reference"].tolist() == pytest.approx(
        result.pose_table["rmsd_to_reference"].tolist()
    )
    assert "The docked molecule was in the receptor's file (TMP A:163)" in read_notes(site)


def search_pairings(molecule, places):
    """Return the lowest RMSD of the eight atoms over the pairings that keep every bond of at most 1.7 Å."""
    rows = [row for row, element in enumerate(molecule.elements) if element != "H"]
    own = molecule.coordinates[rows]
    bonds, others = (np.linalg.norm(each[:, None] - each[None], axis=2) < 1.7 for each in (own, places))
    orders = (np.array(order) for order in permutations(range(len(rows))))
    fitting = [order for order in orders if (others[np.ix_(order, order)] == bonds).all()]
    assert len(fitting) == 4
    return min(np.sqrt(((own - places[order]) ** 2).sum(axis=1).mean()) for order in fitting)


def test_a_ligand_in_the_receptors_file_is_left_out_and_named(site):
    told = (
        "Left out of the receptor: TMP A:163. Docked to 162 of the 163 residues of its file without waters."
    )
    assert told in read_notes(site)
    assert "TMP" not in (site / "receptor.pdbqt").read_text()


def test_every_residue_stays_in_whatever_order_its_atoms_stand(site):
    lines = (site / "receptor.pdbqt").read_text().splitlines()
    places = {line[21:26] for line in lines if line.startswith("ATOM")}
    assert len(places) == 162


@pytest.mark.exhaustive  # prepares a separate receptor
def test_a_side_chain_that_lacks_atoms_is_cut_back_and_a_gap_is_taken(tmp_path):
    kept = []
    for line in LYSOZYME.read_text().splitlines(keepends=True):
        number, atom = line[22:26].strip(), line[12:16].strip()
        is_gap = line.startswith("ATOM") and 20 <= int(number) <= 24
        is_cut = number == "40" and atom not in ("N", "CA", "C", "O", "CB")
        kept += [] if is_gap or is_cut else [line]
    more = {"boxCenter": [42.3, 45.4, 18.2], "boxSize": [12, 12, 12], "exhaustiveness": 1}
    outcome, outputs = dock(tmp_path, "".join(kept), XYLENE, **more)
    assert outcome.state == "succeeded", outcome.error
    assert "cut back to alanine or glycine: A:40." in read_notes(outputs)


FLEXIBLE = {"A": "102 111 118"}
RESCORE = """
import json, sys
from vina import Vina
job = json.loads(sys.argv[1])
vina = Vina(seed=job["seed"], cpu=1, verbosity=0)
vina.set_receptor("receptor.pdbqt", "flexible.pdbqt")
vina.set_ligand_from_string(job["ligand"])
vina.compute_vina_maps(center=job["center"], box_size=job["size"])
vina.dock(exhaustiveness=2, n_poses=9)
lines = vina.poses(n_poses=9).splitlines()
print(json.dumps([float(line.split()[3]) for line in lines if line.startswith("REMARK VINA RESULT")]))
"""


@pytest.fixture(scope="module")
def flexible(tmp_path_factory):
    """Dock p-xylene with three flexible side chains of the cavity, from which the box follows."""
    folder = tmp_path_factory.mktemp("flexible")
    outcome, outputs = dock(folder, LYSOZYME.read_text(), XYLENE, flexibleResidues=FLEXIBLE, exhaustiveness=2)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.mark.exhaustive  # prepares a separate receptor
def test_flexible_docking_has_the_affinities_of_a_direct_run_of_vina(flexible):
    used = read_manifest(flexible)["settings"]
    ligand = (flexible / "poses.pdbqt").read_text().partition("ROOT\n")[0]
    assert "REMARK SMILES" in ligand
    engine = load_engines()["vina"]
    prepare = DIRECT.partition("vina = Vina(")[0] + "print(json.dumps(ligand))"
    from_smiles = prepare.replace('Chem.MolFromMolFile(job["ligand"])', 'Chem.MolFromSmiles(job["ligand"])')
    asked = json.dumps({"seed": used["seed"], "ligand": XYLENE.split()[0]})
    prepared = json.loads(run_directly(engine, [str(engine.python), "-c", from_smiles, asked], flexible))
    job = {"seed": used["seed"], "ligand": prepared, "center": used["boxCenter"], "size": used["boxSize"]}
    printed = run_directly(engine, [str(engine.python), "-c", RESCORE, json.dumps(job)], flexible)
    rows = read_table(flexible)
    assert [float(row["affinity"]) for row in rows] == json.loads(printed.strip().splitlines()[-1])
    first = float(rows[0]["vina_intra"])
    parts = [float(row["vina_inter"]) + float(row["vina_intra"]) - first for row in rows]
    assert [float(row["affinity"]) for row in rows] == pytest.approx(parts, abs=0.002), "it has no torsions"


def sum_vina_terms(ligand, others):
    """Return Vina's energy in kcal/mol between a hydrocarbon and atoms of a PDBQT (Trott and Olson 2010, table 1)."""
    radii = {"C": 1.9, "A": 1.9, "N": 1.8, "NA": 1.8, "OA": 1.7, "S": 2.0, "SA": 2.0}
    heavy = [(kind, place) for kind, place in others if kind in radii]
    hetero = np.array([place for kind, place in heavy if kind not in ("C", "A")])
    energy = 0.0
    for kind, place in heavy:
        is_hydrophobic = kind in ("C", "A") and np.linalg.norm(hetero - place, axis=1).min() > 2.0
        lengths = np.linalg.norm(ligand - np.array(place), axis=1)
        gap = lengths[lengths < 8] - 1.9 - radii[kind]
        terms = -0.035579 * np.exp(-((gap / 0.5) ** 2)) - 0.005156 * np.exp(-(((gap - 3) / 2) ** 2))
        terms += 0.840245 * np.minimum(gap, 0) ** 2
        terms -= 0.035069 * np.clip(1.5 - gap, 0, 1) * is_hydrophobic
        energy += terms.sum()
    return energy


def read_pdbqt(lines):
    """Return type, position and name of each atom."""
    return [
        (line.split()[-1], tuple(float(line[at : at + 8]) for at in (30, 38, 46)), line[12:16].strip())
        for line in lines
        if line.startswith(("ATOM", "HETATM"))
    ]


def test_vina_leaves_the_first_two_carbons_of_flexible_side_chains_out_of_the_ligands_energy(flexible):
    """As the docs say: they do not move when the side chain rotates, and are not part of the rigid receptor."""
    rigid = [atom[:2] for atom in read_pdbqt((flexible / "receptor.pdbqt").read_text().splitlines())]
    models = (flexible / "poses.pdbqt").read_text().split("MODEL ")[1:]
    for row, model in zip(read_table(flexible), models, strict=True):
        own, _, turned = model.partition("BEGIN_RES")
        ligand = np.array([place for kind, place, _ in read_pdbqt(own.splitlines()) if kind in ("C", "A")])
        atoms = read_pdbqt(turned.splitlines())
        moving = [atom[:2] for atom in atoms if atom[2] not in ("CA", "CB")]
        assert len(atoms) - len(moving) == 6
        assert sum_vina_terms(ligand, rigid + moving) == pytest.approx(float(row["vina_inter"]), abs=0.02)


def test_as_many_bonds_turn_as_the_form_says(flexible):
    notes = catalog.tool("vina").settings_schema["properties"]["flexibleResidues"]["x-foldnote"]
    parts = (flexible / "flexible.pdbqt").read_text().split("BEGIN_RES ")[1:]
    assert {part[:3]: part.count("\nBRANCH") for part in parts} == {
        name: notes["turning"]["bonds"][name] for name in ("MET", "VAL", "LEU")
    }


def test_each_pose_has_its_own_flexible_side_chains(flexible):
    result = open_result(flexible)
    assert set(result.pose_table["flexible residues"]) == {"MET A 102, VAL A 111, LEU A 118"}
    assert result.pose_table["affinity"].tolist() == [float(row["affinity"]) for row in read_table(flexible)]
    places = [
        tuple(atom for one in list_side_chains(pose.molecule) for atom in one.atoms) for pose in result.poses
    ]
    assert len(set(places)) == len(places) > 1
    best = {
        (one.owner[1], name): place
        for one in list_side_chains(result.poses[0].molecule)
        for name, _, place in one.atoms
    }
    residues = gemmi.read_pdb(str(flexible / "complex.pdb"))[0]["A"]
    shown = {
        (str(residue.seqid), atom.name): tuple(atom.pos.tolist()) for residue in residues for atom in residue
    }
    assert all(shown[name] == pytest.approx(place, abs=0.002) for name, place in best.items())


@pytest.mark.exhaustive  # prepares a separate receptor
def test_a_range_of_flexible_residues_is_read_in_the_order_of_the_file(tmp_path):
    outcome, outputs = dock(
        tmp_path, LYSOZYME.read_text(), XYLENE, flexibleResidues={"A": "117-118"}, exhaustiveness=1
    )
    assert outcome.state == "succeeded", outcome.error
    assert set(open_result(outputs).pose_table["flexible residues"]) == {"SER A 117, LEU A 118"}


def test_a_range_whose_end_is_not_there_names_it(tmp_path):
    outcome, _ = dock(
        tmp_path, LYSOZYME.read_text(), XYLENE, flexibleResidues={"A": "161-999"}, exhaustiveness=1
    )
    assert (outcome.state, outcome.is_input_refused) == ("failed", True)
    assert "The receptor has no residue A:999" in outcome.error


def list_hydrogens(outputs):
    lines = (outputs / "receptor.pdbqt").read_text().splitlines()
    return {line[12:16].strip() for line in lines if line[22:26].strip() == "31" and "H" in line[12:14]}


@pytest.mark.exhaustive  # prepares a separate receptor
def test_hydrogens_of_the_file_are_replaced_by_those_of_the_residue_names_and_that_is_reported(tmp_path):
    """A hydrogen on Nδ of HIS 31 is not kept; the residue name HID requests it. Without a site the first run is blind."""
    wrong = "ATOM   9999  HD1 HIS A  31      45.000  40.000  15.000  1.00  0.00           H  \n"
    lines = [line for line in LYSOZYME.read_text().splitlines(keepends=True) if line.startswith("ATOM")]
    place = max(number for number, line in enumerate(lines) if line[17:26] == "HIS A  31")
    with_hydrogen = "".join([*lines[: place + 1], wrong, *lines[place + 1 :]])
    by_name = "".join(line.replace("HIS A  31", "HID A  31") for line in lines)
    site = {"boxCenter": [42.3, 45.4, 18.2], "boxSize": [12, 12, 12]}
    outputs = [
        dock(tmp_path / name, text, XYLENE, exhaustiveness=1, **more)[1]
        for name, text, more in [("file", with_hydrogen, {}), ("name", by_name, site)]
    ]
    assert [list_hydrogens(each) for each in outputs] == [{"H", "HE2"}, {"H", "HD1"}]
    notes = json.loads((outputs[0].parent / "notes.json").read_text())
    assert "The 1 hydrogens of the receptor's file were replaced. Protonation follows" in " ".join(notes)
    assert notes[0].startswith("The box is too large for a sure search")
    assert notes[1].startswith("Blind docking: no site was given")
    assert "replaced" not in read_notes(outputs[1])


@pytest.mark.exhaustive  # prepares a separate receptor
def test_protonation_of_the_file_is_kept_on_request(tmp_path):
    """HIS 31 has a hydrogen only at Nδ, ASP 10 one at Oδ2; without hydrogens residue names decide, which is reported."""
    lines = [line for line in LYSOZYME.read_text().splitlines(keepends=True) if line.startswith("ATOM")]
    for name, residue, place in (
        ("HD1", "HIS A  31", "45.0  40.0  15.0"),
        ("HD2", "ASP A  10", "40.0  30.0  10.0"),
    ):
        x, y, z = map(float, place.split())
        last = max(number for number, line in enumerate(lines) if line[17:26] == residue)
        lines.insert(
            last + 1, f"ATOM   9999  {name} {residue}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           H\n"
        )
    site = {"boxCenter": [42.3, 45.4, 18.2], "boxSize": [12, 12, 12], "exhaustiveness": 1}
    outcome, outputs = dock(tmp_path / "kept", "".join(lines), XYLENE, protonation="file", **site)
    assert outcome.state == "succeeded", outcome.error
    assert list_hydrogens(outputs) == {"H", "HD1"}
    assert "unlike at neutral pH: ASH A:10, HID A:31." in read_notes(outputs)
    _, bare = dock(tmp_path / "bare", LYSOZYME.read_text(), XYLENE, protonation="file", **site)
    assert list_hydrogens(bare) == {"H", "HE2"}
    assert "The receptor's file has no hydrogens." in read_notes(bare)


def read_disulfides():
    """Return hen egg-white lysozyme (PDB 1AKI), with four disulfides."""
    return gemmi.read_structure(str(HERE.parent / "unit" / "results" / "data" / "geometry" / "1aki.pdb.gz"))


@pytest.mark.exhaustive  # prepares a separate receptor
def test_residues_with_insertion_codes_and_long_chain_names_are_flexible(tmp_path):
    structure = read_disulfides()
    structure.setup_entities()
    (number_63,) = (residue for residue in structure[0]["A"] if residue.seqid.num == 63)
    number_63.seqid = gemmi.SeqId(62, "A")
    structure[0]["A"].name = "HEL"
    mmcif = f"# generated by PyMOL 3.1\n#\n{structure.make_mmcif_document().as_string()}"
    outcome, outputs = dock(
        tmp_path, mmcif, XYLENE, flexibleResidues={"HEL": "62 62A"}, exhaustiveness=1, numPoses=2
    )
    assert outcome.state == "succeeded", outcome.error
    assert "Names of chains have one letter in the files of a docking: HEL is H." in read_notes(outputs)
    result = open_result(outputs)
    assert set(result.pose_table["flexible residues"]) == {"TRP H 62, TRP H 62A"}
    best = {side_chain.owner: side_chain for side_chain in list_side_chains(result.poses[0].molecule)}
    for residue in (
        one for one in gemmi.read_pdb(str(outputs / "complex.pdb"))[0]["H"] if one.seqid.num == 62
    ):
        ring = {name: place for name, _, place in best["H", str(residue.seqid), "TRP"].atoms}["CH2"]
        assert residue["CH2"][0].pos.tolist() == pytest.approx(ring, abs=1e-3)


TRP_CAGE = EXAMPLE["receptorFile"]
BACKBONE = "".join(
    line
    for line in TRP_CAGE.splitlines(keepends=True)
    if not line.startswith("ATOM") or line[12:16].strip() in ("N", "CA", "C", "O")
)


@pytest.mark.parametrize(
    ("receptor", "ligand", "settings", "sentence"),
    [
        (TRP_CAGE, "CCO.Cl\n", {}, "several parts that are not bonded"),
        (TRP_CAGE, "[H][H]\n", {}, "no atoms but hydrogens"),
        (TRP_CAGE, "CC(C)(C)(C)C\n", {}, "valence for atom # 1 C, 5, is greater than permitted"),
        (
            TRP_CAGE,
            EXAMPLE["ligandFile"] * 2,
            {},
            "a job docks one. Dock each by a job of its own: fn.screen(receptor, ligands)",
        ),
        (TRP_CAGE, "CB(O)O\n", {}, "no parameters for B"),
        (TRP_CAGE, "CCO\n", {"boxCenter": [200, 0, 0]}, "does not touch the receptor"),
        (BACKBONE, "CCO\n", {}, "residues of the receptor lack atoms"),
        ("HEADER\n", "CCO\n", {}, "The receptor's file has no atoms"),
        (
            TRP_CAGE.replace("  -4.354   3.455", "********   3.455"),
            "CCO\n",
            {},
            "coordinates that are not numbers in line 18: 'ATOM     17  N   TYR A   3    ********",
        ),
        (TRP_CAGE[:500], "CCO\n", {}, "The line is too short to be correct"),
        (TRP_CAGE, "CCO\n", {"flexibleResidues": {"A": "12"}}, "PRO A:12 cannot be flexible"),
        (
            read_disulfides().make_pdb_string(),
            "CCO\n",
            {"flexibleResidues": {"A": "6"}},
            "A:6 cannot be flexible: none of the bonds of its side chain can turn, as in a disulfide",
        ),
        (TRP_CAGE, "CCO\n", {"flexibleResidues": {"A": "99"}}, "chain A extends from 1 to 20"),
        (TRP_CAGE, "CCO\n", {"flexibleResidues": {"A": "1 2 3 4 5 6 7 8 9 13 14 16 20"}}, "At most 32"),
        (
            TRP_CAGE,
            "CCO\n",
            {"flexibleResidues": {"A": "6"}, "boxCenter": [-8, 3, -2], "boxSize": [4, 4, 4]},
            "does not hold the flexible side chains of A:6",
        ),
    ],
    ids=[
        "salt",
        "hydrogen",
        "valence",
        "two-records",
        "boron",
        "far",
        "backbone",
        "empty",
        "overflow",
        "cut",
        "proline",
        "disulfide",
        "none",
        "many",
        "outside",
    ],
)
def test_what_cannot_be_docked_is_a_plain_sentence(tmp_path, receptor, ligand, settings, sentence):
    outcome, _ = dock(tmp_path, receptor, ligand, **settings)
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_a_ligand_with_an_unpaired_electron_is_docked_with_a_note(tmp_path):
    outcome, outputs = dock(tmp_path, TRP_CAGE, "C[CH2]\n", boxCenter=[0, 0, 0], exhaustiveness=1, numPoses=1)
    assert outcome.state == "succeeded", outcome.error
    assert "The ligand has 1 unpaired electron, which Vina does not know" in read_notes(outputs)
