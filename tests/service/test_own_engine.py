"""The engine that the docs build for a lab's own program runs a job, and says when the program is missing."""

import io
import os
import re
import sys
import zipfile
from pathlib import Path

import httpx

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text("utf-8")
PROGRAM = """#!{python}
import sys
assert sys.argv[1] == "--seed" and sys.argv[3:5] == ["--out", "outputs"], sys.argv
print("sampling", len(sys.argv[5]), "residues")
if "X" in sys.argv[5]:
    sys.exit(1)
open("outputs/conformations.pdb", "w").write("MODEL        1\\nENDMDL\\n")
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def test_the_engine_of_the_docs_runs_a_labs_own_program(make_service, tmp_path):
    folder = tmp_path / "engines" / "sampling"
    folder.mkdir(parents=True)
    (manifest,) = [block for block in blocks("toml") if block.startswith("name = ")]
    (program,) = [block for block in blocks("python") if "subprocess" in block]
    (folder / "engine.toml").write_text(manifest)
    (folder / "run.py").write_text(program)
    programs = tmp_path / "bin"
    programs.mkdir()
    service = make_service("--no-rate-limit", is_started=False)
    service.environment = {
        "FOLDNOTE_ENGINE_PATH": str(folder.parent),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }
    service.start()
    refused = service.submit("first", type="af-traj", settings={"sequence": "ACDEFG"})
    assert refused.status_code == 400
    assert "sample-conformations" in refused.json()["error"]

    path = programs / "sample-conformations"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    job = service.run("second", type="af-traj", settings={"sequence": "ACDEFG"})
    assert job["status"] == "Complete", job
    assert "sampling 6 residues" in service.client.get("/jobs/second/log").json()["log"]
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(service.result("second").json()).content))
    assert "conformations.pdb" in archive.namelist()
    assert service.run("third", type="af-traj", settings={"sequence": "ACDXFG"})["status"] == "Stopped"
    assert service.job("third")["error"] == "The program refused the sequence; the log says why."
    (row,) = [row for row in service.client.get("/tools").json() if row["type"] == "af-traj"]
    assert (row["available"], row["engine"]["kind"]) == (True, "adapter")
