"""What a form says of antibodies and T-cell receptors while they are typed."""

import re
import subprocess
import sys
import time

import pytest
from form_builders import label_of

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.biology.domains import find_domains

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
NANOBODY = "QVQLVESGGGLVQAGGSLRLSCAASGRTFSSYAMGWFRQAPGKEREFVAAISWSGGSTYYADSVKGRFTISRDNAKNTVYLQMNSLKPEDTAVYYCAADRGSGYYYTRSDYEYWGQGTQVTVSS"
RECEPTOR = "NAGVTQTPKFQVLKTGQSMTLQCAQDMNHEYMSWYRQDPGMGLRLIHYSVGAGITDQGEVPNGYNVSRSTTEDFPLRLLSAAPSQTSVYFCASRPGLAGGRPEQYFGPGTRLTVTE"
LYSOZYME = "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNCAKKIVSDGNGMNAWVAWRNRCKGTDVQAWIRGCRL"
CONSTANT = (
    "ASTKGPSVFPLAPSSKSTSGGTAALGCLVKDYFPEPVTVSWNSGALTSGVHTFPAVLQSSGLYSLSSVVTVPSSSLGTQTYICNVNHKPSNTKVDKKVEPKSC"
)
LINKER = "GGGGSGGGGSGGGGS"
OF_HEAVY, OF_LIGHT = ("GFNIKDTY", "IYPTNGYT", "SRWGGDGFYAMDY"), ("QDVNTA", "SAS", "QQHYTTPPT")


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
    assert list(find_domains(chain)) == domains


@pytest.mark.parametrize(
    "chain",
    ["", HEAVY[:40], LYSOZYME, CONSTANT, "ACDEFGHIKLMNPQRSTVWY" * 10, "X" * 120, LYSOZYME * 20],
    ids=["empty", "short", "lysozyme", "constant domain", "alphabet", "unknown", "long"],
)
def test_other_proteins_have_none(chain):
    assert find_domains(chain) == ()


def readout(form, name):
    return " ".join(re.findall(r'fn-readout">([^<]*)', label_of(form, name)))


def test_a_field_says_them_of_each_chain():
    form = Form(catalog.tool("abodybuilder"), values={"heavy": HEAVY, "light": LIGHT})
    assert "heavy-chain domain, by IMGT CDR1 GFNIKDTY, CDR2 IYPTNGYT and CDR3 SRWGGDGFYAMDY" in readout(
        form, "heavy"
    )
    assert "kappa light-chain domain" in readout(form, "light")
    form = Form(catalog.tool("alphafold"), values={"sequence": f"{HEAVY}:{LIGHT}:{LYSOZYME}"})
    assert "A: heavy-chain domain" in readout(form, "sequence")
    assert "B: kappa light-chain domain" in readout(form, "sequence")


def test_there_is_no_message_if_the_program_is_not_installed():
    code = (
        "import sys; sys.modules['immunum'] = None\n"
        "from foldnote.forms.biology.domains import find_domains\n"
        f"print(find_domains({HEAVY!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "()"


def test_a_long_chain_does_not_hold_up_typing():
    begun = time.process_time()
    assert find_domains(LYSOZYME * 15 + "A") == ()
    assert time.process_time() - begun < 1.0
