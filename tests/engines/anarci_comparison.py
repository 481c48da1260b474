"""Compare the engine's searches and numberings with those of ANARCI itself, which starts hmmscan.

``python anarci_comparison.py ENGINE_DIR SEARCHED NUMBERED`` runs in the engine's environment. It generates domains from
germlines of every chain and species, with exchanged residues, lost ends, tails, linkers and long loops, searches
SEARCHED of them, numbers NUMBERED of them in every scheme, and prints the numbers of comparisons.
"""

import contextlib
import importlib
import io
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[1]).parent / "antibody"))
count, numbered = int(sys.argv[2]), int(sys.argv[3])
program = importlib.import_module("anarci.anarci")
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
draw = random.Random(2016)


def spell(length):
    return "".join(draw.choices(LETTERS, k=length))


def make_domain():
    """Join a germline's V and J region of any species and chain around a third CDR, with some residues exchanged."""
    chain = draw.choice("HHHKLABGD")
    species = draw.choice(
        sorted(set(program.all_germlines["V"][chain]) & set(program.all_germlines["J"][chain]))
    )
    v, j = (draw.choice(sorted(program.all_germlines[gene][chain][species].values())) for gene in "VJ")
    loop = draw.choice((0, 2, 5, 8, 12, 20, 35))
    text = v.replace("-", "") + spell(loop) + j.replace("-", "")
    places = draw.choice((0, 1, 5, 15, 40))
    return "".join(draw.choice(LETTERS) if draw.randrange(len(text)) < places else letter for letter in text)


def make_sequence(number):
    text = make_domain()
    kind = number % 8
    if kind == 1:
        text = text[draw.randrange(30) :]
    if kind == 2:
        text = text[: -draw.randrange(1, 30)]
    if kind == 3:
        text = spell(draw.randrange(40)) + text + spell(draw.randrange(120))
    if kind == 4:
        text += "GGGGS" * draw.randrange(4) + make_domain()
    if kind == 5:
        place = draw.randrange(len(text))
        text = text[:place] + spell(draw.randrange(1, 12)) + text[place:]
    if kind == 6 and number % 3 == 0:
        text = spell(draw.randrange(1, 300))
    return text


sequences = [(str(number), make_sequence(number)) for number in range(count)]
species = ["human", "mouse"]


def number_all(call):
    found = []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for scheme in ("imgt", "kabat", "chothia", "martin", "aho", "wolfguy"):
            for one in sequences[:numbered]:
                try:
                    found.append(call([one], scheme=scheme, assign_germline=True, allowed_species=species))
                except AssertionError as exc:
                    found.append(str(exc))
    return found


def search_all():
    with contextlib.redirect_stdout(io.StringIO()):
        return [
            program.run_hmmer(sequences, hmmer_species=each)
            for each in (species, ["alpaca", *species], ["rat"], None)
        ]


germlines = [
    text for each in program.all_germlines["V"].values() for one in each.values() for text in one.values()
]
pairs = [draw.choices(germlines, k=2) for _ in range(2000)]
searched = search_all()
identities = [program.get_identity(*pair) for pair in pairs]
results = number_all(program.anarci)

profiles = importlib.import_module("profiles")
anarci = profiles.load_anarci()
for theirs, ours in zip(searched, search_all(), strict=True):
    for (_, text), one, other in zip(sequences, theirs, ours, strict=True):
        assert one == other, text
assert [profiles.measure_identity(*pair) for pair in pairs] == identities
assert number_all(anarci) == results
domains = sum(len(each[1]) for each in searched[0])
refused = sum(isinstance(each, str) for each in results)
print(f"{count} sequences, {domains} domains, {len(results)} numberings, {refused} refused")
