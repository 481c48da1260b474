"""Models of fitness with an uncertainty: a Gaussian process and an ensemble of neural networks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from variants import LETTERS, Codes

MAX_FOR_PROCESS = 3_000
"""Maximum measured variants for the Gaussian process, whose time grows with their cube."""
MAX_FOR_KERNEL = 800
"""Maximum variants on which the kernel's parameters are fitted."""
FEWEST_FOR_NETWORKS = 50
MEMBERS, HIDDEN = 5, (30, 30)
"""The published ensemble: five networks with two hidden layers of 30."""
CHUNK = 20_000

Floats = NDArray[np.float64]


class FitnessModel(Protocol):
    """A fitted model."""

    name: str
    noise: float
    """Standard deviation of a measurement, in units of the fitness; 0 if it is not known separately."""

    def predict(self, codes: Codes) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the fitness itself, without measurement noise."""

    def draw(self, codes: Codes, count: int, random: np.random.Generator) -> Floats:
        """Draw functions from the model, shape (count, n)."""


@dataclass(frozen=True)
class CrossValidation:
    """Predictions of every measured variant by models that were not trained on it."""

    means: Floats
    deviations: Floats
    """Standard deviation of a measurement."""
    density: float
    """Mean logarithm of the predicted density of the values."""


def encode(codes: Codes) -> NDArray[np.float32]:
    """Return the one-hot encoding, shape (n, 21 sites)."""
    return np.eye(len(LETTERS), dtype=np.float32)[codes].reshape(len(codes), -1)


class GaussianProcess:
    """A Gaussian process of scikit-learn with a radial basis function of the one-hot encodings and noise."""

    name = "Gaussian process"

    def __init__(self, codes: Codes, values: Floats, seed: int, kernel: Any = None) -> None:
        """Fit to the values; if a kernel is given, its parameters are kept."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        self.codes = codes
        self.center, self.spread = float(values.mean()), float(values.std()) or 1.0
        scaled = (values - self.center) / self.spread
        if kernel is None:
            start = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(2.0, (0.3, 100.0)) + WhiteKernel(0.1, (1e-4, 10.0))
            some = np.random.default_rng(seed).permutation(len(codes))[:MAX_FOR_KERNEL]
            finder = GaussianProcessRegressor(start, n_restarts_optimizer=2, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a parameter at its bound is a valid result, too
                kernel = finder.fit(encode(codes[some]), scaled[some]).kernel_
        self.kernel = kernel
        self.model = GaussianProcessRegressor(kernel, optimizer=None).fit(encode(codes), scaled)
        self.variance, self.scale = kernel.k1.k1.constant_value, kernel.k1.k2.length_scale
        self.noise = float(np.sqrt(kernel.k2.noise_level)) * self.spread

    def compare(self, codes: Codes, others: Codes) -> Floats:
        """Return covariances of the scaled fitness, shape (n, m), as the kernel without its noise."""
        shared = (encode(codes) @ encode(others).T).astype(np.float64)
        squares = 2.0 * (codes.shape[1] - shared)
        covariances: Floats = self.variance * np.exp(-squares / (2 * self.scale**2))
        return covariances

    def predict(self, codes: Codes) -> tuple[Floats, Floats]:
        """See :class:`FitnessModel`."""
        from scipy.linalg import solve_triangular

        covariances = self.compare(codes, self.codes)
        means = covariances @ self.model.alpha_.ravel()
        solved = solve_triangular(self.model.L_, covariances.T, lower=True, check_finite=False)
        variances = np.maximum(self.variance - np.sum(solved**2, axis=0), 0.0)
        return means * self.spread + self.center, np.sqrt(variances) * self.spread

    def draw(self, codes: Codes, count: int, random: np.random.Generator) -> Floats:
        """See :class:`FitnessModel`."""
        from scipy.linalg import solve_triangular

        covariances = self.compare(codes, self.codes)
        means = covariances @ self.model.alpha_.ravel()
        solved = solve_triangular(self.model.L_, covariances.T, lower=True, check_finite=False)
        posterior = self.compare(codes, codes) - solved.T @ solved
        sizes, ways = np.linalg.eigh(posterior)
        drawn = random.normal(size=(count, len(codes))) * np.sqrt(np.maximum(sizes, 0))
        functions: Floats = (means + drawn @ ways.T) * self.spread + self.center
        return functions


class NetworkEnsemble:
    """Neural networks of scikit-learn, each fitted to nine tenths of the variants."""

    name = "ensemble of neural networks"
    noise = 0.0

    def __init__(self, codes: Codes, values: Floats, seed: int, factor: float = 1.0) -> None:
        """Fit to the values; ``factor`` scales the standard deviations."""
        from scipy.sparse import csr_array
        from sklearn.neural_network import MLPRegressor

        self.factor = factor
        self.center, self.spread = float(values.mean()), float(values.std()) or 1.0
        scaled = (values - self.center) / self.spread
        random = np.random.default_rng(seed)
        self.members = []
        for number in range(MEMBERS):
            some = random.permutation(len(codes))[: max(2, round(0.9 * len(codes)))]
            member = MLPRegressor(
                hidden_layer_sizes=HIDDEN, max_iter=300, n_iter_no_change=20, random_state=seed + number
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # stopping after 300 rounds is intended
                self.members.append(member.fit(csr_array(encode(codes[some])), scaled[some]))

    def list_predictions(self, codes: Codes) -> Floats:
        """Return the prediction of each network, shape (members, n)."""
        encoded = encode(codes)
        return np.array([each.predict(encoded) for each in self.members]) * self.spread + self.center

    def predict(self, codes: Codes) -> tuple[Floats, Floats]:
        """See :class:`FitnessModel`."""
        found = self.list_predictions(codes)
        return found.mean(axis=0), found.std(axis=0, ddof=1) * self.factor

    def draw(self, codes: Codes, count: int, random: np.random.Generator) -> Floats:
        """See :class:`FitnessModel`; each function is one of the networks."""
        return self.list_predictions(codes)[random.integers(MEMBERS, size=count)]


def choose_model(
    codes: Codes, values: Floats, seed: int, report_progress: Callable[[float, str], None]
) -> tuple[FitnessModel, CrossValidation, dict[str, float]]:
    """Return the model whose cross-validation gives the measured values the greatest density.

    Args:
        codes: letters of the measured variants.
        values: their fitness.
        seed: seed of all random numbers.
        report_progress: called with the fraction done, 0 to 1, and a message.

    Returns:
        The model fitted to all variants, its cross-validation, and the density of each model by name.
    """
    found: list[tuple[FitnessModel, CrossValidation]] = []
    if len(codes) <= MAX_FOR_PROCESS:
        report_progress(0.0, "Fitting the Gaussian process")
        process = GaussianProcess(codes, values, seed)
        check = validate(
            codes,
            values,
            seed,
            lambda a, b: GaussianProcess(a, b, seed, process.kernel),
            lambda x: report_progress(0.3 * x, "Checking the Gaussian process"),
        )
        found.append((process, check))
    if len(codes) >= FEWEST_FOR_NETWORKS:
        raw = validate(
            codes,
            values,
            seed,
            lambda a, b: NetworkEnsemble(a, b, seed),
            lambda x: report_progress(0.3 + 0.6 * x, "Checking the neural networks"),
        )
        factor = float(np.sqrt(np.mean(((values - raw.means) / raw.deviations) ** 2)))
        check = score_validation(values, raw.means, raw.deviations * factor)
        found.append((NetworkEnsemble(codes, values, seed, factor), check))
    model, check = max(found, key=lambda each: each[1].density)
    return model, check, {each.name: validation.density for each, validation in found}


def validate(
    codes: Codes,
    values: Floats,
    seed: int,
    make: Callable[[Codes, Floats], FitnessModel],
    report_progress: Callable[[float], None],
) -> CrossValidation:
    """Predict each variant with a model trained on the other folds."""
    from sklearn.model_selection import KFold

    count = len(codes)
    folds = count if count <= 20 else 10 if count <= 200 else 5
    means, deviations = np.zeros(count), np.zeros(count)
    for number, (own, rest) in enumerate(KFold(folds, shuffle=True, random_state=seed).split(codes)):
        report_progress(number / folds)
        model = make(codes[own], values[own])
        means[rest], sure = model.predict(codes[rest])
        deviations[rest] = np.sqrt(sure**2 + model.noise**2)
    return score_validation(values, means, np.maximum(deviations, 1e-9 * (values.std() or 1.0)))


def score_validation(values: Floats, means: Floats, deviations: Floats) -> CrossValidation:
    """Return the mean logarithm of the density of normal distributions."""
    scores = ((values - means) / deviations) ** 2 + np.log(2 * np.pi * deviations**2)
    return CrossValidation(means, deviations, float(-0.5 * scores.mean()))


def predict_all(
    model: FitnessModel, codes: Codes, report_progress: Callable[[float, str], None]
) -> tuple[Floats, Floats]:
    """Call :meth:`FitnessModel.predict` in chunks."""
    means, deviations = np.zeros(len(codes)), np.zeros(len(codes))
    for first in range(0, len(codes), CHUNK):
        report_progress(first / len(codes), f"Predicting {len(codes)} variants")
        own = slice(first, first + CHUNK)
        means[own], deviations[own] = model.predict(codes[own])
    return means, deviations
