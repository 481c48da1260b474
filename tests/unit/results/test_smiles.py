"""Lists of SMILES are read by RDKit, which adds coordinates if the file has none, and are never taken for poses."""

import pytest
from result_archives import FV, write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import open_result
from foldnote.results.molecules.smiles import FLAT, GIVEN, MADE, read_smiles

LINES = b"""smiles name
CC(=O)Oc1ccccc1C(=O)O aspirin
CCO |(0,0,0;1.5,0,0;2,1.3,0.4)| ethanol
this-is-none x
"""


def test_a_smiles_is_placed_and_says_by_whom():
    found = read_smiles(LINES, "x.smi")

    assert [(one.name, one.formula) for one in found.molecules] == [
        ("aspirin", "C9H8O4"),
        ("ethanol", "C2H6O"),
    ]
    assert [one.properties["coordinates"] for one in found.molecules] == [MADE, GIVEN]
    assert found.molecules[1].coordinates[2].tolist() == [2, 1.3, 0.4]
    assert found.problems == ("Line 4 of x.smi cannot be read: it is not a valid SMILES.",)


def test_the_fifty_first_is_flat():
    (*_, last) = read_smiles(b"CC\n" * 51, "x.smi").molecules

    assert last.properties["coordinates"] == FLAT
    assert last.is_flat


@pytest.mark.parametrize("smiles", ["*CCO", "[*:1]c1ccccc1", "CC(=O)N[3*]"])
def test_a_fragment_with_an_attachment_point_has_no_mass(smiles):
    (fragment,) = read_smiles(smiles.encode(), "x.smi").molecules

    assert "X" in fragment.formula
    assert fragment.mass is None


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe", b"C" * 3000, b"<script>alert(1)</script>", b"C1CC\n[" * 20]
)
def test_an_invalid_list_of_smiles_is_refused(data):
    with pytest.raises(UnreadableFileError, match=r"x\.smi"):
        read_smiles(data, "x.smi")


def test_a_smiles_beside_a_receptor_is_not_a_pose(tmp_path):
    result = open_result(write_zip(tmp_path / "r.zip", {"a.pdb": FV, "ligand.smi": LINES}))

    assert len(result.molecules["ligand.smi"]) == 2
    assert result.poses == ()
