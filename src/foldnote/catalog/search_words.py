"""The text in which a search finds a tool, shared by notebooks, the panel and assistants.

It contains the tool's own words and the synonyms below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from foldnote.models import Tool

_ANTIBODY: Final = "immunoglobulin Ig mAb Fab Fv VH VL scFv"
_LANGUAGE_MODEL: Final = "language model pLM"
_FOLDING: Final = "fold folding model 3D PDB"
_MUTATION: Final = "mutant mutation variant substitution"

SYNONYMS: Final[Mapping[str, str]] = {
    "active-learning": "machine learning guided evolution",
    "admet-prediction": "absorption distribution metabolism excretion pharmacokinetics drug druglikeness",
    "affinity-maturation": f"{_MUTATION} improve binding",
    "affinity-prediction": "binding strength Kd IC50 dG score",
    "aggregation-prediction": "hydrophobic patches hotspots",
    "ancestral-sequence-reconstruction": "ASR tree ancestor",
    "antibody-library-design": "repertoire generate",
    "antibody-numbering": "CDR CDRs CDR1 CDR2 CDR3 framework IMGT Kabat Chothia Martin AHo germline",
    "antimicrobial-peptide-prediction": "AMP antibiotic",
    "binder-design": "de novo minibinder interface",
    "binding-free-energy": "FEP alchemical dG ddG",
    "binding-site-prediction": "pocket cavity ligandability hotspot",
    "cdr-design": "CDR CDRs CDR3 loop",
    "chain-classification": "heavy light kappa lambda isotype species",
    "charge-prediction": "isoelectric point pI",
    "complex-prediction": "multimer interface assembly cofold",
    "conformational-ensemble": "dynamics flexibility flexible states MD",
    "conformational-state": "active inactive GPCR kinase",
    "crosslink-guided": "XL-MS crosslinking restraints",
    "cyclic-peptide-design": "macrocycle",
    "developability": "aggregation viscosity hydrophobicity charge TAP liabilities",
    "directed-evolution": _MUTATION,
    "disorder-trimming": "disordered intrinsically IDR",
    "domain-parsing": "domains segmentation",
    "embedding": f"{_LANGUAGE_MODEL} representation vector features",
    "enhanced-sampling": "MD metadynamics",
    "fine-tuning": "train training retrain own data",
    "germline-assignment": "V gene J gene V-gene J-gene VDJ species",
    "humanization": "humanize humanise humanisation human immunogenicity",
    "hydration-free-energy": "solvation solubility logS",
    "integrative-modelling": "restraints XL-MS experimental data modeling",
    "inverse-folding": f"{_MUTATION} redesign sequence for a backbone",
    "liability-detection": "liabilities glycosylation deamidation oxidation isomerization motif PTM",
    "metal-site-prediction": "ion zinc calcium",
    "molecular-dynamics": "MD simulation OpenMM",
    "motif-scaffolding": "scaffold backbone",
    "msa-clustering": "alignment conformations",
    "mutation-suggestion": f"{_MUTATION} improve",
    "nativeness-scoring": "humanness immunogenicity",
    "phylogenetics": "tree evolution",
    "pka-prediction": "protonation titration pH",
    "property-calculation": "molecular weight mass pI isoelectric point extinction GRAVY hydropathy",
    "protein-design": "de novo backbone diffusion",
    "protein-protein-docking": "dock complex antigen",
    "region-annotation": "CDR CDRs CDR1 CDR2 CDR3 framework IMGT Kabat Chothia",
    "rescoring": "score docked poses",
    "sequence-design": f"{_MUTATION} redesign",
    "sequence-generation": f"{_LANGUAGE_MODEL} sample",
    "sequence-restoration": f"{_LANGUAGE_MODEL} missing masked residues fill",
    "sequence-scoring": f"{_LANGUAGE_MODEL} likelihood perplexity {_MUTATION}",
    "sequence-structure-co-design": "codesign diffusion generate",
    "small-molecule-docking": "dock ligand pose compound drug SMILES SDF",
    "solubility-prediction": "soluble",
    "structure-alignment": "superpose superposition superimpose RMSD TM-score align compare",
    "structure-prediction": _FOLDING,
    "tcr-design": "T-cell receptor",
    "template-guided": "template homology",
    "toxicity-prediction": "toxic hERG safety drug",
    "virtual-screening": "screen library hits compounds ligand",
    "water-site-prediction": "waters hydration",
}
"""Synonyms of tasks, by the function that the catalog assigns to tools."""

_OF_MODALITIES: Final[Mapping[str, str]] = {
    "antibody": _ANTIBODY,
    "nanobody": "VHH single-domain sdAb camelid",
    "tcr": "T-cell receptor immune",
    "small-molecule": "ligand compound drug chemical",
}


def write_search_text(tool: Tool) -> str:
    """Return the text of a tool in lower case; a search matches if it contains each word."""
    own = (tool.type, tool.label, tool.description, tool.family, tool.engine.method if tool.engine else "")
    tasks = (SYNONYMS.get(function, "") for function in tool.functions)
    kinds = (_OF_MODALITIES.get(modality, "") for modality in tool.modalities)
    words = (*own, *tool.modalities, *tool.functions, *tasks, *kinds)
    return " ".join(filter(None, words)).lower()
