"""Every structure and molecule format gives the same kind of data."""

import gzip
import io

import gemmi
import msgpack
import numpy as np
import pandas as pd
import pytest
from rdkit import Chem
from rdkit.Chem import Descriptors
from result_archives import DATA, write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure, open_result
from foldnote.results.molecules.mol2 import read_mol2
from foldnote.results.molecules.molfile import read_sdf
from foldnote.results.molecules.pdbqt import read_pdbqt


def read(reader, name):
    return reader((DATA / name).read_bytes(), name)


def test_binarycif_gives_the_coordinates_that_another_reader_gives():
    frame = Structure.open(DATA / "trp_cage_two_models.bcif").to_frame()
    expected = pd.read_csv(DATA / "trp_cage_two_models.csv")

    assert frame["model"].value_counts().to_dict() == {1: 154, 2: 154}
    assert np.allclose(frame[["x", "y", "z"]], expected, atol=5e-4)


def test_binarycif_has_chains_and_secondary_structure():
    structure = Structure.open(DATA / "trp_cage_two_models.bcif")

    assert structure.models == 2
    assert structure.chains[0].sequence == "NLYIQWLKDGGPSSGRPPPS"
    assert structure.secondary["helix"] > 0.3
    assert structure.plddt is None


def test_alternate_locations_are_rows_of_their_own_and_one_residue():
    structure = Structure.open(DATA / "altloc.cif")
    frame = structure.to_frame()

    assert set(frame["altloc"]) == {"A", "B", "C"}
    assert structure.chains[0].sequence == "S"


def test_insertion_codes_stay_in_the_numbers():
    (chain,) = Structure.open(DATA / "glycan_insertion_codes.pdb").chains

    assert chain.numbers[:5] == ("82", "82A", "82B", "82C", "83")


def test_a_glycan_is_distinguished_from_the_protein():
    structure = Structure.open(DATA / "glycan_insertion_codes.pdb")
    sugars = [ligand.name for ligand in structure.ligands]

    assert sugars[:2] == ["NAG", "NDG"]
    assert {ligand.kind for ligand in structure.ligands} == {"glycan"}
    assert structure.to_frame()["kind"].value_counts().to_dict() == {"glycan": 110, "polymer": 43}


def test_nucleic_acids_and_waters_are_distinguished():
    structure = Structure.open(DATA / "dna_waters.pdb")

    assert [(c.kind, c.sequence) for c in structure.chains] == [("DNA", "CGC"), ("DNA", "GCG")]
    assert structure.waters == 4
    assert structure.secondary == {}


def test_the_frame_has_the_documented_columns_and_types():
    frame = Structure.open(DATA / "dna_waters.pdb").to_frame()

    assert list(frame.columns[:7]) == ["model", "chain", "number", "residue", "atom", "element", "altloc"]
    assert frame["model"].dtype == "int64"
    assert frame["b_factor"].dtype == "float64"
    assert set(frame["kind"]) == {"polymer", "water"}


def test_biotite_gets_the_same_atoms():
    pytest.importorskip("biotite", reason="biotite is an optional package")
    structure = Structure.open(DATA / "trp_cage_two_models.bcif")
    stack = structure.to_biotite()

    assert stack.shape == (2, 154)
    assert np.allclose(stack.coord[1], structure.to_frame().query("model == 2")[["x", "y", "z"]], atol=1e-3)


def test_biotite_gets_the_file_s_names_and_numbers_of_chains_and_residues():
    pytest.importorskip("biotite", reason="biotite is an optional package")
    structure = Structure.open(DATA / "complexes" / "5zng.pdb.gz")
    atoms, frame = structure.to_biotite(), structure.to_frame()

    assert set(zip(atoms.chain_id, map(str, atoms.res_id), strict=True)) == set(
        zip(frame["chain"], frame["number"], strict=True)
    )


def test_models_that_differ_are_given_to_biotite_one_by_one():
    pytest.importorskip("biotite", reason="biotite is an optional package")
    parsed = Structure.open(DATA / "trp_cage_two_models.bcif").to_gemmi()
    del parsed[1]["A"][0]
    structure = Structure("x.pdb", "pdb", parsed.make_pdb_string())

    with pytest.raises(UnreadableFileError, match="model=1"):
        structure.to_biotite()
    assert len(structure.to_biotite(model=1)) == 154


@pytest.mark.parametrize(
    "damage", [lambda data: data, lambda data: data[:-5], lambda data: data[:8] + b"\xff" * 40]
)
def test_zstandard_is_read_or_reported(tmp_path, damage):
    zstandard = pytest.importorskip("zstandard", reason="zstandard is an optional package")
    whole = (DATA / "tyr.sdf").read_bytes()
    data = damage(zstandard.ZstdCompressor().compress(whole))
    result = open_result(write_zip(tmp_path / "r.zip", {"tyr.sdf.zst": data}))

    try:
        assert result.read("tyr.sdf.zst") == whole
    except UnreadableFileError as exc:
        assert "damaged" in exc.message


def test_both_names_of_the_gemmi_structure_work():
    structure = Structure.open(DATA / "altloc.cif")

    assert structure.gemmi[0].count_atom_sites() == structure.to_gemmi()[0].count_atom_sites()


@pytest.mark.parametrize("name", ["tyr.sdf", "tyr_v3000.sdf"])
def test_both_versions_of_sdf_are_the_same_molecule(name):
    (molecule,) = read(read_sdf, name).molecules

    assert (molecule.formula, molecule.heavy_atoms, len(molecule.bonds)) == ("C9H11NO3", 13, 24)
    assert molecule.bonds["order"].value_counts().to_dict() == {1.0: 20, 2.0: 4}
    assert molecule.coordinates[0] == pytest.approx([1.320, 0.952, 1.428], abs=1e-3)


def test_formal_charges_are_read():
    (molecule,) = read(read_sdf, "hwb_charged.sdf").molecules

    assert molecule.atoms["charge"].sum() == 1


@pytest.mark.parametrize(
    ("text", "value"), [("2021_0034", "2021_0034"), ("1_0.5", "1_0.5"), (" -7.5 ", -7.5)]
)
def test_an_identifier_with_underscores_is_not_a_number(text, value):
    record = (DATA / "tyr.sdf").read_text().partition("$$$$")[0]
    (molecule,) = read_sdf(f"{record}> <id>\n{text}\n\n$$$$\n".encode(), "a.sdf").molecules
    assert molecule.properties["id"] == value


@pytest.mark.parametrize("symbol", ["D", "H"])
def test_deuterium_is_counted_apart_however_it_is_written(symbol):
    isotope = "M  ISO  1   2   2\n" if symbol == "H" else ""
    atoms = "".join(f"{x:10.4f}    0.0000    0.0000 {e:3s} 0  0\n" for x, e in [(0, "O"), (1, symbol)])
    block = f"heavy\n\n\n  2  1  0  0  0  0            999 V2000\n{atoms}  1  2  1  0\n{isotope}M  END\n"

    assert read_sdf(block.encode(), "x.sdf").molecules[0].formula == "DHO"


def test_mol2_with_atom_types_of_other_programs_is_read():
    data = (DATA / "benzene.mol2").read_bytes().replace(b" C.ar ", b" CL   ", 1)

    assert read_mol2(data, "x.mol2").molecules[0].formula == "C5H6Cl"


def test_mol2_with_gaff_types_has_the_elements_of_its_atoms():
    types = [b"c3", b"ho", b"os", b"cl", b"br", b"nh"]
    data = (DATA / "benzene.mol2").read_bytes()
    for each in types:
        data = data.replace(b" C.ar ", b" %-4s " % each, 1)
    (molecule,) = read_mol2(data, "x.mol2").molecules
    assert molecule.formula == "CH7BrClNO"
    assert not any(each.decode() in molecule.text.split() for each in types)  # viewers read the text


def test_mol2_has_aromatic_bonds_and_partial_charges():
    (benzene,) = read(read_mol2, "benzene.mol2").molecules

    assert benzene.formula == "C6H6"
    assert (benzene.bonds["order"] == 1.5).sum() == 6
    assert benzene.atoms["charge"].sum() == pytest.approx(0, abs=1e-6)


def test_pdbqt_types_become_elements():
    found = read(read_pdbqt, "vina_poses.pdbqt").molecules

    assert set(found[0].atoms["element"]) == {"C", "H", "N", "O"}
    assert found[0].properties["affinity"] == -13.234


@pytest.mark.parametrize(
    ("name", "chain"), [("tyr.sdf", "A"), ("benzene.mol2", "A"), ("vina_poses.pdbqt", "A")]
)
def test_a_molecule_also_opens_as_a_structure(name, chain):
    structure = Structure.open(DATA / name)

    assert structure.ligands[0].chain == chain
    assert structure.chains == ()


def test_a_damaged_record_costs_only_itself(tmp_path):
    good = (DATA / "tyr.sdf").read_text().split("$$$$")[0]
    sdf = f"{good}> <QED>\n0.5\n\n$$$$\nbroken\n\n\n  9  9  0 V2000\n$$$$\n{good}> <QED>\n0.7\n\n$$$$\n"
    result = open_result(write_zip(tmp_path / "r.zip", {"ligands.sdf": sdf}))

    assert [molecule.index for molecule in result.molecules["ligands.sdf"]] == [0, 2]
    assert "Record 2 of ligands.sdf" in result.problems[0].message
    assert result.tables["ligands.sdf"]["QED"].tolist() == [0.5, 0.7]


def test_a_receptor_is_not_a_small_molecule(tmp_path):
    line = "ATOM      1  N   ASN A   1      -8.901   4.127  -0.555  1.00  0.00    -0.066 N \n"
    result = open_result(write_zip(tmp_path / "r.zip", {"receptor.pdbqt": line * 3}))

    assert list(result.molecules) == []


@pytest.mark.parametrize("name", ["tyr.sdf", "benzene.mol2", "altloc.cif", "trp_cage_two_models.bcif"])
def test_every_format_is_read_packed(tmp_path, name):
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress((DATA / name).read_bytes()))

    assert Structure.open(tmp_path / f"{name}.gz").models >= 1


def test_a_structure_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(UnreadableFileError, match="cannot be read"):
        Structure.open(tmp_path / "absent.pdb")


def test_json_lines_are_a_table(tmp_path):
    text = '{"name": "a", "score": {"iptm": 0.5}}\n\n{"name": "b", "score": {"iptm": 0.75}}\n'
    result = open_result(write_zip(tmp_path / "r.zip", {"scores.jsonl": text}))

    assert result.tables["scores.jsonl"]["score.iptm"].tolist() == [0.5, 0.75]


def test_parquet_is_read_or_says_what_to_install(tmp_path):
    frame = pd.DataFrame({"iptm": [0.1, 0.2]})
    stream = io.BytesIO()
    try:
        frame.to_parquet(stream)
    except ImportError:
        result = open_result(write_zip(tmp_path / "r.zip", {"t.parquet": b"PAR1"}))
        with pytest.raises(UnreadableFileError, match="pip install pyarrow"):
            result.tables["t.parquet"]
    else:
        result = open_result(write_zip(tmp_path / "r.zip", {"t.parquet": stream.getvalue()}))
        assert result.tables["t.parquet"]["iptm"].tolist() == [0.1, 0.2]


def test_a_binary_cif_tells_that_its_b_factors_are_of_an_experiment(tmp_path):
    """Both formats of one entry have the same legend."""
    text = (DATA / "altloc.cif").read_text() + "\n_exptl.entry_id X\n_exptl.method 'X-RAY DIFFRACTION'\n"
    block = gemmi.cif.read_string(text).sole_block()
    integers = [{"kind": "ByteArray", "type": 3}]
    categories = []
    for name in ("_atom_site.", "_exptl."):
        table = block.find_mmcif_category(name)
        columns = [
            {
                "name": tag.removeprefix(name),
                "mask": {
                    "data": bytes({".": 1, "?": 2}.get(row[place], 0) for row in table),
                    "encoding": [{"kind": "ByteArray", "type": 4}],
                },
                "data": {
                    "data": np.arange(len(table), dtype="<i4").tobytes(),
                    "encoding": [
                        {
                            "kind": "StringArray",
                            "stringData": "".join(values),
                            "offsets": np.cumsum([0, *map(len, values)]).astype("<i4").tobytes(),
                            "offsetEncoding": integers,
                            "dataEncoding": integers,
                        }
                    ],
                },
            }
            for place, tag in enumerate(table.tags)
            if (values := [gemmi.cif.as_string(row[place]) for row in table])
        ]
        categories.append({"name": name[:-1], "rowCount": len(table), "columns": columns})
    path = tmp_path / "x.bcif"
    path.write_bytes(msgpack.packb({"dataBlocks": [{"header": "X", "categories": categories}]}))
    assert (
        Structure.open(path).b_column.meaning
        == Structure("x.cif", "mmcif", text).b_column.meaning
        == "b-factor"
    )


@pytest.mark.parametrize("name", ["TYR", "LIG"])
def test_the_description_of_a_component_is_a_ligand_with_all_tables(name):
    rows = "\n".join(f"{name} {atom} {atom[0]} 0 {x} 0.0 0.0" for x, atom in enumerate(("N", "CA", "C", "O")))
    tags = ["comp_id", "atom_id", "type_symbol", "charge", *(f"model_Cartn_{axis}" for axis in "xyz")]
    loop = "".join(f"_chem_comp_atom.{tag}\n" for tag in tags)
    structure = Structure(f"{name}.cif", "mmcif", f"data_{name}\n_chem_comp.id {name}\nloop_\n{loop}{rows}\n")
    assert [(one.name, one.kind, one.atoms) for one in structure.ligands] == [(name, "ligand", 4)]
    assert structure.geometry.empty
    assert structure.interfaces.empty


@pytest.mark.parametrize("last", ["", "END\n", "ENDMDL\nEND\n"])
def test_a_model_that_no_line_ends_ends_where_the_next_begins(tmp_path, last):
    row = "ATOM  {0:5d}  CA  ALA A{0:4d}    {1:8.3f}   0.000   0.000  1.00 20.00           C\n"
    models = ["".join(row.format(n, 3.8 * n + shift) for n in (1, 2, 3)) for shift in (0, 1)]
    path = tmp_path / "two.pdb"
    path.write_text(
        "REMARK   1\n" + "".join(f"MODEL        {n}\n{rows}" for n, rows in enumerate(models, 1)) + last
    )
    structure = Structure.open(path)
    assert (structure.models, len(structure.to_frame())) == (2, 6)
    assert structure.text.count("ENDMDL") == 1 + last.count("ENDMDL")
    ended = "".join(f"MODEL        {n}\r\n{rows}ENDMDL\r\n" for n, rows in enumerate(models, 1))
    path.write_bytes(ended.encode())
    assert Structure.open(path).text == ended


@pytest.mark.parametrize("field", [0, 1, 2])
def test_a_coordinate_too_wide_for_its_columns_is_not_read_as_0(tmp_path, field):
    places = ["   1.000", "   2.000", "   3.000"]
    places[field] = "********"
    rows = [
        f"ATOM  {n:5d}  C1* {name}   A{n:4d}    {''.join(xyz)}  1.00 20.00           C\n"
        for n, name, xyz in ((1, "A", ["   4.000"] * 3), (2, "G", places))
    ]
    (tmp_path / "md.pdb").write_text("REMARK * *\n" + rows[0])
    assert len(Structure.open(tmp_path / "md.pdb").to_frame()) == 1
    (tmp_path / "md.pdb").write_text("REMARK * *\n" + "".join(rows))
    with pytest.raises(UnreadableFileError, match="line 3 has a coordinate that is not a number"):
        Structure.open(tmp_path / "md.pdb").to_frame()


def test_entry_codes_and_line_numbers_of_old_files_are_not_elements_or_charges(tmp_path):
    """Until 1996 the PDB wrote them to columns 73 to 80 (1GDR)."""
    path = tmp_path / "pdb1gdr.ent"
    path.write_text(
        "HEADER    SITE-SPECIFIC RECOMBINASE               31-AUG-93   1GDR      1GDR   2\n"
        "ATOM      1  CA  MET     1     -19.201  51.101   6.138  1.00 35.00      1GDR 109\n"
        "HETATM    2 CA    CA     2     -17.008  48.871   4.008  1.00 35.00      1GDR1110\n"
        "ATOM      3  O   LEU     3     -16.130  45.625   5.844  1.00 35.00      1GDR1111\n"
    )
    structure = Structure.open(path)
    assert structure.to_frame()["element"].tolist() == ["C", "O", "Ca"]
    assert structure.to_frame()["charge"].tolist() == [0, 0, 0]
    assert "1GDR" not in structure.text.partition("\n")[2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loop_\n_atom_site_label\n_atom_site_fract_x\nC1 0.5\n", "small molecule"),
        ("loop_\n_refln.index_h\n_refln.F_meas_au\n1 2.5\n", "structure factors"),
    ],
)
def test_a_cif_of_something_else_says_what_it_is_and_what_to_open(text, words):
    with pytest.raises(UnreadableFileError, match=words):
        _ = Structure("x.cif", "mmcif", f"data_x\n{text}").chains


@pytest.mark.parametrize(
    ("atoms", "bonds", "formula", "mass"),
    [
        (["C", "C", "O"], [(1, 2, 1), (2, 3, 1)], "C2H6O", 46.07),
        (["C", "C", "O", "H"], [(1, 2, 1), (2, 3, 1), (2, 4, 1)], "C2H6O", 46.07),
        (["C"] * 6, [(place + 1, (place + 1) % 6 + 1, 4) for place in range(6)], "C6H6", 78.11),
        (["C", "A"], [(1, 2, 1)], "CX", None),
    ],
)
def test_the_formula_counts_hydrogens_that_an_sdf_leaves_out(atoms, bonds, formula, mass):
    """All of them, or those that are not drawn beside a stereocentre: ethanol, benzene."""
    rows = [f"{x:10.4f}    0.0000    0.0000 {element:3} 0  0  0  0  0  0" for x, element in enumerate(atoms)]
    links = [f"{first:3}{second:3}{order:3}  0" for first, second, order in bonds]
    counts = f"{len(rows):3}{len(links):3}  0  0  0  0  0  0  0  0999 V2000"
    block = "\n".join(["x", "", "", counts, *rows, *links, "M  END", "$$$$", ""])
    (molecule,) = read_sdf(block.encode(), "x.sdf").molecules
    assert molecule.formula == formula
    assert molecule.mass == (None if mass is None else pytest.approx(mass, abs=0.02))


@pytest.mark.parametrize(
    ("smiles", "formula"),
    [
        ("[13CH3]C(=O)[O-]", "C2H3O2"),
        ("[125I]c1ccccc1", "C6H5I"),
        ("[2H]C([2H])[2H]", "CHD3"),
        ("[3H]C", "CH4"),
        ("[99C]", "C"),
    ],
)
def test_the_mass_of_a_labelled_molecule_is_that_of_its_isotopes(smiles, formula):
    """As in RDKit; previously the element's mean mass was used, except for deuterium."""
    labelled = Chem.MolFromSmiles(smiles)
    (molecule,) = read_sdf(Chem.MolToMolBlock(labelled).encode(), "labelled.sdf").molecules
    assert (molecule.formula, molecule.mass) == (
        formula,
        pytest.approx(Descriptors.MolWt(labelled), abs=0.005),
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("md.gro", "a coordinate file of GROMACS"),
        ("md.xtc", "a trajectory"),
        ("1a2c.pqr.gz", "a PQR file"),
        ("figure.pse", "a file of PyMOL"),
    ],
)
def test_a_format_that_is_not_read_is_named_with_the_way_to_one_that_is(tmp_path, name, sentence):
    (tmp_path / name).write_bytes(
        b"ATOM      1  N   THR  L   1H      15.068  19.823  21.003  0.1812 1.8240\n"
    )

    with pytest.raises(UnreadableFileError, match=rf"{name} is {sentence}.*, which .* PDB"):
        Structure.open(tmp_path / name)


def test_an_archive_given_as_a_structure_is_reported(tmp_path):
    archive = write_zip(tmp_path / "boltz.zip", {"model.pdb": "END\n"})

    for place, what in ((archive, "an archive"), (tmp_path, "a folder")):
        with pytest.raises(
            UnreadableFileError, match=rf"{place.name} is {what}.*fn.open_result\('{place}'\)"
        ):
            Structure.open(place)


@pytest.mark.parametrize("name", ["4x8u.pdbx", "model"])
def test_mmcif_is_recognized_below_its_comments(tmp_path, name):
    text = "# extract from an entry\n#\n" + (DATA / "altloc.cif").read_text()
    (tmp_path / name).write_text(text)

    assert Structure.open(tmp_path / name).chains[0].sequence == "S"


@pytest.mark.parametrize(("source", "name"), [("altloc.cif", "4x8u.pdb"), ("c143_h3.pdb", "c143.cif")])
def test_a_file_with_the_suffix_of_the_other_format_is_read(tmp_path, source, name):
    (tmp_path / name).write_bytes((DATA / source).read_bytes())

    assert Structure.open(tmp_path / name).to_frame().equals(Structure.open(DATA / source).to_frame())
