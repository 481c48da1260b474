"""Convert the catalogs of other services to tools with a JSON Schema.

    [{"type", "schema", …}]                          the interface's own form: used unchanged
    [{"name", "settings": [{"name", "required", …}]}]
    [{"name", "parameters": [{"name", "conditionals": [{"otherSettingName", "checkType", …}]}]}]
    {"openapi", "components": {"schemas": {Group: schema}}}

Rows may be mere names, be keyed by name or nested under ``tools``, have capitalised keys, and contain JSON as
text. Parts that cannot be translated are kept in ``tool.origin``, which also lists what the bundled catalog
filled in.
"""

from __future__ import annotations

from foldnote.catalog.foreign.tool_list import read_catalog, read_foreign_tool

__all__ = ["read_catalog", "read_foreign_tool"]
