"""Stand-in weights of NanoBodyBuilder2.

python make_nanobodybuilder2.py FOLDER
"""

import sys
from pathlib import Path

from immune_models import make_stand_ins

make_stand_ins(Path(sys.argv[1]), "nanobody_model", (128, 256, 256, 256))
