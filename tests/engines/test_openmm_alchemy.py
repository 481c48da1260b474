"""Hydration free energies by our protocol are those of the force field, and its parts are correct."""

import json
import math
import subprocess
from pathlib import Path

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

TOOL = "hydration-free-energy"
ENGINE = "openmm_alchemy"
MODEL = Path(__file__).parent / "exchange_model.py"
SEED = 11
"""Separate from the contract's runs, which leave checkpoints where they are cancelled."""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()[ENGINE].state().installed, reason=f"needs: foldnote engines install {ENGINE}"
    ),
]


def hydrate(folder, molecules, **changed):
    return run_tool(ENGINE, TOOL, folder, ligandsSDF=molecules, **changed)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    settings, texts = make_settings(TOOL)
    outcome, outputs = run_engine(ENGINE, tmp_path_factory.mktemp("methanol"), settings, SEED, texts, TOOL)
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = ENGINE
    tool = TOOL
    needs_seed = True


CHECK_ENERGIES = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np, openmm
from alchemy import decouple
from systems import read_system
from sampling import make_context, measure
folder = Path(sys.argv[2])
found = {}
def energy(system, positions, **values):
    context = make_context(system, openmm.VerletIntegrator(0.001), "Reference")
    context.setPositions(positions)
    for name, value in values.items():
        context.setParameter(name, value)
    return context.getState(energy=True).getPotentialEnergy().value_in_unit(openmm.unit.kilojoule_per_mole)
for name in ("gas", "water"):
    solute = read_system(folder / name, 4.0, is_periodic=name == "water")
    full, made = solute.system, solute.decouple()
    found[name] = energy(full, solute.positions), energy(made, solute.positions)
    off = {"lambda_electrostatics": 0.0} | ({"lambda_sterics": 0.0} if name == "water" else {})
    found[name + " off"] = energy(made, solute.positions, **off)
    moved = solute.positions.copy()
    moved[list(solute.ligand)] += 0.31
    found[name + " moved"] = energy(made, moved, **off)
    found[name + " moved full"] = energy(made, moved)
print("FOUND", found)
"""


def test_the_ligand_is_whole_at_the_one_end_and_alone_at_the_other(run):
    """Energies in kJ/mol: at one end those of the system from tleap; at the other, none with the molecule, wherever
    it is.
    """
    engine, folder = load_engines()[ENGINE], run.parent / "systems" / "001"
    text = run_directly(
        engine, [str(engine.python), "-c", CHECK_ENERGIES, str(engine.folder), str(folder)], run.parent
    )
    found = eval(text.rpartition("FOUND ")[2])
    assert found["gas"][1] == pytest.approx(found["gas"][0], abs=1e-6)
    assert found["water"][1] == pytest.approx(found["water"][0], abs=0.02)
    assert found["water moved"] == pytest.approx(found["water off"], abs=1e-3)
    assert abs(found["water moved full"] - found["water off"]) > 1


CHECK_SYSTEM = """
import shutil, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from openmm import unit
from systems import build_ligand_legs
folder = Path(sys.argv[2])
folder.mkdir()
for name in ("lig.mol2", "lig.frcmod"):
    shutil.copy(Path(sys.argv[3]) / name, folder)
found = {}
for water, padding, step in (("spce", 0.9, 2.0), ("tip3p", 1.2, 4.0)):
    solute, _ = build_ligand_legs(folder, "gaff", water, padding, step, lambda message: None)
    system, atoms = solute.system, list(solute.topology.atoms())
    (force,) = [each for each in system.getForces() if hasattr(each, "getEwaldErrorTolerance")]
    oxygen = next(atom.index for atom in atoms if atom.residue.name == "HOH")
    masses = [system.getParticleMass(index).value_in_unit(unit.dalton) for index in range(oxygen + 3)]
    volume = float(solute.box.diagonal().prod())
    found[water] = {
        "charge": force.getParticleParameters(oxygen)[0].value_in_unit(unit.elementary_charge),
        "edge": float(solute.box[0][0]),
        "solute": masses[:oxygen],
        "water": masses[oxygen:],
        "constraints": system.getNumConstraints() - (len(atoms) - oxygen),
        "density": (len(atoms) - oxygen) / 3 / volume,
    }
print("FOUND", found)
"""


def test_water_box_and_masses_are_those_of_the_settings(run, tmp_path):
    """Published charges of SPC/E and TIP3P in e; masses in u; number density of waters in nm^-3, 33 in the liquid."""
    engine = load_engines()[ENGINE]
    command = [str(engine.python), "-c", CHECK_SYSTEM, str(engine.folder), str(tmp_path / "made")]
    text = run_directly(engine, [*command, str(run.parent / "systems" / "001")], tmp_path)
    found = eval(text.rpartition("FOUND ")[2])
    assert found["spce"]["charge"] == pytest.approx(-0.8476, abs=1e-4)
    assert found["tip3p"]["charge"] == pytest.approx(-0.834, abs=1e-4)
    assert found["tip3p"]["edge"] > found["spce"]["edge"] > 1.8
    for each in found.values():
        assert each["constraints"] == 4
        assert each["water"][1:] == pytest.approx([1.008, 1.008], abs=0.01)
        assert sum(each["solute"]) == pytest.approx(32.04, abs=0.02)
        assert 26 < each["density"] < 35
    assert sorted(found["spce"]["solute"])[:4] == pytest.approx([1.008] * 4, abs=0.01)
    assert sorted(found["tip3p"]["solute"])[:4] == pytest.approx([3.0] * 4)


CHECK_ANALYSIS = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from analysis import differ_beyond_error, estimate, follow
draw = np.random.default_rng(3)
def sample(stiffness, centres, count):
    rows = []
    for own, centre in zip(stiffness, centres):
        x = draw.normal(centre, own ** -0.5, count)
        rows.append(np.array([0.5 * k * (x - c) ** 2 for k, c in zip(stiffness, centres)]))
    return rows
near = estimate(sample((1.0, 2.0, 4.0, 8.0), (0.0, 0.1, 0.2, 0.3), 2000))
apart = sample((1e4, 1e4), (0.0, 10.0), 30)
apart[0][1] *= 1.1
apart[1][0] *= 1.3
far = estimate(apart)
same = estimate([np.ones((3, 30))] * 3)
print("FOUND", repr((near.total, near.error, str(far.error), differ_beyond_error(follow(apart)), same.total, same.error)))
"""


def test_the_analysis_has_the_analytic_figure_and_no_error_where_states_are_apart(tmp_path):
    """Springs of different stiffness differ by half the logarithm of their ratio, in kT."""
    engine = load_engines()[ENGINE]
    text = run_directly(engine, [str(engine.python), "-c", CHECK_ANALYSIS, str(engine.folder)], tmp_path)
    total, error, far, is_unsure, same, same_error = eval(text.rpartition("FOUND ")[2])
    assert 0 < error < 0.05
    assert total == pytest.approx(0.5 * math.log(8), abs=3 * error)
    assert far == "nan"
    assert is_unsure
    assert (same, same_error) == pytest.approx((0, 0), abs=1e-6)


CHECK_REPEATS = """
import json, sys
from types import SimpleNamespace
sys.path[:0] = sys.argv[1:]
from leg_tables import describe_legs, summarize
estimate = SimpleNamespace(least_overlap=0.2)
leg = SimpleNamespace(is_converged=True, estimate=estimate, error=0.1, sampled=99, convergence=[], is_early=False)
def tell(values):
    row = summarize("free_energy", values, [0.1] * len(values), [leg])
    return row["is_converged"], describe_legs([leg], [row])
print("FOUND", json.dumps([tell(values) for values in json.loads(sys.argv[-1])]))
"""


def test_repeats_that_differ_by_more_than_their_errors_are_not_converged(tmp_path):
    """For three with an error of 0.1, the limit is a standard deviation of 0.1731: chi-squared is 5.9915 at 5%."""
    engine = load_engines()[ENGINE]
    spreads = [[1.0, 1.0 + 0.1730, 1.0 - 0.1730], [1.0, 1.0 + 0.1732, 1.0 - 0.1732], [1.0, 3.0], [2.0]]
    command = [str(engine.python), "-c", CHECK_REPEATS]
    folders = [str(engine.folder), str(engine.folder.parent / "protocol")]
    text = run_directly(engine, [*command, *folders, json.dumps(spreads)], tmp_path)
    near, apart, two, single = json.loads(text.rpartition("FOUND ")[2])
    assert near == [True, []]
    assert (apart[0], two[0]) == (False, False)
    assert "The repeats of 1 of 1 molecules are further apart" in apart[1][0]
    assert single == [True, ["One repeat has no spread; the uncertainty is MBAR's error alone."]]


def test_states_without_overlap_have_no_error_and_do_not_end_a_run_early(tmp_path):
    """Water, a molecule of three atoms, with too few windows and samples is marked as unreliable."""
    settings = {"equilLength": 0.1, "prodLength": 1, "stericWindows": 4, "earlyTerminationTargetError": 2}
    outcome, outputs = hydrate(tmp_path, "O water\n", **settings)
    assert outcome.state == "succeeded", outcome.error
    (row,) = read_table(outputs / "free-energies.csv")
    assert row["is_converged"] == "False"
    assert row["uncertainty_kcal_per_mol"] != "0.0000"
    assert {each["stopped_early"] for each in read_table(outputs / "legs.csv")} == {"False"}
    assert "fewer than 20 samples" in read_notes(outputs)


def test_charges_that_do_not_sum_to_zero_are_refused(run, tmp_path):
    text = (run / "parameters" / "001-methanol.mol2").read_text()
    head, mark, rest = text.partition("ATOM\n")
    first, _, others = rest.partition("\n")
    (tmp_path / "raw.mol2").write_text(f"{head}{mark}{first.rpartition(' ')[0]} 0.900000\n{others}")
    engine = load_engines()[ENGINE]
    code = "import sys; sys.path[:0] = sys.argv[1:]; from pathlib import Path; import ligands;"
    code += "ligands.neutralize(Path('raw.mol2'), Path('lig.mol2'))"
    with pytest.raises(subprocess.CalledProcessError):
        run_directly(engine, [str(engine.python), "-c", code, str(engine.folder)], tmp_path)
    assert not (tmp_path / "lig.mol2").exists()


def test_types_and_charges_are_those_of_freesolv(run):
    """FreeSolv 0.52, mol2files_gaff/mobley_1636752.mol2, from another conformation of methanol; differences in e."""
    text = (run / "parameters" / "001-methanol.mol2").read_text()
    atoms = [line.split() for line in text.partition("ATOM\n")[2].splitlines()[:6]]
    assert [atom[5] for atom in atoms] == ["c3", "oh", "h1", "h1", "h1", "ho"]
    theirs = [0.1166, -0.5985, 0.0285, 0.0285, 0.0285, 0.3965]
    charges = [float(atom[8]) for atom in atoms]
    assert charges == pytest.approx(theirs, abs=0.001)
    assert sum(charges) == pytest.approx(0, abs=5e-6)


def test_force_fields_that_cannot_be_had_are_refused_by_name():
    settings = {"ligandsSDF": "CO\n", "forcefieldSmallMolecule": "openff-2.2.1"}
    (problem,) = catalog.check(catalog.tool(TOOL), settings).problems
    assert problem.field == "forcefieldSmallMolecule"
    assert "openff-2.2.1" in problem.message


def test_the_tables_agree_with_one_another(run):
    (row,) = read_table(run / "free-energies.csv")
    legs = {each["leg"]: float(each["free_energy_kcal_per_mol"]) for each in read_table(run / "legs.csv")}
    value = float(row["hydration_free_energy_kcal_per_mol"])
    assert value == pytest.approx(legs["gas"] - legs["water"], abs=2e-4)
    assert read_score(run)["hydration_free_energy_kcal_per_mol"] == pytest.approx(value, abs=1e-4)
    windows = [each for each in read_table(run / "windows.csv") if each["leg"] == "water"]
    assert float(windows[-1]["free_energy_kcal_per_mol"]) == pytest.approx(legs["water"], abs=1e-4)
    assert [float(each["lambda_electrostatics"]) for each in windows][:4] == [1.0, 0.5, 0.0, 0.0]
    shares = [float(each["exchanged_share"]) for each in windows]
    assert 0 < max(shares) < 1
    assert {each["crossings"].isdigit() for each in read_table(run / "legs.csv")} == {True}
    sums = {}
    for each in read_table(run / "overlap.csv"):
        key = each["leg"], each["window"]
        sums[key] = sums.get(key, 0.0) + float(each["overlap"])
    assert all(total == pytest.approx(1.0, abs=2e-3) for total in sums.values())
    last = [each for each in read_table(run / "convergence.csv") if each["leg"] == "water"][-1]
    assert float(last["forward_kcal_per_mol"]) == pytest.approx(legs["water"], abs=1e-4)
    assert last["forward_kcal_per_mol"] == last["reverse_kcal_per_mol"]
    assert "One repeat has no spread" in read_notes(run)
    assert (run / "parameters" / "001-methanol.mol2").exists()


def test_a_killed_run_resumes_and_gives_the_same_values(run, tmp_path):
    job = json.loads((run.parent / "job.json").read_text())
    folder = kill_in_the_middle(ENGINE, TOOL, tmp_path / "first", job["seed"], 120)
    settings, texts = make_settings(TOOL)
    outcome, again = run_engine(ENGINE, tmp_path / "second", settings, job["seed"], texts, TOOL)
    assert outcome.state == "succeeded", outcome.error
    assert read_outputs(again) == read_outputs(run)
    assert "continues from the checkpoints" in read_notes(again)
    assert not folder.exists()


def test_windows_that_exchange_their_configurations_cross_a_barrier_that_one_alone_does_not(tmp_path):
    engine = load_engines()[ENGINE]
    command = [str(engine.python), str(MODEL), str(engine.folder), str(tmp_path / "checkpoints")]
    found = json.loads(run_directly(engine, command, tmp_path).rpartition("FOUND ")[2])
    assert found["error"] < 0.2
    assert found["sampled"] == pytest.approx(found["exact"], abs=3 * found["error"])
    assert found["exchanges"] == [250, 6], (
        "after each block from the end of the equilibration, except the last"
    )
    assert found["crossings"] > 5


ASSIGNMENTS = """
import itertools, json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from exchanges import assign, count_crossings
potentials = np.random.default_rng(2).normal(size=(4, 4))
found = {}
for seed in range(20000):
    drawn = tuple(int(each) for each in assign(potentials, seed))
    found[drawn] = found.get(drawn, 0) + 1
weights = {each: float(np.exp(-potentials[range(4), each].sum())) for each in itertools.permutations(range(4))}
rows = [(found.get(each, 0) / 20000, weight / sum(weights.values())) for each, weight in weights.items()]
there_and_back = np.array([[1, 0, 2], [0, 2, 1], [0, 1, 2], [0, 2, 1], [1, 0, 2]])
print("FOUND", json.dumps([rows, count_crossings(there_and_back), count_crossings(there_and_back[:1])]))
"""


def test_an_exchange_draws_each_assignment_as_often_as_its_energy_says(tmp_path):
    """For four configurations and four states, compared with the exact shares of the 24 assignments."""
    rows, crossings, none = json.loads(run_code(ENGINE, ASSIGNMENTS, tmp_path))
    assert len(rows) == 24
    for share, exact in rows:
        assert share == pytest.approx(exact, abs=4 * math.sqrt(exact / 20000) + 1e-3)
    assert (crossings, none) == (2, 0)


def test_methane_has_the_free_energy_that_freesolv_computed(tmp_path):
    """FreeSolv 0.52, mobley_9055303: 2.45 ± 0.01 kcal/mol by GAFF, AM1-BCC and TIP3P, also by alchemy.

    A run of about two minutes; the tolerance is three times its uncertainty, which is limited.
    """
    outcome, outputs = hydrate(
        tmp_path, "C methane\n", forcefieldSmallMolecule="gaff", equilLength=2, prodLength=6, stericWindows=9
    )
    assert outcome.state == "succeeded", outcome.error
    (row,) = read_table(outputs / "free-energies.csv")
    error = float(row["uncertainty_kcal_per_mol"])
    assert error < 0.7
    assert abs(float(row["hydration_free_energy_kcal_per_mol"]) - 2.45) < 3 * error
    assert float(row["least_overlap"]) > 0.01


def test_a_leg_ends_early_at_the_error_that_is_asked_for(tmp_path):
    outcome, outputs = hydrate(tmp_path, "C\n", equilLength=0, prodLength=3, earlyTerminationTargetError=2)
    assert outcome.state == "succeeded", outcome.error
    legs = {each["leg"]: each for each in read_table(outputs / "legs.csv")}
    assert legs["gas"]["stopped_early"] == "True"
    assert float(legs["gas"]["production_ps_per_window"]) < 3


@pytest.mark.parametrize(
    ("molecules", "sentence"),
    [
        ("[O-]C(=O)C acetate\n", "charge of -1 e. Only neutral molecules are taken"),
        ("CCO.CCO\n", "several parts that are not bonded"),
        ("C[Si](C)(C)C\n", "has Si, for which the force field"),
        ("C[CH2]\n", "is a radical"),
        ("\n", "has no molecule"),
        ("C1CC\n", "is not a valid SMILES"),
        ("C\n" * 51, "at most 50"),
        ("C" * 80 + "\n", "at most 70"),
    ],
    ids=["charged", "salt", "silicon", "radical", "empty", "no-smiles", "many", "large"],
)
def test_what_cannot_be_calculated_is_a_plain_sentence(tmp_path, molecules, sentence):
    outcome, _ = hydrate(tmp_path, molecules)
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_the_manifest_names_the_protocol_and_its_limits(run):
    told = read_manifest(run)["engine"]
    assert "own protocol" in told["method"]
    assert "Neutral molecules only" in told["note"]
