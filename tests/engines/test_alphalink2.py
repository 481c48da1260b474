"""The adapter for AlphaLink2, with stand-ins for its three scripts."""

import pytest
from adapter_contract import AdapterContract

LINKS = "1 A 5 B 0.05\r\n2  A\t3 A 0.1\r\n"

pytestmark = pytest.mark.extra_engine


class TestAlphaLink2(AdapterContract):
    engine = tool = "alphalink2"

    def options(self, place):
        (place / "model.pt").write_text("weights")
        for name in ("uniref90", "mgnify", "uniprot", "pdb_seqres", "pdb_mmcif"):
            (place / "databases" / name).mkdir(parents=True)
        files = {"weights": str(place / "model.pt"), "databases": str(place / "databases")}
        return super().options(place) | files

    def example(self, **changed):
        return super().example(**{"sequence": "ACDEF:GHIKL", "crosslinksFile": LINKS} | changed)

    def test_every_setting_is_an_argument_of_the_program(self, run):
        done = run(numSamples=3, recyclingIterations=4, crosslinkCutoff=30, neff=12, dropoutCrosslinks=True)
        (arguments,) = done.arguments()
        assert arguments[-6:] == [
            "--max_recycling_iters=4",
            "--times=3",
            "--cutoff=30",
            "--neff=12",
            "--dropout_crosslinks=1",
            f"--data_random_seed={done.manifest['job']['seed']}",
        ]
        rows = done.text("scores.csv").splitlines()
        assert rows[1:] == [
            "1,sample_001.pdb,0.700,0.250,72.00",
            "2,sample_002.pdb,0.600,0.250,71.00",
            "3,sample_003.pdb,0.500,0.250,70.00",
        ]

    def test_without_neff_the_alignment_is_whole(self, run):
        (arguments,) = run().arguments()
        assert {"--neff=-1", "--dropout_crosslinks=-1"} <= set(arguments)
