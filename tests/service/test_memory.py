"""Memory of one request: the worst bodies on every route, with the process's memory limited."""

import json
import os
import resource
from pathlib import Path

import pytest
from service_process import SEQUENCE, ServiceProcess

MAX_MB = 300
MAX_CPU_S = 4.0
PDB_LINE = "ATOM      1  CA  ALA A   1       1.000   0.000   0.000  1.00 50.00           C  \n"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Start a service with an address space limited to 1.5 GB."""
    service = ServiceProcess(
        tmp_path_factory.mktemp("memory"), "--no-rate-limit", "--allow-deploy-model"
    ).start()
    service.client.post("/validate-job", json=job("anarci", sequence=SEQUENCE))
    resource.prlimit(service.process.pid, resource.RLIMIT_AS, (3 << 29, 3 << 29))
    yield service
    service.kill()


PAIRS = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(27)} | {
    "a27": {"type": "string"}
}
DOUBLING = {"type": "object", "$defs": PAIRS, "properties": {"x": {"$ref": "#/$defs/a0"}}}
"""A kilobyte that expands to 2**29 subschemas."""


class Raw(str):
    """A body as it is sent."""


def job(tool, **settings):
    return {"jobName": "large", "type": tool, "settings": settings}


def pipeline(tool, **settings):
    return {"pipelineName": "large", "stages": [{"name": "one", "type": tool, "settings": settings}]}


def docking(*ligands):
    return {"batchName": "large", "receptor": PDB_LINE, "ligands": ligands}


BODIES = {
    "digits": ("/validate-job", lambda: job("anarci", sequence="1" * 4_300_000)),
    "submitted digits": ("/submit-job", lambda: job("anarci", sequence="1" * 20_000_000)),
    "letters": ("/submit-job", lambda: job("anarci", sequence="A" * 20_000_000)),
    "blanks": ("/submit-job", lambda: job("alphafold", sequence="A " * 5_000_000)),
    "headers": ("/validate-job", lambda: job("anarci", sequence=">\n" * 1_400_000)),
    "chains": ("/validate-job", lambda: job("afsample", sequence="A:" * 2_100_000)),
    "type": ("/submit-job", lambda: job("ab" * 10_000_000)),
    "unknown keys": ("/validate-job", lambda: job("anarci", **{f"key{i}": 1 for i in range(60_000)})),
    "unknown key": ("/submit-job", lambda: job("anarci", **{"ab" * 10_000_000: 1})),
    "wrong items": ("/validate-job", lambda: job("admet", smilesStrings=[1] * 199_000)),
    "bad SMILES": ("/validate-job", lambda: job("admet", smilesStrings=["?"] * 199_000)),
    "a long SMILES": ("/submit-job", lambda: job("admet", smilesStrings=["C1" * 10_000_000])),
    "lines": ("/submit-job", lambda: job("af2bind", pdbFile="\n" * 2_000_000, chain="A")),
    "FASTA": ("/submit-job", lambda: job("ancestral-reconstruction", fasta=">\n" * 2_000_000)),
    "rows": ("/submit-batch", lambda: {"batchName": "large", "type": "anarci",
                                       "settings": [{"sequence": "1" * 20_000}] * 1000}),
    "validated rows": ("/validate-job", lambda: {"type": "anarci",
                                                 "settings": [{"sequence": "1" * 1000}] * 1000}),
    "a stage": ("/submit-pipeline", lambda: pipeline("anarci", sequence="1" * 20_000_000)),
    "ligands": ("/virtual-screening", lambda: docking(*["C"] * 200_000)),
    "a ligand": ("/virtual-screening", lambda: docking("C1" * 10_000_000)),
    "63 MB of letters": ("/submit-job", lambda: job("anarci", sequence="A" * 63_000_000)),
    "a million keys": ("/submit-job", lambda: job("anarci", **{f"k{i}": 1 for i in range(1_000_000)})),
    "levels": ("/submit-job", lambda: Raw('{"a":' * 100_000 + "1" + "}" * 100_000)),
    "a long number": ("/submit-job", lambda: Raw('{"settings":{"sequence":' + "9" * 1_000_000 + "}}")),
    "a name and a tag": ("/submit-job", lambda: job("anarci") | {"jobName": "n" * 20_000_000,
                                                                 "projectTag": "t" * 20_000_000}),
    "too many rows": ("/submit-batch", lambda: {"batchName": "large", "type": "anarci",
                                                "settings": [{"sequence": "1" * 300}] * 100_000}),
    "a schema": ("/deploy-model", lambda: {"type": "mean", "schema": DOUBLING, "command": ["true"]}),
    "a prompt of molecules": ("/model-router", lambda: {"prompt": "fold CC(=O)O " * 61_000}),
    "a prompt": ("/model-router", lambda: {"prompt": "fold " * 200_000}),
    "a file's name": ("/submit-job", lambda: job("af2bind", pdbFile="a/" * 10_000_000, chain="A")),
}  # fmt: skip


def read_status(service, key):
    lines = Path(f"/proc/{service.process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{key}:")).split()[1]) / 1024


def read_cpu_s(service):
    fields = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(("path", "make"), BODIES.values(), ids=BODIES)
def test_a_large_body_is_refused_in_little_memory_and_time(house, path, make):
    given = make()
    content = (given if isinstance(given, Raw) else json.dumps(given)).encode()
    Path(f"/proc/{house.process.pid}/clear_refs").write_text("5")  # reset the peak
    before_mb, before_s = read_status(house, "VmRSS"), read_cpu_s(house)
    answer = house.client.post(path, content=content)
    took_mb, took_s = read_status(house, "VmHWM") - before_mb, read_cpu_s(house) - before_s
    assert answer.status_code == (200 if path == "/validate-job" else 400), answer.text[:300]
    assert (took_mb < MAX_MB, took_s < MAX_CPU_S) == (True, True), (took_mb, took_s)
    assert len(answer.content) < 400_000
