"""Fields for chains and residues: options come from the structure in the form's file field, which also checks values."""

from html import unescape
from importlib.resources import files
from pathlib import Path

import gemmi
import pytest
from form_builders import label_of, make_form

from foldnote.forms.biology.residue_text import read_residues
from foldnote.forms.files.structure_outline import find_outline

FV = str(files("foldnote.catalog").joinpath("examples/trastuzumab-fv.pdb"))
PROPERTIES = {
    "target": {"type": "string", "x-foldnote": {"role": "file", "extensions": ["pdb"]}},
    "chain": {"type": "string", "x-foldnote": {"role": "chain", "of": "target"}},
    "chains": {
        "type": "array",
        "items": {"type": "string"},
        "x-foldnote": {"role": "chains", "of": "target"},
    },
    "residues": {"type": "string", "x-foldnote": {"role": "residues", "of": "target", "chain": "chain"}},
    "map": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "x-foldnote": {"role": "residues", "of": "target"},
    },
}


@pytest.fixture
def form():
    return make_form(PROPERTIES, target=FV)


def said(form, name):
    return unescape(label_of(form, name))


def choose(form, label):
    box = form.fields["chain"].widget.children[0]
    box.index = next(index for text, index in box.options if text.startswith(label))


def test_a_chain_is_offered_with_its_kind_and_length(form):
    (box,) = form.fields["chain"].widget.children
    assert [text for text, _ in box.options] == [
        "not set",
        "H · protein, 120 residues",
        "L · protein, 107 residues",
    ]
    choose(form, "L")
    assert form.value["chain"] == "L"
    assert "begins DIQMTQSPSSLSASVGDRVTITCR…, IMGT numbering" in said(form, "chain")


def test_the_choice_follows_when_another_structure_is_chosen(form, tmp_path):
    choose(form, "L")
    one = tmp_path / "one.pdb"
    one.write_text("\n".join(line for line in Path(FV).read_text().splitlines() if line[21:22] != "L"))
    form.fields["target"].render(str(one))
    (box,) = form.fields["chain"].widget.children
    assert [text for text, _ in box.options][1:] == ["H · protein, 120 residues", "L (not in one.pdb)"]
    assert "one.pdb has no chain 'L'. It has: H." in said(form, "chain")
    assert form.value["chain"] == "L"


def test_without_a_structure_a_chain_is_typed(form):
    choose(form, "H")
    form.set(target=None)
    (box,) = form.fields["chain"].widget.children
    assert box.value == "H"
    assert not hasattr(box, "options")
    box.value = "X"
    assert form.value == {"chain": "X"}
    assert form.problems == ()


def test_a_chain_that_the_structure_lacks_is_reported(form):
    form.set(chain="X")
    assert "trastuzumab-fv.pdb has no chain 'X'. It has: H, L." in said(form, "chain")
    assert [problem.field for problem in form.problems] == ["chain"]


def test_chains_are_ticked_or_typed(form):
    field = form.fields["chains"]
    assert [box.description for box in field.ticks.boxes.values()] == [
        "H · protein, 120 residues",
        "L · protein, 107 residues",
    ]
    field.ticks.boxes["L"].value = True
    field.ticks.boxes["H"].value = True
    assert field.control.value == "L, H"
    assert "2 chains, 227 residues" in said(form, "chains")
    field.control.value = "H L"
    assert form.value["chains"] == ["H L"]
    field.ticks.boxes["H"].value = False
    assert form.value["chains"] == ["L"]
    field.control.value = "H, Q"
    assert "has no chain 'Q'" in said(form, "chains")


def test_pasted_contents_also_offer_their_chains(form):
    form.set(target=Path(FV).read_text())
    form.set(chain="Z")
    assert "The pasted structure has no chain" in said(form, "chain")
    assert list(form.fields["chains"].ticks.boxes) == ["H", "L"]


def test_ranges_of_residues_are_written_out_as_the_file_numbers_them(form):
    form.fields["map"].control.value = "H: 27-38, 105\nL: 50"
    assert form.value["map"] == {"H": "27 28 29 30 35 36 37 38 105", "L": "50"}
    assert "H: 9 residues, GFNIKDTYS; L: 1 residue" in said(form, "map")
    assert form.problems == ()


def test_residues_that_a_chain_lacks_are_reported(form):
    form.fields["map"].control.value = "H: 105 200"
    assert "Chain H of trastuzumab-fv.pdb has no residue 200. It has 1 to 128." in said(form, "map")
    form.fields["map"].control.value = "A: 1"
    assert "has no chain" in said(form, "map")
    form.fields["map"].control.value = "H: 38-27"
    assert "is in descending order" in said(form, "map")


def test_cdrs_are_offered_where_the_numbering_shows_its_scheme(form):
    boxes = form.fields["map"].ticks.boxes
    labels = {box.description: box for box in boxes.values()}
    labels["H CDR-3 · 105 to 117 (IMGT)"].value = True
    assert form.value["map"] == {"H": "105 106 107 108 109 110 111 112 113 114 115 116 117"}
    assert "SRWGGDGFYAMDY" in said(form, "map")
    labels["L CDR-3 · 105 to 117 (IMGT)"].value = True
    labels["H CDR-3 · 105 to 117 (IMGT)"].value = False
    assert list(form.value["map"]) == ["L"]


def test_residues_of_one_chain_belong_to_the_chain_that_is_chosen(form):
    form.set(chain="L")
    form.fields["residues"].widget.value = "105-109"
    assert form.value["residues"] == "105 106 107 108 109"
    assert "5 residues, QQHYT" in said(form, "residues")
    form.fields["residues"].widget.value = "900"
    assert "Chain L of trastuzumab-fv.pdb has no residue 900" in said(form, "residues")


def test_setting_a_form_with_a_structure_to_its_own_value_changes_nothing(form):
    form.set(chain="H", chains=["H", "L"], residues="26-28", map={"H": "105-107"})
    value = form.value
    form.set(value)
    assert form.value == value
    assert value["map"] == {"H": "105 106 107"}


def test_a_free_amino_acid_after_the_end_of_a_chain_is_none_of_its_residues(tmp_path):
    lines = Path(FV).read_text().splitlines()
    last = max(index for index, line in enumerate(lines) if line.startswith("ATOM") and line[21] == "L")
    free = [
        f"ATOM  {serial:5d}  {name:<3} GLU L 301    {80.0 + x:8.3f}  80.000  80.000  1.00 50.00           {name[0]}"
        for serial, (name, x) in enumerate((("N", 0.0), ("CA", 1.46), ("C", 2.5), ("O", 3.5)), start=9001)
    ]
    path = tmp_path / "free.pdb"
    path.write_text("\n".join([*lines[: last + 1], "TER", *free, "END", ""]))
    assert find_outline(str(path)).words == "2 chains: H 120, L 107 residues, 1 ligand"


def test_what_is_read_of_a_structure(tmp_path):
    outline = find_outline(FV)
    assert outline.words == "2 chains: H 120, L 107 residues"
    large = tmp_path / "large.pdb"
    large.write_text(
        "".join(
            f"ATOM  {i:5d}  CA  ALA A{i:4d}    {i:8.3f}   0.000   0.000  1.00 50.00           C\n"
            for i in range(1, 1235)
        )
    )
    assert find_outline(str(large)).words == "1 chain: A 1,234 residues"
    assert find_outline("elsewhere.pdb") is None
    assert find_outline(FV, uploads=[FV]) is None
    nameless = tmp_path / "nameless.pdb"
    nameless.write_text("\n".join(f"{line[:21]} {line[22:]}" for line in Path(FV).read_text().splitlines()))
    assert find_outline(str(nameless)).chains == ()
    broken = tmp_path / "broken.cif"
    broken.write_text("data_x\nloop_\n_atom_site.id\n'")
    assert find_outline(str(broken)) is None


def test_pyroglutamate_is_glutamine_in_a_form_as_in_results(tmp_path):
    place = tmp_path / "pyroglutamate.pdb"
    first = "HETATM    1  CA  PCA H   1       0.000   0.000   0.000  1.00  0.00           C\n"
    second = "ATOM      2  CA  VAL H   2       3.800   0.000   0.000  1.00  0.00           C\n"
    place.write_text(f"{first}{second}END\n")
    assert find_outline(str(place)).chains[0].letters == "QV"


def test_the_names_of_force_fields_are_known_to_a_form(tmp_path):
    """Names of AMBER and CHARMM; CDRs are found by their cysteines and tryptophans."""
    text = Path(FV).read_text()
    for name, other in (("CYS", "CYX"), ("HIS", "HIE"), ("ASP", "ASH"), ("LYS", "LYN")):
        text = text.replace(f" {name} ", f" {other} ")
    prepared, plain = find_outline(text), find_outline(FV)
    assert "CYX H" in text
    assert [(chain.label, chain.letters) for chain in prepared.chains] == [
        (chain.label, chain.letters) for chain in plain.chains
    ]
    assert [chain.stretches for chain in prepared.chains] == [chain.stretches for chain in plain.chains]
    assert all(chain.stretches for chain in prepared.chains)


def test_chains_of_a_list_of_structures_are_those_that_all_have():
    outline = find_outline([FV, FV])
    assert outline.name == "all 2 structures"
    assert [chain.name for chain in outline.chains] == ["H", "L"]


@pytest.mark.parametrize(
    ("text", "residues"),
    [
        ("26 27 52A", ("26", "27", "52A")),
        ("26-28,30", ("26", "27", "28", "30")),
        ("-3--1", ("-3", "-2", "-1")),
        ("3 - 5", ("3", "4", "5")),
        ("7 7", ("7",)),
    ],
)
def test_residues_are_read_as_people_write_them(text, residues):
    assert read_residues(text).residues == residues


@pytest.mark.parametrize("text", ["x", "5-1", "52A-52C", "1-99999"])
def test_text_without_residues_is_reported(text):
    assert read_residues(text).fault


def kabat_numbers(chain):
    """Return Kabat's numbers of trastuzumab's chains (Kabat et al. 1991)."""
    if chain == "L":
        return [str(number) for number in range(1, 108)]
    inserted = {52: "A", 82: "ABC", 100: "ABC"}
    return [f"{number}{code}" for number in range(1, 114) for code in ("", *inserted.get(number, ""))]


def write_in_kabat(path):
    structure = gemmi.read_structure(FV)
    for chain in structure[0]:
        for residue, number in zip(chain, kabat_numbers(chain.name), strict=True):
            residue.seqid = gemmi.SeqId(int(number.rstrip("ABC")), number.lstrip("0123456789") or " ")
    structure.write_pdb(str(path))


def test_the_cdrs_of_a_structure_in_kabats_numbering_are_offered_and_ticked(tmp_path):
    write_in_kabat(tmp_path / "kabat.pdb")
    form = make_form(PROPERTIES, target=str(tmp_path / "kabat.pdb"))
    boxes = {box.description: box for box in form.fields["map"].ticks.boxes.values()}
    assert list(boxes) == [
        "H CDR-H1 · 31 to 35 (Kabat)",
        "H CDR-H2 · 50 to 65 (Kabat)",
        "H CDR-H3 · 95 to 102 (Kabat)",
        "L CDR-L1 · 24 to 34 (Kabat)",
        "L CDR-L2 · 50 to 56 (Kabat)",
        "L CDR-L3 · 89 to 97 (Kabat)",
    ]
    boxes["H CDR-H3 · 95 to 102 (Kabat)"].value = True
    boxes["L CDR-L3 · 89 to 97 (Kabat)"].value = True
    assert "H: 11 residues, WGGDGFYAMDY" in said(form, "map")
    assert "L: 9 residues, QQHYTTPPT" in said(form, "map")
    assert form.value["map"]["H"].split()[5:9] == ["100", "100A", "100B", "100C"]


def test_a_chain_numbered_from_one_is_not_taken_for_kabat_numbering(tmp_path):
    structure = gemmi.read_structure(FV)
    for chain in structure[0]:
        for number, residue in enumerate(chain, 1):
            residue.seqid = gemmi.SeqId(str(number))
    structure.write_pdb(str(tmp_path / "counted.pdb"))
    form = make_form(PROPERTIES, target=str(tmp_path / "counted.pdb"))
    names = [box.description for box in form.fields["map"].ticks.boxes.values()]
    assert all(name.startswith("L ") for name in names)


def make_pdb(*residues):
    """Return a PDB with one atom for each (chain, number with insertion code), at different positions."""
    return "".join(
        f"ATOM  {i:5d}  CA  ALA {chain}{number:>5}   {i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
        for i, (chain, number) in enumerate(residues, 1)
    )


def test_upper_and_lower_case_are_two_chains():
    form = make_form(PROPERTIES, target=make_pdb(("a", "1 "), ("A", "1 ")), chain="b", chains=["a", "A"])
    assert "The pasted structure has no chain 'b'. It has: a, A." in said(form, "chain")
    assert "2 chains, 2 residues" in said(form, "chains")


def test_of_several_models_the_first_has_the_chains():
    one, two = make_pdb(("A", "1 ")), make_pdb(("A", "1 "), ("B", "1 "))
    text = f"MODEL        1\n{one}ENDMDL\nMODEL        2\n{two}ENDMDL\n"
    form = make_form(PROPERTIES, target=text, chain="B")
    assert "1 chain: A 1 residue" in said(form, "target")
    assert "has no chain 'B'. It has: A." in said(form, "chain")


def test_chains_without_a_name_are_reported_and_not_offered():
    form = make_form(PROPERTIES, target=make_pdb((" ", "1 "), ("A", "2 ")))
    assert "1 chain: A 1 residue, 1 chain without a name" in said(form, "target")
    unnamed = make_form(PROPERTIES, target=make_pdb((" ", "1 "), (" ", "2 ")), chain="A")
    assert "; 1 chain without a name" in said(unnamed, "target")
    assert "no chain" not in said(unnamed, "chain")


def test_mmcif_has_the_chains_of_the_authors_also_after_the_comment_that_pymol_begins_with():
    structure = gemmi.read_pdb_string(make_pdb(("H", "52 "), ("H", "52A"), ("L", "1 ")))
    structure.setup_entities()
    structure[0][0].name = "Heavy"
    text = "# generated by PyMOL 3.1\n#\n" + structure.make_mmcif_document().as_string()
    form = make_form(PROPERTIES, target=text, chain="Heavy", residues="52-52A", chains=["Hxp"])
    assert "2 chains: Heavy 2, L 1 residues" in said(form, "target")
    assert form.value["residues"] == "52 52A"
    assert "has no chain 'Hxp'. It has: Heavy, L." in said(form, "chains")


def write_residue(chain, number, name, x, *, record="ATOM", atoms=("N", "CA", "C")):
    """Return one residue whose atoms are 1.4 Å apart on a line."""
    return "".join(
        f"{record:6}    1  {atom:<3} {name:<3} {chain}{number:4d}    {x + 1.4 * place:8.3f}{0:8.3f}{0:8.3f}"
        f"  1.00  0.00          {atom[0]:>2}\n"
        for place, atom in enumerate(atoms)
    )


def write_chain(chain, names, *, record="ATOM", step=4.2):
    """Return a chain whose residues are this step (Å) apart, which decides whether they are bonded."""
    return "".join(
        write_residue(chain, number, name, number * step, record=record)
        for number, name in enumerate(names.split(), start=1)
    )


PROTEIN = write_chain("A", "ALA GLY SER LEU")
MODIFIED = write_chain("A", "PCA VAL GLN MSE LEU", record="HETATM")
BESIDE = {
    "waters as ATOM": (write_residue("W", 1, "HOH", 40, atoms=("O",)), "W · water, 1 residue", "1 water"),
    "waters of GROMACS": (
        write_residue("W", 1, "SOL", 40, atoms=("OW", "HW1", "HW2")),
        "W · water, 1 residue",
        "1 water",
    ),
    "ions as ATOM": (write_residue("W", 1, "MG", 40, atoms=("MG",)), "W · ligands, 1 residue", "1 ion"),
    "a ligand as ATOM": (
        write_residue("W", 1, "LIG", 40, atoms=("C1", "C2", "O1")),
        "W · ligands, 1 residue",
        "1 ligand",
    ),
    "free amino acids": (
        write_chain("W", "GLU GLY", record="HETATM", step=20),
        "W · ligands, 2 residues",
        "2 ligands",
    ),
    "a bound peptide": (write_chain("W", "ALA GLY", record="HETATM"), "W · protein, 2 residues", ""),
}


@pytest.mark.parametrize(("text", "label", "others"), BESIDE.values(), ids=BESIDE)
def test_what_is_beside_a_protein_is_what_its_atoms_say(text, label, others):
    outline = find_outline(PROTEIN + text + "END\n")
    assert [chain.label for chain in outline.chains] == ["A · protein, 4 residues", label]
    chains = "2 chains: A 4, W 2 residues" if "protein" in label else "1 chain: A 4 residues"
    assert outline.words == ", ".join(filter(None, (chains, others)))


def test_modified_residues_of_a_chain_are_a_part_of_it_and_a_free_one_is_not():
    (chain,) = find_outline(MODIFIED + write_residue("A", 301, "GLU", 90, record="HETATM") + "END\n").chains
    assert (chain.label, chain.letters) == ("A · protein, 5 residues", "QVQML")
