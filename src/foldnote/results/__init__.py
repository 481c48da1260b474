"""What a job left behind, as ordinary data: structures, tables, scores, numbering, manifest, files.

Bytes come in, values go out. Nothing here draws, talks to a service or writes anywhere but where
:meth:`Result.save_to` is told to. The words and units that the whole house uses are fixed here:

=====================  ==========================================================================
length, coordinates    ångström (Å)
pLDDT of a structure   0 to 100, higher is better; files that write 0 to 1 are scaled on reading
scores                 as the file has them, on the file's scale; :data:`METRICS` defines the known ones
predicted TM-scores    0 to 1 (``ptm``, ``iptm``), higher is better
PAE                    ångström, lower is better
energy                 kcal/mol
B-factor               Å² where the file names an experiment; predictors write other things into its column
predicted error        ångström, lower is better
residue number         text: the author's number and insertion code, such as ``"112A"``
residue index          integer, 1 for the first residue of its chain
chain                  the author's chain name (``auth_asym_id`` in mmCIF)
size                   bytes
share                  0 to 1
time                   RFC 3339, UTC
=====================  ==========================================================================

What a :class:`Result` has, each read when it is asked for and as ordinary data:

=====================  ==========================================================================
``models``             :class:`Model`, best first within each prediction: ``rank``, ``structure``,
                       ``confidence``, ``pae``, ``scores``, ``chain_scores``, ``variants``
``model_table``        DataFrame, one row a model with its figures
``structures``         every :class:`Structure`: ``chains``, ``ligands``, ``waters``, ``secondary``,
                       ``confidence``, ``plddt``, ``predicted_error``, ``b_column``, ``to_frame()``,
                       ``to_gemmi()``, ``to_biotite()``
``alignments``         file name to :class:`Alignment`: ``sequences``, ``length`` L, ``depth``,
                       ``coverage`` int64 (L,), ``identity`` float64 (depth,), ``letters`` (depth, L)
``molecules``          file name to :class:`Molecule` records: ``atoms``, ``bonds``, ``properties``
``poses``              :class:`Pose`, best first within each ligand: ``rank``, ``molecule``, ``scores``
``pose_table``         DataFrame, one row a pose with its figures
``contact_table``      DataFrame, one row a residue that a pose touches or a hydrogen bond
``tables``             file name to DataFrame; what a column means: :func:`find_metric`
``scores``             the best model's single figures
``manifest``           what was really run
``problems``           the files that could not be read, with reasons
=====================  ==========================================================================

:class:`Confidence` holds ``residues`` (chain, number, residue, is_polymer, plddt), ``atoms`` (chain, number,
residue, atom, plddt; or None), ``mean`` and ``source``. :class:`Pae` holds ``matrix`` float32 (L, L) in Å,
``tokens`` (chain, number, residue, atom; L rows, or None), ``starts``, ``borders`` and ``chains``.

Over results stand functions: :func:`superpose` (RMSD and TM-score of two structures), :func:`find_contacts`
(what a molecule touches in a structure, and its hydrogen bonds), :func:`rank_table`,
:func:`merge_results` (many jobs beside their settings), and for plots :func:`list_plddt`,
:func:`list_chain_starts`, :func:`make_coverage` and :func:`make_distribution`.

**Confidence is never invented.** A structure has a pLDDT only where its file, or a score file that belongs to
it, says so; a column of B-factors alone proves nothing. Who knows better says so:
:meth:`Structure.state_b_factors`.

**A damaged file is told of, and the rest is read**, also of an archive that is cut off. One that could harm
(names that climb out of their folder, links, bombs) is refused as a whole.
"""

from __future__ import annotations

from foldnote.results.archives.archive import Archive
from foldnote.results.archives.files import FileProblem, ResultFile
from foldnote.results.archives.opening import open_archive
from foldnote.results.batch import open_result
from foldnote.results.comparison.superposition import PairingMethod, Superposition, superpose
from foldnote.results.core.html_repr import register_display, register_part_display
from foldnote.results.docking.contacts import find_contacts
from foldnote.results.docking.poses import Pose
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
from foldnote.results.ranking import merge_results, rank_table
from foldnote.results.result import Result
from foldnote.results.sequences.alignment import Alignment
from foldnote.results.sequences.antibody_numbering import Region
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
    "Confidence",
    "Coverage",
    "Distribution",
    "FileKind",
    "FileProblem",
    "Ligand",
    "Manifest",
    "Metric",
    "Model",
    "Molecule",
    "Pae",
    "PairingMethod",
    "Pose",
    "Region",
    "Result",
    "ResultFile",
    "StatedMeaning",
    "Structure",
    "Superposition",
    "find_contacts",
    "find_metric",
    "list_chain_starts",
    "list_plddt",
    "make_coverage",
    "make_distribution",
    "make_geometry_table",
    "merge_results",
    "open_archive",
    "open_result",
    "rank_table",
    "register_display",
    "register_part_display",
    "superpose",
]
