"""Predicted properties of molecules: drawings with key figures, tables, and unreadable molecules."""

import pytest

from foldnote.viewers import result_bundles

HEAD = "molecule,smiles,problem,molecular_weight,logP,hERG\n"
COLUMNS = (
    "property,name,category,task_type,units\n"
    "molecular_weight,Molecular Weight,Physicochemical,regression,Dalton\n"
    "logP,LogP,Physicochemical,regression,log-ratio\n"
    "hERG,hERG Blocking,Toxicity,classification,-\n"
)
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


@pytest.fixture
def show(open_files):
    def show_rows(*rows):
        files = {
            "properties.csv": HEAD + "".join(f"{row}\n" for row in rows),
            "percentiles.csv": HEAD + "".join(f"{row}\n" for row in rows),
            "columns.csv": COLUMNS,
        }
        parts = result_bundles(open_files("admet", files))
        return "\n".join(part["text/html"] for part in parts), "\n".join(part["text/plain"] for part in parts)

    return show_rows


def test_each_molecule_is_drawn_with_its_key_figures(show):
    html, plain = show(f"1,{ASPIRIN},,180.15,1.31,0.02", "2,CCO,,46.07,-0.001,0.01")
    assert html.count("data:image/svg+xml") == 2
    assert "2D drawing of molecule 2" in html
    assert "<dt>hERG block</dt><dd>0.02</dd>" in html
    assert "Molecular weight 180.2 Da, logP 1.31" in plain


def test_few_molecules_are_columns_with_readable_names_and_units(show):
    _, plain = show(f"1,{ASPIRIN},,180.15,1.31,0.02", "2,CCO,,46.07,-0.001,0.01")
    assert "Properties 3 rows × 7 columns" in plain
    assert "molecule 2: percentile of approved drugs" in plain
    assert "probability" in plain


def test_many_molecules_are_rows_and_the_first_ones_are_drawn(show):
    html, plain = show(*(f"{number},CCO,,46.07,0,0.1" for number in range(1, 21)))
    assert html.count("data:image/svg+xml") == 12
    assert "The first 12 of 20 molecules." in html
    assert "Properties 20 rows × 5 columns" in plain  # without the empty column of problems


def test_a_molecule_without_prediction_says_why(show):
    html, plain = show("1,CCO,,46.07,0,0.1", "2,<b>,This is not SMILES.,,,")
    assert "1 of 2 molecules have no prediction. Molecule 2: This is not SMILES." in plain
    assert "<b></code>" not in html


def test_a_molecule_too_large_to_be_recognised_is_not_drawn(show):
    html, _ = show(f"1,{'C' * 500},,7016.9,200,0.1")
    assert "data:image/svg+xml" not in html
    assert "Not drawn" in html


def test_other_files_have_the_default_layout(open_files):
    parts = result_bundles(open_files("admet", {"properties.csv": f"{HEAD}1,CCO,,46.07,0,0.1\n"}))
    assert "properties.csv 1 row" in parts[0]["text/plain"]
