"""Tool ``antibody-annotation``: frameworks, CDRs and germline genes of an antibody or a nanobody.

Reads ``task``, ``heavySequence`` and ``lightSequence`` from job.json. Writes outputs/numbering.csv (IMGT
numbers), outputs/regions.csv (each region by four definitions) and outputs/germlines.csv.
"""

from __future__ import annotations

from typing import Any

from antibody_regions import COLUMNS, REGIONS
from domains import SPECIES, check_letters, describe_germlines, number_domain, run_anarci
from engine_protocol import clean_sequence, fail, report, write_notes, write_score, write_table, write_used

SCHEMES = ("imgt", "kabat", "chothia", "aho")
"""Schemes whose regions are reported; ``aho`` numbers use North's definition."""
REGION_COLUMNS = (
    "chain",
    "region",
    "cdr_definition",
    "scheme",
    "sequence",
    "length",
    "start",
    "end",
    "first",
    "last",
)
"""Columns of regions.csv: chain (H, L); region, FR1 to FR4 and CDR1 to CDR3; the definition and the scheme of
its numbers; its sequence and length; start and end, 1-based and both included, in the given sequence; first
and last, its positions. A row is a region by one definition."""
GERMLINE_COLUMNS = (
    "chain",
    "chain_type",
    "species",
    "bit_score",
    "germline_species",
    "v_gene",
    "v_identity",
    "j_gene",
    "j_identity",
)
"""Columns of germlines.csv: chain (H, L); chain_type, which distinguishes kappa K from lambda L; species and
bit_score (bits) of the best profile; species and names of the most identical germline genes with the
identity, 0 to 1. A row is a chain."""
_FIELDS = {"H": "heavySequence", "L": "lightSequence"}
_TYPES = {"H": ("H",), "L": ("K", "L")}
_NAMES = {"H": "heavy", "L": "light"}
_SPECIES_OF_TASK = {"antibody": SPECIES, "nanobody": ("alpaca", *SPECIES)}


def annotate_antibody(settings: dict[str, Any]) -> None:
    """Run a job of the tool."""
    task = settings["task"]
    given = {chain: clean_sequence(settings.get(field) or "") for chain, field in _FIELDS.items()}
    ignored = {}
    if task == "nanobody" and given["L"]:
        ignored["lightSequence"] = "A nanobody is a single domain of a heavy chain."
    sequences = {chain: text for chain, text in given.items() if chain == "H" or (text and not ignored)}
    write_used(
        seed=None, settings={_FIELDS[chain]: text for chain, text in sequences.items()}, ignored=ignored
    )
    notes: list[str] = []
    numbering, regions, germlines = [], [], []
    for place, (chain, sequence) in enumerate(sequences.items()):
        report(0.05 + 0.9 * place / len(sequences), f"Annotating the {_NAMES[chain]} chain")
        check_letters(sequence, f"{_NAMES[chain]} sequence")
        index, detail = _find_domain(chain, sequence, _SPECIES_OF_TASK[task], notes)
        for scheme in SCHEMES:
            rows = _number(sequence, scheme, index, _SPECIES_OF_TASK[task])
            numbering += rows if scheme == "imgt" else []
            regions += _list_regions(rows)
        germlines.append(_describe_chain(chain, detail))
    write_table("numbering.csv", numbering, COLUMNS)
    write_table("regions.csv", regions, REGION_COLUMNS)
    write_table("germlines.csv", germlines, GERMLINE_COLUMNS)
    write_notes(notes)
    write_score(_sum_up(numbering, germlines))
    report(1.0, "Done")


def _find_domain(chain: str, sequence: str, species: tuple[str, ...], notes: list[str]) -> tuple[int, Any]:
    """Return index among the domains of the sequence, and details, of the first domain of this chain.

    Fail if there is none.
    """
    _, details = run_anarci(sequence, "imgt", species)
    fitting = [index for index, detail in enumerate(details) if detail["chain_type"] in _TYPES[chain]]
    if not fitting:
        found = ", ".join(detail["chain_type"] for detail in details)
        fail(
            f"No variable domain of {_NAMES[chain]} chains was found in the {_NAMES[chain]} sequence"
            + (f" (found: {found}). Check that heavy and light are not exchanged." if found else ".")
        )
    detail = details[fitting[0]]
    if len(details) > 1:
        notes.append(
            f"The {_NAMES[chain]} sequence has {len(details)} variable domains; the first one of its kind,"
            f" residues {detail['query_start'] + 1} to {detail['query_end']}, is annotated."
        )
    return fitting[0], detail


def _number(sequence: str, scheme: str, index: int, species: tuple[str, ...]) -> list[dict[str, str | int]]:
    try:
        domains, details = run_anarci(sequence, scheme, species)
    except AssertionError as exc:
        fail(f"The scheme {scheme} cannot number this sequence: {exc}.")
    return number_domain(domains[index], details[index], sequence, scheme, index + 1)


def _list_regions(rows: list[dict[str, str | int]]) -> list[dict[str, str | int]]:
    regions = []
    for name in REGIONS:
        inside = [row for row in rows if row["region"] == name]
        if inside:
            regions.append(
                {
                    **{key: inside[0][key] for key in ("chain", "region", "cdr_definition", "scheme")},
                    "sequence": "".join(str(row["residue"]) for row in inside),
                    "length": len(inside),
                    "start": inside[0]["index"],
                    "end": inside[-1]["index"],
                    "first": inside[0]["position"],
                    "last": inside[-1]["position"],
                }
            )
    return regions


def _describe_chain(chain: str, detail: Any) -> dict[str, str | int]:
    return {
        "chain": chain,
        "chain_type": detail["chain_type"],
        "species": detail["species"],
        "bit_score": f"{detail['bitscore']:.1f}",
        **describe_germlines(detail),
    }


def _sum_up(numbering: list[dict[str, str | int]], germlines: list[dict[str, str | int]]) -> dict[str, Any]:
    """Return summary figures: germline genes, their identities (0 to 1), and the CDR3's residues by IMGT."""
    figures: dict[str, Any] = {}
    for row in germlines:
        name = _NAMES[str(row["chain"])]
        figures[f"{name}_V_gene"] = row["v_gene"]
        figures[f"{name}_J_gene"] = row["j_gene"]
        if row["v_identity"]:
            figures[f"{name}_V_identity"] = float(row["v_identity"])
        figures[f"{name}_CDR3_length"] = sum(
            each["chain"] == row["chain"] and each["region"] == "CDR3" for each in numbering
        )
    return figures
