"""Stand-in weights of ABodyBuilder2's models 2 to 4.

python make_abodybuilder2.py FOLDER
"""

import sys
from pathlib import Path

from immune_models import make_stand_ins

make_stand_ins(Path(sys.argv[1]), "antibody_model", (256, 256, 256), first=2)
