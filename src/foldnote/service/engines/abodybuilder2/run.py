"""Predict the structure of an antibody's variable domains with ABodyBuilder2 and number it by IMGT.

Reads ``heavy`` and ``light`` from job.json. Writes outputs/prediction.pdb (chains H and L, IMGT numbers, all
atoms, Å) and outputs/numbering.csv. The package contains the weights of the first of the method's four
models. If those of the other three are installed, all four run; B-factors and a column of numbering.csv are
then the root mean square distance of a residue's Cα from its mean over the models, in Å. With one model
B-factors are zero.
"""

import sys
from functools import partial

from immune_ensemble import Method, ReceptorChain, load_models, move_models, run_job

METHOD = Method(
    name="ABodyBuilder2",
    receptor="ANTIBODY",
    whole="Fv",
    chains=(ReceptorChain("H", "heavy", frozenset("H")), ReceptorChain("L", "light", frozenset("KL"))),
    weights="antibody_model_{}",
    packaged=(1,),
    remedy="Run `foldnote engines remove abodybuilder2`, then install it again; `--optional-weights` fetches"
    " those of models 2 to 4.",
)

main, load, use_gpu = (partial(step, METHOD) for step in (run_job, load_models, move_models))

if __name__ == "__main__":
    sys.exit(main())
