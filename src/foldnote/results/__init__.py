"""Results of jobs as plain data: structures, tables, scores, numbering, manifest, files.

Nothing here draws or talks to a service. Conventions and units of the whole package:

=====================  ==========================================================================
length, coordinates    ångström (Å)
pLDDT of a structure   0 to 100, higher is better; files that write 0 to 1 are scaled on reading
scores                 the file's values on the file's scale; :data:`METRICS` defines the known ones
predicted TM-scores    0 to 1 (``ptm``, ``iptm``), higher is better
PAE                    ångström, lower is better
energy                 kcal/mol
B-factor               Å² where the file names an experiment; predictors use its column for other values
predicted error        ångström, lower is better
residue number         text: the author's residue number with insertion code, such as ``"112A"``
residue index          integer, 1 for the first residue of its chain
chain                  the author's chain name (``auth_asym_id`` in mmCIF)
size                   bytes
fraction (``share``)   0 to 1
time                   RFC 3339, UTC
=====================  ==========================================================================

Attributes of a :class:`Result`, each read on first use:

=====================  ==========================================================================
``models``             :class:`Model`, best first within each prediction: ``rank``, ``structure``,
                       ``confidence``, ``pae``, ``scores``, ``chain_scores``, ``variants``
``model_table``        DataFrame, one row per model with its scores
``structures``         every :class:`Structure`: ``chains``, ``ligands``, ``waters``, ``secondary``,
                       ``confidence``, ``plddt``, ``predicted_error``, ``b_column``, ``interfaces``,
                       ``interface_residues``, ``interface_bonds``, ``assemblies``, ``geometry``,
                       ``to_frame()``,
                       ``to_gemmi()``, ``to_biotite()``
``alignments``         file name to :class:`Alignment`: ``sequences``, ``length`` L, ``depth``,
                       ``coverage`` int64 (L,), ``identity`` float64 (depth,), ``letters`` (depth, L)
``molecules``          file name to :class:`Molecule` records: ``atoms``, ``bonds``, ``properties``
``poses``              :class:`Pose`, best first within each ligand: ``rank``, ``molecule``, ``scores``
``pose_table``         DataFrame, one row per pose with its scores
``contact_table``      DataFrame, one row per residue in contact with a pose, or hydrogen bond
``interaction_table``  DataFrame, one row per interaction of a pose: kind, atoms, distance, angle
``tables``             file name to DataFrame; :func:`find_metric` explains a column
``scores``             scores of the run, or of its best model
``manifest``           record of the method and settings that were run
``problems``           files that could not be read, with reasons
=====================  ==========================================================================

:class:`Confidence` holds ``residues`` (chain, number, residue, is_polymer, plddt), ``atoms`` (chain, number,
residue, atom, plddt; or None), ``mean`` and ``source``. :class:`Pae` holds ``matrix`` float32 (L, L) in Å,
``tokens`` (chain, number, residue, atom; L rows, or None), ``starts``, ``borders`` and ``chains``.

Functions on results: :func:`superpose` (RMSD and TM-score of two structures), :func:`compare` (results by
region, sequence, settings and scores), :meth:`Result.rmsd_to` (RMSD of docked poses from a reference ligand),
:func:`find_contacts` (contacts and hydrogen bonds of a molecule with
a structure), :func:`find_interactions` (its interactions by kind), :func:`rank_table`,
:func:`merge_results` (many jobs with their settings), and for plots
:func:`list_plddt`, :func:`list_chain_starts`, :func:`make_coverage` and :func:`make_distribution`.

**Confidence is never guessed.** A structure has a pLDDT only if its file, or a score file that belongs to it,
states one; values in the B-factor column alone are not taken for a pLDDT. :meth:`Structure.state_b_factors`
declares their meaning where the file does not.

**Damaged files are reported and the others are read**, also from a truncated archive. An unsafe archive
(names outside its folder, links, zip bombs) is refused completely.
"""

from __future__ import annotations

from foldnote.results.archives.archive import Archive
from foldnote.results.archives.files import FileProblem, ResultFile
from foldnote.results.archives.opening import open_archive
from foldnote.results.batch import open_result
from foldnote.results.comparison.fluctuation import Ensemble, superpose_models
from foldnote.results.comparison.superposition import PairingMethod, Superposition, superpose
from foldnote.results.core.html_repr import register_display, register_part_display
from foldnote.results.docking.contacts import find_contacts
from foldnote.results.docking.interactions import find_interactions
from foldnote.results.docking.ligands import list_ligands
from foldnote.results.docking.poses import Pose
from foldnote.results.exported import ExportedJob, JobParts, open_export, save_export, save_exports
from foldnote.results.metrics.registry import METRICS, Metric, find_metric
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.naming.file_kinds import FileKind
from foldnote.results.plot_data import (
    Coverage,
    Distribution,
    list_chain_starts,
    list_plddt,
    make_coverage,
    make_distribution,
)
from foldnote.results.prediction.model import Model, make_geometry_table
from foldnote.results.prediction.pae import Pae
from foldnote.results.provenance.manifest import Manifest
from foldnote.results.provenance.methods import find_references, list_runs, write_methods
from foldnote.results.provenance.references import Publication, to_bibtex, write_references
from foldnote.results.ranking import merge_results, rank_table
from foldnote.results.result import Result
from foldnote.results.sequences.alignment import Alignment
from foldnote.results.sequences.antibody_numbering import Region
from foldnote.results.side_by_side.comparison import Comparison, compare
from foldnote.results.structure.b_column import BColumn, StatedMeaning
from foldnote.results.structure.chains import Chain, Ligand
from foldnote.results.structure.confidence import Confidence
from foldnote.results.structure.structure import Structure

__all__ = [
    "METRICS",
    "Alignment",
    "Archive",
    "BColumn",
    "Chain",
    "Comparison",
    "Confidence",
    "Coverage",
    "Distribution",
    "Ensemble",
    "ExportedJob",
    "FileKind",
    "FileProblem",
    "JobParts",
    "Ligand",
    "Manifest",
    "Metric",
    "Model",
    "Molecule",
    "Pae",
    "PairingMethod",
    "Pose",
    "Publication",
    "Region",
    "Result",
    "ResultFile",
    "StatedMeaning",
    "Structure",
    "Superposition",
    "compare",
    "find_contacts",
    "find_interactions",
    "find_metric",
    "find_references",
    "list_chain_starts",
    "list_ligands",
    "list_plddt",
    "list_runs",
    "make_coverage",
    "make_distribution",
    "make_geometry_table",
    "merge_results",
    "open_archive",
    "open_export",
    "open_result",
    "rank_table",
    "register_display",
    "register_part_display",
    "save_export",
    "save_exports",
    "superpose",
    "superpose_models",
    "to_bibtex",
    "write_methods",
    "write_references",
]
