"""Archives of programs that write tables beside structures; names and layouts are theirs, the figures are made up."""

import gzip
import json

import numpy as np
from foreign_archives import FV, LENGTH, PAE, PLDDT, model, npz, plain_cif, shifted


def haddock3():
    """Every step of the run contains structures; a table ranks those of a step."""
    head = "model\tmd5\tcaprieval_rank\tscore\tirmsd\tfnat\tlrmsd\tdockq\tcluster_id\tbsa\n"
    row = "../6_seletopclusts/cluster_{}_model_{}.pdb\t-\t{}\t{}\t{}\t0.3\t5.4\t0.4\t{}\t1209.8\n"
    ranked = [(1, 1, 2, -37.5, 3.1), (1, 2, 1, -37.7, 3.0), (2, 1, 3, -20.1, 9.9)]
    remarks = "####\n# `caprieval` cluster-based analysis\n#\n"
    members = {f"run1/1_rigidbody/rigidbody_{n}.pdb": FV for n in (1, 2, 10)}
    members |= {f"run1/4_emref/emref_{n}.pdb.gz": gzip.compress(FV.encode()) for n in (1, 2)}
    members |= {
        f"run1/6_seletopclusts/cluster_{c}_model_{m}.pdb.gz": gzip.compress(FV.encode())
        for c, m, *_ in ranked
    }
    return members | {
        "run1/0_topoaa/fv_haddock.pdb": FV,
        "run1/7_caprieval/capri_ss.tsv": head + "".join(row.format(c, m, *rest, c) for c, m, *rest in ranked),
        "run1/7_caprieval/capri_clt.tsv": remarks + "cluster_rank\tcluster_id\tn\n1\t16\t10\n2\t3\t4\n",
        "run1/data/1_rigidbody/fv.pdb": FV,
        "run1/6_seletopclusts/seletopclusts.txt": "rel_path\n",
    }


def rosetta():
    lines = [
        "SEQUENCE: ",
        "SCORE: total_score       dslf_fa13    fa_atr description ",
        "SCORE:    -120.500           0.000  -300.100 fv_0001",
        "SCORE: total_score       dslf_fa13    fa_atr description ",
        "SCORE:    -150.250           0.000  -310.100 fv_0002",
    ]
    return {
        "fv_0001.pdb": FV,
        "fv_0002.pdb": FV,
        "score.sc": "\n".join(lines) + "\n",
        "fv.silent": "SEQUENCE: EVQL\nSCORE: score description\n",
    }


def ipsae():
    """Several rows concern parts of one model, and none the whole model."""
    head = "\nChn1 Chn2  PAE Dist  Type   ipSAE    ipTM_af   LIS       Model\n"
    rows = [("H", "L", "asym", 0.448952), ("L", "H", "asym", 0.866498), ("H", "L", "max", 0.866498)]
    text = "".join(
        f"{a}    {b}     10   10   {t}  {s}    0.870  0.6484   fv_model_0\n" for a, b, t, s in rows
    )
    byres = "i   AlignChn ScoredChain  AlignResNum  ipSAE \n1       H         L            1           0.21\n"
    return {
        "fv_model_0.pdb": model(),
        "fv_model_0_10_10.txt": head + text,
        "fv_model_0_10_10_byres.txt": byres,
        "fv_model_0_10_10.pml": "set bg_color\n",
    }


def foldx():
    remarks = (
        "FoldX 5 (c)\nby the FoldX Consortium\n\n---\nPDB file analysed: fv.pdb\nOutput type: BuildModel\n"
    )
    return {
        "fv_1.pdb": FV,
        "WT_fv_1.pdb": FV,
        "Dif_fv.fxout": remarks + "Pdb\ttotal energy\tBackbone Hbond\nfv_1.pdb\t1.25\t-0.5\n",
    }


def boltzgen():
    best = "final_ranked_designs/final_2_designs"
    table = "id,final_rank,design_to_target_iptm,filter_rmsd\nfv_7,2,0.5,1.9\nfv_3,1,0.8,1.2\n"
    members = {f"intermediate_designs/fv_{n}.cif": plain_cif() for n in (3, 7)}
    members |= {f"intermediate_designs/fv_{n}.npz": npz(pae=PAE) for n in (3, 7)}
    return members | {
        f"{best}/rank2_fv_7.cif": plain_cif(),
        f"{best}/rank1_fv_3.cif": plain_cif(-5),
        "final_ranked_designs/all_designs_metrics.csv": table,
    }


def ligandmpnn():
    head = "fv, T=0.1, seed=111, num_res=11, use_ligand_context=True, model_path=./x.pt"
    design = "fv, id=1, T=0.1, seed=111, overall_confidence=0.4794, ligand_confidence=0.5111, seq_rec=0.5269"
    return {"seqs/fv.fa": f">{head}\nEVQLV:DIQMTQ\n>{design}\nEVQLI:DIQMTQ\n", "backbones/fv_1.pdb": FV}


def searches():
    """Hits of a search, with and without a header line."""
    row = "q1\t1abc_A\t0.53\t100\t47\t0\t1\t100\t5\t104\t1.2E-20\t{}\n"
    return {
        "aln.m8": row.format(250) + row.format(90),
        "named.m8": "query\ttarget\tfident\talntmscore\nq1\t1abc_A\t0.53\t0.9\n",
        "fv_env/pdb70.m8": (row.format(250)).replace("\n", "\t100M\n"),
    }


def esmfold():
    return {"fv.pdb": "PARENT N/A\n" + model()}


def casp():
    """A submission in which B-factors may be errors in Å."""
    return {
        "T1000TS001_1": "",
        "T1000TS001_1.pdb": "PFRMAT TS\nTARGET T1000\nMODEL 1\nPARENT N/A\n" + model(),
    }


def rosettafold2():
    lddt = np.array(PLDDT, dtype=np.float16) / 100
    arrays = npz(dist=PAE.astype(np.float16), lddt=lddt, pae=PAE)
    return {"models/model_00_pred.pdb": model(), "models/model_00.npz": arrays}


def immunebuilder():
    """B-factors are errors in Å; the refined model is the result."""
    members = {f"rank{n}_unrefined.pdb": FV for n in range(4)}
    return members | {"final_model.pdb": FV, "error_estimates.npy": b"\x93NUMPY"}


def colabfold_batch():
    """Two jobs side by side in one folder, with the names of several versions."""
    members = {"log.txt": "done\n", "config.json": json.dumps({"num_models": 2, "model_type": "x"})}
    for job in ("one", "two"):
        for rank, number, by in ((1, 4, 0), (2, 2, -5)):
            stem = f"rank_00{rank}_alphafold2_multimer_v3_model_{number}_seed_000"
            scores = {
                "plddt": shifted(by),
                "pae": PAE.tolist(),
                "max_pae": 30.0,
                "ptm": 0.8,
                "iptm": 0.9 - by / 50,
            }
            members[f"{job}_unrelaxed_{stem}.pdb"] = model(by)
            members[f"{job}_scores_{stem}.json"] = json.dumps(scores)
        members[f"{job}.a3m"] = "#120,107\t1,1\n>101\t102\n" + "A" * LENGTH + "\n"
        members[f"{job}.done.txt"] = ""
        members[f"{job}_pae.png"] = b"\x89PNG"
        pae = [{"predicted_aligned_error": PAE.tolist(), "max_predicted_aligned_error": 30.0}]
        members[f"{job}_predicted_aligned_error_v1.json"] = json.dumps(pae)
    return members


def older_colabfold():
    return {
        "fv_unrelaxed_rank_1_model_3.pdb": model(),
        "fv_unrelaxed_rank_2_model_1.pdb": model(-5),
        "fv_unrelaxed_rank_1_model_3_scores.json": json.dumps(
            {"max_pae": 30.0, "pae": PAE.tolist(), "ptm": 0.7}
        ),
    }


def alphalink():
    """The list gives figures in its own order, without names."""
    names = ["AlphaLink2_model_4_seed_33913_0.055", "AlphaLink2_model_0_seed_97923_0.054"]
    return {
        "ranking_debug.json": json.dumps({"iptm+ptm": [0.055, 0.054], "order": names}),
        **{f"{name}.pdb": model(-5 * n) for n, name in enumerate(names)},
        **{f"ranked_{n}.pdb": model(-5 * n) for n in range(2)},
        **{f"pae_{name}.json": json.dumps([{"predicted_aligned_error": PAE.tolist()}]) for name in names},
    }


def modelcif_with_a_file_of_its_errors():
    """The errors of pairs are in a separate file, which has a structure's suffix and no atoms."""
    loop = (
        "loop_\n_ma_qa_metric_local_pairwise.ordinal_id\n_ma_qa_metric_local_pairwise.metric_value\n1 2.5\n"
    )
    return {"ranked_0.pdb": model(), "ranked_0_local_pairwise_qa.cif": "data_x\n" + loop}
