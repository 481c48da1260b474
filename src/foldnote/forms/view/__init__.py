"""The parts of a form around its fields: header, footer, code, changes, static table, page events."""
