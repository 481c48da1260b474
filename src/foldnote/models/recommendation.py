"""Tool recommendations for a described task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from foldnote.errors import ProtocolError
from foldnote.models.html_repr import show_grid, write_grid
from foldnote.models.wire import WireModel, lower_first, read_hidden_json, read_object

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("", "tool", "why")
_TOOL_WORDS = ("toolId", "tool_id", "tool", "type", "name")


class RecommendedTool(WireModel):
    """One tool that fits a described task."""

    tool_id: str
    """Its type."""
    reason: str = ""
    """Why the tool fits, in one sentence."""


class DetectedMolecule(WireModel):
    """One molecule found in the prompt or the inputs."""

    kind: str = ""
    """``protein``, ``antibody``, ``nucleic-acid`` or ``small-molecule``."""
    form: str = ""
    """``FASTA``, ``sequence``, ``SMILES`` or ``CCD code``."""
    length: int | None = None
    """Number of residues, nucleotides or characters; null if a service does not report it."""


class Recommendation(WireModel):
    """The response to POST /model-router; displayed as a table, best first."""

    tools: tuple[RecommendedTool, ...] = ()
    """Best first; empty if nothing is recommended."""
    abstain: bool = False
    """Whether nothing is recommended."""
    summary: str = ""
    """How the task was understood, or the missing information if nothing is recommended."""
    detected: tuple[DetectedMolecule, ...] = ()
    """The molecules in the prompt and the inputs; empty if they are not reported."""

    def to_frame(self) -> pd.DataFrame:
        """Return the tools as a DataFrame.

        Returns:
            One row per tool: index ``rank`` (int64, from 1, best first) and the columns ``tool`` (str, the
            type) and ``reason`` (str); empty if nothing is recommended.
        """
        import pandas as pd

        columns = {
            "tool": pd.Series([row.tool_id for row in self.tools], dtype="str"),
            "reason": pd.Series([row.reason for row in self.tools], dtype="str"),
        }
        ranks = pd.RangeIndex(1, len(self.tools) + 1, name="rank")
        return pd.DataFrame(columns).set_index(ranks)

    def __repr__(self) -> str:
        return write_grid(self._title(), _COLUMNS, self._rows())

    def _repr_html_(self) -> str:
        return show_grid(self._title(), _COLUMNS, self._rows())

    def _rows(self) -> Iterator[tuple[object, ...]]:
        return ((rank, row.tool_id, row.reason) for rank, row in enumerate(self.tools, start=1))

    def _title(self) -> str:
        head = "Nothing is recommended. " if self.abstain or not self.tools else ""
        seen = ", ".join(_describe_molecule(molecule) for molecule in self.detected)
        return f"{head}{self.summary}{f' Molecules found: {seen}.' if seen else ''}".strip()


def _describe_molecule(molecule: DetectedMolecule) -> str:
    size = "" if molecule.length is None else f", {molecule.length} long"
    return f"{molecule.kind or 'molecule'} ({molecule.form or 'given'}{size})"


def read_recommendation(answer: object) -> Recommendation:
    """Parse the recommendation in ``answer``; some services send the rows only, or bare names as rows.

    Raises:
        ProtocolError: it is not one.
    """
    hidden = read_hidden_json(answer)
    fields = lower_first({"tools": hidden} if isinstance(hidden, list) else read_object(hidden, "tools"))
    given = {key: value for key, value in fields.items() if value is not None}
    rows = given.pop("tools", given.pop("recommendations", []))
    given["tools"] = [_read_row(row) for row in rows] if isinstance(rows, list) else rows
    given.setdefault("abstain", not given["tools"])
    try:
        return Recommendation.model_validate(given)
    except ValidationError as exc:
        where = ".".join(str(part) for part in exc.errors(include_url=False)[0]["loc"])
        raise ProtocolError(f"The service's recommendation cannot be read at {where}.") from exc


def _read_row(row: Any) -> Any:
    if isinstance(row, str):
        return {"toolId": row}
    if not isinstance(row, Mapping):
        return row
    fields = {key: value for key, value in lower_first(row).items() if value is not None}
    name = next((fields[word] for word in _TOOL_WORDS if word in fields), None)
    return fields | ({"toolId": name} if name is not None else {})
