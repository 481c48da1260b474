"""Shared by all parts of a result: messages, HTML representation, lazy parts, numeric arrays."""
