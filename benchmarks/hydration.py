"""Hydration free energies of the engine beside FreeSolv's by the same force field, and measured ones.

FreeSolv 0.52 (Duarte Ramos Matos et al. 2017, doi:10.1021/acs.jced.7b00104) used GAFF, AM1-BCC and TIP3P,
with 5 ns in each of 20 windows. The runs here are short: the figures to judge are the difference in units of
its error, and the seconds for each nanosecond. Nothing here is a test; the published case is checked by
``foldnote engines check openmm_alchemy``.

    python benchmarks/hydration.py [--production 20] [--molecules methane methanol]
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

from _free_energies import run_alone
from _service import say_load

from foldnote import catalog
from foldnote.service.engines import load_engines

ENGINE, TOOL = "openmm_alchemy", "hydration-free-energy"
FREESOLV = {
    "methane": ("C", 2.45, 0.01, 2.00, 0.20),
    "benzene": ("c1ccccc1", -0.81, 0.02, -0.90, 0.20),
    "methanol": ("CO", -3.49, 0.02, -5.10, 0.60),
    "phenol": ("c1ccc(cc1)O", -5.71, 0.03, -6.60, 0.20),
}
"""SMILES, the value by GAFF with its error, and the measured value with its error; kcal/mol."""


def main() -> None:
    """Run the molecules in sequence."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--production", type=float, default=20.0, help="ps of each window")
    parser.add_argument("--molecules", nargs="+", default=["methane"], choices=FREESOLV)
    options = parser.parse_args()
    if not load_engines()[ENGINE].state().installed:
        print(f"{ENGINE} is not installed: foldnote engines install {ENGINE}")
        return
    say_load()
    for name in options.molecules:
        compare(name, options.production)


def compare(name: str, production: float) -> None:
    """Run one molecule and print its figures."""
    smiles, computed, error, measured, its_error = FREESOLV[name]
    settings = catalog.default_settings(catalog.tool(TOOL)) | {
        "forcefieldSmallMolecule": "gaff",
        "protocolRepeats": 1,
        "equilLength": production / 10,
        "prodLength": production,
    }
    with tempfile.TemporaryDirectory() as folder:
        texts = {"ligandsSDF": f"{smiles} {name}\n"}
        elapsed, row, legs = run_alone(ENGINE, TOOL, Path(folder), texts, settings)
    ours, own_error = (
        float(row[f"{each}_kcal_per_mol"]) for each in ("hydration_free_energy", "uncertainty")
    )
    sampled = sum(float(leg["windows"]) for leg in legs if leg["leg"] == "water") * 1.1 * production / 1000
    print(
        f"{name}: {ours:.2f} ± {own_error:.2f} kcal/mol; FreeSolv by GAFF {computed:.2f} ± {error:.2f},"
        f" {abs(ours - computed) / math.hypot(own_error, error):.1f} errors away; measured {measured:.2f} ±"
        f" {its_error:.2f}. Least overlap {float(row['least_overlap']):.2f}. {elapsed:.0f} s,"
        f" {elapsed / sampled:.0f} s for each ns in water."
    )


if __name__ == "__main__":
    main()
