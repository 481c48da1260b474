"""Antibody numbering: which residue has which position, and which positions are a CDR.

An engine that numbers a chain writes ``numbering.csv``; here it becomes a frame and a list of regions. No
region is worked out here: a CDR is where the engine's table says, under the definition that the table names.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain

COLUMNS = ("chain", "index", "residue", "position", "region", "scheme", "cdr_definition")
_OTHER_FRAMEWORK = r"^FW([1-4])$"
"""Frameworks as some programs spell them."""


@dataclass(frozen=True)
class Region:
    """A stretch of one chain that a numbering names.

    Attributes:
        chain: ``H`` or ``L``, or whatever chain the table names.
        name: ``FR1``, ``CDR1``, ``FR2``, ``CDR2``, ``FR3``, ``CDR3`` or ``FR4``.
        sequence: one-letter residues in order.
        positions: the scheme's position of each residue, such as ``"112A"``.
        indices: 1-based place of each residue in its chain's sequence.
        scheme: numbering scheme.
        definition: CDR definition, which need not be the scheme's own.
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
        """Whether this is a complementarity-determining region."""
        return self.name.startswith("CDR")

    @property
    def label(self) -> str:
        """``CDR-H3`` for region ``CDR3`` of chain ``H``; the plain name elsewhere."""
        return f"CDR-{self.chain}{self.name[3:]}" if self.is_cdr else f"{self.chain} {self.name}"


def read_numbering(data: bytes, name: str) -> pd.DataFrame:
    """A ``numbering.csv`` as a frame.

    Returns:
        One row a numbered residue: ``chain`` str, ``index`` int64 (1-based), ``residue`` str (one letter),
        ``position`` str (number and insertion code), ``region`` str (a framework is ``FR1`` to ``FR4``, also
        where the file says ``FW1``), ``scheme`` str, ``cdr_definition`` str; columns that the engine added
        follow as str.

    Raises:
        UnreadableFileError: it is no table, lacks one of these columns, or an index is no number.
    """
    try:
        frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
        missing = [column for column in COLUMNS if column not in frame.columns]
        if missing:
            raise UnreadableFileError(f"{name} lacks the column {missing[0]!r} that a numbering has.")
        frame["index"] = pd.to_numeric(frame["index"]).astype("int64")
        frame["region"] = frame["region"].str.replace(_OTHER_FRAMEWORK, r"FR\1", regex=True)
    except (ValueError, OverflowError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as a numbering: {explain(exc)}.") from exc
    return frame


def find_regions(numbering: pd.DataFrame) -> tuple[Region, ...]:
    """The regions of a numbering, in the table's order.

    The same chain numbered by two schemes gives the regions of both.
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
