"""Turn a molecular system into one whose ligand can be decoupled from its surroundings step by step.

Two parameters scale the ligand's interactions. ``lambda_electrostatics`` scales its partial charges, so that
electrostatics within the ligand vanish together with those to the surroundings; a leg in vacuum gives these
back. ``lambda_sterics`` scales the Lennard-Jones interactions with the surroundings by the soft-core form of
Beutler et al. (1994, doi:10.1016/0009-2614(94)00397-1) in its common 1-1-6 variant; those within the ligand
remain. This module simulates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openmm
from openmm import unit

ELECTROSTATICS, STERICS, RESTRAINT = "lambda_electrostatics", "lambda_sterics", "lambda_restraint"
CHARGED_GROUP, STERIC_GROUP, RESTRAINT_GROUP = 1, 2, 3
"""Force groups of the forces that depend on each parameter; group 0 has the rest. The third parameter exists
if a restraint was added."""
SOFTCORE_ALPHA = 0.5
SOFT_STERICS = (
    "4*lambda_sterics*epsilon*x*(x-1);"
    f"x=1/({SOFTCORE_ALPHA}*(1-lambda_sterics)+(r/sigma)^6);"
    "epsilon=sqrt(epsilon1*epsilon2); sigma=(sigma1+sigma2)/2"
)
"""kJ/mol; distances in nm. At 1 it is the Lennard-Jones potential with Lorentz-Berthelot rules."""
FULL_STERICS = "4*epsilon*((sigma/r)^12-(sigma/r)^6)"
MIN_SIGMA = 0.1
"""Radius in nm of atoms without Lennard-Jones interactions, which is 0 in Amber's files."""


def decouple(system: openmm.System, ligand: Sequence[int]) -> openmm.System:
    """Make a copy of the system in which the interactions of the atoms in ``ligand`` can be scaled.

    Args:
        system: a system with one NonbondedForce, in a periodic box or without cutoff.
        ligand: indices of a whole molecule's atoms.

    Raises:
        ValueError: the ligand is bonded to other atoms.
    """
    made = openmm.XmlSerializer.clone(system)
    for force in made.getForces():
        force.setForceGroup(0)
    (nonbonded,) = [each for each in made.getForces() if isinstance(each, openmm.NonbondedForce)]
    inside = sorted(ligand)
    members = set(inside)
    outside = [index for index in range(made.getNumParticles()) if index not in members]
    plain = [nonbonded.getParticleParameters(index) for index in range(made.getNumParticles())]
    charges, sigmas, epsilons = (
        [row[column].value_in_unit_system(unit.md_unit_system) for row in plain] for column in range(3)
    )
    sigmas = [sigma if epsilon > 0 else MIN_SIGMA for sigma, epsilon in zip(sigmas, epsilons, strict=True)]
    excepted = scale_charges(nonbonded, members, charges, sigmas)
    nonbonded.setForceGroup(CHARGED_GROUP)
    made.addForce(keep_sterics_within(inside, excepted, sigmas, epsilons))
    if not outside:
        return made
    soft = soften_sterics(sigmas, epsilons, inside, outside)
    if nonbonded.usesPeriodicBoundaryConditions():
        cut_alike(soft, nonbonded)
    for index in range(nonbonded.getNumExceptions()):
        soft.addExclusion(*nonbonded.getExceptionParameters(index)[:2])
    made.addForce(soft)
    return made


def scale_charges(
    nonbonded: openmm.NonbondedForce, members: set[int], charges: Sequence[float], sigmas: Sequence[float]
) -> set[tuple[int, int]]:
    """Scale the charges of ``members`` and remove their Lennard-Jones part; return their excepted pairs.

    Raises:
        ValueError: one of them is bonded to another atom.
    """
    nonbonded.addGlobalParameter(ELECTROSTATICS, 1.0)
    for index in members:
        nonbonded.setParticleParameters(index, 0.0, sigmas[index], 0.0)
        if charges[index]:
            nonbonded.addParticleParameterOffset(ELECTROSTATICS, index, charges[index], 0.0, 0.0)
    pairs = set()
    for place in range(nonbonded.getNumExceptions()):
        one, two, product, sigma, epsilon = nonbonded.getExceptionParameters(place)
        if (one in members) != (two in members):
            raise ValueError("The ligand is bonded to its surroundings.")
        if one not in members:
            continue
        pairs.add((min(one, two), max(one, two)))
        if value := product.value_in_unit_system(unit.md_unit_system):
            nonbonded.setExceptionParameters(place, one, two, 0.0, sigma, epsilon)
            nonbonded.addExceptionParameterOffset(ELECTROSTATICS, place, value, 0.0, 0.0)
    return pairs


def keep_sterics_within(
    inside: Sequence[int], excepted: set[tuple[int, int]], sigmas: Sequence[float], epsilons: Sequence[float]
) -> Any:
    """Return the Lennard-Jones interactions within the ligand, of all non-excepted pairs, without cutoff."""
    force = openmm.CustomBondForce(FULL_STERICS)
    force.addPerBondParameter("sigma")
    force.addPerBondParameter("epsilon")
    for place, one in enumerate(inside):
        for two in inside[place + 1 :]:
            epsilon = (epsilons[one] * epsilons[two]) ** 0.5
            if (one, two) not in excepted and epsilon > 0:
                force.addBond(one, two, ((sigmas[one] + sigmas[two]) / 2, epsilon))
    return force


def soften_sterics(
    sigmas: Sequence[float], epsilons: Sequence[float], inside: Sequence[int], outside: Sequence[int]
) -> Any:
    """Return the soft-core interactions between the ligand and its surroundings, without cutoff."""
    force = openmm.CustomNonbondedForce(SOFT_STERICS)
    force.addGlobalParameter(STERICS, 1.0)
    force.addPerParticleParameter("sigma")
    force.addPerParticleParameter("epsilon")
    for sigma, epsilon in zip(sigmas, epsilons, strict=True):
        force.addParticle((sigma, epsilon))
    force.addInteractionGroup(inside, outside)
    force.setForceGroup(STERIC_GROUP)
    return force


def cut_alike(soft: Any, nonbonded: openmm.NonbondedForce) -> None:
    """Give the soft-core interactions the cutoff of all others in the box, and the tail's correction."""
    soft.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
    soft.setCutoffDistance(nonbonded.getCutoffDistance())
    soft.setUseSwitchingFunction(nonbonded.getUseSwitchingFunction())
    soft.setSwitchingDistance(nonbonded.getSwitchingDistance())
    soft.setUseLongRangeCorrection(True)
