"""Results on sequences: figures, motifs, and plots if there is one sequence."""

import json

import pytest
from table_data import unpack

from foldnote.viewers import result_bundles
from foldnote.viewers.display.antibody_views import show_generated
from foldnote.viewers.display.sequence_views import show_designs, show_properties

FIGURES = "name,residues,molecular_weight_da,isoelectric_point,problem\nfirst,4,500.1,4.2,\n"
MOTIFS = "name,motif,position,residues,meaning\nfirst,deamidation,2,NG,asparagine before a small residue\n"
HYDROPATHY = "chain,number,residue,hydropathy\nfirst,1,A,1.800\nfirst,2,N,-0.700\nfirst,3,G,-1.300\n"
CHARGE = "name,ph,charge\nfirst,0.0,2.0\nfirst,7.0,0.1\nfirst,14.0,-2.0\n"


def test_one_sequence_has_its_figures_its_hydropathy_and_its_charge(open_files):
    files = {
        "properties.csv": FIGURES,
        "motifs.csv": MOTIFS,
        "hydropathy.csv": HYDROPATHY,
        "charge.csv": CHARGE,
        "score.json": '{"pH": 7.4}',
    }
    result = open_files("sequence-properties", files)
    figures, hydropathy, charge, motifs, *_ = show_properties(result)
    assert "problem" not in figures["text/plain"]
    assert hydropathy.data["hydropathy"].tolist() == [1.8, -0.7, -1.3]
    assert charge.words == "charge: 2 at 0, -2 at 14."
    assert "deamidation" in motifs["text/plain"]
    assert "could not be used" not in result_bundles(result)[0]["text/plain"]


def test_several_sequences_keep_their_problems_and_have_no_plot_of_one(open_files):
    second = FIGURES + "second,,,,The sequence is empty.\n"
    charges = CHARGE + CHARGE.split("\n", 1)[1].replace("first", "third")
    files = {
        "properties.csv": second,
        "motifs.csv": MOTIFS,
        "hydropathy.csv": HYDROPATHY,
        "charge.csv": charges,
    }
    figures, motifs, *_ = show_properties(open_files("sequence-properties", files))
    assert "The sequence is empty." in figures["text/plain"]
    assert "deamidation" in motifs["text/plain"]


def test_a_result_without_motifs_has_the_usual_layout(open_files):
    assert result_bundles(open_files("sequence-properties", {"properties.csv": FIGURES}))[0][
        "text/plain"
    ].startswith("properties.csv")


DESIGNS = "name,mpnn_score,sequence_A\ninput,1.9,AC\ndesign_2,0.8,GC\ndesign_1,0.9,SC\n"
PROBABILITIES = "chain,residue,given,designed,A,C\nA,7,A,G,0.25,0.5\nA,7A,C,C,0.1,0.9\n"


@pytest.mark.parametrize("tool", ["proteinmpnn", "abmpnn"])
def test_designs_come_with_the_probabilities_of_amino_acids_by_residue(open_files, tool):
    result = open_files(tool, {"designs.csv": DESIGNS, "probabilities.csv": PROBABILITIES})
    table, plot, *_ = show_designs(result)
    assert table["text/plain"].index("input") < table["text/plain"].index("design_2")
    assert plot.data.loc["C"].to_dict() == {"A7": 0.5, "A7A": 0.9}
    assert "the highest, 0.9, is at amino acid C and residue A7A" in plot.words
    assert "Mean probability of each amino acid" in str(result_bundles(result))
    score = unpack(table["text/html"])["columns"][1]
    assert "ProteinMPNN score (nats per residue)" in score["about"]
    assert score["better"] == "lower"


def test_designs_around_a_ligand_are_described_by_confidence_and_come_with_their_context(open_files):
    probabilities = PROBABILITIES.replace("designed,", "designed,ligand_distance,", 1)
    probabilities = probabilities.replace("A,G,", "A,G,3.4,").replace("C,C,", "C,C,9.1,")
    files = {
        "designs.csv": DESIGNS.replace("mpnn_score", "overall_confidence", 1),
        "probabilities.csv": probabilities,
        "context.csv": "component,chain,residue,heavy_atoms,seen,designed_distance\nHEM,A,201,43,yes,3.4\n",
    }
    table, plot, *rest = result_bundles(open_files("ligandmpnn", files))
    shown = show_designs(open_files("ligandmpnn", files))
    assert "highest confidence first" in table["text/plain"]
    assert list(shown[1].data.index) == ["A", "C"]
    assert any("HEM" in each.get("text/plain", "") for each in [plot, *rest])


def test_a_plot_of_many_designed_residues_is_cut_and_its_title_says_so(open_files):
    rows = "".join(f"A,{number},A,C,0.1,0.9\n" for number in range(1, 302))
    head = PROBABILITIES.split("\n")[0] + "\n"
    _, plot, *_ = show_designs(
        open_files("proteinmpnn", {"designs.csv": DESIGNS, "probabilities.csv": head + rows})
    )
    assert plot.title.endswith("the first 200 of 301 residues")
    assert plot.data.shape == (2, 200)


def test_designs_without_probabilities_have_the_usual_layout(open_files):
    assert "designs.csv" in show_designs(open_files("proteinmpnn", {"designs.csv": DESIGNS}))[0]["text/plain"]


def test_generated_chains_are_one_table_and_no_second_one_of_the_same(open_files):
    table = "name,perplexity,residues,ended,sequence\nsequence_1,9.5,4,yes,EVQL\n"
    files = {"sequences.csv": table, "sequences.fasta": ">sequence_1 perplexity=9.5\nEVQL\n"}
    shown, *rest = show_generated(open_files("abgpt", files))
    assert "Generated sequences, lowest perplexity first" in shown["text/plain"]
    assert not any("EVQL" in each["text/plain"] for each in rest)


def test_a_run_with_stand_in_weights_says_so_first(open_files):
    weights = {"engine": {"method": "Some method", "weights": [{"state": "stand-in"}]}}
    manifest = json.dumps({"job": {"type": "proteinmpnn", "jobName": "j"}, **weights})
    marked = open_files("proteinmpnn", {"designs.csv": DESIGNS, "manifest.json": manifest})
    assert "nothing here is a prediction" in result_bundles(marked)[0]["text/plain"]
    assert (
        "nothing here"
        not in result_bundles(open_files("proteinmpnn", {"designs.csv": DESIGNS}))[0]["text/plain"]
    )
