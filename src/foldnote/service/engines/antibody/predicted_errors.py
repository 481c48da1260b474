"""Write down the errors that a method predicts of each residue's place.

It runs inside the engines' own environments and uses the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ERROR = "predicted_error"
"""Column of numbering.csv, in Å; lower is better."""


def summarise_errors(
    rows: Sequence[Mapping[str, str | int]], errors: Sequence[float], chain: str = "H"
) -> dict[str, float]:
    """Mean predicted error of the whole and of a chain's third CDR, in Å; empty without errors.

    Args:
        rows: those of numbering.csv.
        errors: one for each row, in Å.
        chain: the chain whose third CDR is summarised: H, or B of a T-cell receptor.
    """
    third = [
        error
        for row, error in zip(rows, errors, strict=bool(errors))
        if (row["chain"], row["region"]) == (chain, "CDR3")
    ]
    means = {"meanPredictedError": errors, f"cdr{chain}3PredictedError": third}
    return {name: round(sum(values) / len(values), 3) for name, values in means.items() if values}
