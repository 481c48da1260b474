"""Files of AMBER, CHARMM and GROMACS are read with their names of residues, waters, ions, sugars and lipids."""

from collections import Counter
from pathlib import Path

import gemmi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldnote.errors import UnreadableFileError
from foldnote.residue_names import find_letter, find_parent
from foldnote.results import Structure
from foldnote.results.structure.residues import find_role

DATA = Path(__file__).parent / "data"
FORCE_FIELDS = DATA / "forcefields"
RNA = (FORCE_FIELDS / "amber_rna.pdb").read_text()
BACKBONE = ("N", "CA", "C", "O")
PYRANOSE = ("C1", "C2", "C3", "C4", "C5", "O5")


def read(name: str) -> Structure:
    return Structure.open(FORCE_FIELDS / name)


def write_atom(
    number: int, name: str, residue: str, place: float, *, chain: str = " ", record: str = "ATOM"
) -> str:
    return (
        f"{record:6}    1  {name:<3} {residue:<4}{chain}{number % 10000:4d}    {place:8.3f}{0.0:8.3f}{0.0:8.3f}"
        "  1.00  0.00\n"
    )


def write_residues(names: str, *, first: int = 1, chain: str = " ", record: str = "ATOM") -> str:
    return "".join(
        write_atom(number, atom, residue, 3.8 * number + 0.9 * k, chain=chain, record=record)
        for number, residue in enumerate(names.split(), first)
        for k, atom in enumerate(BACKBONE)
    )


def make_residue(name: str, atoms: tuple[str, ...]) -> gemmi.Residue:
    residue = gemmi.Residue()
    residue.name = name
    for each in atoms:
        atom = gemmi.Atom()
        atom.name = each
        residue.add_atom(atom)
    return residue


def test_a_solvated_protein_of_charmm():
    structure = read("charmm_solvated.pdb")

    assert [(c.kind, c.sequence) for c in structure.chains] == [("protein", "MLS")]
    assert Counter((each.name, each.kind) for each in structure.ligands) == {
        ("POT", "ion"): 2,
        ("CLA", "ion"): 2,
    }
    assert (structure.waters, structure.water_names) == (4, ("TIP3",))
    elements = structure.to_frame().query("residue in ['POT', 'CLA']")["element"]
    assert Counter(elements) == {"K": 2, "Cl": 2}


def test_a_protein_of_amber_with_its_caps_and_histidines():
    (chain,) = read("amber_protein.pdb").chains

    assert (chain.kind, chain.sequence[:5]) == ("protein", "XTHHH")
    assert chain.sequence.endswith("X")
    assert read("amber_protein.pdb").ligands == ()


def test_lipids_ions_and_waters_of_amber():
    structure = read("amber_lipid.pdb")

    assert structure.chains == ()
    assert [(each.name, each.kind) for each in structure.ligands] == [
        ("OL", "lipid"), ("PC", "lipid"), ("K+", "ion"), ("Cl-", "ion"),
    ]  # fmt: skip
    assert structure.waters == 2
    assert set(structure.to_frame()["kind"]) == {"lipid", "ligand", "water"}


@pytest.mark.parametrize("names", ["  C   U", " RC  RU", "RC5 RU3", "CYT URA", " C5  U3"])
def test_rna_under_every_name(names):
    text = RNA.replace("  C A", f"{names[:3]} A").replace("  U A", f"{names[-3:]} A")

    (chain,) = Structure("rna.pdb", "pdb", text).chains

    assert (chain.kind, chain.sequence) == ("RNA", "CCU")


def test_nucleotides_without_their_hydroxyl_are_dna():
    text = "".join(line for line in RNA.splitlines(keepends=True) if "O2'" not in line)

    (chain,) = Structure("dna.pdb", "pdb", text.replace("  C A", "CYT A").replace("  U A", "THY A")).chains

    assert (chain.kind, chain.sequence) == ("DNA", "CCT")


def test_ions_alone_are_not_a_chain():
    text = "".join(write_atom(number, "POT", "POT", 5.0 * number) for number in range(1, 23))

    structure = Structure("ions.pdb", "pdb", text)

    assert structure.chains == ()
    assert Counter(each.kind for each in structure.ligands) == {"ion": 22}


def test_a_single_sugar_among_atoms_is_not_a_chain():
    sugar = "".join(write_atom(1, name, "NAG", 1.4 * k, chain="B") for k, name in enumerate(PYRANOSE))

    structure = Structure("sugar.pdb", "pdb", write_residues("ALA GLY SER", chain="A") + sugar)

    assert [chain.name for chain in structure.chains] == ["A"]
    assert [(each.name, each.kind) for each in structure.ligands] == [("NAG", "glycan")]


def test_a_ligand_without_backbone_is_not_part_of_the_chain_it_is_written_in():
    ligand = "".join(write_atom(4, f"C{k}", "LIG", 50 + 1.4 * k, chain="A") for k in range(1, 7))

    structure = Structure("complex.pdb", "pdb", write_residues("ALA GLY SER", chain="A") + ligand)

    assert [chain.sequence for chain in structure.chains] == ["AGS"]
    assert [each.name for each in structure.ligands] == ["LIG"]


def test_an_unknown_residue_with_a_backbone_stays_in_its_chain():
    (chain,) = Structure("odd.pdb", "pdb", write_residues("ALA ZZZ SER", chain="A")).chains

    assert chain.sequence == "AXS"


def test_a_polymer_of_another_kind_is_other():
    document = gemmi.cif.read(str(DATA / "altloc.cif"))
    structure = gemmi.make_structure_from_block(document.sole_block())
    residue = structure[0][0][0]
    residue.name = "XXX"
    for atom in residue:
        atom.name = f"Q{atom.name}"[:4]
    structure.setup_entities()
    structure.entities[0].entity_type = gemmi.EntityType.Polymer
    structure.entities[0].polymer_type = gemmi.PolymerType.Other
    text = structure.make_mmcif_document().as_string()

    assert [chain.kind for chain in Structure("other.cif", "mmcif", text).chains] == ["other"]


def test_a_second_copy_with_the_same_numbers_is_a_second_copy():
    copy = write_residues("ALA GLY SER LEU")

    structure = Structure("dimer.pdb", "pdb", copy + "TER\n" + copy)

    assert [chain.sequence for chain in structure.chains] == ["AGSLAGSL"]
    assert len(structure.to_frame()) == 32


@pytest.mark.parametrize("chain", [" ", "W"])
def test_waters_are_counted_beyond_the_last_number(chain):
    sites = (("OW", 0.0), ("HW1", 0.6), ("HW2", 1.2))
    text = "".join(
        write_atom(number, name, "SOL", number / 20 + x, chain=chain)
        for number in range(10_050)
        for name, x in sites
    )

    assert Structure("box.pdb", "pdb", text).waters == 10_050


def test_four_letter_names_are_not_chain_names():
    text = write_residues("NALA LYSH CLEU", chain="P") + write_residues("POPC", first=4, chain="M")

    structure = Structure("names.pdb", "pdb", text + write_atom(5, "OH2", "TIP3", 90, chain="M"))

    assert [(chain.name, chain.sequence) for chain in structure.chains] == [("P", "AKL")]
    assert [(each.name, each.kind, each.chain) for each in structure.ligands] == [("POPC", "lipid", "M")]
    assert structure.water_names == ("TIP3",)


def test_two_letter_chain_names_are_not_residue_names():
    lines = write_residues("HIS ALA LYS", chain="A").splitlines(keepends=True)
    text = "".join(f"{line[:20]}B{line[21:]}" for line in lines)

    (chain,) = Structure("chains.pdb", "pdb", text).chains

    assert (chain.name, chain.sequence) == ("BA", "HAK")


@pytest.mark.parametrize("names", ["GLU", "GLU ASP", "GLU HOH"])
def test_free_amino_acids_after_ter_are_ligands_as_for_gemmi(names):
    """They are written as ATOM in the chain of their protein, and were invisible in its cartoon."""
    free = "".join(write_residues(name, first=300 + 10 * k) for k, name in enumerate(names.split()))
    text = write_residues("ALA GLY VAL SER") + "TER\n" + free
    found = gemmi.read_pdb_string(text)
    found.setup_entities()
    kinds = {residue.name: residue.entity_type for residue in found[0][0]}
    structure = Structure("bound.pdb", "pdb", text)
    acids = [name for name in names.split() if name != "HOH"]
    assert [kinds[name] for name in acids] == [gemmi.EntityType.NonPolymer] * len(acids)
    assert [ligand.name for ligand in structure.ligands] == acids
    assert [chain.sequence for chain in structure.chains] == ["AGVS"]


def test_a_second_protein_after_ter_is_not_a_ligand():
    text = write_residues("NALA HIE CLEU") + "TER\n" + write_residues("NGLY CYX CVAL", first=4)

    structure = Structure("two.pdb", "pdb", text)

    assert [chain.sequence for chain in structure.chains] == ["AHLGCV"]
    assert structure.ligands == ()


@pytest.mark.parametrize(
    ("name", "atoms", "role"),
    [
        ("CLA", ("CLA",), "ion"), ("CLA", ("MG", "CHA", "CHB", "NA"), ""), ("ADE", ("N9", "C8", "N7"), ""),
        ("ADE", ("P", "C1'", "C2'", "O2'"), "RNA"), ("ADE", ("P", "C1'", "C2'"), "DNA"), ("ZN2", ("ZN",), "ion"),
        ("SOL", ("OW", "HW1", "HW2", "MW"), "water"), ("SOL", ("C1", "C2", "O1"), ""), ("4YB", PYRANOSE, "glycan"),
        ("1MA", PYRANOSE, "glycan"), ("POPC", ("N", "P", "C1"), "lipid"), ("DOC", ("N", "P", "C11"), ""),
        ("HISD", BACKBONE, "protein"), ("NHE", ("N",), "cap"), ("Eu3", ("EU",), "ion"), ("LIG", ("C1",), ""),
    ],
)  # fmt: skip
def test_the_atoms_settle_names_of_two_meanings(name, atoms, role):
    assert find_role(make_residue(name, atoms)) == role


@pytest.mark.parametrize(
    ("name", "parent", "letter"),
    [
        ("HIE", "HIS", "H"), ("NHID", "HIS", "H"), ("CYX", "CYS", "C"), ("CCYX", "CYS", "C"), ("ASH", "ASP", "D"),
        ("GLH", "GLU", "E"), ("LYN", "LYS", "K"), ("LYSH", "LYS", "K"), ("DALA", "ALA", "A"), ("RA5", "A", "A"),
        ("DT3", "DT", "T"), ("GUA", "G", "G"), ("MSE", "MSE", "M"), ("DGN", "DGN", "Q"), ("ZZZ", "ZZZ", "X"),
        ("PCA", "PCA", "Q"), ("PGLU", "PCA", "Q"),
    ],
)  # fmt: skip
def test_parents_and_letters(name, parent, letter):
    assert (find_parent(name), find_letter(name)) == (parent, letter)


NAMES = st.sampled_from(
    [
        "ALA",
        "HIE",
        "HSD",
        "NALA",
        "CYX",
        "MSE",
        "ZZZ",
        "NAG",
        "4YB",
        "A",
        "DA",
        "RA5",
        "GUA",
        "URA",
        "ACE",
        "NME",
        "SOL",
        "TIP3",
        "HOH",
        "POT",
        "CLA",
        "NA",
        "LIG",
        "POPC",
    ]
)
ATOMS = st.sampled_from(["N", "CA", "C", "O", "P", "C1'", "O2'", "C1", "O5", "OW", "CLA", "POT", "ZN", "*"])
COORDINATES = st.one_of(
    st.floats(-999, 999), st.sampled_from([float("nan"), float("inf"), 9999.999, 0.0])
).map(lambda value: f"{value:8.3f}"[:8])
LINES = st.builds(
    lambda record, atom, name, chain, number, x: (
        f"{record:6}    1  {atom:<3} {name:<4}{chain}{number:4d}    {x}   0.000   0.000  1.00  0.00\n"
    ),
    st.sampled_from(["ATOM", "HETATM"]), ATOMS, NAMES, st.sampled_from(" AB"), st.integers(-9, 40), COORDINATES,
)  # fmt: skip


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.lists(st.one_of(LINES, st.just("TER\n")), min_size=1, max_size=40))
def test_every_atom_is_in_one_of_the_kinds_whatever_the_names(lines):
    atoms = sum(line[:3] != "TER" for line in lines)
    structure = Structure("any.pdb", "pdb", "".join(lines))
    if not atoms:
        with pytest.raises(UnreadableFileError, match="no atoms"):
            _ = structure.chains
        return

    frame = structure.to_frame()

    assert len(frame) == atoms
    assert set(frame["kind"]) <= {"polymer", "ligand", "glycan", "lipid", "water"}
    residues = frame.groupby("kind").size()
    assert (residues.get("polymer", 0) > 0) == bool(structure.chains)
    assert (residues.get("water", 0) > 0) == (structure.waters > 0)
    assert all(len(chain.sequence) == len(chain.numbers) for chain in structure.chains)
    assert {chain.kind for chain in structure.chains} <= {"protein", "DNA", "RNA", "DNA/RNA hybrid", "other"}


CIF_NAMES = st.one_of(NAMES, st.text("AKNP+-'\"*_ 1#", min_size=1, max_size=6).map(str.strip).filter(bool))
CIF_ROWS = st.tuples(
    st.sampled_from(["ATOM", "HETATM"]),
    ATOMS,
    CIF_NAMES,
    st.sampled_from(["A", "BB", "."]),
    st.integers(-9, 40),
)
COLUMNS = [
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


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(st.lists(CIF_ROWS, min_size=1, max_size=30))
def test_names_in_mmcif_are_kept_and_every_atom_is_in_one_of_the_kinds(rows):
    block = gemmi.cif.Block("x")
    loop = block.init_loop("_atom_site.", COLUMNS)
    for place, (record, atom, name, chain, number) in enumerate(rows, 1):
        quoted = [gemmi.cif.quote(word) for word in (atom, name)]
        loop.add_row(
            [record, str(place), "C", quoted[0], ".", quoted[1], chain, ".", ".", f"{place}.5", "0", "0", "1", "0",
             str(number), chain]
        )  # fmt: skip
    structure = Structure("any.cif", "mmcif", block.as_string())

    frame = structure.to_frame()

    assert len(frame) == len(rows)
    assert set(frame["residue"]) == {name for _, _, name, _, _ in rows}
    assert set(frame["kind"]) <= {"polymer", "ligand", "glycan", "lipid", "water"}
    assert ((frame["kind"] == "polymer").any()) == bool(structure.chains)
    assert ((frame["kind"] == "water").any()) == (structure.waters > 0)
