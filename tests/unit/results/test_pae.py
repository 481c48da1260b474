"""Rows of an aligned error get the structure's chain names, even if a file counts letters."""

import json

import gemmi
import numpy as np
import pytest
from result_archives import DATA, write_zip

from foldnote.results import open_result

LENGTH = 20


def write_structure(*names, lengths=()):
    """Return copies of a stretch of residues, one chain per name, apart from each other."""
    source = gemmi.read_structure(str(DATA / "trastuzumab_fv_ca.pdb"))[0]["H"]
    model = gemmi.Model(1)
    for place, name in enumerate(names):
        chain = gemmi.Chain(name)
        for residue in list(source)[: (lengths or [LENGTH] * len(names))[place]]:
            copy = residue.clone()
            for atom in copy:
                atom.pos += gemmi.Position(60.0 * place, 0, 0)
            chain.add_residue(copy)
        model.add_chain(chain)
    structure = gemmi.Structure()
    structure.add_model(model)
    structure.setup_entities()
    return structure.make_mmcif_document().as_string()


@pytest.fixture
def opened(tmp_path):
    """Open a model whose file gives the chains of its tokens and, optionally, of its atoms."""

    def make(text, tokens, atoms=None):
        size = len(tokens)
        errors = np.random.default_rng(3).uniform(0.5, 30, (size, size)).round(1)
        content = {"pae": errors.tolist(), "token_chain_ids": tokens, "token_res_ids": [*range(1, size + 1)]}
        content |= {"atom_chain_ids": atoms} if atoms else {}
        members = {"x_model_0.cif": text, "x_full_data_0.json": json.dumps(content)}
        return open_result(write_zip(tmp_path / "r.zip", members)).models[0].pae

    return make


def letters(text, length=LENGTH):
    return [name for name in text for _ in range(length)]


@pytest.mark.parametrize("names", ["AU", "BA", "BCA"])
def test_chains_are_named_as_the_atoms_are_and_not_by_counted_letters(opened, names):
    counted = "ABC"[: len(names)]
    pae = opened(write_structure(*names), letters(counted), letters(names))

    assert pae.chains == tuple(names)
    assert pae.borders.tolist() == [LENGTH * place for place in range(1, len(names))]


def test_the_structure_names_counted_letters_where_the_file_names_no_atoms(opened):
    assert opened(write_structure("A", "U"), letters("AB")).chains == ("A", "U")


def test_lengths_tell_which_chain_a_counted_letter_is(opened):
    counted = [*letters("A", 20), *letters("B", 12)]

    assert opened(write_structure("B", "A", lengths=(20, 12)), counted).chains == ("B", "A")


def test_a_file_with_real_names_in_another_order_than_the_structure_is_believed(opened):
    named = [*letters("A", 20), *letters("B", 12)]

    assert opened(write_structure("B", "A", lengths=(12, 20)), named).chains == ("A", "B")


def test_equal_chains_in_contradicting_orders_are_not_named(opened):
    pae = opened(write_structure("B", "A"), letters("AB"))

    assert pae.chains == ()
    assert pae.matrix.shape == (40, 40)


def test_the_chains_of_atoms_count_where_the_structure_has_another_number_of_tokens(opened):
    tokens, atoms = letters("AB", 25), letters("BA", 30)

    assert opened(write_structure("B", "A"), tokens, atoms).chains == ("B", "A")
