"""The adapter for AF2Dock, with a stand-in for predict.py."""

from adapter_contract import AdapterContract

PDB = "".join(
    f"ATOM  {i:5}  CA  ALA A{i:4}    {3.8 * i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
    for i in range(1, 6)
)


class TestAF2Dock(AdapterContract):
    engine = tool = "af2dock"

    def options(self, place):
        (place / "af2dock.pt").write_text("weights")
        return super().options(place) | {"weights": str(place / "af2dock.pt")}

    def example(self, **changed):
        return super().example(**{"receptorFile": PDB, "ligandFile": PDB, "numSamples": 2} | changed)

    def test_samples_and_steps_are_the_programs_and_complexes_are_ranked(self, run):
        done = run(numSamples=3, numSteps=7)
        (arguments,) = done.arguments()
        assert arguments[arguments.index("--num_samples") + 1] == "3"
        assert arguments[arguments.index("--num_steps") + 1] == "7"
        assert arguments[arguments.index("--data_random_seed") + 1] == str(done.manifest["job"]["seed"])
        assert done.text("scores.csv").splitlines() == [
            "rank,file,sample,iptm,mean_plddt",
            "1,complex_001.pdb,2,0.7,82.00",
            "2,complex_002.pdb,1,0.6,81.00",
            "3,complex_003.pdb,0,0.5,80.00",
        ]
        assert " 82.00 " in done.text("complex_001.pdb")

    def test_a_structure_without_a_protein_and_no_samples_are_refused(self, lab, configure):
        configure(weights=None)
        assert "weights (the file of weights" in self.refuse(lab)
        configure()
        water = PDB.replace("ALA", "HOH").replace("ATOM  ", "HETATM")
        assert "The ligand protein has no residues of a protein" in self.fail(lab, ligandFile=water)
        assert "whole number of 1 or more" in self.fail(lab, numSteps=0)
