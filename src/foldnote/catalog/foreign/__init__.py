"""Catalogs of other services, made JSON Schema at the door.

    [{"type", "schema", …}]                          the interface's own rows: taken as they are
    [{"name", "settings": [{"name", "required", …}]}]
    [{"name", "parameters": [{"name", "conditionals": [{"otherSettingName", "checkType", …}]}]}]
    {"openapi", "components": {"schemas": {Group: schema}}}

Rows may be bare names, stand in an object by name or under ``tools``, have capitalised keys and JSON inside
text. What cannot be translated is kept in ``tool.origin``, which also says what our catalog filled in.
"""

from __future__ import annotations

from foldnote.catalog.foreign.tool_list import read_catalog, read_foreign_tool

__all__ = ["read_catalog", "read_foreign_tool"]
