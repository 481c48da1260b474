"""A machine with GPUs as the service sees it: a program that responds like NVIDIA's `nvidia-smi`."""

import sys
from pathlib import Path

PROGRAM = """#!{python}
import sys
from pathlib import Path

question = sys.argv[1]
if sys.argv[1:] == ["-L"]:
    sys.stdout.write({listed!r})
    sys.exit()
assert sys.argv[2:] == ["--format=csv,noheader,nounits"], sys.argv
if question == "--query-gpu=index,uuid,memory.total":
    for index in range({number}):
        print(f"{{index}}, GPU-{{index}}0000000-1111-2222-3333-444444444444, {memory_mb}")
elif question == "--query-compute-apps=pid,used_gpu_memory":
    for use in Path({uses!r}).glob("*"):
        print(f"{{use.name}}, {{use.read_text()}}")
else:
    sys.exit(f"unknown question {{question}}")
"""


def make_gpu_machine(folder: Path, number: int = 2, memory_mb: int = 1000, listed: str = "") -> Path:
    """Write the program and return its folder; a file ``uses/PID`` in it holds the MB that a process uses.

    ``listed`` is its output for ``-L``, which also lists MIG instances of GPUs.
    """
    uses = folder / "uses"
    uses.mkdir(parents=True)
    program = folder / "nvidia-smi"
    program.write_text(
        PROGRAM.format(
            python=sys.executable, number=number, memory_mb=memory_mb, uses=str(uses), listed=listed
        )
    )
    program.chmod(0o755)
    return folder
