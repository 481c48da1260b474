"""A part of a path that takes everything to its end.

Starlette's own `path` ends at a line feed, so that a name with one would be no route instead of a wrong name.
"""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class AnythingConvertor(Convertor[str]):
    """`{name:anything}`: slashes and line feeds included."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """As it came."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


register_url_convertor("anything", AnythingConvertor())


def rest_of_path(name: str) -> str:
    """The parameter `name` for what is left of a path."""
    return f"{{{name}:anything}}"
