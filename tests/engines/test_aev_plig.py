"""AEV-PLIG through our engine gives the same results as the authors' script for the same files, here with stand-in
weights.
"""

import csv
import os
import shutil

import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import make_settings, run_directly, run_tool
from stand_ins import install_stand_ins, skip_unless_installed

from foldnote.results import open_result

PROTEIN, LIGAND = (make_settings("aev-plig")[1][name] for name in ("pdbFile", "sdfFile"))
SCRIPT = """
import runpy, sys
sys.argv = "process_and_predict.py --dataset_csv=data/direct.csv --data_name=direct --num_workers=1 --device=cpu".split()
sys.argv.append("--trained_model_name=model_GATv2Net_ligsim90_fep_benchmark")
sys.path.insert(0, ".")
runpy.run_path("process_and_predict.py", run_name="__main__")
"""

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("aev_plig")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("aev_plig", tmp_path_factory.mktemp("aev_plig")) as engine:
        yield engine


def move(text, distance):
    """Return a molecule file with all its atoms moved along x."""
    lines = text.splitlines()
    atoms = int(lines[3][:3])
    for place in range(4, 4 + atoms):
        lines[place] = f"{float(lines[place][:10]) + distance:10.4f}{lines[place][10:]}"
    return "\n".join(lines) + "\n"


def read(outputs):
    with (outputs / "affinity.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def run_job(folder, **changed):
    outcome, outputs = run_tool("aev_plig", "aev-plig", folder, **changed)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def run(engine, tmp_path_factory):
    return run_job(tmp_path_factory.mktemp("run"))


class TestContract(EngineContract):
    engine = "aev_plig"
    needs_seed = False


def test_predictions_are_those_of_the_authors_script(engine, run, tmp_path):
    program = tmp_path / "program"
    shutil.copytree(engine.home / "weights/program", program, copy_function=shutil.copyfile)
    for folder in ("data/processed", "output/predictions"):
        (program / folder).mkdir(parents=True, exist_ok=True)
    (program / "data/p.pdb").write_text(PROTEIN)
    (program / "data/l.sdf").write_text(LIGAND)
    (program / "data/direct.csv").write_text("unique_id,sdf_file,pdb_file\na,data/l.sdf,data/p.pdb\n")
    run_directly(engine, [str(engine.python), "-c", SCRIPT], program)
    with (program / "output/predictions/direct_predictions.csv").open() as stream:
        (theirs,) = csv.DictReader(stream)
    (ours,) = read(run)
    for number in range(10):
        assert float(ours[f"model_{number + 1}"]) == pytest.approx(float(theirs[f"preds_{number}"]), abs=1e-3)
    assert float(ours["affinity_pk"]) == pytest.approx(float(theirs["preds"]), abs=1e-3)
    assert float(ours["affinity_pk_sd"]) > 0


def test_the_protein_around_the_ligand_matters(run, tmp_path):
    moved = run_job(tmp_path, sdfFile=move(LIGAND, 1.0))
    assert read(moved)[0]["affinity_pk"] != read(run)[0]["affinity_pk"]


def test_several_ligands_get_a_row_each_and_those_that_cannot_be_used_a_reason(run, tmp_path):
    block = LIGAND.partition("$$$$")[0]
    odd = block.replace(" C  ", " Si ", 1)
    several = "".join(f"{each.rstrip()}\n$$$$\n" for each in (block, odd, move(block, 500.0), block))
    outputs = run_job(tmp_path, sdfFile=several.replace("\n", "\r\n"))
    rows = read(outputs)
    assert [bool(row["affinity_pk"]) for row in rows] == [True, False, False, True]
    assert rows[0]["affinity_pk"] == rows[3]["affinity_pk"] == read(run)[0]["affinity_pk"]
    assert rows[1]["reason"].startswith("It has Si; the models know ligands of B, Br, C")
    assert "Å away from the protein. Give its bound pose" in rows[2]["reason"]
    assert "2 of 4 ligands have no prediction" in " ".join(read_manifest(outputs)["notes"])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"sdfFile": move(LIGAND, 500.0)}, "Å away from the protein. Give its bound pose"),
        ({"sdfFile": "hello\n"}, "No affinity can be predicted. Ligand 1: RDKit cannot read it"),
        ({"sdfFile": " \r\n"}, "The ligand file is empty"),
        ({"pdbFile": ""}, "The file is empty"),
        (
            {
                "pdbFile": "HETATM    1  O   HOH A   1       0.000   0.000   0.000  1.00  0.00           O\nEND\n"
            },
            "no protein",
        ),
    ],
    ids=["far", "no molecule", "empty", "no file", "water"],
)
def test_what_cannot_be_used_is_a_plain_sentence(tmp_path, changed, sentence):
    outcome, _ = run_tool("aev_plig", "aev-plig", tmp_path, **changed)
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_a_ligand_without_hydrogens_is_noted(tmp_path):
    lines = LIGAND.splitlines()
    atoms = [line for line in lines[4 : 4 + int(lines[3][:3])] if line[31:34].strip() != "H"]
    count = len(atoms)
    bonds = [line for line in lines[4 + int(lines[3][:3]) :] if line[:6].strip() and line[0] == " "]
    kept = [each for each in bonds if len(each.split()) >= 3 and max(map(int, each.split()[:2])) <= count]
    counts = f"{count:3}{len(kept):3}{lines[3][6:]}"
    text = "\n".join([*lines[:3], counts, *atoms, *kept, "M  END", "$$$$", ""])
    notes = read_manifest(run_job(tmp_path, sdfFile=text))["notes"]
    assert any("have no hydrogens, which the models count" in note for note in notes)


def test_the_program_of_the_weights_is_not_changed_by_a_run(engine, run):
    program = engine.home / "weights/program"
    assert not list(program.rglob("__pycache__"))
    assert not (program / "data/job.csv").exists()
    assert not os.access(program / "helpers.py", os.W_OK) or os.geteuid() == 0


def test_the_cell_shows_affinities_and_the_complex(run):
    texts = [each["text/plain"] for each in open_result(run.parents[1] / "result.zip").bundles()]
    assert any("Affinit" in text for text in texts)
