"""AF2BIND and AfCycDesign give the same results as the authors' notebooks with ColabDesign, here with stand-in weights.

The stand-ins are random numbers with two of AlphaFold's 48 blocks, so no figure is meaningful, and they close no ring:
the offsets around the ring are compared, the distance from N to C is only reported.
"""

import csv
import dataclasses
import json
import pickle

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, make_settings, prepare_run, run_directly, run_tool, start_runner
from stand_ins import install_stand_ins, skip_unless_installed

from foldnote.results import open_result
from foldnote.service.runner.attempt import SPEC, Outcome, as_content, write_json

TRP_CAGE = make_settings("af2bind")[1]["pdbFile"]
SHORT = "".join(
    line + "\n" for line in TRP_CAGE.splitlines() if line.startswith("ATOM") and 3 <= int(line[22:26]) <= 9
)
DIRECT_SETUP = """
import json, os, pickle, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from colabdesign import mk_afdesign_model
from colabdesign.af.alphafold.model import config
config.CONFIG.model.embeddings_and_evoformer.evoformer_num_block = 2
weights = os.environ["FOLDNOTE_WEIGHTS"]
folder = weights + "/alphafold_params_2021-07-14"
"""
DIRECT_BINDING = (
    DIRECT_SETUP
    + """
from scipy.special import expit
model = mk_afdesign_model(protocol="binder", debug=True, data_dir=folder)
model.prep_inputs(pdb_filename="given.pdb", chain="A", binder_len=20, rm_target_sc=True, rm_target_seq=False)
model._inputs["residue_index"][-20:] = model._inputs["residue_index"][-20] + (1 + np.arange(20)) * 50
model.set_seq("ACDEFGHIKLMNPQRSTVWY")
model.predict(verbose=False)
pair = np.asarray(model.aux["debug"]["outputs"]["representations"]["pair"], np.float32)
first, second = pair[:-20, -20:], pair[-20:, :-20].swapaxes(0, 1)
features = np.concatenate([first.reshape(len(first), -1), second.reshape(len(second), -1)], -1)
head = pickle.load(open(weights + "/af2bind/split_nosc_pair_A_split_nosc_pair_B_0.pickle", "rb"))
scaled = (features - np.asarray(head["~"]["mean"])) / np.asarray(head["~"]["std"])
logit = scaled @ np.asarray(head["linear"]["w"])[:, 0] + np.asarray(head["linear"]["b"])[0]
json.dump({"p_bind": expit(logit).tolist(), "logit": logit.tolist()}, open("direct.json", "w"))
"""
)
DIRECT_DESIGN = (
    DIRECT_SETUP
    + """
seed, steps = int(sys.argv[1]), [int(each) for each in sys.argv[2:]]
model = mk_afdesign_model(protocol="fixbb", data_dir=folder)
model.prep_inputs(pdb_filename="given.pdb", chain="A")
size = model._len
ends = np.stack([np.arange(size), np.arange(size) + size], -1)
offset = np.arange(size)[:, None] - np.arange(size)[None, :]
around = np.abs(ends[:, None, :, None] - ends[None, :, None, :]).min((2, 3))
around[around < np.abs(offset)] *= -1
model._inputs["offset"] = around * np.sign(offset)
model.restart(seed=seed)
model.design_3stage(*steps, verbose=0)
best = model._tmp["best"]["aux"]
json.dump({
    "offset": model._inputs["offset"].tolist(),
    "sequence": model.get_seqs()[0],
    "loss": model.get_loss().tolist(),
    "plddt": float(best["log"]["plddt"]), "ptm": float(best["log"]["ptm"]), "rmsd": float(best["log"]["rmsd"]),
    "pae": float(best["pae"].mean()),
    "residues": [100 * float(each) for each in best["all"]["plddt"][0]],
    "atoms": np.asarray(best["all"]["atom_positions"][0][:, :3]).tolist(),
}, open("direct.json", "w"))
"""
)

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("colabdesign")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    """Return the engine with stand-ins; its compilation cache is kept for all runs of this file."""
    folder = tmp_path_factory.mktemp("colabdesign")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(folder / "compiled"))
        with install_stand_ins("colabdesign", folder) as engine:
            yield engine


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def run_job(tool, folder, **changed):
    outcome, outputs = run_tool("colabdesign", tool, folder, **changed)
    assert outcome.state == "succeeded", outcome.error
    return outputs


def run_as_published(tool, folder, **changed):
    """Run it as if the weights were the published ones, so that confidences stay."""
    settings, texts = make_settings(tool, **changed)
    spec = prepare_run(load_engines()["colabdesign"], folder, settings, 7, texts, tool)
    environment = {**spec.environment, "FOLDNOTE_WEIGHTS_STATE": "published"}
    spec = dataclasses.replace(spec, environment=environment)
    write_json(spec.folder / SPEC, as_content(spec))
    with start_runner(spec) as runner:
        assert runner.wait() == 0
    outcome = Outcome.read(spec.folder)
    assert outcome.state == "succeeded", outcome.error
    return spec.folder / "work" / "outputs"


def run_notebook(engine, folder, program, text, *arguments):
    """Return the result of the authors' notebook for a structure."""
    (folder / "given.pdb").write_text(text)
    run_directly(engine, [str(engine.python), "-c", program, *map(str, arguments)], folder)
    return json.loads((folder / "direct.json").read_text())


def run_part(engine, folder, program):
    """Return what a program that imports modules of the engine prints."""
    found = f"import sys; sys.path.insert(0, {str(engine.folder)!r})\n"
    return run_directly(engine, [str(engine.python), "-c", found + program], folder)


def read_atoms(path):
    return [line for line in path.read_text().splitlines() if line.startswith("ATOM")]


@pytest.fixture(scope="module")
def binding(engine, tmp_path_factory):
    return run_job("af2bind", tmp_path_factory.mktemp("binding"))


@pytest.fixture(scope="module")
def designs(engine, tmp_path_factory):
    return run_job("afcycdesign", tmp_path_factory.mktemp("designs"))


class TestBindingContract(EngineContract):
    engine = "colabdesign"
    tool = "af2bind"
    needs_seed = False
    rare_odd_inputs = (
        "pdbFile-gaps",
        "pdbFile-empty chain",
        "pdbFile-alternate locations",
        "pdbFile-two models",
        "pdbFile-no chain name",
    )

    @pytest.fixture
    def run(self, binding):
        return binding

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert read_manifest(run)["settingsIgnored"] == {}


class TestDesignContract(EngineContract):
    engine = "colabdesign"
    tool = "afcycdesign"
    needs_seed = True
    rare_odd_inputs = (
        "pdbFile-unknown residues",
        "pdbFile-insertion codes",
        "pdbFile-the same residue twice",
        *TestBindingContract.rare_odd_inputs,
    )

    @pytest.fixture
    def run(self, designs):
        return designs

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert read_manifest(run)["settingsIgnored"] == {}


def test_chances_are_those_of_the_notebook(engine, binding, tmp_path):
    direct = run_notebook(engine, tmp_path, DIRECT_BINDING, TRP_CAGE)
    rows = read(binding, "residues.csv")
    np.testing.assert_allclose([float(row["p_bind"]) for row in rows], direct["p_bind"], atol=2e-3)
    baits = [[float(row[name]) for name in "ACDEFGHIKLMNPQRSTVWY"] for row in read(binding, "baits.csv")]
    np.testing.assert_allclose(np.sum(baits, -1), direct["logit"], atol=2e-2)
    assert np.std(direct["logit"]) > 0.02, "the stand-ins do not distinguish residues"


def test_ranks_follow_the_chances_and_rows_the_chain(binding):
    rows = read(binding, "residues.csv")
    by_rank = sorted(rows, key=lambda row: int(row["rank"]))
    chances = [float(row["p_bind"]) for row in by_rank]
    assert chances == sorted(chances, reverse=True)
    assert "".join(row["residue"] for row in rows) == "NLYIQWLKDGGPSSGRPPPS"
    assert [row["number"] for row in rows] == [str(number) for number in range(1, 21)]


def test_probabilities_are_in_the_b_factors_except_with_stand_ins(binding, tmp_path):
    assert {line[60:66].strip() for line in read_atoms(binding / "af2bind.pdb")} == {"0.00"}
    outputs = run_as_published("af2bind", tmp_path)
    told = {row["number"]: float(row["p_bind"]) for row in read(outputs, "residues.csv")}
    atoms = read_atoms(outputs / "af2bind.pdb")
    assert {line[22:26].strip() for line in atoms} == set(told)
    for line in atoms:
        assert float(line[60:66]) == pytest.approx(told[line[22:26].strip()], abs=0.0051)


def test_gaps_in_the_numbers_reach_alphafold(engine, tmp_path_factory):
    gapped = "".join(
        line[:22] + f"{int(line[22:26]) + (20 if int(line[22:26]) > 9 else 0):4}" + line[26:] + "\n"
        for line in TRP_CAGE.splitlines()
        if line.startswith("ATOM") and int(line[22:26]) != 9
    )
    outputs = run_job("af2bind", tmp_path_factory.mktemp("gaps"), pdbFile=gapped)
    direct = run_notebook(engine, tmp_path_factory.mktemp("direct"), DIRECT_BINDING, gapped)
    rows = read(outputs, "residues.csv")
    np.testing.assert_allclose([float(row["p_bind"]) for row in rows], direct["p_bind"], atol=2e-3)
    assert [row["number"] for row in rows][8:10] == ["30", "31"]


def test_designs_are_those_of_the_notebook_with_the_same_seed(engine, designs, tmp_path):
    used = json.loads((designs.parent / "used.json").read_text())
    direct = run_notebook(engine, tmp_path, DIRECT_DESIGN, TRP_CAGE, 8, *used["settings"]["steps"])
    row = next(row for row in read(designs, "designs.csv") if row["design"] == "design_2")
    assert row["sequence"] == direct["sequence"]
    assert float(row["rmsd"]) == pytest.approx(direct["rmsd"], abs=1e-2)
    losses = [float(each["loss"]) for each in read(designs, "loss.csv") if each["design"] == "2"]
    np.testing.assert_allclose(losses, direct["loss"], rtol=1e-3)
    atoms = [line for line in read_atoms(designs / "design_2.pdb") if line[12:16].strip() in ("N", "CA", "C")]
    ours = [[float(line[place : place + 8]) for place in (30, 38, 46)] for line in atoms]
    np.testing.assert_allclose(ours, np.reshape(direct["atoms"], (-1, 3)), atol=2e-2)
    first, last = np.array(ours[0]), np.array(ours[-1])
    assert float(row["closure_distance"]) == pytest.approx(np.linalg.norm(first - last), abs=2e-2)


def test_offsets_count_around_the_ring(engine, tmp_path):
    program = "import json; from cyclic_design import count_around; print(json.dumps([count_around(n).tolist() for n in (4, 7, 20)]))"
    rings = json.loads(run_part(engine, tmp_path, program))
    for ring in map(np.array, rings):
        size = len(ring)
        assert ring[0, size - 1] == 1
        assert ring[size - 1, 0] == -1
        assert np.abs(ring).max() == size // 2
        assert (ring == -ring.T).all()
    assert rings[1][0] == [0, -1, -2, -3, 3, 2, 1]


def test_designs_come_best_first_and_show_no_confidence_with_stand_ins(designs):
    rows = read(designs, "designs.csv")
    assert len(rows) == 2
    assert [float(row["loss"]) for row in rows] == sorted(float(row["loss"]) for row in rows)
    assert not {"plddt", "ptm", "pae"} & rows[0].keys()
    assert "plddt" not in read(designs, "loss.csv")[0]
    assert {line[60:66].strip() for line in read_atoms(designs / "design_1.pdb")} == {"0.00"}
    assert read_manifest(designs)["notes"][0].startswith("Ran with stand-in weights")
    fasta = (designs / "designs.fasta").read_text().splitlines()
    assert fasta[1] == "NLYIQWLKDGGPSSGRPPPS"
    assert fasta[3::2] == [row["sequence"] for row in rows]


@pytest.mark.exhaustive
def test_without_stand_ins_all_steps_are_taken_and_confidences_shown(engine, tmp_path_factory):
    outputs = run_as_published("afcycdesign", tmp_path_factory.mktemp("whole"), pdbFile=SHORT, numDesigns=1)
    direct = run_notebook(engine, tmp_path_factory.mktemp("direct"), DIRECT_DESIGN, SHORT, 7, 300, 100, 10)
    (row,) = read(outputs, "designs.csv")
    assert row["sequence"] == direct["sequence"]
    for name in ("plddt", "ptm", "rmsd", "pae"):
        assert float(row[name]) == pytest.approx(direct[name], rel=1e-2, abs=1e-3), name
    steps = read(outputs, "loss.csv")
    assert [sum(each["stage"] == stage for each in steps) for stage in ("logits", "soft", "hard")] == [
        300,
        100,
        10,
    ]
    told = {int(line[22:26]): float(line[60:66]) for line in read_atoms(outputs / "design_1.pdb")}
    np.testing.assert_allclose(list(told.values()), direct["residues"], atol=0.02)


def test_the_cells_show_sites_and_designs(binding, designs):
    texts = [each["text/plain"] for each in open_result(binding.parents[1] / "result.zip").bundles()]
    assert any("p(bind) along the chain" in text for text in texts)
    assert any("Contribution of each bait" in text for text in texts)
    texts = [each["text/plain"] for each in open_result(designs.parents[1] / "result.zip").bundles()]
    assert texts[0].startswith("This ran with stand-in weights")
    assert texts[1].startswith("Designs, lowest loss first")
    assert any("Loss by step" in text for text in texts)


def test_a_head_that_would_run_code_is_not_read(engine, tmp_path):
    (tmp_path / "head.pickle").write_bytes(pickle.dumps(print))
    program = "import pathlib, binding\ntry: binding.read_head(pathlib.Path('head.pickle'))\nexcept Exception as exc: print(exc)"
    said = run_part(engine, tmp_path, program)
    assert said.strip() == "the head of AF2BIND asks for builtins.print"


@pytest.mark.parametrize(
    ("tool", "changed", "sentence"),
    [
        ("af2bind", {"chain": "X"}, "The structure has no protein chain X; it has A."),
        ("af2bind", {"pdbFile": " "}, "The file is empty"),
        ("afcycdesign", {"chain": "X"}, "The structure has no protein chain X; it has A."),
        ("afcycdesign", {"numDesigns": 0}, "numDesigns is 0; give a whole number from 1 to 100."),
        ("afcycdesign", {"numDesigns": 101}, "numDesigns is 101"),
        (
            "afcycdesign",
            {"pdbFile": SHORT[: SHORT.index(" A   6 ") - 20]},
            "The chain has 3 residues; this engine designs peptides of 4 to 50",
        ),
    ],
    ids=["site chain", "empty", "design chain", "none", "many", "short"],
)
def test_what_cannot_be_used_is_a_plain_sentence(tmp_path, tool, changed, sentence):
    outcome, _ = run_tool("colabdesign", tool, tmp_path, **changed)
    assert outcome.state == "failed"
    assert sentence in outcome.error
