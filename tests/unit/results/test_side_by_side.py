"""A comparison gives the values of independent programs, and says what it could not compare."""

import gemmi
import numpy as np
import pytest
from result_archives import DATA, FV, open_fold, write_fold_result, write_fv_result, write_zip

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Structure, compare, open_result

BIOTITE = {
    "framework": (176, 0.9010, 0.9010),
    "CDR-H1": (8, 2.4824, 1.9145),
    "CDR-H2": (7, 1.1146, 0.3583),
    "CDR-H3": (12, 4.9445, 2.9418),
    "CDR-L1": (8, 2.5622, 1.7738),
    "CDR-L2": (3, 0.6597, 0.1182),
    "CDR-L3": (10, 2.2755, 1.0729),
    "all": (224, 1.6364, None),
}
"""6y1l_imgt and c143_imgt: pairs, and RMSD (Å) after superimposing the framework and after superimposing the
region, by biotite 1.6.0 (`superimpose`, `rmsd`) over the Cα with equal chain and IMGT number; CDRs by IMGT."""
TM_ALIGN = 0.9373
"""The same pairs with TM-align 20190822, option -I: see test_superposition.py."""


@pytest.fixture(scope="module")
def antibodies():
    return compare([open_fold("6y1l_imgt"), open_fold("c143_imgt")], align="framework")


def changed(change, name="changed.pdb"):
    parsed = gemmi.read_pdb_string(FV)
    change(parsed)
    return Structure(name, "pdb", parsed.make_pdb_string())


def fv():
    return Structure("fv.pdb", "pdb", FV)


def test_the_rmsd_of_each_region_is_biotites(antibodies):
    table = antibodies.table.set_index("region")
    for region, (pairs, rmsd, fitted) in BIOTITE.items():
        row = table.loc[region]
        assert row["pairs"] == pairs
        assert row["rmsd"] == pytest.approx(rmsd, abs=2e-4)
        assert fitted is None or row["rmsd_fitted"] == pytest.approx(fitted, abs=2e-4)
    assert set(table["pairing"]) == {"residue numbers"}


def test_the_tm_score_is_tm_aligns_whatever_is_superposed(antibodies):
    scores = antibodies.table["tm_score"].dropna().tolist()

    assert scores == [pytest.approx(TM_ALIGN, abs=2e-3)]


def test_the_distances_are_those_that_the_rmsd_is_of(antibodies):
    distances = antibodies.deviations["distance"]

    assert np.sqrt((distances**2).mean()) == pytest.approx(BIOTITE["all"][1], abs=2e-4)
    assert len(distances) == 224


@pytest.mark.parametrize(
    ("align", "fitted", "words"),
    [
        ("all", 224, "all paired residues"),
        ("chain L", 107, "chain L"),
        ("CDR-H3", 12, "CDR-H3"),
        ("H:8-12 22;L:5-8", 9, "residues H:8-12 22;L:5-8"),
    ],
    ids=["all", "chain", "cdr", "residues"],
)
def test_what_is_superposed_can_be_chosen(align, fitted, words):
    found = compare([open_fold("6y1l_imgt"), open_fold("c143_imgt")], align=align)

    assert (found.fits["c143_imgt.pdb.gz"].fitted, found.align) == (fitted, words)


@pytest.mark.parametrize(
    ("align", "message"),
    [
        ("CDR-X9", "'CDR-H3'"),
        ("Q:1-5", "has no chain 'Q'; it has H, L"),
        ("H:999", "has no residue 999"),
    ],
    ids=["region", "chain", "residue"],
)
def test_an_unknown_selection_is_refused_with_what_there_is(align, message):
    with pytest.raises(ArgumentError, match=message):
        compare([fv(), fv()], align=align)


def test_sequences_are_aligned_by_the_pairs_with_insertions(antibodies):
    rows = antibodies.alignments["H"].sequences

    assert rows[0].replace("-", "") == open_fold("6y1l_imgt").chains[0].sequence
    assert rows[1].replace("-", "") == next(
        c.sequence for c in open_fold("c143_imgt").chains if c.name == "H"
    )
    assert len(set(map(len, rows))) == 1
    assert sum(a == b != "-" for a, b in zip(*rows, strict=True)) == round(117 * 0.538462)


def test_only_settings_that_differ_are_listed_and_scores_have_unit_and_direction(tmp_path):
    shared = {"heavy": "EVQ", "nested": {"a": 1}}
    results = [
        open_result(write_fold_result(tmp_path, "job-1", "6y1l_imgt", {**shared, "seed": 1}, {"ptm": 0.5})),
        open_result(
            write_fold_result(
                tmp_path, "job-2", "c143_imgt", {**shared, "nested": {"a": 2}}, {"ptm": 0.6, "odd": 1}
            )
        ),
    ]
    found = compare(results)

    assert found.names == ("job-1", "job-2")
    assert found.settings.to_dict("index") == {
        "nested.a": {"job-1": 1, "job-2": 2}, "seed": {"job-1": 1, "job-2": None},
    }  # fmt: skip
    assert found.scores.loc["ptm"].to_dict() == {
        "unit": "0 to 1", "better": "higher", "job-1": 0.5, "job-2": 0.6,
    }  # fmt: skip
    assert found.scores.loc["odd"].to_dict() == {"unit": "", "better": "", "job-1": None, "job-2": 1}


def test_cdrs_are_those_of_the_results_own_numbering(tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    found = compare([result, fv()], align="framework")

    assert found.region_source == "CDRs by the IMGT definition, from the numbering of fv-1"
    assert found.table.set_index("region").loc["CDR-H3", "residues"] == len("SRWGGDGFYAMDY")


def test_jobs_without_structures_are_compared_by_the_rest(tmp_path):
    results = [
        open_result(write_zip(tmp_path / f"{name}.zip", {"score.json": f'{{"residues": {place}}}'}))
        for place, name in enumerate("ab")
    ]
    found = compare(results)

    assert found.table.empty
    assert found.scores.loc["residues", ["a.zip", "b.zip"]].tolist() == [0, 1]
    assert found.notes[0] == (
        "No structures are compared: at least two are needed. a.zip: its result has no readable structure. "
        "b.zip: its result has no readable structure."
    )


def test_other_chains_missing_residues_and_names_are_reported():
    def change(parsed):
        parsed[0].remove_chain("L")
        del parsed[0]["H"][30:40]
        parsed[0]["H"].name = "X"

    found = compare([fv(), changed(change)])

    assert found.table.set_index("region").loc["chain H", ["residues", "pairs"]].tolist() == [120, 110]
    assert found.notes == (
        "Chains of changed.pdb are paired with those of fv.pdb: X with H.",
        "1 chain of fv.pdb (L) has no counterpart in changed.pdb.",
    )


def test_an_unrelated_structure_is_left_out_with_the_reason():
    found = compare([fv(), open_fold("1akiA"), fv()])

    assert list(found.fits) == ["fv.pdb (2)"]
    assert found.notes[0].startswith(
        "1akiA.pdb.gz is not superposed on fv.pdb (1) and not drawn: their chains"
    )


def test_structures_that_are_left_out_for_one_reason_share_a_sentence():
    found = compare([fv(), open_fold("1akiA"), fv(), open_fold("1akiA")])

    assert list(found.fits) == ["fv.pdb (2)"]
    (note,) = (each for each in found.notes if "not drawn" in each)
    assert note.startswith(
        "1akiA.pdb.gz (1) and 1akiA.pdb.gz (2) are not superposed on fv.pdb (1) and not drawn: their chains"
    )


def test_the_first_of_many_models_is_compared_and_reported():
    two = Structure.open(DATA / "trp_cage_two_models.bcif")
    found = compare([two, two])

    assert found.notes[0] == "trp_cage_two_models.bcif has 2 models; the first is compared."


@pytest.mark.parametrize("number", [1, 21])
def test_two_to_twenty_are_compared(number):
    with pytest.raises(ArgumentError, match=f"2 to 20 jobs or structures, not {number}"):
        compare([fv()] * number)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UnreadableFileError, match=r"absent\.pdb"):
        compare([fv(), tmp_path / "absent.pdb"])


def test_a_single_selected_residue_is_too_few_to_superpose_on():
    comparison = compare([DATA / "trastuzumab_fv_ca.pdb"] * 2, align="H:11")
    assert comparison.table.empty
    assert (
        "Of 1 selected residue, 1 has a counterpart; a superposition needs at least 3." in comparison.notes[0]
    )
