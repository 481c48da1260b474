"""The rows of known metrics of sequences, small molecules and their fate in the body."""

from __future__ import annotations

from foldnote.results.metrics.metric import POSITIVE, SHARE, Metric

_TDC = "Huang et al., Therapeutics Data Commons, NeurIPS (2021), arXiv:2102.09548"
_MPNN = "Dauparas et al., Science 378, 49 (2022), doi:10.1126/science.add2187"

_SEQUENCE = (
    Metric(
        "perplexity", "1 and more", False, "Exponential of the mean negative log-likelihood per residue.",
        ("perplexity", "pppl", "pseudo_perplexity", "ppl", "mpnn_perplexity"), group="sequence", range=(1.0,
        None),
        source="Rives et al., PNAS 118, e2016239118 (2021), doi:10.1073/pnas.2016239118",
    ),
    Metric(
        "sequence recovery", "0 to 1", None, "Share of designed residues that equal the native ones.",
        ("seq_recovery", "sequence_recovery", "recovery", "seq_rec"), group="sequence", range=SHARE,
        source=_MPNN,
    ),
    Metric(
        "global score", "nats per residue", False,
        "Mean negative log-probability of the residues given the backbone.",
        ("global_score", "mpnn_score"), group="sequence", range=POSITIVE,
        source=_MPNN,
    ),
    Metric(
        "log-likelihood", "nats", True, "Logarithm of the model's probability of the sequence.",
        ("log_likelihood", "loglikelihood", "ll", "pseudo_log_likelihood", "pll"), group="sequence",
    ),
    Metric(
        "identity", "0 to 1, or % as the file says", None, "Share of aligned residues that are equal.",
        ("identity", "seq_identity", "sequence_identity", "pident"), group="sequence", range=(0.0, 100.0),
    ),
    Metric(
        "E-value", "expected hits", False, "Hits of this score that chance gives in a database of this size.",
        ("evalue", "e_value", "e-value"), group="sequence", range=POSITIVE,
        source="Karlin and Altschul, PNAS 87, 2264 (1990), doi:10.1073/pnas.87.6.2264",
    ),
    Metric(
        "stability change", "kcal/mol", None,
        "Change of the folding free energy by a mutation; programs differ in its sign.",
        ("ddg", "ddg_pred", "delta_delta_g", "ddg_kcal_mol"), group="sequence",
    ),
    Metric(
        "melting temperature", "°C", True, "Temperature at which half of the protein is unfolded.",
        ("tm_celsius", "melting_temperature", "tm_pred"), group="sequence",
    ),
    Metric(
        "isoelectric point", "pH", None, "pH at which the net charge is zero.", ("isoelectric_point", "pi"),
        group="sequence", range=(0.0, 14.0),
    ),
)  # fmt: skip

_MOLECULE = (
    Metric(
        "QED", "0 to 1", True, "Quantitative estimate of drug-likeness.", ("qed",), group="molecule",
        range=SHARE,
        source="Bickerton et al., Nat. Chem. 4, 90 (2012), doi:10.1038/nchem.1243",
    ),
    Metric(
        "logP", "log10", None, "Partition between octanol and water; methods differ.",
        ("logp", "clogp", "alogp"), group="molecule",
    ),
    Metric(
        "Crippen logP", "log10", None, "Partition between octanol and water, from contributions of atoms.",
        ("wlogp", "mollogp", "crippen_logp"), group="molecule",
        source="Wildman and Crippen, J. Chem. Inf. Comput. Sci. 39, 868 (1999), doi:10.1021/ci990307l",
    ),
    Metric(
        "SA score", "1 to 10", False, "Estimated difficulty of synthesis.", ("sa_score", "sascore", "sa"),
        group="molecule", range=(1.0, 10.0),
        source="Ertl and Schuffenhauer, J. Cheminform. 1, 8 (2009), doi:10.1186/1758-2946-1-8",
    ),
    Metric(
        "molecular weight", "g/mol", None, "Mass of one mole.", ("molecular_weight", "mw", "molwt"),
        group="molecule", range=POSITIVE,
    ),
    Metric(
        "monoisotopic mass", "Da", None, "Mass of the molecule of the most abundant isotopes.",
        ("exact_mw", "exactmolwt", "exact_mass"), group="molecule", range=POSITIVE,
    ),
    Metric(
        "TPSA", "Å²", None, "Topological polar surface area.", ("tpsa",), group="molecule", range=POSITIVE,
        source="Ertl et al., J. Med. Chem. 43, 3714 (2000), doi:10.1021/jm000942e",
    ),
    Metric(
        "hydrogen-bond donors", "count", None, "Groups that can give a hydrogen bond.",
        ("hydrogen_bond_donors", "hbd", "num_h_donors", "numhdonors"), group="molecule", range=POSITIVE,
    ),
    Metric(
        "hydrogen-bond acceptors", "count", None, "Atoms that can take a hydrogen bond.",
        ("hydrogen_bond_acceptors", "hba", "num_h_acceptors", "numhacceptors"), group="molecule",
        range=POSITIVE,
    ),
    Metric(
        "rotatable bonds", "count", None, "Single bonds between heavy atoms that turn freely.",
        ("rotatable_bonds", "num_rotatable_bonds", "numrotatablebonds", "rotb"), group="molecule",
        range=POSITIVE,
    ),
    Metric(
        "rules of five kept", "0 to 4", True, "How many of Lipinski's four rules the molecule keeps.",
        ("lipinski",),
        group="molecule", range=(0.0, 4.0),
        source="Lipinski et al., Adv. Drug Deliv. Rev. 23, 3 (1997), doi:10.1016/S0169-409X(96)00423-1",
    ),
    Metric(
        "Tanimoto similarity", "0 to 1", None, "Shared bits of two fingerprints over all their bits.",
        ("tanimoto", "tanimoto_similarity", "similarity"), group="molecule", range=SHARE,
    ),
)  # fmt: skip


def _risk(label: str, names: tuple[str, ...], pattern: str = "") -> Metric:
    text = f"Predicted probability of {label}."
    return Metric(
        label, "0 to 1", False, text, names, group="admet", range=SHARE, source=_TDC, pattern=pattern
    )


_ADMET = (
    _risk("mutagenicity in the Ames test", ("ames",)),
    _risk("blocking the hERG channel", ("herg", "herg_karim")),
    _risk("liver injury", ("dili",)),
    _risk("failing in the clinic for toxicity", ("clintox",)),
    _risk("carcinogenicity", ("carcinogens_lagunin",)),
    _risk("skin reaction", ("skin_reaction",)),
    _risk("inhibiting a cytochrome P450", ("cyp_inhibition",), r"^cyp[0-9a-z]+_veith$"),
    Metric(
        "substrate of a cytochrome P450", "0 to 1", None, "Predicted probability of being its substrate.",
        ("cyp_substrate",), group="admet", range=SHARE, source=_TDC, pattern=r"^cyp[0-9a-z]+_substrate",
    ),
    _risk("activity in a Tox21 assay", ("tox21",), r"^(nr|sr)-[a-z0-9\-]+$"),
    Metric(
        "passing the blood-brain barrier", "0 to 1", None, "Predicted probability of entering the brain.",
        ("bbb_martins", "bbb"), group="admet", range=SHARE, source=_TDC,
    ),
    Metric(
        "oral bioavailability", "0 to 1", True, "Predicted probability of at least 20 % bioavailability.",
        ("bioavailability_ma",), group="admet", range=SHARE, source=_TDC,
    ),
    Metric(
        "intestinal absorption", "0 to 1", True, "Predicted probability of being absorbed in the gut.",
        ("hia_hou", "hia"),
        group="admet", range=SHARE, source=_TDC,
    ),
    Metric(
        "Caco-2 permeability", "log10 of cm/s", True, "Permeability through a layer of Caco-2 cells.",
        ("caco2_wang", "caco2"),
        group="admet", source=_TDC,
    ),
    Metric(
        "PAMPA permeability", "0 to 1", True, "Predicted probability of high permeability.", ("pampa_ncats",
        "pampa"),
        group="admet", range=SHARE, source=_TDC,
    ),
    Metric(
        "P-glycoprotein inhibition", "0 to 1", None, "Predicted probability of inhibiting the pump.",
        ("pgp_broccatelli", "pgp"), group="admet", range=SHARE, source=_TDC,
    ),
    Metric(
        "solubility", "log10 of mol/L", True, "Solubility in water.", ("solubility_aqsoldb", "solubility",
        "logs", "esol"),
        group="admet", source=_TDC,
    ),
    Metric(
        "lipophilicity", "log10", None, "Distribution between octanol and water at pH 7.4.",
        ("lipophilicity_astrazeneca", "logd", "logd7.4"), group="admet", source=_TDC,
    ),
    Metric(
        "plasma protein binding", "%", None, "Share that is bound in plasma.", ("ppbr_az", "ppbr"),
        group="admet",
        range=(0.0, 100.0), source=_TDC,
    ),
    Metric(
        "half-life", "h", None, "Time after which half is left in the body.", ("half_life_obach",
        "half_life"),
        group="admet", range=POSITIVE, source=_TDC,
    ),
    Metric(
        "volume of distribution", "L/kg", None, "Apparent volume at steady state.", ("vdss_lombardo", "vdss"),
        group="admet", range=POSITIVE, source=_TDC,
    ),
    Metric(
        "hepatocyte clearance", "µL/min per 10⁶ cells", None, "Clearance by liver cells.",
        ("clearance_hepatocyte_az",), group="admet", range=POSITIVE, source=_TDC,
    ),
    Metric(
        "microsome clearance", "mL/min per g", None, "Clearance by liver microsomes.",
        ("clearance_microsome_az",),
        group="admet", range=POSITIVE, source=_TDC,
    ),
    Metric(
        "acute toxicity LD50", "-log10 of mol/kg", False, "Dose that kills half, as a negative logarithm.",
        ("ld50_zhu", "ld50"), group="admet", source=_TDC,
    ),
    Metric(
        "hydration free energy", "kcal/mol", None, "Free energy of moving from gas to water.",
        ("hydrationfreeenergy_freesolv",), group="admet", source=_TDC,
    ),
)  # fmt: skip

CHEMISTRY: tuple[Metric, ...] = _SEQUENCE + _MOLECULE + _ADMET
