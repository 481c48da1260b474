"""A viewer gets only the parts of a structure that it can draw, and no more than it can draw in seconds."""

from pathlib import Path

import gemmi
import numpy as np
import pytest
from result_archives import write_ensemble

from foldnote.results import Structure
from foldnote.viewers import compose
from foldnote.viewers.render.still_image import draw_picture
from foldnote.viewers.render.styles import apply_style, list_others, list_style_rules
from foldnote.viewers.scene.model_text import MAX_ATOMS

FORCE_FIELDS = Path(__file__).parents[1] / "results" / "data" / "forcefields"


def test_nucleotides_have_the_names_that_the_viewer_lays_ribbons_through():
    text = (FORCE_FIELDS / "amber_rna.pdb").read_text().replace("  C A", "CYT A").replace("  U A", "RU3 A")

    scene = compose(Structure("rna.pdb", "pdb", text))

    names = {line[17:20].strip() for line in scene.models[0].text.splitlines() if line.startswith("ATOM")}
    assert names == {"C", "U"}
    assert scene.facts[0] == ("RNA A", "RNA, 3 residues")


def test_ions_and_waters_are_called_as_the_viewer_reads_them():
    scene = compose(Structure.open(FORCE_FIELDS / "charmm_solvated.pdb"))

    (selection, _, _) = list_style_rules(scene, None)[0]
    assert selection["not"]["resn"] == ["CLA", "POT", "TIP"]
    assert [selection["resn"] for selection, _ in list_others(scene)] == [["CLA", "POT"]]
    assert dict(scene.facts)["Water"] == "4 molecules, not drawn"


def write_residues(count: int, *, chain: str = "A", residue: str = "ALA") -> str:
    names = ("N", "CA", "C", "O", "CB") if residue == "ALA" else ("O", "H1", "H2")
    lines = []
    for number in range(count):
        for k, name in enumerate(names):
            x, y, z = 3.8 * (number % 30) + k, 4.0 * (number // 30 % 30), 4.0 * (number // 900)
            lines.append(
                f"ATOM      1  {name:<3} {residue} {chain}{number % 10000:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00 50.00"
            )
    return "\n".join([*lines, ""])


def test_a_large_structure_is_drawn_as_one_sphere_per_residue_with_a_note():
    zinc = "HETATM    1 ZN    ZN B5000       1.000   2.000   3.000  1.00 50.00          ZN"
    structure = Structure("large.pdb", "pdb", write_residues(9000) + write_residues(4000, chain="B") + zinc)

    scene = compose(structure)

    model = scene.models[0]
    drawn = [line for line in model.text.splitlines() if line.startswith(("ATOM", "HETATM"))]
    assert len(structure.to_frame()) == 65_001
    assert {line[12:16].strip() for line in drawn} == {"CA", "ZN"}
    assert len(drawn) == 13_001
    assert [chain.length for chain in model.chains] == [9000, 4000]
    assert [apply_style("cartoon", rule)["sphere"]["radius"] for rule in list_style_rules(scene, None)] == [
        2.4,
        2.4,
    ]
    (note,) = scene.notes
    assert note.startswith(
        "This structure has 65,001 atoms. Above 60,000 only one atom per residue is drawn, as a"
    )
    assert draw_picture(scene) is not None


def test_waters_are_left_out_before_atoms_of_the_protein_are():
    protein, box = write_residues(100), write_residues(MAX_ATOMS // 3, chain="W", residue="HOH")
    structure = Structure("box.pdb", "pdb", protein + box)

    scene = compose(structure)

    drawn = [line for line in scene.models[0].text.splitlines() if line.startswith("ATOM")]
    assert len(drawn) == 500
    assert (scene.notes, scene.models[0].is_reduced) == ((), False)
    assert dict(scene.facts)["Water"] == "20,000 molecules, not drawn"


def test_a_large_mmcif_keeps_its_names_of_chains_and_numbers():
    whole = Structure("large.pdb", "pdb", write_residues(9000) + write_residues(4000, chain="B")).to_gemmi()
    whole[0]["A"].name = "AAA"
    text = whole.make_mmcif_document().as_string()

    (model,) = compose(Structure("large.cif", "mmcif", text)).models

    again = Structure("drawn.cif", "mmcif", model.text)
    assert [(chain.name, len(chain)) for chain in again.chains] == [("AAA", 9000), ("B", 4000)]
    assert again.chains[0].numbers == model.chains[0].numbers
    assert "_atom_site.group_PDB" in model.text, "without it 3Dmol.js treats all atoms as heteroatoms"


def test_of_several_models_only_the_first_is_drawn():
    """3Dmol.js draws all models of an mmCIF file at the same place, whatever its options are."""
    pdb = Structure("nmr.pdb", "pdb", write_ensemble(4))
    mmcif = Structure("nmr.cif", "mmcif", pdb.to_gemmi().make_mmcif_document().as_string())

    for structure in (pdb, mmcif):
        drawn = compose(structure).models[0]
        shown = Structure(drawn.name, drawn.format, drawn.text)
        assert (structure.models, shown.models) == (4, 1)
        first = structure.to_frame().query("model == 1")
        assert shown.to_frame()[["chain", "number", "atom"]].equals(first[["chain", "number", "atom"]])
        assert np.allclose(shown.to_frame()[["x", "y", "z"]], first[["x", "y", "z"]], atol=0.001)


def test_the_bonds_of_a_first_model_are_kept():
    text = write_ensemble(2).rstrip().removesuffix("END") + "CONECT    1    2\nEND\n"

    assert "CONECT    1    2\n" in compose(Structure("nmr.pdb", "pdb", text)).models[0].text


@pytest.mark.parametrize(("name", "written"), [("chain_A", "chain_A"), ("data_x", "'data_x'")])
def test_names_of_chains_have_no_quotes_that_the_viewer_would_take_for_letters(name, written):
    """If the file says ``'chain_A'``, as gemmi writes it, 3Dmol.js finds no chain ``chain_A`` and draws nothing."""
    parsed = gemmi.read_pdb_string(write_ensemble(1))
    parsed[0]["H"].name = name
    text = parsed.make_mmcif_document().as_string()
    assert f" '{name}' " in text

    drawn = compose(Structure("fv.cif", "mmcif", text)).models[0].text

    assert f" {written} " in drawn
    assert gemmi.make_structure_from_block(gemmi.cif.read_string(drawn)[0])[0][name]
