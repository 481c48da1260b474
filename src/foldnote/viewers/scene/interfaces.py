"""The interfaces of a structure's chains as part of its scene.

They are those of :attr:`foldnote.results.Structure.interfaces`; large structures and overlays have none.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from foldnote.results import Structure
from foldnote.results.structure.interfaces.chain_interfaces import CONTACT_A, SALT_BRIDGE_A
from foldnote.results.structure.interfaces.hydrogen_bonds import HYDROGEN_BOND_A, MIN_ANGLE_DEGREES
from foldnote.results.structure.interfaces.surface_area import METHOD
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Interface, Line

MAX_RESIDUES = 3_000
"""Maximum number of residues of a structure whose interfaces are computed for a view."""
MAX_ROWS = 60
CRITERIA = (
    f"Contacts: residues with heavy atoms at most {CONTACT_A:.0f} Å apart. Hydrogen bonds: donor and acceptor"
    f" (N or O) at most {HYDROGEN_BOND_A} Å apart, {MIN_ANGLE_DEGREES:.0f}° or more at hydrogens. "
    f"Salt bridges: Asp or Glu with Lys or Arg, at most {SALT_BRIDGE_A:.0f} Å."
    f" Buried area: both chains together, {METHOD}."
)


def list_interfaces(structure: Structure) -> tuple[Interface, ...]:
    """Return the interfaces of a structure with at most 3,000 residues, the largest first.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    residues = sum(len(chain) for chain in structure.chains)
    if len(structure.chains) < 2 or residues > MAX_RESIDUES:
        return ()
    pairs, members, bonds = structure.interfaces, structure.interface_residues, structure.interface_bonds
    members = members[members["contacts"] > 0]
    return tuple(
        Interface(
            chain=pair.chain,
            other_chain=pair.other_chain,
            numbers=_list_numbers(members, pair.chain, pair.other_chain),
            other_numbers=_list_numbers(members, pair.other_chain, pair.chain),
            contacts=pair.contacts,
            bridges=pair.salt_bridges,
            buried_area=round(pair.buried_area, 1),
            hydrogen_bonds=_list_lines(bonds, pair, "hydrogen bond"),
            salt_bridges=_list_lines(bonds, pair, "salt bridge"),
        )
        for pair in _list_rows(pairs.head(MAX_ROWS))
    )


def _list_rows(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples(index=False))


def _list_numbers(members: pd.DataFrame, chain: str, other_chain: str) -> tuple[str, ...]:
    return tuple(members.loc[(members["chain"] == chain) & (members["other_chain"] == other_chain), "number"])


def _list_lines(bonds: pd.DataFrame, pair: Any, kind: str) -> tuple[Line, ...]:
    own = bonds[
        (bonds["kind"] == kind) & (bonds["chain"] == pair.chain) & (bonds["other_chain"] == pair.other_chain)
    ]
    return tuple(
        Line(
            start=(round(bond.x, 2), round(bond.y, 2), round(bond.z, 2)),
            end=(round(bond.other_x, 2), round(bond.other_y, 2), round(bond.other_z, 2)),
            label=f"{bond.distance:.1f} Å",
            kind=kind,
            color=palette.BOND if kind == "hydrogen bond" else palette.BRIDGE,
        )
        for bond in _list_rows(own)
    )
