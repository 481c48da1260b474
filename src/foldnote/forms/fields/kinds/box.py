"""Fields for a box in space: its centre and size, chosen around a ligand or residues, or typed as numbers.

With ``of``, the role ``box-center`` names the field of the receptor. Its note ``box`` contains the name of
the field of the ``size``; ``edge``, the minimum edge in Å of a box that the form makes; ``margin``, the
distance in Å on each side between a ligand or the receptor and the box; ``advised``, the maximum advised
volume in Å³; ``flexible``, the field of the residues that the box surrounds if no centre is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from foldnote import late
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.text import explain_number, read_number
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui import choice_widgets, compact_widgets
from foldnote.forms.ui.shared_styles import set_class
from foldnote.forms.wording import number_text
from foldnote.text import count

if TYPE_CHECKING:
    from foldnote.forms.files.receptor_outline import Extent, ReceptorOutline
    from foldnote.forms.files.structure_outline import StructureSource

_AXES: Final = "xyz"
BLIND, RESIDUES, NUMBERS = "blind", "residues", "numbers"
_PROMPTS: Final = {RESIDUES: "Write the residues of the site.", NUMBERS: "Give the centre of the box."}
_MAX_SITES: Final = 12
_ROUND: Final = 3
Triple = tuple[float, float, float]


class PointField(Field):
    """Three numbers, along x, y and z."""

    width = "wide"
    has_brief_help = True
    noun = "Centre"

    def build(self) -> widgets.DOMWidget:
        """Return a title, three number boxes side by side, and the lines below them."""
        styles = self.host.styles
        self._head = styles.html("", "foldnote-part")
        self._foot = styles.html("", "foldnote-part")
        self.boxes = tuple(self._make_box(axis) for axis in _AXES)
        self.control = self.boxes[0]
        self._row = styles.box(list(self.boxes), "foldnote-point")
        return styles.box(
            [self._head, *self.above(), self._row, *self.below(), self._foot], "foldnote-object"
        )

    def above(self) -> list[widgets.Widget]:
        """Return further controls between the title and the numbers."""
        return []

    def below(self) -> list[widgets.Widget]:
        """Return further controls below the numbers."""
        return []

    def _make_box(self, axis: str) -> widgets.Text:
        box = compact_widgets.Text(
            description=f'<span class="fn-name">{self.noun} {axis}</span>{self._parts.marks}',
            style=self.host.styles.text,
            **self.look("path", "number"),
        )
        box.observe(self._handle_typed, "value")
        return box

    def _handle_typed(self, change: Any) -> None:
        """Distribute three numbers that were pasted into one box, as text or as a list in code."""
        typed = str(change["new"]).strip()
        inner = typed[1:-1] if typed[:1] + typed[-1:] in ("[]", "()") else typed
        texts = inner.replace(",", " ").replace(";", " ").split()
        if not self._is_writing and len(texts) == len(_AXES):
            with self.writing():
                for box, text in zip(self.boxes, texts, strict=True):
                    box.value = text
        self.changed()

    def parse(self) -> Reading:
        """Return the three numbers; an error if one is missing or not a number."""
        texts = [str(box.value).strip() for box in self.boxes]
        if not any(texts):
            return Reading(self.blank)
        numbers = [read_number(text) if text else None for text in texts]
        wrong = next(
            (text for text, number in zip(texts, numbers, strict=True) if text and number is None), ""
        )
        if wrong:
            return Reading(errors=(explain_number(wrong, self.spec.unit),))
        lacking = [axis for axis, text in zip(_AXES, texts, strict=True) if not text]
        if lacking:
            verb = "is" if len(lacking) == 1 else "are"
            return Reading(
                errors=(f"{self.noun} {' and '.join(lacking)} {verb} missing: give all three numbers.",)
            )
        return self.describe(numbers)

    def render(self, value: Any) -> None:
        """Show one number in each box."""
        is_triple = isinstance(value, list | tuple) and len(value) == len(_AXES)
        items: list[Any] = list(value) if is_triple else [""] * len(_AXES)
        for box, item in zip(self.boxes, items, strict=True):
            is_number = isinstance(item, int | float) and not isinstance(item, bool)
            box.value = number_text(item) if is_number else str(item)

    def set_label(self, label: str) -> None:
        """Show the title above the boxes and the other lines below them."""
        head, mark, foot = label.replace(self._parts.marks or "\0", "").partition("<span class='fn-foot'>")
        self._head.value = f'<span class="fn-label">{head}</span>'
        self._foot.value = mark + foot

    def lock(self) -> None:
        """Make the boxes read-only."""
        for box in self.boxes:
            box.disabled = True


class BoxSizeField(PointField):
    """The edges of a box."""

    noun = "Size"

    def describe(self, value: Any) -> Reading:
        """Return the volume of the box."""
        edges = read_point(value)
        return Reading(value, readout=format_volume(math.prod(edges)) if edges and min(edges) > 0 else "")


class BoxCenterField(PointField):
    """The centre of a box, and what the box surrounds."""

    def above(self) -> list[widgets.Widget]:
        """Return a choice of what to search, and a line for residues."""
        styles = self.host.styles
        self._mode = BLIND
        self._is_dragged = False
        self._editor_source: StructureSource | None = None
        self._listed: tuple[str, ...] = ()
        self.places = choice_widgets.Dropdown(
            description='<span class="fn-name">Where to search</span>',
            style=styles.description,
            **self.look("path"),
        )
        self.places.observe(self._handle_choice, "index")
        self.residues = compact_widgets.Text(
            description='<span class="fn-name">Residues of the site</span>',
            placeholder="e.g. A:315-320 381 or, with one chain, 99 102 118",
            style=styles.text,
            **self.look("path"),
        )
        self.residues.observe(self._handle_residues, "value")
        self.residues.add_class("foldnote-hidden")
        self.editor: Any = None
        """The 3D view of receptor and box while it is open, else None."""
        self.opener = styles.button("Show the box in 3D", "foldnote-link", "foldnote-hidden")
        self.opener.on_click(lambda _button: self._close() if self.editor is not None else self._open())
        self._stage = styles.box([self.opener], "foldnote-file")
        return [self.places, self.residues]

    def below(self) -> list[widgets.Widget]:
        """Return the 3D view."""
        return [self._stage]

    def write(self, value: Any) -> None:
        """Hold ``value``; what the box surrounds is inferred from it."""
        self._mode = BLIND
        super().write(value)

    def parse(self) -> Reading:
        """Return the centre; an error if the choice lacks its residues or numbers."""
        reading = super().parse()
        if reading.errors or reading.value is not MISSING or self._mode not in _PROMPTS:
            return reading
        return Reading(errors=(self._find_residues()[1] or _PROMPTS[self._mode],))

    def describe(self, value: Any) -> Reading:
        """Return the centre; an error for a box that does not touch the receptor."""
        fault = ""
        box, receptor = self.find_box(value), self.find_receptor()
        if box and receptor and not receptor.overlaps(box):
            low, high = (
                f"({', '.join(f'{coordinate:.1f}' for coordinate in corner)})" for corner in receptor.extent
            )
            fault = f"The box does not touch the receptor, which extends from {low} to {high} Å."
        return Reading(value, (fault,) if fault else ())

    def express(self, reading: Reading, problems: Any) -> None:
        """Offer the sites of the receptor, and describe the box that will be searched."""
        self._offer(reading.value)
        self._draw(reading.value)
        readout = "" if reading.errors else self.describe_search(reading.value)
        super().express(Reading(reading.value, reading.errors, None, readout), problems)

    @property
    def rule(self) -> Mapping[str, Any]:
        """The note ``box``."""
        note = self.spec.notes.get("box")
        return note if isinstance(note, Mapping) else {}

    def find_receptor(self) -> ReceptorOutline | None:
        """Return the receptor in the field that the note ``of`` names; None while it is not available."""
        described = (self.spec.root.get("properties") or {}).get(self.spec.notes.get("of"))
        notes = described.get("x-foldnote") if isinstance(described, Mapping) else None
        rule = notes.get("receptor") if isinstance(notes, Mapping) else None
        if not self._has_receptor():
            return None
        from foldnote.forms.files.receptor_outline import find_receptor  # deferred: often not needed

        return find_receptor(self._receptor_value(), self.host.known_uploads(), rule)

    def _find_source(self) -> StructureSource | None:
        """Return where the text of the receptor is available."""
        if not self._has_receptor():
            return None
        from foldnote.forms.files.structure_outline import locate_structure

        return locate_structure(self._receptor_value(), self.host.known_uploads())

    def _has_receptor(self) -> bool:
        return self._receptor_value() not in (MISSING, None, "")

    def _receptor_value(self) -> Any:
        name = self.spec.notes.get("of")
        return self.host.raw_value(name) if isinstance(name, str) else MISSING

    def find_box(self, value: Any) -> Extent | None:
        """Return the box that will be searched; None while it is unknown."""
        size, center = self._find_size(), read_point(value)
        if self._has_no_inside():
            return None
        if center is None:
            is_blind = value is MISSING and not self._has_flexible()
            receptor = self.find_receptor() if is_blind else None
            if receptor is None:
                return None
            if size is None:
                return widen(receptor.extent, self._read_rule_number("margin"))
            center = middle(receptor.extent)
        return make_extent(center, size or (self._read_rule_number("edge"),) * 3)

    def _find_size(self) -> Triple | None:
        return read_point(self.host.raw_value(str(self.rule.get("size"))))

    def _has_no_inside(self) -> bool:
        """Return whether an edge of the size is zero or negative, which the field of the size reports."""
        size = self._find_size()
        return size is not None and min(size) <= 0

    def _has_flexible(self) -> bool:
        """Return whether residues are flexible, which the box surrounds if it has no centre."""
        current = self.host.raw_value(str(self.rule.get("flexible")))
        return isinstance(current, Mapping) and bool(current)

    def describe_search(self, value: Any) -> str:
        """Describe which box will be searched, its size, and better choices."""
        box, receptor = self.find_box(value), self.find_receptor()
        region = self._name_region(value)
        if self._has_no_inside():
            return ""
        if value is MISSING and self._has_flexible():
            return self._describe_flexible()
        if box is None:
            if value is not MISSING:
                return ""
            if not self._has_receptor():
                return "Choose the receptor to see what is searched: all of it, or a box around a site."
            if (source := self._find_source()) is not None:
                return f"No protein or nucleic acid to dock to was found in {source.name}."
            unknown = "its file is not on this computer, so its extent is not known here"
            return f"Blind docking: the whole receptor is searched; {unknown}."
        edges = [high - low for low, high in zip(*box, strict=True)]
        volume, advised = math.prod(edges), self._read_rule_number("advised")
        sentences = [f"Searched: {format_edges(edges)} {region}, {format_volume(volume)}"]
        if receptor is not None:
            inside = receptor.count_inside(box)
            sentences[0] += f", {inside} of {count(len(receptor.residues), 'residue')}"
        if value is MISSING:
            sentences.append("Blind docking: no site was chosen")
        if advised and volume > advised:
            sentences.append(
                f"This is {volume / advised:.1f} times the advised maximum of {format_volume(advised)};"
                f" better: {self._advise(receptor)}"
            )
        return ". ".join(sentences) + "."

    def _describe_flexible(self) -> str:
        edges = self._find_size()
        if edges is None:
            edge = self._read_rule_number("edge")
            return f"Searched: a box around the flexible residues, {edge:.0f} Å or more along each edge."
        volume = format_volume(math.prod(edges))
        return f"Searched: {format_edges(edges)} around the flexible residues, {volume}."

    def _advise(self, receptor: ReceptorOutline | None) -> str:
        site = f"the ligand {receptor.sites[0].name}" if receptor and receptor.sites else ""
        options = [site, "residues of the site", "a higher exhaustiveness"]
        return " or ".join(filter(None, options))

    def _name_region(self, value: Any) -> str:
        if value is MISSING:
            return "around the whole receptor"
        if self._mode == RESIDUES:
            return "around the selected residues"
        return "around the given centre" if self._mode in (BLIND, NUMBERS) else f"around {self._mode}"

    def _offer(self, value: Any) -> None:
        receptor = self.find_receptor()
        sites = receptor.sites[:_MAX_SITES] if receptor else ()
        self._follow(value, receptor)
        whole = "The whole receptor (blind docking)"
        options = {BLIND: "Around the flexible residues" if self._has_flexible() else whole}
        options |= {site.name: f"Around {site.name} · {count(site.atoms, 'heavy atom')}" for site in sites}
        options |= {RESIDUES: "Around residues…"} if receptor else {}
        options[NUMBERS] = "By coordinates"
        self._listed = tuple(options)
        with self.writing():
            if tuple(self.places.options) != tuple(options.values()):
                self.places.options = tuple(options.values())
            self.places.index = self._listed.index(self._mode)
            self.places.disabled = self.control.disabled
        for part, is_shown in ((self.residues, self._mode == RESIDUES), (self._row, self._mode != BLIND)):
            set_class(part, "foldnote-hidden", not is_shown)

    def _follow(self, value: Any, receptor: ReceptorOutline | None) -> None:
        """Infer what the box surrounds if the value was not set by the choice."""
        expected = self._find_extent(self._mode, receptor)
        is_open = self._mode in (RESIDUES, NUMBERS) and value is MISSING
        is_kept = is_open if value is MISSING else self._mode == NUMBERS or self._is_about(expected, value)
        if is_kept:
            return
        if value is MISSING and not any(box.value for box in self.boxes):
            self._mode = BLIND
            return
        names = [site.name for site in receptor.sites[:_MAX_SITES]] if receptor else []
        self._mode = next(
            (name for name in names if self._is_about(self._find_extent(name, receptor), value)), NUMBERS
        )

    def _is_about(self, extent: Extent | None, value: Any) -> bool:
        """Return whether centre and size are those of the box around an extent."""
        center, size = read_point(value), self._find_size()
        if extent is None or center is None or size is None:
            return False
        expected = self._surround(extent)
        return all(map(math.isclose, (*center, *size), (*expected[0], *expected[1])))

    def _find_extent(self, mode: str, receptor: ReceptorOutline | None) -> Extent | None:
        if receptor is None or mode in (BLIND, NUMBERS):
            return None
        if mode == RESIDUES:
            return self._find_residues()[0]
        return next(
            (
                widen(site.extent, self._read_rule_number("margin"))
                for site in receptor.sites
                if site.name == mode
            ),
            None,
        )

    def _find_residues(self) -> tuple[Extent | None, str]:
        """Return the extent of the residues in the line, or a description of what is wrong."""
        receptor, text = self.find_receptor(), str(self.residues.value).strip()
        if receptor is None or not text:
            return None, ""
        from foldnote.forms.biology.residue_text import read_residues
        from foldnote.forms.files.receptor_outline import join_extents
        from foldnote.forms.files.structure_outline import find_outline

        outline = find_outline(self._receptor_value(), self.host.known_uploads())
        chains = {chain for chain, _ in receptor.residues}
        extents: list[Extent] = []
        chain = next(iter(chains)) if len(chains) == 1 else ""
        for entry in text.replace(",", " ").replace(";", " ").split():
            head, colon, numbers = entry.rpartition(":")
            chain = head if colon else chain
            if chain not in chains:
                return None, f"{entry}: {_explain_chains(chains, receptor.name)}"
            reading = read_residues(numbers, outline.find(chain) if outline else None, receptor.name)
            if reading.fault:
                return None, reading.fault
            extents += [
                receptor.residues[chain, number]
                for number in reading.residues
                if (chain, number) in receptor.residues
            ]
        return (
            (join_extents(extents), "")
            if extents
            else (None, "None of these residues is part of the receptor.")
        )

    def _draw(self, value: Any) -> None:
        """Offer the 3D view if the receptor is available, and move the drawn box."""
        source = self._find_source()
        if self.editor is not None and source != self._editor_source:
            self._close()
        can_open = self.editor is not None or (source is not None and self.find_receptor() is not None)
        set_class(self.opener, "foldnote-hidden", not can_open)
        box = self.find_box(value)
        if self.editor is not None and box is not None and not self._is_dragged:
            self.editor.box = _write_box(box)

    def _open(self) -> None:
        source = self._find_source()
        box = self.find_box(self.read().value)
        if source is None:
            return
        size = (self.spec.root.get("properties") or {}).get(self.rule.get("size")) or {}
        items = size.get("items") or {}
        limits = (items.get("minimum", 1), items.get("maximum", 1000))
        self._editor_source = source
        self.editor = late.load("edit_box")(source.read(), _write_box(box) if box else (), limits)
        self.editor.observe(self._handle_drag, "box")
        self.opener.description = "Hide the 3D view"
        self._stage.children = (self.opener, self.editor)

    def _close(self) -> None:
        editor, self.editor = self.editor, None
        self.opener.description = "Show the box in 3D"
        self._stage.children = (self.opener,)
        if editor is not None:
            editor.close()

    @compact_widgets.locked
    def _handle_drag(self, change: Any) -> None:
        """Apply the box that a person moved in 3D."""
        box, current = list(change["new"]), self.find_box(self.read().value)
        if len(box) != 2 * len(_AXES) or (current is not None and box == _write_box(current)):
            return
        self._mode = NUMBERS
        with self.writing():
            self.render(box[:3])
        self._is_dragged = True
        try:
            self.host.fill({str(self.rule.get("size")): box[3:]})
            self.changed()
        finally:
            self._is_dragged = False

    def _handle_choice(self, change: Any) -> None:
        if self._is_writing or change["new"] is None:
            return
        self._mode = self._listed[change["new"]]
        self._apply()

    def _handle_residues(self, _change: Any) -> None:
        if not self._is_writing:
            self._apply()

    def _apply(self) -> None:
        """Make the box of the current choice, and hold it."""
        extent = self._find_extent(self._mode, self.find_receptor())
        size = str(self.rule.get("size"))
        if self._mode == BLIND or (self._mode == RESIDUES and extent is None):
            with self.writing():
                self.render(MISSING)
            self.host.fill({size: None})
        elif extent is not None:
            center, edges = self._surround(extent)
            with self.writing():
                self.render(center)
            self.host.fill({size: list(edges)})
        self.changed()

    def _surround(self, extent: Extent) -> tuple[list[float], list[float]]:
        """Return the centre and edges of the box around an extent; no edge is below the minimum."""
        low, high = extent
        edges = [max(self._read_rule_number("edge"), b - a) for a, b in zip(low, high, strict=True)]
        return [round(coordinate, _ROUND) for coordinate in middle(extent)], [
            round(edge, 1) for edge in edges
        ]

    def _read_rule_number(self, key: str) -> float:
        value = self.rule.get(key, 0)
        return float(value) if isinstance(value, int | float) else 0.0


def _explain_chains(chains: Collection[str], name: str) -> str:
    """Explain how residues of a structure with these chains are written."""
    known = ", ".join(sorted(filter(None, chains)))
    if not known:
        return f"the chain of {name} has no name; write residues alone, as in 315-320."
    unnamed = " and one without a name, as in :315-320" if "" in chains else ""
    return f"write chain and residues, as in A:315-320. {name} has: {known}{unnamed}."


def format_edges(edges: Sequence[float]) -> str:
    """Format edges: ``20.0 × 20.0 × 24.5 Å``."""
    return f"{' × '.join(f'{edge:.1f}' for edge in edges)} Å"


def format_volume(volume: float) -> str:
    """Format a volume: ``8,000 Å³``."""
    return f"{volume:,.0f} Å³"


def read_point(value: Any) -> Triple | None:
    """Return three numbers; None for any other value."""
    is_triple = isinstance(value, list | tuple) and len(value) == len(_AXES)
    if not is_triple or not all(isinstance(item, int | float) and math.isfinite(item) for item in value):
        return None
    return (float(value[0]), float(value[1]), float(value[2]))


def middle(extent: Extent) -> Triple:
    """Return the centre of a box."""
    return _combine_axes(lambda low, high: (low + high) / 2, extent)


def widen(extent: Extent, margin: float) -> Extent:
    """Return a box that is larger by ``margin`` Å on each side."""
    return _combine_axes(lambda low, _: low - margin, extent), _combine_axes(
        lambda _, high: high + margin, extent
    )


def make_extent(center: Triple, size: Triple) -> Extent:
    """Return the box with this centre and these edges."""
    pair = (center, size)
    return _combine_axes(lambda position, edge: position - edge / 2, pair), _combine_axes(
        lambda position, edge: position + edge / 2, pair
    )


def _write_box(box: Extent) -> list[float]:
    """Return the centre and edges of a box in the format of the 3D view."""
    edges = (round(high - low, _ROUND) for low, high in zip(*box, strict=True))
    return [*(round(coordinate, _ROUND) for coordinate in middle(box)), *edges]


def _combine_axes(combine: Callable[[float, float], float], pair: Extent) -> Triple:
    x, y, z = (combine(first, second) for first, second in zip(*pair, strict=True))
    return (x, y, z)
