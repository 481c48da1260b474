"""Remove apparent confidences from models that were made with stand-in weights.

It runs inside the environments of engines that have Gemmi.
"""

from __future__ import annotations

from pathlib import Path


def write_without_confidence(source: Path, target: Path) -> None:
    """Move a model in mmCIF to ``target``, with B-factors of 0 and without figures of its quality."""
    import gemmi

    document = gemmi.cif.read(str(source))
    block = document.sole_block()
    for category in block.get_mmcif_category_names():
        if category.startswith("_ma_qa_metric"):
            block.find_mmcif_category(category).erase()
    column = block.find_values("_atom_site.B_iso_or_equiv")
    for place in range(len(column)):
        column[place] = "0.00"
    document.write_file(str(target))
    source.unlink()
