"""What surrounds the fields: header, footer, code, changes, static table, events of the page."""
