"""The adapter for AntiDIF, with a stand-in for run.run."""

import pytest
from adapter_contract import AdapterContract


def write_chain(chain, length):
    """Write a backbone chain of alanines."""
    return "".join(
        f"ATOM  {4 * i + j:5}  {name:3} ALA {chain}{i:4}    {3.8 * i:8.3f}{j:8.3f}{0:8.3f}  1.00 50.00           C  \n"
        for i in range(1, length + 1)
        for j, name in enumerate(("N", "CA", "C", "O"))
    )


PDB = write_chain("H", 6) + write_chain("L", 4) + write_chain("G", 3)

pytestmark = pytest.mark.extra_engine


class TestAntiDIF(AdapterContract):
    engine = tool = "antidif"

    def options(self, place):
        (place / "model.ckpt").write_text("weights")
        return super().options(place) | {"weights": str(place / "model.ckpt")}

    def example(self, **changed):
        return super().example(**{"pdbFile": PDB, "chains": ["H", "L"], "numSamples": 2} | changed)

    def test_designs_are_split_by_chain(self, run):
        done = run(chains=["L", "H"], numSamples=3)
        ((*settings,),) = done.arguments("config")
        config = dict(settings)
        assert (config["num_samples"], config["custom_pdb_input"]) == ("3", '"structures.csv"')
        assert done.text("sequences.csv").splitlines()[-2:] == ["3,L,GGAA,50.0", "3,H,AAAAAA,100.0"]
        assert done.text("sequences.fasta").splitlines()[:2] == [">design_1 chains=L,H", "AAAA/AAAAAA"]
        assert done.manifest["job"]["seed"] is None

    def test_another_version_of_its_configuration_is_reported(self, lab, configure):
        place = configure()
        path = place / "pi-rldif-ft" / "configs" / "config.yaml"
        path.write_text(path.read_text().replace("num_samples", "samples"))
        assert "has no num_samples; this adapter fits another version" in self.fail(lab)

    def test_a_chain_without_backbone_is_refused(self, lab, configure):
        configure()
        lines = PDB.replace("\n", "\r\n").splitlines(keepends=True)
        bare = "".join(line for line in lines if line[21] != "L" or " CA " in line)
        assert "no chain L with residues that have N, CA, C and O" in self.fail(lab, pdbFile=bare)
        assert "whole number" in self.fail(lab, numSamples=0)
