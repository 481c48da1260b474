"""A list whose places have schemas of their own: a field for each place.

It is an object in all but its value: the places are its names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.forms.fields.container import absent
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.group import ObjectField
from foldnote.forms.fields.section import Section
from foldnote.forms.schema.plan import read_plan
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.text import count


def list_places(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of a list's places, as ``prefixItems`` or an older draft's ``items`` say them."""
    found = schema.get("prefixItems") or schema.get("items")
    places = found if isinstance(found, list) else []
    return [place if isinstance(place, Mapping) else {} for place in places]


class PlacesField(ObjectField):
    """A list with a field for each of its first places; what follows them is kept as it is."""

    def parse(self) -> Reading:
        """The list up to the last place that holds something; a gap before it is told."""
        read = super().parse()
        if not isinstance(read.value, Mapping):
            return read
        last = max((int(name) for name in read.value), default=-1)
        names = [str(place) for place in range(last + 1)]
        gaps = [absent(name) for name in names if name not in read.value]
        more = len(names) - len(list_places(self.spec.schema))
        return Reading(
            [read.value.get(name) for name in names],
            readout=f"and {count(more, 'item')} more, kept as they are" if more > 0 else "",
            inner=(*read.inner, *gaps),
        )

    def parts(self, value: Any) -> dict[Any, Field]:
        """The fields of the places that a value has."""
        if not isinstance(value, list):
            return {}
        return {int(name): field for name, field in super().parts(self.as_object(value)).items()}

    def as_object(self, value: Any) -> Any:
        """The items by their places."""
        is_list = isinstance(value, list | tuple)
        return {str(place): item for place, item in enumerate(value)} if is_list else MISSING

    def make_section(self) -> Section:
        """A section whose names are the places."""
        places = list_places(self.spec.schema)
        least = self.spec.schema.get("minItems")
        needed = range(min(len(places), least if isinstance(least, int) else 0))
        names = {str(place): {"title": f"Place {place + 1}", **schema} for place, schema in enumerate(places)}
        schema = {"properties": names, "required": [str(place) for place in needed]}
        return Section(read_plan(schema, self.spec.root, self.spec.path), self)


def has_places(spec: FieldSpec) -> bool:
    """Whether a list's places differ."""
    return spec.type == "array" and bool(list_places(spec.schema))
