"""Engines write a modified amino acid as its parent in the PDB's Chemical Component Dictionary."""

import sys
from pathlib import Path

import gemmi
import pytest

import foldnote.service.engines as engines
from foldnote.results.structure.residues import find_letter

ENGINES = Path(engines.__file__).parent
DICTIONARY = pytest.importorskip("biotite.structure.info.ccd", reason="biotite has the dictionary")


@pytest.fixture
def structures(monkeypatch):
    """The module of the engine by its own name, as in the engine's environment."""
    for name in ("biotite", "protocol"):
        monkeypatch.syspath_prepend(str(ENGINES / name))
    before = set(sys.modules)
    import structures

    yield structures
    for name in {*sys.modules} - before:
        if str(ENGINES) in str(getattr(sys.modules[name], "__file__", "")):
            sys.modules.pop(name, None)


def list_letters() -> dict[str, str]:
    """The letter of each amino acid of the dictionary that gemmi knows as one, too, by its name."""
    table = DICTIONARY.get_ccd()["chem_comp"]
    letters = dict(zip(table["id"].as_array(), table["one_letter_code"].as_array(), strict=True))
    known = {name: gemmi.find_tabulated_residue(name) for name in map(str, letters)}
    return {
        name: str(letters[name])
        for name, residue in known.items()
        if residue.is_amino_acid() and residue.one_letter_code.isalpha() and len(letters[name]) == 1
    }


def test_the_letters_are_those_of_the_dictionary(structures):
    letters = {name: letter for name, letter in list_letters().items() if letter not in "?."}
    assert len(letters) > 100
    assert (letters["PCA"], letters["MSE"]) == ("Q", "M")
    assert {name: structures.find_letter(name) for name in letters} == letters
    assert {name: find_letter(name) for name in letters} == letters
