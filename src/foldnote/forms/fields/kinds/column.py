"""The field for a column of the table that another field of the form holds."""

from __future__ import annotations

from typing import Any

from foldnote.forms.fields.kinds.offered import OfferedField, Offers
from foldnote.forms.files.table_head import TableHead, find_table
from foldnote.forms.schema.spec import MISSING


class ColumnField(OfferedField):
    """One column by its name, offered with what its first cell holds."""

    noun = "column"

    def hint(self) -> str:
        """What stands in the empty line."""
        return "name of a column" if self.spec.notes.get("of") else super().hint()

    def offers(self) -> Offers | None:
        """The columns of the table."""
        table = self._table()
        if table is None:
            return None
        examples = [
            table.examples[index] if index < len(table.examples) else ""
            for index in range(len(table.columns))
        ]
        return Offers(
            table.name,
            table.columns,
            tuple(_label(name, example) for name, example in zip(table.columns, examples, strict=True)),
            tuple(f"first cell: {_cut(example, 40)}" if example else "" for example in examples),
        )

    def _table(self) -> TableHead | None:
        name = self.spec.notes.get("of")
        held: Any = self.host.raw_value(name) if isinstance(name, str) else MISSING
        return find_table(held, self.host.known_uploads())


def _label(name: str, example: str) -> str:
    return f"{name} · {_cut(example, 24)}" if example else name


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
