"""Sample the alchemical states of one leg with OpenMM, block by block, so that a killed run can continue.

A leg is a system and a row of states. Each state has a window: the reduced potentials of its samples in every
state. After each block, the windows exchange their configurations. A block is simulated in a new context
whose random numbers depend only on the seed and the block's index. Therefore the result of a block depends
only on the arrays that were saved after the previous one, and a killed run ends with the same figures as an
uninterrupted one, if the platform itself is deterministic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openmm
from alchemy import CHARGED_GROUP, ELECTROSTATICS, RESTRAINT, RESTRAINT_GROUP, STERIC_GROUP, STERICS
from exchanges import exchange
from openmm import unit
from windows import Configuration, Exchange, SampledWindow, name_exchange, name_window

GAS_CONSTANT = 8.31446261815324e-3
"""Gas constant in kJ/(mol K)."""
FRICTION = 1.0
"""Friction in 1/ps."""
PRESSURE = 1.01325
"""Pressure in bar."""
BAROSTAT_STEPS = 25
GROUP_OF = {ELECTROSTATICS: CHARGED_GROUP, STERICS: STERIC_GROUP, RESTRAINT: RESTRAINT_GROUP}
SETTLING_STEPS, SETTLING_STEP = 1000, 0.001
"""Steps before the first window, and their length in ps: from the minimised structure to the temperature."""
State = Mapping[str, float]
"""An alchemical state: the value of each parameter."""


@dataclass(frozen=True)
class Lengths:
    """Simulation times of each window, in ps."""

    timestep: float
    interval: float
    """Time between two samples."""
    equilibration_blocks: int
    production_blocks: int
    block: float

    @classmethod
    def plan(cls, timestep: float, equilibration: float, production: float) -> Lengths:
        """Split the lengths into blocks, with at least ten of production if it is long enough."""
        interval = max(1, round(min(1.0, max(production / 40, 0.1)) / timestep)) * timestep
        samples = max(1, round(production / interval))
        per_block = max(1, min(50, samples // 10))
        block = per_block * interval
        return cls(
            timestep,
            interval,
            max(1, round(equilibration / block)) if equilibration > 0 else 0,
            max(1, round(samples / per_block)),
            block,
        )

    def rounded(self) -> dict[str, float]:
        """Return the simulated lengths in ps, by their settings."""
        blocks = {"equilLength": self.equilibration_blocks, "prodLength": self.production_blocks}
        return {name: round(count * self.block, 6) for name, count in blocks.items()}

    @property
    def samples_per_block(self) -> int:
        """Samples of each window in a block."""
        return round(self.block / self.interval)

    @property
    def steps_per_sample(self) -> int:
        """Integration steps between two samples."""
        return round(self.interval / self.timestep)


@dataclass
class Leg:
    """The simulated system: one solute in one environment."""

    name: str
    system: openmm.System
    positions: np.ndarray
    """Positions in nm."""
    box: np.ndarray | None
    """Box vectors in nm; None in vacuum."""
    states: Sequence[State]
    temperature: float
    lengths: Lengths
    seed: int
    platform: str

    @property
    def beta(self) -> float:
        """mol/kJ."""
        return 1.0 / (GAS_CONSTANT * self.temperature)


@dataclass
class Samples:
    """The samples of a leg's windows."""

    energies: Sequence[np.ndarray]
    """Reduced potentials of each window, shape (states, samples), of the parts that depend on a parameter."""
    origins: np.ndarray
    """Shape (exchanges, states): at each exchange, the window whose configuration a state took over."""


def list_states(electrostatics: int, sterics: int) -> list[dict[str, float]]:
    """List states from full interaction to none: charges first, then Lennard-Jones.

    Args:
        electrostatics: number of states with charges from 1 to 0, both included.
        sterics: number of further states with Lennard-Jones interactions, down to 0; none in a vacuum.
    """
    rows = [{ELECTROSTATICS: 1 - step / (electrostatics - 1), STERICS: 1.0} for step in range(electrostatics)]
    return rows + [{ELECTROSTATICS: 0.0, STERICS: each} for each in space_sterics(sterics)]


def space_sterics(count: int) -> list[float]:
    """Return the values of ``lambda_sterics`` below 1, denser towards 0, where a cavity closes."""
    return [1 - (step / count) ** 0.8 for step in range(1, count + 1)]


def sample(
    leg: Leg,
    folder: Path,
    report: Callable[[float], None],
    is_enough: Callable[[Sequence[np.ndarray]], bool],
) -> Samples:
    """Simulate every window of the leg.

    Args:
        folder: folder of the checkpoints; existing windows continue where they stopped.
        report: called every few seconds with the fraction done.
        is_enough: called after each block of all windows; True ends the leg early.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [name_window(folder, place) for place in range(len(leg.states))]
    windows: list[SampledWindow | None] = [SampledWindow.load(path) for path in paths]
    latest = Exchange.load(name_exchange(folder))
    first = leg.lengths.equilibration_blocks
    begun = max(first, 1)  # of the exchanges
    if latest is None and any(each is not None and each.blocks > begun for each in windows):
        windows = [None] * len(paths)  # their starting points are unknown
    total = first + leg.lengths.production_blocks
    work = total * len(leg.states)
    for goal in range(first, total + 1):
        for place, path in enumerate(paths):
            window = windows[place]
            if window is None:
                window = start_window(leg, place, windows[place - 1] if place else None)
                window.save(path)
            windows[place] = window
            while window.blocks < goal:
                done = sum(min(each.blocks, goal) for each in windows if each is not None)
                start = window.configuration
                if latest is not None and latest.blocks == window.blocks:
                    start = latest.configuration(place)
                advance(leg, place, window, start, lambda part, done=done: report((done + part) / work))
                window.save(path)
        samples = (goal - first) * leg.lengths.samples_per_block
        energies = [each.energies[:, :samples] for each in windows if each is not None]
        if first < goal < total and is_enough(energies):
            break
        if begun <= goal < total and (latest is None or latest.blocks < goal):
            latest = exchange(windows, latest, draw_seed(leg.seed, leg.name, "exchange", goal))
            latest.save(name_exchange(folder))
    origins = np.zeros((0, len(paths)), int) if latest is None else latest.origins[: goal - begun]
    return Samples(energies, origins)


def start_window(leg: Leg, place: int, before: SampledWindow | None) -> SampledWindow:
    """Begin a window at the end of the previous one, or the first one at the leg's structure."""
    nothing = np.zeros((len(leg.states), 0)), np.zeros(0)
    if before is not None:
        return SampledWindow(0, *before.configuration, *nothing)
    with run_state(leg, place, "settling", SETTLING_STEP) as (context, integrator):
        context.setPositions(leg.positions)
        openmm.LocalEnergyMinimizer.minimize(context, 10.0, 200)
        context.setVelocitiesToTemperature(leg.temperature, draw_seed(leg.seed, leg.name, "velocities"))
        integrator.step(SETTLING_STEPS)
        return SampledWindow(0, *take_configuration(context), *nothing)


def advance(
    leg: Leg, place: int, window: SampledWindow, start: Configuration, report: Callable[[float], None]
) -> None:
    """Simulate one more block of a window from ``start``; discard samples of the equilibration."""
    lengths = leg.lengths
    is_production = window.blocks >= lengths.equilibration_blocks
    with run_state(leg, place, window.blocks, lengths.timestep, start.box) as (context, integrator):
        context.setPositions(start.positions)
        context.setVelocities(start.velocities)
        rows = []
        for count in range(lengths.samples_per_block):
            integrator.step(lengths.steps_per_sample)
            if is_production:
                rows.append(evaluate(context, leg, leg.states[place]))
            report((count + 1) / lengths.samples_per_block)
        window.last = rows[-1] if rows else evaluate(context, leg, leg.states[place])
        window.positions, window.velocities, window.box = take_configuration(context)
    if rows:
        window.energies = np.hstack([window.energies, np.array(rows).T])
    window.blocks += 1


def take_configuration(context: openmm.Context) -> Configuration:
    """Read the current configuration of the context.

    Raises:
        OpenMMException: it has no finite coordinates.
    """
    state = context.getState(positions=True, velocities=True)
    length, speed = unit.nanometer, unit.nanometer / unit.picosecond
    positions = np.array(state.getPositions(asNumpy=True).value_in_unit(length))
    if not np.isfinite(positions).all():
        raise openmm.OpenMMException("Particle coordinate is NaN.")
    return Configuration(
        positions,
        np.array(state.getVelocities(asNumpy=True).value_in_unit(speed)),
        np.array(state.getPeriodicBoxVectors(asNumpy=True).value_in_unit(length)),
    )


@contextmanager
def run_state(
    leg: Leg, place: int, block: int | str, timestep: float, box: np.ndarray | None = None
) -> Iterator[tuple[openmm.Context, Any]]:
    """Yield a context of OpenMM in one state, with its own integrator and random numbers.

    Args:
        block: identifies the part of the window, for the random numbers.
        timestep: time step in ps.
        box: in nm; the leg's if None.
    """
    system = openmm.XmlSerializer.clone(leg.system)
    if leg.box is not None:
        system.setDefaultPeriodicBoxVectors(*(leg.box if box is None else box))
        barostat = openmm.MonteCarloBarostat(PRESSURE, leg.temperature, BAROSTAT_STEPS)
        barostat.setRandomNumberSeed(draw_seed(leg.seed, leg.name, place, block, "volume"))
        system.addForce(barostat)
    integrator = openmm.LangevinMiddleIntegrator(leg.temperature, FRICTION, timestep)
    integrator.setRandomNumberSeed(draw_seed(leg.seed, leg.name, place, block))
    integrator.setConstraintTolerance(1e-6)
    context = make_context(system, integrator, leg.platform)
    set_state(context, leg.states[place])
    yield context, integrator


def make_context(system: openmm.System, integrator: Any, platform: str) -> openmm.Context:
    """Make a context with reproducible forces if the platform supports them."""
    program = openmm.Platform.getPlatformByName(platform)
    known = program.getPropertyNames()
    wanted = {"DeterministicForces": "true", "Precision": "mixed"}
    return openmm.Context(
        system, integrator, program, {name: value for name, value in wanted.items() if name in known}
    )


def evaluate(context: openmm.Context, leg: Leg, own: State) -> np.ndarray:
    """Return reduced potentials of the current coordinates in every state; restore the context's ``own``.

    A force depends on one parameter only, so each is evaluated once per value of that parameter.
    """
    total = np.zeros(len(leg.states))
    present = context.getParameters()
    for name, group in GROUP_OF.items():
        if name not in present:
            continue
        values = [state[name] for state in leg.states]
        found = {value: measure(context, name, value, group) for value in dict.fromkeys(values)}
        context.setParameter(name, own[name])
        total += np.array([found[value] for value in values])
    return leg.beta * total


def measure(context: openmm.Context, name: str, value: float, group: int) -> float:
    """Return the potential energy in kJ/mol of one group of forces with one parameter at ``value``."""
    context.setParameter(name, value)
    energy = context.getState(energy=True, groups=1 << group).getPotentialEnergy()
    return float(energy.value_in_unit(unit.kilojoule_per_mole))


def set_state(context: openmm.Context, state: State) -> None:
    """Set those parameters that the system has."""
    present = context.getParameters()
    for name, value in state.items():
        if name in present:
            context.setParameter(name, value)


def draw_seed(*parts: object) -> int:
    """Return a seed from 1 to 2**31 - 1 for the point in the run that the parts identify."""
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") % (2**31 - 1) + 1


def describe_platform(platform: str) -> str:
    """Return a note for the user on the platform of a run."""
    description = f"OpenMM ran on its platform {platform}."
    if platform in ("Reference", "CPU"):
        return description
    return f"{description} On a GPU, a seed does not repeat a run: its figures differ within their error."


def find_platform() -> str:
    """Return the fastest platform that works here: a GPU's, or the CPU."""
    for name in ("CUDA", "HIP", "OpenCL"):
        system = openmm.System()
        system.addParticle(1.0)
        try:
            make_context(system, openmm.VerletIntegrator(0.001), name)
        except openmm.OpenMMException:
            continue
        return name
    return "CPU"
