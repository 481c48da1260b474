"""The static Aggrescan3D score: the original's figures for PDB 5EEP, FreeSASA's areas, and odd files."""

import math

import gemmi
import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import write_mmcif
from protein_inputs import (
    DATA,
    TRP_CAGE,
    join,
    read_atoms,
    read_notes,
    read_packed,
    read_score,
    read_table,
    renumber,
    shift,
)
from real_engine import load_engines, run_engine

CSDE = read_packed("5eep.pdb.gz")
CAGE = read_atoms(TRP_CAGE)
PROPENSITIES = {
    "I": 1.9136, "F": 1.8456, "V": 1.6856, "L": 1.4716, "Y": 1.2506, "W": 1.1286, "M": 1.0016, "C": 0.6956,
    "A": 0.0556, "T": -0.0674, "S": -0.2024, "P": -0.2424, "G": -0.4434, "K": -1.6164, "H": -0.9414,
    "Q": -1.1394, "R": -1.7534, "N": -1.2104, "E": -1.7304, "D": -1.7014,
}  # fmt: skip

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not load_engines()["aggrescan3d"].state().installed,
        reason="needs: foldnote engines install aggrescan3d",
    ),
]


def score(folder, text):
    return run_engine("aggrescan3d", folder, {}, texts={"pdbFile": text})


def read_scores(outputs):
    rows = read_table(outputs / "residues.csv")
    return {(row["chain"], row["number"]): float(row["a3d_score"]) for row in rows}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    outcome, outputs = score(tmp_path_factory.mktemp("csde"), CSDE)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def cage(tmp_path_factory):
    outcome, outputs = score(tmp_path_factory.mktemp("cage"), TRP_CAGE)
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "aggrescan3d"
    needs_seed = False
    long_setting = "pdbFile"
    rare_odd_inputs = ("pdbFile-gaps", "pdbFile-insertion codes", "pdbFile-5000 letters")

    def test_the_manifest_says_what_is_not_included(self, run):
        assert "without the dynamic and mutation modes" in read_manifest(run)["engine"]["note"]


def test_the_figures_of_5eep_are_those_of_the_original(run):
    """Aggrescan3D's own scoring code, on FreeSASA's areas with 100 slices."""
    found = read_score(run)
    assert found["residues"] == 140
    assert found["a3d_total"] == pytest.approx(-148.44, abs=0.01)
    assert found["a3d_mean"] == pytest.approx(-1.0603, abs=1e-4)
    assert found["a3d_max"] == pytest.approx(0.5769, abs=1e-4)
    assert found["a3d_min"] == pytest.approx(-3.3812, abs=1e-4)


def test_relative_areas_are_those_of_freesasa(run):
    """FreeSASA 2.2.1, Lee and Richards with 100 slices, its NACCESS radii: data/5eep-freesasa.csv."""
    ours = {row["number"]: float(row["rsa_percent"]) for row in read_table(run / "residues.csv")}
    theirs = {row["number"]: float(row["rsa_percent"]) for row in read_table(DATA / "5eep-freesasa.csv")}
    assert len(theirs) == 140
    assert ours == pytest.approx(theirs, abs=0.051)


def test_scores_follow_the_published_formula_from_the_areas(run):
    """Computed here residue by residue, from the table's rounded areas and the file's own Cα atoms."""
    rows = read_table(run / "residues.csv")
    model = gemmi.read_pdb_string(CSDE)[0]
    places = {str(residue.seqid): residue["CA"][0].pos for residue in model["A"] if residue.name != "HOH"}
    own = []
    for row in rows:
        share = float(row["rsa_percent"])
        letter = gemmi.find_tabulated_residue(row["residue"]).one_letter_code
        own.append(0.0 if share < 10 else PROPENSITIES[letter] * 0.0599 * math.exp(0.0521 * min(share, 55.0)))
    for place, row in enumerate(rows):
        expected = own[place]
        for other, second in enumerate(rows):
            distance = places[row["number"]].dist(places[second["number"]])
            if own[place] and other != place and distance <= 10:
                expected += own[other] * 1.2915 * math.exp(-2.56 * distance / 10)
        assert float(row["a3d_score"]) == pytest.approx(expected, abs=6e-5)


def test_the_b_factor_is_the_score_and_the_file_says_so(run):
    text = (run / "aggrescan3d.pdb").read_text()
    scores = read_scores(run)
    assert "B-FACTOR COLUMN: STATIC AGGRESCAN3D SCORE" in text
    assert "X-RAY" not in text
    for residue in gemmi.read_pdb_string(text)[0]["A"]:
        assert {round(atom.b_iso - scores["A", str(residue.seqid)], 2) for atom in residue} <= {
            0.0,
            0.01,
            -0.01,
        }


def test_waters_are_left_out_and_counted(run):
    assert "40 waters were left out" in read_notes(run)
    assert "standard amino acids" not in read_notes(run)
    assert "HOH" not in (run / "aggrescan3d.pdb").read_text()


def test_chains_are_scored_as_one_assembly_and_summed_one_by_one(tmp_path):
    """Far apart, each has the scores of a single chain; side by side, they bury each other's residues."""
    outcome, outputs = score(tmp_path / "far", join(CAGE, shift(CAGE, "B", 100.0)))
    assert outcome.state == "succeeded", outcome.error
    one, other = read_table(outputs / "chains.csv")
    assert (one["chain"], other["chain"]) == ("A", "B")
    assert {key: value for key, value in one.items() if key != "chain"} == {
        key: value for key, value in other.items() if key != "chain"
    }
    assert read_score(outputs)["a3d_total"] == pytest.approx(2 * float(one["a3d_total"]), abs=1e-3)
    _, beside = score(tmp_path / "near", join(CAGE, shift(CAGE, "B", 15.0)))
    areas = [
        sum(float(row["rsa_percent"]) for row in read_table(each / "residues.csv"))
        for each in (beside, outputs)
    ]
    assert areas[0] < areas[1] - 20


def test_insertion_codes_keep_residues_apart(tmp_path, cage):
    _, outputs = score(tmp_path, join(renumber(CAGE, {"5": "4A", "6": "4B"})))
    numbers = [row["number"] for row in read_table(outputs / "residues.csv")]
    assert numbers[:8] == ["1", "2", "3", "4", "4A", "4B", "7", "8"]
    assert list(read_scores(outputs).values()) == list(read_scores(cage).values())


@pytest.mark.parametrize("labels", ["AB", "BA"])
def test_the_first_model_and_the_most_occupied_location_count_and_that_is_reported(tmp_path, cage, labels):
    is_split = [line[12:16].strip() == "CB" for line in CAGE]
    used, unused = (
        [
            f"{line[:16]}{label}{line[17:54]}{occupancy:6.2f}{line[60:]}" if split else line
            for line, split in zip(CAGE, is_split, strict=True)
        ]
        for label, occupancy in zip(labels, (0.6, 0.4), strict=True)
    )
    other = shift([line for line, split in zip(unused, is_split, strict=True) if split], "A", 1.0)
    model = ["MODEL        1", *other, *used, "ENDMDL"]
    _, outputs = score(tmp_path, join(model, ["MODEL        2", *shift(CAGE, "A", 3.0), "ENDMDL"]))
    assert read_scores(outputs) == read_scores(cage)
    notes = read_notes(outputs)
    assert "The file has 2 models; the first was used." in notes
    assert f"Of alternate locations the most occupied one was used ({sum(is_split)} residues)." in notes


def test_ligands_and_modified_residues_are_left_out_and_named(tmp_path, cage):
    odd = [f"HETATM{line[6:17]}SEP{line[20:]}" for line in CAGE if line[22:26].strip() == "13"]
    kept = [line for line in CAGE if line[22:26].strip() != "13"]
    _, outputs = score(tmp_path, join(kept[:100], odd, kept[100:]))
    assert "not standard amino acids of a chain: 1 SEP." in read_notes(outputs)
    assert len(read_scores(outputs)) == len(read_scores(cage)) - 1


def test_selenomethionine_counts_as_methionine(tmp_path):
    lines = []
    for line in read_atoms(CSDE):
        is_sulfur = line[12:16].strip() == "SD"
        made = line.replace("ATOM  ", "HETATM").replace("MET", "MSE") if line[17:20] == "MET" else line
        lines.append(f"{made[:12]}SE  {made[16:76]}SE{made[78:]}" if is_sulfur else made)
    outcome, outputs = score(tmp_path, join(lines))
    assert outcome.state == "succeeded", outcome.error
    assert "selenomethionines (MSE) count as methionine" in read_notes(outputs)
    assert read_score(outputs)["residues"] == 140
    assert read_score(outputs)["a3d_total"] == pytest.approx(-148.44, abs=3)


def test_windows_line_ends_lower_case_and_mmcif_change_nothing(tmp_path, cage):
    small = [f"{line[:17]}{line[17:20].lower()}{line[20:]}" for line in CAGE]
    structure = gemmi.read_pdb_string(TRP_CAGE)
    mmcif = f"# generated by PyMOL 3.1\n#\n{structure.make_mmcif_document().as_string()}"
    texts = [TRP_CAGE.replace("\n", "\r\n"), join(small), mmcif]
    for place, text in enumerate(texts):
        outcome, outputs = score(tmp_path / str(place), text)
        assert outcome.state == "succeeded", outcome.error
        assert list(read_scores(outputs).values()) == list(read_scores(cage).values())


def test_a_cut_side_chain_is_noted(tmp_path):
    kept = [
        line
        for line in CAGE
        if line[22:26].strip() != "8" or line[12:16].strip() in ("N", "CA", "C", "O", "CB")
    ]
    outcome, outputs = score(tmp_path, join(kept))
    assert outcome.state == "succeeded", outcome.error
    assert "1 residues lack heavy atoms" in read_notes(outputs)
    assert "LYS A:8" in read_notes(outputs)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The file is empty"),
        ("HEADER    NOTHING\nEND\n", "has no atoms"),
        (join([line for line in CAGE if line[12:16].strip() == "CA"]), "need whole side chains"),
        (join([f"HETATM{line[6:17]}HOH{line[20:]}" for line in CAGE]), "has no protein"),
        (join([f"{CAGE[0][:30]}     nan     nan     nan{CAGE[0][54:]}"]), "that are not numbers in line 1"),
        (join([*CAGE[:-1], f"{CAGE[-1][:30]}********{CAGE[-1][38:]}"]), "that are not numbers in line"),
        (write_mmcif(CAGE, CAGE[-1]), "has no coordinates for atom "),
        (join(CAGE, shift(CAGE, "A", 50.0)), "has the atom N twice"),
        (join([f"{line[:30]}{'   0.000' * 3}{line[54:]}" for line in CAGE]), "lie exactly on others"),
        ("hello\nATOM  no line\n", "The line is too short to be correct"),
    ],
    ids=[
        "empty",
        "no-atoms",
        "c-alpha",
        "waters",
        "nan",
        "overflow",
        "unknown",
        "one-name",
        "zeros",
        "words",
    ],
)
def test_what_cannot_be_scored_is_a_plain_sentence(tmp_path, text, sentence):
    outcome, _ = score(tmp_path, text)
    assert outcome.state == "failed"
    assert sentence in outcome.error
    assert "Traceback" not in outcome.error


def test_hydrogens_at_the_end_of_a_file_make_no_residues(tmp_path):
    """Open Babel appends them there; a file of two chains had twice the residues, half of them without atoms."""
    atoms = [line for line in TRP_CAGE.splitlines() if line.startswith("ATOM") and line[13] != "H"]
    other = [f"{line[:21]}B{line[22:30]}{float(line[30:38]) + 60:8.3f}{line[38:]}" for line in atoms]
    heavy = [*atoms, *other]
    hydrogens = [
        f"{line[:12]} H  {line[16:30]}{float(line[30:38]) + 1:8.3f}{line[38:66]}".ljust(77) + "H"
        for line in heavy
        if line[12:16] == " N  "
    ]
    outcome, plain = score(tmp_path / "plain", "\n".join([*heavy, "END", ""]))
    assert outcome.state == "succeeded", outcome.error
    outcome, outputs = score(tmp_path / "babel", "\n".join([*heavy, *hydrogens, "END", ""]))
    assert outcome.state == "succeeded", outcome.error

    assert len(read_table(outputs / "residues.csv")) == 40
    assert read_table(outputs / "residues.csv") == read_table(plain / "residues.csv")
    assert read_notes(outputs) == read_notes(plain)
