"""Summarise the errors that a method predicts for the positions of residues.

It runs inside the engines' own environments and uses only the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

ERROR = "predicted_error"
"""Column of numbering.csv, in Å; lower is better."""


def summarise_errors(
    rows: Sequence[Mapping[str, str | int]], errors: Sequence[float], chains: Iterable[str] = "H"
) -> dict[str, float]:
    """Return the mean predicted error of the whole and of chains' third CDRs, in Å; empty without errors.

    Args:
        rows: rows of numbering.csv.
        errors: one for each row, in Å.
        chains: the chains whose third CDRs are summarised: H, or A and B of a T-cell receptor.
    """
    means: dict[str, Sequence[float]] = {"meanPredictedError": errors}
    for chain in chains:
        means[f"cdr{chain}3PredictedError"] = [
            error
            for row, error in zip(rows, errors, strict=bool(errors))
            if (row["chain"], row["region"]) == (chain, "CDR3")
        ]
    return {name: round(sum(values) / len(values), 3) for name, values in means.items() if values}
