"""Identities and names of submissions in foldnote 0.1. A change would submit the jobs of old notebooks again."""

import json
from pathlib import Path

import pytest

from foldnote import catalog
from foldnote.client.local.ledger import Ledger
from foldnote.client.submission import batch_submission, job_submission
from foldnote.client.submission.experience import RunLimits

RECORDED = json.loads((Path(__file__).parent / "recorded_identities.json").read_text())
EXAMPLES = Path(catalog.__file__).parent / "examples"
HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"

# Examples of foldnote 0.1 for tools whose example has changed.
EARLIER_EXAMPLES = {
    "abfe": {
        "proteinPDB": (EXAMPLES / "trp-cage.pdb").read_text(),
        "ligandsSDF": (EXAMPLES / "benzene.sdf").read_text(),
        "chargeMethod": "am1bcc",
        "protocolRepeats": 2,
        "equilLength": 500,
        "prodLength": 1000,
    },
    "alphafold": {
        "sequence": (
            "AQVINTFDGVADYLQTYHKLPDNYITKSEAQALGWVASKGNLADVAPGKSIGGDIFSNREGKLPGKSGRTWREADINYTSGFRNSDRILY"
            "SSDWLIYKTTDHYQTFTKIR:KKAVINGEQIRSISDLHQTLKKELALPEYYGENLDALWDCLTGWVEYPLVLEWRQFEQSKQLTENGAES"
            "VLQVFREAKAEGCDITIILS"
        ),
        "numModels": "2",
        "numRecycles": 3,
    },
}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


def prepare(ledger, tool_type, settings, job_name=None):
    return job_submission.prepare(ledger, catalog.tool(tool_type), settings, job_name, None)


@pytest.mark.parametrize("tool_type", sorted(catalog.tools()))
def test_of_the_example_of_a_tool(ledger, tool_type):
    settings = EARLIER_EXAMPLES.get(tool_type) or catalog.tool(tool_type).example_job["settings"]
    attempt = prepare(ledger, tool_type, settings)
    found = [attempt.identity, attempt.name]
    assert tool_type in RECORDED, (
        f"A new tool: add {json.dumps({tool_type: found})} to recorded_identities.json."
    )
    assert found == RECORDED[tool_type]


def test_of_a_submission_with_a_wished_name(ledger):
    attempt = prepare(ledger, "anarci", {"sequence": HEAVY}, "mine")
    assert [attempt.identity, attempt.name] == RECORDED["with a name"]


def test_of_a_submission_with_a_file_that_was_uploaded_from_here(ledger):
    ledger.remember_upload("folder/x.pdb", "ab" * 32)
    attempt = prepare(ledger, "af2bind", {"pdbFile": "folder/x.pdb", "chain": "A"})
    assert [attempt.identity, attempt.name] == RECORDED["with an upload"]


@pytest.mark.parametrize(
    ("key", "name", "names"), [("batch", None, None), ("named batch", "mine", ["a", "b"])]
)
def test_of_a_batch(ledger, key, name, names):
    rows = [{"sequence": HEAVY}, {"sequence": HEAVY, "scheme": "kabat"}]
    limits = RunLimits()
    attempt = batch_submission.prepare(ledger, catalog.tool("anarci"), rows, name, names, None, limits)
    assert [attempt.identity, attempt.name] == RECORDED[key]
