"""Predicts the variable domains of a T-cell receptor with TCRBuilder2 and numbers them by IMGT.

Reads ``alpha`` and ``beta`` from job.json. Writes outputs/prediction.pdb (chains B and A, as ImmuneBuilder
orders them, IMGT numbers, all atoms, Å) and outputs/numbering.csv. B-factors and a column of numbering.csv
are the root mean square distance of a residue's Cα from its mean over the method's four models, in Å.
"""

import sys

from immune_ensemble import Method, ReceptorChain, find_models, load_predictor, run_job

METHOD = Method(
    name="TCRBuilder2",
    receptor="TCR",
    whole="pair of variable domains",
    chains=(ReceptorChain("B", "beta", frozenset("B")), ReceptorChain("A", "alpha", frozenset("A"))),
    weights="tcr_model_{}",
    third_cdrs="AB",
    remedy="Run `foldnote engines remove tcrbuilder2`, then install it again.",
)


def main() -> None:
    """Run the job of this folder."""
    run_job(METHOD)


def load() -> None:
    """Load the four models."""
    load_predictor(METHOD, find_models(METHOD))


if __name__ == "__main__":
    sys.exit(main())
