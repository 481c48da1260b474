"""Read a tool's JSON Schema: references, conditions, field specifications."""
