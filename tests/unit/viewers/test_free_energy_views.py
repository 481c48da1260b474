"""Results of free energies: the figures, and overlap and convergence of the leg with the least overlap."""

import pytest
from table_data import unpack

from foldnote.viewers import result_bundles
from foldnote.viewers.display.free_energy_views import show_free_energies

ENERGIES = "ligand,smiles,hydration_free_energy_kcal_per_mol\nmethane,C,2.4\n"
LEGS = "ligand,repeat,leg,least_overlap\nmethane,1,gas,0.3\nmethane,1,water,0.1\n"
OVERLAP = "ligand,repeat,leg,window,other_window,overlap\n" + "".join(
    f"methane,1,{leg},{one},{two},{0.7 if one == two else 0.3}\n"
    for leg in ("gas", "water")
    for one in (1, 2)
    for two in (1, 2)
)
CONVERGENCE = (
    "ligand,repeat,leg,fraction,forward_kcal_per_mol,forward_error_kcal_per_mol,reverse_kcal_per_mol\n"
    "methane,1,gas,0.5,9.0,1.0,9.0\nmethane,1,water,0.5,-2.0,0.3,-2.2\nmethane,1,water,1.0,-2.1,0.1,-2.1\n"
)


def test_the_leg_that_overlaps_least_has_its_matrix_and_its_convergence(open_files):
    files = {
        "free-energies.csv": ENERGIES,
        "legs.csv": LEGS,
        "overlap.csv": OVERLAP,
        "convergence.csv": CONVERGENCE,
    }
    result = open_files("hydration-free-energy", files)
    energies, overlap, convergence, legs, *_ = show_free_energies(result)
    assert "2.4" in energies["text/plain"]
    assert overlap.title == (
        "Overlap of windows: methane, repeat 1, water (smallest between neighbours 0.1, at least 0.03 is advised)"
    )
    assert overlap.data.to_numpy().tolist() == [[0.7, 0.3], [0.3, 0.7]]
    assert convergence.data["forward_kcal_per_mol"].tolist() == [-2.0, -2.1]
    bars = [mark.ys for mark in convergence.drawing.marks if len(mark.ys) == 2 and mark.xs[0] == mark.xs[1]]
    assert bars == [pytest.approx([-2.3, -1.7]), pytest.approx([-2.2, -2.0])]
    assert "gas" in legs["text/plain"]
    heading = energies["text/plain"].partition("hydration free energy (kcal/mol)")
    assert "SMILES" in heading[2]
    assert "could not be used" not in result_bundles(result)[0]["text/plain"]


def test_headings_in_words_keep_what_the_figures_mean(open_files):
    files = {
        "free-energies.csv": ENERGIES.replace("methane,C,2.4", "methane,C,2.4\nethane,CC,1.8"),
        "legs.csv": LEGS,
        "overlap.csv": OVERLAP,
        "convergence.csv": CONVERGENCE,
    }
    energies, *_ = show_free_energies(open_files("hydration-free-energy", files))
    column = unpack(energies["text/html"])["columns"][1]
    assert column["name"] == "hydration_free_energy_kcal_per_mol"
    assert column["label"] == "hydration free energy (kcal/mol)"
    assert column["about"].startswith("hydration free energy (kcal/mol): Free energy of moving a molecule")
    assert "<th>hydration free energy (kcal/mol)</th>" in energies["text/html"]


def test_molecules_that_are_not_converged_are_named_above_their_figures(open_files):
    files = {"legs.csv": LEGS, "overlap.csv": OVERLAP, "convergence.csv": CONVERGENCE}
    energies = "ligand,free_energy,is_converged\n" + "".join(f"m{n},1,{n < 2}\n" for n in range(9))
    first, *_ = show_free_energies(
        open_files("hydration-free-energy", files | {"free-energies.csv": energies})
    )
    assert first["text/plain"].startswith("Not converged: m2, m3, m4, m5, m6 and 2 more.")
    converged = "ligand,free_energy,is_converged\nm,1,True\n"
    first, *_ = show_free_energies(
        open_files("hydration-free-energy", files | {"free-energies.csv": converged})
    )
    assert "Not converged" not in first["text/plain"]


def test_a_result_without_the_tables_has_the_default_view(open_files):
    assert show_free_energies(open_files("hydration-free-energy", {"free-energies.csv": ENERGIES}))


def test_of_binding_the_restraints_follow_and_the_release_is_a_row_without_overlap(open_files):
    legs = LEGS.replace("gas", "solvent").replace("water", "complex") + "methane,,release,\n"
    files = {
        "free-energies.csv": ENERGIES,
        "legs.csv": legs,
        "overlap.csv": OVERLAP.replace("water", "complex"),
        "convergence.csv": CONVERGENCE.replace("water", "complex"),
        "restraints.csv": "ligand,P1,L1\nmethane,A:2:CA,1\n",
    }
    _, overlap, _, shown, restraints, *_ = show_free_energies(open_files("binding-free-energy", files))
    assert overlap.title.startswith("Overlap of windows: methane, repeat 1, complex (")
    assert "binding = solvent − complex − release" in shown["text/html"]
    assert "release" in shown["text/plain"]
    assert "A:2:CA" in restraints["text/plain"]
