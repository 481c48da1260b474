"""Everything read from a structure is in the file, and values count as confidence only with evidence for it."""

import json
import random

import gemmi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import FV, with_b_factors, write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure, open_result

PLDDT = [round(40 + 50 * random.Random(i).random(), 2) for i in range(227)]


def test_chains_have_the_authors_numbers_and_letters():
    heavy, light = Structure("fv.pdb", "pdb", FV).chains

    assert (heavy.name, heavy.kind, len(heavy)) == ("H", "protein", 120)
    assert (light.name, len(light)) == ("L", 107)
    assert heavy.sequence.startswith("EVQLVESGGG")
    assert "111A" in heavy.numbers or "112" in heavy.numbers


def test_an_fv_is_mostly_strands():
    shares = Structure("fv.pdb", "pdb", FV).secondary

    assert shares["strand"] > 0.4
    assert shares["helix"] < 0.1
    assert sum(shares.values()) == pytest.approx(1)


def test_an_ideal_helix_is_a_helix():
    import numpy as np

    from foldnote.results.structure.secondary import assign_secondary

    turn = np.radians(100) * np.arange(20)
    trace = np.stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), 1.5 * np.arange(20)], axis=1)

    assert "".join(assign_secondary(trace)[1:-1]) == "H" * 18


def test_letters_from_alphas_of_pieces_do_not_depend_on_their_neighbours():
    import numpy as np

    from foldnote.results.structure.secondary import assign_secondary

    def make_piece(length, turn, radius, rise, place):
        angles = np.radians(turn * np.arange(length))
        x, y = radius * np.cos(angles), radius * np.sin(angles)
        return np.stack([x + place, y, rise * np.arange(length)], axis=1)

    pieces = [
        make_piece(length, *(shape if length % 2 else (180, 0.95, 3.3)), 40.0 * index)
        for index, (length, shape) in enumerate((n, (100, 2.3, 1.5)) for n in (9, 1, 8, 4, 5, 6, 3, 7, 2, 12))
    ]
    unknown = np.full((1, 3), np.nan)
    alone = ["".join(assign_secondary(piece)) for piece in pieces]

    assert alone[0].count("H") >= 7
    assert "".join(assign_secondary(np.concatenate(pieces))) == "".join(alone)
    between = [part for piece in pieces for part in (piece, unknown)]
    assert "".join(assign_secondary(np.concatenate(between))) == "C".join(alone) + "C"
    assert {*"".join(alone)} == {"H", "E", "C"}


def write_boltz(b_factors):
    """Write a protein of ten residues and a ligand of three atoms with pLDDT declared as by Boltz."""
    parsed = gemmi.read_pdb_string(FV)
    parsed[0].remove_chain("L")
    del parsed[0]["H"][10:]
    ligand = gemmi.Residue()
    ligand.name, ligand.seqid, ligand.het_flag = "LIG", gemmi.SeqId("1"), "H"
    for name in ("C1", "C2", "O3"):
        atom = gemmi.Atom()
        atom.name, atom.element, atom.occ = name, gemmi.Element(name[0]), 1
        ligand.add_atom(atom)
    chain = gemmi.Chain("Z")
    chain.add_residue(ligand)
    parsed[0].add_chain(chain)
    parsed.setup_entities()
    parsed.entities[0].full_sequence = [residue.name for residue in parsed[0]["H"]]
    parsed.assign_label_seq_id()
    atoms = [atom for chain in parsed[0] for residue in chain for atom in residue]
    for atom, value in zip(atoms, b_factors, strict=True):
        atom.b_iso = value
    block = parsed.make_mmcif_document().sole_block()
    block.init_loop("_ma_qa_metric.", ["id", "name", "type"]).add_row(["1", "pLDDT", "pLDDT"])
    tags = ["label_asym_id", "label_seq_id", "metric_id", "metric_value"]
    local = block.init_loop("_ma_qa_metric_local.", tags)
    for chain in parsed[0]:
        for place, residue in enumerate(chain, 1):
            value = "0.98" if residue.name == "LIG" else "0.8"
            local.add_row([residue.subchain, str(place), "1", value])
    return Structure("x.cif", "mmcif", block.as_string())


def test_a_ligand_without_values_of_its_atoms_has_no_confidence():
    confidence = write_boltz([1] * 13).confidence

    assert confidence.residues["plddt"].tolist() == pytest.approx([80] * 10 + [float("nan")], nan_ok=True)
    assert confidence.atoms is None
    assert confidence.source.endswith("; ligands have none without values of their atoms")


def test_a_ligand_has_the_mean_of_its_atoms_b_factors():
    confidence = write_boltz([80] * 10 + [98, 70, 60]).confidence

    assert confidence.residues["plddt"].tolist() == pytest.approx([80] * 10 + [76])
    assert confidence.atoms["plddt"].tolist()[-3:] == [98, 70, 60]
    assert "the mean over the atoms' B-factors" in confidence.source


def test_zero_b_factors_are_not_confidence_values():
    assert Structure("fv.pdb", "pdb", FV).plddt is None


def test_b_factors_alone_are_not_confidence_values():
    assert Structure("fv.pdb", "pdb", with_b_factors(PLDDT)).plddt is None


def test_a_score_file_that_repeats_them_makes_b_factors_a_confidence(tmp_path):
    members = {
        "x_relaxed_rank_001_m1.pdb": with_b_factors(PLDDT),
        "x_scores_rank_001_m1.json": json.dumps({"plddt": PLDDT}),
    }
    structure = open_result(write_zip(tmp_path / "r.zip", members)).structure

    assert structure.mean_plddt == pytest.approx(sum(PLDDT) / 227, abs=0.01)
    assert list(structure.plddt.columns) == ["chain", "number", "residue", "plddt"]


def test_a_score_file_of_another_model_proves_nothing(tmp_path):
    other = {"plddt": PLDDT[::-1]}
    members = {"x_rank_001.pdb": with_b_factors(PLDDT), "x_scores_rank_001.json": json.dumps(other)}

    assert open_result(write_zip(tmp_path / "r.zip", members)).structure.plddt is None


def test_a_header_that_names_plddt_counts_and_the_scale_is_recognised():
    text = "REMARK   3 B-FACTOR COLUMN HOLDS PLDDT\n" + with_b_factors([value / 100 for value in PLDDT])

    assert Structure("fv.pdb", "pdb", text).mean_plddt == pytest.approx(sum(PLDDT) / 227, abs=0.6)


def test_mmcif_is_read_like_pdb():
    cif = Structure("fv.pdb", "pdb", FV).to_gemmi().make_mmcif_document().as_string()
    structure = Structure("fv.cif", "mmcif", cif)

    assert [(chain.name, len(chain)) for chain in structure.chains] == [("H", 120), ("L", 107)]
    assert structure.plddt is None


def test_ligands_and_waters_are_distinguished():
    extra = (
        "HETATM 9001 ZN    ZN H 301       1.000   2.000   3.000  1.00  0.00          ZN\n"
        "HETATM 9002  O   HOH H 302       5.000   2.000   3.000  1.00  0.00           O\n"
    )
    structure = Structure("x.pdb", "pdb", FV.replace("END\n", extra + "END\n"))

    assert [(ligand.name, ligand.number, ligand.atoms) for ligand in structure.ligands] == [("ZN", "301", 1)]
    assert structure.waters == 1


def test_a_copy_can_be_changed_without_harm():
    structure = Structure("fv.pdb", "pdb", FV)
    structure.to_gemmi().remove_empty_chains()
    del structure.to_gemmi()[0]

    assert isinstance(structure.to_gemmi(), gemmi.Structure)
    assert len(structure.chains) == 2


@pytest.mark.parametrize(
    ("form", "text"), [("pdb", ""), ("pdb", "<html>"), ("mmcif", "data_x\n_a.b c\n"), ("mmcif", "no")]
)
def test_a_file_without_atoms_says_so(form, text):
    with pytest.raises(UnreadableFileError, match="x"):
        Structure("x", form, text).to_gemmi()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(FV)), st.binary(max_size=60), st.sampled_from(["pdb", "mmcif"]), st.booleans())
def test_mutated_structures_never_crash(place, noise, form, is_cut):
    whole = FV if form == "pdb" else Structure("x", "pdb", FV).to_gemmi().make_mmcif_document().as_string()
    rest = "" if is_cut else whole[place + len(noise) :]
    structure = Structure("x", form, whole[:place] + noise.decode("latin-1") + rest)

    try:
        assert structure.models >= 1
        assert all(len(chain.sequence) == len(chain) for chain in structure.chains)
        assert structure.mean_plddt is None or 0 <= structure.mean_plddt <= 100
        assert structure.waters >= 0
        assert len(structure.secondary) in (0, 3)
    except UnreadableFileError as exc:
        assert "x" in exc.message


def test_residues_with_one_number_are_one_even_if_their_conformations_follow_each_other():
    """Ser 1 and Glu 2, then Pro 1 and Glu 2, as in refined models with two conformations."""
    rows = [("A", "SER", 1), ("A", "GLU", 2), ("B", "PRO", 1), ("B", "GLU", 2), (" ", "ALA", 3)]
    text = "".join(
        f"ATOM  {5 * place + row:5d}  {name:<3}{location}{residue} A{number:4d}    "
        f"{3.8 * number + row:8.3f}   0.000   0.000  0.50 10.00           {name[0]}\n"
        for place, (location, residue, number) in enumerate(rows)
        for row, name in enumerate(("N", "CA", "C", "O"))
    )
    structure = Structure("two.pdb", "pdb", text)
    (chain,) = structure.chains
    assert (chain.sequence, chain.numbers) == ("SEA", ("1", "2", "3"))
    assert len(structure.to_frame()) == 20
