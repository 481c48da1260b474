"""Colour palettes that are safe for colour-blind viewers.

In antibodies hue encodes the chain (heavy blue, light orange) and shade the CDR, darker from CDR 1 to 3. The
chains of T-cell receptors have the hue of their counterparts: beta and delta, which have a D segment, that of
heavy chains. Other chains use the palette of Okabe and Ito ("Color Universal Design", 2008), ordered so that
neighbours differ. Legend, labels and hover text repeat what a colour means.
"""

from __future__ import annotations

CHAINS: tuple[str, ...] = ("#0072b2", "#e69f00", "#56b4e9", "#d55e00", "#f0e442", "#cc79a7", "#009e73")
"""Colours of chains without a role, used cyclically."""

_COUNTERPARTS = {"H": "H", "B": "H", "D": "H", "L": "L", "K": "L", "A": "L", "G": "L"}
"""The antibody chain whose colour a T-cell receptor chain has."""
ANTIBODY_CHAINS = {"H": "#b8cadd", "L": "#f0e2bf"}
"""Pale, so that the CDRs stand out."""

CDRS = {
    "CDR-H1": "#4b98e5",
    "CDR-H2": "#437bb5",
    "CDR-H3": "#8e3cf5",
    "CDR-L1": "#e7750f",
    "CDR-L2": "#cd4d26",
    "CDR-L3": "#a5586f",
}
"""Each has a contrast of at least 3:1 with white and with JupyterLab's dark background (#212121)."""

_OTHER_CDRS = {"1": "#b48cce", "2": "#8f68b4", "3": "#6b3d94"}
"""CDRs of chains without the name of an antibody or receptor chain."""

TOUCHED = "#c2c8cf"
"""Carbon atoms of residues in contact with a molecule."""

FLEXIBLE = "#e69f00"
"""Carbon atoms of side chains that a docking has moved."""

MOLECULE = "#2e8b57"
"""Carbon atoms of a small molecule."""

BOND = "#c2569b"
"""Dashed lines of hydrogen bonds, visible on light and dark backgrounds."""

BRIDGE = "#c96a00"
"""Dashed lines of salt bridges between chains."""

INTERACTIONS = {
    "covalent": "#8a8f98", "metal": "#8f63c4", "ionic": "#d9661f", "hydrogen bond": "#2f87c4",
    "water bridge": "#14b0c2", "halogen bond": "#b39200", "pi stacking": "#1a9b77", "cation-pi": BOND,
    "hydrophobic": "#8c8c8c",
}  # fmt: skip
"""Dashed lines of a molecule's interactions, in the hues of the diagram; visible in both themes."""

UNKNOWN = "#9aa0a6"
"""Residues without a value; ribbons are translucent, since zero on a scale is also grey."""

SEQUENTIAL = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Viridis (Smith and van der Walt 2015), perceptually uniform from dark to light; for areas side by side."""

MAGNITUDE = ("#3d78f2", "#7f6fcb", "#b2609c", "#d0625e", "#d07e10")
"""Blue, violet, red, orange: small to large. Each has a contrast of at least 3:1 with white and with
JupyterLab's dark background (#212121), so that structures in these colours are visible in both themes."""

DIVERGING = ("#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b")
"""Blue, white, red: RdBu of ColorBrewer (Brewer 2002), safe for colour-blind viewers;
for areas side by side."""

SIGNED = ("#2d7fe8", "#8f9093", "#d1571c")
"""Blue, grey, orange: below zero, zero, above zero. The contrasts are those of ``MAGNITUDE``."""

RAINBOW = ("#4466e8", "#008fc0", "#289c6b", "#bd8b00", "#d0342c")
"""Blue to red along a chain, as is customary. The contrasts are those of ``MAGNITUDE``."""


def ramp(anchors: tuple[str, ...], steps: int) -> tuple[str, ...]:
    """Interpolate ``steps`` colours (``#rrggbb``) linearly between the anchors."""
    rows = [[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in anchors]
    colors = []
    for step in range(steps):
        position = step * (len(rows) - 1) / max(steps - 1, 1)
        index = min(int(position), len(rows) - 2)
        part = position - index
        mixed = (round(a + (b - a) * part) for a, b in zip(rows[index], rows[index + 1], strict=True))
        colors.append("#" + "".join(f"{channel:02x}" for channel in mixed))
    return tuple(colors)


def chain_color(index: int) -> str:
    """Return the colour of the chain with this 0-based index, as ``#rrggbb``."""
    return CHAINS[index % len(CHAINS)]


def cdr_color(chain: str, number: str) -> str:
    """Return the colour of CDR ``1``, ``2`` or ``3`` of a chain, or of another region, as ``#rrggbb``."""
    standard = CDRS.get(f"CDR-{_COUNTERPARTS.get(chain)}{number}")
    return standard or _OTHER_CDRS.get(number, _OTHER_CDRS["2"])


def receptor_color(chain: str) -> str | None:
    """Return the colour of a numbered chain by its name; None unless it is a receptor chain's name."""
    return ANTIBODY_CHAINS.get(_COUNTERPARTS.get(chain, ""))


def structure_color(index: int) -> str:
    """Return the colour of one of 21 superposed structures: chain colours, then darker and paler ones."""
    color, turn = chain_color(index), index // len(CHAINS)
    return color if turn == 0 else ramp((color, "#000000" if turn % 2 else "#ffffff"), 11)[4]


def text_color(background: str) -> str:
    """Return black or white, whichever contrasts more with ``background`` (WCAG relative luminance)."""
    red, green, blue = (_linear(int(background[i : i + 2], 16) / 255) for i in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.179 else "#ffffff"


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
