"""Stand-in for run.run of AntiDIF: its configuration, its list of structures and its table, without a model."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from standin import behave, draw_bar, tell_arguments

tell_arguments()
text = Path("configs/config.yaml").read_text()
config = dict(re.findall(r"^\s*(\w+): *([^#\n]*?) *(?:#.*)?$", text, re.M))
print("CONFIG", json.dumps(sorted(config.items())))
assert (config["rldif"], config["inference"], config["docker"], config["load_pkl"]) == (
    "true",
    "true",
    "false",
    "null",
)
assert Path(json.loads(config["m_name"])).read_text() == "weights"
((path, chains),) = [
    line.split(",") for line in Path(json.loads(config["custom_pdb_input"])).read_text().splitlines()
]
lines = Path(path).read_text().splitlines()
native = "".join("A" for chain in chains for line in lines if line[12:16] == " CA " and line[21] == chain)
writes = behave()
rows = []
for sample in range(int(config["num_samples"])):
    rows.append(f"{sample},antibody,{'G' * sample + native[sample:]},{native},,example")
    draw_bar(sample, int(config["num_samples"]))
if writes:
    name = json.loads(config["name"])
    Path(f"{name}_results.csv").write_text("\n".join([",name,pred,real,tm_score,split_name", *rows]) + "\n")
