"""Notes of a form on antibodies and T-cell receptors while their sequences are typed."""

import asyncio
import csv
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from form_builders import label_of

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.batch.column_contents import describe_column
from foldnote.forms.biology.domains import find_domains, find_kinds

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
NANOBODY = "QVQLVESGGGLVQAGGSLRLSCAASGRTFSSYAMGWFRQAPGKEREFVAAISWSGGSTYYADSVKGRFTISRDNAKNTVYLQMNSLKPEDTAVYYCAADRGSGYYYTRSDYEYWGQGTQVTVSS"
RECEPTOR = "NAGVTQTPKFQVLKTGQSMTLQCAQDMNHEYMSWYRQDPGMGLRLIHYSVGAGITDQGEVPNGYNVSRSTTEDFPLRLLSAAPSQTSVYFCASRPGLAGGRPEQYFGPGTRLTVTE"
SINGLE = (
    "EVQLVESGGGLVQPGGSLRLSCAASGRTFSYNPMGWFRQAPGKGRELVAAISRTGGSTYYPDSVEGRFTISRDNAKRMVYLQMNSLRAEDTAVYYC"
    "AAAGVRAEDGRVRTLPSEYTFWGQGTQVTVSS"
)
LAMBDA = (
    "QSALTQPASVSGSPGQSITISCTGTSSDVGGYNYVSWYQQHPGKAPKLMIYDVSNRPSGVSNRFSGSKSGNTASLTISGLQAEDEADYYCSSYTSS"
    "STRVFGTGTKVTVL"
)
LONG = (
    "QVQLVQSGAEVKKPGSSVKVSCKASGNSFSNHDVHWVRQATGQGLEWMGWMSHEGDKTGLAQKFQGRVTITRDSGASTVYMELRGLTADDTAIYYC"
    "LTGSKHRLRDYFLYNEYGPNYEEWGDYLATLDVWGHGTAVTVSS"
)
LYSOZYME = "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNCAKKIVSDGNGMNAWVAWRNRCKGTDVQAWIRGCRL"
CONSTANT = (
    "ASTKGPSVFPLAPSSKSTSGGTAALGCLVKDYFPEPVTVSWNSGALTSGVHTFPAVLQSSGLYSLSSVVTVPSSSLGTQTYICNVNHKPSNTKVDKKVEPKSC"
)
LINKER = "GGGGSGGGGSGGGGS"
with (Path(__file__).parent / "data" / "antibodies.csv").open(newline="") as _file:
    ANTIBODIES = {row["name"]: row for row in csv.DictReader(_file)}
OF_HEAVY, OF_LIGHT = ("GFNIKDTY", "IYPTNGYT", "SRWGGDGFYAMDY"), ("QDVNTA", "SAS", "QQHYTTPPT")


def spell_cdrs(domain, chain, scheme="imgt"):
    """Return the letters of CDR1 to CDR3; empty for a missing one."""
    found = {name[-1]: chain[start:end] for name, (start, end) in domain.find_cdrs(scheme).spans.items()}
    return tuple(found.get(number, "") for number in "123")


@pytest.mark.parametrize(
    ("chain", "domains"),
    [
        (HEAVY, [("H", OF_HEAVY)]),
        (LIGHT, [("K", OF_LIGHT)]),
        (HEAVY + CONSTANT, [("H", OF_HEAVY)]),
        (HEAVY + LINKER + LIGHT, [("H", OF_HEAVY), ("K", OF_LIGHT)]),
        (LIGHT + LINKER + HEAVY, [("K", OF_LIGHT), ("H", OF_HEAVY)]),
        (NANOBODY, [("H", ("GRTFSSYA", "ISWSGGST", "AADRGSGYYYTRSDYEY"))]),
        (RECEPTOR, [("B", ("MNHEY", "SVGAGI", "ASRPGLAGGRPEQY"))]),
        (HEAVY[:70], [("H", (*OF_HEAVY[:2], ""))]),
    ],
    ids=["heavy", "light", "with a constant domain", "scFv", "light first", "nanobody", "receptor", "half"],
)
def test_domains_have_their_kind_and_the_cdrs_of_imgt(chain, domains):
    """CDRs of trastuzumab as in its PDB entry 1N8Z by IMGT/3Dstructure-DB; the others as ANARCI numbers them."""
    assert [(domain.kind, spell_cdrs(domain, chain)) for domain in find_domains(chain)] == domains


@pytest.mark.parametrize(
    "chain",
    ["", HEAVY[:40], LYSOZYME, CONSTANT, "ACDEFGHIKLMNPQRSTVWY" * 10, "X" * 120, LYSOZYME * 20],
    ids=["empty", "short", "lysozyme", "constant domain", "alphabet", "unknown", "long"],
)
def test_other_proteins_have_none(chain):
    assert find_domains(chain) == ()


@pytest.mark.parametrize("name", ANTIBODIES)
def test_real_antibodies_are_numbered_as_by_anarci(name):
    row = ANTIBODIES[name]
    for chain, kind in (("heavy", "H"), ("light", {"kappa": "K", "lambda": "L"}[row["light_class"]])):
        (domain,) = find_domains(row[chain])
        assert (domain.kind, domain.chain, domain.is_whole) == (kind, chain, True)
        assert list(spell_cdrs(domain, row[chain])) == row[f"{chain}_cdrs"].split()


@pytest.mark.parametrize(
    ("chain", "scheme", "definition", "cdrs"),
    [
        (HEAVY, "kabat", "Kabat", ("DTYIH", "RIYPTNGYTRYADSVKG", "WGGDGFYAMDY")),
        (HEAVY, "chothia", "Chothia", ("GFNIKDT", "YPTNGY", "WGGDGFYAMDY")),
        (HEAVY, "martin", "Chothia", ("GFNIKDT", "YPTNGY", "WGGDGFYAMDY")),
        (SINGLE, "kabat", "Kabat", ("YNPMG", "AISRTGGSTYYPDSVEG", "AGVRAEDGRVRTLPSEYTF")),
        (LAMBDA, "kabat", "Kabat", ("TGTSSDVGGYNYVS", "DVSNRPS", "SSYTSSSTRV")),
        (LAMBDA, "aho", "North", ("TGTSSDVGGYNYVS", "YDVSNRPS", "SSYTSSSTRV")),
        (LONG, "chothia", "Chothia", ("GNSFSNH", "SHEGDK", "GSKHRLRDYFLYNEYGPNYEEWGDYLATLDV")),
        (HEAVY, "wolfguy", "IMGT", OF_HEAVY),
        (RECEPTOR, "kabat", "IMGT", ("MNHEY", "SVGAGI", "ASRPGLAGGRPEQY")),
    ],
)
def test_cdrs_are_those_that_go_with_a_numbering_scheme(chain, scheme, definition, cdrs):
    """Values of ABnumber 0.4.4, and for trastuzumab the published ones; as the tool anarci reports them."""
    (domain,) = find_domains(chain)
    assert (domain.find_cdrs(scheme).definition, spell_cdrs(domain, chain, scheme)) == (definition, cdrs)


def test_their_columns_are_reported_in_a_batch():
    for chain in ("heavy", "light"):
        assert describe_column([row[chain] for row in ANTIBODIES.values()]) == chain
        assert [find_kinds(row[chain]) for row in ANTIBODIES.values()] == [[chain]] * len(ANTIBODIES)


def readout(form, name):
    return " ".join(re.findall(r'fn-readout">([^<]*)', label_of(form, name)))


def test_a_field_names_the_chain_and_shades_its_cdrs():
    form = Form(catalog.tool("abodybuilder"), values={"heavy": HEAVY, "light": LIGHT})
    assert readout(form, "heavy") == "120 residues; heavy-chain domain, CDRs by IMGT"
    assert "kappa light-chain domain" in readout(form, "light")
    parts = label_of(form, "heavy")
    for title in ("CDR-H1, residues 26 to 33", "CDR-H2, residues 51 to 58", "CDR-H3, residues 97 to 109"):
        assert title in parts
    letters = parts[parts.index("fn-letters") + 12 : parts.index("fn-help")]
    plain = re.sub(r'<span class="fn-(?:number|tag)">[^<]*</span>|<[^>]*>?', "", letters)
    assert plain == HEAVY


def test_a_form_with_a_numbering_scheme_shades_the_cdrs_that_its_result_will_have():
    form = Form(catalog.tool("anarci"), values={"sequence": HEAVY})
    assert readout(form, "sequence") == "120 residues; heavy-chain domain, CDRs by Kabat"
    assert "CDR-H1, residues 31 to 35" in label_of(form, "sequence")
    form.set({"scheme": "imgt"})
    assert readout(form, "sequence").endswith("CDRs by IMGT")
    assert "CDR-H1, residues 26 to 33" in label_of(form, "sequence")
    form.set({"scheme": "aho"})
    assert readout(form, "sequence").endswith("CDRs by North")
    form.set({"scheme": "kabat", "sequence": RECEPTOR})
    assert readout(form, "sequence").endswith("TCR beta-chain domain, CDRs by IMGT")
    secukinumab = ANTIBODIES["secukinumab"]["light"]
    form.set({"scheme": "chothia", "sequence": secukinumab})
    assert "C97 in CDR-L3 has no partner" in label_of(form, "sequence")


async def test_the_germline_follows_once_typing_has_ended():
    asked = []

    def find(chain):
        asked.append(chain)
        return "human IGHV3-66*01" if chain == HEAVY else None

    form = Form(catalog.tool("abodybuilder"), values={"light": LIGHT}, germlines=find)
    for end in range(110, 121):
        form.fields["heavy"].widget.value = HEAVY[:end]
    assert "IGHV" not in readout(form, "heavy")
    async with asyncio.timeout(120):
        while "IGHV" not in readout(form, "heavy"):
            await asyncio.sleep(0.05)
    assert readout(form, "heavy").endswith("CDRs by IMGT; human IGHV3-66*01")
    assert asked == [HEAVY, LIGHT]


def test_chains_of_one_field_are_named():
    form = Form(catalog.tool("alphafold"), values={"sequence": f"{HEAVY}:{LIGHT}:{LYSOZYME}"})
    said = readout(form, "sequence")
    assert "A: heavy-chain domain; B: kappa light-chain domain, CDRs by IMGT" in said
    assert label_of(form, "sequence").count("fn-letters") == 2


def test_without_the_program_chains_are_recognized_by_their_j_region_and_the_form_says_what_is_missing():
    code = (
        "import sys; sys.modules['immunum'] = None\n"
        "from foldnote import catalog\n"
        "from foldnote.forms import Form\n"
        "from foldnote.forms.biology.domains import find_domains, find_kinds\n"
        f"print(find_domains({HEAVY!r}), find_kinds({HEAVY!r}), find_kinds({LIGHT!r}))\n"
        f"form = Form(catalog.tool('abodybuilder'), values={{'heavy': {HEAVY!r}}})\n"
        "print(form.fields['heavy'].widget.description)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("() ['heavy'] ['light']\n")
    assert "install foldnote[numbering] to see chain type and CDRs" in done.stdout


def test_a_long_chain_does_not_hold_up_typing():
    begun = time.process_time()
    assert find_domains(LYSOZYME * 15 + "A") == ()
    assert time.process_time() - begun < 1.0
