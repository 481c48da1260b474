"""The regions of a numbering as a table: one row a framework or CDR."""

from __future__ import annotations

import pandas as pd

from foldnote.results import Region


def list_regions(regions: tuple[Region, ...]) -> pd.DataFrame:
    """The regions of a numbering.

    Returns:
        One row a region: ``chain``, ``region``, ``sequence``, ``first`` and ``last`` (positions of the
        scheme), ``scheme``, ``cdr_definition`` str, ``residues`` int64.
    """
    rows = [
        {
            "chain": region.chain,
            "region": region.label if region.is_cdr else region.name,
            "sequence": region.sequence,
            "residues": len(region.sequence),
            "first": region.positions[0],
            "last": region.positions[-1],
            "scheme": region.scheme,
            "cdr_definition": region.definition,
        }
        for region in regions
    ]
    return pd.DataFrame(rows)
