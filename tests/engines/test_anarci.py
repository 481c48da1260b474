"""ANARCI through our engine gives the same results as the ANARCI program."""

import csv
from pathlib import Path

import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, run_directly, run_engine

from foldnote.forms.biology.domains import find_domains
from foldnote.results import open_result
from foldnote.results.batch import read_figures
from foldnote.service.engines.germlines import find_germline

SCHEMES = ("imgt", "kabat", "chothia", "martin", "aho", "wolfguy")
# Trastuzumab's variable domains (INN list 78), and a single-chain Fv of the two.
HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"
    "SRWGGDGFYAMDYWGQGTLVTVSS"
)
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
SINGLE_CHAIN = HEAVY + "GGGGSGGGGSGGGGS" + LIGHT + "HHHHHH"
# Hen egg-white lysozyme (UniProt P00698, 19-147): no immunoglobulin domain.
LYSOZYME = (
    "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNCAK"
    "KIVSDGNGMNAWVAWRNRCKGTDVQAWIRGCRL"
)
# Beta chain of the A6 T-cell receptor (PDB 1AO7, chain E), its variable domain.
RECEPTOR_BETA = (
    "NAGVTQTPKFQVLKTGQSMTLQCAQDMNHEYMSWYRQDPGMGLRLIHYSVGAGITDQGEVPNGYNVSRSTTEDFPLRLLSAAPSQTSVYFCASRPG"
    "LAGGRPEQYFGPGTRLTVTEDL"
)
# A single-domain antibody (after caplacizumab), a lambda chain (after avelumab) and a heavy chain with a CDR3 of 33
# residues by IMGT (after PGT145).
SINGLE_DOMAIN = (
    "EVQLVESGGGLVQPGGSLRLSCAASGRTFSYNPMGWFRQAPGKGRELVAAISRTGGSTYYPDSVEGRFTISRDNAKRMVYLQMNSLRAEDTAVYYC"
    "AAAGVRAEDGRVRTLPSEYTFWGQGTQVTVSS"
)
LAMBDA = (
    "QSALTQPASVSGSPGQSITISCTGTSSDVGGYNYVSWYQQHPGKAPKLMIYDVSNRPSGVSNRFSGSKSGNTASLTISGLQAEDEADYYCSSYTSS"
    "STRVFGTGTKVTVL"
)
LONG_CDR3 = (
    "QVQLVQSGAEVKKPGSSVKVSCKASGNSFSNHDVHWVRQATGQGLEWMGWMSHEGDKTGLAQKFQGRVTITRDSGASTVYMELRGLTADDTAIYYC"
    "LTGSKHRLRDYFLYNEYGPNYEEWGDYLATLDVWGHGTAVTVSS"
)

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not load_engines()["anarci"].state().installed, reason="needs: foldnote engines install anarci"
    ),
]


def read_table(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def number(tmp_path, sequence, scheme):
    outcome, outputs = run_engine("anarci", tmp_path, {"sequence": sequence, "scheme": scheme})
    assert outcome.state == "succeeded", outcome.error
    return read_table(outputs / "numbering.csv"), read_table(outputs / "summary.csv")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the outputs of a run whose sequence has lower-case letters and a space."""
    settings = {"sequence": f"{HEAVY[:60].lower()} {HEAVY[60:]}", "scheme": "imgt"}
    outcome, outputs = run_engine("anarci", tmp_path_factory.mktemp("contract"), settings)
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "anarci"
    needs_seed = False
    long_setting = "sequence"
    rare_odd_inputs = ("sequence-gaps",)  # ANARCI treats it like any unknown letter

    def test_a_sequence_is_recorded_as_it_was_cleaned(self, run):
        assert read_manifest(run)["settingsChanged"]["sequence"]["used"] == HEAVY


def number_directly(tmp_path, sequence, scheme):
    engine = load_engines()["anarci"]
    program = engine.python.parent / "ANARCI"
    command = [str(engine.python), str(program), "-i", sequence, "-s", scheme, "--assign_germline"]
    return run_directly(engine, command, tmp_path)


def read_positions(text):
    """Return chain, position and letter of each numbered residue in the program's vertical format."""
    rows = [line.split() for line in text.splitlines() if line and line[0] not in "#/"]
    return [(row[0], "".join(row[1:-1]), row[-1]) for row in rows if row[-1] != "-"]


NUMBERED = {"heavy": HEAVY, "light": LIGHT, "single-chain": SINGLE_CHAIN}


def test_the_row_of_a_batch_has_chain_type_germline_and_the_published_cdrs(run):
    figures = read_figures(open_result(run))
    assert (figures["chain type"], figures["species"]) == ("H", "human")
    assert figures["V gene"].startswith("IGHV3-66*")
    assert [figures[f"CDR-H{number}"] for number in (1, 2, 3)] == ["GFNIKDTY", "IYPTNGYT", "SRWGGDGFYAMDY"]


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    """Return the program's numbering of the three sequences, in one run per scheme, by scheme and sequence name."""
    folder = tmp_path_factory.mktemp("directly")
    fasta = folder / "three.fasta"
    fasta.write_text("".join(f">{name}\n{sequence}\n" for name, sequence in NUMBERED.items()))
    return {
        (scheme, name): read_positions(text)
        for scheme in SCHEMES
        for name, text in zip(
            NUMBERED, number_directly(folder, str(fasta), scheme).split("//\n"), strict=False
        )
    }


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NUMBERED)
def test_positions_are_those_of_the_program(tmp_path, positions, name, scheme):
    rows, _ = number(tmp_path, NUMBERED[name], scheme)
    ours = [(row["chain"], row["position"], row["residue"]) for row in rows]
    assert len(ours) > 100
    assert ours == positions[scheme, name]


@pytest.mark.parametrize("sequence", [HEAVY, LIGHT], ids=["heavy", "light"])
def test_germlines_are_those_of_the_program(tmp_path, sequence):
    _, (domain,) = number(tmp_path, sequence, "imgt")
    ours = "|".join(
        [
            domain["germline_species"],
            domain["v_gene"],
            f"{float(domain['v_identity']):.2f}",
            domain["j_gene"],
            f"{float(domain['j_identity']):.2f}",
        ]
    )
    assert f"#|{ours}|" in number_directly(tmp_path, sequence, "imgt")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_indices_lead_back_to_the_given_sequence(tmp_path, scheme):
    rows, _ = number(tmp_path, SINGLE_CHAIN, scheme)
    assert all(SINGLE_CHAIN[int(row["index"]) - 1] == row["residue"] for row in rows)


def test_a_single_chain_fv_has_two_domains(tmp_path):
    rows, summary = number(tmp_path, SINGLE_CHAIN, "imgt")
    assert [(row["domain"], row["chain"], row["chain_type"]) for row in summary] == [
        ("1", "H", "H"),
        ("2", "L", "K"),
    ]
    assert {row["domain"] for row in rows} == {"1", "2"}
    assert (summary[0]["start"], summary[0]["end"]) == ("1", "120")


@pytest.mark.parametrize(
    ("scheme", "cdr1", "cdr2", "cdr3"),
    [
        ("imgt", "GFNIKDTY", "IYPTNGYT", "SRWGGDGFYAMDY"),
        ("kabat", "DTYIH", "RIYPTNGYTRYADSVKG", "WGGDGFYAMDY"),
        ("chothia", "GFNIKDT", "YPTNGY", "WGGDGFYAMDY"),
    ],
)
def test_heavy_cdrs_of_trastuzumab_are_the_published_ones(tmp_path, scheme, cdr1, cdr2, cdr3):
    rows, _ = number(tmp_path, HEAVY, scheme)
    found = ["".join(row["residue"] for row in rows if row["region"] == f"CDR{i}") for i in (1, 2, 3)]
    assert found == [cdr1, cdr2, cdr3]


@pytest.mark.parametrize(
    ("sequence", "scheme", "cdrs"),
    [
        (SINGLE_DOMAIN, "kabat", ["YNPMG", "AISRTGGSTYYPDSVEG", "AGVRAEDGRVRTLPSEYTF"]),
        (LAMBDA, "kabat", ["TGTSSDVGGYNYVS", "DVSNRPS", "SSYTSSSTRV"]),
        (LAMBDA, "aho", ["TGTSSDVGGYNYVS", "YDVSNRPS", "SSYTSSSTRV"]),
        (LONG_CDR3, "chothia", ["GNSFSNH", "SHEGDK", "GSKHRLRDYFLYNEYGPNYEEWGDYLATLDV"]),
    ],
)
def test_cdrs_with_insertions_are_those_of_abnumber(tmp_path, sequence, scheme, cdrs):
    """Compared with ABnumber 0.4.4; for ``aho`` numbers its CDR definition is ``north``, as ours."""
    rows, _ = number(tmp_path, sequence, scheme)
    found = ["".join(row["residue"] for row in rows if row["region"] == f"CDR{i}") for i in (1, 2, 3)]
    assert found == cdrs


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "wolfguy"])
@pytest.mark.parametrize("name", NUMBERED)
def test_cdrs_are_those_that_the_form_shades(tmp_path, name, scheme):
    rows, _ = number(tmp_path, NUMBERED[name], scheme)
    spans = {}
    for domain in find_domains(NUMBERED[name]):
        cdrs = domain.find_cdrs(scheme)
        spans |= {(cdr[4], f"CDR{cdr[5]}", cdrs.definition.lower()): span for cdr, span in cdrs.spans.items()}
    found = {}
    for row in rows:
        if row["region"].startswith("CDR"):
            found.setdefault((row["chain"], row["region"], row["cdr_definition"]), []).append(
                int(row["index"])
            )
    assert {key: (indices[0] - 1, indices[-1]) for key, indices in found.items()} == spans


def test_a_germline_is_reported_without_a_job():
    found = find_germline(HEAVY)
    assert (found.species, found.v_gene, round(found.v_identity, 4)) == ("human", "IGHV3-66*01", 0.8247)
    assert str(found) == "human IGHV3-66*01, 82% identical (ANARCI)"
    assert find_germline(LYSOZYME) is None


def test_white_space_and_small_letters_are_taken(tmp_path):
    rows, _ = number(tmp_path, HEAVY[:60].lower() + "\n " + HEAVY[60:], "imgt")
    assert len(rows) == len(HEAVY)


def test_a_receptor_is_numbered_by_imgt_and_refused_by_kabat(tmp_path):
    rows, _ = number(tmp_path / "imgt", RECEPTOR_BETA, "imgt")
    assert {row["chain"] for row in rows} == {"B"}
    outcome, _ = run_engine("anarci", tmp_path / "kabat", {"sequence": RECEPTOR_BETA, "scheme": "kabat"})
    assert outcome.state == "failed"
    assert "T-cell receptor beta chain" in outcome.error


@pytest.mark.parametrize(
    ("sequence", "sentence"),
    [
        (LYSOZYME, "No antibody or T-cell receptor variable domain was found"),
        ("EVQLVX1", "The sequence has 1, X; ANARCI takes the 20 standard amino acids only."),
    ],
    ids=["lysozyme", "letters"],
)
def test_a_sequence_that_cannot_be_numbered_is_a_plain_sentence(tmp_path, sequence, sentence):
    outcome, _ = run_engine("anarci", tmp_path, {"sequence": sequence, "scheme": "imgt"})
    assert outcome.state == "failed"
    assert sentence in outcome.error


@pytest.mark.parametrize(
    ("searched", "numbered"), [(40, 6), pytest.param(400, 60, marks=pytest.mark.exhaustive)]
)
def test_the_search_in_the_process_gives_what_hmmscan_gives(tmp_path, searched, numbered):
    engine = load_engines()["anarci"]
    comparison = Path(__file__).with_name("anarci_comparison.py")
    command = [engine.python, str(comparison), str(engine.folder), str(searched), str(numbered)]
    assert f"{searched} sequences, " in run_directly(engine, command, tmp_path)
