"""Engines write a modified amino acid as its parent in the PDB's Chemical Component Dictionary."""

import sys
from pathlib import Path

import gemmi
import pytest

import foldnote.service.engines as engines
from foldnote.residue_names import find_letter, find_parent

ENGINES = Path(engines.__file__).parent
DICTIONARY = pytest.importorskip("biotite.structure.info.ccd", reason="biotite has the dictionary")


@pytest.fixture
def names(monkeypatch):
    """Import the module that engines share by its own name, as in their environments."""
    monkeypatch.syspath_prepend(str(ENGINES / "protein"))
    import residue_names

    yield residue_names
    sys.modules.pop("residue_names", None)


def list_letters() -> dict[str, str]:
    """Return the one-letter code of each amino acid in the dictionary that gemmi also knows, by its name."""
    table = DICTIONARY.get_ccd()["chem_comp"]
    letters = dict(zip(table["id"].as_array(), table["one_letter_code"].as_array(), strict=True))
    known = {name: gemmi.find_tabulated_residue(name) for name in map(str, letters)}
    return {
        name: str(letters[name])
        for name, residue in known.items()
        if residue.is_amino_acid() and residue.one_letter_code.isalpha() and len(letters[name]) == 1
    }


def test_the_letters_are_those_of_the_dictionary(names):
    letters = {name: letter for name, letter in list_letters().items() if letter not in "?."}
    assert len(letters) > 100
    assert (letters["PCA"], letters["MSE"]) == ("Q", "M")
    assert {name: names.find_letter(name) for name in letters} == letters
    assert {name: find_letter(name) for name in letters} == letters


def test_names_of_force_fields_mean_the_same_to_engines_as_in_results(names):
    assert {"HIE", "HSD", "CYX", "ASH", "GLH", "LYN"} <= names.STANDARD_NAMES.keys()
    for name, standard in names.STANDARD_NAMES.items():
        assert names.standardize(name) == find_parent(name) == standard
        assert names.is_amino_acid(name)
        assert names.find_letter(name) == find_letter(name) != names.UNKNOWN


CHAIN = "".join(
    f"ATOM  {3 * number + place:5d}  {atom:<3} {name} A{number:4d}    "
    f"{4.2 * number + 1.4 * place:8.3f}{0:8.3f}{0:8.3f}  1.00  0.00           {atom[0]}\n"
    for number, name in enumerate(("ALA", "HIE", "CYX", "GLY"), start=1)
    for place, atom in enumerate(("N", "CA", "C"))
)
LIGAND = "HETATM   90  C1  HIP B   1      40.000   0.000   0.000  1.00  0.00           C\n"


def test_a_chain_is_written_with_the_names_of_the_pdb_and_a_ligand_keeps_its_own(tmp_path, monkeypatch):
    """RFdiffusion3 reads neither HIE nor CYX; a ligand may have the name of a protonated residue."""
    for name in ("rfdiffusion3", "protein", "protocol"):
        monkeypatch.syspath_prepend(str(ENGINES / name))
    before = set(sys.modules)
    try:
        from structures import read_structure

        (tmp_path / "prepared.pdb").write_text(f"{CHAIN}TER\n{LIGAND}END\n")
        found = read_structure(tmp_path / "prepared.pdb")
    finally:
        for name in {*sys.modules} - before:
            if str(ENGINES) in str(getattr(sys.modules[name], "__file__", "")):
                sys.modules.pop(name)
    assert [residue.name for (residue,) in found.polymers.values()] == ["ALA", "HIS", "CYS", "GLY"]
    assert [each.name for each in found.ligands] == ["HIP"]
    assert found.count_amino_acids(found.polymers) == 4
