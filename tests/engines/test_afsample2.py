"""The adapter for AFsample2, with a stand-in for run_afsample2.py."""

import pytest
from adapter_contract import AdapterContract

CHAIN = "MQIFVKTLTGKTITLEVEPS"

pytestmark = pytest.mark.extra_engine


class TestAFsample2(AdapterContract):
    engine = "afsample2"
    tool = "afsample"

    def options(self, place):
        for kind in ("monomer", "multimer"):
            (place / f"{kind}.flag").write_text("--data_dir=/databases\n--no_templates=True\n")
        files = {f"{kind}_flags": str(place / f"{kind}.flag") for kind in ("monomer", "multimer")}
        return super().options(place) | files

    def example(self, **changed):
        return super().example(**{"numSamples": "2"} | changed)

    @pytest.mark.parametrize(("samples", "networks", "each"), [("1", 1, 1), ("2", 2, 1), ("20", 5, 4)])
    def test_as_many_samples_as_were_asked_for(self, run, samples, networks, each):
        done = run(numSamples=samples, msaRandomization="0.2")
        (arguments,) = done.arguments()
        names = ",".join(f"model_{number}_multimer_v3" for number in range(1, networks + 1))
        assert {f"--models_to_use={names}", f"--nstruct={each}", "--msa_rand_fraction=0.2"} <= set(arguments)
        rows = done.text("scores.csv").splitlines()
        assert len(rows) == 1 + int(samples)
        assert rows[0] == "rank,file,network,ranking_confidence,ptm,iptm,mean_plddt"

    def test_one_chain_may_have_its_own_alignment(self, lab, run):
        alignment = f">query\n{CHAIN}\n>other\n{CHAIN}\n"
        done = run(sequence=CHAIN, beside={"alignment": alignment})
        assert {"--msa_file=target.a3m", "--model_preset=monomer"} <= set(done.arguments()[0])
        done = lab.run("afsample", self.example(), {"alignment": alignment})
        assert "for one chain only" in done.job["error"]
