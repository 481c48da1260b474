"""Engines read the most occupied alternate location of each residue, as biotite selects it."""

import io
import sys
from pathlib import Path

import gemmi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import foldnote.service.engines as engines

sys.path.insert(0, str(Path(engines.__file__).parent / "protein"))
import alternate_locations  # engines import it by its own name

sys.path.pop(0)

NAMES = ("N", "CA", "C", "O", "CB", "OG")
ATOM = "ATOM  {:5d}  {:<3}{:1}{:>3} A{:4d}    {:8.3f}{:8.3f}{:8.3f}{:6.2f} 20.00          {:>2}"


def write_pdb(rows) -> str:
    """Write atoms, each (name, location, residue name, number, occupancy) at a place of its own."""
    lines = [
        ATOM.format(serial, name, location, residue, number, serial, 0, 0, occupancy, name[0])
        for serial, (name, location, residue, number, occupancy) in enumerate(rows, start=1)
    ]
    return "\n".join([*lines, "END", ""])


def keep(rows) -> tuple[list[tuple[str, str, int, float]], list[str]]:
    """Return name, residue name, number and x of the kept atoms, and the notes."""
    model = gemmi.read_pdb_string(write_pdb(rows))[0]
    notes: list[str] = []
    alternate_locations.keep_most_occupied(model, notes)
    assert not any(site.atom.has_altloc() for site in model.all())
    kept = [(s.atom.name, s.residue.name, s.residue.seqid.num, s.atom.pos.x) for s in model.all()]
    return kept, notes


@st.composite
def residues(draw):
    """Draw serines, some of whose atoms have two or three locations, one after the other or mixed."""
    rows = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        split = draw(st.sampled_from([(), ("OG",), ("CB", "OG"), NAMES]))
        labels = draw(st.sampled_from(["AB", "BA", "ABC"]))
        shares = {label: draw(st.integers(0, 100)) / 100 for label in labels}
        one_by_one = [(name, label) for name in NAMES for label in (labels if name in split else " ")]
        in_turn = sorted(one_by_one, key=lambda pair: labels.find(pair[1]))
        for name, label in draw(st.sampled_from([one_by_one, in_turn])):
            rows.append((name, label, "SER", number, shares.get(label, 1.0)))
    return rows


@given(residues())
def test_the_kept_atoms_are_those_that_biotite_selects_by_occupancy(rows):
    pdb = pytest.importorskip("biotite.structure.io.pdb")
    array = pdb.PDBFile.read(io.StringIO(write_pdb(rows))).get_structure(model=1, altloc="occupancy")
    expected = list(zip(array.atom_name, array.res_name, array.res_id, array.coord[:, 0], strict=True))
    kept, notes = keep(rows)
    assert kept == [(str(n), str(r), int(i), float(x)) for n, r, i, x in expected]
    count = len({number for _, location, _, number, _ in rows if location != " "})
    where = "1 residue" if count == 1 else f"{count} residues"
    assert notes == ([f"Of alternate locations the most occupied one was used ({where})."] if count else [])


@pytest.mark.parametrize("serine", [0.3, 0.7])
def test_of_two_residues_at_one_position_the_most_occupied_one_remains(serine):
    both = [(name, "A", "SER", 5, serine) for name in NAMES]
    both += [(name, "B", "ALA", 5, 1 - serine) for name in NAMES[:5]]
    after = [(name, " ", "GLY", 6, 1.0) for name in NAMES[:4]]
    kept, notes = keep([*both, *after])
    assert {residue for _, residue, number, _ in kept if number == 5} == {"SER" if serine > 0.5 else "ALA"}
    assert len(kept) == (6 if serine > 0.5 else 5) + 4
    assert notes == ["Of alternate locations the most occupied one was used (1 residue)."]


def test_an_atom_outside_the_most_occupied_location_is_not_lost():
    rows = [("CB", "A", "SER", 1, 0.6), ("CB", "B", "SER", 1, 0.4)]
    rows += [("OG", "B", "SER", 1, 0.1), ("OG", "C", "SER", 1, 0.3)]
    kept, _ = keep(rows)
    assert [(name, x) for name, _, _, x in kept] == [("CB", 1.0), ("OG", 4.0)]


@pytest.mark.parametrize("second", [0.3, 0.7])
def test_a_location_without_a_letter_is_one_of_several(second):
    first = [(name, " ", "SER", 1, 1 - second) for name in NAMES]
    other = [(name, "B", "SER", 1, second) for name in NAMES]
    kept, _ = keep([*first, *other])
    assert [name for name, *_ in kept] == list(NAMES)
    assert np.ptp([x for *_, x in kept]) == len(NAMES) - 1
    assert (kept[0][3] > len(NAMES)) is (second > 0.5)


def test_atoms_that_a_file_repeats_without_locations_stay():
    rows = [(name, " ", "SER", 1, 1.0) for name in NAMES]
    kept, notes = keep([*rows, *rows])
    assert len(kept) == 2 * len(NAMES)
    assert not notes
