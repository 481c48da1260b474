"""Our engine's structural alignments compared with TM-align's, with biotite's own, and with constructed inputs."""

import csv
import gzip
import json
from pathlib import Path

import gemmi
import numpy as np
import pytest
from engine_contract import EngineContract
from odd_inputs import write_mmcif
from real_engine import load_engines, run_directly, run_engine

from foldnote import catalog
from foldnote.results import open_result
from foldnote.viewers import result_bundles

FOLDS = Path(__file__).parents[1] / "unit" / "results" / "data" / "folds"
BACKBONES = Path(__file__).parent / "data"
EXAMPLES = Path(catalog.__file__).parent / "examples"
TRP_CAGES = [(EXAMPLES / name).read_text() for name in ("trp-cage.pdb", "trp-cage-2.pdb")]
TM_ALIGN = {
    "1hmlA": {"2nwdX": (0.913, 0.868)},
    "1akiA": {"3lzmA": (0.442, 0.370)},
    "3kcsA": {"6oa8A": (0.929, 0.861), "1gl4A": (0.829, 0.665)},
    "3lsjA": {"3rd3A": (0.691, 0.746)},
    "1gl4B": {"1ncbL": (0.814, 0.369)},
}
"""TM-align 20190822, normalized by the first structure and by the other."""
DIRECT = """
import json, sys
import biotite.structure as struc
from biotite.structure.io.pdb import PDBFile
fixed, mobile = (PDBFile.read(name).get_structure(model=1) for name in sys.argv[1:])
moved, _, ours, theirs = struc.superimpose_structural_homologs(fixed, mobile)
lengths = [struc.get_residue_count(each) for each in (fixed, mobile)]
print(json.dumps([struc.tm_score(fixed, moved, ours, theirs, length) for length in lengths]))
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["biotite"].state().installed, reason="needs: foldnote engines install biotite"
    ),
]


def read_fold(name, folder=FOLDS):
    return gzip.decompress((folder / f"{name}.pdb.gz").read_bytes()).decode()


def align(folder, *texts, **settings):
    outcome, outputs = run_engine("biotite", folder, settings, texts={"pdbFiles": list(texts)})
    assert outcome.state == "succeeded", outcome.error
    return outputs


def read_table(outputs, name="alignment.csv"):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_notes(outputs):
    return " ".join(json.loads((outputs.parent / "notes.json").read_text()))


def find_places(path):
    """Return Cα coordinates of a written file by chain and residue number."""
    return {
        (chain.name, str(residue.seqid)): np.array(residue.find_atom("CA", "*").pos.tolist())
        for chain in gemmi.read_structure(str(path))[0]
        for residue in chain
        if residue.find_atom("CA", "*")
    }


def change(text, edit):
    parsed = gemmi.read_pdb_string(text)
    edit(parsed)
    return parsed.make_pdb_string()


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """Return two models of the Trp-cage (PDB 1L2Y)."""
    return align(tmp_path_factory.mktemp("example"), *TRP_CAGES, alignChain="A")


@pytest.fixture(scope="module")
def lysozymes(tmp_path_factory):
    """Return alpha-lactalbumin and lysozyme with their backbones."""
    texts = [read_fold(name, BACKBONES) for name in ("1hmlA_backbone", "2nwdX_backbone")]
    return align(tmp_path_factory.mktemp("lysozymes"), *texts)


class TestContract(EngineContract):
    engine = "biotite"
    needs_seed = False

    @pytest.fixture
    def run(self, example):
        return example


@pytest.mark.parametrize("reference", TM_ALIGN)
def test_tm_scores_are_tm_aligns_within_two_hundredths(tmp_path, reference):
    """From Cα atoms alone: alpha-lactalbumin, two lysozymes, GFP barrels, TetR, and an immunoglobulin domain."""
    others = TM_ALIGN[reference]
    outputs = align(tmp_path, read_fold(reference), *map(read_fold, others))
    for row, theirs in zip(read_table(outputs), others.values(), strict=True):
        ours = float(row["tm_score_by_reference"]), float(row["tm_score_by_structure"])
        assert ours == pytest.approx(theirs, abs=0.02)
    unlike = max(map(max, others.values())) < 0.5
    assert ("Probably another fold than pdbFiles: pdbFiles_2." in read_notes(outputs)) == unlike


def test_the_search_finds_at_least_what_biotite_alone_finds(lysozymes, tmp_path):
    names = ["1hmlA_backbone", "2nwdX_backbone"]
    for name in names:
        (tmp_path / f"{name}.pdb").write_text(read_fold(name, BACKBONES))
    engine = load_engines()["biotite"]
    command = [str(engine.python), "-c", DIRECT, *(f"{name}.pdb" for name in names)]
    theirs = json.loads(run_directly(engine, command, tmp_path))
    (row,) = read_table(lysozymes)
    ours = [float(row["tm_score_by_reference"]), float(row["tm_score_by_structure"])]
    assert ours == pytest.approx(theirs, abs=0.01)
    assert np.all(np.array(ours) > np.array(theirs) - 0.002)


def test_the_rmsd_is_gemmis_over_the_same_pairs(lysozymes):
    (row,) = read_table(lysozymes)
    texts = [read_fold(name, BACKBONES) for name in ("1hmlA_backbone", "2nwdX_backbone")]
    places = [
        {
            str(residue.seqid): residue.find_atom("CA", "*").pos
            for residue in gemmi.read_pdb_string(text)[0][0]
        }
        for text in texts
    ]
    pairs = read_table(lysozymes, "pairs.csv")
    fixed = [places[0][pair["reference_number"]] for pair in pairs]
    mobile = [places[1][pair["number"]] for pair in pairs]
    assert float(row["rmsd"]) == pytest.approx(gemmi.superpose_positions(fixed, mobile).rmsd, abs=1e-3)
    assert int(row["aligned_residues"]) == len(pairs)


def test_written_structures_lie_as_the_tables_say(lysozymes):
    first, second = sorted((lysozymes / "superposed").iterdir())
    fixed, mobile = find_places(first), find_places(second)
    for pair in read_table(lysozymes, "pairs.csv"):
        ours = fixed[pair["reference_chain"], pair["reference_number"]]
        theirs = mobile[pair["chain"], pair["number"]]
        assert np.linalg.norm(ours - theirs) == pytest.approx(float(pair["distance"]), abs=0.003)
    (row,) = read_table(lysozymes, "transforms.csv")
    rotation = np.array([float(row[f"r{i}{j}"]) for i in "123" for j in "123"]).reshape(3, 3)
    shift = np.array([float(row[f"t{i}"]) for i in "123"])
    given = gemmi.read_pdb_string(read_fold("2nwdX_backbone", BACKBONES))[0][0][0]
    place = np.array(given.find_atom("CA", "*").pos.tolist())
    assert rotation @ place + shift == pytest.approx(mobile["X", str(given.seqid)], abs=0.002)
    assert len(gemmi.read_structure(str(lysozymes / "superposed.pdb"))) == 2


def test_alignments_contain_every_residue_and_the_pairs_of_the_table(lysozymes):
    (path,) = (lysozymes / "alignments").iterdir()
    _, first, _, second = path.read_text().split()
    columns = [(a, b) for a, b in zip(first, second, strict=True) if "-" not in (a, b)]
    pairs = read_table(lysozymes, "pairs.csv")
    assert columns == [(pair["reference_residue"], pair["residue"]) for pair in pairs]
    a3m = (lysozymes / "alignment.a3m").read_text().split()[3]
    assert a3m.replace("-", "").upper() == second.replace("-", "")
    assert sum(not letter.islower() for letter in a3m) == len(first.replace("-", ""))
    (row,) = read_table(lysozymes)
    identical = sum(a == b for a, b in columns) / len(columns)
    assert float(row["identity"]) == pytest.approx(identical, abs=1e-4)


def test_a_turned_copy_fits_without_rest(tmp_path):
    turn = gemmi.Transform()
    turn.mat.fromlist([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    turn.vec.fromlist([30, -5, 8])
    turned = change(TRP_CAGES[0], lambda parsed: parsed[0].transform_pos_and_adp(turn))
    outputs = align(tmp_path, TRP_CAGES[0], turned)
    (row,) = read_table(outputs)
    assert (row["tm_score_by_reference"], row["identity"]) == ("1.0000", "1.0000")
    assert float(row["rmsd"]) < 0.002
    assert [row["structure"], row["reference"]] == ["pdbFiles_2", "pdbFiles"]


def test_a_structure_prepared_for_a_simulation_has_the_same_residues(tmp_path):
    """AMBER's names of protonation states and disulfides were read as X, and so never identical."""
    plain = read_fold("1akiA")
    prepared = plain.replace(" CYS ", " CYX ").replace(" HIS ", " HIE ").replace(" ASP ", " ASH ")
    assert prepared != plain
    (row,) = read_table(align(tmp_path, plain, prepared))
    assert row["identity"] == "1.0000"
    assert float(row["rmsd"]) < 0.002


def test_chains_are_matched_by_their_places_whatever_their_order(tmp_path):
    """Two Fv, whose chains are H L and C D; D is the heavy one. TM-align of both as one: 0.911 and 0.878."""
    outputs = align(tmp_path, read_fold("6y1l_imgt"), read_fold("8ee8_imgt"))
    matched = {(pair["reference_chain"], pair["chain"]) for pair in read_table(outputs, "pairs.csv")}
    assert {("H", "D"), ("L", "C")} <= matched
    (row,) = read_table(outputs)
    ours = float(row["tm_score_by_reference"]), float(row["tm_score_by_structure"])
    assert ours == pytest.approx((0.911, 0.878), abs=0.02)


def test_odd_files_are_aligned_and_what_is_left_out_is_reported(tmp_path):
    """Models, a calcium ion, an alternate location, insertion codes, a gap, Windows line ends, and mmCIF."""
    lines = [line for line in TRP_CAGES[0].splitlines() if line.startswith("ATOM")]
    alternate = [
        line[:16] + "B" + line[17:54] + "  0.30" + line[60:] for line in lines if line[22:26] == "   5"
    ]
    inserted = [line[:22] + "   6A" + line[27:] if line[22:26] == "   7" else line for line in lines]
    kept = [line for line in inserted if line[22:26] != "  12"]
    calcium = "HETATM 9999 CA    CA A 101      10.000  10.000  10.000  1.00  0.00          CA"
    body = [*kept, *alternate, calcium]
    odd = "\r\n".join(["MODEL        1", *body, "ENDMDL", "MODEL        2", *body, "ENDMDL", "END"])
    parsed = gemmi.read_pdb_string(TRP_CAGES[1])
    parsed.setup_entities()
    outputs = align(tmp_path, odd, parsed.make_mmcif_document().as_string(), alignChain="A")
    (row,) = read_table(outputs)
    assert (row["reference_residues"], row["residues"]) == ("19", "20")
    assert float(row["tm_score_by_reference"]) > 0.5
    assert "6A" in {pair["reference_number"] for pair in read_table(outputs, "pairs.csv")}
    notes = read_notes(outputs)
    assert "pdbFiles: the first of 2 models was aligned and written." in notes
    assert "took no part in the alignment and were moved along (1)" in notes
    assert "the most occupied one was aligned (1)" in notes
    suffixes = [path.suffix for path in sorted((outputs / "superposed").iterdir())]
    assert suffixes == [".pdb", ".cif"]


def test_the_result_is_shown_as_one_scene_with_its_tables(lysozymes):
    scene, fits, pairs, _ = result_bundles(open_result(lysozymes.parents[1] / "result.zip"))
    assert "2 structures superposed on pdbFiles" in scene["text/plain"]
    assert "TM-score 0.91" in scene["text/plain"]
    assert "Fit of each structure to the first" in fits["text/html"]
    assert "Aligned residues" in pairs["text/html"]


CAGE = [line for line in TRP_CAGES[0].splitlines() if line.startswith("ATOM")]
WATER = "HETATM    1  O   HOH A   1      10.000  10.000  10.000  1.00  0.00           O\nEND\n"


@pytest.mark.parametrize(
    ("texts", "settings", "sentence"),
    [
        ([TRP_CAGES[0]], {}, "Give at least two structures"),
        ([*TRP_CAGES], {"alignChain": "B"}, "pdbFiles has no chain B. Its protein chains are A."),
        ([TRP_CAGES[0], ""], {}, "pdbFiles_2 holds no atoms"),
        ([TRP_CAGES[0], "no structure\n"], {}, "pdbFiles_2 holds no atoms"),
        ([TRP_CAGES[0], write_mmcif(CAGE, CAGE[-1])], {}, "pdbFiles_2 has no coordinates for atom "),
        ([TRP_CAGES[0], WATER], {}, "fewer than 3 protein residues"),
    ],
    ids=["one", "chain", "empty", "text", "unknown", "water"],
)
def test_what_cannot_be_aligned_is_a_plain_sentence(tmp_path, texts, settings, sentence):
    outcome, _ = run_engine("biotite", tmp_path, settings, texts={"pdbFiles": texts})
    assert outcome.state == "failed"
    assert sentence in outcome.error
