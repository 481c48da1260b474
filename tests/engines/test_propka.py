"""PROPKA through our engine gives the same results as the propka3 program, and keeps the names of the user's file."""

import re
from collections import defaultdict

import gemmi
import pytest
from engine_contract import EngineContract, read_manifest
from protein_inputs import (
    DATA,
    FV,
    TRP_CAGE,
    join,
    read_atoms,
    read_notes,
    read_packed,
    read_score,
    read_table,
    shift,
)
from real_engine import load_engines, run_directly, run_engine

from foldnote.results import find_metric

LYSOZYME = (DATA / "t4-lysozyme-l99a.pdb").read_text()
SUMMARY = re.compile(r"^ {3}(\S+) +(\d+) (\S) +([\d.]+) +([\d.]+)", re.M)

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["propka"].state().installed, reason="needs: foldnote engines install propka"
    ),
]


def predict(folder, text, **changed):
    settings = {"pH": 7.0, "reference": "neutral"} | changed
    return run_engine("propka", folder, settings, texts={"pdbFile": text})


def succeed(folder, text, **changed):
    outcome, outputs = predict(folder, text, **changed)
    assert outcome.state == "succeeded", outcome.error
    return outputs


def find(outputs, number, group="side chain", chain="A"):
    rows = read_table(outputs / "pka.csv")
    (row,) = [
        row for row in rows if (row["chain"], row["number"], row["group"]) == (chain, str(number), group)
    ]
    return row


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return succeed(tmp_path_factory.mktemp("lysozyme"), LYSOZYME)


class TestContract(EngineContract):
    engine = "propka"
    needs_seed = False
    long_setting = "pdbFile"
    rare_odd_inputs = ("pdbFile-5000 letters",)


def test_values_and_isoelectric_points_are_the_programs(run, tmp_path):
    (tmp_path / "lysozyme.pdb").write_text(LYSOZYME)
    engine = load_engines()["propka"]
    run_directly(engine, [str(engine.python), "-m", "propka", "lysozyme.pdb"], tmp_path)
    text = (tmp_path / "lysozyme.pka").read_text()
    summary = text.split("SUMMARY OF THIS PREDICTION")[1]
    theirs = sorted(
        (int(number), float(pka), float(free)) for _, number, _, pka, free in SUMMARY.findall(summary)
    )
    ours = sorted(
        (int(row["number"]), float(row["pka"]), float(row["model_pka"]))
        for row in read_table(run / "pka.csv")
    )
    assert len(theirs) > 50
    assert ours == theirs
    folded, unfolded = re.search(r"The pI is +([\d.]+) \(folded\) and +([\d.]+)", text).groups()
    figures = read_score(run)
    assert figures["isoelectric_point"] == pytest.approx(float(folded), abs=0.005)
    assert figures["isoelectric_point_unfolded"] == pytest.approx(float(unfolded), abs=0.005)


def test_the_salt_bridge_of_lysozyme_shifts_both_partners_as_measured(run):
    """His31 and Asp70 of T4 lysozyme: pKa 9.1 and 0.5 (Anderson, Becktel, Dahlquist, Biochemistry 29, 2403, 1990).

    PROPKA predicts the directions, but underestimates the sizes.
    """
    histidine, aspartate = find(run, 31), find(run, 70)
    assert (histidine["residue"], aspartate["residue"]) == ("HIS", "ASP")
    assert float(histidine["pka_shift"]) > 0.5
    assert float(aspartate["pka_shift"]) < 0
    partners = {
        row["partner"]
        for row in read_table(run / "contributions.csv")
        if row["number"] == "31" and row["contribution"] == "charge"
    }
    assert "ASP A:70" in partners


def test_contributions_add_up_to_the_shift(run):
    sums = defaultdict(float)
    for row in read_table(run / "contributions.csv"):
        sums[row["number"], row["group"]] += float(row["pka_shift"])
    for row in read_table(run / "pka.csv"):
        assert sums[row["number"], row["group"]] == pytest.approx(float(row["pka_shift"]), abs=0.02)


def test_charges_by_ph_are_those_of_the_groups(run, tmp_path):
    rows = {row["ph"]: row for row in read_table(run / "charge.csv")}
    assert (len(rows), rows["0.0"]["ph"], rows["14.0"]["ph"]) == (141, "0.0", "14.0")
    total = sum(float(row["charge"]) for row in read_table(run / "pka.csv"))
    assert float(rows["7.0"]["charge_folded"]) == pytest.approx(total, abs=0.02)
    assert read_score(run)["charge"] == pytest.approx(total, abs=0.02)
    acid = succeed(tmp_path, LYSOZYME, pH=3.5)
    assert read_score(acid)["charge"] == pytest.approx(float(rows["3.5"]["charge_folded"]), abs=0.002)
    assert float(find(acid, 10)["charge"]) == pytest.approx(
        -1 / (1 + 10 ** (float(find(acid, 10)["pka"]) - 3.5)), abs=0.005
    )


def test_the_energy_among_the_scores_is_that_at_the_most_stable_ph_and_says_so(run):
    by_ph = {
        row["ph"]: float(row["folding_energy_kcal_per_mol"]) for row in read_table(run / "stability.csv")
    }
    scores = read_score(run)

    lowest = scores["lowest_folding_energy_kcal_per_mol"]
    assert lowest == pytest.approx(by_ph[f"{scores['most_stable_pH']:.1f}"], abs=0.001)
    assert lowest == pytest.approx(min(by_ph.values()), abs=0.001)
    assert "at the most stable pH" in find_metric("lowest_folding_energy_kcal_per_mol").label


def test_the_reference_changes_the_stability_only(run, tmp_path):
    other = succeed(tmp_path, LYSOZYME, reference="low-pH")
    assert (other / "pka.csv").read_bytes() == (run / "pka.csv").read_bytes()
    energies = [read_table(each / "stability.csv") for each in (run, other)]
    differences = [
        float(one["folding_energy_kcal_per_mol"]) - float(two["folding_energy_kcal_per_mol"])
        for one, two in zip(*energies, strict=True)
    ]
    assert max(differences) - min(differences) < 0.002  # the zero of the energy may differ
    assert abs(differences[0]) > 0.1


def test_the_structure_has_the_largest_shift_of_each_residue(run):
    text = (run / "propka.pdb").read_text()
    assert "LARGEST PKA SHIFT" in text
    shifts = defaultdict(float)
    for row in read_table(run / "pka.csv"):
        shifts[row["number"]] = max(shifts[row["number"]], float(row["pka_shift"] or 0), key=abs)
    for residue in gemmi.read_pdb_string(text)[0]["A"]:
        assert {round(atom.b_iso, 2) for atom in residue} == {round(shifts[str(residue.seqid)], 2)}


def test_chains_that_are_left_out_shift_nothing(tmp_path):
    atoms = read_atoms(TRP_CAGE)
    pair = join(atoms, shift(atoms, "B", 9.0))
    alone, both = succeed(tmp_path / "alone", TRP_CAGE), succeed(tmp_path / "both", pair)
    chosen = succeed(tmp_path / "chosen", pair, chains=["A"])
    values = [
        {row["number"]: row["pka"] for row in read_table(each / "pka.csv") if row["chain"] == "A"}
        for each in (alone, both, chosen)
    ]
    assert values[2] == values[0] != values[1]
    assert "without influence on the pKa values: chains B" in read_notes(chosen)
    outcome, _ = predict(tmp_path / "missing", pair, chains=["Q"])
    assert "has no chain Q. Its chains are A, B." in outcome.error


def test_a_disulfide_has_no_pka_and_a_nameless_chain_keeps_its_name(tmp_path):
    text = read_packed("1hmlA_backbone.pdb.gz")
    outcome, _ = predict(tmp_path / "backbone", text)
    assert "ionisable residues have no side-chain group" in outcome.error
    nameless = join(f"{line[:21]} {line[22:]}" for line in read_atoms(LYSOZYME))
    rows = read_table(succeed(tmp_path / "nameless", nameless) / "pka.csv")
    assert {row["chain"] for row in rows} == {""}
    bridged = succeed(tmp_path / "bridge", make_bridge())
    rows = [
        row
        for row in read_table(bridged / "pka.csv")
        if "terminus" not in row["group"] and row["number"] == "1"
    ]
    assert [(row["group"], row["pka"], row["charge"]) for row in rows] == [
        ("side chain, disulfide bridge", "", "0.000")
    ] * 2


def make_bridge():
    """Return two copies of Trp-cage whose first asparagine is a cysteine, with the sulfurs 2.05 Å apart."""
    atoms = [line for line in read_atoms(TRP_CAGE) if line[76:78].strip() != "H"]
    first = [line for line in atoms if line[22:26].strip() == "1"]
    made = []
    for line in atoms:
        if line in first:
            name = line[12:16].strip()
            if name not in ("N", "CA", "C", "O", "CB", "CG"):
                continue
            line = line.replace("ASN", "CYS")
            if name == "CG":
                line = f"{line[:12]} SG {line[16:76]} S{line[78:]}"
        made.append(line)
    sulfur = next(line for line in made if line[12:16].strip() == "SG")
    place = [float(sulfur[start : start + 8]) for start in (30, 38, 46)]
    turned = []
    for line in made:  # a half turn about an axis through a point 1.025 Å from the sulfur
        x, y, z = (float(line[start : start + 8]) for start in (30, 38, 46))
        middle = (place[0] - 1.025, place[1])
        turned.append(
            f"{line[:21]}B{line[22:30]}{2 * middle[0] - x:8.3f}{2 * middle[1] - y:8.3f}{z:8.3f}{line[54:]}"
        )
    return join(made, turned)


def test_names_of_force_fields_and_selenomethionine_are_read_as_the_residues_that_they_are(run, tmp_path):
    renamed = join(
        line.replace("HIS", "HID").replace("MET", "MSE").replace(" SD ", "SE  ")
        for line in read_atoms(LYSOZYME)
    )
    outputs = succeed(tmp_path, renamed)
    assert (outputs / "pka.csv").read_bytes() == (run / "pka.csv").read_bytes()
    assert "HID as HIS, MSE as MET" in read_notes(outputs)


def test_models_and_their_number_are_reported(tmp_path):
    atoms = read_atoms(LYSOZYME)
    two = "".join(f"MODEL     {n:4}\n" + "\n".join(atoms) + "\nENDMDL\n" for n in (1, 2))
    outputs = succeed(tmp_path, two)
    assert "means over the file's 2 models" in read_notes(outputs)


def test_an_antibody_model_without_side_chains_is_refused_with_its_reason(tmp_path):
    outcome, _ = predict(tmp_path, FV)
    assert outcome.state == "failed"
    assert "Give an all-atom model." in outcome.error


def test_the_manifest_says_how_good_the_values_are(run):
    assert "0.8 pH units" in read_manifest(run)["engine"]["note"]
