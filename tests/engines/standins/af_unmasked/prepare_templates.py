"""Stand-in for prepare_templates.py of AF_unmasked: its arguments and its files."""

import argparse
from pathlib import Path

from standin import tell_arguments

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--target", nargs="+", required=True)
parser.add_argument("--template", required=True)
parser.add_argument("--out_dir", "--output_dir", dest="out_dir", required=True)
for name in ("align", "append", "superimpose", "inpaint_clashes", "noinpaint_clashes"):
    parser.add_argument(f"--{name}", action="store_true")
options = parser.parse_args()
tell_arguments("template")

assert "ATOM" in Path(options.template).read_text()
folder = Path(options.out_dir, Path(options.target[0]).stem, "template_data")
assert folder.exists() == options.append
(folder / "mmcif_files").mkdir(parents=True, exist_ok=True)
place = len(list((folder / "mmcif_files").iterdir()))
(folder / "mmcif_files" / f"{place:04}.cif").write_text("data_")
(folder / "templates.flag").write_text("--cross_chain_templates\n--template_mmcif_dir=mmcif_files\n")
