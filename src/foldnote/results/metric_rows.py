"""The table of known metrics: confidence, docking and geometry; the chemistry stands beside it.

A row names what is published about a figure; where neither direction is better, or it depends on what is
asked, the direction is left open. Ranges are those that the definition allows.
"""

from __future__ import annotations

from foldnote.results.metric import POSITIVE, SHARE, Metric
from foldnote.results.metric_rows_chemistry import CHEMISTRY

_TM = "Zhang and Skolnick, Proteins 57, 702 (2004)"
_AF2 = "Jumper et al., Nature 596, 583 (2021)"
_MULTIMER = "Evans et al., bioRxiv 2021.10.04.463034"
_AF3 = "Abramson et al., Nature 630, 493 (2024)"
_BOLTZ = "Wohlwend et al., bioRxiv 2024.11.19.624167"
_BOLTZ2 = "Passaro et al., bioRxiv 2025.06.14.659707"
_CHAI = "Chai Discovery, bioRxiv 2024.10.10.615955"
_VINA = "Trott and Olson, J. Comput. Chem. 31, 455 (2010)"
_IPSAE = "Dunbrack, bioRxiv 2025.02.10.637595"
_LIS = "Kim et al., bioRxiv 2024.02.19.580970"
_CAPRI = "Méndez et al., Proteins 52, 51 (2003)"
_GNINA = "McNutt et al., J. Cheminform. 13, 43 (2021)"

_CONFIDENCE = (
    Metric(
        "pTM", "0 to 1", True, "Predicted TM-score of the whole model.", ("ptm", "average_ptm"), range=SHARE,
        source=_AF2,
    ),
    Metric(
        "ipTM", "0 to 1", True, "Predicted TM-score over the interfaces between chains.",
        ("iptm", "average_i_ptm"), range=SHARE, source=_MULTIMER,
    ),
    Metric(
        "0.8 ipTM + 0.2 pTM", "0 to 1", True, "The figure by which AlphaFold-Multimer ranks its models.",
        ("iptm+ptm",), range=SHARE, source=_MULTIMER,
    ),
    Metric(
        "ranking confidence", "the program's own scale", True,
        "The figure by which the program ranks its models.",
        ("ranking_confidence",), source=_MULTIMER,
    ),
    Metric(
        "ranking score", "-100 to 1.5", True,
        "The figure by which the program ranks its models, with terms for disorder and clashes.",
        ("ranking_score", "sample_ranking_score"), range=(-100.0, 1.5), source=_AF3,
    ),
    Metric(
        "confidence score", "0 to 1", True,
        "The figure by which the program ranks its models: 0.8 pLDDT + 0.2 ipTM.",
        ("confidence_score",), range=SHARE, source=_BOLTZ,
    ),
    Metric(
        "aggregate score", "the program's own scale", True,
        "The figure by which the program ranks its models.",
        ("aggregate_score",), source=_CHAI,
    ),
    Metric(
        "mean pLDDT", "0 to 100, or 0 to 1 as the file says", True,
        "Predicted local distance difference test, averaged.",
        ("mean_plddt", "complex_plddt", "plddt", "avg_plddt", "average_plddt", "plddt_mean"),
        range=(0.0, 100.0), source=_AF2,
    ),
    Metric(
        "interface pLDDT", "0 to 1", True, "pLDDT averaged with a higher weight at interfaces.",
        ("complex_iplddt", "iplddt", "i_plddt", "interface_plddt"), range=SHARE, source=_BOLTZ,
    ),
    Metric(
        "PDE", "Å", False, "Predicted error of distances, averaged.", ("complex_pde", "pde"),
        range=POSITIVE, source=_BOLTZ,
    ),
    Metric(
        "interface PDE", "Å", False, "Predicted error of distances, averaged over interfaces.",
        ("complex_ipde", "ipde"), range=POSITIVE, source=_BOLTZ,
    ),
    Metric(
        "mean PAE", "Å", False, "Predicted aligned error, averaged over all pairs.", ("mean_pae",
        "avg_pae"),
        range=POSITIVE, source=_AF2,
    ),
    Metric(
        "largest PAE", "Å", False, "Predicted aligned error of the worst pair.",
        ("max_pae", "max_predicted_aligned_error"), range=POSITIVE, source=_AF2,
    ),
    Metric(
        "interface PAE", "Å, or 0 to 1 (of 31 Å) as the file says", False,
        "Predicted aligned error, averaged over pairs of residues of different chains.",
        ("ipae", "i_pae", "interface_pae", "pae_interaction", "average_i_pae", "average_interface_pae"),
        range=POSITIVE,
        source="Bennett et al., Nat. Commun. 14, 2625 (2023)",
    ),
    Metric(
        "ligand ipTM", "0 to 1", True, "ipTM over the interfaces of ligands with polymers.", ("ligand_iptm",),
        range=SHARE, source=_BOLTZ,
    ),
    Metric(
        "protein ipTM", "0 to 1", True, "ipTM over the interfaces between proteins; 0 where there is none.",
        ("protein_iptm",), range=SHARE, source=_BOLTZ,
    ),
    Metric(
        "disordered share", "0 to 1", None, "Share of residues predicted as disordered.",
        ("fraction_disordered",),
        range=SHARE, source=_AF3,
    ),
    Metric(
        "clash", "0 or 1", False, "Whether atoms of the model overlap.", ("has_clash",
        "has_inter_chain_clashes"),
        range=SHARE, source=_AF3,
    ),
    Metric(
        "ipSAE", "0 to 1", True, "ipTM over the pairs of residues of two chains with a low aligned error.",
        ("ipsae", "ipsae_d0chn", "ipsae_d0dom", "ipsae_min", "ipsae_max"), range=SHARE, source=_IPSAE,
    ),
    Metric(
        "ipTM of a pair of chains", "0 to 1", True, "ipTM of two chains, from the aligned errors or as the "
        "program gives it.",
        ("iptm_af", "iptm_d0chn", "iptm_pae", "chain_pair_iptm", "pair_chains_iptm", "actifptm"), range=SHARE,
        source=_MULTIMER,
    ),
    Metric(
        "LIS", "0 to 1", True, "Local interaction score: low aligned errors between chains, averaged.",
        ("lis", "ilis", "average_lis", "best_lis", "clis"), range=SHARE, source=_LIS,
    ),
    Metric(
        "mean confidence of the design", "0 to 1", True,
        "Exponential of the mean log-probability of the designed residues.",
        ("overall_confidence", "ligand_confidence"), range=SHARE,
        source="Dauparas et al., Nat. Methods 22, 717 (2025)",
    ),
    Metric(
        "pDockQ", "0 to 1", True, "Predicted quality of an interface from its pLDDT and contacts.",
        ("pdockq", "pdockq2"), range=SHARE, source="Bryant et al., Nat. Commun. 13, 1265 (2022)",
    ),
)  # fmt: skip

_DOCKING = (
    Metric(
        "affinity", "kcal/mol", False, "Free energy of binding as the docking program estimates it.",
        ("affinity", "minimizedAffinity", "vina_score", "vina_affinity", "docking_score", "free_energy",
        "binding_energy",
         "binding_affinity", "r_i_docking_score", "r_i_glide_gscore", "best_affinity"),
        group="docking", source=_VINA,
    ),
    Metric(
        "docking score", "the program's own scale", False,
        "The figure by which the program ranks its poses.",
        ("r_i_glide_emodel", "SCORE.INTER", "SCORE.INTER.norm", "haddock_score"), group="docking",
    ),
    Metric(
        "docking fitness", "the program's own scale", True,
        "The figure by which the program ranks its poses.",
        ("Gold.PLP.Fitness", "Gold.Goldscore.Fitness", "Gold.Chemscore.Fitness", "Gold.ASP.Fitness"),
        group="docking",
    ),
    Metric(
        "CNN score", "0 to 1", True, "Predicted probability that the pose lies within 2 Å of the true one.",
        ("CNNscore", "cnn_pose_score"), group="docking", range=SHARE, source=_GNINA,
    ),
    Metric(
        "CNN affinity", "pK", True,
        "Predicted binding strength as the negative logarithm of a constant in mol/L.",
        ("CNNaffinity",), group="docking", source=_GNINA,
    ),
    Metric(
        "CNN VS", "the program's own scale", True,
        "CNN score times CNN affinity, for ranking in virtual screening.",
        ("CNN_VS",), group="docking", range=POSITIVE, source=_GNINA,
    ),
    Metric(
        "pose confidence", "the program's own scale", True,
        "Logit of the predicted probability that the pose lies within 2 Å of the true one.",
        ("pose_confidence", "diffdock_confidence"), group="docking",
        source="Corso et al., ICLR (2023)",
    ),
    Metric(
        "confidence", "the program's own scale", True, "How sure the program is, by a definition of its own.",
        ("confidence",),
    ),
    Metric(
        "predicted log IC50", "log10 of µmol/L", False,
        "Predicted binding strength; meant for comparing binders.",
        ("affinity_pred_value",), group="docking", source=_BOLTZ2, pattern=r"^affinity_pred_value\d?$",
    ),
    Metric(
        "binder probability", "0 to 1", True, "Predicted probability that the ligand binds at all.",
        ("affinity_probability_binary",), group="docking", range=SHARE, source=_BOLTZ2,
        pattern=r"^affinity_probability_binary\d?$",
    ),
    Metric(
        "ligand efficiency", "kcal/mol per heavy atom", False,
        "Affinity divided by the number of heavy atoms.",
        ("ligand_efficiency",), group="docking", source="Hopkins et al., Drug Discov. Today 9, 430 (2004)",
    ),
)  # fmt: skip

_GEOMETRY = (
    Metric(
        "RMSD", "Å", False, "Root mean square distance of paired atoms.",
        ("rmsd", "ca_rmsd", "bb_rmsd", "backbone_rmsd", "minimizedRMSD", "rmsd_to_input", "sc_rmsd",
        "scrmsd", "motif_rmsd"),
        group="geometry", range=POSITIVE, source="Kabsch, Acta Cryst. A32, 922 (1976)",
        pattern=r"(^|[_\s])rmsd($|[_\s])",
    ),
    Metric(
        "TM-score", "0 to 1", True,
        "Similarity of two folds, independent of length; above 0.5 the same fold.",
        ("tm_score", "tm-score", "tmscore", "sc_tm", "sctm"), group="geometry", range=SHARE, source=_TM,
    ),
    Metric(
        "interface RMSD", "Å", False, "RMSD of the backbone at the interface against a reference.",
        ("irmsd", "i_rmsd", "ilrmsd"), group="geometry", range=POSITIVE, source=_CAPRI,
    ),
    Metric(
        "ligand RMSD", "Å", False, "RMSD of the smaller partner with the larger one laid over the reference.",
        ("lrmsd", "l_rmsd"), group="geometry", range=POSITIVE, source=_CAPRI,
    ),
    Metric(
        "fnat", "0 to 1", True, "Share of a reference's contacts between residues that the model has.",
        ("fnat",), group="geometry", range=SHARE, source=_CAPRI,
    ),
    Metric(
        "Rosetta energy", "Rosetta energy units", False, "Weighted sum of the terms of the energy function.",
        ("total_score",), group="geometry", source="Alford et al., J. Chem. Theory Comput. 13, 3031 (2017)",
    ),
    Metric(
        "interface energy", "Rosetta energy units", False,
        "Energy of the complex less that of its parts.",
        ("dg_separated", "interface_delta_x", "i_sc", "average_dg", "interface_dg"), group="geometry",
        source="Stranges and Kuhlman, Protein Sci. 22, 74 (2013)",
    ),
    Metric(
        "shape complementarity", "0 to 1", True, "How well two surfaces fit.",
        ("shape_complementarity", "sc_value", "average_shapecomplementarity", "interface_sc"),
        group="geometry", range=SHARE, source="Lawrence and Colman, J. Mol. Biol. 234, 946 (1993)",
    ),
    Metric(
        "GDT-TS", "0 to 100, or 0 to 1 as the file says", True,
        "Share of Cα atoms within 1, 2, 4 and 8 Å, averaged.", ("gdt_ts", "gdt"), group="geometry",
        range=(0.0, 100.0), source="Zemla, Nucleic Acids Res. 31, 3370 (2003)",
    ),
    Metric(
        "lDDT", "0 to 1", True, "Share of distances between atoms that are preserved.", ("lddt",),
        group="geometry",
        range=SHARE, source="Mariani et al., Bioinformatics 29, 2722 (2013)",
    ),
    Metric(
        "DockQ", "0 to 1", True, "Quality of a docked complex against a reference.", ("dockq",),
        group="geometry",
        range=SHARE, source="Basu and Wallner, PLoS ONE 11, e0161879 (2016)",
    ),
    Metric(
        "buried surface", "Å²", None, "Surface that is hidden by the contact between chains.",
        ("buried_surface", "bsa", "dsasa", "interface_dsasa", "interface_area"), group="geometry",
        range=POSITIVE,
    ),
    Metric(
        "radius of gyration", "Å", None, "Root mean square distance of the atoms from their centre.",
        ("radius_of_gyration", "rg", "rog"), group="geometry", range=POSITIVE,
    ),
)  # fmt: skip

METRICS: tuple[Metric, ...] = _CONFIDENCE + _DOCKING + _GEOMETRY + CHEMISTRY
