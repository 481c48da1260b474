"""Forms: a tool's JSON Schema as native ipywidgets.

A kind of field is a class and a row of a registry (`FieldKind`). The catalog validates values, the client
sends them; forms import neither viewers nor the service. A form reads and writes plain data: `Form.value`,
`Form.set`, `Form.code`. Widget state holds no secrets and no file contents.

The first form of a kernel is shown quickly: modules that are not needed to show it are imported later, in the
functions that use them, and nothing on that path imports pydantic, httpx or pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.forms.batch.mapped_table import map_table
    from foldnote.forms.fields.field import Field, FieldHost, Reading
    from foldnote.forms.fields.kinds import FieldKind, kind_for, kinds, register_kind
    from foldnote.forms.fields.section import list_names
    from foldnote.forms.fields.variable import Variable, variable
    from foldnote.forms.form import Form
    from foldnote.forms.jobs.background_calls import has_running_loop, start
    from foldnote.forms.schema.spec import MISSING, Choice, FieldSpec, read_specs
    from foldnote.forms.schema_form import SchemaForm
    from foldnote.forms.submission.cell import cell_key
    from foldnote.forms.submission.reopening import take_kept

__all__ = [
    "MISSING",
    "Choice",
    "Field",
    "FieldHost",
    "FieldKind",
    "FieldSpec",
    "Form",
    "Reading",
    "SchemaForm",
    "Variable",
    "cell_key",
    "has_running_loop",
    "kind_for",
    "kinds",
    "list_names",
    "map_table",
    "read_specs",
    "register_kind",
    "start",
    "take_kept",
    "variable",
]

_HOMES = {
    "batch.mapped_table": ("map_table",),
    "fields.field": ("Field", "FieldHost", "Reading"),
    "fields.kinds": ("FieldKind", "kind_for", "kinds", "register_kind"),
    "fields.section": ("list_names",),
    "fields.variable": ("Variable", "variable"),
    "form": ("Form",),
    "jobs.background_calls": ("has_running_loop", "start"),
    "schema.spec": ("MISSING", "Choice", "FieldSpec", "read_specs"),
    "schema_form": ("SchemaForm",),
    "submission.cell": ("cell_key",),
    "submission.reopening": ("take_kept",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
