"""Odd inputs of every kind that a tool takes, derived from the input of its example.

The kind of a setting follows from its schema, so a new tool gets its odd inputs automatically. Those in ``TOLD`` are
the most common in practice; the others are ``exhaustive``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from foldnote import catalog

LONG = 5_000
"""Lengths: letters of a long sequence, residues of a large structure, atoms of a large molecule."""
TOLD = ("unknown residues", "gaps", "insertion codes", "empty chain", f"{LONG} letters")
STRUCTURES, ALIGNMENTS, MOLECULES, TABLES = (
    {"pdb", "cif", "mmcif"},
    {"a3m", "fasta", "fa", "aln", "sto"},
    {"sdf", "mol", "mol2", "smi"},
    {"csv", "tsv"},
)


PDB_FIELDS = (slice(12, 16), slice(17, 20), slice(21, 22), slice(22, 26))
"""Columns of an atom's name, residue, chain and number."""


class OddInput(NamedTuple):
    """One setting of a tool with an odd value; all others are the example's."""

    setting: str
    oddity: str
    value: str | list[str]

    @property
    def name(self) -> str:
        """Its name among the tests."""
        return f"{self.setting}-{self.oddity}"

    @property
    def is_told(self) -> bool:
        """Whether it is one of the most common."""
        return self.oddity in TOLD


def list_odd_inputs(tool: str) -> Iterator[OddInput]:
    """Return the odd inputs of each setting that holds a biological or chemical input."""
    row = catalog.tool(tool)
    for setting, schema in row.settings_schema["properties"].items():
        example = row.example_job["settings"].get(setting)
        if example is None or (make := find_maker(schema)) is None:
            continue
        for oddity, value in make(example).items():
            yield OddInput(setting, oddity, value)


def find_maker(schema: dict[str, Any]) -> Callable[[Any], dict[str, Any]] | None:
    """Return the function that makes odd values of a setting; None for a plain number, choice or name.

    Raises:
        LookupError: there are no odd inputs for files of this kind yet.
    """
    known = schema.get("x-foldnote", {})
    role, extensions = known.get("role"), set(known.get("extensions", ()))
    if role in ("sequence", "smiles"):
        return make_sequences if role == "sequence" else make_molecules
    if role == "sequences" and schema.get("type") == "string":
        return make_chains
    if role not in ("file", "files"):
        return None
    kinds = [
        (STRUCTURES, make_structures),
        (ALIGNMENTS, make_alignments),
        (MOLECULES, make_ligands),
        (TABLES, make_tables),
    ]
    for names, make in kinds:
        if extensions & names:
            return partial(make_lists, make) if role == "files" else make
    if role == "file" and "has-atoms" in known.get("check", ()):
        return make_structures
    raise LookupError(f"add odd inputs for files like {sorted(extensions)}")


def make_lists(make: Callable[[str], dict[str, str]], texts: list[str]) -> dict[str, list[str]]:
    """Make the last of several files the odd one."""
    return {oddity: [*texts[:-1], value] for oddity, value in make(texts[-1]).items()} | {
        "one file": texts[:1]
    }


def make_sequences(text: str) -> dict[str, str]:
    return {
        "unknown residues": f"{text[:10]}X{text[11:20]}X{text[21:]}",
        "gaps": f"{text[:10]}---{text[10:]}-",
        "empty chain": " \r\n ",
        f"{LONG} letters": repeat(text),
        "rare letters": f"{text[:10]}B{text[11:15]}JOUZ{text[19:]}*",
        "other alphabet": f"{text[:10]}é残α{text[10:]}",
        "digits": f"1 {text[:10]} 11 {text[10:]}",
        "FASTA": f">first chain\r\n{text[:20]}\r\n{text[20:]}\r\n",
        "one letter": text[:1],
        "one letter only": "G" * len(text),
    }


def make_chains(text: str) -> dict[str, str]:
    """Make the first of several chains, separated by colons, the odd one."""
    first, *others = text.split(":")
    odd = {oddity: ":".join([each, *others]) for oddity, each in make_sequences(first).items()}
    return odd | {"empty chain": f"{text}::{first}", "separators only": ":::", "nothing": " \r\n "}


@cache
def make_structures(text: str) -> dict[str, str]:
    atoms = [line for line in text.splitlines() if line.startswith("ATOM")]
    places = sorted({(line[21], int(line[22:26])) for line in atoms})
    middle = places[len(places) // 2]
    after = [place for place in places if place > middle and place[0] == middle[0]][:3]
    water = "HETATM 9001  O   HOH B   1       5.000   5.000   5.000  1.00  0.00           O"
    return {
        "unknown residues": join(rename(atoms, middle, "UNK")),
        "gaps": join(line for line in atoms if place_of(line) not in after),
        "insertion codes": join(insert(line, middle, after) for line in atoms),
        "empty chain": join([*atoms, "TER", water.replace(" B ", " Z ")]),
        f"{LONG} letters": join(tile(atoms, len(places))),
        "no atoms": "HEADER    NOTHING\nEND\n",
        "water only": join([water]),
        "empty file": "",
        "not a structure": "<html><body>404 Not Found</body></html>\n",
        "Cα only": join(line for line in atoms if line[12:16].strip() == "CA"),
        "alternate locations": join(double(atoms, middle)),
        "two models": "".join(f"MODEL     {n:4}\n" + "\n".join(atoms) + "\nENDMDL\n" for n in (1, 2)),
        "no chain name": join(f"{line[:21]} {line[22:]}" for line in atoms),
        "not numbers": join([*atoms[:-1], f"{atoms[-1][:30]}     nan     nan     nan{atoms[-1][54:]}"]),
        "unknown coordinates": write_mmcif(atoms, unknown=atoms[-1]),
        "the same residue twice": join([*atoms, *atoms]),
    }


def write_mmcif(atoms: Sequence[str], unknown: str) -> str:
    """Write atoms of a PDB file as mmCIF, one of them without coordinates."""
    columns = ("id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id", "label_asym_id")
    columns += (
        "label_entity_id",
        "label_seq_id",
        "auth_seq_id",
        "auth_asym_id",
        "occupancy",
        "B_iso_or_equiv",
    )
    columns += ("Cartn_x", "Cartn_y", "Cartn_z")
    rows = []
    for serial, line in enumerate(atoms, start=1):
        name, residue, chain, number = (line[cut].strip() for cut in PDB_FIELDS)
        place = "? ? ?" if line == unknown else " ".join(line[start : start + 8] for start in (30, 38, 46))
        rows.append(f"{serial} {name[0]} {name} . {residue} {chain} 1 {number} {number} {chain} 1 20 {place}")
    return "\n".join(["data_odd", "loop_", *(f"_atom_site.{each}" for each in columns), *rows, "#\n"])


def make_alignments(text: str) -> dict[str, str]:
    records = [(name.strip(), "".join(rest.split())) for name, _, rest in split_records(text)]
    width = max(len(row) for _, row in records)
    name, last = records[-1]
    return {
        "unknown residues": write_records((each, f"{row[:5]}X{row[6:]}") for each, row in records),
        "gaps": write_records(
            [*((each, f"-{row}") for each, row in records[:-1]), (name, "-" * (len(last) + 1))]
        ),
        "empty chain": write_records([*records, ("empty", "")]),
        f"{LONG} letters": write_records((each, repeat(row)) for each, row in records),
        "names twice": write_records([*records, records[0]]),
        "rare letters": write_records((each, f"{row[:5]}BZ*{row[8:]}") for each, row in records),
        "other lengths": write_records([*records[:-1], (name, last[: width // 2])]),
        "one sequence": write_records(records[:1]),
        "empty file": "",
        "no names": "\n".join(row for _, row in records),
        "Windows line ends": write_records(records).replace("\n", "\r\n"),
        "not an alignment": "<html><body>404 Not Found</body></html>\n",
    }


def make_molecules(_: list[str]) -> dict[str, list[str]]:
    return {
        "unknown residues": ["*CC(=O)O", "CCO"],
        "gaps": ["", "CCO", " "],
        "empty chain": [],
        f"{LONG} letters": ["C" * LONG, "CCO"],
        "not a molecule": ["hello world", "C1CC"],
        "salt and charges": ["[Na+].[Cl-]", "C[N+](C)(C)C"],
        "one atom": ["[He]"],
        "twice": ["CCO", "OCC"],
    }


def make_ligands(text: str) -> dict[str, str]:
    return {
        "unknown residues": "*CC(=O)O\n",
        "empty chain": "\n",
        f"{LONG} letters": "C" * LONG + "\n",
        "not a molecule": "hello world\n",
        "cut": text[: len(text) // 2],
        "Windows line ends": text.replace("\n", "\r\n"),
        "one atom": "[Na+]\n",
    }


def make_tables(text: str) -> dict[str, str]:
    head, *rows = text.splitlines()
    name, figure = rows[0].rsplit(",", 1)
    tail = repeat(name)[: LONG - len(name)]
    return {
        "unknown residues": "\n".join([head, f"X{name[1:]},{figure}", *rows]),
        "gaps": "\n".join([head, f"-{name[1:]},{figure}", *rows]),
        "empty chain": "\n".join([head, f",{figure}", f"{name},", *rows]),
        f"{LONG} letters": "\n".join([head, *(each.replace(",", f"{tail},") for each in rows)]),
        "other lengths": "\n".join([head, f"{name}AAA,{figure}", *rows]),
        "not numbers": "\n".join([head, f"{name},high", f"{name},inf", *rows]),
        "no rows": f"{head}\n",
        "empty file": "",
        "Windows line ends": text.replace("\n", "\r\n"),
        "not a table": "<html><body>404 Not Found</body></html>\n",
    }


def repeat(text: str) -> str:
    """Repeat the text up to LONG letters."""
    return (text * (LONG // max(1, len(text)) + 1))[:LONG]


def join(lines: Any) -> str:
    return "\n".join([*lines, "END", ""])


def place_of(line: str) -> tuple[str, int]:
    """Return chain and number of an atom's residue."""
    return line[21], int(line[22:26])


def rename(atoms: list[str], place: tuple[str, int], name: str) -> list[str]:
    return [f"{line[:17]}{name}{line[20:]}" if place_of(line) == place else line for line in atoms]


def insert(line: str, place: tuple[str, int], after: list[tuple[str, int]]) -> str:
    """Insert an atom of a residue after ``place``, with the same number and an insertion code."""
    if (here := place_of(line)) not in after:
        return line
    return f"{line[:22]}{place[1]:4}{'ABC'[after.index(here)]}{line[27:]}"


def double(atoms: list[str], place: tuple[str, int]) -> Iterator[str]:
    for line in atoms:
        if place_of(line) != place:
            yield line
            continue
        yield f"{line[:16]}A{line[17:]}"
        yield f"{line[:16]}B{line[17:30]}{float(line[30:38]) + 0.5:8.3f}{line[38:]}"


def tile(atoms: list[str], residues: int) -> Iterator[str]:
    """Place copies side by side with consecutive residue numbers, LONG residues in all."""
    numbers = {place: count for count, place in enumerate(dict.fromkeys(map(place_of, atoms)))}
    side = 16
    spans = [[float(line[start : start + 8]) for line in atoms] for start in (30, 38)]
    step = 10 + max(max(span) - min(span) for span in spans)
    rows = [(line, numbers[place_of(line)] + 1, x, y) for line, x, y in zip(atoms, *spans, strict=True)]
    for copy in range(LONG // residues):
        shift, aside, beyond = copy * residues, step * (copy % side), step * (copy // side % side)
        for line, number, x, y in rows:
            yield f"{line[:21]}A{number + shift:4} {line[27:30]}{x + aside:8.3f}{y + beyond:8.3f}{line[46:]}"


def split_records(text: str) -> Iterator[tuple[str, str, str]]:
    return (record.partition("\n") for record in text.split(">")[1:])


def write_records(records: Any) -> str:
    return "".join(f">{name}\n{row}\n" for name, row in records)
