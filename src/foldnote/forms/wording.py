"""Text for labels and messages: titles from keys, values on one line, numbers as typed."""

from __future__ import annotations

import json
import re
from typing import Any

from foldnote.text import cut_name, format_size

_SPELLINGS = (
    "3D A3M AA AAs AF2 AMBER BFVD CDR CDRs CIF CSV DDG DNA FASTA ID IDs IMGT ipSAE LOGAN MHC MSA PDB PDBs pH "
    "pLDDT pMHC RMSD RNA SDF SMILES TCR TSV VH VHH VL"
)
_ACRONYMS = {word.lower(): word for word in _SPELLINGS.split()}
_WORD = r"a3m|af2|pLDDT|pMHC|ipSAE|CDRs|PDBs|AAs|IDs|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[A-Za-z]*|[A-Z]"


def title_from_name(name: str) -> str:
    """Convert a key to a title: ``numSamples`` is ``Number of samples``, ``proteinPDB`` ``Protein PDB``."""
    tokens = [token for part in re.split(r"[_\-\s.]+", name) for token in re.findall(_WORD, part)]
    words = [_ACRONYMS.get(token.lower(), token.lower()) for token in tokens]
    if len(words) > 1 and words[0] == "num":
        words[:1] = ["number", "of"]
    if not words:
        return name
    first = words[0]
    return " ".join([first[:1].upper() + first[1:] if first.islower() else first, *words[1:]])


def cut_middle(value: Any, limit: int) -> str:
    """Shorten ``value`` to one line of ``limit`` characters, keeping its end: names often differ there."""
    return cut_name(in_one_line(value, 10_000), limit)


def in_one_line(value: Any, limit: int = 120) -> str:
    """Write ``value`` on one line of at most ``limit`` characters; multi-line text is given by its size."""
    if isinstance(value, str) and "\n" in value:
        return f"pasted text, {format_size(len(value.encode()))}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def number_text(value: float) -> str:
    """Return the number as it would be typed: ``5``, ``0.05``, ``1e-07``."""
    return str(value) if isinstance(value, int) else repr(float(value))


def begin_sentence(name: str) -> str:
    """Return a name to begin a sentence with: ``The pasted structure``, but ``target.pdb``."""
    return name[:1].upper() + name[1:] if name.startswith(("the ", "all ")) else name
