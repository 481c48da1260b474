"""Read antibody numberings: the position and region (framework or CDR) of each residue.

Engines that number a chain write ``numbering.csv``, which is read into a table and a list of regions. The
regions are those in the file, under the CDR definition that it names; none are computed here.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain
from foldnote.results.structure.chains import Chain

COLUMNS = ("chain", "index", "residue", "position", "region", "scheme", "cdr_definition")
_OTHER_FRAMEWORK = r"^FW([1-4])$"
"""Alternative spelling of framework regions."""
_SCHEMES = {
    "imgt": "IMGT",
    "kabat": "Kabat",
    "chothia": "Chothia",
    "martin": "Martin",
    "aho": "AHo",
    "wolfguy": "Wolfguy",
}


@dataclass(frozen=True)
class Region:
    """A framework region or CDR of one chain.

    Attributes:
        chain: ``H``, ``L`` or another name in the table.
        name: ``FR1``, ``CDR1``, ``FR2``, ``CDR2``, ``FR3``, ``CDR3`` or ``FR4``.
        sequence: one-letter codes in order.
        positions: position of each residue in the scheme, such as ``"112A"``.
        indices: 1-based index of each residue in the chain's sequence.
        scheme: numbering scheme.
        definition: CDR definition; may differ from that of the scheme.
    """

    chain: str
    name: str
    sequence: str
    positions: tuple[str, ...]
    indices: tuple[int, ...]
    scheme: str
    definition: str

    @property
    def is_cdr(self) -> bool:
        """Whether the region is a complementarity-determining region."""
        return self.name.startswith("CDR")

    @property
    def label(self) -> str:
        """Name with the chain: ``CDR-H3`` for ``CDR3`` of chain ``H``, ``H FR1`` for a framework region."""
        return f"CDR-{self.chain}{self.name[3:]}" if self.is_cdr else f"{self.chain} {self.name}"


def read_numbering(data: bytes, name: str) -> pd.DataFrame:
    """Read a ``numbering.csv``.

    Args:
        data: the file's content.
        name: the file's name, for messages.

    Returns:
        One row per numbered residue: ``chain`` str, ``index`` int64 (1-based), ``residue`` str (one letter),
        ``position`` str (number and insertion code), ``region`` str (frameworks are ``FR1`` to ``FR4``, even
        if the file has ``FW1``), ``scheme`` str, ``cdr_definition`` str, then further columns of the file as
        str.

    Raises:
        UnreadableFileError: it is not a table, lacks one of these columns, or has an index that is not an
            integer.
    """
    try:
        frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
        missing = [column for column in COLUMNS if column not in frame.columns]
        if missing:
            raise UnreadableFileError(f"{name} lacks the column {missing[0]!r}, required for a numbering.")
        positions = pd.to_numeric(frame["index"])
        if broken := [text for text, position in zip(frame["index"], positions, strict=True) if position % 1]:
            raise UnreadableFileError(f"{name} has the index {broken[0]}, which is not a whole number.")
        frame["index"] = positions.astype("int64")
        frame["region"] = frame["region"].str.replace(_OTHER_FRAMEWORK, r"FR\1", regex=True)
    except (ValueError, OverflowError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as a numbering: {explain(exc)}.") from exc
    return frame


def find_regions(numbering: pd.DataFrame) -> tuple[Region, ...]:
    """List the regions of a numbering in the table's order; a chain numbered by two schemes has both sets.

    Args:
        numbering: a table of :func:`read_numbering`.
    """
    keys = ["chain", "scheme", "cdr_definition", "region"]
    regions = []
    for (chain, scheme, definition, region), rows in numbering.groupby(keys, sort=False):
        if region:
            regions.append(
                Region(
                    chain=str(chain),
                    name=str(region),
                    sequence="".join(rows["residue"]),
                    positions=tuple(rows["position"]),
                    indices=tuple(int(index) for index in rows["index"]),
                    scheme=str(scheme),
                    definition=str(definition),
                )
            )
    return tuple(regions)


def locate_region(region: Region, chains: Mapping[str, Chain]) -> tuple[str, ...] | None:
    """Find the residues of a region in a structure, by number or else by position in the chain.

    Args:
        region: a region of a numbering.
        chains: the structure's chains by name.

    Returns:
        Residue numbers with insertion code; None if the sequence there is another one.
    """
    chain = chains.get(region.chain)
    if chain is None:
        return None
    letters = dict(zip(chain.numbers, chain.sequence, strict=True))
    if "".join(letters.get(number, "-") for number in region.positions) == region.sequence:
        return region.positions
    indices = [index - 1 for index in region.indices if 0 < index <= len(chain)]
    if "".join(chain.sequence[place] for place in indices) == region.sequence:
        return tuple(chain.numbers[place] for place in indices)
    return None


def name_scheme(name: str) -> str:
    """Return the conventional spelling of a numbering scheme or CDR definition: ``IMGT`` for ``imgt``."""
    return _SCHEMES.get(name.lower(), name)
