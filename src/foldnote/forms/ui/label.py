"""The label of a field as HTML: name, unit, marks, help, readout and errors.

ipywidgets ties a description to its input as a ``<label for>``. The label contains all texts of the field, so
that a field is one widget; the style sheet places them around the control. Only tags and attributes that the
front ends' sanitisers keep are used.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.wording import in_one_line
from foldnote.text import count, escape_html, format_number, mark_code

_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}

_BLOCK = 10
_REQUIRED = '<span class="fn-required" title="Required">*</span>'


class Excerpt(NamedTuple):
    """The first invalid letter of a text with the text before and after it."""

    before: str
    letter: str
    after: str
    more: tuple[int, ...] = ()
    """Indices of further invalid letters in ``after``, from 0."""


class Caution(NamedTuple):
    """Why a valid value may still be a mistake, with a button that corrects it."""

    text: str
    act: str = ""
    """Action of the button, a word that the field knows; empty without a button."""
    button: str = ""
    """Label of the button."""


class ShadedLetters(NamedTuple):
    """A stretch of a sequence with named parts, to be shaded below its control."""

    letters: str
    first: int = 1
    """Number of the first letter."""
    parts: tuple[tuple[str, int, int], ...] = ()
    """Name, start and end of each part; 0-based indices of the letters, ends are exclusive."""
    name: str = ""
    """Name of the chain, if there are several."""


class Notice(NamedTuple):
    """The current errors, readout and marks of a field."""

    errors: tuple[str, ...] = ()
    excerpt: Excerpt | None = None
    readout: str = ""
    """Summary of the field's value, with code in backticks; empty if the control shows it fully."""
    is_changed: bool = False
    """Whether the value differs from the schema's default."""
    is_required: bool = False
    """Whether the setting is required, given the other values."""
    cautions: tuple[Caution, ...] = ()
    strips: tuple[ShadedLetters, ...] = ()


class LabelParts(NamedTuple):
    """The constant parts of a field's label, as HTML."""

    name: str
    """Title, and whether the setting is deprecated or read-only."""
    marks: str
    """Unit."""
    foot: str
    """Help."""
    changed: str
    """Mark of a changed value."""
    tip: str = ""
    """The setting's key, shown on hovering over its name."""
    mark: str = ""
    """CSS class by which the page identifies the field."""

    def head(self, notice: Notice) -> str:
        """Return the name with its marks."""
        star = _REQUIRED if notice.is_required else ""
        changed = self.changed if notice.is_changed else ""
        return f'<span class="fn-name" title="{self.tip}">{self.name}{star}</span>{self.marks}{changed}'


def read_parts(spec: FieldSpec, *, is_brief: bool = False, mark: str = "") -> LabelParts:
    """Return the constant parts of the label of ``spec``.

    Args:
        spec: specification of the field.
        is_brief: show only the first sentence of the help; a tooltip has all of it.
        mark: CSS class by which the page identifies the field.
    """
    marks = f'<span class="fn-unit">{escape_html(spec.unit)}</span>' if spec.unit else ""
    help_text = " ".join(part for part in (spec.help, _bounds(spec)) if part)
    visible = help_text.partition(". ")[0].rstrip(".") + "." if is_brief and help_text else help_text
    tip = f' title="{escape_html(help_text)}"' if visible != help_text else ""
    foot = f'<span class="fn-help"{tip}>{escape_html(visible)}</span>' if help_text else ""
    changed = ""
    if spec.default is not MISSING:
        default = escape_html(in_one_line(spec.default, 60)) or "empty"
        changed = f'<span class="fn-changed {mark}" title="The default is {default}">changed</span>'
    return LabelParts(
        escape_html(spec.title) + _write_states(spec), marks, foot, changed, escape_html(spec.name), mark
    )


def write_label(parts: LabelParts, notice: Notice) -> str:
    """Return the whole label, as HTML."""
    return f"{parts.head(notice)}<span class='fn-foot'>{write_foot(parts, notice)}</span>"


def write_foot(parts: LabelParts, notice: Notice) -> str:
    """Write the HTML of the lines below the control: up to three errors, readout, letters, cautions, help."""
    lines = []
    if notice.excerpt is not None:
        excerpt = notice.excerpt
        after = [
            _mark(letter) if index in excerpt.more else escape_html(letter)
            for index, letter in enumerate(excerpt.after)
        ]
        content = f"{escape_html(excerpt.before)}{_mark(excerpt.letter)}{''.join(after)}"
        lines.append(f'<span class="fn-excerpt">{content}</span>')
    lines += [f'<span class="fn-error">{escape_html(error)}</span>' for error in notice.errors[:3]]
    if len(notice.errors) > 3:
        lines.append(f'<span class="fn-error">and {len(notice.errors) - 3} more</span>')
    if notice.readout:
        lines.append(f'<span class="fn-readout">{mark_code(notice.readout)}</span>')
    lines += map(_write_strip, notice.strips)
    lines += [_write_caution(caution, parts.mark) for caution in notice.cautions]
    return "".join(lines) + parts.foot


def _mark(letter: str) -> str:
    return f"<strong>{escape_html(letter)}</strong>"


def _write_caution(caution: Caution, mark: str) -> str:
    """Return the HTML of a caution; the page turns its last part into a button."""
    act = (
        f' <span class="fn-act {mark} fn-act-{caution.act}">{escape_html(caution.button)}</span>'
        if caution.act
        else ""
    )
    text = caution.text[:1].upper() + caution.text[1:] + ("" if caution.text.endswith("?") else ".")
    return f'<span class="fn-caution">{escape_html(text)}{act}</span>'


def _write_strip(strip: ShadedLetters) -> str:
    """Return the HTML of letters in numbered blocks of ten, in which named parts are shaded."""
    blocks = []
    for start in range(0, len(strip.letters), _BLOCK):
        end = min(start + _BLOCK, len(strip.letters))
        number = f'<span class="fn-number">{strip.first + end - 1}</span>'
        blocks.append(f"<span>{_shade(strip, start, end)}{number}</span>")
    name = f'<span class="fn-number">{escape_html(strip.name)}</span>' if strip.name else ""
    return f'<span class="fn-letters">{name}{"".join(blocks)}</span>'


def _shade(strip: ShadedLetters, start: int, end: int) -> str:
    """Return the letters from ``start`` to ``end``, with the name of each part at its beginning."""
    parts, position = [], start
    for name, first, last in strip.parts:
        low, high = max(first, start), min(last, end)
        if low >= high:
            continue
        extent = f"{name}, residues {strip.first + first} to {strip.first + last - 1}"
        tag = f'<span class="fn-tag">{escape_html(name.rpartition("-")[2])}</span>' if low == first else ""
        shaded = escape_html(strip.letters[low:high])
        parts.append(escape_html(strip.letters[position:low]))
        parts.append(f'<span class="fn-shade" title="{escape_html(extent)}">{tag}{shaded}</span>')
        position = high
    return "".join(parts) + escape_html(strip.letters[position:end])


def _write_states(spec: FieldSpec) -> str:
    """Return the HTML mark of a deprecated or read-only setting."""
    states = [
        state
        for state, is_so in (("deprecated", spec.is_deprecated), ("read-only", spec.is_read_only))
        if is_so
    ]
    return f' <span class="fn-state">{", ".join(states)}</span>' if states else ""


def _bounds(spec: FieldSpec) -> str:
    """Return a sentence with the limits of a number or a length; empty if the description names them."""
    schema = spec.schema
    if spec.type in ("number", "integer") and not spec.choices:
        limits = {
            relation: format_number(schema[key])
            for key, relation in _LIMITS.items()
            if isinstance(schema.get(key), int | float)
        }
        if all(_mentions(spec.help, limit) for limit in limits.values()):
            return ""
        if set(limits) == {"at least", "at most"}:
            parts = [f"{limits['at least']} to {limits['at most']}"]
        else:
            parts = [" and ".join(f"{relation} {limit}" for relation, limit in limits.items())]
        step = schema.get("multipleOf")
        parts += [f"in steps of {format_number(step)}"] if isinstance(step, int | float) else []
        text = ", ".join(filter(None, parts))
        return f"{text[:1].upper()}{text[1:]}." if text else ""
    if spec.role.startswith("box-"):  # three numbers, as their boxes show
        return ""
    sizes = {"string": ("minLength", "maxLength", "character"), "array": ("minItems", "maxItems", "item")}
    return _bound_size(spec, *sizes[spec.type]) if spec.type in sizes and not spec.choices else ""


def _bound_size(spec: FieldSpec, minimum_key: str, maximum_key: str, noun: str) -> str:
    """Return a sentence with the limits of a length."""
    exact = spec.schema.get(minimum_key)
    if exact == spec.schema.get(maximum_key) and isinstance(exact, int):
        return f"Exactly {count(exact, noun)}." if exact > 0 and not _mentions(spec.help, str(exact)) else ""
    bounds = [
        f"{relation} {count(size, noun)}"
        for relation, size in (
            ("at least", spec.schema.get(minimum_key)),
            ("at most", spec.schema.get(maximum_key)),
        )
        if isinstance(size, int) and size > 0 and not _mentions(spec.help, str(size))
    ]
    return f"{' and '.join(bounds).capitalize()}." if bounds else ""


def _mentions(text: str, number: str) -> bool:
    """Return whether a text contains a number, with or without thousands separators."""
    plain, normalized = (re.sub(r"(?<=\d),(?=\d{3})", "", value) for value in (text, number))
    return bool(re.search(rf"(?<![\d.]){re.escape(normalized)}(?![\d.]*\d)", plain))
