"""Ligands have the energies of OpenFF's own programs; complexes with cofactors are built correctly."""

import json
from pathlib import Path

import gemmi
import pytest
from engine_contract import EngineContract, read_manifest
from protein_inputs import read_notes, read_score, read_table
from real_engine import load_engines, make_settings, run_code, run_engine

from foldnote import catalog

TOOL = "abfe"
ENGINE = "openff_binding"
DATA = Path(__file__).parent / "data"
EXAMPLES = Path(catalog.__file__).parent / "examples"
SHORT = {"equilLength": 0.1, "prodLength": 1, "solventPadding": 0.8, "chargeMethod": "nagl"}

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(
        not load_engines()[ENGINE].state().installed, reason=f"needs: foldnote engines install {ENGINE}"
    ),
]


def calculate(folder, texts=(), **changed):
    """Return the outcome and outputs of a short run with acetone at three alanines."""
    settings, _ = make_settings(TOOL, **SHORT | changed)
    given = {
        "proteinPDB": (EXAMPLES / "tri-alanine.pdb").read_text(),
        "ligandsSDF": (EXAMPLES / "acetone-pose.sdf").read_text(),
    } | dict(texts)
    return run_engine(ENGINE, folder, settings, 11, given, TOOL)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    outcome, outputs = calculate(tmp_path_factory.mktemp("acetone"))
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = ENGINE
    tool = TOOL
    needs_seed = True
    short = SHORT
    bearable = SHORT


def compute(code, folder, *arguments):
    return json.loads(run_code(ENGINE, START + code, folder, *arguments))


START = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np, openmm
from openmm import unit
from rdkit import Chem
from rdkit.Chem import AllChem
from ligands import NAME, PreparedLigand, build, parametrize, prepare, read_mol2_charges
from sampling import make_context
from smirnoff import Smirnoff
from systems import read_system
tell = lambda message: None
"""

ENERGIES = """
found = []
for row in json.loads(Path(sys.argv[2]).read_text())["rows"]:
    ligand = PreparedLigand(row["name"], Chem.MolFromMolBlock(row["molecule"], removeHs=False))
    folder = Path(f"{row['name']}-{row['force_field']}")
    force_field = Smirnoff(row["force_field"], "nagl")
    force_field.parametrize(ligand, folder, tell)
    commands = [*force_field.load("lig"), "x = loadmol2 lig.mol2", "saveamberparm x gas.prmtop gas.inpcrd"]
    build(folder, commands, tell)
    solute = read_system(folder / "gas", 2.0, is_periodic=False)
    force_field.complete(solute, {NAME: folder})
    for number, force in enumerate(solute.system.getForces()):
        force.setForceGroup(number)
    context = openmm.Context(solute.system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(ligand.molecule.GetConformer().GetPositions() / 10)
    found.append({"constraints": solute.system.getNumConstraints()} | {
        force.getName(): context.getState(energy=True, groups={number}).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
        for number, force in enumerate(solute.system.getForces())
    })
print("FOUND", json.dumps(found))
"""


def test_a_molecule_has_the_energies_of_openffs_own_export(tmp_path):
    """Bonds, angles, torsions and charges separately; a molecule with impropers, one with a ring system, a zwitterion."""
    table = DATA / "openff-energies.json"
    rows = json.loads(table.read_text())["rows"]
    for row, energies in zip(rows, compute(ENERGIES, tmp_path, table), strict=True):
        for term, expected in row["energies"].items():
            assert energies[term] == pytest.approx(expected, rel=1e-4, abs=1e-3), (row["name"], term)
        assert energies["constraints"] == row["molecule"].count(" H  ")


CHARGES = """
molecule = Chem.AddHs(Chem.MolFromSmiles("CC(=O)NCCO"))
AllChem.EmbedMolecule(molecule, randomSeed=3)
ligand = PreparedLigand("amide", molecule)
parametrize(ligand, Path("gaff"), "gaff2", tell)
found = [read_mol2_charges(Path("gaff/lig.mol2"))]
for method in ("am1bcc", "nagl"):
    Smirnoff("openff-2.2.1", method).parametrize(ligand, Path(method), tell)
    found.append(read_mol2_charges(Path(method) / "lig.mol2"))
print("FOUND", json.dumps(found))
"""


def test_both_methods_of_charges_agree_and_the_first_is_that_of_ambertools(tmp_path):
    gaff, am1bcc, nagl = compute(CHARGES, tmp_path)
    assert am1bcc == pytest.approx(gaff, abs=1e-4)
    assert nagl == pytest.approx(am1bcc, abs=0.06)
    assert sum(am1bcc) == pytest.approx(0, abs=1e-6)
    assert sum(nagl) == pytest.approx(0, abs=1e-6)
    assert nagl != am1bcc


COMPLEX = """
from binding import make_whole
from complex_files import write_complex
from complexes import Receptor, build_complex, place_ligand
from receptors import read_protein
from scipy.spatial import cKDTree
settings = json.loads(sys.argv[3])
lines = Path(sys.argv[2]).read_text().splitlines()
own = [line for line in lines if line.startswith(("ATOM", "HETATM")) and line[17:20] == "TMP"]
bound = AllChem.AssignBondOrdersFromTemplate(Chem.MolFromSmiles("Cc1ccc(C)cc1"), Chem.MolFromPDBBlock("\\n".join(own)))
notes = []
ligand = PreparedLigand("p-xylene", prepare("p-xylene", bound, 1, notes))
protein = read_protein("\\n".join(line for line in lines if line[17:20] != "TMP"), notes, "proteinPDB")
receptor = Receptor(protein)
for number, smiles in enumerate(("CC(=O)[O-]", "OP(=O)([O-])[O-]"), start=1):
    molecule = prepare("anion", Chem.MolFromSmiles(smiles), number, notes, may_be_charged=True)
    places, middle = molecule.GetConformer().GetPositions() / 10, receptor.positions().mean(axis=0)
    way = np.eye(3)[number]
    for apart in np.arange(0.5, 6, 0.05):
        moved = places - places.mean(axis=0) + middle + apart * way
        if cKDTree(receptor.positions()).query(moved)[0].min() > 0.35:
            break
    for index, place in enumerate(10 * moved):
        molecule.GetConformer().SetAtomPosition(index, place)
    receptor.molecules[f"C{number:02}"] = PreparedLigand(smiles, molecule)
force_field = Smirnoff("openff-2.2.1", "nagl")
others = {}
for residue, molecule in receptor.molecules.items():
    others[residue] = Path(residue)
    force_field.parametrize(molecule, others[residue], tell, residue)
force_field.parametrize(ligand, Path("made"), tell)
built = build_complex(Path("made"), others, receptor, settings, force_field, 1, tell)
write_complex(built.solute.topology, built.solute.positions[: built.solute.ligand[-1] + 1],
              protein.residues, "AS BUILT", Path("built.pdb"))
system, atoms = built.solute.system, list(built.solute.topology.atoms())
(force,) = [each for each in system.getForces() if isinstance(each, openmm.NonbondedForce)]
charges = [force.getParticleParameters(i)[0].value_in_unit(unit.elementary_charge) for i in range(len(atoms))]
context = make_context(system, openmm.VerletIntegrator(0.001), "CPU")
context.setPositions(built.solute.positions)
openmm.LocalEnergyMinimizer.minimize(context, 100.0, 10)
types = [Path(place, "lig.types").read_text().split('"')[1::6] for place in ("made", *others.values())]
print("FOUND", json.dumps({
    "charge": sum(charges), "receptor": sum(charges[: len(built.receptor)]),
    "names": {atoms[each].residue.name for each in built.anchors}.__len__(),
    "anchors": sorted({atoms[each].name for each in built.anchors}), "heavy": len(built.heavy),
    "virtual": sum(system.isVirtualSite(i) for i in range(system.getNumParticles())),
    "waters": sum(each.name == "HOH" for each in built.solute.topology.residues()),
    "types": [len(set(each)) for each in types], "all types": len(set().union(*types)),
    "energy": context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole),
}))
"""


@pytest.mark.parametrize(("water", "sites"), [("tip3p", 0), ("spce", 0), ("tip4pew", 1), ("tip5p", 2)])
def test_charged_cofactors_stay_with_the_protein_and_the_box_is_neutral(tmp_path, water, sites):
    """T4 lysozyme L99A (charge 8) with p-xylene, acetate and hydrogen phosphate."""
    settings, _ = make_settings(TOOL, solventPadding=0.8, solventModel=water)
    settings |= {"proteinForceField": "ff14SB"}
    found = compute(COMPLEX, tmp_path, DATA / "t4-lysozyme-l99a.pdb", json.dumps(settings))
    assert found["charge"] == pytest.approx(0, abs=1e-3)
    assert found["receptor"] == pytest.approx(8 - 1 - 2, abs=1e-3)
    assert found["anchors"] == ["C", "CA", "N"]
    assert found["heavy"] == 8
    assert found["virtual"] == sites * found["waters"]
    assert found["types"] == [18, 7, 6]
    assert found["all types"] == 31, "two molecules with one type would share its parameters"
    assert found["energy"] < -1e5
    written = gemmi.read_structure(str(tmp_path / "built.pdb"))[0]
    assert [[each.name for each in chain] for chain in written][1:] == [["C01"], ["C02"], ["LIG"]]


WATER = """
from systems import WATERS, fill_box, write_solvent
found = {}
for name in WATERS:
    waters, box = fill_box(np.zeros((1, 3)), 1.0)
    write_solvent(waters, [], Path("w.pdb"))
    edges = " ".join(f"{10 * edge:.4f}" for edge in box)
    commands = [*WATERS[name], "w = loadpdb w.pdb", f"set w box {{{edges}}}", "saveamberparm w w.prmtop w.inpcrd"]
    build(Path("."), commands, tell)
    solute = read_system(Path("w"), 1.0, is_periodic=True)
    integrator = openmm.LangevinMiddleIntegrator(298.15, 1, 0.001)
    integrator.setRandomNumberSeed(5)
    context = make_context(solute.system, integrator, "CPU")
    context.setPositions(solute.positions)
    openmm.LocalEnergyMinimizer.minimize(context, 10.0, 200)
    integrator.step(4000)
    energies = []
    for _ in range(20):
        integrator.step(50)
        energies.append(context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilocalorie_per_mole))
    found[name] = float(np.mean(energies)) / len(waters)
print("FOUND", json.dumps(found))
"""


def test_liquid_water_has_the_energy_of_its_model(tmp_path):
    """kcal/mol per molecule near 298 K, as known for the models; an incorrectly built one is far from it."""
    found = compute(WATER, tmp_path)
    assert found == {
        "tip3p": pytest.approx(-9.8, abs=0.5),
        "spce": pytest.approx(-11.2, abs=0.5),
        "tip4pew": pytest.approx(-11.1, abs=0.5),
        "tip5p": pytest.approx(-9.6, abs=0.5),
    }


SMOOTH = """
from scipy.spatial import cKDTree
from complexes import build_ligand
molecule = Chem.AddHs(Chem.MolFromSmiles("CC(C)=O"))
AllChem.EmbedMolecule(molecule, randomSeed=3)
force_field = Smirnoff("openff-2.2.1", "nagl")
force_field.parametrize(PreparedLigand("acetone", molecule), Path("made"), tell)
solute = build_ligand(Path("made"), json.loads(sys.argv[2]), force_field, 1, tell)

def measure(system):
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(solute.positions)
    return context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)

(force,) = [each for each in solute.system.getForces() if isinstance(each, openmm.NonbondedForce)]
decoupled = solute.decouple()
force.setUseDispersionCorrection(False)  # of pairs within the ligand, it is only in the whole
for each in decoupled.getForces():
    if isinstance(each, openmm.NonbondedForce):
        each.setUseDispersionCorrection(False)
    if isinstance(each, openmm.CustomNonbondedForce):
        each.setUseLongRangeCorrection(False)
found = {"whole": measure(solute.system), "decoupled": measure(decoupled)}
alone = openmm.System()
alone.setDefaultPeriodicBoxVectors(*solute.system.getDefaultPeriodicBoxVectors())
for index in range(solute.system.getNumParticles()):
    alone.addParticle(1.0)
sterics = openmm.XmlSerializer.clone(force)
plain = [force.getParticleParameters(index) for index in range(force.getNumParticles())]
for index, (_, sigma, epsilon) in enumerate(plain):
    sterics.setParticleParameters(index, 0.0, sigma, epsilon)
excepted = [force.getExceptionParameters(place) for place in range(force.getNumExceptions())]
for place, (one, two, _, sigma, epsilon) in enumerate(excepted):
    sterics.setExceptionParameters(place, one, two, 0.0, sigma, epsilon)
alone.addForce(sterics)
found["sterics"] = measure(alone)

sigmas, epsilons = (np.array([row[column]._value for row in plain]) for column in (1, 2))
edges = solute.box.diagonal()
left = cKDTree(solute.positions % edges, boxsize=edges).query_pairs(0.9) - {
    (min(row[:2]), max(row[:2])) for row in excepted
}
one, two = np.array(sorted(left)).T
apart = solute.positions[one] - solute.positions[two]
r = np.linalg.norm(apart - edges * np.round(apart / edges), axis=1)
power = ((sigmas[one] + sigmas[two]) / 2 / r) ** 6
x = np.clip((r - 0.8) / 0.1, 0, 1)
energies = 4 * np.sqrt(epsilons[one] * epsilons[two]) * (power**2 - power)
total = sum(
    4 * epsilon._value * ((sigma._value / r) ** 12 - (sigma._value / r) ** 6)
    for a, b, _, sigma, epsilon in excepted
    for r in [np.linalg.norm(solute.positions[a] - solute.positions[b])]
    if epsilon._value
)
found["cut"] = total + energies.sum()
found["switched"] = total + (energies * (1 - 10 * x**3 + 15 * x**4 - 6 * x**5)).sum()
print("FOUND", json.dumps(found))
"""


def test_the_interactions_of_a_box_are_switched_off_as_openff_does(tmp_path):
    """Between 8 and 9 Å, also where the ligand is nearly decoupled; kJ/mol, compared with a sum over all pairs."""
    settings, _ = make_settings(TOOL, solventPadding=0.8)
    found = compute(SMOOTH, tmp_path, json.dumps(settings))
    assert found["sterics"] == pytest.approx(found["switched"], rel=1e-5)
    assert abs(found["switched"] - found["cut"]) > 1
    assert found["decoupled"] == pytest.approx(found["whole"], abs=1e-6)


def test_the_cycle_of_a_run_is_closed_and_its_parts_are_reported(run):
    (row,) = read_table(run / "free-energies.csv")
    legs, (restraint,) = read_table(run / "legs.csv"), read_table(run / "restraints.csv")
    totals = [
        sum(float(each["free_energy_kcal_per_mol"]) * sign for each in legs if each["leg"] == leg)
        for leg, sign in (("solvent", 0.5), ("complex", -0.5))
    ]
    expected = sum(totals) - float(restraint["release_kcal_per_mol"])
    assert float(row["binding_free_energy_kcal_per_mol"]) == pytest.approx(expected, abs=2e-3)
    assert row["repeats"] == "2"
    assert read_score(run)["binding_free_energy_kcal_per_mol"] == pytest.approx(expected, abs=2e-3)
    parameters = {path.name for path in (run / "parameters").iterdir()}
    assert parameters == {f"001-acetone{end}" for end in (".mol2", ".frcmod", "-torsions.json")}
    written = gemmi.read_structure(str(run / "complexes" / "001-acetone.pdb"))[0]
    assert [each.name for each in written[-1]] == ["LIG"]


def test_the_manifest_names_the_protocol_that_is_not_openfes(run):
    manifest = read_manifest(run)
    assert "own protocol" in manifest["engine"]["method"]
    assert "not OpenFE's" in manifest["engine"]["method"]
    assert "OpenMM ran on its platform" in read_notes(run)


LONE_PAIRS = """
from systems import WATERS
Path("w.pdb").write_text("HETATM    1  O   HOH     1       0.000   0.000   0.000\\nEND\\n")
commands = [*WATERS["tip5p"], "w = loadpdb w.pdb", "saveamberparm w w.prmtop w.inpcrd"]
build(Path("."), commands, tell)
solute = read_system(Path("w"), 1.0, is_periodic=False)
context = make_context(solute.system, openmm.VerletIntegrator(0.001), "Reference")
context.setPositions(solute.positions)
context.computeVirtualSites()
places = context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.angstrom)
print("FOUND", json.dumps([float(np.linalg.norm(places[one] - places[two])) for one, two in ((0, 3), (1, 3), (2, 4), (3, 4))]))
"""


def test_the_lone_pairs_of_tip5p_are_opposite_to_the_hydrogens(tmp_path):
    """Å: 0.7 from the oxygen, 109.47° apart, 1.37 from the hydrogens (Mahoney and Jorgensen 2000); OpenMM has 0.97."""
    assert compute(LONE_PAIRS, tmp_path) == pytest.approx([0.7, 1.371, 1.371, 1.143], abs=5e-3)


CHARGED = """acetate
     RDKit          3D

  4  3  0  0  0  0  0  0  0  0999 V2000
    5.0000    5.0000    5.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    6.5000    5.0000    5.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    7.1000    6.0500    5.0000 O   0  0  0  0  0  0  0  0  0  0  0  0
    7.1000    3.9500    5.1000 O   0  0  0  0  0  0  0  0  0  0  0  0
  1  2  1  0
  2  3  2  0
  2  4  1  0
M  CHG  1   4  -1
M  END
$$$$
"""


@pytest.mark.parametrize(
    ("changed", "texts", "sentence"),
    [
        ({"simulationType": "rbfe"}, {}, "simulationType must be abfe"),
        ({"protocolRepeats": 2.5}, {}, "protocolRepeats must be a whole number"),
        ({"prodLength": 0}, {}, "prodLength must be at least 1 ps"),
        ({}, {"ligandsSDF": CHARGED}, "has a charge of -1 e"),
        (
            {},
            {
                "cofactorsSDF": CHARGED.replace(
                    "    5.0000    5.0000    5.0000", "   95.0000   95.0000    5.0000"
                )
            },
            "away from the receptor",
        ),
        ({}, {"proteinPDB": "REMARK nothing\n"}, "proteinPDB has no protein"),
    ],
    ids=["kind", "repeats", "length", "charge", "cofactor", "protein"],
)
def test_what_cannot_be_calculated_is_a_plain_sentence(tmp_path, changed, texts, sentence):
    outcome, _ = calculate(tmp_path, texts, **changed)
    assert outcome.state == "failed"
    assert sentence in outcome.error
