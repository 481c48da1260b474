"""The adapter for Antibody-Diffusion-Properties, with stand-ins for design_pdb.py and eval.py."""

import pytest
from adapter_contract import AdapterContract

PDB = "".join(
    f"ATOM  {i:5}  CA  ALA {chain}{i:4}    {3.8 * i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
    for chain in "HLA"
    for i in range(1, 6)
)

pytestmark = pytest.mark.extra_engine


class TestAntibodyDiffusionProperties(AdapterContract):
    engine = "antibody_diffusion_properties"
    tool = "antibody-diffusion-properties"

    def options(self, place):
        (place / "codesign_single.pt").write_text("weights")
        return super().options(place) | {"weights": str(place / "codesign_single.pt")}

    def example(self, **changed):
        return super().example(**{"pdbFile": PDB, "numDesigns": 2} | changed)

    @pytest.mark.parametrize(
        ("chosen", "mode"),
        [("DDG_Hydropathy", "ddg_and_hydro"), ("Hydropathy", "hydro"), ("DDG", "ddg")],
    )
    def test_the_property_chooses_the_configuration(self, run, chosen, mode):
        done = run(property=chosen)
        ((*settings,),) = done.arguments("config")
        config = dict(settings)
        assert (config["mode"], config["num_samples"]) == (f"single_cdr_{mode}", "2")
        (arguments,) = done.arguments()
        assert arguments[-4:] == ["--heavy", "H", "--light", "L"]
        assert arguments[arguments.index("--seed") + 1] == str(done.manifest["job"]["seed"])
        rows = done.text("designs.csv").splitlines()
        assert len(rows) == 1 + 6 * 2
        assert rows[1] == "H_CDR1,1,design_H_CDR1_001.pdb,WA,AA"

    def test_scores_are_those_of_its_evaluation(self, run):
        done = run(scoring="binding-ddg")
        assert done.arguments("scoring")
        rows = done.text("designs.csv").splitlines()
        assert rows[0].endswith("before,ddg_kcal_mol,hydropathy,rmsd_a,identity_percent")
        assert rows[1].endswith("WA,AA,-1.75,-0.25,1.5,50.0")

    def test_a_nanobody_has_no_light_chain(self, lab, run):
        (arguments,) = run(task="Nanobody", lightChain=None).arguments()
        assert arguments[-2:] == ["--heavy", "H"]
        assert "Name the nanobody's chain" in self.fail(
            lab, task="Nanobody", lightChain=None, heavyChain=None
        )

    def test_what_the_program_cannot_do_is_refused(self, lab, configure):
        configure()
        assert "one CDR at a time only" in self.refuse(lab, sampleCDRTogether=True)
        assert "no NetSolP" in self.refuse(lab, scoring="netsolp")
        assert "no TemStaPro" in self.refuse(lab, scoring="temstapro")
