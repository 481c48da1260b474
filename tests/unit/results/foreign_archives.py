"""Archives with other programs' file names; the contents are small and made here, not output of the programs."""

import io
import json

import numpy as np
from result_archives import FV, with_b_factors

LENGTH = 227
PLDDT = [round(float(value), 2) for value in np.random.default_rng(7).uniform(30, 98, LENGTH)]
PAE = np.round(np.random.default_rng(8).uniform(0.5, 30, (LENGTH, LENGTH)), 1)
CIF_HEAD = "loop_\n_ma_qa_metric.id\n_ma_qa_metric.mode\n_ma_qa_metric.name\n_ma_qa_metric.type\n1 local pLDDT pLDDT\n"


def shifted(by):
    return [round(min(99.0, value + by), 2) for value in PLDDT]


def model(by=0.0):
    """Return a PDB whose B-factors are pLDDT although the file does not say so."""
    return with_b_factors(shifted(by))


def cif(by=0.0):
    """Return an mmCIF that declares its B-factors to be pLDDT."""
    import gemmi

    structure = gemmi.read_pdb_string(model(by))
    structure.setup_entities()
    return structure.make_mmcif_document().as_string() + CIF_HEAD


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def alphafold2():
    names = ["model_2_multimer_v3_pred_0", "model_1_multimer_v3_pred_0"]
    ranking = {"iptm+ptm": {names[0]: 0.9, names[1]: 0.4}, "order": names}
    confidence = {"residueNumber": list(range(1, LENGTH + 1)), "confidenceScore": PLDDT}
    return {
        "fv/ranking_debug.json": json.dumps(ranking),
        "fv/ranked_0.pdb": model(),
        "fv/ranked_1.pdb": model(-5),
        f"fv/relaxed_{names[0]}.pdb": model(),
        f"fv/unrelaxed_{names[0]}.pdb": model(),
        f"fv/unrelaxed_{names[1]}.pdb": model(-5),
        f"fv/confidence_{names[0]}.json": json.dumps(confidence),
        f"fv/pae_{names[0]}.json": json.dumps([{"predicted_aligned_error": PAE.tolist()}]),
        f"fv/result_{names[0]}.pkl": b"not read",
        "fv/timings.json": json.dumps({"features": 1.5}),
        "fv/msas/bfd_uniref_hits.a3m": ">q\nACD\n>h\nA-aaD\n",
        "fv/msas/uniref90_hits.sto": "# STOCKHOLM 1.0\nq ACD\nh A-D\n//\n",
    }


def alphafold_database():
    return {
        "AF-P12345-F1-model_v4.pdb": model(),
        "AF-P12345-F1-predicted_aligned_error_v4.json": json.dumps(
            [{"predicted_aligned_error": PAE.tolist(), "max_predicted_aligned_error": 31.75}]
        ),
        "AF-P12345-F1-confidence_v4.json": json.dumps({"confidenceScore": PLDDT}),
    }


def alphafold3_local():
    def summary(score):
        return json.dumps({"ptm": 0.8, "iptm": 0.7, "ranking_score": score, "chain_ptm": [0.8, None]})

    full = json.dumps({"pae": PAE.tolist(), "atom_plddts": PLDDT, "token_chain_ids": ["A"] * LENGTH})
    members = {"fv/fv_ranking_scores.csv": "seed,sample,ranking_score\n1,0,0.5\n1,1,0.9\n"}
    for folder, score, by in (("seed-1_sample-0", 0.5, -5), ("seed-1_sample-1", 0.9, 0)):
        members[f"fv/{folder}/model.cif"] = cif(by)
        members[f"fv/{folder}/confidences.json"] = full
        members[f"fv/{folder}/summary_confidences.json"] = summary(score)
    members["fv/fv_model.cif"] = cif()
    members["fv/fv_confidences.json"] = full
    members["fv/fv_summary_confidences.json"] = summary(0.9)
    members["fv/fv_data.json"] = json.dumps({"name": "fv", "modelSeeds": [1]})
    return members


def plain_cif(by=0.0):
    """Return an mmCIF that declares nothing about its B-factors."""
    import gemmi

    structure = gemmi.read_pdb_string(model(by))
    structure.setup_entities()
    return structure.make_mmcif_document().as_string()


def alphafold3_newer():
    """Names of samples repeat those of their folders, as in version 3.0.1."""
    members = {"fv/fv_ranking_scores.csv": "seed,sample,ranking_score\n1,0,0.5\n2,0,0.9\n"}
    for seed, score, by in ((1, 0.5, -5), (2, 0.9, 0)):
        stem = f"fv/seed-{seed}_sample-0/fv_seed-{seed}_sample-0"
        members[f"{stem}_model.cif"] = cif(by)
        members[f"{stem}_summary_confidences.json"] = json.dumps({"ptm": 0.8, "ranking_score": score})
    members["fv/fv_model.cif"] = cif()
    members["fv/fv_summary_confidences.json"] = json.dumps({"ptm": 0.8, "ranking_score": 0.9})
    return members


def boltz_working_folder():
    """Other files of a run beside its predictions."""
    members = {f"boltz_results_fv/{name}": content for name, content in boltz().items()}
    return members | {
        "boltz_results_fv/processed/manifest.json": json.dumps({"records": [{"id": "fv"}]}),
        "boltz_results_fv/processed/records/fv.json": json.dumps({"id": "fv", "chains": []}),
        "boltz_results_fv/processed/msa/fv_0.npz": npz(sequences=np.zeros(3)),
    }


def protenix():
    members = {}
    for seed, scores in ((101, (0.9, 0.5)), (102, (0.95, 0.4))):
        for sample, score in enumerate(scores):
            stem, by = f"fv/seed_{seed}/predictions/fv_{{}}sample_{sample}", -5 * sample - (seed - 101)
            summary = {"ptm": 0.8, "iptm": 0.7, "ranking_score": score, "chain_ptm": [0.8, 0.7]}
            full = {"token_pair_pae": PAE.tolist(), "atom_plddt": [value / 100 for value in shifted(by)]}
            members[stem.format("") + ".cif"] = plain_cif(by)
            members[stem.format("summary_confidence_") + ".json"] = json.dumps(summary)
            members[stem.format("full_data_") + ".json"] = json.dumps(full)
    return members


def helixfold3():
    """Each sample is in its own folder, and again in one named by its rank."""
    members = {"fv/final_features.pkl": b"not read"}
    for folder, by, score in (
        ("rank1", 0, 0.9),
        ("rank2", -5, 0.8),
        ("pred-1-1", -5, 0.8),
        ("pred-1-2", 0, 0.9),
    ):
        figures = {"ranking_confidence": score, "ptm": 0.8, "iptm": 0.7, "atom_plddts": shifted(by)}
        members[f"fv/fv-{folder}/predicted_structure.pdb"] = model(by)
        members[f"fv/fv-{folder}/predicted_structure.cif"] = plain_cif(by)
        members[f"fv/fv-{folder}/all_results.json"] = json.dumps(figures | {"pae": PAE.tolist()})
    return members


def openfold():
    stem = "predictions/fv_model_1_ptm"
    return {
        f"{stem}_relaxed.pdb": model(),
        f"{stem}_unrelaxed.pdb": model(),
        f"{stem}_output_dict.pkl": b"not read",
        "timings.json": json.dumps({"fv": 1.0}),
    }


def openfold3():
    members = {}
    for seed, sample, score in ((42, 1, 0.5), (42, 2, 0.7), (43, 1, 0.9)):
        stem, by = f"fv/seed_{seed}/fv_seed_{seed}_sample_{sample}", -sample - seed + 43
        figures = {
            "avg_plddt": 70.0,
            "iptm": 0.7,
            "sample_ranking_score": score,
            "chain_ptm": {"1": 0.8, "2": 0.7},
            "chain_pair_iptm": {"(1, 2)": 0.6},
        }
        members[f"{stem}_model.cif"] = plain_cif(by)
        members[f"{stem}_confidences.json"] = json.dumps({"plddt": shifted(by), "pae": PAE.tolist()})
        members[f"{stem}_confidences_aggregated.json"] = json.dumps(figures)
    return members


def rosettafold_all_atom():
    return {
        "fv.pdb": with_b_factors([value / 100 for value in PLDDT]),
        "fv_aux.pt": b"not read",
        "other.pdb": model(),
    }


def rfdiffusion():
    path = f"MODEL        1\n{FV}\nENDMDL\n"
    members = {f"traj/design_{n}_{kind}_traj.pdb": path for n in (0, 1) for kind in ("pX0", "Xt-1")}
    return (
        members | {f"design_{n}.pdb": FV for n in (0, 1)} | {f"design_{n}.trb": b"not read" for n in (0, 1)}
    )


def bindcraft():
    designs = ["t_l88_s1_mpnn2", "t_l88_s1_mpnn4", "t_l70_s9_mpnn1"]
    rows = "".join(f"{rank},{name},{0.9 - rank / 10:.1f}\n" for rank, name in enumerate(designs, 1))
    members = {
        "final_design_stats.csv": f"Rank,Design,Average_i_pTM\n{rows}",
        "Trajectory/Relaxed/t_l88_s1.pdb": FV,
    }
    for rank, name in enumerate(designs, 1):
        members[f"Accepted/{name}_model1.pdb"] = FV
        members[f"Accepted/Ranked/{rank}_{name}_model1.pdb"] = FV
        members[f"MPNN/Relaxed/{name}_model1.pdb"] = FV
    return members


def bindcraft_before_ranking():
    """Designs that passed the filters; the table has no ranks yet, and its names lack the model's number."""
    designs = {"t_l88_s1_mpnn2": (1, 0.6), "t_l88_s1_mpnn4": (2, 0.8), "t_l70_s9_mpnn1": (1, 0.7)}
    rows = "".join(f",{name},{iptm}\n" for name, (_, iptm) in designs.items())
    every = "".join(f"{name},{iptm}\n" for name, (_, iptm) in designs.items())
    members = {
        "final_design_stats.csv": f"Rank,Design,Average_i_pTM\n{rows}",
        "mpnn_design_stats.csv": f"Design,Average_i_pTM\n{every}t_l70_s9_mpnn3,0.1\n",
        "trajectory_stats.csv": "Design,pLDDT\nt_l88_s1,0.8\nt_l70_s9,0.7\n",
        "Trajectory/Relaxed/t_l88_s1.pdb": FV,
        "Rejected/t_l70_s9_mpnn3_model1.pdb": FV,
    }
    for name, (model_number, _) in designs.items():
        members[f"Accepted/{name}_model{model_number}.pdb"] = FV
        members |= {f"MPNN/Relaxed/{name}_model{number}.pdb": FV for number in (1, 2)}
    return members


def proteinmpnn():
    head = "fv, score=1.1705, global_score=1.2045, fixed_chains=['L'], designed_chains=['H'], seed=37"
    design = "T=0.1, sample={}, score=0.{}, global_score=0.9330, seq_recovery=0.5736"
    sequences = [
        (head, "EVQLV/DIQMT"),
        (design.format(1, 72), "EVQLI/DIQMT"),
        (design.format(2, 61), "QVQLV/DIQMT"),
    ]
    return {"seqs/fv.fa": "".join(f">{header}\n{letters}\n" for header, letters in sequences)}


def boltz():
    members = {"predictions/fv/affinity_fv.json": json.dumps({"affinity_pred_value": -1.2})}
    for number, score, by in ((0, 0.9, 0), (1, 0.8, -5)):
        stem = f"fv_model_{number}"
        members[f"predictions/fv/{stem}.pdb"] = with_b_factors([0.0] * LENGTH)
        members[f"predictions/fv/confidence_{stem}.json"] = json.dumps(
            {"confidence_score": score, "ptm": 0.5}
        )
        members[f"predictions/fv/plddt_{stem}.npz"] = npz(plddt=np.array(shifted(by)) / 100)
        members[f"predictions/fv/pae_{stem}.npz"] = npz(pae=PAE.astype("float32"))
    return members


def chai():
    members = {}
    for number, score in ((0, 0.3), (1, 0.7)):
        members[f"pred.model_idx_{number}.cif"] = cif(-5 * number)
        members[f"scores.model_idx_{number}.npz"] = npz(
            aggregate_score=np.array([score]), ptm=np.array([0.5])
        )
    return members


SDF = """{title}
  made

  2  1  0  0  0  0            999 V2000
    1.0000    2.0000    3.0000 C   0  0
    2.5000    2.0000    3.0000 O   0  0
  1  2  1  0
M  END
"""


def diffdock():
    scores = {1: -0.53, 2: -1.9, 10: -3.25}
    members = {"complex_0/rank1.sdf": SDF.format(title="lig"), "complex_0/protein.pdb": FV}
    members |= {
        f"complex_0/rank{rank}_confidence{score}.sdf": SDF.format(title="lig")
        for rank, score in scores.items()
    }
    return members


def gnina():
    records = [
        SDF.format(title="ligand") + f"> <minimizedAffinity>\n{energy}\n\n> <CNNscore>\n{score}\n\n$$$$\n"
        for energy, score in ((-7.5, 0.9), (-8.5, 0.4))
    ]
    return {"receptor.pdb": FV, "docked.sdf.gz": __import__("gzip").compress("".join(records).encode())}
