"""A structure has text and page wherever its atoms are: all at one point, without coordinates, or far out."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure
from foldnote.viewers import bundle, compose
from foldnote.viewers.render.still_image import draw_picture

_NAMES = [
    "group_PDB",
    "id",
    "type_symbol",
    "label_atom_id",
    "label_alt_id",
    "label_comp_id",
    "label_asym_id",
    "label_entity_id",
    "label_seq_id",
    "Cartn_x",
    "Cartn_y",
    "Cartn_z",
    "occupancy",
    "B_iso_or_equiv",
    "auth_seq_id",
    "auth_asym_id",
]
_HEAD = "data_x\nloop_\n" + "".join(f"_atom_site.{name}\n" for name in _NAMES)
ODD = ["nan", "?", "inf", "-inf", "1e300", "-1e308", "1e20", "1e-320", "999999.999", "0"]


def write(
    atoms: list[tuple[str, str, str]], record: str = "ATOM", residue: str = "ALA", name: str = "CA"
) -> Structure:
    rows = [
        f"{record} {n} C {name} . {residue} A 1 {n if record == 'ATOM' else '.'} {x} {y} {z} 1 50 {n} A"
        for n, (x, y, z) in enumerate(atoms, 1)
    ]
    return Structure("odd.cif", "mmcif", _HEAD + "\n".join(rows) + "\n")


@pytest.mark.parametrize("count", [1, 2, 4, 5, 6, 30])
@pytest.mark.parametrize("what", [("ATOM", "ALA", "CA"), ("ATOM", "A", "P"), ("HETATM", "LIG", "C1")])
def test_atoms_at_one_place_are_drawn(count, what):
    structure = write([("1.5", "-2", "3")] * count, *what)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw_picture(compose(structure)) is not None


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("count", [1, 5, 30])
def test_odd_coordinates_are_shown_in_words_without_a_warning(odd, count):
    chains = [
        [(odd, odd, odd)] * count,
        [(odd if n == count // 2 else str(3.8 * n), "0", "0") for n in range(count)],
    ]

    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for atoms in chains:
            assert f"Chain A: protein, {count} residue" in bundle(compose(write(atoms)))["text/plain"]


PLACES = st.one_of(
    st.sampled_from(ODD), st.floats(width=32).map(repr), st.floats(-50, 50).map(lambda x: f"{x:.3f}")
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(PLACES, PLACES, PLACES), min_size=1, max_size=12), st.sampled_from(["ATOM", "HETATM"])
)
def test_any_places_are_shown_or_refused_in_a_sentence(atoms, record):
    structure = write(atoms, record, "ALA" if record == "ATOM" else "LIG")

    try:
        scene = compose(structure)
    except UnreadableFileError as refused:
        assert refused.message.endswith(".")
        return
    assert bundle(scene)["text/html"]
    assert len(structure.to_frame()) == len(atoms)


def test_a_file_of_waters_alone_says_what_it_holds_and_what_lists_it():
    row = "HETATM{0:5d}  O   HOH A{0:4d}    {0:8.3f}   0.000   0.000  1.00 20.00           O\n"
    waters = Structure("waters.pdb", "pdb", "".join(row.format(number) for number in (1, 2)))
    assert len(waters.to_frame()) == 2
    with pytest.raises(UnreadableFileError, match="holds 2 water molecules, which are not drawn.*to_frame"):
        compose(waters)
