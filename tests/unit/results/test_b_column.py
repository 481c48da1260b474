"""The meaning of the B-factor column follows the file: errors, B-factors of an experiment, or unknown."""

import pytest
from result_archives import DATA, FV, with_b_factors

from foldnote.results import Structure

VALUES = [round(0.2 + 0.004 * place, 2) for place in range(227)]
ERRORS = with_b_factors(VALUES)


def remark(text):
    return f"REMARK  {text}".ljust(80) + "\n"


def test_immunebuilders_errors_are_errors_of_residues():
    structure = Structure.open(DATA / "c143_immunebuilder_ca.pdb")
    errors = structure.predicted_error

    assert structure.confidence is None
    assert structure.b_column.meaning == "error"
    assert errors.iloc[0].tolist() == ["H", "1", "GLU", pytest.approx(0.6)]
    assert (errors["error"].min(), errors["error"].max()) == pytest.approx((0.07, 4.32))


@pytest.mark.parametrize(
    ("header", "program"),
    [
        ("ANTIBODY STRUCTURE MODELLED USING ABODYBUILDER2", "ABodyBuilder2"),
        ("NANOBODY STRUCTURE MODELLED USING NANOBODYBUILDER2", "NanoBodyBuilder2"),
        ("TCR STRUCTURE MODELLED USING TCRBUILDER2", "TCRBuilder2"),
        ("TCR STRUCTURE MODELLED USING TCRBUILDER2+", "TCRBuilder2+"),
    ],
)
def test_every_program_of_immunebuilder_is_known_by_its_header(header, program):
    column = Structure("m.pdb", "pdb", remark(header) + ERRORS).b_column

    assert (column.meaning, column.source) == (
        "error",
        f"B-factor column of {program}: spread of its models' Cα atoms",
    )


def test_igfolds_errors_are_errors_of_residues():
    text = remark("ANTIBODY STRUCTURE MODELLED USING IGFOLD") + ERRORS

    assert Structure("m.pdb", "pdb", text).predicted_error["error"].iloc[0] == pytest.approx(0.2)


def test_the_zeros_of_one_model_are_not_errors():
    text = remark("ANTIBODY STRUCTURE MODELLED USING ABODYBUILDER2") + FV

    assert Structure("m.pdb", "pdb", text).predicted_error is None


def test_a_relaxed_rosettafold_model_also_has_errors():
    assert Structure("model/model_1.crderr.pdb", "pdb", ERRORS).b_column.meaning == "error"


@pytest.mark.parametrize(
    "header",
    [
        "EXPDTA    X-RAY DIFFRACTION\n",
        "EXPDTA    X-RAY DIFFRACTION; NEUTRON DIFFRACTION\n",
        "EXPDTA    ELECTRON MICROSCOPY\n",
        "REMARK   3   PROGRAM     : REFMAC 5.8.0267\n",
        "REMARK   3   PROGRAM     : PHENIX (1.20.1_4487)\n",
    ],
)
def test_an_experiment_has_b_factors(header):
    assert Structure("x.pdb", "pdb", header + ERRORS).b_column.meaning == "b-factor"


def test_an_experiment_is_recognised_in_mmcif():
    block = Structure("x.pdb", "pdb", ERRORS).to_gemmi().make_mmcif_document().as_string()

    assert Structure("x.cif", "mmcif", block).b_column.meaning == "unknown"
    with_method = block + "\n_exptl.entry_id x\n_exptl.method 'X-RAY DIFFRACTION'\n"
    assert Structure("x.cif", "mmcif", with_method).b_column.meaning == "b-factor"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "EXPDTA    THEORETICAL MODEL, MODELLER 10.4\n",
        "EXPDTA    THEORETICAL MODEL (SWISS-MODEL SERVER)\n",
        "EXPDTA    SOLUTION NMR\n",
        "REMARK   1 CREATED WITH OPENMM 8.2, 2025-06-18\n",
    ],
    ids=["IgFold, DeepAb", "MODELLER", "SWISS-MODEL", "NMR", "OpenMM"],
)
def test_nothing_is_claimed_of_a_column_that_no_one_explains(header):
    structure = Structure("x.pdb", "pdb", header + ERRORS)

    assert (structure.b_column.meaning, structure.confidence, structure.predicted_error) == (
        "unknown",
        None,
        None,
    )


def test_pathogenicities_in_a_copy_of_a_database_model_are_not_plddt():
    """AlphaMissense is 0 to 1; its structures keep title and name of the AlphaFold database."""
    scores = with_b_factors([value / max(VALUES) for value in VALUES])
    text = "TITLE     ALPHAFOLD MONOMER V2.0 PREDICTION FOR SOMETHING (P12345)\n" + scores

    assert Structure("P12345.pdb", "pdb", text).confidence is None
    assert Structure("AF-P12345-F1-model_v4.pdb", "pdb", text, family="AlphaFold database").confidence is None


@pytest.mark.parametrize("factor", [1, 100])
def test_the_user_may_say_that_the_column_is_a_plddt_on_either_scale(factor):
    text = with_b_factors([value / 2 * factor for value in VALUES])
    structure = Structure("ranked_0.pdb", "pdb", text)
    stated = structure.state_b_factors("plddt")

    assert structure.confidence is None
    assert stated.mean_plddt == pytest.approx(50 * sum(VALUES) / 227, abs=0.5)
    assert stated.confidence.source == "B-factors, taken as pLDDT because the user said so"
    assert (structure.b_column.meaning, stated.b_column.meaning) == ("unknown", "plddt")


def test_the_user_may_say_that_the_column_is_an_error():
    stated = Structure("igfold.pdb", "pdb", ERRORS).state_b_factors("error")

    assert stated.predicted_error["error"].tolist() == pytest.approx(VALUES)
    assert "because the user said so" in stated.b_column.source
