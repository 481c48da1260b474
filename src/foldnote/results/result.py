"""The result of a job: its archive, and all data that can be read from it.

Opening lists the files; each is read on first use. A damaged file is reported in :attr:`Result.problems`, and
the others are read. Viewers register with :func:`foldnote.results.register_display`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from foldnote import late
from foldnote.errors import ArchiveError, ArgumentError, UnreadableFileError
from foldnote.results.archives.archive import Archive
from foldnote.results.archives.files import FileProblem, Reader, ResultFile
from foldnote.results.core.html_repr import Bundle, show_result
from foldnote.results.core.lazy_parts import Parts, Tables
from foldnote.results.docking.contacts import make_contact_table
from foldnote.results.docking.interactions import tabulate_poses
from foldnote.results.docking.poses import Pose, is_reference_file, make_pose_table, rank_poses
from foldnote.results.docking.reference import Reference, measure_reference
from foldnote.results.metrics.registry import has_scores
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.molecule_files import (
    find_described,
    find_molecule_files,
    find_receptors,
    make_property_table,
    read_molecules,
)
from foldnote.results.naming.families import find_plddt_family, is_bulk
from foldnote.results.naming.file_kinds import FileKind, find_kind, structure_order
from foldnote.results.prediction.grouping import assemble
from foldnote.results.prediction.model import Model, make_model_table
from foldnote.results.prediction.ranking_files import read_order, read_sample_scores
from foldnote.results.prediction.score_files import ScoreFile, ScoreFiles, make_score_table, read_score_file
from foldnote.results.provenance.manifest import Manifest, read_manifest
from foldnote.results.provenance.references import Publication
from foldnote.results.sequences.alignment import Alignment, read_alignment
from foldnote.results.sequences.antibody_numbering import Region, find_regions, read_numbering
from foldnote.results.structure.confidence import StatedPlddt
from foldnote.results.structure.formats import find_format, read_structure_text
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.score_rows import find_rows
from foldnote.results.tables.tabular import Scalar, find_figures, find_table, is_list, read_json, read_table
from foldnote.text import count

MAX_JSON_BYTES = 32 * 1024**2
"""Larger JSON files are not searched for tables and scores; :meth:`Result.read` reads them."""
_MAX_ROWS_BYTES = 2 * 1024**2  # larger tables are not searched for rows about structures


class Result:
    """The result of a job, as opened by :func:`open_result`."""

    def __init__(
        self, archive: Archive, name: str | None = None, origin: Mapping[str, Any] | None = None
    ) -> None:
        """Keep an open archive, the name to show for it, and its origin."""
        self.archive = archive
        self.origin: Mapping[str, Any] = origin or {}
        """The client's data on the job: record, service, hashes of the input files."""
        self.name = name or archive.path.name
        self._reader = Reader(archive)

    def __reduce__(self) -> tuple[type[Result], tuple[Any, ...]]:
        """Pickle only the archive, which is opened again where the result is loaded."""
        return type(self), (self.archive, self.name, self.origin)

    @property
    def files(self) -> tuple[ResultFile, ...]:
        """Every file, by name."""
        return self._reader.files

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """Files found to be unreadable so far; :meth:`check` reads every file."""
        return self._reader.problems

    def read(self, name: str) -> bytes:
        """Return the bytes of one file; a compressed file, such as a ``.gz``, is decompressed.

        Raises:
            UnreadableFileError: there is no such file, or it is damaged; it is added to :attr:`problems`.
        """
        return self._reader.read(name)

    def check(self) -> tuple[FileProblem, ...]:
        """Read every file once and return all problems."""
        attempt = self._reader.attempt
        for file in self.files:
            attempt(file.name, self.read, file.name)
        for structure in self.structures:
            attempt(structure.name, structure.to_gemmi)
        for parts in (self.tables, self.alignments, self.molecules):
            for name in parts:
                attempt(name, parts.__getitem__, name)
        for name in self._score_files.names:
            self._score_files.read(name)
        return self.problems

    def match(self, patterns: str | Sequence[str] = ()) -> tuple[str, ...]:
        """Return the names of the files that match one of ``patterns``, or of all files without patterns.

        Args:
            patterns: shell patterns, one or several, such as ``*.pdb`` or ``models/*``; ``*`` also matches
                ``/``.
        """
        names = [file.name for file in self.files]
        pattern_list = [patterns] if isinstance(patterns, str) else patterns
        if patterns:
            names = [name for name in names if any(fnmatchcase(name, pattern) for pattern in pattern_list)]
        return tuple(names)

    def save_to(self, folder: str | Path, patterns: str | Sequence[str] = ()) -> Path:
        """Unpack into ``folder``, creating it if needed; damaged files are left out and reported.

        Args:
            folder: where to write.
            patterns: unpack only the files that :meth:`match` these patterns.

        Returns:
            The folder.

        Raises:
            ArchiveError: a file exists already; it is not overwritten.
            ResultError: a file cannot be written, since the disk is full or the folder is not writable; files
                that were unpacked before are kept.
        """
        target = Path(folder)
        for name in self.match(patterns):
            path = target / name
            if path.exists():
                raise ArchiveError(f"{path} already exists; choose another folder for the result.")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reader.attempt(name, self.archive.copy, name, path)
        return target

    def provenance(self) -> dict[str, Any]:
        """Return the provenance of this result, as JSON-compatible data.

        Returns:
            ``job`` (name, tool, status, times), ``settings`` (with defaults filled in if ``settingsAre`` is
            ``normalized``), ``settingsSha256``, ``settingsChanged`` and ``settingsIgnored`` by the engine,
            ``method`` (what ran, its version, licence and notes), ``engine`` (name, versions of its
            packages), the ``seed`` that was used or ``seedNote`` why there is none, ``inputs`` and
            ``outputs`` (names, sizes in bytes, SHA-256; ``matchesManifest`` if the manifest has a hash, too),
            ``archive``, ``service``, ``client`` and ``citations``. Unknown values are null.
        """
        from foldnote.results.provenance.document import describe

        return describe(self)

    def references(self) -> tuple[Publication, ...]:
        """Return the publications to cite for what ran, each once; empty if the manifest names none.

        :func:`foldnote.results.write_references` writes them as BibTeX or RIS.
        """
        from foldnote.results.provenance.methods import find_references

        return find_references([self])

    def save_crate(self, place: str | Path, licence: str | None = None) -> Path:
        """Write the files and their provenance as an RO-Crate (Workflow Run Crate profile).

        Args:
            place: a folder to create, or a file ending in ``.zip``.
            licence: URL or text of the licence under which the result may be used.

        Returns:
            Path of the crate.

        Raises:
            ConfigurationError: the library ``rocrate`` is not installed (``pip install 'foldnote[crate]'``).
            ArchiveError: ``place`` already exists.
        """
        from foldnote.results.provenance.crate import save_crate

        return save_crate(self, Path(place), licence)

    @property
    def jobs(self) -> Mapping[str, Result]:
        """Results of the jobs of a batch or pipeline, by name in row order; empty for a single job."""
        return {}

    @cached_property
    def structures(self) -> tuple[Structure, ...]:
        """All structure files, ordered by name and read on first use. :attr:`models` ranks them."""
        candidates = [*self._reader.named(FileKind.STRUCTURE), *find_receptors(self._reader)]
        names = sorted(candidates, key=structure_order)
        everything = frozenset(self._reader.sizes)
        return tuple(self._make_structure(name, find_plddt_family(name, everything)) for name in names)

    @property
    def structure(self) -> Structure | None:
        """The best structure that can be read; None without one."""
        ranked = [model.structure for model in self.models]
        unranked = [candidate for candidate in self.structures if candidate not in ranked]
        return next(
            (
                candidate
                for candidate in (*ranked, *unranked)
                if self._reader.attempt(candidate.name, candidate.to_gemmi)
            ),
            None,
        )

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The predicted models, best first within each prediction; empty without structures.

        Ranking reads scores, and coordinates only of models that may be copies of others.
        """
        orders = [
            order
            for name in self._json_names
            if "rank" in name.lower()
            for order in [read_order(self._read_json(name), name)]
            if order is not None
        ]
        names = [item.name for item in self.structures]
        small = [n for n in self._reader.named(FileKind.TABLE) if self._reader.sizes[n] <= _MAX_ROWS_BYTES]
        read_tables = ((name, self._reader.attempt(name, self.tables.__getitem__, name)) for name in small)
        tables = [(name, table) for name, table in read_tables if table is not None]
        samples = [item for name, table in tables if (item := read_sample_scores(table, name)) is not None]
        return assemble(
            self.structures, self._score_files, orders, find_rows(tables, names), samples, self.jobs
        )

    @property
    def model_table(self) -> pd.DataFrame:
        """The models and their scores.

        Returns:
            One row per model, in the order of :attr:`models`: ``job`` str (of a batch only), ``prediction``
            str, ``rank`` int64, ``model`` str (file name of the structure), then one column per score, with
            the names and scales of the files.
        """
        return make_model_table(self.models, self.jobs)

    @cached_property
    def alignments(self) -> Mapping[str, Alignment]:
        """Sequence files by name (FASTA, A3M, A2M, Stockholm, Clustal), each read on first use."""
        read_one = partial(self._reader.parse, read_alignment)
        names = sorted(self._reader.named(FileKind.ALIGNMENT), key=structure_order)
        return Parts("alignments", names, read_one)

    @cached_property
    def molecules(self) -> Mapping[str, tuple[Molecule, ...]]:
        """Small molecules by file name (SDF, mol, MOL2, ligand PDBQT, SMILES), read on first use."""
        names = sorted(find_molecule_files(self._reader), key=structure_order)
        return Parts("files of molecules", names, self._read_molecules)

    @cached_property
    def poses(self) -> tuple[Pose, ...]:
        """The docked poses, best first within each ligand; empty without docking.

        With a file ``reference.sdf``, which the engine vina writes if the receptor's file contained the
        docked molecule, their scores include ``rmsd_to_reference``.
        """
        lists = (self._reader.attempt(name, self.molecules.__getitem__, name) for name in self.molecules)
        molecules = [molecule for own in lists for molecule in own or ()]
        poses = rank_poses(molecules, has_receptor=bool(self.structures))
        references = [molecule for molecule in molecules if is_reference_file(molecule.file)]
        if not poses or not references:
            return poses
        try:
            return measure_reference(poses, references)
        except ArgumentError:  # the file holds another molecule: `rmsd_to` raises an error that says so
            return poses

    def rmsd_to(self, reference: Reference, residue: str = "") -> pd.DataFrame:
        """Measure the RMSD of the docked poses from a reference ligand, such as that of a crystal structure.

        Heavy atoms, corrected for the symmetry of the molecule, without superposition: the reference must be
        in the coordinate frame of the receptor. See :mod:`foldnote.results.docking.reference`.

        Args:
            reference: the ligand as a :class:`Molecule`, :class:`Pose` or file (SDF, MOL2, PDBQT), or a
                :class:`Structure` or structure file that contains it. With several copies in a structure,
                each pose is compared with the nearest.
            residue: the ligand in a structure, as chain and number (``A:163``); by default every copy.

        Returns:
            The table of :attr:`pose_table` with ``rmsd_to_reference`` float64 in Å, missing for poses of
            another molecule, and ``reference`` str.

        Raises:
            ArgumentError: there are no poses, none is of the reference's molecule, or the molecule is too
                large or too symmetric.
            UnreadableFileError: the reference cannot be read.
        """
        return make_pose_table(measure_reference(self.poses, reference, residue))

    @property
    def pose_table(self) -> pd.DataFrame:
        """The poses and their scores, with the columns of :func:`make_pose_table`."""
        return make_pose_table(self.poses)

    @property
    def contact_table(self) -> pd.DataFrame:
        """Contacts of the poses; columns: :func:`foldnote.results.docking.contacts.make_contact_table`."""
        return make_contact_table(self.structure, self.poses)

    @property
    def interaction_table(self) -> pd.DataFrame:
        """Typed interactions of the poses; columns: :func:`.docking.interactions.tabulate_poses`."""
        return tabulate_poses(self.structure, self.poses)

    @cached_property
    def tables(self) -> Tables:
        """Tables by file name: CSV, TSV, JSON lines, Parquet, JSON lists of records, SDF properties."""
        delimited = self._reader.named(FileKind.NUMBERING, FileKind.TABLE)
        records = [
            name
            for name in self._json_names
            if is_list(self._reader.attempt(name, self.archive.read_head, name, 64))
            and find_table(self._read_json(name)) is not None
        ]
        described = find_described(self._reader)
        return Tables("tables", (*delimited, *records, *described), self._read_table)

    @cached_property
    def scores(self) -> Mapping[str, Scalar]:
        """The scores in ``score.json``, else those of the best model, else of the first score file."""
        for name in self._reader.named(FileKind.SCORES):
            figures = find_figures(self._read_json(name))
            if figures:
                return figures
        best = next((model.scores for model in self.models if has_scores(dict(model.scores))), None)
        if best is not None:
            return best
        first = self.score_table.head(1).to_dict("records")
        return find_figures(first[0]) if first else {}

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """The scores of every score file.

        Returns:
            One row per JSON or npz file with a known score, with ``file`` (str) as the index, in natural
            order; columns have the names and values of the files.
        """
        names = self._reader.named(FileKind.DATA, FileKind.ARRAY)
        return make_score_table(self._score_files, names)

    @cached_property
    def manifest(self) -> Manifest | None:
        """The record of what was run; None without one."""
        for name in self._reader.named(FileKind.MANIFEST):
            manifest = self._reader.attempt(name, self._reader.parse, read_manifest, name)
            if manifest is not None and (manifest.method or manifest.tool or manifest.job_name):
                return manifest
        return None

    @cached_property
    def numbering(self) -> pd.DataFrame | None:
        """The antibody numbering, with the columns of :func:`read_numbering`; None without one."""
        for name in self._reader.named(FileKind.NUMBERING):
            frame = self._reader.attempt(name, self._reader.parse, read_numbering, name)
            if frame is not None:
                return frame
        return None

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions in the numbering; empty without one."""
        return () if self.numbering is None else find_regions(self.numbering)

    def __repr__(self) -> str:
        parts = [
            *([count(len(self.jobs), "job")] if self.jobs else []),
            count(len(self.files), "file"),
            count(len(self._reader.named(FileKind.STRUCTURE)), "structure"),
            count(len(self._reader.named(FileKind.NUMBERING, FileKind.TABLE)), "table"),
        ]
        return f"<Result {self.name}: {', '.join(parts)}>"

    def _ipython_display_(self) -> None:
        from IPython.display import publish_display_data

        for bundle in self.bundles():
            publish_display_data(dict(bundle))  # type: ignore[no-untyped-call]

    def _repr_html_(self) -> str:
        """Return a page with every view and the scripts that draw it, for front ends without IPython."""
        page: str = late.load("make_page")(self.name, [self])
        return page

    def bundles(self) -> list[Bundle]:
        """Return the MIME bundles that display this result; plain text if no viewer is registered."""
        return show_result(self)

    def _make_structure(self, name: str, family: str) -> Structure:
        text = partial(self._reader.parse, read_structure_text, name)
        form = find_format(name).replace("pdbqt", "pdb")  # ligand PDBQT files are not structures
        claims, is_stand_in = partial(self._claims, name), self._is_stand_in
        return Structure(name, form, text, claims, family, is_stand_in=is_stand_in)

    @property
    def _is_stand_in(self) -> bool:
        return self.manifest is not None and self.manifest.has_stand_ins

    def _read_molecules(self, name: str) -> tuple[Molecule, ...]:
        contents = self._reader.parse(read_molecules, name)
        for problem in contents.problems:
            self._reader.report(name, UnreadableFileError(problem))
        return contents.molecules

    def _claims(self, structure: str) -> Sequence[StatedPlddt]:
        """Return the pLDDT values that score files state for the model of this structure."""
        return [claim for model in self._owners.get(structure, ()) for claim in model.claims]

    @cached_property
    def _owners(self) -> Mapping[str, list[Model]]:
        """The models by file names of their structures."""
        owners: dict[str, list[Model]] = defaultdict(list)
        for model in self.models:
            for name in {model.name, *(variant.name for variant in model.variants)}:
                owners[name].append(model)
        return owners

    @cached_property
    def _score_files(self) -> ScoreFiles:
        kinds = (FileKind.DATA, FileKind.ARRAY, FileKind.SCORES)
        names = () if self._is_stand_in else self._reader.named(*kinds)
        sizes = {name: self._reader.sizes[name] for name in names}
        return ScoreFiles(sizes, partial(_read_scores, self._reader))

    @cached_property
    def _json_names(self) -> tuple[str, ...]:
        """JSON files that may be tables or lists: of limited size, without those of large arrays."""
        names = self._reader.named(FileKind.DATA)
        name_set = frozenset(names)
        small = (name for name in names if self._reader.sizes[name] <= MAX_JSON_BYTES)
        return tuple(name for name in small if not is_bulk(name, name_set))

    def _read_json(self, name: str) -> Any:
        return self._reader.attempt(name, self._reader.parse, read_json, name)

    def _read_table(self, name: str) -> pd.DataFrame:
        kind = find_kind(name)
        if kind is FileKind.MOLECULE:
            return make_property_table(self.molecules[name])
        reader = read_numbering if kind is FileKind.NUMBERING else read_table
        return self._reader.parse(reader, name)


def _read_scores(reader: Reader, name: str) -> ScoreFile | None:
    return reader.attempt(name, reader.parse, read_score_file, name)
