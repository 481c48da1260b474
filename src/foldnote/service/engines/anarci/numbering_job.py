"""Tool ``anarci``: number every variable domain of one sequence in the requested scheme.

Reads ``sequence`` and ``scheme`` from job.json. Writes outputs/numbering.csv, a row for each numbered
residue, and outputs/summary.csv, a row for each domain with its species and germline genes.
"""

from __future__ import annotations

import contextlib
from typing import Any

from antibody_regions import COLUMNS
from domains import chain_of, check_letters, describe_germlines, number_domain, run_anarci
from engine_protocol import clean_sequence, fail, report, write_notes, write_score, write_table, write_used

SUMMARY_COLUMNS = (
    "domain",
    "chain",
    "chain_type",
    "species",
    "e_value",
    "bit_score",
    "start",
    "end",
    "germline_species",
    "v_gene",
    "v_identity",
    "j_gene",
    "j_identity",
    "scheme",
)
"""Columns of summary.csv: domain, 1-based; chain (H, L, A, B, G, D); chain_type, which distinguishes kappa K
from lambda L; species, e_value and bit_score (bits) of the best profile; start and end, 1-based and both
included, in the given sequence; species and names of the most identical germline genes with the identity, 0
to 1. A row is a domain."""

RECEPTOR_CHAINS = {"A": "alpha", "B": "beta", "G": "gamma", "D": "delta"}
SCHEMES_FOR_RECEPTORS = ("imgt", "aho")


def number_sequence(settings: dict[str, Any]) -> None:
    """Run a job of the tool."""
    sequence, scheme = clean_sequence(settings["sequence"]), settings.get("scheme", "kabat")
    write_used(seed=None, settings={"sequence": sequence, "scheme": scheme})
    report(0.05, "Loading ANARCI")
    check_letters(sequence)
    report(0.2, f"Searching for variable domains and numbering them by {scheme}")
    domains, details = number_domains(sequence, scheme)
    rows = []
    for index, (domain, detail) in enumerate(zip(domains, details, strict=True), start=1):
        rows += [{**row, "domain": index} for row in number_domain(domain, detail, sequence, scheme, index)]
    summary = [summarise(index, rows, detail, scheme) for index, detail in enumerate(details, start=1)]
    write_table("numbering.csv", rows, (*COLUMNS, "domain"))
    write_table("summary.csv", summary, SUMMARY_COLUMNS)
    write_summary(sequence, scheme, rows, details)
    report(1.0, "Done")


def number_domains(sequence: str, scheme: str) -> tuple[list, list]:
    """Return ANARCI's numbering and details of each domain; fail if there is none."""
    try:
        domains, details = run_anarci(sequence, scheme)
    except AssertionError as exc:
        with contextlib.suppress(AssertionError):  # no scheme can number it
            refuse_receptors(run_anarci(sequence, "imgt")[1], scheme)
        fail(f"The scheme {scheme} cannot number this sequence: {exc}. Try another scheme.")
    if not details:
        fail(
            "No antibody or T-cell receptor variable domain was found in the sequence."
            " Check that it is the protein sequence of a variable domain."
        )
    refuse_receptors(details, scheme)
    return domains, details


def refuse_receptors(details: list, scheme: str) -> None:
    """Fail if the scheme has no numbers for a T-cell receptor.

    Args:
        details: ANARCI's details of all domains, which the IMGT scheme has of every kind.
        scheme: the requested scheme.
    """
    for index, detail in enumerate(details, start=1):
        if (kind := RECEPTOR_CHAINS.get(detail["chain_type"])) and scheme not in SCHEMES_FOR_RECEPTORS:
            fail(
                f"Domain {index} is a T-cell receptor {kind} chain, and the scheme {scheme} numbers"
                f" antibodies only. Use {' or '.join(SCHEMES_FOR_RECEPTORS)}."
            )


def summarise(index: int, rows: list[dict[str, str | int]], detail: Any, scheme: str) -> dict[str, str | int]:
    """Return one row of summary.csv."""
    places = [row["index"] for row in rows if row["domain"] == index]
    return {
        "domain": index,
        "chain": chain_of(detail),
        "chain_type": detail["chain_type"],
        "species": detail["species"],
        "e_value": f"{detail['evalue']:g}",
        "bit_score": f"{detail['bitscore']:.1f}",
        "start": min(places),
        "end": max(places),
        **describe_germlines(detail),
        "scheme": scheme,
    }


def write_summary(sequence: str, scheme: str, rows: list, details: list) -> None:
    """Write figures and notes."""
    notes = []
    if left_out := len(sequence) - len(rows):
        notes.append(f"{left_out} of {len(sequence)} residues are outside the domains and have no number.")
    if any(not row["region"] for row in rows):
        notes.append(
            f"The CDR definition used with {scheme} is for antibodies; receptor chains have no regions."
        )
    write_notes(notes)
    write_score(
        {
            "domains": len(details),
            "chainTypes": " ".join(detail["chain_type"] for detail in details),
            "numberedResidues": len(rows),
            "scheme": scheme,
        }
    )
