"""A structure file: its chains, ligands, secondary structure, geometry and confidence.

The file is read on first use and parsed once, by gemmi. It is drawn by :mod:`foldnote.viewers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import gemmi
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.archives.compression import unpack_single
from foldnote.results.archives.opening import is_archive
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.messages import explain
from foldnote.results.naming.families import find_plddt_family
from foldnote.results.structure.assemblies import Assembly, join_models, list_assemblies, make_assembly
from foldnote.results.structure.atoms import make_atom_frame, make_biotite
from foldnote.results.structure.b_column import (
    BColumn,
    StatedMeaning,
    check_stated,
    find_b_column,
    has_spread,
    is_experimental,
    read_errors,
)
from foldnote.results.structure.chains import Chain, Ligand, find_ligand_kind, read_chain
from foldnote.results.structure.confidence import (
    Confidence,
    ReadClaims,
    find_confidence,
    read_stated_confidence,
)
from foldnote.results.structure.dssp import Assignment, assign_chains
from foldnote.results.structure.entities import count_waters
from foldnote.results.structure.formats import (
    digest_atoms,
    find_format,
    parse_structure,
    read_structure_text,
)
from foldnote.results.structure.geometry import find_outliers
from foldnote.results.structure.interfaces.chain_interfaces import Interfaces, find_interfaces
from foldnote.results.structure.unsupported import explain_unsupported
from foldnote.results.structure.walk import list_first_location, walk_polymers, walk_residues


class Structure(NotebookRepr):
    """A structure file of a result: PDB, mmCIF, BinaryCIF, SDF, MOL2 or PDBQT.

    Attributes:
        name: the file's name in its archive.
        format: format of :attr:`text`: ``pdb``, ``mmcif`` (also for BinaryCIF), ``sdf``, ``mol2`` or
            ``pdbqt``.
    """

    def __init__(
        self,
        name: str,
        format: str,  # noqa: A002 - the word of the data model
        text: str | Callable[[], str],
        claims: ReadClaims = tuple,
        family: str = "",
        stated: StatedMeaning | None = None,
        *,
        is_stand_in: bool = False,
    ) -> None:
        """Store the text, or a function that reads it on first use.

        Args:
            name: the file's name.
            format: ``pdb``, ``mmcif``, ``sdf``, ``mol2`` or ``pdbqt``.
            text: the file's content, or a function that returns it.
            claims: returns the pLDDT values stated in score files of the same model.
            family: the program whose file names imply that B-factors are a pLDDT; "" for none.
            stated: meaning of the B-factors stated by the user, see :meth:`state_b_factors`.
            is_stand_in: whether a model with random stand-in weights wrote it; it has no confidence then.
        """
        self._is_stand_in = is_stand_in
        self.name = name
        self.format = format
        self._text = text
        self._claims = claims
        self._family = family
        self._stated = stated

    def __reduce__(self) -> tuple[partial[Structure], tuple[Any, ...]]:
        """Pickle the text and the pLDDT of the model, so that no file is needed."""
        make = partial(type(self), is_stand_in=self._is_stand_in)
        claims = partial(tuple, tuple(self._claims()))
        return make, (self.name, self.format, self._read_text(), claims, self._family, self._stated)

    @classmethod
    def open(cls, path: str | Path) -> Structure:
        """Open a local file, which may be compressed.

        The format is recognised by the name or else by the content: PDB, mmCIF, BinaryCIF, SDF, MOL2 or
        PDBQT.

        Raises:
            UnreadableFileError: the file does not exist, is compressed and damaged, or is an archive, a
                folder, or of a format that is not read.
        """
        file = Path(path).expanduser()
        if is_archive(file):
            kind = "a folder" if file.is_dir() else "an archive"
            raise UnreadableFileError(
                f"{file.name} is {kind}, not a structure file. Open it with fn.open_result({str(path)!r}),"
                " and give the result or one of its models."
            )
        if unsupported := explain_unsupported(file.name):
            raise UnreadableFileError(f"{unsupported}.")
        try:
            data = unpack_single(file.read_bytes(), file.name)
        except OSError as exc:
            raise UnreadableFileError(f"{file} cannot be read: {explain(exc)}.") from exc
        form, text = find_format(file.name, data[:2000]), read_structure_text(data, file.name)
        return cls(file.name, form, text, family=find_plddt_family(file.name, frozenset()))

    def state_b_factors(self, meaning: StatedMeaning) -> Structure:
        """Return a copy with a stated meaning of the B-factor column, for files that do not declare it.

        Legends and sources mention that it was stated by the user.

        Args:
            meaning: ``plddt`` (0 to 100 or 0 to 1, higher is better) or ``error`` (predicted error of each
                residue's position in Å, lower is better).

        Raises:
            ArgumentError: ``meaning`` is neither, the file contradicts it, or the values cannot have it.
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        check_stated(self._parsed, self.name, meaning, self._declared_column)
        return Structure(self.name, self.format, self.text, stated=meaning)

    @property
    def assemblies(self) -> tuple[Assembly, ...]:
        """The biological assemblies that the file describes; see :meth:`make_assembly`.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return list_assemblies(self._parsed)

    def make_assembly(self, name: str) -> Structure:
        """Return a biological assembly as a structure of its own, in the coordinate frame of the file.

        The first copy of each chain keeps its name, the others have names such as ``A-2``. B-factors keep
        their known or stated meaning.

        Args:
            name: name of the assembly in the file, such as ``"1"``.

        Raises:
            ArgumentError: the file describes no such assembly, or it has more than a million atoms.
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._derive(f"{self.name}, assembly {name}", make_assembly(self._parsed, name, self.name))

    def join_models(self) -> Structure:
        """Return all models as one, such as the copies of a biological assembly in a ``.pdb1`` file.

        Chains of the first model keep their names, those of the second have names such as ``A-2``. See
        :attr:`foldnote.results.Ensemble.are_copies`.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._derive(self.name, join_models(self._parsed))

    def _derive(self, name: str, parsed: gemmi.Structure) -> Structure:
        stated: StatedMeaning | None = "plddt" if self.b_column.meaning == "plddt" else self._stated
        return Structure(name, "mmcif", parsed.make_mmcif_document().as_string(), stated=stated)

    def __repr__(self) -> str:
        return f"<Structure {self.name}>"

    @cached_property
    def text(self) -> str:
        """The file's content.

        Raises:
            UnreadableFileError: the file is damaged.
        """
        return self._read_text()

    def _read_text(self) -> str:
        """Return the text, which is not cached, since a result may hold thousands of structures."""
        return self.__dict__.get("text") or (self._text() if callable(self._text) else self._text)

    @cached_property
    def content(self) -> bytes:
        """SHA-256 digest of the coordinates and B-factors, equal for copies of one model.

        Empty for a damaged file or a small molecule.
        """
        if self.format not in ("pdb", "mmcif"):
            return b""
        try:
            text = self._read_text()
        except UnreadableFileError:
            return b""
        return digest_atoms(text, self.format)

    @cached_property
    def _parsed(self) -> gemmi.Structure:
        return parse_structure(self._ascii, self.format, self.name)

    @property
    def _ascii(self) -> str:
        """The text for parsers, with non-ASCII characters replaced singly so that columns do not shift."""
        return self.text.encode("ascii", "replace").decode("ascii")

    def to_gemmi(self) -> gemmi.Structure:
        """Return a copy as a :class:`gemmi.Structure`, coordinates in Å.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._parsed.clone()

    @property
    def gemmi(self) -> gemmi.Structure:
        """The same as :meth:`to_gemmi`.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self.to_gemmi()

    def to_biotite(self, model: int | None = None) -> Any:
        """Convert to a biotite ``AtomArray`` of one model or ``AtomArrayStack`` of all; coordinates in Å.

        As usual in biotite, only the first alternate location of each atom is included.

        Args:
            model: 1-based number of the model; by default all models, which must then have the same atoms.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms, its models differ in their atoms, or
                biotite is not installed.
        """
        return make_biotite(self._parsed, self.name, model)

    def to_frame(self) -> pd.DataFrame:
        """Tabulate the atoms of all models, including alternate locations.

        Returns:
            One row per atom: ``model`` int64 (1-based), ``chain`` str, ``number`` str (with insertion code),
            ``residue`` str (residue name), ``atom`` str, ``element`` str, ``altloc`` str ("" for none),
            ``x``, ``y``, ``z`` float64 in Å, ``occupancy`` float64 (0 to 1), ``b_factor`` float64 as in the
            file, ``charge`` int64 (elementary charges), ``kind`` str: ``polymer``, ``ligand``, ``glycan``,
            ``lipid`` or ``water``.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return make_atom_frame(self._parsed)

    @property
    def models(self) -> int:
        """Number of models; the other attributes describe the first one.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return len(self._parsed)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The polymer chains of the first model.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return tuple(read_chain(chain.name, residues) for chain, residues in walk_polymers(self._parsed[0]))

    @cached_property
    def ligands(self) -> tuple[Ligand, ...]:
        """The residues of the first model that are neither polymer nor water, in file order.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return tuple(
            Ligand(
                residue.name,
                owner.chain,
                owner.number,
                len(list_first_location(residue)),
                find_ligand_kind(residue),
            )
            for owner, residue in walk_residues(self._parsed[0])
            if residue.entity_type not in (gemmi.EntityType.Polymer, gemmi.EntityType.Water)
        )

    @cached_property
    def waters(self) -> int:
        """Number of water molecules of the first model.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return sum(count_waters(residue) for _, residue in walk_residues(self._parsed[0]))

    @property
    def water_names(self) -> tuple[str, ...]:
        """Residue names of the first model's waters, such as ``HOH``, ``SOL`` or ``TIP3``.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        water = gemmi.EntityType.Water
        return tuple(sorted({r.name for _, r in walk_residues(self._parsed[0]) if r.entity_type == water}))

    @cached_property
    def confidence(self) -> Confidence | None:
        """The pLDDT per residue and per atom with its source; None if there is no evidence of one.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        if self._is_stand_in:
            return None
        if self._stated == "plddt":
            return read_stated_confidence(self._parsed, self.name)
        if self._declared_column.meaning == "error":
            return None
        return find_confidence(self._parsed, self._ascii, self.format, self._claims, self._family)

    @cached_property
    def b_column(self) -> BColumn:
        """The meaning of the B-factor column, according to the file, a score file or the user.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        confidence = self.confidence
        if confidence is None or confidence.atoms is None or not has_spread(self._parsed):
            return self._declared_column
        return BColumn("plddt", confidence.source)

    @cached_property
    def _declared_column(self) -> BColumn:
        if self._is_stand_in:
            return BColumn("unknown", "the job's record: stand-in weights, whose figures mean nothing")
        return find_b_column(self._parsed, self._ascii, self.format, self.name, self._stated or "")

    @cached_property
    def predicted_error(self) -> pd.DataFrame | None:
        """The predicted error of each residue's position; None if the file has none.

        ImmuneBuilder, IgFold and RoseTTAFold (PyRosetta) write it to the B-factor column. ImmuneBuilder run
        with a single model writes zeros, which are not taken for errors. A file written by IgFold itself does
        not declare it: see :meth:`state_b_factors`.

        Returns:
            One row per polymer residue: ``chain`` str, ``number`` str, ``residue`` str (residue name),
            ``error`` float64 in Å, lower is better.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return read_errors(self._parsed) if self._declared_column.meaning == "error" else None

    @cached_property
    def plddt(self) -> pd.DataFrame | None:
        """The pLDDT of the polymers; None if there is no evidence of one.

        Returns:
            One row per polymer residue: ``chain`` str, ``number`` str, ``residue`` str (residue name),
            ``plddt`` float64, 0 to 100, higher is better. Ligands are in :attr:`confidence`.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        if self.confidence is None:
            return None
        rows = self.confidence.residues[self.confidence.residues["is_polymer"]]
        return None if rows.empty else rows.drop(columns="is_polymer").reset_index(drop=True)

    @property
    def mean_plddt(self) -> float | None:
        """Mean of :attr:`plddt`, 0 to 100; None if there is none.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return None if self.plddt is None else float(self.plddt["plddt"].mean())

    @cached_property
    def secondary(self) -> Mapping[str, float]:
        """Fractions (0 to 1) of residues in ``helix``, ``strand`` and ``coil``; empty without protein.

        Assigned from backbone hydrogen bonds (Kabsch and Sander 1983: H, G and I are helix, E and B strand)
        or, if the file lacks backbone atoms, from Cα atoms by P-SEA (Labesse et al. 1997); see
        :attr:`secondary_method`.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        letters = "".join(self.secondary_letters.values())
        names = (("helix", "H"), ("strand", "E"), ("coil", "C"))
        return {kind: letters.count(letter) / len(letters) for kind, letter in names} if letters else {}

    @property
    def secondary_letters(self) -> Mapping[str, str]:
        """``H`` (helix), ``E`` (strand) or ``C`` (coil) per residue of each protein chain, by chain name.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._secondary.letters

    @property
    def secondary_method(self) -> str:
        """The method by which :attr:`secondary` was assigned.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._secondary.method

    @property
    def is_experimental(self) -> bool:
        """Whether the file names an experimental method or a refinement program.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return is_experimental(self._parsed)

    @cached_property
    def geometry(self) -> pd.DataFrame:
        """Geometric outliers of the first model's proteins; empty if there are none.

        Methods and limits: :mod:`foldnote.results.structure.geometry`. Models of more than 20,000 residues
        are not checked.

        Returns:
            One row per outlier: ``kind`` str (``twisted peptide``, ``cis peptide``, ``wrong chirality`` or
            ``clash``); ``chain``, ``number``, ``residue``, ``atom`` str; ``other_chain``, ``other_number``,
            ``other_residue``, ``other_atom`` str (the residue before a peptide bond, or the other atom of a
            clash; else ""); ``value`` float64 (ω in °, chiral volume in Å³ or distance in Å) and ``unit``
            str.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return find_outliers(self._parsed)

    @property
    def interfaces(self) -> pd.DataFrame:
        """The interfaces between the polymer chains of the first model, the largest first.

        Residues are in contact if two heavy atoms are at most 5 Å apart. A hydrogen bond joins two
        nitrogens or oxygens at most 3.5 Å apart, with at least 120° at the hydrogen where the file gives
        it. A salt bridge joins aspartate or glutamate with lysine or arginine, charged atoms at most 4 Å
        apart. Areas are solvent-accessible surface areas by FreeSASA (Lee and Richards, ProtOr radii, probe
        1.4 Å), without ligands and waters. Sources:
        :mod:`foldnote.results.structure.interfaces.chain_interfaces`.

        Returns:
            One row per pair of chains in contact: ``chain``, ``other_chain`` str; ``residues``,
            ``other_residues`` int64 (residues of each in contact); ``contacts`` int64 (pairs of residues);
            ``hydrogen_bonds`` int64 (pairs of atoms); ``salt_bridges`` int64 (pairs of residues);
            ``chain_buried_area``, ``other_buried_area`` float64 in Å²; ``buried_area`` float64 in Å², the sum
            of both; other programs report half of it as the interface area.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._interfaces.pairs.copy()

    @property
    def interface_residues(self) -> pd.DataFrame:
        """The residues of all :attr:`interfaces`: in contact, or with more than 1 Å² buried.

        Returns:
            One row per residue and chain that it faces: ``chain``, ``number``, ``residue`` (residue name),
            ``other_chain`` str; ``contacts`` int64 (residues of that chain); ``distance`` float64 in Å of
            the closest heavy atoms, missing above 5 Å; ``hydrogen_bonds``, ``salt_bridges`` int64; ``area``
            float64 in Å², accessible in the chain alone; ``buried_area`` float64 in Å²; ``buried_fraction``
            float64, 0 to 1.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._interfaces.residues.copy()

    @property
    def interface_bonds(self) -> pd.DataFrame:
        """The hydrogen bonds and salt bridges of all :attr:`interfaces`, by interface and distance.

        Returns:
            One row per pair of atoms: ``kind`` str (``hydrogen bond`` or ``salt bridge``); ``chain``,
            ``number``, ``residue``, ``atom``, ``other_chain``, ``other_number``, ``other_residue``,
            ``other_atom`` str; ``distance`` float64 in Å; ``angle`` float64 (at the hydrogen in degrees,
            missing if none is known); ``x``, ``y``, ``z``, ``other_x``, ``other_y``, ``other_z`` float64 in
            Å.

        Raises:
            UnreadableFileError: the file is damaged or holds no atoms.
        """
        return self._interfaces.bonds.copy()

    @cached_property
    def _interfaces(self) -> Interfaces:
        return find_interfaces(self._parsed)

    @cached_property
    def _secondary(self) -> Assignment:
        proteins = {chain.name for chain in self.chains if chain.kind == "protein"}
        return assign_chains(chain for chain in self._parsed[0] if chain.name in proteins)
