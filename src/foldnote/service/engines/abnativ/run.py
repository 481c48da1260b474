"""Score the nativeness of the chains of an antibody or a nanobody with AbNatiV2.

Reads ``task``, ``sequence`` and ``nat``, or ``vhSequence`` and ``vlSequence``, from job.json. Numbering,
scores and percentiles come from AbNatiV's own functions. engine.toml lists the files of the result.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import engine_protocol as protocol

MODELS = {"VH2": "heavy", "VL2": "light", "VHH2": "heavy"}
"""Type of the chain that each model scores."""
FIELDS = {"heavy": "vhSequence", "light": "vlSequence"}
REGIONS = {"cdr1": "CDR1", "cdr2": "CDR2", "cdr3": "CDR3", "framework": "FR"}
"""Regions by the names of our columns and of AbNatiV's."""
POSITIONS = 149
"""AHo numbers of a domain; the profile of a pair has those of the heavy, then those of the light chain."""
GAP = "-"
Row = dict[str, Any]


@dataclass(frozen=True)
class AlignedDomain:
    """A variable domain as AbNatiV numbers it.

    Attributes:
        chain: ``heavy`` or ``light``.
        aligned: its letters at the 149 AHo numbers, with gaps.
        start: index, from 0, in the given sequence; None if the domain lacks residues of it.
    """

    chain: str
    aligned: str
    start: int | None


def main() -> None:
    """Run the job of this folder."""
    settings, notes = protocol.read_job()["settings"], list[str]()
    task = settings["task"]
    if task not in ("score", "paired_score"):
        protocol.fail(f"This engine does not humanise sequences (task {task}). Choose score or paired_score.")
    is_pair = task == "paired_score"
    given = {name: read_sequence(settings, field) for name, field in choose_fields(settings, is_pair).items()}
    protocol.write_used(
        seed=None,
        settings={field: given[name] for name, field in choose_fields(settings, is_pair).items()},
        ignored=list_ignored(settings, is_pair),
    )
    is_nanobody = not is_pair and settings["nat"] == "VHH2"
    domains = []
    for index, (name, sequence) in enumerate(given.items()):
        protocol.report(0.05 + index / 10, f"Numbering the {name} chain")
        domains.append(find_domain(name, sequence, notes, is_nanobody=is_nanobody))
    protocol.report(0.3, "Loading AbNatiV")
    load_program()
    protocol.report(0.7, "Scoring the residues")
    rows, residues = score_pair(domains) if is_pair else score_chain(domains[0], settings["nat"])
    protocol.write_table("scores.csv", rows)
    protocol.write_table("residues.csv", residues)
    protocol.write_notes(notes)
    protocol.write_score(summarise(rows))
    protocol.report(1.0, "Done")


def choose_fields(settings: Mapping[str, Any], is_pair: bool) -> dict[str, str]:
    """Return the settings with the sequences of the task, by type of chain."""
    if is_pair:
        return FIELDS
    if settings.get("nat") not in MODELS:
        protocol.fail(f"nat is {settings.get('nat')!r}; AbNatiV2 has the models {', '.join(MODELS)}.")
    return {MODELS[settings["nat"]]: "sequence"}


def list_ignored(settings: Mapping[str, Any], is_pair: bool) -> dict[str, str]:
    """Return the given settings that the task does not use, each with the reason."""
    if is_pair:
        reasons = {
            "sequence": "The task paired_score reads vhSequence and vlSequence.",
            "nat": "A pair is scored with the model for pairs.",
        }
    else:
        reasons = dict.fromkeys(FIELDS.values(), "The task score reads sequence.")
    known = {"task", "sequence", "nat", *FIELDS.values()}
    reasons |= {name: "This engine has no such setting." for name in settings if name not in known}
    return {name: reason for name, reason in reasons.items() if settings.get(name)}


def read_sequence(settings: Mapping[str, Any], field: str) -> str:
    """Return a sequence of standard amino acids; fail if it is none."""
    sequence = protocol.clean_sequence(settings.get(field) or "")
    if not sequence:
        protocol.fail(f"{field} is empty. Give the sequence of a variable domain.")
    protocol.reject_nonstandard_letters(f"{field}", sequence, "AbNatiV")
    return sequence


@contextlib.contextmanager
def redirect_stdout_to_stderr() -> Iterator[None]:
    """Redirect AbNatiV's prints to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def load_program() -> None:
    """Import AbNatiV, which takes seconds."""
    import abnativ.model.scoring_functions  # noqa: F401


def find_domain(chain: str, sequence: str, notes: list[str], *, is_nanobody: bool) -> AlignedDomain:
    """Number the variable domain of the wanted type; fail if there is none, or if there are several."""
    from abnativ.model.alignment.mybio import anarci_alignments_of_Fv_sequences_iter
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    # These options are those of AbNatiV's own scoring with its second models.
    with redirect_stdout_to_stderr():
        found = anarci_alignments_of_Fv_sequences_iter(
            [SeqRecord(Seq(sequence), id="domain")],
            isVHH=is_nanobody,
            verbose=False,
            check_AHo_CDR_gaps=True,
            del_cyst_misalign=False,
            check_terms=False,
        )
    by_type = {"heavy": found[0].to_recs(), "light": [*found[1].to_recs(), *found[2].to_recs()]}
    wanted, others = by_type[chain], [name for name, records in by_type.items() if name != chain and records]
    if not wanted and others:
        protocol.fail(
            f"The sequence given as the {chain} chain is one of a {others[0]} chain. {advise(chain)}"
        )
    if not wanted:
        protocol.fail(
            f"AbNatiV found no variable domain of a {chain} chain that it can number by AHo. Loops that are"
            " longer than AHo's numbers cannot be scored."
        )
    aligned = str(wanted[0].seq)
    if len(wanted) > 1 or others or found[3]:
        notes.append(f"The sequence has further domains; only one, of a {chain} chain, was scored.")
    return place_domain(chain, aligned, sequence, notes)


def advise(chain: str) -> str:
    """Say what to do with a chain of the other type."""
    other = "light" if chain == "heavy" else "heavy"
    models = " or ".join(name for name, each in MODELS.items() if each == other)
    return f"For the task score choose the model {models}; for a pair exchange the sequences."


def place_domain(chain: str, aligned: str, sequence: str, notes: list[str]) -> AlignedDomain:
    """Find the numbered residues in the given sequence, and note what is left out."""
    letters = aligned.replace(GAP, "")
    start = sequence.find(letters)
    if start < 0:
        notes.append(
            f"The numbers of the {chain} chain leave out residues within the domain, or add one at an end:"
            " the column index counts the scored residues."
        )
        return AlignedDomain(chain, aligned, None)
    if left := len(sequence) - len(letters):
        notes.append(f"{left} residues of the {chain} chain outside of the variable domain were not scored.")
    return AlignedDomain(chain, aligned, start)


def score_chain(domain: AlignedDomain, model: str) -> tuple[list[Row], list[Row]]:
    """Return the rows of scores.csv and of residues.csv for one chain."""
    from abnativ.model.scoring_functions import abnativ_scoring
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    with redirect_stdout_to_stderr():
        scores, profile = abnativ_scoring(
            model,
            [SeqRecord(Seq(domain.aligned), id="domain")],
            batch_size=1,
            mean_score_only=False,
            do_align=False,
            verbose=False,
        )
    (values,) = scores.to_dict("records")
    row = {
        "chain": domain.chain,
        "model": model,
        "residues": count_residues(domain),
        "abnativ_score": write_number(values[f"AbNatiV {model} Score"]),
        "abnativ_percentile": write_number(values[f"AbNatiV {model} Percentile"]),
        **read_regions(values, model),
    }
    return [row], make_residue_rows(domain, profile, f"AbNatiV {model} Residue Score")


def score_pair(domains: list[AlignedDomain]) -> tuple[list[Row], list[Row]]:
    """Return rows of scores.csv (the pair, then each chain) and of residues.csv for two chains."""
    import pandas
    from abnativ.model.scoring_functions import abnativ_scoring_paired

    heavy, light = domains
    pairs = pandas.DataFrame({"id": ["pair"], "vh": [heavy.aligned], "vl": [light.aligned]})
    with redirect_stdout_to_stderr():
        scores, profile = abnativ_scoring_paired(
            pairs, "id", "vh", "vl", batch_size=1, mean_score_only=False, do_align=False, verbose=False
        )
    (values,) = scores.to_dict("records")
    whole = {
        "chain": "pair",
        "model": "VPaired2",
        "residues": count_residues(heavy) + count_residues(light),
        "abnativ_score": write_number(values["AbNatiV Heavy-Light Score"]),
        "abnativ_percentile": write_number(values["AbNatiV Heavy-Light Percentile"]),
    }
    rows = [whole | read_regions({}, "pair")]  # regions are scored per chain only
    residues = []
    for index, domain in enumerate(domains):
        name = domain.chain.capitalize()
        rows.append(
            {
                "chain": domain.chain,
                "model": "VPaired2",
                "residues": count_residues(domain),
                "abnativ_score": write_number(values[f"AbNatiV {name} Score"]),
                "abnativ_percentile": "",
                **read_regions(values, name),
            }
        )
        part = profile.iloc[index * POSITIONS : (index + 1) * POSITIONS]
        residues += make_residue_rows(domain, part, "AbNatiV VPaired2 Residue Score")
    likelihood = write_number(values["AbNatiV Pairing Score (%)"])
    return [
        row | {"pairing_likelihood": "" if index else likelihood} for index, row in enumerate(rows)
    ], residues


def read_regions(values: Mapping[str, Any], name: str) -> Row:
    """Return score and percentile of each region, named as by AbNatiV; empty if it has none."""
    figures = {}
    for column, region in REGIONS.items():
        score = write_number(values.get(f"AbNatiV {region}-{name} Score", math.nan))
        percentile = values.get(f"AbNatiV {region}-{name} Percentile", math.nan)
        figures[f"{column}_score"] = score
        figures[f"{column}_percentile"] = "" if score == "" else write_number(percentile)
    return figures


def make_residue_rows(domain: AlignedDomain, profile: Any, column: str) -> list[Row]:
    """Return the rows of residues.csv for the residues of one domain.

    Raises:
        RuntimeError: AbNatiV scored residues other than the given ones.
    """
    if "".join(profile["aa"]) != domain.aligned:
        raise RuntimeError("AbNatiV scored other residues than it was given")
    rows = []
    regions = name_regions()
    for index, values in enumerate(profile.to_dict("records"), start=1):
        if values["aa"] == GAP:
            continue
        rows.append(
            {
                "chain": domain.chain,
                "index": (domain.start or 0) + len(rows) + 1,
                "number": index,
                "residue": values["aa"],
                "region": regions[index],
                "nativeness": write_number(values[column]),
            }
            | {letter: write_number(values[letter]) for letter in protocol.AMINO_ACIDS}
            | {"gap": write_number(values[GAP])}
        )
    return rows


def name_regions() -> dict[int, str]:
    """Return the region of each AHo number, as defined by AbNatiV."""
    from abnativ.model.alignment import aho_consensus

    names = dict.fromkeys(aho_consensus.fr_aho_indices, "framework")
    for number in (1, 2, 3):
        names |= dict.fromkeys(getattr(aho_consensus, f"cdr{number}_aho_indices"), f"CDR{number}")
    return names


def count_residues(domain: AlignedDomain) -> int:
    """Return how many residues of a domain are scored."""
    return POSITIONS - domain.aligned.count(GAP)


def write_number(value: float) -> float | str:
    """Return the number with six decimals; empty if there is none."""
    return "" if math.isnan(value) else round(float(value), 6)


def summarise(rows: list[Row]) -> Row:
    """Return the figures of the whole run."""
    whole, *chains = rows
    figures = {"abnativ_score": whole["abnativ_score"]}
    figures |= {f"{row['chain']}_abnativ_score": row["abnativ_score"] for row in chains}
    return figures | ({"pairing_likelihood": whole["pairing_likelihood"]} if chains else {})


if __name__ == "__main__":
    sys.exit(main())
