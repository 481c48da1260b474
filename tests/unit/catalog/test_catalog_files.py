"""Every tool file is complete, agrees with the settings reference, and has a valid example."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from rdkit import Chem
from settings_reference import read_table

from foldnote import catalog
from foldnote.catalog import CHECKS
from foldnote.models import check_job_name

FOLDER = Path(catalog.__file__).parent / "tools"
FILES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
REFERENCE = read_table()
BEYOND = {tool for tool, row in FILES.items() if row["schema"].get("x-foldnote", {}).get("beyondReference")}
FAMILIES = {
    "structure-prediction", "antibody-design", "protein-design", "docking", "property-prediction",
    "sequence-analysis", "structure-analysis", "free-energy",
}  # fmt: skip
MODALITIES = {
    "antibody", "nanobody", "tcr", "protein", "peptide", "small-molecule", "nucleic-acid", "metal-ion",
}  # fmt: skip
ROLES = {
    "sequence", "sequences", "smiles", "chain", "chains", "residues", "column", "mask", "file", "files",
    "box-center", "box-size",
}  # fmt: skip
NOTES = {
    "unit", "extensions", "role", "appliesWhen", "group", "order", "alphabet", "chains", "columns", "of", "chain",
    "check", "pairWhen", "pipelineOnly", "receptor", "box", "turning",
}  # fmt: skip
FIELDS = [(tool, name) for tool, row in FILES.items() for name in row["schema"]["properties"]]
tools_of_the_reference = pytest.mark.parametrize("tool", list(REFERENCE))
every_tool = pytest.mark.parametrize("tool", list(FILES))
every_field = pytest.mark.parametrize(("tool", "name"), FIELDS)


def field_of(tool, name):
    return FILES[tool]["schema"]["properties"][name]


def test_the_catalog_has_the_tools_of_the_reference_and_those_marked_as_beyond_it():
    assert set(FILES) == set(catalog.tools())
    assert set(FILES) - BEYOND == set(REFERENCE)
    assert BEYOND.isdisjoint(REFERENCE)
    assert (len(REFERENCE), BEYOND) == (
        39,
        {
            "binding-free-energy",
            "boltz2",
            "flashabb",
            "hydration-free-energy",
            "igfold",
            "ligandmpnn",
            "nanobodybuilder",
            "openfold3",
            "propka",
            "proteinmpnn",
            "rfdiffusion3",
            "sequence-properties",
            "tcrbuilder",
            "vina",
        },
    )


@tools_of_the_reference
def test_a_tool_has_the_fields_of_the_reference_in_their_order(tool):
    assert list(FILES[tool]["schema"]["properties"]) == [row.name for row in REFERENCE[tool]]


@tools_of_the_reference
def test_each_field_says_what_the_reference_says(tool):
    schema = FILES[tool]["schema"]
    for row in REFERENCE[tool]:
        found = dict(schema["properties"][row.name])
        notes = found.pop("x-foldnote")
        assert {
            key: value for key, value in found.items() if key not in ("title", "description")
        } == row.keywords
        assert (row.name in schema["required"]) == row.required
        assert (notes.get("unit"), notes.get("extensions")) == (row.unit, row.extensions)
        assert notes.get("appliesWhen") == row.condition
        assert notes.get("chains", {}).get("min") == row.least_chains


@every_tool
def test_a_default_has_the_json_type_of_its_field(tool):
    for name, field in FILES[tool]["schema"]["properties"].items():
        if "default" in field:
            assert Draft202012Validator(field).is_valid(field["default"]), name


@every_tool
def test_a_schema_is_valid_json_schema_and_closed_except_where_the_reference_is_partial(tool):
    schema = FILES[tool]["schema"]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is (tool == "antifold")


@every_tool
def test_a_tool_says_what_it_is(tool):
    row = FILES[tool]
    assert row["type"] == row["name"] == tool
    assert row["displayName"]
    assert row["description"].endswith(".")
    assert row["family"] in FAMILIES
    assert row["modalities"]
    assert set(row["modalities"]) <= MODALITIES
    assert row["functions"]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in row["functions"])


WITHOUT_DOI = {"abb4"}
"""Its repository names a manuscript and gives no identifier."""


@every_tool
def test_a_citation_names_authors_year_title_and_where_it_is_found(tool):
    citation = FILES[tool]["citation"]
    assert set(citation) <= {"text", "doi", "url"}
    authors, year, title = re.match(r"([^()]+) \(((?:19|20)\d\d)\)\. ([^.]{10,})", citation["text"]).groups()
    assert re.match(r"[A-ZÀ-Þ][\w'-]+(, [A-ZÀ-Þ]| et al| [A-Z]|$)", authors)
    assert int(year) >= 2000
    assert title[0].isalnum()
    assert ("doi" in citation) == (tool not in WITHOUT_DOI)
    assert re.fullmatch(r"10\.\d{4,9}/[^\s;,]+", citation.get("doi", "10.1000/x"))
    assert citation["text"].count("doi:10.") == citation["text"].count("doi:")
    assert citation.get("url", "https://").startswith("https://")
    assert "doi" in citation or "url" in citation


@every_tool
def test_every_output_has_a_meaning_a_unit_and_a_direction(tool):
    outputs = FILES[tool]["outputs"]
    assert outputs
    assert len({each["name"] for each in outputs}) == len(outputs)
    for each in outputs:
        assert set(each) == {"name", "description", "unit", "better"}
        assert len(each["description"]) > 10
        assert each["unit"]
        assert each["better"] in ("higher", "lower", "none")


@pytest.mark.parametrize(
    ("tool", "output", "unit", "better"),
    [
        ("aev-plig", "affinity", "pK (log10 units)", "higher"),
        ("aggrescan3d", "A3D score", "none (A3D scale)", "lower"),
        ("abfe", "binding free energy", "kcal/mol", "lower"),
        ("vina", "affinity", "kcal/mol", "lower"),
        ("alphafold", "PAE", "Å", "lower"),
    ],
)
def test_scores_that_can_be_misread_say_their_direction(tool, output, unit, better):
    row = next(each for each in FILES[tool]["outputs"] if each["name"] == output)
    assert (row["unit"], row["better"]) == (unit, better)


def test_texts_name_method_and_version():
    assert "AFsample2" in FILES["afsample"]["description"]
    assert "AFsample2" in FILES["afsample"]["citation"]["text"]
    assert "AbNatiV2" in FILES["abnativ"]["citation"]["text"]
    assert "GPCR" in FILES["af-multistate"]["description"]
    assert "default of exactly 4 fs" in FILES["abfe"]["schema"]["properties"]["timestep"]["description"]


@every_field
def test_a_field_can_be_shown(tool, name):
    field = field_of(tool, name)
    notes = field["x-foldnote"]
    assert field["title"]
    assert len(field["description"]) > 20
    assert field["description"].endswith(".")
    assert notes["group"] == ("required" if name in FILES[tool]["schema"]["required"] else notes["group"])
    assert notes["group"] in ("required", "common", "advanced")
    assert notes["order"] == list(FILES[tool]["schema"]["properties"]).index(name) + 1


@every_field
def test_a_field_names_only_what_exists(tool, name):
    notes = field_of(tool, name)["x-foldnote"]
    properties = FILES[tool]["schema"]["properties"]
    assert set(notes) <= NOTES
    assert notes.get("role", "file") in ROLES
    assert set(notes.get("check", ())) <= set(CHECKS)
    assert {notes.get("of", name), notes.get("chain", name)} <= set(properties)
    assert notes.get("alphabet", "amino-acid") in catalog.ALPHABETS
    for condition in (notes.get("appliesWhen", {}), notes.get("pairWhen", {})):
        assert all(set(values) <= allowed(properties[other]) for other, values in condition.items())


def allowed(field):
    return {True, False} if field["type"] == "boolean" else set(field["enum"])


def test_every_check_of_the_registry_is_used_and_explained():
    used = {check for tool, name in FIELDS for check in field_of(tool, name)["x-foldnote"].get("check", ())}
    assert used == set(CHECKS)
    assert all(row.meaning and row.rule.__doc__ and row.name == name for name, row in CHECKS.items())


@every_tool
def test_an_example_is_valid_as_it_stands(tool):
    found = catalog.tool(tool)
    example = found.example_job
    assert set(example) == {"jobName", "type", "settings"}
    assert example["type"] == tool
    assert check_job_name(example["jobName"]) is None
    result = catalog.check(found, example["settings"])
    assert result.problems == ()
    assert result.missing_fields == ()


@every_tool
def test_an_example_gives_every_required_field_that_has_no_default_and_none_that_does_not_apply(tool):
    found = catalog.tool(tool)
    settings = found.example_job["settings"]
    assert all(catalog.applies(found, name, settings) for name in settings)


@every_tool
def test_the_files_of_an_example_are_inside_it(tool):
    settings = catalog.tool(tool).example_job["settings"]
    for name, value in settings.items():
        if field_of(tool, name)["x-foldnote"].get("role") in ("file", "files"):
            assert all("\n" in text for text in (value if isinstance(value, list) else [value]))


@pytest.mark.parametrize("tool", ["abfe", "binding-free-energy"])
def test_the_ligand_of_an_example_that_must_be_bound_has_a_place(tool):
    """These tools refuse a flat molecule, which looks like a drawing."""
    name = FILES[tool]["exampleJob"]["settings"]["ligandsSDF"]
    (molecule,) = Chem.SDMolSupplier(str(FOLDER.parent / "examples" / name), removeHs=False)
    assert molecule.GetConformer().Is3D()


def test_a_bundled_tool_claims_no_engine():
    assert not any(tool.available or tool.engine for tool in catalog.tools().values())


@pytest.mark.parametrize(
    ("tool", "name", "rule"),
    [
        ("alphafold", "sequence", "separated by ':'"),
        ("alphafold", "modelType", "monomers use alphafold2_ptm and complexes alphafold2_multimer_v3"),
        ("alphafold", "recycleEarlyStopTolerance", "0 = never stop early"),
        ("alphafold", "chooseBest", "only the top-ranked model"),
        ("alphafold", "useMSA", "single-sequence mode"),
        ("alphafold", "numRelax", "amber relaxation"),
        ("alphalink2", "sequence", "at least 2 chains"),
        ("alphalink2", "crosslinksFile", "one pair per line"),
        ("alphalink2", "crosslinksFile", "counted from 1"),
        ("alphalink2", "crosslinksFile", "lower FDR gives a stronger restraint"),
        ("alphalink2", "neff", "blank uses the full alignment"),
        ("afsample", "sequence", "separated by ':'"),
        ("af-unmasked", "sequence", "separated by ':'"),
        ("af-unmasked", "templateFile", "same number of chains as the target"),
        ("af-unmasked", "modelsToUse", "separated by commas; empty runs all 5"),
        ("adapt", "designCdrs", "0=CDR1A, 1=CDR2A, 2=CDR2.5A, 3=CDR3A, 4=CDR1B, 5=CDR2B, 6=CDR2.5B, 7=CDR3B"),
        ("adapt", "pmhcTargets", "organism, mhc_class, mhc and peptide"),
        ("adapt", "tcrPdbids", "separated by spaces"),
        ("abfe", "timestep", "Above 4 fs hydrogen-mass repartitioning is applied automatically"),
        ("abfe", "earlyTerminationTargetError", "0 disables early termination"),
        ("abfe", "ligandsSDF", "each molecule of the file is one calculation"),
        ("abb4", "renumber", "IMGT"),
        ("ablang", "heavyMask", "Masking a whole sequence is not allowed"),
        ("abmpnn", "designedChains", "heavy chain before the light"),
        ("abmpnn", "detectCDRs", "'H L'"),
        ("abmpnn", "designedResidues", "separated by spaces"),
        ("abmpnn", "verifyTopK", "0 verifies all"),
        ("abmpnn", "numSequences", "per backbone"),
        ("alphacutter", "domain_out", "one file per domain"),
        ("alphacutter", "single_out", "merged file"),
        ("alphaflow", "numBatches", "each with the chosen number of conformations"),
        ("alphabind-finetune", "KdColumn", "column"),
        ("ancestral-reconstruction", "alignmentFile", "At least 3 sequences"),
        ("ancestral-reconstruction", "alignmentFile", "unaligned input is aligned automatically"),
        ("ancestral-reconstruction", "outgroup", "exactly"),
        ("aev-plig", "sdfFile", "bound ligand"),
        ("vina", "receptorFile", "hydrogens are removed and placed again"),
        ("vina", "ligandFile", "One molecule as SDF or MOL, or its SMILES"),
    ],
)
def test_a_rule_that_the_reference_says_in_words_is_in_the_description(tool, name, rule):
    assert rule in field_of(tool, name)["description"]


def test_every_example_states_its_origin_and_licence():
    folder = Path(catalog.__file__).parent / "examples"
    readme = (folder / "README.md").read_text("utf-8")
    rows = [line.strip("|").split("|") for line in readme.splitlines() if line.startswith("| ")]
    assert all(all(cell.strip() for cell in row) for row in rows)
    for path in folder.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in readme
    for row in rows:
        if "UniProt" in row[-2]:
            assert "CC BY 4.0" in row[-1]
        if "PDB ent" in row[-2]:
            assert "CC0" in row[-1]


@every_tool
def test_sequences_and_molecules_of_an_example_state_their_origin(tool):
    readme = (Path(catalog.__file__).parent / "examples" / "README.md").read_text("utf-8")
    settings = FILES[tool]["exampleJob"]["settings"]
    texts = [each for value in settings.values() for each in (value if isinstance(value, list) else [value])]
    has_own = any(
        isinstance(each, str) and re.fullmatch(r"[ACDEFGHIKLMNPQRSTVWY:]{9,}", each) for each in texts
    )
    if has_own or "smilesStrings" in settings:
        assert f"`{tool}`" in readme
