"""The models of an ensemble are superposed on their mean, and RMSFs are those of other programs."""

import numpy as np
import pytest
from result_archives import DATA, FV, write_ensemble

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure, superpose, superpose_models

BENT = {0: 1.01197, 50: 1.27257, 119: 1.60223, 120: 0.73874, 226: 1.00523}
"""RMSF (Å) of residues of the bent Fv by index, by biotite 1.6.0 (`superimpose` on the `average` until it no
longer changes, `rmsf`) and by MDAnalysis 2.11.0 (`AverageStructure`, `AlignTraj`, `RMSF`, repeated likewise)."""
TRP_CAGE = [
    1.4544, 0.1365, 0.1770, 0.1540, 0.1943, 0.1835, 0.2083, 0.3193, 0.2317, 0.1047,
    0.1554, 0.2431, 0.1546, 0.2207, 0.3244, 0.2612, 0.1494, 0.1564, 0.2975, 0.3746,
]  # fmt: skip
"""RMSF (Å) of the Cα of models 1 and 2 of PDB 1L2Y, by biotite 1.6.0 in the same way."""


@pytest.fixture(scope="module")
def bent():
    return superpose_models(Structure("bent.pdb", "pdb", write_ensemble()))


def test_the_rmsf_is_biotites_and_mdanalysiss(bent):
    assert len(bent.rmsf) == 227
    for place, rmsf in BENT.items():
        assert bent.rmsf["rmsf"].iloc[place] == pytest.approx(rmsf, abs=2e-5)


def test_the_rmsf_of_a_small_nmr_ensemble_is_biotites():
    found = superpose_models(Structure.open(DATA / "trp_cage_two_models.bcif")).rmsf

    assert found["rmsf"].tolist() == pytest.approx(TRP_CAGE, abs=1e-4)
    assert found["number"].tolist() == [str(number) for number in range(1, 21)]


def test_turned_copies_do_not_fluctuate(bent):
    copies = write_ensemble(2).split("MODEL")[1].partition("\n")[2]
    twice = f"MODEL        1\n{copies}MODEL        2\n{copies}END\n"

    assert superpose_models(Structure("twice.pdb", "pdb", twice)).rmsf["rmsf"].max() == pytest.approx(
        0, abs=1e-6
    )


def test_each_model_becomes_a_structure_superposed_on_the_mean(bent):
    first, *_, last = bent.split()
    fit = superpose(first, last)

    assert (first.models, last.models) == (1, 1)
    assert np.allclose(fit.rotation, np.eye(3), atol=0.2)
    assert fit.rmsd > 1


def test_a_single_model_is_not_an_ensemble():
    with pytest.raises(UnreadableFileError, match=r"fv\.pdb has one model"):
        superpose_models(Structure("fv.pdb", "pdb", FV))
