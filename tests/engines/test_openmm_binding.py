"""Binding free energies by our protocol are exact where they can be integrated, and its parts are correct."""

import json
import math
from pathlib import Path

import gemmi
import pytest
from engine_contract import EngineContract, read_manifest, read_outputs
from interrupted_runs import kill_in_the_middle
from protein_inputs import read_notes, read_score, read_table
from real_engine import (
    load_engines,
    make_settings,
    run_code,
    run_directly,
    run_engine,
    run_tool,
)

from foldnote import catalog

TOOL = "binding-free-energy"
ENGINE = "openmm_binding"
SEED = 11
"""Separate from the contract's runs, which leave checkpoints where they are cancelled."""
MODEL = Path(__file__).parent / "binding_model.py"

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(
        not load_engines()[ENGINE].state().installed, reason=f"needs: foldnote engines install {ENGINE}"
    ),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    settings, texts = make_settings(TOOL)
    outcome, outputs = run_engine(ENGINE, tmp_path_factory.mktemp("acetone"), settings, SEED, texts, TOOL)
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = ENGINE
    tool = TOOL
    needs_seed = True


def run_model(folder, stiffness, production):
    engine = load_engines()[ENGINE]
    command = [
        str(engine.python),
        str(MODEL),
        str(engine.folder),
        str(folder),
        str(stiffness),
        str(production),
    ]
    return json.loads(run_directly(engine, command, folder).rpartition("FOUND ")[2])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return run_model(tmp_path_factory.mktemp("model"), 1.0, 60)


def test_a_guest_in_a_rigid_host_has_the_binding_free_energy_that_quadrature_gives(model):
    """Takes two minutes: restraint, decoupling and release together, sharing no code with the quadrature."""
    exact, rough, total, error, _, overlap = model
    assert exact == pytest.approx(rough, abs=0.005)
    assert exact < -3
    assert 0 < error < 0.2
    assert overlap > 0.03
    assert abs(total - exact) < 3 * error


def test_the_force_constants_of_the_restraint_do_not_matter(model, tmp_path):
    exact, _, total, error, release, _ = run_model(tmp_path, 0.4, 40)
    assert abs(release - model[4]) > 1
    assert abs(total - exact) < 3 * error


CHECK_RELEASE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from restraint import Restraint, measure
from sampling import GAS_CONSTANT
values = (0.5, 1.2, 1.9, 0.3, -2.9, 3.1)
thermal = GAS_CONSTANT * 298.15
found = []
for scale in (1.0, 0.2):
    made = Restraint((0, 1, 2), (3, 4, 5), values, scale * 4184.0, scale * 83.68)
    draw = np.random.default_rng(4)
    count, span = 4_000_000, 12 * np.sqrt(thermal / made.distance_constant)
    far = values[0] + span
    places = draw.uniform(-far, far, (count, 3))
    turn = draw.normal(size=(count, 4))
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    found.append((made.release(298.15), made.volume(298.15)))
    w, x, y, z = turn.T
    first = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]).T
    second = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)]).T
    receptor = np.array([[0, 0, 0], [0.3, 0, 0], [0.4, 0.3, 0.1]])
    atoms = np.stack([*(np.broadcast_to(each, (count, 3)) for each in receptor), places,
                      places + 0.15 * first, places + 0.15 * first + 0.1 * first + 0.2 * second], axis=1)
    six = measure(atoms, *[[[each] for each in trio] for trio in ((0, 1, 2), (3, 4, 5))])[:, :, 0]
    apart = six - np.array(values)[:, None]
    apart[3:] = (apart[3:] + np.pi) % (2 * np.pi) - np.pi
    energy = (made.distance_constant * apart[0] ** 2 + made.angle_constant * (apart[1:] ** 2).sum(axis=0)) / 2
    weights = np.exp(-energy / thermal) * (2 * far) ** 3 * 8 * np.pi**2
    found[-1] += (weights.mean(), weights.std() / count**0.5)
print("FOUND", repr([tuple(float(each) for each in row) for row in found]))
"""


def test_the_release_is_the_partition_function_of_the_restraint(tmp_path):
    """Boresch et al. 2003, equation 32, for stiff springs; randomly drawn positions and rotations for weak ones."""
    stiff, weak = eval(run_code(ENGINE, CHECK_RELEASE, tmp_path))
    thermal, distance, angles = 8.31446261815324e-3 * 298.15, 4184.0, 83.68
    springs = math.sqrt(distance * angles**5)
    closed = 8 * math.pi**2 * 1.66053907 * springs
    closed /= 0.5**2 * math.sin(1.2) * math.sin(1.9) * (2 * math.pi * thermal) ** 3
    assert stiff[0] == pytest.approx(-thermal * math.log(closed), abs=0.1)
    for _, volume, drawn, error in (weak,):
        assert error < 0.05 * volume
        assert abs(volume - drawn) < 4 * error


CHECK_ENERGIES = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np, openmm
from openmm import unit
from restraint import Restraint
from sampling import make_context
from systems import read_system
folder = Path(sys.argv[2])
solute = read_system(folder / "complex", 4.0, is_periodic=True)
ligand = sorted(solute.ligand)
others = [each for each in range(solute.system.getNumParticles()) if each not in set(ligand)]
def part(atoms, is_periodic):
    new = {old: place for place, old in enumerate(atoms)}
    made = openmm.System()
    for atom in atoms:
        made.addParticle(solute.system.getParticleMass(atom))
    if is_periodic:
        made.setDefaultPeriodicBoxVectors(*solute.system.getDefaultPeriodicBoxVectors())
    for force in solute.system.getForces():
        kind = type(force).__name__
        if kind == "NonbondedForce":
            copy = openmm.NonbondedForce()
            if is_periodic:
                copy.setNonbondedMethod(force.getNonbondedMethod())
                copy.setCutoffDistance(force.getCutoffDistance())
                copy.setEwaldErrorTolerance(force.getEwaldErrorTolerance())
                copy.setUseDispersionCorrection(False)
                copy.setPMEParameters(*PME)
            for atom in atoms:
                charge, sigma, epsilon = force.getParticleParameters(atom)
                copy.addParticle(charge if is_periodic else 0.0, sigma, epsilon)
            for place in range(force.getNumExceptions()):
                one, two, product, sigma, epsilon = force.getExceptionParameters(place)
                if one in new and two in new:
                    copy.addException(new[one], new[two], product if is_periodic else 0.0, sigma, epsilon)
        elif kind in ("HarmonicBondForce", "HarmonicAngleForce", "PeriodicTorsionForce"):
            copy = type(force)()
            word = kind[len("Harmonic"):-len("Force")] if kind.startswith("Harmonic") else "Torsion"
            count = {"Bond": 2, "Angle": 3, "Torsion": 4}[word]
            for place in range(getattr(force, f"getNum{word}s")()):
                row = getattr(force, f"get{word}Parameters")(place)
                if all(each in new for each in row[:count]):
                    getattr(copy, f"add{word}")(*(new[each] for each in row[:count]), *row[count:])
        elif kind == "CMAPTorsionForce":
            raise SystemExit("unexpected " + kind)
        else:
            continue
        made.addForce(copy)
    return made
def energy(system, positions, **values):
    context = make_context(system, openmm.VerletIntegrator(0.001), "Reference")
    context.setPositions(positions)
    for name, value in values.items():
        context.setParameter(name, value)
    return context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilocalorie_per_mole)
(force,) = [each for each in solute.system.getForces() if isinstance(each, openmm.NonbondedForce)]
context = make_context(solute.system, openmm.VerletIntegrator(0.001), "Reference")
PME = force.getPMEParametersInContext(context)
for system in (solute.system,):
    force.setPMEParameters(*PME)
made = solute.decouple()
restraint = Restraint((0, 4, 8), tuple(ligand[:3]), (0.5, 1.5, 1.5, 0.0, 0.0, 0.0), 4184.0, 83.68)
restraint.add_to(made)
off = {"lambda_electrostatics": 0.0, "lambda_sterics": 0.0}
found = {
    "plain with tail": energy(solute.system, solute.positions),
    "on with tail": energy(made, solute.positions),
}
for system in (solute.system, made):
    for each in system.getForces():
        if isinstance(each, openmm.NonbondedForce):
            each.setUseDispersionCorrection(False)
        elif isinstance(each, openmm.CustomNonbondedForce):
            each.setUseLongRangeCorrection(False)
found |= {
    "plain": energy(solute.system, solute.positions),
    "on": energy(made, solute.positions),
    "off": energy(made, solute.positions, **off),
    "others": energy(part(others, True), solute.positions[others]),
    "ligand": energy(part(ligand, False), solute.positions[ligand]),
    "held": energy(made, solute.positions, lambda_restraint=1.0) - energy(made, solute.positions),
}
from restraint import measure
six = measure(solute.positions[None], [[each] for each in restraint.receptor], [[each] for each in restraint.ligand])[:, 0, 0]
apart = six - np.array(restraint.values)
apart[3:] = (apart[3:] + np.pi) % (2 * np.pi) - np.pi
found["expected"] = (4184.0 * apart[0] ** 2 + 83.68 * (apart[1:] ** 2).sum()) / 2 / 4.184
print("FOUND", json.dumps({name: float(value) for name, value in found.items()}))
"""


def test_energies_at_both_ends_are_those_of_the_whole_and_of_its_parts(run):
    """In kcal/mol: the complex from tleap; then its surroundings alone and the ligand alone, uncharged.

    The tail correction is left out, because in a plain system it includes the ligand's interactions with itself.
    """
    found = json.loads(run_code(ENGINE, CHECK_ENERGIES, run.parent, run.parent / "systems" / "001"))
    assert found["on with tail"] == pytest.approx(found["plain with tail"], abs=0.01)
    assert found["on"] == pytest.approx(found["plain"], abs=1e-3)
    assert found["off"] == pytest.approx(found["others"] + found["ligand"], abs=1e-3)
    assert abs(found["on"] - found["off"]) > 1
    assert found["held"] == pytest.approx(found["expected"], abs=1e-3)


def test_the_tables_agree_with_one_another(run):
    (row,) = read_table(run / "free-energies.csv")
    legs = {each["leg"]: float(each["free_energy_kcal_per_mol"]) for each in read_table(run / "legs.csv")}
    assert list(legs) == ["solvent", "complex", "release"]
    value = float(row["binding_free_energy_kcal_per_mol"])
    assert value == pytest.approx(legs["solvent"] - legs["complex"] - legs["release"], abs=3e-4)
    assert read_score(run)["binding_free_energy_kcal_per_mol"] == pytest.approx(value, abs=1e-4)
    windows = [each for each in read_table(run / "windows.csv") if each["leg"] == "complex"]
    names = ("lambda_restraint", "lambda_electrostatics", "lambda_sterics")
    states = [tuple(float(each[name]) for name in names) for each in windows]
    assert states[:5] == [(0, 1, 1), (0.125, 1, 1), (1, 1, 1), (1, 0.5, 1), (1, 0, 1)]
    assert states[-1] == (1, 0, 0)
    (restraint,) = read_table(run / "restraints.csv")
    assert float(restraint["release_kcal_per_mol"]) == pytest.approx(legs["release"], abs=1e-4)
    assert {restraint[each].split(":")[0] for each in ("P1", "P2", "P3")} == {"A"}
    assert 45 < float(restraint["angle_a_deg"]) < 135
    assert "One repeat has no spread" in read_notes(run)


def test_the_complex_is_whole_and_the_ligand_beside_it(run):
    text = (run / "complexes" / "001-acetone.pdb").read_text()
    atoms = [line for line in text.splitlines() if line.startswith(("ATOM", "HETATM"))]
    places = {
        name: [
            tuple(float(line[start : start + 8]) for start in (30, 38, 46))
            for line in atoms
            if (line[17:20] == "LIG") is name
        ]
        for name in (True, False)
    }
    assert len(places[True]) == 10
    assert len(places[False]) == 33
    assert min(math.dist(one, two) for one in places[True] for two in places[False]) < 8


def test_a_symmetry_number_and_anchors_of_ones_own_are_used(run, tmp_path):
    own = {"receptorAnchors": "H:52:N H:52:CA H:52:C", "ligandAnchors": "4 2 1", "symmetryNumber": 2}
    settings, texts = make_settings(TOOL, **own)
    for old, new in (("A   1 ", "H  51 "), ("A   2 ", "H  52 "), ("A   3 ", "H  52A")):
        texts["receptorFile"] = texts["receptorFile"].replace(f"ALA {old}", f"ALA {new}")
    outcome, outputs = run_engine(ENGINE, tmp_path, settings, SEED, texts, TOOL)
    assert outcome.state == "succeeded", outcome.error
    (restraint,) = read_table(outputs / "restraints.csv")
    named = [restraint[each] for each in ("P1", "P2", "P3", "L1", "L2", "L3")]
    assert named == ["H:52:N", "H:52:CA", "H:52:C", "4", "2", "1"]
    model = gemmi.read_structure(str(outputs / "complexes" / "001-acetone.pdb"))[0]
    found = {chain.name: list_residues(chain) for chain in model}
    assert found == {"H": ["ALA 51", "ALA 52", "ALA 52A"], "A": ["LIG 1"]}
    (row,) = read_table(outputs / "free-energies.csv")
    legs = {each["leg"]: float(each["free_energy_kcal_per_mol"]) for each in read_table(outputs / "legs.csv")}
    apart = legs["solvent"] - legs["complex"] - legs["release"]
    assert float(row["binding_free_energy_kcal_per_mol"]) == pytest.approx(
        apart - 1.987204e-3 * 298.15 * math.log(2), abs=3e-4
    )


def test_a_killed_run_resumes_and_gives_the_same_values(run, tmp_path):
    job = json.loads((run.parent / "job.json").read_text())
    folder = kill_in_the_middle(ENGINE, TOOL, tmp_path / "first", job["seed"], 300)
    assert len(list(folder.rglob("equilibrated.npz"))) == 1
    settings, texts = make_settings(TOOL)
    outcome, again = run_engine(ENGINE, tmp_path / "second", settings, job["seed"], texts, TOOL)
    assert outcome.state == "succeeded", outcome.error
    assert read_outputs(again) == read_outputs(run)
    assert "continues from the checkpoints" in read_notes(again)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[("forcefieldSmallMolecule", each) for each in ("openff-2.3.0", "openff-2.2.1", "openff-2.0.0")],
        ("chargeMethod", "nagl"),
        ("solventModel", "tip4pew"),
    ],
)
def test_settings_that_cannot_be_honoured_are_refused_by_name(setting, value):
    problems = catalog.check(catalog.tool(TOOL), make_settings(TOOL)[1] | {setting: value}).problems
    (problem,) = problems
    assert problem.field == setting
    assert setting == "chargeMethod" or value in problem.message


PEPTIDE = make_settings(TOOL)[1]["receptorFile"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"ligandsSDF": "CO\n"}, "is not an SDF file"),
        (
            {"receptorFile": PEPTIDE.replace("ALA A   3", "MSE A   3")},
            "has MSE, for which there are no parameters",
        ),
        (
            {
                "receptorFile": PEPTIDE.replace(
                    "TER", "HETATM   99 ZN    ZN B   1       1.000   1.000   1.000\nTER"
                )
            },
            "has ZN",
        ),
        (
            {
                "receptorFile": "".join(
                    line for line in PEPTIDE.splitlines(keepends=True) if " A   2 " not in line
                )
            },
            "a gap between ALA A:1 and ALA A:3",
        ),
        ({"receptorAnchors": "A:1:CB A:2:N A:3:N", "ligandAnchors": "1 2 4"}, "receptorAnchors names A:1:CB"),
        (
            {"receptorAnchors": "A:1:N A:1:N A:3:N", "ligandAnchors": "1 2 4"},
            "must name three different atoms",
        ),
    ],
    ids=["smiles", "selenomethionine", "zinc", "gap", "no-anchor", "twice"],
)
def test_what_cannot_be_calculated_is_a_plain_sentence(tmp_path, changed, sentence):
    outcome, _ = run_tool(ENGINE, TOOL, tmp_path, **changed)
    assert outcome.state == "failed"
    assert sentence in outcome.error


CHECK_POSES = """
import sys
sys.path.insert(0, sys.argv[1])
from rdkit import Chem
from rdkit.Chem import AllChem
import numpy as np
rows = {}
for name, smiles, shift in (("charged", "CC(=O)[O-]", 0), ("small", "CO", 0), ("far", "CC(C)=O", 30), ("inside", "CC(C)=O", -4.2)):
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(molecule, randomSeed=1)
    for place in range(molecule.GetNumAtoms()):
        x, y, z = molecule.GetConformer().GetPositions()[place]
        molecule.GetConformer().SetAtomPosition(place, [float(x), float(y + 4 + shift), float(z)])
    rows[name] = Chem.MolToMolBlock(molecule) + "$$$$\\n"
print("FOUND", repr(rows))
"""


def test_poses_that_are_not_bound_or_have_a_charge_are_refused(tmp_path):
    poses = eval(run_code(ENGINE, CHECK_POSES, tmp_path))
    for name, sentence in (
        ("charged", "charge of -1 e. Only neutral molecules are taken"),
        ("small", "fewer than three atoms"),
        ("far", "away from the receptor"),
        ("inside", "overlaps with the receptor"),
    ):
        outcome, _ = run_tool(ENGINE, TOOL, tmp_path / name, ligandsSDF=poses[name])
        assert outcome.state == "failed"
        assert sentence in outcome.error, (name, outcome.error)


def test_the_manifest_names_the_protocol_and_its_limits(run):
    told = read_manifest(run)["engine"]
    assert "own protocol" in told["method"]
    assert "Neutral ligands and hosts only" in told["note"]


CHECK_PROTEIN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np, openmm
from openmm import unit
from rdkit import Chem
from rdkit.Chem import AllChem
from complex_files import write_complex
from complexes import Gaff, build_complex, check_pose, read_receptor
from ligands import PreparedLigand, parametrize, prepare
from sampling import make_context
settings = json.loads(sys.argv[3])
lines = Path(sys.argv[2]).read_text().splitlines()
own = [line for line in lines if line.startswith(("ATOM", "HETATM")) and line[17:20] == "TMP"]
bound = Chem.MolFromPDBBlock("\\n".join(own))
bound = AllChem.AssignBondOrdersFromTemplate(Chem.MolFromSmiles("Cc1ccc(C)cc1"), bound)
notes = []
ligand = PreparedLigand("p-xylene", prepare("p-xylene", bound, 1, notes))
Path("receptor.pdb").write_text("\\n".join(line for line in lines if line[17:20] != "TMP"))
receptor = read_receptor(Path("receptor.pdb"), 1, notes)
check_pose(ligand, receptor)
folder = parametrize(ligand, Path("made"), "gaff2", lambda message: None)
built = build_complex(folder, {}, receptor, settings, Gaff("gaff2"), 1, lambda message: None)
write_complex(built.solute.topology, built.solute.positions[: built.solute.ligand[-1] + 1],
              receptor.protein.residues, "AS BUILT", Path("built.pdb"))
system, atoms = built.solute.system, list(built.solute.topology.atoms())
(force,) = [each for each in system.getForces() if isinstance(each, openmm.NonbondedForce)]
charges = [force.getParticleParameters(i)[0].value_in_unit(unit.elementary_charge) for i in range(len(atoms))]
context = make_context(system, openmm.VerletIntegrator(0.001), "CPU")
context.setPositions(built.solute.positions)
openmm.LocalEnergyMinimizer.minimize(context, 100.0, 10)
names = [each.name for each in built.solute.topology.residues()]
print("FOUND", json.dumps({
    "charge": sum(charges), "receptor": sum(charges[: len(built.receptor)]),
    "ions": {name: names.count(name) for name in ("Na+", "Cl-", "NA", "CL")},
    "waters": names.count("HOH"), "residues": len(receptor.protein.residues),
    "titles": [built.titles[each] for each in built.anchors[:3]], "heavy": len(built.heavy),
    "energy": context.getState(energy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole),
    "forces": sorted({type(each).__name__ for each in system.getForces()}),
}))
"""


def list_residues(chain):
    """Return names and numbers of a chain's residues, without water and the file's ligand."""
    return [f"{each.name} {each.seqid}" for each in chain if each.name not in ("HOH", "TMP")]


@pytest.mark.parametrize("protein", ["ff14SB", "ff19SB"])
def test_a_protein_with_its_ligand_is_built_neutral_and_with_the_salt_that_is_asked_for(tmp_path, protein):
    """T4 lysozyme L99A with p-xylene has a charge of +8 at neutral pH."""
    changed = {"proteinForceField": protein, "solventPadding": 0.7, "ionConcentration": 0.15}
    settings, _ = make_settings(TOOL, **changed)
    structure = Path(__file__).parent / "data" / "t4-lysozyme-l99a.pdb"
    found = json.loads(run_code(ENGINE, CHECK_PROTEIN, tmp_path, structure, json.dumps(settings)))
    written, given = (gemmi.read_structure(str(path))[0] for path in (tmp_path / "built.pdb", structure))
    assert list_residues(written["A"]) == list_residues(given["A"])
    assert list_residues(written["B"]) == ["LIG 1"]
    assert found["charge"] == pytest.approx(0, abs=1e-3)
    assert found["receptor"] == pytest.approx(8, abs=1e-3)
    sodium, chloride = (
        sum(found["ions"][name] for name in names) for names in (("Na+", "NA"), ("Cl-", "CL"))
    )
    assert chloride - sodium == 8
    assert sodium == pytest.approx(0.15 * found["waters"] / 55.4, abs=1.5)
    assert found["titles"] == ["A:1:N", "A:1:CA", "A:1:C"]
    assert found["heavy"] == 8
    assert found["energy"] < -1e5
    assert ("CMAPTorsionForce" in found["forces"]) == (protein == "ff19SB")


CHECK_CHAINS = """
import json, sys
from io import StringIO
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
from complex_files import write_complex
from openmm import app, unit
from receptors import read_protein
lines = [line for line in Path(sys.argv[2]).read_text().splitlines() if line.startswith("ATOM")]
lines = [line for line in lines if int(line[22:26]) in (5, 6)]
far = [f"{line[:21]} {line[22:30]}{float(line[30:38]) + 90:8.3f}{line[38:]}" for line in lines]
notes = []
protein = read_protein("\\n".join([*far, "TER", *lines]), notes, "receptorFile")
protein.write(Path("plain.pdb"))
made = app.PDBFile("plain.pdb")
places = made.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
write_complex(made.topology, np.array(places), protein.residues, "CHAINS", Path("named.pdb"))
print("FOUND", json.dumps({"notes": notes, "titles": [each.title for each in protein.residues]}))
"""


def test_a_chain_without_a_name_is_not_taken_for_another_one(tmp_path):
    structure = Path(__file__).parent / "data" / "t4-lysozyme-l99a.pdb"
    found = json.loads(run_code(ENGINE, CHECK_CHAINS, tmp_path, structure))
    written = gemmi.read_structure(str(tmp_path / "named.pdb"))[0]
    assert {chain.name: [str(each.seqid) for each in chain] for chain in written} == {
        "B": ["5", "6"],
        "A": ["5", "6"],
    }
    assert written["B"][0][0].pos.x - written["A"][0][0].pos.x == pytest.approx(90, abs=0.01)
    assert "The receptor's chain without a name is called B in the results." in found["notes"]
    assert found["titles"] == ["GLU 5", "MET 6", "GLU A:5", "MET A:6"]
