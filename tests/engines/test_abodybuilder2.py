"""ABodyBuilder2 through our engine gives the same prediction as the package itself."""

import csv
import json
import zipfile

import gemmi
import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from immune_comparison import SEED, list_heavy_atoms
from odd_inputs import list_odd_inputs
from real_engine import load_engines, run_directly, run_engine

# Trastuzumab's variable domains (INN list 78).
HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"
    "SRWGGDGFYAMDYWGQGTLVTVSS"
)
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
CONSTANT = "RTVAAPSVF"
# The refinement places hydrogens at random, so the direct run must draw the same numbers.
DIRECT = f"""
import functools, random, numpy, torch
from pdbfixer import PDBFixer
from ImmuneBuilder import ABodyBuilder2
random.seed({SEED}); numpy.random.seed({SEED}); torch.manual_seed({SEED})
PDBFixer.addMissingAtoms = functools.partialmethod(PDBFixer.addMissingAtoms, seed={SEED})
ABodyBuilder2(model_ids=[1]).predict({{"H": {HEAVY!r}, "L": {LIGHT!r}}}).save("direct.pdb")
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not load_engines()["abodybuilder2"].state().installed,
        reason="needs: foldnote engines install abodybuilder2",
    ),
]


@pytest.fixture(scope="module")
def prediction(tmp_path_factory):
    """Run one prediction with the network cut; the light chain has some residues of the constant domain."""
    folder = tmp_path_factory.mktemp("prediction")
    outcome, outputs = run_engine("abodybuilder2", folder, {"heavy": HEAVY, "light": LIGHT + CONSTANT}, SEED)
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def structure(prediction):
    return gemmi.read_structure(str(prediction[1] / "prediction.pdb"))


@pytest.fixture(scope="module")
def numbering(prediction):
    with (prediction[1] / "numbering.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


class TestContract(EngineContract):
    engine = "abodybuilder2"
    needs_seed = True
    rare_odd_inputs = tuple(
        odd.name for odd in list_odd_inputs("abodybuilder")
    )  # loading PyTorch takes seconds in each

    @pytest.fixture
    def run(self, prediction):
        return prediction[1]

    @pytest.mark.exhaustive
    def test_the_same_seed_gives_the_same_result(self, run, tmp_path):
        super().test_the_same_seed_gives_the_same_result(run, tmp_path)

    @pytest.mark.exhaustive
    def test_the_example_runs(self, tmp_path):
        super().test_the_example_runs(tmp_path)


def test_the_seed_of_the_direct_run_is_in_the_manifest(prediction):
    assert read_manifest(prediction[1])["job"]["seed"] == SEED


@pytest.mark.exhaustive  # takes half a minute on both cores, and this engine rarely changes
def test_atoms_are_where_the_package_puts_them(prediction, tmp_path):
    engine = load_engines()["abodybuilder2"]
    run_directly(engine, [str(engine.python), "-c", DIRECT], tmp_path)
    paths = prediction[1] / "prediction.pdb", tmp_path / "direct.pdb"
    ours, theirs = (list_heavy_atoms(path) for path in paths)
    assert ours.keys() == theirs.keys()
    assert max(np.linalg.norm(np.subtract(ours[key], theirs[key])) for key in ours) < 0.002


def test_the_structure_is_the_given_sequence(structure):
    found = {chain.name: gemmi.one_letter_code([res.name for res in chain]) for chain in structure[0]}
    assert found == {"H": HEAVY, "L": LIGHT}


def test_numbering_rows_are_the_residues_of_the_structure(structure, numbering):
    found = [(chain.name, str(residue.seqid)) for chain in structure[0] for residue in chain]
    assert [(row["chain"], row["position"]) for row in numbering] == found
    sequences = {"H": HEAVY, "L": LIGHT + CONSTANT}
    assert all(sequences[row["chain"]][int(row["index"]) - 1] == row["residue"] for row in numbering)


def test_cdrs_are_those_of_imgt(numbering):
    cdrs = {
        (chain, region): "".join(
            row["residue"] for row in numbering if (row["chain"], row["region"]) == (chain, region)
        )
        for chain in "HL"
        for region in ("CDR1", "CDR2", "CDR3")
    }
    assert cdrs["H", "CDR3"] == "SRWGGDGFYAMDY"
    assert cdrs["L", "CDR1"] == "QDVNTA"
    assert {row["cdr_definition"] for row in numbering} == {"imgt"}


def test_peptide_bonds_have_their_length(structure):
    lengths = [
        left.sole_atom("C").pos.dist(right.sole_atom("N").pos)
        for chain in structure[0]
        for left, right in zip(chain, list(chain)[1:], strict=False)
    ]
    assert np.mean(lengths) == pytest.approx(1.334, abs=0.01)
    assert max(abs(length - 1.334) for length in lengths) < 0.05


def test_disulfides_are_closed(structure):
    for chain in structure[0]:
        sulfurs = [
            res.sole_atom("SG").pos for res in chain if res.name == "CYS" and str(res.seqid) in ("23", "104")
        ]
        assert sulfurs[0].dist(sulfurs[1]) == pytest.approx(2.04, abs=0.1)


def test_no_confidence_is_claimed(prediction, structure):
    outcome, outputs = prediction
    assert {atom.b_iso for chain in structure[0] for residue in chain for atom in residue} == {0.0}
    assert set(outcome.score) == {"heavyResidues", "lightResidues", "refined", "models"}
    with zipfile.ZipFile(outputs.parent.parent / "result.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert "are not confidence values" in manifest["notes"][0]
    assert "9 residues of the light sequence" in manifest["notes"][1]
    assert " ".join([manifest["engine"]["note"], *manifest["notes"]]).count("no error estimate") == 1


@pytest.mark.parametrize(
    ("heavy", "light", "sentence"),
    [
        (LIGHT, HEAVY, "heavy and light are not exchanged"),
        (HEAVY[:100], LIGHT, "lacks residues at an end"),
        pytest.param(HEAVY[:60], LIGHT, "has 60 residues", marks=pytest.mark.exhaustive),
        pytest.param(
            HEAVY.replace("W", "X"),
            LIGHT,
            "heavy sequence has X; ABodyBuilder2 takes the 20 standard",
            marks=pytest.mark.exhaustive,
        ),
    ],
    ids=["exchanged", "cut", "short", "letters"],
)
def test_chains_that_cannot_be_modelled_are_a_plain_sentence(tmp_path, heavy, light, sentence):
    outcome, _ = run_engine("abodybuilder2", tmp_path, {"heavy": heavy, "light": light})
    assert outcome.state == "failed"
    assert sentence in outcome.error
    said = (tmp_path / "attempt" / "progress.json").read_text()
    assert "Recognising the chains" in said, "the sequence is checked before a model is loaded"
