"""The adapter for ADAPT, with a stand-in for design/dock_design.py."""

from adapter_contract import AdapterContract

HEAD = "organism\tmhc_class\tmhc\tpeptide\n"
TARGETS = f"{HEAD}human\t1\tA*02:01\tGILGFVFTL\nhuman\t1\tA*01:01\tEVDPIGHLY\n"


class TestAdapt(AdapterContract):
    engine = tool = "adapt"

    def example(self, **changed):
        return super().example(**{"pmhcTargets": TARGETS, "numDesigns": 2} | changed)

    def test_every_setting_is_an_argument_of_the_script(self, run):
        done = run(tcrPdbids="1OGA 5bs0", designCdrs="0 3 7", numDesigns=3)
        (arguments,) = done.arguments()
        assert arguments == [
            *("--pmhc_targets", "targets.tsv", "--num_designs", "3", "--outfile_prefix", "design"),
            *("--tcr_pdbids", "1oga", "5bs0", "--design_cdrs", "0", "3", "7"),
            *("--random_state", str(done.manifest["job"]["seed"]), "--skip_rf_antibody"),
        ]
        rows = done.text("designs.csv").splitlines()
        assert [row.split(",")[:2] for row in rows[1:]] == [[str(i), f"design_00{i}.pdb"] for i in (1, 2, 3)]
        assert [row.split(",")[-1] for row in rows] == ["pmhc_tcr_pae", "7.0", "8.0", "9.0"]
        assert "model_pdbfile" not in rows[0]

    def test_rf_antibody_ranks_where_it_is_turned_on(self, lab, configure):
        configure(rf_antibody="yes", arguments=["--allow_mhc_mismatch"])
        done = lab.run("adapt", self.example())
        assert done.arguments()[0][-1] == "--allow_mhc_mismatch"
        assert "--skip_rf_antibody" not in done.arguments()[0]
        assert "Designs are ranked by combo_score_wtd, the lowest first." in done.manifest["notes"]
        configure(rf_antibody="perhaps")
        assert "which is not one of no, yes" in self.refuse(lab)

    def test_targets_that_the_script_cannot_take_are_refused(self, lab, configure):
        configure("fail")
        assert "class 2; ADAPT designs against class 1 only" in self.fail(
            lab, pmhcTargets=f"{HEAD}human\t2\tDRB1\tGILGFVFTL\n"
        )
        assert "knows human and mouse" in self.fail(lab, pmhcTargets=f"{HEAD}rat\t1\tA*02:01\tGILGFVFTL\n")
        done = lab.run("adapt", self.example(pmhcTargets=TARGETS.replace("\n", "\r\n")))
        assert "what AlphaFold said" in done.log
