"""Figures of sequences are those of ExPASy's ProtParam, EMBOSS's pepstats and the definitions."""

import pytest
from engine_contract import EngineContract, read_manifest
from protein_inputs import read_notes, read_score, read_table
from real_engine import load_engines, run_engine

LYSOZYME = (
    "KVFGRCELAAAMKRHGLDNYRGYSLGNWVCAAKFESNFNTQATNRNTDGSTDYGILQINSRWWCNDGRTPGSRNLCNIPCSALLSSDITASVNCAKKIVSDGNGMNAWVAWRNRCKGT"
    "DVQAWIRGCRL"
)
INSULIN_B = "FVNQHLCGSHLVEALYLVCGERGFFYTPKT"
HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTV"
    "SS"
)
KYTE_DOOLITTLE = dict(
    zip(
        "ARNDCQEGHILKMFPSTWYV",
        (
            1.8,
            -4.5,
            -3.5,
            -3.5,
            2.5,
            -3.5,
            -3.5,
            -0.4,
            -3.2,
            4.5,
            3.8,
            -3.9,
            1.9,
            2.8,
            -1.6,
            -0.8,
            -0.7,
            -0.9,
            -1.3,
            4.2,
        ),
        strict=True,
    )
)

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["biopython"].state().installed,
        reason="needs: foldnote engines install biopython",
    ),
]


def calculate(folder, text, **changed):
    return run_engine("biopython", folder, {"pH": 7.0, "window": 9} | changed, texts={"fastaFile": text})


def succeed(folder, text, **changed):
    outcome, outputs = calculate(folder, text, **changed)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    text = f">lysozyme hen egg white\n{LYSOZYME}\n>insulin_B\n{INSULIN_B}\n>heavy\n{HEAVY}\n"
    return succeed(tmp_path_factory.mktemp("three"), text)


@pytest.fixture(scope="module")
def rows(run):
    return {row["name"]: row for row in read_table(run / "properties.csv")}


class TestContract(EngineContract):
    engine = "biopython"
    needs_seed = False
    long_setting = "fastaFile"


def test_hen_lysozyme_has_the_figures_of_protparam(rows):
    """ExPASy ProtParam on residues 19 to 147 of P00698: 14313.14 Da, pI 9.32, 37970 and 37470, 16.09, 65.12, -0.472."""
    row = {name: float(value) for name, value in rows["lysozyme"].items() if name not in ("name", "problem")}
    assert row == {
        "residues": 129,
        "molecular_weight_da": pytest.approx(14313.14, abs=0.2),
        "isoelectric_point": pytest.approx(9.32, abs=0.01),
        "charge": pytest.approx(7.77, abs=0.01),
        "extinction_reduced": 37470,
        "extinction_bridged": 37970,
        "absorbance_reduced": pytest.approx(2.618, abs=0.001),
        "absorbance_bridged": pytest.approx(2.653, abs=0.001),
        "gravy": -0.472,
        "aliphatic_index": 65.12,
        "instability_index": 16.09,
        "aromaticity": pytest.approx(12 / 129, abs=1e-4),
        "cysteines": 8,
    }


@pytest.mark.parametrize(
    ("name", "mass", "reduced", "bridged"),
    [
        ("lysozyme", 14313.14, 37470, 37970),
        ("insulin_B", 3429.96, 2980, 3105),
        ("heavy", 13164.69, 35410, 35535),
    ],
)
def test_masses_and_extinction_coefficients_are_those_of_pepstats(rows, name, mass, reduced, bridged):
    """EMBOSS 6.6.0, pepstats."""
    assert float(rows[name]["molecular_weight_da"]) == pytest.approx(mass, abs=0.2)
    assert (int(rows[name]["extinction_reduced"]), int(rows[name]["extinction_bridged"])) == (
        reduced,
        bridged,
    )


def test_the_charge_is_zero_at_the_isoelectric_point(tmp_path, rows):
    at = float(rows["lysozyme"]["isoelectric_point"])
    outputs = succeed(tmp_path, LYSOZYME, pH=at)
    assert abs(read_score(outputs)["charge"]) < 0.05
    assert read_score(outputs)["pH"] == at
    curve = [(float(row["ph"]), float(row["charge"])) for row in read_table(outputs / "charge.csv")]
    assert [charge for _, charge in curve] == sorted((charge for _, charge in curve), reverse=True)
    assert max(ph for ph, charge in curve if charge > 0) == pytest.approx(at, abs=0.2)


PROTHYMOSIN = "MSDAAVDTSSEITTKDLKEKKEVVEEAENGRDAPANGNAENEENGEQEADNEVDEEEEEGGEEEEEEEEGDGEEEDGDEDEEAESATGKRAAEDDEDDDVDTKKQKTDEDD"


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [(PROTHYMOSIN, 3.69), ("D" * 5, 3.41), ("R" * 5, 12.60), ("D" * 100_000, -0.95), ("R" * 100_000, 17.0)],
    ids=["prothymosin", "aspartates", "arginines", "many aspartates", "many arginines"],
)
def test_strongly_acidic_and_basic_sequences_are_neutral_at_their_isoelectric_point(
    tmp_path, sequence, expected
):
    """Biopython's own search ends at pH 4.05 and 12."""
    at = float(read_score(succeed(tmp_path, sequence))["isoelectric_point"])
    assert at == pytest.approx(expected, abs=0.011)
    ends = {"M": 7.0, "D": 7.5, "R": 7.5}[sequence[0]], 4.55 if sequence[-1] == "D" else 3.55
    bases = [(ends[0], 1), *((pk, sequence.count(letter)) for letter, pk in (("K", 10.0), ("R", 12.0)))]
    acids = [(ends[1], 1), *((pk, sequence.count(letter)) for letter, pk in (("D", 4.05), ("E", 4.45)))]
    charge = sum(n / (1 + 10 ** (at - pk)) for pk, n in bases) - sum(
        n / (1 + 10 ** (pk - at)) for pk, n in acids
    )
    assert abs(charge) < 0.3


def test_the_hydropathy_is_the_mean_of_the_window(tmp_path):
    outputs = succeed(tmp_path, INSULIN_B, window=5)
    values = [float(row["hydropathy"]) for row in read_table(outputs / "hydropathy.csv")]
    for place, value in enumerate(values):
        window = INSULIN_B[max(0, place - 2) : place + 3]
        mean = sum(KYTE_DOOLITTLE[letter] for letter in window) / len(window)
        assert value == pytest.approx(mean, abs=6e-4)
    outcome, _ = calculate(tmp_path / "even", INSULIN_B, window=8)
    assert "has an odd number. Take 9." in outcome.error


def test_motifs_have_their_places_and_overlap(tmp_path):
    rows = read_table(succeed(tmp_path, ">m\nQNNSTNPSDPNGDGNSDSW") / "motifs.csv")
    assert [(row["motif"], int(row["position"]), row["residues"]) for row in rows] == [
        ("pyroglutamate", 1, "Q"),
        ("N-glycosylation", 2, "NNS"),
        ("N-glycosylation", 3, "NST"),
        ("deamidation", 3, "NS"),
        ("cleavage", 9, "DP"),
        ("deamidation", 11, "NG"),
        ("isomerisation", 13, "DG"),
        ("deamidation", 15, "NS"),
        ("isomerisation", 17, "DS"),
    ]


def test_a_sequence_without_figures_stays_with_its_reason(tmp_path):
    outputs = succeed(
        tmp_path,
        f">odd\nACDXB\n>gapped\nAC-DE\n>none\n>good\r\n{INSULIN_B[:10].lower()}\r\n {INSULIN_B[10:]}*\n",
    )
    rows = read_table(outputs / "properties.csv")
    assert [row["name"] for row in rows] == ["odd", "gapped", "none", "good"]
    assert [row["problem"] for row in rows] == [
        "The sequence has B, X; figures are those of the 20 standard amino acids.",
        "The sequence has -; figures are those of the 20 standard amino acids.",
        "The sequence is empty.",
        "",
    ]
    assert rows[0]["molecular_weight_da"] == ""
    assert rows[3]["residues"] == "30"
    assert "3 of 4 sequences have no figures" in read_notes(outputs)
    counts = read_table(outputs / "composition.csv")
    assert sum(int(counts[0][letter]) for letter in KYTE_DOOLITTLE) == 30


def test_many_sequences_have_tables_and_the_first_ones_plots(tmp_path):
    outputs = succeed(tmp_path, "".join(f">s{place % 50}\n{INSULIN_B}\n" for place in range(2_000)))
    assert len(read_table(outputs / "properties.csv")) == 2_000
    assert {row["chain"] for row in read_table(outputs / "hydropathy.csv")} == {
        f"s{place}" for place in range(20)
    }
    notes = read_notes(outputs)
    assert "1950 sequences have the name of another one" in notes
    assert "first 20 of 2000 sequences" in notes
    assert read_score(outputs) == {"sequences": 2_000}


def test_the_manifest_says_what_the_figures_are_not(run):
    assert "unfolded chain" in read_manifest(run)["engine"]["note"]
