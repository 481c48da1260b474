"""POST /validate-job against the settings reference: every field of every tool, at its bounds and beyond."""

import pytest
from served import SEQUENCE
from settings_reference import read_table

TABLE = read_table()
PDB = "".join(
    f"ATOM  {i:5d}  CA  ALA {chain}{i:4d}    {i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
    for chain in "AHL"
    for i in range(1, 6)
)
CONTENTS = {
    "pdb": PDB,
    "sdf": "mol\n\n\n  1  0  0  0  0  0            999 V2000\nM  END\n$$$$\n",
    "cif": "data_x\nloop_\n_atom_site.group_PDB\n_atom_site.id\nATOM 1\n",
    "a3m": ">a\nACDE\n>b\nACDE\n",
    "tsv": "organism\tmhc_class\tmhc\tpeptide\nhuman\t1\tA*02:01\tGILGFVFTL\n",
    "csv": "sequence,fitness,Kd\nACD,1,2\nACE,2,3\n",
    "fasta": ">a\nACDE\n>b\nACDE\n>c\nACDF\n",
}
VALUES = {
    "crosslinksFile": "1 A 2 B 0.05\n",
    "chain": "A",
    "chains": ["A"],
    "alignChain": "A",
    "antigenChain": "A",
    "heavyChain": "H",
    "lightChain": "L",
    "heavyMask": "2-4",
    "lightMask": "2-4",
    "sequenceColumn": "sequence",
    "targetColumn": "fitness",
    "KdColumn": "Kd",
    "smilesStrings": ["CCO"],
    "customHeavyResidues": "1 2",
    "customLightResidues": "1 2",
    "designedChains": ["H", "L"],
    "designedResidues": {"H": "1 2"},
    "omitAAs": "C",
    "tcrPdbids": "1oga",
    "designCdrs": "0 1",
    "modelsToUse": "model_1_multimer_v3",
    "centralResidue": "A:1",
    "outgroup": "a",
    "simulationType": "abfe",
    "startingResidues": "EVQ",
    ("antiberty", "heavyChain"): SEQUENCE,
    ("antiberty", "lightChain"): SEQUENCE,
    ("alphalink2", "sequence"): "ACDEFGHIK:ACDEFGH",
    ("af-unmasked", "sequence"): "ACDE:ACDE:ACDE",
}
WRONG = {
    "string": (5, True, None, ["x"], {}),
    "number": ("5", True, None, [], {}),
    "integer": ("1", True, None, 1.5),
    "boolean": ("true", 0, None, []),
    "array": ("A", 1, None, {}, [5]),
    "object": ("A", 1, None, [], {"H": 5}),
}


def good_value(tool, row):
    """Return a plain value that the reference allows."""
    schema = row.keywords
    options = schema.get("enum") or schema.get("items", {}).get("enum")
    if options:
        return [options[0]] if schema["type"] == "array" else options[0]
    for key in ((tool, row.name), row.name):
        if key in VALUES:
            return VALUES[key]
    if schema.get("format") == "binary" or schema.get("items", {}).get("format"):
        contents = CONTENTS[(row.extensions or ["pdb"])[0]]
        return [contents] * 2 if schema["type"] == "array" else contents
    return {"boolean": True, "string": SEQUENCE}.get(schema["type"], schema.get("minimum", 1))


def settings_of(tool, task=None):
    """Return every field that applies to the task, with a valid value."""
    rows = TABLE[tool]
    task = task or next((row.keywords["enum"][0] for row in rows if row.name == "task"), None)
    known = {row.name: good_value(tool, row) for row in rows if applies(row, task)}
    return known | ({"task": task} if task else {})


def applies(row, task):
    return row.condition is None or task in row.condition["task"]


def cases(tool):
    """Yield settings with the field that is wrong in them; None if they are valid."""
    yield {"unknownKey": 1} | settings_of(tool), None if tool == "antifold" else "unknownKey"
    for row in TABLE[tool]:
        task = row.condition["task"][0] if row.condition else None
        base = settings_of(tool, task)
        yield base, None
        for value, is_good in values(tool, row):
            fitting = settings_of(tool, value) if row.name == "task" and is_good else base
            yield fitting | {row.name: value}, None if is_good else row.name
        if row.required and "default" not in row.keywords:
            yield {name: value for name, value in base.items() if name != row.name}, row.name
        if row.condition:
            yield from dropped(tool, row)


def dropped(tool, row):
    """A field that does not apply is not an error, whatever its value."""
    tasks = next(other.keywords["enum"] for other in TABLE[tool] if other.name == "task")
    for task in set(tasks) - set(row.condition["task"]):
        yield settings_of(tool, task) | {row.name: 5}, None


def values(tool, row):
    """Yield values of one field, and whether they are valid."""
    schema = row.keywords
    for wrong in WRONG[schema["type"]]:
        yield wrong, False
    for bound, way in (("minimum", -1), ("maximum", 1)):
        if bound in schema:
            limit = schema[bound]
            yield from (
                (limit, True),
                (float(limit), True),
                (limit + way, False),
                (limit + way / 1000, False),
            )
    if "maxLength" in schema:
        tail = {1: ":AAAA:AAAA", 2: ":AAAA"}.get(row.least_chains if tool != "alphafold" else None, "")
        longest = "A" * (schema["maxLength"] - len(tail)) + tail
        yield from ((longest, True), ("A" + longest, False))
    if "enum" in schema:
        yield from ((option, True) for option in schema["enum"])
        yield from ((schema["enum"][0] + "x", False), ("", False))
    if schema.get("format") == "binary":
        yield "never-uploaded.pdb", False


@pytest.mark.parametrize("tool", TABLE)
def test_every_field_is_judged_as_the_reference_says(served, tool):
    wanted = list(cases(tool))
    body = {"type": tool, "settings": [settings for settings, _ in wanted]}
    verdict = served.http.post("/validate-job", json=body).json()
    assert verdict["count"] == len(wanted)
    for (settings, field), row in zip(wanted, verdict["results"], strict=True):
        found = None if row["valid"] else row["field"].split(".")[0]
        assert found == field, (row, {name: str(value)[:60] for name, value in settings.items()})


@pytest.mark.parametrize("tool", TABLE)
def test_defaults_are_filled_in(served, tool):
    required = {row.name: good_value(tool, row) for row in TABLE[tool] if row.required}
    given = {name: value for name, value in required.items() if name != "task"}
    verdict = served.http.post("/validate-job", json={"type": tool, "settings": given}).json()
    assert verdict["valid"], verdict
    task = next((row.keywords["default"] for row in TABLE[tool] if row.name == "task"), None)
    for row in TABLE[tool]:
        if "default" in row.keywords and row.name not in given and applies(row, task):
            assert verdict["normalized"]["settings"][row.name] == row.keywords["default"]
