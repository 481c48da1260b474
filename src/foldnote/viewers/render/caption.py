"""Captions of scenes: legend, description and notes, as HTML and plain text.

All values are HTML-escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from foldnote.text import count, mark_code
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.description import span
from foldnote.viewers.scene.docking_view import TERMS
from foldnote.viewers.scene.interfaces import CRITERIA, MAX_ROWS
from foldnote.viewers.scene.model import Coloring, Highlight, Interface, Scene, SceneChain, SceneModel, Step

_SEEN_INTERFACES = 7
"""Rows of interfaces visible without scrolling; the heading of a longer table shows their number."""
_FEW_LINES = 8
"""Most lines of the legend of chains in one column."""
_COLUMN = "17em"
"""Least width of a column of a longer legend."""


def write_plain(scene: Scene) -> str:
    """Describe a scene as plain text."""
    lines = [scene.title, *(f"  {term}: {text}" for term, text in scene.facts)]
    lines += [f"  {name_interface(interface)}" for interface in scene.interfaces]
    return "\n".join([*lines, *(f"  Note: {note}" for note in scene.notes)])


def write_label(scene: Scene) -> str:
    """Return the label of the picture for screen readers, one sentence."""
    chains = [
        f"{chain.label} with {count(chain.length, 'residue')}" for m in scene.described for chain in m.chains
    ]
    marked = [highlight.label for model in scene.described for highlight in model.highlights]
    steps = [count(len(scene.steps), scene.step_noun)] if scene.steps else []
    sentence = f"3D picture of {scene.title}: {', '.join([*chains, *steps]) or 'no chains'}"
    return sentence + (f"; highlighted: {', '.join(marked)}" if marked else "")


def write_legend(scene: Scene) -> str:
    """Return the HTML of the legend of the initial colouring."""
    first = scene.coloring.key if scene.coloring else "chain"
    return f'<div class="fnv-legend">{write_legends(scene)[first]}</div>'


def write_legends(scene: Scene) -> dict[str, str]:
    """Return the legend's inner HTML by colouring key: chains and highlights, or a property's colours."""
    other_lines = list(filter(None, (_write_others(model) for model in scene.described)))
    if scene.steps and not scene.is_stack:
        other_lines += _write_steps(scene)
    legends = {"chain": _write_chain_legend(scene, other_lines)}
    for coloring in scene.colorings:
        heading = coloring.name + (f" · {coloring.source}" if coloring.source else "")
        lines = [
            f"<li>{write_swatch(line.color)}<span>{escape(line.label)}</span></li>"
            for line in coloring.legend
        ]
        if lacks_values(scene, coloring):
            lines.append(f'<li class="fnv-unknown">{write_swatch(palette.UNKNOWN)}<span>no value</span></li>')
        legends[coloring.key] = _write_section(heading, [*lines, *other_lines], "fnv-row")
    return legends


def lacks_values(scene: Scene, coloring: Coloring) -> bool:
    """Return whether a drawn residue has no colour in this colouring."""
    for index, model in enumerate(scene.models):
        shades = coloring.shades[index] if index < len(coloring.shades) else {}
        if any(min(shades.get(chain.name) or (-1,)) < 0 for chain in model.chains):
            return True
    return False


def _write_chain_legend(scene: Scene, other_lines: Sequence[str]) -> str:
    chains = [_write_chain(chain) for model in scene.described for chain in model.chains]
    marks = [_write_mark(highlight) for model in scene.described for highlight in model.highlights]
    heading, lines = (
        f"Coloured by {scene.group}" if chains else "Coloured by element",
        [*chains, *other_lines],
    )
    parts = [_write_section(heading, lines, in_columns=len(lines) > _FEW_LINES)]
    if marks:
        parts.append(_write_section(scene.marking or "Marked", marks, "fnv-columns"))
    return "".join(parts)


def write_interfaces(scene: Scene) -> str:
    """Return the HTML of the table of interfaces between chains; empty without interfaces."""
    if not scene.interfaces:
        return ""
    heads = ("Interface", "Residues", "Contacts", "Hydrogen bonds", "Salt bridges", "Buried area")
    head = "".join(f'<th scope="col">{heading}</th>' for heading in heads)
    rows = "".join(f"<tr>{_write_interface(interface)}</tr>" for interface in scene.interfaces)
    is_short = len(scene.interfaces) <= _SEEN_INTERFACES
    number = "" if is_short else f": {_count_interfaces(len(scene.interfaces))}"
    return (
        '<div class="fnv-interfaces" tabindex="0" role="group" aria-label="Interfaces between chains">'
        f'<p class="fnv-sub">Interfaces between chains{number}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<p class="fnv-criteria">{escape(CRITERIA)}</p>'
    )


def _count_interfaces(number: int) -> str:
    return f"the {number} largest" if number >= MAX_ROWS else f"{number}"


def _write_interface(interface: Interface) -> str:
    figures = (
        f"{len(interface.numbers)} + {len(interface.other_numbers)}",
        f"{interface.contacts}",
        f"{len(interface.hydrogen_bonds)}",
        f"{interface.bridges}",
        f"{interface.buried_area:,.0f} Å²",
    )
    return f'<th scope="row">{escape(f"{interface.chain} – {interface.other_chain}")}</th>' + "".join(
        f"<td>{figure}</td>" for figure in figures
    )


def name_interface(interface: Interface) -> str:
    """Return an interface in one line, such as ``Interface of H and L: 38 + 40 residues, …``."""
    bonds = [count(len(interface.hydrogen_bonds), "hydrogen bond"), count(interface.bridges, "salt bridge")]
    residues = f"{len(interface.numbers)} + {len(interface.other_numbers)} residues"
    area = f"{interface.buried_area:,.0f} Å² buried"
    return (
        f"Interface of {interface.chain} and {interface.other_chain}: {', '.join([residues, *bonds, area])}"
    )


def write_description(scene: Scene) -> str:
    """Return the HTML of the description, expanded until the picture is drawn."""
    pairs = "".join(f"<dt>{escape(term)}</dt><dd>{mark_code(text)}</dd>" for term, text in scene.facts)
    return f'<details class="fnv-words" open><summary>Summary</summary><dl>{pairs}</dl></details>'


def write_panel(step: Step) -> str:
    """Return the HTML of the facts of one step; empty without facts."""
    pairs = "".join(f"<dt>{escape(term)}</dt><dd>{mark_code(text)}</dd>" for term, text in step.facts)
    return f"<dl>{pairs}</dl>" if pairs else ""


def write_notes(notes: Sequence[str]) -> str:
    """Return the HTML of the caveats."""
    return "".join(f'<p class="fnv-warn">{mark_code(note)}</p>' for note in notes)


def _write_section(
    heading: str, items: Sequence[str], css_class: str = "", *, in_columns: bool = False
) -> str:
    head = f'<p class="fnv-sub">{escape(heading)}</p>'
    # not in a style sheet, which each view contains
    wide, columns = (' style="flex: auto"', f' style="columns: {_COLUMN}"') if in_columns else ("", "")
    return f'<section class="{css_class}"{wide}>{head}<ul{columns}>{"".join(items)}</ul></section>'


def _write_chain(chain: SceneChain) -> str:
    size = f'<span class="fnv-quiet fnv-size">{count(chain.length, "residue")}</span>'
    return f"<li>{write_swatch(chain.color)}<span>{escape(chain.label)} {size}</span></li>"


def _write_others(model: SceneModel) -> str:
    parts = [
        f"sticks: {', '.join(model.ligands)}" if model.ligands else "",
        f"spheres: {', '.join(model.ions)}" if model.ions else "",
    ]
    text = "; ".join(filter(None, parts))
    if not text:
        return ""
    guests = (
        f", carbon of {escape(', '.join(model.guests))} {write_swatch(model.color)}" if model.guests else ""
    )
    return f'<li><span class="fnv-quiet">Coloured by element, {escape(text)}{guests}</span></li>'


def _write_steps(scene: Scene) -> list[str]:
    """Return the legend entries of the steps, their contacts and their interactions, by kind."""
    first = scene.models[scene.steps[0].models[0]]
    ending = ", one at a time" if len(scene.steps) > 1 else ""
    noun = escape(count(len(scene.steps), scene.step_noun))
    lines = [f"<li>{write_swatch(first.color)}<span>{noun}{ending}</span></li>"]
    if has_flexible(scene):
        lines.append(f"<li>{write_swatch(palette.FLEXIBLE)}<span>Flexible side chains</span></li>")
    if any(step.contacts for step in scene.steps):
        lines.append(f"<li>{write_swatch(palette.TOUCHED)}<span>Residues in contact</span></li>")
    for kind, color in list_kinds(scene).items():
        pattern = "thin dashes" if kind == "hydrophobic" else "dashed"
        lines.append(f"<li>{write_swatch(color)}<span>{TERMS[kind]}, {pattern}</span></li>")
    return lines


def list_kinds(scene: Scene) -> dict[str, str]:
    """Return the colours of interactions with lines in the steps, by kind, in legend order."""
    colors = {line.kind: line.color for step in scene.steps for line in (*step.lines, *step.hydrophobic)}
    return {kind: colors[kind] for kind in TERMS if kind in colors}


def has_flexible(scene: Scene) -> bool:
    """Return whether the first step has flexible side chains in addition to its molecule."""
    return any(scene.models[index].color == palette.FLEXIBLE for index in scene.steps[0].models[1:])


def _write_mark(mark: Highlight) -> str:
    name = f"<span><b>{escape(mark.tag or mark.label)}</b> {escape(span(mark.numbers))}</span>"
    letters = f" <code>{escape(mark.sequence)}</code>" if mark.sequence else ""
    return f"<li>{write_swatch(mark.color)}{name}{letters}</li>"


def write_swatch(color: str) -> str:
    """Return the HTML of a small coloured square, hidden from screen readers; a label always follows."""
    return f'<span class="fnv-swatch" style="background-color:{escape(color)}" aria-hidden="true"></span>'
