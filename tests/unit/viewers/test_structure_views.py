"""Results of tools with a value per residue: coloured structure, plot along the chain, tables."""

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from foldnote import catalog
from foldnote.errors import ArgumentError
from foldnote.results import open_result
from foldnote.viewers import result_bundles
from foldnote.viewers.display.antibody_views import show_predicted_errors
from foldnote.viewers.display.structure_views import (
    show_aggregation,
    show_binding_sites,
    show_cyclic_designs,
    show_domains,
    show_ionisation,
    show_new_proteins,
)
from foldnote.viewers.plots.curves import plot_curves
from foldnote.viewers.plots.profile import plot_profile

TRP_CAGE = (Path(catalog.__file__).parent / "examples" / "trp-cage.pdb").read_text()
SCORES = "chain,number,residue,rsa_percent,a3d_score\n" + "".join(
    f"A,{number},ALA,50.0,{(number - 10) / 10:.4f}\n" for number in range(1, 21)
)
CHAINS = "chain,residues,a3d_total,a3d_mean,a3d_max,a3d_min\nA,20,1.0000,0.0500,1.0000,-0.9000\n"
PARTS = "chain,number,residue,secondary,far_contacts,plddt,region,domain,part\n" + "".join(
    f"A,{number},ALA,H,1,90.00,1,{1 if number < 12 else ''},{'Domain 1' if number < 12 else 'Removed loop'}\n"
    for number in range(1, 21)
)
REGIONS = (
    "region,chain,start,end,residues,kind,domain,kept,reason,mean_plddt,sequence\n"
    "1,A,1,11,11,fragment,1,yes,,90.00,NLYIQWLKDGG\n"
    "2,A,12,20,9,loop,,no,non-globular loop,40.00,PSSGRPPPS\n"
)


def make_result(folder, tool, **files):
    manifest = {"job": {"type": tool, "jobName": "my-job"}, "engine": {"method": "Some method"}}
    with zipfile.ZipFile(folder / "r.zip", "w") as archive:
        for name, content in {"manifest.json": json.dumps(manifest), **files}.items():
            archive.writestr(name, content)
    return open_result(folder / "r.zip")


def test_scores_colour_the_protein_and_are_drawn_along_it(tmp_path):
    files = {"aggrescan3d.pdb": TRP_CAGE, "residues.csv": SCORES, "chains.csv": CHAINS}
    result = make_result(tmp_path, "aggrescan3d", **files)
    scene, plot, *tables = show_aggregation(result)

    assert scene.coloring.name == "A3D score"
    assert scene.coloring.values[0]["A"][0] == pytest.approx(-0.9)
    assert [item.label for item in scene.coloring.legend] == [
        "−1, soluble",
        "0",
        "1, tends to aggregate",
    ]
    assert "10 residues above 0." in plot.words
    assert [table["text/plain"].split()[0] for table in tables[:2]] == ["Chains", "Aggregation-prone"]
    assert "could not be used" not in result_bundles(result)[0]["text/plain"]


def test_domains_colour_the_protein_and_what_was_removed_is_grey(tmp_path):
    files = {"domains.pdb": TRP_CAGE, "merged.pdb": TRP_CAGE, "residues.csv": PARTS, "regions.csv": REGIONS}
    result = make_result(tmp_path, "alphacutter", **files)
    scene, regions, profile, *_ = show_domains(result)

    legend = {item.label: item.color for item in scene.coloring.legend}
    assert list(legend) == ["Domain 1", "Removed loop"]
    assert legend["Removed loop"] == "#9aa0a6"
    assert set(scene.coloring.shades[0]["A"]) == {0, 1}
    assert "non-globular loop" in regions["text/plain"]
    assert "NLYIQWLKDGG" not in regions["text/plain"]
    assert profile.words.startswith("20 residues; highest 90 at A:1")
    assert "could not be used" not in result_bundles(result)[0]["text/plain"]


PKA = (
    "chain,number,residue,group,pka,model_pka,pka_shift,buried_percent,charge,coupled\n"
    "A,1,ASN,N-terminus,7.80,8.00,-0.20,0,0.863,False\n"
    "A,8,LYS,side chain,10.31,10.50,-0.19,0,1.000,False\n"
    "A,9,ASP,side chain,2.60,3.80,-1.20,10,-1.000,True\n"
)
CHARGE = "ph,charge_folded,charge_unfolded\n0.0,2.000,2.000\n7.0,0.900,0.800\n14.0,-2.000,-1.900\n"
BINDING = "chain,number,residue,p_bind,rank\n" + "".join(
    f"A,{number},A,{number / 20:.4f},{21 - number}\n" for number in range(1, 21)
)
BAITS = (
    "chain,number,residue,"
    + ",".join("ACDEFGHIKLMNPQRSTVWY")
    + "\n"
    + "".join(
        f"A,{number},A," + ",".join(f"{number + place / 10:.4f}" for place in range(20)) + "\n"
        for number in range(1, 21)
    )
)
DESIGNS = (
    "design,sequence,plddt,ptm,pae,rmsd,loss,seq_recovery,closure_distance\n"
    "design_2,AAAA,0.9,0.5,2.0,0.5,1.5,0.1,1.4\n"
    "design_1,CCCC,0.8,0.4,3.0,0.9,2.0,0.2,1.5\n"
)
LOSS = (
    "design,step,stage,loss,rmsd,plddt\n"
    "1,1,logits,3.0,9.0,0.5\n1,2,hard,2.0,0.9,0.8\n2,1,logits,2.5,9.0,0.5\n2,2,hard,1.5,0.5,0.9\n"
)
STABILITY = "ph,folding_energy_kcal_per_mol\n0.0,0.100\n7.0,-1.500\n14.0,0.700\n"


def test_pka_shifts_colour_the_protein_and_curves_show_charge_and_stability_by_ph(tmp_path):
    files = {"propka.pdb": TRP_CAGE, "pka.csv": PKA, "charge.csv": CHARGE, "stability.csv": STABILITY}
    result = make_result(tmp_path, "propka", **files, **{"score.json": '{"pH": 7.0}'})
    scene, charge, stability, groups, *_ = show_ionisation(result)

    assert scene.coloring.name == "pKa shift"
    assert scene.coloring.values[0]["A"][8] == pytest.approx(-1.2)
    assert scene.coloring.values[0]["A"][1] is None
    assert charge.words == "folded: 2 at 0, -2 at 14; unfolded: 2 at 0, -1.9 at 14."
    assert ">unfolded</text>" in charge.svg
    assert list(charge.data.columns) == ["ph", "charge_folded", "charge_unfolded"]
    assert stability.data["folding_energy_kcal_per_mol"].tolist() == [0.1, -1.5, 0.7]
    assert groups["text/plain"].index("ASP") < groups["text/plain"].index("ASN")
    assert "could not be used" not in result_bundles(result)[0]["text/plain"]


def test_binding_sites_colour_the_protein_and_the_baits_of_the_most_likely_residues_are_drawn(tmp_path):
    files = {"af2bind.pdb": TRP_CAGE, "residues.csv": BINDING, "baits.csv": BAITS}
    result = make_result(tmp_path, "af2bind", **files)
    scene, profile, residues, baits, *rest = show_binding_sites(result)

    assert scene.coloring.name == "p(bind)"
    assert scene.coloring.values[0]["A"][:2] == pytest.approx((0.05, 0.1))
    assert [item.label for item in scene.coloring.legend] == ["0", "0.5", "1, binds a small molecule"]
    assert "10 residues above 0.5." in profile.words
    assert residues["text/plain"].index(" 20 ") < residues["text/plain"].index(" 19 ")
    assert list(baits.data.index) == list("ACDEFGHIKLMNPQRSTVWY")
    assert list(baits.data.columns) == [f"A{number}" for number in range(1, 21)]
    assert baits.data.loc["C", "A3"] == pytest.approx(3.1)
    assert "at bait amino acid Y and residue A20" in baits.words
    assert not any("baits.csv" in table["text/plain"] for table in rest)
    assert "could not be used" not in result_bundles(result)[0]["text/plain"]


def test_for_a_long_chain_the_baits_of_the_most_likely_residues_are_drawn_in_chain_order(tmp_path):
    chances = "chain,number,residue,p_bind,rank\n" + "".join(
        f"A,{number},A,{0.9 if number % 2 else 0.1},1\n" for number in range(1, 101)
    )
    baits = "chain,number,residue,A,C\n" + "".join(f"A,{number},A,0.0,0.0\n" for number in range(1, 101))
    result = make_result(
        tmp_path, "af2bind", **{"af2bind.pdb": TRP_CAGE}, **{"residues.csv": chances, "baits.csv": baits}
    )
    plot = show_binding_sites(result)[3]

    assert plot.data.shape == (2, 60)
    assert list(plot.data.columns[:12]) == [
        f"A{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    ]
    assert plot.data.columns[-1] == "A99"
    assert "60 most likely residues" in plot.title


def test_cyclic_designs_come_as_table_then_the_loss_of_each_then_the_peptides(tmp_path):
    files = {"design_1.pdb": TRP_CAGE, "design_2.pdb": TRP_CAGE, "designs.csv": DESIGNS, "loss.csv": LOSS}
    result = make_result(tmp_path, "afcycdesign", **files)
    designs, course, *rest = show_cyclic_designs(result)

    assert designs["text/plain"].startswith("Designs, lowest loss first")
    assert designs["text/plain"].index("design_2") < designs["text/plain"].index("design_1")
    assert course.data["design_2"].tolist() == [2.5, 1.5]
    assert course.words == "design_2: 2.5 at 1, 1.5 at 2; design_1: 3 at 1, 2 at 2."
    assert any("loss.csv" in table["text/plain"] for table in rest)
    assert "failed" not in result_bundles(result)[0]["text/plain"]


def test_new_proteins_come_with_their_figures_then_as_one_table(tmp_path):
    table = "file,contig,radius_of_gyration,n_chainbreaks,sequence\ndesign_1.pdb,20,7.1,0,NLYIQ\ndesign_2.pdb,20,9.5,2,NLYIW\n"
    files = {"design_1.pdb": TRP_CAGE, "design_2.pdb": TRP_CAGE, "designs.csv": table}
    structure, designs = show_new_proteins(make_result(tmp_path, "rfdiffusion3", **files))

    assert "radius of gyration" in structure["text/html"]
    assert designs["text/plain"].startswith("Designs, in the order in which they were made")
    assert "NLYIW" in designs["text/plain"]


def test_curves_need_their_columns_and_numbers():
    frame = pd.DataFrame({"ph": [1.0, 2.0], "charge": [None, None]})
    for columns in ({"charge": "charge"}, {"missing": "missing"}):
        with pytest.raises(ArgumentError):
            plot_curves(frame, "ph", columns, "Charge", labels=("pH", "e"))


@pytest.mark.parametrize(
    "tool", ["aggrescan3d", "alphacutter", "propka", "af2bind", "afcycdesign", "rfdiffusion3"]
)
def test_results_of_another_form_have_the_usual_layout(tmp_path, tool):
    shown = result_bundles(make_result(tmp_path, tool, **{"t.csv": "a\n1\n"}))

    assert shown[0]["text/plain"].startswith("t.csv 1 row")


def test_a_profile_names_the_chains_and_says_the_ends():
    frame = pd.DataFrame({"chain": ["A"] * 3 + ["B"] * 3, "number": [1, 2, "2A", 1, 2, 3], "v": range(6)})
    plot = plot_profile(frame, "v", "Values", level=2)

    assert plot.words == "6 residues; highest 5 at B:3, lowest 0 at A:1, mean 2.5. 3 residues above 2."
    assert plot.data["position"].tolist() == [1, 2, 3, 4, 5, 6]
    assert plot.drawing.x.names == ["A", "B"]
    assert "<svg" in plot.svg


@pytest.mark.parametrize("column", ["w", "number"])
def test_a_column_that_is_missing_or_has_no_numbers_is_refused(column):
    frame = pd.DataFrame({"chain": ["A"], "number": ["1A"], "v": [1.0]})

    with pytest.raises(ArgumentError):
        plot_profile(frame, column, "Values")


def test_predicted_errors_colour_an_antibody_and_are_drawn_along_it(tmp_path):
    header = "REMARK   1 ANTIBODY STRUCTURE MODELLED USING IGFOLD\n"
    lines = [f"{line[:60]}{place / 500:6.2f}{line[66:]}" for place, line in enumerate(TRP_CAGE.splitlines())]
    result = make_result(tmp_path, "igfold", **{"prediction.pdb": header + "\n".join(lines)})
    scene, plot, *_ = show_predicted_errors(result)
    assert scene.coloring.name == "Predicted error (Å, lower is better)"
    assert list(plot.data.columns) == ["position", "chain", "number", "Predicted error (Å)"]
    assert len(plot.data) == 20


def test_an_antibody_without_errors_has_the_default_layout(tmp_path):
    result = make_result(tmp_path, "abodybuilder", **{"prediction.pdb": TRP_CAGE})
    assert not any("predicted error" in part["text/plain"] for part in show_predicted_errors(result))
