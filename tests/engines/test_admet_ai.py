"""ADMET-AI through our engine gives the same results as ADMET-AI itself, and a row for every molecule."""

import csv
import json

import pytest
from engine_contract import EngineContract, read_manifest
from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors
from real_engine import load_engines, run_directly, run_engine

from foldnote.results import open_result

ASPIRIN, CAFFEINE = "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"
# Ibuprofen, metformin hydrochloride, imatinib and ciclosporin (a macrocycle of 85 atoms).
OTHERS = [
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "CN(C)C(=N)N=C(N)N.Cl",
    "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(n1)-c1cccnc1",
    "CCC1C(=O)N(CC(=O)N(C(C(=O)NC(C(=O)N(C(C(=O)NC(C(=O)NC(C(=O)N(C(C(=O)N(C(C(=O)N(C(C(=O)N(C(C(=O)N1)C(C(C)CC=CC)O)C)C(C)C)C)CC(C)C)C)CC(C)C)C)C)C)CC(C)C)C)C(C)C)CC(C)C)C)C",
]
ODD = ["notasmiles", "", "C(C)(C)(C)(C)C", "[H][H]", "C" * 1001]
GIVEN = [ASPIRIN, *ODD, f" {CAFFEINE}\n", ASPIRIN, *OTHERS]
DIRECT = f"""
import admet_ai
admet_ai.ADMETModel(num_workers=0).predict({[ASPIRIN, CAFFEINE, *OTHERS]!r}).to_json("direct.json", orient="records")
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["admet_ai"].state().installed, reason="needs: foldnote engines install admet_ai"
    ),
]


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    outcome, outputs = run_engine("admet_ai", tmp_path_factory.mktemp("admet"), {"smilesStrings": GIVEN})
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def run(predicted):
    return predicted[1]


class TestContract(EngineContract):
    engine = "admet_ai"
    needs_seed = False


def test_each_figure_is_that_of_a_direct_run(run, tmp_path):
    """The direct run has fewer molecules, so the composition of a batch makes no difference either.

    Up to two of 2,579 drugs may rank differently where values differ in the last digit.
    """
    engine = load_engines()["admet_ai"]
    run_directly(engine, [str(engine.python), "-c", DIRECT], tmp_path)
    direct = json.loads((tmp_path / "direct.json").read_text())
    places = [GIVEN.index(ASPIRIN), GIVEN.index(f" {CAFFEINE}\n"), *(GIVEN.index(each) for each in OTHERS)]
    values, shares = read(run, "properties.csv"), read(run, "percentiles.csv")
    for place, theirs in zip(places, direct, strict=True):
        for name, value in theirs.items():
            own = name.removesuffix("_drugbank_approved_percentile")
            ours, margin = (values[place][own], 2e-5) if own == name else (shares[place][own], 0.08)
            assert float(ours) == pytest.approx(value, rel=2e-5, abs=margin), (place, name)


def test_calculated_properties_are_those_of_rdkit(run):
    for row in read(run, "properties.csv"):
        if not row["problem"]:
            molecule = Chem.MolFromSmiles(row["smiles"])
            assert float(row["molecular_weight"]) == pytest.approx(Descriptors.MolWt(molecule), rel=1e-5)
            assert float(row["logP"]) == pytest.approx(Crippen.MolLogP(molecule), abs=1e-4)
            assert float(row["tpsa"]) == pytest.approx(rdMolDescriptors.CalcTPSA(molecule), abs=1e-3)
            assert row["hydrogen_bond_donors"] == str(rdMolDescriptors.CalcNumHBD(molecule))


def test_every_molecule_has_its_row_in_the_given_order(run):
    for name in ("properties.csv", "percentiles.csv"):
        rows = read(run, name)
        assert [row["smiles"] for row in rows] == [text.strip() for text in GIVEN]
        assert [row["molecule"] for row in rows] == [str(place + 1) for place in range(len(GIVEN))]
        assert [bool(row["problem"]) for row in rows] == [text in ODD for text in GIVEN]
        assert all(not row["AMES"] for row in rows if row["problem"])
    problems = [row["problem"] for row in read(run, "properties.csv") if row["problem"]]
    assert problems[0] == "This is not SMILES."
    assert "Explicit valence" in problems[2]
    assert "1001 atoms" in problems[4]


def test_the_same_molecule_has_the_same_figures(run):
    rows = read(run, "properties.csv")
    first, second = (dict(row) for row in rows if row["smiles"] == ASPIRIN)
    assert first.pop("molecule") != second.pop("molecule")
    assert first == second


def test_known_drugs_are_judged_as_they_are(run):
    """Caffeine crosses the blood-brain barrier and is absorbed by the gut; ibuprofen is not mutagenic."""
    rows = {row["smiles"]: row for row in read(run, "properties.csv")}
    assert float(rows[CAFFEINE]["BBB_Martins"]) > 0.9
    assert float(rows[CAFFEINE]["HIA_Hou"]) > 0.9
    assert float(rows[OTHERS[0]]["AMES"]) < 0.2


def test_every_property_is_described(run):
    rows = read(run, "columns.csv")
    described = [row["property"] for row in rows]
    assert set(described) == set(read(run, "properties.csv")[0]) - {"molecule", "smiles", "problem"}
    assert len(described) == 52
    assert all(row["name"] and row["category"] and row["units"] for row in rows)


def test_what_was_left_out_is_counted(predicted):
    outcome, outputs = predicted
    assert outcome.score == {
        "molecules": len(GIVEN),
        "predicted": len(GIVEN) - len(ODD),
        "unreadable": len(ODD),
    }
    notes = read_manifest(outputs)["notes"]
    assert f"{len(ODD)} of {len(GIVEN)} have no prediction: molecule 2: This is not SMILES." in notes[0]
    assert "1 of 12 are mixtures or salts" in notes[1]


def test_few_molecules_are_shown_with_one_row_a_property(tmp_path):
    outcome, outputs = run_engine("admet_ai", tmp_path, {"smilesStrings": [CAFFEINE]})
    assert outcome.state == "succeeded"
    bundles = open_result(outputs.parents[1] / "result.zip").bundles()
    shown = "\n".join(each["text/plain"] for each in bundles)
    assert "Properties 52 rows" in shown
    assert "Molecular weight 194.2 Da" in shown


@pytest.mark.parametrize(
    ("molecules", "sentence"),
    [([], "No molecule is given"), (["x", "?"], "None of the 2 SMILES strings can be read. The first one: ")],
    ids=["none", "unreadable"],
)
def test_nothing_to_predict_is_a_plain_sentence(tmp_path, molecules, sentence):
    outcome, _ = run_engine("admet_ai", tmp_path, {"smilesStrings": molecules})
    assert outcome.state == "failed"
    assert sentence in outcome.error
