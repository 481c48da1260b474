"""The table of known metrics: confidence, docking and geometry; the chemistry stands beside it.

A row names what is published about a figure; where neither direction is better, or it depends on what is
asked, the direction is left open. Ranges are those that the definition allows.
"""

from __future__ import annotations

from foldnote.results.metrics.chemistry_rows import CHEMISTRY
from foldnote.results.metrics.metric import POSITIVE, SHARE, Metric

_TM = "Zhang and Skolnick, Proteins 57, 702 (2004), doi:10.1002/prot.20264"
_AF2 = "Jumper et al., Nature 596, 583 (2021), doi:10.1038/s41586-021-03819-2"
_MULTIMER = "Evans et al., bioRxiv (2021), doi:10.1101/2021.10.04.463034"
_AF3 = "Abramson et al., Nature 630, 493 (2024), doi:10.1038/s41586-024-07487-w"
_BOLTZ = "Wohlwend et al., bioRxiv (2024), doi:10.1101/2024.11.19.624167"
_BOLTZ2 = "Passaro et al., bioRxiv (2025), doi:10.1101/2025.06.14.659707"
_CHAI = "Boitreaud et al., bioRxiv (2024), doi:10.1101/2024.10.10.615955"
_VINA = "Trott and Olson, J. Comput. Chem. 31, 455 (2010), doi:10.1002/jcc.21334"
_GLIDE = "Friesner et al., J. Med. Chem. 47, 1739 (2004), doi:10.1021/jm0306430"
_IPSAE = "Dunbrack, bioRxiv (2025), doi:10.1101/2025.02.10.637595"
_LIS = "Kim et al., bioRxiv (2024), doi:10.1101/2024.02.19.580970"
_CAPRI = "Méndez et al., Proteins 52, 51 (2003), doi:10.1002/prot.10393"
_GNINA = "McNutt et al., J. Cheminform. 13, 43 (2021), doi:10.1186/s13321-021-00522-2"

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
        "The figure by which the program ranks its models: 0.8 pLDDT + 0.2 ipTM, or pTM without interfaces.",
        ("confidence_score",), range=SHARE, source=_BOLTZ,
    ),
    Metric(
        "aggregate score", "-100 to 1", True,
        "The figure by which the program ranks its models: 0.8 ipTM + 0.2 pTM, less 100 with clashes.",
        ("aggregate_score",), range=(-100.0, 1.0), source=_CHAI,
    ),
    Metric(
        "mean pLDDT", "0 to 100, or 0 to 1 as the file says", True,
        "Predicted local distance difference test, averaged.",
        ("mean_plddt", "complex_plddt", "plddt", "avg_plddt", "average_plddt", "plddt_mean"),
        range=(0.0, 100.0), source=_AF2,
    ),
    Metric(
        "interface pLDDT", "0 to 1", True, "pLDDT averaged over interfaces, or with a higher weight there.",
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
        ("max_pae",), range=POSITIVE, source=_AF2,
    ),
    Metric(
        "upper limit of the PAE", "Å", None, "Largest aligned error that can be predicted; a constant.",
        ("max_predicted_aligned_error",), range=POSITIVE, source=_AF2,
    ),
    Metric(
        "interface PAE", "Å, or 0 to 1 (of 31 Å) as the file says", False,
        "Predicted aligned error, averaged over pairs of residues of different chains.",
        ("ipae", "i_pae", "interface_pae", "pae_interaction", "average_i_pae", "average_interface_pae"),
        range=POSITIVE,
        source="Bennett et al., Nat. Commun. 14, 2625 (2023), doi:10.1038/s41467-023-38328-5",
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
        "ipTM of a pair of chains", "0 to 1", True, "ipTM of two chains as the program gives it.",
        ("iptm_af", "chain_pair_iptm", "pair_chains_iptm"), range=SHARE, source=_MULTIMER,
    ),
    Metric(
        "ipTM from aligned errors", "0 to 1", True, "ipTM of two chains, computed from the aligned errors.",
        ("iptm_d0chn", "iptm_pae"), range=SHARE, source=_IPSAE,
    ),
    Metric(
        "actifpTM", "0 to 1", True, "ipTM over the residues that take part in the interaction.",
        ("actifptm",), range=SHARE,
        source="Varga et al., Bioinformatics 41, btaf107 (2025), doi:10.1093/bioinformatics/btaf107",
    ),
    Metric(
        "LIS", "0 to 1", True, "Local interaction score: aligned errors below 12 Å between chains, averaged.",
        ("lis", "average_lis", "best_lis"), range=SHARE, source=_LIS,
    ),
    Metric(
        "iLIS, cLIS", "0 to 1", True,
        "cLIS: local interaction score of pairs in contact; iLIS: geometric mean of LIS and cLIS.",
        ("ilis", "clis"), range=SHARE, source="Kim et al., AFM-LIS (2025), github.com/flyark/AFM-LIS",
    ),
    Metric(
        "mean confidence of the design", "0 to 1", True,
        "Exponential of the mean log-probability of the designed residues.",
        ("overall_confidence", "ligand_confidence"), range=SHARE,
        source="Dauparas et al., Nat. Methods 22, 717 (2025), doi:10.1038/s41592-025-02626-1",
    ),
    Metric(
        "pDockQ", "0 to 1", True, "Predicted DockQ of a dimer, from the interface's pLDDT and contacts.",
        ("pdockq",), range=SHARE,
        source="Bryant et al., Nat. Commun. 13, 1265 (2022), doi:10.1038/s41467-022-28865-w",
    ),
    Metric(
        "pDockQ2", "0 to 1", True,
        "Predicted DockQ of one interface of a multimer, from its pLDDT and aligned errors.",
        ("pdockq2",), range=SHARE,
        source="Zhu et al., Bioinformatics 39, btad424 (2023), doi:10.1093/bioinformatics/btad424",
    ),
)  # fmt: skip

_DOCKING = (
    Metric(
        "affinity", "kcal/mol", False, "Free energy of binding as the docking program estimates it.",
        ("affinity", "minimizedAffinity", "vina_score", "vina_affinity", "best_affinity"),
        group="docking", source=_VINA,
    ),
    Metric(
        "binding energy", "kcal/mol", False, "Energy of binding as the program estimates it.",
        ("docking_score", "free_energy", "binding_energy"), group="docking",
    ),
    Metric(
        "binding affinity", "the program's own scale", None,
        "Strength of binding, in kcal/mol or as the logarithm of a constant: programs differ.",
        ("binding_affinity",), group="docking",
    ),
    Metric(
        "GlideScore", "kcal/mol", False, "Empirical estimate of the free energy of binding.",
        ("r_i_docking_score", "r_i_glide_gscore"), group="docking", source=_GLIDE,
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
        ("CNN_VS",), group="docking", range=POSITIVE, source="gnina, github.com/gnina/gnina",
    ),
    Metric(
        "pose confidence", "the program's own scale", True,
        "Logit of the predicted probability that the pose lies within 2 Å of the true one.",
        ("pose_confidence", "diffdock_confidence"), group="docking",
        source="Corso et al., ICLR (2023), arXiv:2210.01776",
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
        "ligand efficiency", "kcal/mol per heavy atom", None,
        "Free energy of binding divided by the number of heavy atoms; programs differ in its sign.",
        ("ligand_efficiency",), group="docking",
        source="Hopkins et al., Drug Discov. Today 9, 430 (2004), doi:10.1016/S1359-6446(04)03069-7",
    ),
)  # fmt: skip

_GEOMETRY = (
    Metric(
        "RMSD to the best pose", "Å", None,
        "Distance of a pose from the best one of its run, not superposed; the bounds pair atoms differently.",
        ("rmsd_lower_bound", "rmsd_upper_bound", "rmsd_lower", "rmsd_upper", "rmsd_lb", "rmsd_ub",
        "rmsd l.b.", "rmsd u.b."),
        group="geometry", range=POSITIVE, source=_VINA,
    ),
    Metric(
        "RMSD to the input", "Å", None, "Root mean square distance from the atoms' places before, "
        "not superposed.",
        ("minimizedRMSD", "rmsd_to_input"), group="geometry", range=POSITIVE,
    ),
    Metric(
        "RMSD", "Å", False, "Root mean square distance of paired atoms, mostly after superposition.",
        ("rmsd", "ca_rmsd", "bb_rmsd", "backbone_rmsd", "sc_rmsd", "scrmsd", "motif_rmsd"),
        group="geometry", range=POSITIVE,
        source="superposition: Kabsch, Acta Cryst. A32, 922 (1976), doi:10.1107/S0567739476001873",
        pattern=r"(^|[_\s])rmsd($|[_\s])",
    ),
    Metric(
        "TM-score", "0 to 1", True,
        "Similarity of two folds, independent of length; above 0.5 the same fold.",
        ("tm_score", "tm-score", "tmscore", "sc_tm", "sctm"), group="geometry", range=SHARE, source=_TM,
    ),
    Metric(
        "interface RMSD", "Å", False,
        "RMSD of the backbone at the interface, superposed on a reference's interface.",
        ("irmsd", "i_rmsd"), group="geometry", range=POSITIVE, source=_CAPRI,
    ),
    Metric(
        "interface-ligand RMSD", "Å", False,
        "RMSD of the smaller partner's interface with the larger one's interface superposed on a reference.",
        ("ilrmsd", "il_rmsd"), group="geometry", range=POSITIVE,
        source="HADDOCK3, github.com/haddocking/haddock3",
    ),
    Metric(
        "ligand RMSD", "Å", False, "RMSD of the smaller partner, the larger one superposed on a reference.",
        ("lrmsd", "l_rmsd"), group="geometry", range=POSITIVE, source=_CAPRI,
    ),
    Metric(
        "fnat", "0 to 1", True, "Share of a reference's contacts between residues that the model has.",
        ("fnat",), group="geometry", range=SHARE, source=_CAPRI,
    ),
    Metric(
        "Rosetta energy", "Rosetta energy units", False, "Weighted sum of the terms of the energy function.",
        ("total_score",), group="geometry",
        source="Alford et al., J. Chem. Theory Comput. 13, 3031 (2017), doi:10.1021/acs.jctc.7b00125",
    ),
    Metric(
        "interface energy", "Rosetta energy units", False,
        "Energy of the complex less that of its parts.",
        ("dg_separated", "interface_delta_x", "i_sc", "average_dg", "interface_dg"), group="geometry",
        source="Stranges and Kuhlman, Protein Sci. 22, 74 (2013), doi:10.1002/pro.2187",
    ),
    Metric(
        "shape complementarity", "0 to 1", True, "How well two surfaces fit.",
        ("shape_complementarity", "sc_value", "average_shapecomplementarity", "interface_sc"),
        group="geometry", range=SHARE,
        source="Lawrence and Colman, J. Mol. Biol. 234, 946 (1993), doi:10.1006/jmbi.1993.1648",
    ),
    Metric(
        "GDT-TS", "0 to 100, or 0 to 1 as the file says", True,
        "Share of Cα atoms within 1, 2, 4 and 8 Å, averaged.", ("gdt_ts", "gdt"), group="geometry",
        range=(0.0, 100.0), source="Zemla, Nucleic Acids Res. 31, 3370 (2003), doi:10.1093/nar/gkg571",
    ),
    Metric(
        "lDDT", "0 to 1", True, "Share of distances between atoms that are preserved.", ("lddt",),
        group="geometry",
        range=SHARE,
        source="Mariani et al., Bioinformatics 29, 2722 (2013), doi:10.1093/bioinformatics/btt473",
    ),
    Metric(
        "DockQ", "0 to 1", True, "Quality of a docked complex against a reference.", ("dockq",),
        group="geometry",
        range=SHARE,
        source="Basu and Wallner, PLoS ONE 11, e0161879 (2016), doi:10.1371/journal.pone.0161879",
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
