"""Colours that people with any kind of colour vision can tell apart.

In an antibody the hue says the chain (blue heavy, orange light: the pair that every common colour-blindness
keeps apart) and the lightness says which CDR, so that the order 1, 2, 3 is seen even in grey. Other chains
take the colours of Okabe and Ito ("Color Universal Design", 2008) in the order that keeps neighbours apart.
Colour never stands alone: the legend, the labels in the picture and the hover line say the same in words.
"""

from __future__ import annotations

CHAINS: tuple[str, ...] = ("#0072b2", "#e69f00", "#56b4e9", "#d55e00", "#f0e442", "#cc79a7", "#009e73")
"""For chains without a role, taken in turn."""

ANTIBODY_CHAINS = {"H": "#b8cadd", "L": "#f0e2bf"}
"""Frameworks stay pale, so that the CDRs stand out."""

CDRS = {
    "CDR-H1": "#5fb2f4",
    "CDR-H2": "#2b7fdb",
    "CDR-H3": "#2a45b5",
    "CDR-L1": "#f7ad15",
    "CDR-L2": "#d06d0e",
    "CDR-L3": "#963810",
}

OTHER_REGION = "#7a5195"
"""A marked region that is none of the six CDRs."""


TOUCHED = "#c2c8cf"
"""Carbons of residues that a molecule touches."""

MOLECULE = "#2e8b57"
"""Carbons of a small molecule."""

BOND = "#c2569b"
"""Dashed lines of hydrogen bonds, seen on light and dark grounds."""

UNKNOWN = "#9aa0a6"
"""A residue that the chosen property says nothing of."""

SEQUENTIAL = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Dark to light and evenly so: the viridis colours of Smith and van der Walt (2015)."""

DIVERGING = ("#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b")
"""Blue, white, red, of ColorBrewer's RdBu (Brewer 2002), which colour-blind people can tell apart."""

RAINBOW = ("#3b4cc0", "#00a6ca", "#35b779", "#f9c80e", "#e4572e")
"""Blue to red along a chain, as is the custom, but rising and falling in lightness only once."""


def ramp(anchors: tuple[str, ...], steps: int) -> tuple[str, ...]:
    """``steps`` colours from the first anchor to the last, evenly between them."""
    rows = [[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in anchors]
    made = []
    for step in range(steps):
        place = step * (len(rows) - 1) / max(steps - 1, 1)
        left = min(int(place), len(rows) - 2)
        part = place - left
        mixed = (round(a + (b - a) * part) for a, b in zip(rows[left], rows[left + 1], strict=True))
        made.append("#" + "".join(f"{channel:02x}" for channel in mixed))
    return tuple(made)


def chain_color(index: int) -> str:
    """The colour of the chain at place ``index`` (0-based), as ``#rrggbb``."""
    return CHAINS[index % len(CHAINS)]


def text_color(background: str) -> str:
    """Black or white, whichever is read better on ``background`` (WCAG relative luminance)."""
    red, green, blue = (_linear(int(background[i : i + 2], 16) / 255) for i in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.179 else "#ffffff"


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
