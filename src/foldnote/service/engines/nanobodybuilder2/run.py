"""Predict the structure of a nanobody with NanoBodyBuilder2 and number it by IMGT.

Reads ``heavy`` from job.json. Writes outputs/prediction.pdb (chain H, IMGT numbers, all atoms, Å) and
outputs/numbering.csv. B-factors and a column of numbering.csv are the root mean square distance of a
residue's Cα from its mean over the method's four models, in Å.
"""

import sys
from functools import partial

from immune_ensemble import Method, ReceptorChain, load_models, move_models, run_job

METHOD = Method(
    name="NanoBodyBuilder2",
    receptor="NANOBODY",
    whole="domain",
    chains=(ReceptorChain("H", "heavy", frozenset("H")),),
    weights="nanobody_model_{}",
    species=None,
    remedy="Run `foldnote engines remove nanobodybuilder2`, then install it again.",
)

main, load, use_gpu = (partial(step, METHOD) for step in (run_job, load_models, move_models))

if __name__ == "__main__":
    sys.exit(main())
