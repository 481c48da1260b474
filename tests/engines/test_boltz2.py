"""Boltz-2 with stand-in weights: our engine's result is that of ``boltz predict`` for the same input.

The networks are small and their numbers random (``stand_in_makers/make_boltz2.py``), so no figure is meaningful.
"""

import csv
import json
import os
import subprocess

import gemmi
import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from stand_ins import StandInRuns, skip_unless_installed

from foldnote import catalog
from foldnote.results import open_result
from foldnote.service.engines.launch import make_environment

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("boltz2")]

INSULIN = catalog.tool("boltz2").example_job["settings"]["proteins"]
A, B = INSULIN.split(":")
SMALL = {"samplingSteps": 4, "affinitySteps": 2, "recyclingSteps": 0, "samples": 2, "seed": 7}
COMPLEX = {
    "proteins": INSULIN,
    "dna": "ACGT",
    "rna": "ACGU",
    "ligands": ["Oc1ccccc1"],
    "ligandCodes": ["eoh"],
    "affinity": True,
    "pocketResidues": {"B": "5 7-9"},
}
ALIGNMENT = f">a\n{A}\n>b\n{A[:5]}kk{A[5:10]}-{A[11:]}\n"


RUNS = StandInRuns("boltz2", SMALL)
engine, run, predict = RUNS.make_engine_fixture(), RUNS.make_run_fixture(**COMPLEX), RUNS.run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    work, _ = RUNS.run_as_published(tmp_path_factory.mktemp("whole"), {"alignments": [ALIGNMENT]}, **COMPLEX)
    return work / "outputs"


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    """Predict the same complex with the program's command line."""
    folder = tmp_path_factory.mktemp("direct")
    (folder / "one.a3m").write_text(ALIGNMENT)
    (folder / "prediction.yaml").write_text(f"""
version: 1
sequences:
- protein: {{id: A, sequence: {A}, msa: one.a3m}}
- protein: {{id: B, sequence: {B}, msa: empty}}
- dna: {{id: C, sequence: ACGT}}
- rna: {{id: D, sequence: ACGU}}
- ligand: {{id: E, smiles: Oc1ccccc1}}
- ligand: {{id: F, ccd: EOH}}
constraints:
- pocket: {{binder: E, contacts: [[B, 5], [B, 7], [B, 8], [B, 9]], max_distance: 6}}
properties:
- affinity: {{binder: E}}
""")
    environment = make_environment(engine, engine.resources.cores)
    cache = folder / "cache"
    cache.mkdir()
    for path in os.scandir(environment["FOLDNOTE_WEIGHTS"]):
        (cache / path.name).symlink_to(path.path)
    (cache / "mols.tar").touch()
    options = "--cache cache --out_dir out --accelerator cpu --no_kernels --num_workers 0 --write_full_pae --write_full_pde"
    options += (
        " --sampling_steps 4 --sampling_steps_affinity 2 --recycling_steps 0 --diffusion_samples 2 --seed 7"
    )
    program = str(engine.python.with_name("boltz"))
    subprocess.run(
        [engine.python, program, "predict", "prediction.yaml", *options.split()],
        cwd=folder,
        env=environment,
        check=True,
    )
    return folder / "out" / "boltz_results_prediction" / "predictions" / "prediction"


class TestContract(EngineContract):
    engine = "boltz2"
    needs_seed = True
    short = SMALL | {"samples": 1}
    # loading PyTorch takes seconds in each
    rare_odd_inputs = tuple(odd.name for odd in list_odd_inputs("boltz2"))


def test_models_and_figures_are_those_of_the_program(whole, direct):
    names = sorted(path.name for path in direct.iterdir() if not path.name.startswith("pre_affinity"))
    assert len([name for name in names if name.endswith(".cif")]) == 2
    for name in names:
        if name.endswith(".json"):
            assert json.loads((whole / name).read_text()) == json.loads((direct / name).read_text()), name
        elif name.endswith(".cif"):
            assert (whole / name).read_text() == (direct / name).read_text(), name
        else:
            assert (whole / name).exists(), name


def test_the_models_are_read_with_their_figures_and_the_affinity(whole):
    result = open_result(whole)
    best = result.models[0]
    figures = json.loads((whole / "confidence_prediction_model_0.json").read_text())
    assert [model.name for model in result.models] == ["prediction_model_0.cif", "prediction_model_1.cif"]
    assert best.scores["confidence_score"] == pytest.approx(figures["confidence_score"])
    assert best.pae is not None
    score = json.loads((whole.parent / "score.json").read_text())
    affinity = json.loads((whole / "affinity_prediction.json").read_text())
    assert score["affinity_pred_value"] == affinity["affinity_pred_value"]
    with (whole / "ranking.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["file"] for row in rows] == ["prediction_model_0.cif", "prediction_model_1.cif"]
    assert float(rows[0]["ptm"]) == pytest.approx(figures["ptm"])


def test_the_chains_are_named_in_the_order_of_the_settings(run):
    with (run / "chains.csv").open(newline="") as stream:
        rows = {row["chain"]: row for row in csv.DictReader(stream)}
    assert [rows[chain]["sequence"] for chain in "ABCD"] == [A, B, "ACGT", "ACGU"]
    assert (rows["E"]["smiles"], rows["E"]["tokens"]) == ("Oc1ccccc1", "7")
    assert (rows["F"]["ccd"], rows["F"]["tokens"]) == ("EOH", "3")
    model = gemmi.read_structure(str(run / "prediction_stand_in_0.cif"))[0]
    assert sorted(chain.name for chain in model) == list("ABCDEF")


def test_a_run_with_stand_ins_shows_no_confidence_and_says_so(run):
    assert sorted(path.name for path in run.iterdir()) == [
        "chains.csv",
        "prediction.yaml",
        "prediction_stand_in_0.cif",
        "prediction_stand_in_1.cif",
    ]
    block = gemmi.cif.read(str(run / "prediction_stand_in_0.cif")).sole_block()
    assert set(block.find_values("_atom_site.B_iso_or_equiv")) == {"0.00"}
    assert not [name for name in block.get_mmcif_category_names() if "qa_metric" in name]
    assert "stand-in" in json.dumps(read_manifest(run)).lower()
    assert not (run.parent / "score.json").exists()


def test_a_protein_without_an_alignment_is_reported_and_the_pocket_too(whole):
    notes = json.loads((whole.parent / "notes.json").read_text())
    assert notes[0].startswith("1 of 2 protein sequences had no alignment")
    assert "chain E" in notes[1]
    assert "4 residues of the pocket" in notes[1]


@pytest.mark.parametrize(
    ("settings", "texts", "told"),
    [
        ({"proteins": "ACDX*"}, {}, "proteins has '*'"),
        ({"proteins": "ACD::ACD"}, {}, "empty chain"),
        ({"proteins": "XXX"}, {}, "only X"),
        ({"proteins": "A" * 2001}, {}, "2001 residues and ligand atoms"),
        ({"dna": "ACGU"}, {}, "dna has 'U'"),
        ({"ligands": ["C1CC"]}, {}, "Ligand 1 is not a molecule"),
        ({"ligands": ["CC.O"]}, {}, "separate parts"),
        ({"ligands": ["C" * 400]}, {}, "too many for Boltz"),
        ({"ligandCodes": ["QQQQQ"]}, {}, "'QQQQQ' is not a chemical component"),
        ({"affinity": True}, {}, "the job has none"),
        ({"affinity": True, "ligands": ["CCO", "CCO"]}, {}, "more than once"),
        ({"affinity": True, "ligands": ["C" * 130]}, {}, "130 heavy atoms"),
        ({"pocketResidues": {"A": "1"}}, {}, "has no ligand"),
        ({"pocketResidues": {"A": "99"}, "ligands": ["CCO"]}, {}, "residues 1 to 21, not 99"),
        ({"pocketResidues": {"Q": "1"}, "ligands": ["CCO"]}, {}, "no chain 'Q'"),
        ({}, {"alignments": [f">x\n{A}\n>y\n{A}A\n"]}, "Sequence 2 of alignment 1 has 22 columns"),
        ({}, {"alignments": [">x\nAAAA\n"]}, "no protein of this job"),
        ({}, {"alignments": [ALIGNMENT, ALIGNMENT]}, "same protein as an earlier one"),
        ({}, {"alignments": [f">x\n{A}\n>y\n{A[:-1]}7\n"]}, "has '7'"),
        ({}, {"alignments": ["no alignment"]}, "not A3M"),
    ],
)
def test_what_boltz_could_not_predict_is_refused_with_the_reason(tmp_path, settings, texts, told):
    outcome, _ = predict(tmp_path, texts, **{"proteins": A, **settings})
    assert outcome.state == "failed"
    assert told in outcome.error


@pytest.mark.exhaustive
def test_unknown_residues_and_many_chains_are_predicted(tmp_path):
    outcome, outputs = predict(tmp_path, proteins=":".join(["ACXD"] * 28), samples=1)
    assert outcome.state == "succeeded", outcome.error
    with (outputs / "chains.csv").open(newline="") as stream:
        assert [row["chain"] for row in csv.DictReader(stream)][-3:] == ["Z", "AA", "AB"]
