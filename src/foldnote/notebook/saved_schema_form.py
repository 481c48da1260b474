"""Forms of any schema in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.forms.schema_form import SchemaForm
from foldnote.notebook.saved_form import SavedForm


class SavedSchemaForm(SavedForm, SchemaForm):
    """A form of any schema in a notebook."""

    def __init__(self, schema: Any, values: Mapping[str, Any]) -> None:
        """Build the form with its defaults, then ``values``."""
        SchemaForm.__init__(self, schema)
        self.set(values)
