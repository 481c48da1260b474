"""A result of a model with random stand-in weights has no confidence, whatever its files say."""

import json
import zipfile

import pytest

from foldnote.results import open_result

NAME = "job_{}_rank_001_alphafold2_ptm_model_1_seed_000"
ATOMS = "".join(
    f"ATOM  {index:5}  CA  ALA A{index:4}    {3.8 * index:8.3f}   0.000   0.000  1.00 {80 + index:.2f}           C\n"
    for index in range(1, 11)
)


@pytest.fixture
def write_result(tmp_path):
    """Write a prediction in ColabFold's layout whose engine had weights of this kind."""

    def write(state):
        weights = [{"name": "AlphaFold", "state": state, "sha256": "0" * 64}]
        engine = {"name": "e", "method": "ColabFold", "weights": weights}
        scores = {"plddt": [80.0 + index for index in range(1, 11)], "ptm": 0.8, "max_pae": 20.0}
        with zipfile.ZipFile(tmp_path / f"{state}.zip", "w") as archive:
            archive.writestr(f"{NAME.format('unrelaxed')}.pdb", ATOMS + "END\n")
            archive.writestr(f"{NAME.format('scores')}.json", json.dumps(scores))
            archive.writestr("manifest.json", json.dumps({"job": {"type": "alphafold"}, "engine": engine}))
        return open_result(tmp_path / f"{state}.zip")

    return write


def test_with_published_weights_it_has_its_confidence(write_result):
    result = write_result("published")
    assert not result.manifest.has_stand_ins
    assert result.models[0].confidence.mean == pytest.approx(85.5)
    assert "ptm" in result.model_table.columns


def test_with_stand_ins_it_has_none(write_result):
    result = write_result("stand-in")
    assert result.manifest.has_stand_ins
    (model,) = result.models
    assert model.confidence is None
    assert model.plddt is None
    assert "stand-in weights" in model.structure.b_column.source
    assert "ptm" not in result.model_table.columns
