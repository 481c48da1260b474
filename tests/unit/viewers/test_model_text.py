"""What a viewer is given of a structure is what it can draw."""

from pathlib import Path

from foldnote.results import Structure
from foldnote.viewers import compose
from foldnote.viewers.looks import list_others, list_paints

FORCE_FIELDS = Path(__file__).parents[1] / "results" / "data" / "forcefields"


def test_nucleotides_have_the_names_that_the_viewer_lays_ribbons_through():
    text = (FORCE_FIELDS / "amber_rna.pdb").read_text().replace("  C A", "CYT A").replace("  U A", "RU3 A")

    scene = compose(Structure("rna.pdb", "pdb", text))

    names = {line[17:20].strip() for line in scene.models[0].text.splitlines() if line.startswith("ATOM")}
    assert names == {"C", "U"}
    assert scene.facts[0] == ("RNA A", "RNA, 3 residues")


def test_ions_and_waters_are_called_as_the_viewer_reads_them():
    scene = compose(Structure.open(FORCE_FIELDS / "charmm_solvated.pdb"))

    (who, _, _) = list_paints(scene, None)[0]
    assert who["not"]["resn"] == ["CLA", "POT", "TIP"]
    assert [who["resn"] for who, _ in list_others(scene)] == [["CLA", "POT"]]
    assert dict(scene.facts)["Water"] == "4 molecules, not drawn"
