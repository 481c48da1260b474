"""Names and figures as people read them: titles from keys, sizes, counts, values in one line.

Nothing here knows a widget or a tool.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SPELLINGS = (
    "3D A3M AA AAs AF2 AMBER BFVD CDR CDRs CIF CSV DDG DNA FASTA ID IDs IMGT ipSAE LOGAN MHC MSA PDB PDBs pH "
    "pLDDT pMHC RMSD RNA SDF SMILES TCR TSV VH VHH VL"
)
_ACRONYMS = {word.lower(): word for word in _SPELLINGS.split()}
_TOKEN = re.compile(
    r"a3m|af2|pLDDT|pMHC|ipSAE|CDRs|PDBs|AAs|IDs|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[A-Za-z]*|[A-Z]"
)


def title_from_name(name: str) -> str:
    """``numSamples`` as ``Number of samples``, ``proteinPDB`` as ``Protein PDB``."""
    tokens = [token for part in re.split(r"[_\-\s.]+", name) for token in _TOKEN.findall(part)]
    words = [_ACRONYMS.get(token.lower(), token.lower()) for token in tokens]
    if len(words) > 1 and words[0] == "num":
        words[:1] = ["number", "of"]
    if not words:
        return name
    first = words[0]
    return " ".join([first[:1].upper() + first[1:] if first.islower() else first, *words[1:]])


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 residue``, ``2 residues``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(size_bytes: int) -> str:
    """A size in bytes, kB or MB (powers of ten)."""
    if size_bytes < 1000:
        return count(size_bytes, "byte")
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1000:.3g} kB"
    return f"{size_bytes / 1_000_000:,.3g} MB" if size_bytes < 10**9 else f"{size_bytes / 1e9:,.3g} GB"


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def in_one_line(value: Any, limit: int = 120) -> str:
    """``value`` as a person would write it on one line, cut after ``limit`` characters.

    Text of several lines (a pasted file) is named by its size and not shown.
    """
    if isinstance(value, str) and "\n" in value:
        return f"pasted text, {size(len(value.encode()))}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def number_text(value: float) -> str:
    """A number as it would be typed: ``5``, ``0.05``, ``1e-07``."""
    return str(value) if isinstance(value, int) else repr(float(value))


def join_words(words: list[str], last: str = "or") -> str:
    """``a, b or c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""
