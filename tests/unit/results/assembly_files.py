"""Files that describe a biological assembly of a complex with chains A and C."""

import gzip

import numpy as np
from result_archives import DATA

SHIFTS = ((60.0, 0.0, 0.0), (0.0, 25.0, 30.0))
TURN = np.array([[-1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]])


IDENTITY = (np.eye(3), (0.0, 0.0, 0.0))
TRIMER = (IDENTITY, (TURN, SHIFTS[0]), (np.eye(3), SHIFTS[1]))


def write_operators(chains: str, matrices=TRIMER) -> str:
    """Return REMARK 350 with these operations for these chains: by default an identity, a two-fold axis and a shift."""
    rows = [
        f"REMARK 350   BIOMT{row + 1} {number:3d} {x:9.6f} {y:9.6f} {z:9.6f} {shift[row]:14.5f}"
        for number, (matrix, shift) in enumerate(matrices, 1)
        for row, (x, y, z) in enumerate(matrix)
    ]
    head = [
        "REMARK 350 BIOMOLECULE: 1",
        "REMARK 350 AUTHOR DETERMINED BIOLOGICAL UNIT: TRIMERIC",
        f"REMARK 350 APPLY THE FOLLOWING TO CHAINS: {chains}",
    ]
    return "\n".join([*head, *rows, ""])


def write_trimer(chains: str, matrices=TRIMER) -> str:
    """Return the complex in PDB format with an assembly of these of its chains."""
    return (
        write_operators(chains, matrices)
        + gzip.decompress((DATA / "complexes" / "5zng.pdb.gz").read_bytes()).decode()
    )
