"""Predict the variable domains of a T-cell receptor with TCRBuilder2 and number them by IMGT.

Reads ``alpha`` and ``beta`` from job.json. Writes outputs/prediction.pdb (chains B and A, as ImmuneBuilder
orders them, IMGT numbers, all atoms, Å) and outputs/numbering.csv. B-factors and a column of numbering.csv
are the root mean square distance of a residue's Cα from its mean over the method's four models, in Å.
"""

import sys
from functools import partial

from immune_ensemble import Method, ReceptorChain, load_models, move_models, run_job

METHOD = Method(
    name="TCRBuilder2",
    receptor="TCR",
    whole="pair of variable domains",
    chains=(ReceptorChain("B", "beta", frozenset("B")), ReceptorChain("A", "alpha", frozenset("A"))),
    weights="tcr_model_{}",
    third_cdrs="AB",
    remedy="Run `foldnote engines remove tcrbuilder2`, then install it again.",
)

main, load, use_gpu = (partial(step, METHOD) for step in (run_job, load_models, move_models))

if __name__ == "__main__":
    sys.exit(main())
