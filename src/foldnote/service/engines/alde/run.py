"""Propose the variants to measure next from those that were measured, as in ALDE.

Reads ``csvFile`` from job.json. Writes the files that engine.toml lists: the candidates in the order of their
upper confidence bound, and the measured variants with their cross-validated predictions.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from models import CrossValidation, FitnessModel, Floats, choose_model, encode, predict_all
from scipy.stats import norm, spearmanr
from variants import LETTERS, Codes, VariantLibrary, describe_changes, list_candidates, read_library

OUTPUTS = Path("outputs")
FEWEST = 5
UCB_DEVIATIONS = 2.0
"""The published upper confidence bound: mean + sqrt(4) standard deviations."""
MAX_WRITTEN = 10_000
BATCH = 96
"""Variants per round in the paper, and number drawn by Thompson sampling."""
MAX_DRAWN_FROM = 2_000
Z_95, Z_68 = 1.959964, 0.994458

CANDIDATE_COLUMNS = (
    "rank",
    "variant",
    "changes_from_best",
    "mean",
    "standard_deviation",
    "acquisition",
    "expected_improvement",
    "thompson_order",
    "distance_to_measured",
)
"""Columns of candidates.csv: a row is a variant without a measurement. ``mean``, ``standard_deviation`` (of
the model, without measurement noise) and ``acquisition`` (mean + 2 standard deviations) in units of the
fitness, as ``expected_improvement`` over the best measured value; ``thompson_order``, 1 to 96, of variants
that Thompson sampling picks among the first 2,000; ``distance_to_measured``, number of sites that differ from
the nearest measured variant."""
MEASURED_COLUMNS = ("variant", "measured", "replicates", "cv_mean", "cv_standard_deviation", "in_95_percent")
"""Columns of measured.csv: a row is a measured variant; ``cv_`` columns are predictions by a model of the
other folds, including measurement noise."""


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    report(0.01, "Reading the table")
    library = read_library(Path(job["files"]["csvFile"][0]))
    check_library(library)
    write_used(seed=job["seed"], settings={})
    random = np.random.default_rng(job["seed"])
    model, check, densities = choose_model(
        library.codes, library.values, job["seed"], lambda done, words: report(0.02 + 0.48 * done, words)
    )
    report(0.5, "Listing the candidates")
    candidates, words = list_candidates(library, random)
    if not len(candidates):
        fail("Every variant that the sites allow was measured already, so there is none to propose.")
    means, deviations = predict_all(model, candidates, lambda done, text: report(0.5 + 0.4 * done, text))
    report(0.92, "Writing the candidates")
    order = np.argsort(-(means + UCB_DEVIATIONS * deviations), kind="stable")[:MAX_WRITTEN]
    OUTPUTS.mkdir(exist_ok=True)
    rows = list_rows(library, model, candidates[order], means[order], deviations[order], random)
    write_table("candidates.csv", rows, CANDIDATE_COLUMNS)
    write_table("measured.csv", list_measured(library, check), MEASURED_COLUMNS)
    write_summary(library, model, check, densities, len(candidates), words)
    write_figures(library, model, check, len(candidates), rows)
    report(1.0, "Done")


def check_library(library: VariantLibrary) -> None:
    """Fail if nothing can be learned from the table."""
    count = len(library.codes)
    if count < FEWEST:
        fail(f"Different variants with a measured value: {count}. A model needs at least {FEWEST}.")
    if np.ptp(library.values) == 0:
        fail("All variants have the same measured value, so there is nothing to learn from them.")


def list_rows(
    library: VariantLibrary,
    model: FitnessModel,
    codes: Codes,
    means: Floats,
    deviations: Floats,
    random: np.random.Generator,
) -> list[list[Any]]:
    """Return the rows of candidates.csv, in the given order."""
    best = library.codes[int(library.values.argmax())]
    improvements = find_improvement(means, deviations, float(library.values.max()))
    picked = {index: number for number, index in enumerate(pick_by_thompson(model, codes, random), start=1)}
    shared = encode(library.codes)
    rows = []
    for first in range(0, len(codes), 1000):
        own = codes[first : first + 1000]
        nearest = codes.shape[1] - (encode(own) @ shared.T).max(axis=1)
        for index, (variant, distance) in enumerate(zip(own, nearest, strict=True), start=first):
            figures = (means[index], deviations[index], means[index] + UCB_DEVIATIONS * deviations[index])
            rows.append(
                [
                    index + 1,
                    library.write(variant),
                    describe_changes(write_variant(best), write_variant(variant), library.sites, " "),
                    *(f"{figure:.6g}" for figure in (*figures, improvements[index])),
                    picked.get(index, ""),
                    int(distance),
                ]
            )
    return rows


def write_variant(codes: Codes) -> list[str]:
    """Return the letters of a variant at the sites."""
    return [LETTERS[code] for code in codes]


def find_improvement(means: Floats, deviations: Floats, best: float) -> Floats:
    """Return the expected improvement over ``best`` of normal distributions."""
    sure = np.maximum(deviations, 1e-12)
    z = (means - best) / sure
    improvement: Floats = np.maximum((means - best) * norm.cdf(z) + sure * norm.pdf(z), 0.0)
    return improvement


def pick_by_thompson(model: FitnessModel, codes: Codes, random: np.random.Generator) -> list[int]:
    """Return the indices of the variants that drawn functions rank best, each once."""
    some = codes[:MAX_DRAWN_FROM]
    picked: list[int] = []
    for function in model.draw(some, min(BATCH, len(some)), random):
        function = function.copy()
        function[picked] = -np.inf
        picked.append(int(function.argmax()))
    return picked


def list_measured(library: VariantLibrary, check: CrossValidation) -> list[list[Any]]:
    """Return the rows of measured.csv, the best first."""
    order = np.argsort(-library.values, kind="stable")
    near = find_covered(library, check, Z_95)
    return [
        [
            library.write(library.codes[index]),
            f"{library.values[index]:.6g}",
            int(library.replicates[index]),
            f"{check.means[index]:.6g}",
            f"{check.deviations[index]:.6g}",
            str(bool(near[index])).lower(),
        ]
        for index in order
    ]


def find_covered(library: VariantLibrary, check: CrossValidation, width: float) -> Any:
    """Return which measured values are within ``width`` standard deviations of their prediction."""
    return np.abs(library.values - check.means) <= width * check.deviations


def write_summary(
    library: VariantLibrary,
    model: FitnessModel,
    check: CrossValidation,
    densities: dict[str, float],
    count: int,
    words: str,
) -> None:
    """Write the notes."""
    others = ", ".join(f"{name} {density:.3f}" for name, density in densities.items())
    notes = [
        f"Model: {model.name}; mean log density in cross-validation: {others}.",
        f"{count} candidates: {words}.",
        *library.notes,
    ]
    if correlate(library, check) < 0.2:
        notes.insert(
            0,
            "The model hardly predicts the measured values in cross-validation: its proposals are little"
            " better than chance.",
        )
    write_notes(notes)


def correlate(library: VariantLibrary, check: CrossValidation) -> float:
    """Return Spearman's rank correlation in cross-validation; 0 if it is undefined."""
    if np.ptp(check.means) == 0:
        return 0.0
    return float(np.nan_to_num(spearmanr(library.values, check.means).statistic))


def write_figures(
    library: VariantLibrary, model: FitnessModel, check: CrossValidation, count: int, rows: list[list[Any]]
) -> None:
    """Write the figures of the run."""
    errors = library.values - check.means
    write_score(
        {
            "measuredVariants": len(library.codes),
            "sites": len(library.sites),
            "candidates": count,
            "model": model.name,
            "cvSpearman": round(correlate(library, check), 4),
            "cvRmse": float(f"{np.sqrt(np.mean(errors**2)):.6g}"),
            "cvR2": round(float(1 - np.mean(errors**2) / library.values.var()), 4),
            "cvCoverage68": round(float(find_covered(library, check, Z_68).mean()), 4),
            "cvCoverage95": round(float(find_covered(library, check, Z_95).mean()), 4),
            "bestMeasured": float(f"{library.values.max():.6g}"),
            "bestCandidate": rows[0][1],
            "bestCandidateMean": float(rows[0][3]),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
