"""OpenFold 3 with stand-in weights: our engine's result is that of ``run_openfold predict`` for the same query.

The network is small and its numbers random (``stand_in_makers/make_openfold3.py``), so no figure is meaningful.
"""

import csv
import json
import subprocess

import gemmi
import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from stand_ins import StandInRuns, skip_unless_installed

from foldnote import catalog
from foldnote.results import open_result
from foldnote.service.engines.launch import make_environment

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.timeout(2400),
    skip_unless_installed("openfold3"),
]

INSULIN = catalog.tool("openfold3").example_job["settings"]["proteins"]
A, B = INSULIN.split(":")
SMALL = {"samplingSteps": 4, "recyclingSteps": 1, "samples": 2, "seedCount": 2, "seed": 7}
COMPLEX = {
    "proteins": INSULIN,
    "dna": "ACGT",
    "rna": "ACGU",
    "ligands": ["Oc1ccccc1"],
    "ligandCodes": ["atp", "ZN"],
}
ALIGNMENT = f">a\n{A}\n>b\n{A[:5]}kk{A[5:10]}-{A[11:]}\n"
MODELS = [f"prediction_seed_{seed}_sample_{sample}" for seed in (7, 8) for sample in (1, 2)]
FIGURES = "sample_ranking_score", "iptm", "ptm", "avg_plddt", "gpde"


RUNS = StandInRuns("openfold3", SMALL)
engine, run, predict = (
    RUNS.make_engine_fixture(),
    RUNS.make_run_fixture({"alignments": [ALIGNMENT]}, **COMPLEX),
    RUNS.run,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder, texts = tmp_path_factory.mktemp("whole"), {"alignments": [ALIGNMENT]}
    work, told = RUNS.run_as_published(folder, texts, **COMPLEX)
    (work / "told.txt").write_text(told)
    return work / "outputs"


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    """Predict the same complex with the program's command line.

    It rotates molecules at random before it first sets its seed, so its generators are seeded beforehand.
    """
    folder = tmp_path_factory.mktemp("direct")
    (folder / "msas" / "insulin").mkdir(parents=True)
    (folder / "msas" / "insulin" / "colabfold_main.a3m").write_text(ALIGNMENT)
    chains = [
        {"molecule_type": "protein", "chain_ids": "A", "sequence": A, "main_msa_file_paths": "msas/insulin"},
        {"molecule_type": "protein", "chain_ids": "B", "sequence": B},
        {"molecule_type": "dna", "chain_ids": "C", "sequence": "ACGT"},
        {"molecule_type": "rna", "chain_ids": "D", "sequence": "ACGU"},
        {"molecule_type": "ligand", "chain_ids": "E", "smiles": "Oc1ccccc1"},
        {"molecule_type": "ligand", "chain_ids": "F", "ccd_codes": "ATP"},
        {"molecule_type": "ligand", "chain_ids": "G", "ccd_codes": "ZN"},
    ]
    (folder / "query.json").write_text(json.dumps({"queries": {"prediction": {"chains": chains}}}))
    (folder / "runner.yml").write_text("""
experiment_settings: {seeds: [7, 8]}
pl_trainer_args: {accelerator: cpu}
data_module_args: {num_workers: 0}
output_writer_settings: {full_confidence_output_format: npz, full_confidence_output_dtype: float32}
model_update:
  presets: [predict]
  custom:
    settings: {memory: {eval: {use_triton_triangle_kernels: false}}}
    architecture:
      shared: {num_recycles: 1, diffusion: {no_full_rollout_steps: 4}}
      msa: {msa_module: {no_blocks: 1}}
      pairformer: {no_blocks: 1}
      diffusion_module: {diffusion_transformer: {no_blocks: 1}}
      heads: {pairformer_embedding: {pairformer: {no_blocks: 1}}}
""")
    environment = make_environment(engine, engine.resources.cores) | {"OPENFOLD_CACHE": str(folder)}
    options = "--use-msa-server false --use-templates false --num-diffusion-samples 2 --output-dir out"
    options += f" --query-json query.json --runner-yaml runner.yml --inference-ckpt-path {environment['FOLDNOTE_WEIGHTS']}"
    program = "from pytorch_lightning import seed_everything as s; s(7); from openfold3.run_openfold import cli; cli()"
    subprocess.run(
        [engine.python, "-c", program, "predict", *f"{options}/of3-ob-2025-06-30-174k.pt".split()],
        cwd=folder,
        env=environment,
        check=True,
    )
    return folder / "out" / "prediction"


class TestContract(EngineContract):
    engine = "openfold3"
    needs_seed = True
    short = SMALL | {"samples": 1, "seedCount": 1}
    rare_odd_inputs = tuple(odd.name for odd in list_odd_inputs("openfold3"))  # each takes minutes


def test_models_and_figures_are_those_of_the_program(whole, direct):
    for model in MODELS:
        own = direct / model.removeprefix("prediction_")[:6]
        for name in (f"{model}_model.cif", f"{model}_confidences_aggregated.json"):
            assert (whole / name).read_text() == (own / name).read_text(), name
        with (
            np.load(whole / f"{model}_confidences.npz") as ours,
            np.load(own / f"{model}_confidences.npz") as its,
        ):
            assert set(ours) >= {"pae", "pde", "plddt"}
            assert all(np.array_equal(ours[name], its[name]) for name in its), model


def test_the_models_are_read_with_their_figures_the_best_first(whole):
    scores = {
        name: json.loads((whole / f"{name}_confidences_aggregated.json").read_text())["sample_ranking_score"]
        for name in MODELS
    }
    by_score = [f"{name}_model.cif" for name in sorted(scores, key=scores.get, reverse=True)]
    with (whole / "ranking.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["file"] for row in rows] == by_score
    result = open_result(whole)
    assert [model.name for model in result.models] == by_score
    figures = json.loads((whole / f"{by_score[0][:-10]}_confidences_aggregated.json").read_text())
    best = result.models[0]
    assert best.scores["sample_ranking_score"] == figures["sample_ranking_score"]
    score = json.loads((whole.parent / "score.json").read_text())
    assert score == {name: figures[name] for name in FIGURES}


def test_the_confidence_of_each_atom_and_pair_is_that_of_the_program(whole):
    best = open_result(whole).models[0]
    stem = best.name.removesuffix("_model.cif")
    with np.load(whole / f"{stem}_confidences.npz") as arrays:
        plddt, pae = arrays["plddt"], arrays["pae"]
    atoms = [
        atom for chain in gemmi.read_structure(str(whole / best.name))[0] for each in chain for atom in each
    ]
    assert np.allclose([atom.b_iso for atom in atoms], plddt, atol=0.01)
    assert np.allclose(best.pae.matrix, pae, atol=0.01)


def test_progress_names_passes_and_steps_of_each_seed(whole):
    lines = (whole.parent / "told.txt").read_text().splitlines()
    told = [json.loads(line.partition(" ")[2]) for line in lines if line.startswith("FOLDNOTE_PROGRESS ")]
    messages = [each["message"] for each in told]
    for seed in (1, 2):
        begun = messages.index(f"Seed {seed} of 2: pass 1 of 2 of the network")
        assert messages[begun : begun + 6] == [
            f"Seed {seed} of 2: pass 1 of 2 of the network",
            f"Seed {seed} of 2: pass 2 of 2 of the network",
            *(f"Seed {seed} of 2: sampling step {step} of 4" for step in range(1, 5)),
        ]
    fractions = [each["fraction"] for each in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1


def test_the_chains_are_named_in_the_order_of_the_settings(run):
    with (run / "chains.csv").open(newline="") as stream:
        rows = {row["chain"]: row for row in csv.DictReader(stream)}
    assert [rows[chain]["sequence"] for chain in "ABCD"] == [A, B, "ACGT", "ACGU"]
    assert (rows["E"]["smiles"], rows["E"]["tokens"]) == ("Oc1ccccc1", "7")
    assert (rows["F"]["ccd"], rows["F"]["tokens"]) == ("ATP", "31")
    assert (rows["G"]["ccd"], rows["G"]["tokens"]) == ("ZN", "1")
    model = gemmi.read_structure(str(run / "prediction_seed_7_sample_1_stand_in.cif"))[0]
    assert [chain.name for chain in model] == list("ABCDEFG")


def test_a_run_with_stand_ins_shows_no_confidence_and_says_so(run):
    names = ["chains.csv", "prediction.json", *(f"{name}_stand_in.cif" for name in MODELS), "runner.yml"]
    assert sorted(path.name for path in run.iterdir()) == sorted(names)
    block = gemmi.cif.read(str(run / names[2])).sole_block()
    assert set(block.find_values("_atom_site.B_iso_or_equiv")) == {"0.00"}
    assert "stand-in" in json.dumps(read_manifest(run)).lower()
    assert not (run.parent / "score.json").exists()
    assert not open_result(run).models[0].scores


def test_proteins_without_an_alignment_are_reported(run):
    notes = json.loads((run.parent / "notes.json").read_text())
    assert notes[0].startswith("1 of 2 protein sequences had no alignment")


@pytest.mark.parametrize(
    ("settings", "texts", "told"),
    [
        ({"proteins": "ACDX*"}, {}, "proteins has '*'"),
        ({"proteins": "ACD::ACD"}, {}, "empty chain"),
        ({"proteins": "XXX"}, {}, "only X"),
        ({"proteins": "A" * 2001}, {}, "2001 residues and ligand atoms"),
        ({"proteins": "G"}, {}, "The job is one residue"),
        ({"proteins": "", "ligands": ["CCO"]}, {}, "The job has no chain of residues."),
        ({"dna": "ACGU"}, {}, "dna has 'U'"),
        ({"dna": "AAAA", "rna": "AAAA"}, {}, "Chain B (dna) and chain C (rna) are both written 'AAAA'"),
        ({"ligands": ["C1CC"]}, {}, "Ligand 1 is not a molecule"),
        ({"ligands": ["CC.O"]}, {}, "separate parts"),
        ({"ligands": ["CCO", "*CC"]}, {}, "Ligand 2 has an atom of no element"),
        ({"ligands": ["[H][H]"]}, {}, "Ligand 1 has hydrogen"),
        ({"ligandCodes": ["QQQQQ"]}, {}, "'QQQQQ' is not a chemical component"),
        ({}, {"alignments": [f">x\n{A}\n>y\n{A}A\n"]}, "Sequence 2 of alignment 1 has 22 columns"),
        ({}, {"alignments": [">x\nAAAA\n"]}, "no protein of this job"),
        ({}, {"alignments": [ALIGNMENT, ALIGNMENT]}, "same protein as an earlier one"),
        ({}, {"alignments": ["no alignment"]}, "not A3M"),
    ],
)
def test_what_openfold_could_not_predict_is_refused_with_the_reason(tmp_path, settings, texts, told):
    outcome, _ = predict(tmp_path, texts, **{"proteins": A, **settings})
    assert outcome.state == "failed"
    assert told in outcome.error


@pytest.mark.exhaustive
def test_unknown_residues_and_many_chains_are_predicted(tmp_path):
    proteins = ":".join(["ACXD"] * 26 + ["MK"])
    outcome, outputs = predict(tmp_path, proteins=proteins, samples=1, seedCount=1)
    assert outcome.state == "succeeded", outcome.error
    model = gemmi.read_structure(str(outputs / "prediction_seed_7_sample_1_stand_in.cif"))[0]
    assert [chain.name for chain in model][-2:] == ["Z", "AA"]


@pytest.mark.exhaustive
def test_rna_alone_is_predicted_and_a_residue_with_an_ion(tmp_path):
    for place, settings in enumerate(({"rna": "GGGAAACCCN"}, {"proteins": "G", "ligandCodes": ["ZN"]})):
        outcome, _ = predict(tmp_path / str(place), samples=1, seedCount=1, **settings)
        assert outcome.state == "succeeded", outcome.error
