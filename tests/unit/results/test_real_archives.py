"""Results of other programs open without knowing their names: structures, confidences and scores are found."""

import pytest
from result_archives import SHARED, needs_shared

from foldnote.results import open_result

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
