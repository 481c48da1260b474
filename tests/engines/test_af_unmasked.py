"""The adapter for AF_unmasked, with stand-ins for prepare_templates.py and run_alphafold.py."""

import pytest
from adapter_contract import AdapterContract

PDB = "".join(
    f"ATOM  {i:5}  CA  ALA {chain}{i:4}    {3.8 * i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
    for chain in "AB"
    for i in range(1, 6)
)

pytestmark = pytest.mark.extra_engine


class TestAFUnmasked(AdapterContract):
    engine = "af_unmasked"
    tool = "af-unmasked"

    def options(self, place):
        (place / "databases.flag").write_text("--data_dir=/databases\n")
        return super().options(place) | {"flags": str(place / "databases.flag")}

    def example(self, **changed):
        return super().example(**{"sequence": "ACDEF:GHIKL", "templateFile": PDB} | changed)

    def test_every_setting_is_an_argument_of_one_of_the_scripts(self, run):
        done = run(
            modelType="multimer_v2",
            predictionsPerModel=2,
            useDropout=True,
            modelsToUse="model_1_multimer_v2, model_5_multimer_v2",
            crossChainTemplatesOnly=True,
            inpaint_clashes=False,
            align=True,
            repeat_template=2,
        )
        first, second = done.arguments("template")
        assert first[-2:] == ["--align", "--noinpaint_clashes"]
        assert second == [*first, "--append"]
        (arguments,) = done.arguments()
        assert arguments[4:] == [
            "--model_preset=multimer_v2",
            "--num_multimer_predictions_per_model=2",
            f"--random_seed={done.manifest['job']['seed']}",
            "--models_to_use=model_1_multimer_v2,model_5_multimer_v2",
            "--dropout",
            "--cross_chain_templates_only",
        ]
        rows = done.text("scores.csv").splitlines()
        assert rows[1] == "1,ranked_001.pdb,model_5_multimer_v2_pred_2,0.9000,90.00"
        assert len(rows) == 5

    def test_the_defaults_fill_four_slots_and_run_five_networks(self, run):
        done = run()
        assert len(done.arguments("template")) == 4
        assert len(done.text("scores.csv").splitlines()) == 6

    def test_what_does_not_fit_is_refused(self, lab, configure):
        configure()
        assert "with multimer_v3 there are" in self.fail(lab, modelsToUse="model_1_multimer_v2")
