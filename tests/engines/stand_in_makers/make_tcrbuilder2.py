"""Stand-in weights of TCRBuilder2.

python make_tcrbuilder2.py FOLDER
"""

import sys
from pathlib import Path

from immune_models import make_stand_ins

make_stand_ins(Path(sys.argv[1]), "tcr_model", (128, 128, 256, 256))
