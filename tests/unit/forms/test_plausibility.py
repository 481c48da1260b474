"""Sequences that a tool accepts but that are probably mistakes get cautions, and stay valid."""

import csv
import re
from html import unescape
from pathlib import Path

import pytest
from form_builders import label_of, make_form
from hypothesis import given
from hypothesis import strategies as st
from page import send

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.biology.motifs import find_glycosylation_sites, translate
from foldnote.forms.biology.plausibility import find_doubts, find_liabilities
from foldnote.forms.schema.spec import read_specs

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
KAPPA = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
RECEPTOR = "NAGVTQTPKFQVLKTGQSMTLQCAQDMNHEYMSWYRQDPGMGLRLIHYSVGAGITDQGEVPNGYNVSRSTTEDFPLRLLSAAPSQTSVYFCASRPGLAGGRPEQYFGPGTRLTVTE"
LYSOZYME = "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNCAKKIVSDGNGMNAWVAWRNRCKGTDVQAWIRGCRL"
DNA = "ATGGCCAAATTTGGGCCCACGTACG"
CODING = "ATGGCCAAATTTGGGCCCACGTACTAA"
SPECS = {spec.name: spec for spec in read_specs(catalog.tool("abodybuilder").settings_schema)}
with (Path(__file__).parent / "data" / "antibodies.csv").open(newline="") as _file:
    ANTIBODIES = {row["name"]: row for row in csv.DictReader(_file)}
# J regions of IMGT's reference sets: human IGHJ1-6, IGKJ1-5, IGLJ1-3, 6, 7; mouse IGHJ1; alpaca IGHJ4.
HEAVY_ENDS = (
    *("AEYFQHWGQGTLVTVSS", "YWYFDLWGRGTLVTVSS", "AFDVWGQGTMVTVSS", "YFDYWGQGTLVTVSS", "NWFDPWGQGTLVTVSS"),
    *("YYYYYGMDVWGQGTTVTVSS", "YWYFDVWGAGTTVTVSS", "YDYWGQGTQVTVSS"),
)
LIGHT_ENDS = (
    *("WTFGQGTKVEIK", "YTFGQGTKLEIK", "FTFGPGTKVDIK", "LTFGGGTKVEIK", "ITFGQGTRLEIK", "YVFGTGTKVTVL"),
    *("VVFGGGTKLTVL", "WVFGGGTKLTVL", "NVFGSGTKVTVL", "AVFGGGTQLTVL"),
)


def make_fv(**values):
    return Form(catalog.tool("abodybuilder"), values=values)


def cautions(form, name):
    """Return the messages of the cautions at a field, and the actions of their buttons."""
    found = re.findall(
        r'fn-caution">(.*?)</span>(?=<span class="fn-(?:caution|help)|</span>)', label_of(form, name)
    )
    return [
        (unescape(re.sub(r"\s*<span.*", "", each)), "".join(re.findall(r"fn-act-(\w+)", each)))
        for each in found
    ]


def press(form, name, act):
    """Send the page's message for a button beside a caution."""
    send(form, {"kind": "act", "field": form.fields[name].mark, "act": act})


def test_swapped_chains_are_reported_at_both_fields_and_can_be_swapped():
    form = make_fv(heavy=KAPPA, light=HEAVY)
    for field, kind in (("heavy", "light"), ("light", "heavy")):
        assert cautions(form, field) == [(f"This looks like a {kind} chain: are the chains swapped?", "swap")]
    assert form.problems == ()
    press(form, "light", "swap")
    assert form.value == {"heavy": HEAVY, "light": KAPPA}
    assert cautions(form, "heavy") == cautions(form, "light") == []


def test_a_chain_in_the_wrong_field_moves_to_the_other():
    form = make_fv(light=HEAVY)
    press(form, "light", "swap")
    assert form.value == {"heavy": HEAVY}
    twice = make_fv(heavy=KAPPA, light=KAPPA)
    assert cautions(twice, "heavy") == [("This looks like a light chain: are the chains swapped?", "")]


@pytest.mark.parametrize(
    ("heavy", "said"),
    [
        (HEAVY, ""),
        (HEAVY[:30], "Short for the variable domain of a heavy chain"),
        (HEAVY[:108], "The variable domain ends at residue 108, before its J region"),
        (LYSOZYME, "No variable domain of an antibody was recognised: is this a heavy chain?"),
        (RECEPTOR, "This looks like a TCR beta-chain domain, not like the heavy chain of an antibody"),
        (DNA, "Only the letters of DNA or RNA: is this a protein?"),
        (f"{HEAVY}GGGGSGGGGSGGGGS{KAPPA}", ""),
        (f"{HEAVY}GSHHHHHH", "His tag at residues 123 to 128"),
        (f"MEFGLSWLFLVAILKGVQC{HEAVY}", "Residues 1 to 19 look like a signal peptide"),
        (
            HEAVY.replace("GDGFY", "GDCFY"),
            "Unpaired cysteine: C103 in CDR-H3 has no partner apart from the bond of C22",
        ),
        (HEAVY.replace("AVYYC", "AVYYS"), "Unpaired cysteine: C22 without the usual partner"),
        (HEAVY.replace("TNGY", "TNGT"), "N-glycosylation site (N-X-S/T): N55 in CDR-H2."),
        (HEAVY.replace("TNGY", "TNPT"), ""),
    ],
    ids=[
        *(
            "usual",
            "fragment",
            "no J region",
            "lysozyme",
            "receptor",
            "DNA",
            "single-chain",
            "His tag",
            "signal peptide",
        ),
        *("third cysteine", "lone cysteine", "glycosylation", "proline"),
    ],
)
def test_an_unlikely_sequence_is_reported_while_it_is_typed(heavy, said):
    form = make_fv(light=KAPPA)
    form.fields["heavy"].widget.value = heavy
    found = cautions(form, "heavy")
    assert bool(found) == bool(said)
    assert not said or found[0][0].startswith(said)
    form.fields["heavy"].widget.value = HEAVY
    assert cautions(form, "heavy") == []


def test_cautions_on_real_antibodies_are_those_that_are_published():
    """Cetuximab's glycans, Qian et al. 2007; secukinumab's free cysteine in CDR-L3, EMA assessment report 2014."""
    found = {
        (name, chain): [caution.text for caution in find_liabilities(row[chain], "imgt")]
        for name, row in ANTIBODIES.items()
        for chain in ("heavy", "light")
    }
    assert found["cetuximab", "heavy"] == ["N-glycosylation site (N-X-S/T): N88"]
    assert found["secukinumab", "light"] == [
        "unpaired cysteine: C97 in CDR-L3 has no partner apart from the bond of C23 and C89"
    ]
    assert sum(map(bool, found.values())) <= 10
    doubted = [
        (name, chain)
        for name, row in ANTIBODIES.items()
        for chain in SPECS
        if chain in row
        if find_doubts(row[chain], SPECS[chain])
    ]
    assert doubted == []


def test_one_chain_of_several_is_named():
    form = Form(catalog.tool("alphafold"), values={"sequence": f"{HEAVY}:{DNA}"})
    assert cautions(form, "sequence") == [("B: only the letters of DNA or RNA: is this a protein?", "")]


@pytest.mark.parametrize("letters", ["AAAAAAAAAAAAAAAA", "GAGAGAGAGAGAGA", "GIGKFLHSAKKFGKAFVGEIMNS"])
def test_poly_alanine_and_peptides_are_not_dna(letters):
    assert find_doubts(letters, read_specs({"properties": {"sequence": {"type": "string"}}})[0]) == []


@pytest.mark.parametrize("kind", ["heavy", "light"])
def test_every_j_region_tells_its_kind_of_chain(kind):
    domain = {"heavy": HEAVY[:98], "light": KAPPA[:94]}[kind]
    other = {"heavy": "light", "light": "heavy"}[kind]
    for end in {"heavy": HEAVY_ENDS, "light": LIGHT_ENDS}[kind]:
        assert find_doubts(domain + end, SPECS[kind]) == []
        assert f"looks like a {kind} chain" in find_doubts(domain + end, SPECS[other])[0].text


def test_a_reading_frame_is_translated_on_request():
    form = make_fv(light=KAPPA)
    form.fields["heavy"].widget.value = CODING.lower()
    ((said, act),) = cautions(form, "heavy")
    assert (said.startswith("Only the letters of DNA or RNA, in one reading frame"), act) == (
        True,
        "translate",
    )
    press(form, "heavy", "translate")
    assert form.value["heavy"] == "MAKFGPTY"


@given(st.text("ACGT", min_size=3, max_size=60).filter(lambda bases: len(bases) % 3 == 0))
def test_a_translation_is_that_of_biotite(bases):
    sequence = pytest.importorskip("biotite.sequence")
    whole = str(sequence.NucleotideSequence(bases).translate(complete=True)).removesuffix("*")
    assert translate(bases) == translate(bases.replace("T", "U")) == ("" if "*" in whole else whole)


@given(st.text("NPSTA", max_size=12))
def test_a_glycosylation_site_is_asparagine_then_not_proline_then_serine_or_threonine(chain):
    found = find_glycosylation_sites(chain)
    for place in range(len(chain)):
        is_site = chain[place] == "N" and chain[place + 1 : place + 2] not in ("", "P")
        assert (place in found) == (is_site and chain[place + 2 : place + 3] in ("S", "T"))


@pytest.mark.parametrize("kind", ["path", "content"])
def test_a_dropped_file_of_two_chains_is_offered_to_both_fields(kind, tmp_path):
    records = f">one\n{KAPPA}\n>two\n{HEAVY}\n"
    (tmp_path / "fv.fasta").write_text(records)
    form = make_fv()
    message = {
        "kind": kind,
        "field": form.fields["heavy"].mark,
        "name": "fv.fasta",
        "path": str(tmp_path / "fv.fasta"),
    }
    send(form, message, [memoryview(records.encode())] if kind == "content" else [])
    assert [act for _, act in cautions(form, "heavy")] == ["share"]
    press(form, "heavy", "share")
    assert form.value == {"heavy": HEAVY, "light": KAPPA}


def test_a_dropped_path_that_is_not_there_is_reported():
    form = make_fv()
    send(form, {"kind": "path", "field": form.fields["heavy"].mark, "path": "no/such.fasta"})
    assert "no/such.fasta was not found" in form.frame.message.value


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f">x light\n{KAPPA}\n>y heavy\n{HEAVY}", ("y heavy", "x light")),
        (">anti-X VL\nDIQMTQSPSS\n>anti-X VH\nEVQLVESGGG", ("anti-X VH", "anti-X VL")),
    ],
    ids=["by their domains", "by their names"],
)
def test_two_pasted_records_are_offered_to_both_fields(text, names):
    form = make_fv()
    form.fields["light"].widget.value = text
    ((said, act),) = cautions(form, "light")
    assert (said, act) == (f"“{names[0]}” can be the heavy chain and “{names[1]}” the light chain.", "share")
    press(form, "light", "share")
    assert form.problems == ()
    assert form.value["heavy"].startswith("EVQLVES")
    assert form.value["light"].startswith("DIQMTQS")


@pytest.mark.parametrize(
    "text", [f">a\n{HEAVY}\n>b\n{HEAVY}", f">a\n{HEAVY}\n>b\n{KAPPA}\n>c\n{KAPPA}"], ids=["twice", "three"]
)
def test_other_records_are_not_offered(text):
    form = make_fv()
    form.fields["light"].widget.value = text
    assert cautions(form, "light") == []
    press(form, "light", "share")
    assert form.value == {}


def test_a_field_without_a_partner_and_other_fields_take_no_act():
    form = make_form(
        {"heavy": {"type": "string", "x-foldnote": {"role": "sequence"}}, "name": {"type": "string"}}
    )
    form.set(heavy=KAPPA, name="x")
    assert [act for _, act in cautions(form, "heavy")] == [""]
    before = form.value
    for name in ("heavy", "name"):
        press(form, name, "share")
        press(form, name, "no such act")
    assert form.value == before
