"""Results of other programs open without configuration: structures, confidences and scores are found."""

import io
import json
import zipfile

import numpy as np
import pytest
from result_archives import SHARED, needs_shared

from foldnote.results import Structure, open_result, superpose

pytestmark = needs_shared

EXPECTED = {
    "colabfold-dimer": (45, {"A": 42, "B": 42}, 68.3, "iptm"),
    "boltz-protein-dna-ligand": (2, {"A": 586, "B": 26, "C": 13, "D": 13}, 95.8, "confidence_score"),
    "chai1-protein-dna-ligand": (5, {"A": 586, "B": 26, "C": 13, "D": 13}, 96.7, "aggregate_score"),
    "alphafold3-server-protein-dna-zn": (5, {"A": 90, "E": 11, "F": 11}, 96.6, "ranking_score"),
}


@pytest.fixture(params=EXPECTED)
def case(request):
    return open_result(SHARED / f"{request.param}.zip"), *EXPECTED[request.param]


def test_structures_chains_confidence_and_scores_are_found(case):
    result, structures, chains, plddt, score = case

    assert len(result.structures) == structures
    assert {chain.name: len(chain) for chain in result.structure.chains} == chains
    assert result.structure.mean_plddt == pytest.approx(plddt, abs=0.1)
    assert score in result.scores
    assert len(result.score_table) >= structures - 5


def test_nothing_in_them_is_unreadable(case):
    assert case[0].check() == ()


def test_tables_are_found():
    table = open_result(SHARED / "colabfold-dimer.zip").tables["beta_amyloid_dimer_d2fa3_0.csv"]

    assert list(table.columns) == ["id", "sequence"]


def test_the_relaxed_first_rank_is_shown_first():
    assert "_relaxed_rank_001_" in open_result(SHARED / "colabfold-dimer.zip").structure.name


def test_models_are_ranked_and_carry_their_scores(case):
    models = case[0].models

    assert [model.rank for model in models] == list(range(1, len(models) + 1))
    assert all(model.ranked_by for model in models)
    assert all(case[4] in model.scores for model in models)


def test_forms_of_one_model_are_one_model():
    models = open_result(SHARED / "colabfold-dimer.zip").models

    assert len(models) == 40
    assert [len(model.variants) for model in models[:6]] == [1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("name", "chains", "borders"),
    [
        ("colabfold-dimer", "AB", [42]),
        ("boltz-protein-dna-ligand", "ABCDE", [586, 612, 625, 638]),
        ("alphafold3-server-protein-dna-zn", "ABCDEF", [90, 91, 92, 93, 104]),
    ],
)
def test_aligned_errors_know_their_chains(name, chains, borders):
    pae = open_result(SHARED / f"{name}.zip").models[0].pae

    assert pae.chains == tuple(chains)
    assert pae.borders.tolist() == borders
    assert pae.by_chain().shape == (len(chains), len(chains))


def test_the_borders_are_those_that_the_file_itself_names():
    path = SHARED / "alphafold3-server-protein-dna-zn.zip"
    pae = open_result(path).models[0].pae
    with zipfile.ZipFile(path) as archive:
        named = json.loads(archive.read(pae.source))["token_chain_ids"]

    assert pae.tokens["chain"].tolist() == named


def test_confidence_per_atom_matches_the_score_file_except_for_rounding():
    result = open_result(SHARED / "alphafold3-server-protein-dna-zn.zip")
    model = result.models[0]
    own = json.loads(result.read(model.pae.source))["atom_plddts"]

    assert model.confidence.atoms["plddt"].tolist() == pytest.approx(own, abs=0.11)


def test_confidence_per_residue_is_the_score_files_own():
    result = open_result(SHARED / "colabfold-dimer.zip")
    model = result.models[0]
    own = json.loads(result.read(next(name for name in model.files if "_scores_" in name)))["plddt"]

    assert model.plddt["plddt"].tolist() == pytest.approx(own)


def test_the_confidence_of_a_ligand_is_the_mean_over_its_atoms_in_the_file_of_tokens():
    """Boltz declares 98.2 in its mmCIF, which is the value of the ligand's first atom."""
    path = SHARED / "boltz-protein-dna-ligand.zip"
    model = open_result(path).models[0]
    residues = model.confidence.residues
    with zipfile.ZipFile(path) as archive:
        tokens = np.load(io.BytesIO(archive.read(next(f for f in model.files if "plddt_" in f))))["plddt"]

    assert residues[~residues["is_polymer"]]["plddt"].tolist() == pytest.approx([100 * tokens[638:].mean()])
    assert residues["plddt"].tolist()[:638] == pytest.approx((100 * tokens[:638]).tolist(), abs=0.051)
    assert "of ligands, the mean over their atoms in" in model.confidence.source


def test_a_bare_file_of_boltz_has_no_confidence_of_its_ligand():
    with zipfile.ZipFile(SHARED / "boltz-protein-dna-ligand.zip") as archive:
        text = archive.read("predictions/prot_dna_ligand/prot_dna_ligand_model_0.cif").decode()
    confidence = Structure("renamed.cif", "mmcif", text).confidence

    assert confidence.residues["plddt"].isna().tolist() == [False] * 638 + [True]
    assert confidence.source.endswith("; ligands have none without values of their atoms")


def test_a_ligand_not_declared_in_the_file_has_the_mean_of_its_b_factors():
    confidence = open_result(SHARED / "chai1-protein-dna-ligand.zip").models[0].confidence
    ligand = confidence.residues[~confidence.residues["is_polymer"]]["plddt"].tolist()
    own = confidence.atoms[confidence.atoms["residue"] == "LIG"]["plddt"]

    assert ligand == pytest.approx([own.mean()])
    assert (ligand[0], own.iloc[0]) == pytest.approx((95.35, 98.34), abs=0.01)


def test_alignments_are_read():
    alignments = open_result(SHARED / "colabfold-dimer.zip").alignments

    assert [(each.depth, each.length) for each in alignments.values()] == [(407, 42), (23, 42), (383, 42)]


def test_two_ranks_are_laid_over_each_other():
    models = open_result(SHARED / "boltz-protein-dna-ligand.zip").models
    found = superpose(models[0], models[1])

    assert found.aligned == 638
    assert found.rmsd < 0.5
    assert found.tm_score > 0.99


@pytest.mark.parametrize(("rank", "score"), [(3, 0.995), (6, 0.918), (9, 0.873)])
def test_the_tm_score_is_that_of_tm_align_where_it_pairs_residues_by_number(rank, score):
    """TM-align in tmtools 0.3.0 on both chains, by the first model's 84 residues.

    It pairs by shape: for ranks 1 and 40, which share no fold, it finds 0.299 with other pairs than those by number.
    """
    models = open_result(SHARED / "colabfold-dimer.zip").models

    assert superpose(models[0], models[rank - 1]).tm_score == pytest.approx(score, abs=0.002)


def test_the_tm_score_of_two_folds_depends_on_the_pairing():
    """By number, 0.2274 is also the highest of 4,000 searches from random pairs."""
    models = open_result(SHARED / "colabfold-dimer.zip").models

    assert superpose(models[0], models[39]).tm_score == pytest.approx(0.2274, abs=0.0002)
