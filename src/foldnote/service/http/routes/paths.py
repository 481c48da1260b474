"""A path parameter that matches everything to the end of the path.

Starlette's own `path` ends at a line feed, so a name that contains one would be reported as an unknown route
and not as an invalid name.
"""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class AnythingConvertor(Convertor[str]):
    """`{name:anything}`, including slashes and line feeds."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """Return the value unchanged."""
        return value

    def to_string(self, value: str) -> str:
        """Return the value unchanged."""
        return value


register_url_convertor("anything", AnythingConvertor())


def rest_of_path(name: str) -> str:
    """Return the pattern of parameter `name` for the rest of a path."""
    return f"{{{name}:anything}}"
