"""A binding free energy of the engine beside the published one of the same force field and the measured one.

Cyclopentanol in α-cyclodextrin. Slochower et al. (2019, doi:10.1021/acs.jctc.9b00748) computed -3.79 ± 0.22
kcal/mol with GAFF 2.1, AM1-BCC and TIP3P by pulling (both ways round, combined), Rekharsky et al. (1997,
doi:10.1021/jp962715n) measured -2.13 ± 0.02. The engine's GAFF2 is a later version, its AM1-BCC charges are
those of the whole host, and its run is short: the figures to judge are the difference in units of its error,
and the seconds for each nanosecond. Nothing here is a test.

    python benchmarks/binding.py [--production 20] [--equilibration 5] [--search 50] [--keep FOLDER]
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

ENGINE, TOOL = "openmm_binding", "binding-free-energy"
FILES = {"receptorFile": "alpha-cyclodextrin.sdf", "ligandsSDF": "cyclopentanol-pose.sdf"}
COMPUTED, MEASURED = (-3.79, 0.22), (-2.13, 0.02)
"""kcal/mol with their errors."""


def main() -> None:
    """Run the complex and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--production", type=float, default=20.0, help="ps of each window")
    parser.add_argument("--equilibration", type=float, default=5.0, help="ps of each window")
    parser.add_argument("--search", type=float, default=50.0, help="ps, of the search for anchors")
    parser.add_argument("--keep", type=Path, help="folder of the run, which goes on there if killed")
    options = parser.parse_args()
    engine = load_engines()[ENGINE]
    if not engine.state().installed:
        print(f"{ENGINE} is not installed: foldnote engines install {ENGINE}")
        return
    say_load()
    settings = catalog.default_settings(catalog.tool(TOOL)) | {
        "protocolRepeats": 1,
        "equilLength": options.equilibration,
        "prodLength": options.production,
        "anchorLength": options.search,
        "solventPadding": 0.8,
        "ionConcentration": 0.0,
    }
    texts = {field: (engine.folder / name).read_text() for field, name in FILES.items()}
    with tempfile.TemporaryDirectory() as folder:
        elapsed, row, legs = run_alone(ENGINE, TOOL, options.keep or Path(folder), texts, settings)
    ours, error = (float(row[f"{each}_kcal_per_mol"]) for each in ("binding_free_energy", "uncertainty"))
    windows = sum(float(leg["windows"]) for leg in legs if leg["windows"])
    sampled = windows * (options.production + options.equilibration) / 1000
    apart = abs(ours - COMPUTED[0]) / math.hypot(error, COMPUTED[1])
    print(
        f"cyclopentanol in α-cyclodextrin: {ours:.2f} ± {error:.2f} kcal/mol; by GAFF 2.1 {COMPUTED[0]:.2f} ±"
        f" {COMPUTED[1]:.2f}, {apart:.1f} errors away; measured {MEASURED[0]:.2f} ± {MEASURED[1]:.2f}."
        f" Least overlap {float(row['least_overlap']):.2f}. {elapsed:.0f} s, {elapsed / sampled:.0f} s for"
        " each ns of both legs together."
    )
    for leg in legs:
        print({name: leg[name] for name in ("leg", "free_energy_kcal_per_mol", "error_kcal_per_mol")})


if __name__ == "__main__":
    main()
