"""Secondary structure by hydrogen bonds, compared with mkdssp 4.2.2 on the same files."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from result_archives import DATA, FV

from foldnote.results import Structure
from foldnote.results.structure.backbone.kabsch_sander import assign_states
from foldnote.results.structure.dssp import BY_BONDS, BY_TRACE, assign_backbone

EXAMPLES = Path(str(files("foldnote.catalog") / "examples"))
TRP_CAGE = "CHHHHHHHCCHHHHCCCCCC"
SECOND_TRP_CAGE = "CCHHHHHHCCHHHHCCCCCC"
FV_LETTERS = (
    "CCEEEEECCEEECCCCCEEEEEEEECCCHHHCCEEEEEECCCCCEEEEEEEECCCCEEEECCCCCCCCEEEEECCCCEEEEEECCCCHHHCEEEEEEEEE"
    "ECCEEEEEEECCCEEEEECCCCCEEEECCEEEECCCCCCEEEEEECCCCCCCEEEEEECCCCCCEEEEECCCEECCCCCCCEEEEEECCEEEEEECCCCH"
    "HHCEEEEEEECCCCCCEECCCEEEEEC"
)
"""H, G and I as H, E and B as E, everything else as C; from Debian's package dssp."""


STATES = {
    "trp-cage.pdb": "-HHHHHHHTTGGGGT-----",
    "trastuzumab-fv.pdb": (
        "--EEEEE--EEE-TT--EEEEEEEESS-GGGS-EEEEEE-TT--EEEEEEEETTTTEEEE-TTTTTT-EEEEETTTTEEEEEE-S--GGG-EEEE"
        "EEEEEETTEEEEEEE---EEEEE-----EEEE-SEEEE-TT---EEEEEESS--TT-EEEEEE-TTS--EEEEETTTEE-TT--TTEEEEEETTE"
        "EEEEESS--GGG-EEEEEEE-SSSS-EE---EEEEE-"
    ),
}
"""DSSP's own letters; polyproline helices (P), new in version 4, as ``-``."""


@pytest.mark.parametrize("name", STATES)
def test_the_eight_states_are_those_of_dssp(name):
    residues = [
        (chain.name, residue) for chain in Structure.open(EXAMPLES / name).to_gemmi()[0] for residue in chain
    ]
    backbone = np.array(
        [[residue[atom][0].pos.tolist() for atom in ("N", "CA", "C", "O")] for _, residue in residues]
    )
    prolines = np.array([residue.name == "PRO" for _, residue in residues])

    assert "".join(assign_states(backbone, [chain for chain, _ in residues], prolines)) == STATES[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("trp-cage.pdb", TRP_CAGE),
        ("trp-cage-2.pdb", SECOND_TRP_CAGE),
        ("trastuzumab-fv.pdb", FV_LETTERS),
    ],
)
def test_the_letters_are_those_of_dssp(name, expected):
    structure = Structure.open(EXAMPLES / name)

    assert structure.secondary_method == BY_BONDS
    assert "".join(structure.secondary_letters.values()) == expected
    assert structure.secondary["strand"] == pytest.approx(expected.count("E") / len(expected))


def test_each_residue_of_a_protein_chain_has_a_letter():
    structure = Structure.open(EXAMPLES / "trastuzumab-fv.pdb")

    assert {name: len(row) for name, row in structure.secondary_letters.items()} == {
        chain.name: len(chain) for chain in structure.chains
    }


def test_without_backbone_atoms_the_alpha_carbons_are_used_and_this_is_stated():
    structure = Structure("fv.pdb", "pdb", FV)

    assert structure.secondary_method == BY_TRACE
    assert 0.3 < structure.secondary["strand"] < 0.6


def test_a_damaged_residue_is_coil_and_the_others_keep_theirs():
    lines = (EXAMPLES / "trp-cage.pdb").read_text().splitlines()
    text = "\n".join(
        line for line in lines if not (line[12:16].strip() == "O" and line[22:26].strip() == "20")
    )
    letters = Structure("x.pdb", "pdb", text).secondary_letters["A"]

    assert len(letters) == 20
    assert letters[:8] == TRP_CAGE[:8]


@pytest.mark.parametrize("scale", [0, 1e-3, 1e30])
def test_residues_on_top_of_each_other_cost_no_memory(scale):
    import tracemalloc

    backbone = np.random.default_rng(1).normal(size=(20_000, 4, 3)) * scale
    tracemalloc.start()
    letters = assign_backbone(backbone, ["A"] * len(backbone), np.zeros(len(backbone), bool))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert set(letters) == {"C"}
    assert peak < 150 * 1024**2


def test_the_estimate_from_alpha_carbons_mostly_agrees_with_dssp(tmp_path):
    """Runs used to be extended regardless of the adjacent residue's geometry, with 72 % agreement."""
    places = [EXAMPLES / "trastuzumab-fv.pdb", *sorted((DATA / "geometry").glob("*.pdb.gz"))]
    same = count = 0
    for place in places:
        whole = Structure.open(place)
        lines = [line for line in whole.text.splitlines() if line[12:16] == " CA " or line.startswith("TER")]
        path = tmp_path / "trace.pdb"
        path.write_text("\n".join([*lines, "END", ""]))
        trace = Structure.open(path)
        assert trace.secondary_method == BY_TRACE
        for chain, letters in whole.secondary_letters.items():
            pairs = list(zip(letters, trace.secondary_letters[chain], strict=True))
            same, count = same + sum(a == b for a, b in pairs), count + len(pairs)

    assert same / count > 0.75
