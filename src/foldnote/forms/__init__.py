"""Forms: a tool's JSON Schema as native ipywidgets.

A kind of field is a class and a row of a registry (`FieldKind`). The catalog validates values, the client
sends them; forms import neither viewers nor the service. A form reads and writes plain data: `Form.value`,
`Form.set`, `Form.code`. Widget state holds no secrets and no file contents.
"""

from foldnote.forms.batch.mapped_table import map_table
from foldnote.forms.fields.field import Field, FieldHost, Reading
from foldnote.forms.fields.registry import FieldKind, kind_for, kinds, register_kind
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
