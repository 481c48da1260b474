"""Reading a tool's JSON Schema: references, conditions, specs of fields."""
