"""The adapter for AlphaFlow, with a stand-in for predict.py."""

import json

import pytest
from adapter_contract import AdapterContract

UBIQUITIN = "MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG"
A3M = f">query\n{UBIQUITIN}\n>other\n{UBIQUITIN.replace('M', '-')}\n"
WEIGHTS = [
    f"{program}_{model}_{version}_202402.pt"
    for program in ("alphaflow", "esmflow")
    for model in ("pdb", "md", "md_templates")
    for version in ("base", "distilled")
]

pytestmark = pytest.mark.extra_engine


class TestAlphaFlow(AdapterContract):
    engine = tool = "alphaflow"

    def options(self, place):
        (place / "params").mkdir()
        for name in WEIGHTS:
            (place / "params" / name).write_text("weights")
        return super().options(place) | {"weights": str(place / "params")}

    def example(self, **changed):
        return super().example(**{"msaFile": A3M, "conformations": 2} | changed)

    @pytest.mark.parametrize(
        ("task", "model", "words"),
        [
            ("alphaflow", "pdb", ["--msa_dir", "alignments", "--self_cond", "--resample"]),
            ("alphaflow", "md-atlas", ["--msa_dir", "alignments"]),
            ("esmflow", "pdb", ["--self_cond", "--resample"]),
            ("esmflow", "md-atlas", []),
        ],
    )
    def test_task_and_model_choose_mode_weights_and_flags(self, run, task, model, words):
        given = {"msaFile": None} if task == "esmflow" else {}
        (arguments,) = run(task=task, model=model, **given).arguments()
        weights = f"{task}_{model.removesuffix('-atlas')}_base_202402.pt"
        assert arguments[:2] == ["--mode", {"alphaflow": "alphafold", "esmflow": "esmfold"}[task]]
        assert arguments[arguments.index("--weights") + 1].endswith(f"/params/{weights}")
        assert all(word in arguments for word in words)
        assert len(arguments) == 10 + len(words)

    def test_every_batch_has_the_chosen_number_of_conformations(self, run):
        done = run(conformations=3, numBatches=2)
        assert done.text("ensemble.pdb").count("\nENDMDL") == 6
        rows = done.text("conformations.csv").splitlines()
        assert rows[:3] == ["model,batch,mean_plddt", "1,1,70.00", "2,1,71.00"]
        assert rows[-1] == "6,2,72.00"
        assert done.manifest["job"]["seed"] is None
        assert json.loads(done.files["score.json"]) == {"conformations": 6}

    def test_distilled_weights_and_arguments_of_the_labs_own(self, lab, configure):
        configure(version="distilled", arguments=["--tmax", "0.2", "--steps", "2"])
        done = lab.run("alphaflow", self.example())
        (arguments,) = done.arguments()
        assert arguments[-6:] == ["--noisy_first", "--no_diffusion", "--tmax", "0.2", "--steps", "2"]
        assert "The configuration adds these arguments: --tmax 0.2 --steps 2." in done.manifest["notes"]

    def test_an_unknown_argument_ends_in_the_programs_own_words(self, lab, configure):
        configure(arguments=["--nonsense"])
        assert "unrecognized arguments: --nonsense" in self.fail(lab)

    def test_the_alignment_is_needed_and_must_be_of_the_sequence(self, lab, configure):
        configure()
        assert "give an A3M file as msaFile" in self.refuse(lab, msaFile=None)
        assert "is not the sequence of the job (10 and 76 residues)" in self.fail(
            lab, msaFile=">a\nMQIFVKTLTG\n"
        )
        assert "different numbers of columns" in self.fail(lab, msaFile=f"{A3M}>short\nMQIF\n")
        windows = f"#76\t1\r\n{A3M}".replace("\n", "\r\n")
        assert lab.run("alphaflow", self.example(msaFile=windows)).job["status"] == "Complete"

    def test_weights_that_are_not_there_are_reported_before_a_job_is_queued(self, lab, configure, tmp_path):
        (tmp_path / "alphaflow_pdb_base_202402.pt").write_text("weights")
        configure(weights=str(tmp_path))
        assert "has no alphaflow_md_*.pt" in self.refuse(lab)
        assert lab.run("alphaflow", self.example(model="pdb")).job["status"] == "Complete"

    def test_numbers_that_the_program_does_not_take_are_refused(self, lab, configure):
        configure()
        assert "whole number of 1 or more" in self.fail(lab, conformations=0)
        assert "whole number of 1 or more" in self.fail(lab, conformations=1.5)

    def test_another_python_may_be_found_by_its_name(self, lab, configure):
        configure(python="python3")
        assert lab.run("alphaflow", self.example()).arguments()
