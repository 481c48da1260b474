"""Sequences that a tool would take and that are hardly meant get a word of caution, and stay valid."""

import re

import pytest
from form_builders import label_of

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.biology.plausibility import find_caution
from foldnote.forms.schema.spec import read_specs

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
KAPPA = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
DNA = "ATGGCCAAATTTGGGCCCACGTACG"
SPECS = {spec.name: spec for spec in read_specs(catalog.tool("abodybuilder").settings_schema)}
# J regions of IMGT's reference sets: human IGHJ1-6, IGKJ1-5, IGLJ1-3, 6, 7; mouse IGHJ1; alpaca IGHJ4.
HEAVY_ENDS = (
    *("AEYFQHWGQGTLVTVSS", "YWYFDLWGRGTLVTVSS", "AFDVWGQGTMVTVSS", "YFDYWGQGTLVTVSS", "NWFDPWGQGTLVTVSS"),
    *("YYYYYGMDVWGQGTTVTVSS", "YWYFDVWGAGTTVTVSS", "YDYWGQGTQVTVSS"),
)
LIGHT_ENDS = (
    *("WTFGQGTKVEIK", "YTFGQGTKLEIK", "FTFGPGTKVDIK", "LTFGGGTKVEIK", "ITFGQGTRLEIK", "YVFGTGTKVTVL"),
    *("VVFGGGTKLTVL", "WVFGGGTKLTVL", "NVFGSGTKVTVL", "AVFGGGTQLTVL"),
)


def readouts(form, name):
    return re.findall(r'fn-readout">([^<]*)', label_of(form, name))


def test_swapped_chains_are_told_at_both_fields_and_can_be_sent():
    form = Form(catalog.tool("abodybuilder"), values={"heavy": KAPPA, "light": HEAVY})
    for field, length, kind in (("heavy", 107, "light"), ("light", 120, "heavy")):
        (readout,) = readouts(form, field)
        assert readout.startswith(
            f"{length} residues; this looks like a {kind} chain: are the chains swapped?; "
        )
    assert form.problems == ()


@pytest.mark.parametrize(
    ("heavy", "said"),
    [
        (HEAVY, []),
        (HEAVY[:30], ["short for the variable domain of a heavy chain"]),
        (DNA, ["only the letters of DNA or RNA"]),
        (f"{HEAVY}GGGGSGGGGSGGGGS{KAPPA}", []),
    ],
)
def test_an_unlikely_sequence_is_told_while_it_is_typed(heavy, said):
    form = Form(catalog.tool("abodybuilder"), values={"light": KAPPA})
    form.fields["heavy"].widget.value = heavy
    (readout,) = readouts(form, "heavy")
    assert readout.partition("; ")[0] == f"{len(heavy)} residues"
    assert [words for words in said if words not in readout] == []
    cautions = [part for part in readout.split("; ")[1:] if "-chain domain, by IMGT" not in part]
    assert bool(said) == bool(cautions)


def test_one_chain_of_several_is_named():
    form = Form(catalog.tool("alphafold"), values={"sequence": f"{HEAVY}:{DNA}"})
    (readout,) = readouts(form, "sequence")
    assert readout.startswith("2 chains, 145 residues: A 120, B 25; B: only the letters of DNA or RNA")


@pytest.mark.parametrize("letters", ["AAAAAAAAAAAAAAAA", "GAGAGAGAGAGAGA", "GIGKFLHSAKKFGKAFVGEIMNS"])
def test_poly_alanine_and_peptides_are_no_dna(letters):
    assert find_caution(letters, read_specs({"properties": {"sequence": {"type": "string"}}})[0]) == ""


@pytest.mark.parametrize("kind", ["heavy", "light"])
def test_every_j_region_tells_its_kind_of_chain(kind):
    domain = {"heavy": HEAVY[:98], "light": KAPPA[:94]}[kind]
    other = {"heavy": "light", "light": "heavy"}[kind]
    for end in {"heavy": HEAVY_ENDS, "light": LIGHT_ENDS}[kind]:
        assert find_caution(domain + end, SPECS[kind]) == ""
        assert f"looks like a {kind} chain" in find_caution(domain + end, SPECS[other])
