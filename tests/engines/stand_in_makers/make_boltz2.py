"""Stand-in weights of Boltz-2: its networks with small layers and random numbers, and the molecules that tests need.

    python make_boltz2.py FOLDER

Writes boltz2_conf.ckpt, boltz2_aff.ckpt and mols.tar, as the authors publish them. The molecules are the standard
residues, with the atom names of the PDB and without hydrogens, and two ligands: benzene (BNZ) and ethanol (EOH).
"""

import pickle
import sys
import tarfile
from dataclasses import asdict
from pathlib import Path

import pytorch_lightning
import torch
from boltz.data import const
from boltz.main import Boltz2DiffusionParams, BoltzSteeringParams, MSAModuleArgs, PairformerArgsV2
from boltz.model.models.boltz2 import Boltz2
from omegaconf import OmegaConf
from rdkit import Chem
from rdkit.Chem import AllChem

PROTEIN, RNA, DNA = 0, 3, 7  # nucleotides with the preceding phosphate
LIGANDS = {"BNZ": "c1ccccc1", "EOH": "CCO"}
folder = Path(sys.argv[1])


def make_molecule(code):
    letters = {
        token: letter for letter, token in const.prot_letter_to_token.items() if letter not in "XJBZOU-"
    }
    if code in LIGANDS:
        molecule = Chem.MolFromSmiles(LIGANDS[code])
    elif code in letters:
        molecule = Chem.MolFromSequence(letters[code], flavor=PROTEIN)
    elif code in const.rna_letter_to_token and code != "N":
        molecule = Chem.MolFromSequence(code, flavor=RNA)
    elif code in const.dna_letter_to_token.values() and code != "DN":
        molecule = Chem.MolFromSequence(code[1], flavor=DNA)
    else:
        molecule = Chem.MolFromSequence("A", flavor=PROTEIN)
    molecule = Chem.AddHs(molecule)
    AllChem.EmbedMolecule(molecule, randomSeed=1)
    molecule = Chem.RemoveHs(molecule)
    for place, atom in enumerate(molecule.GetAtoms(), start=1):
        info = atom.GetPDBResidueInfo()
        name = info.GetName().strip() if info else f"{atom.GetSymbol().upper()}{place}"
        for kind in ("name", "alt_name"):
            atom.SetProp(kind, name)
        atom.SetProp("leaving_atom", "1" if name == "OXT" else "0")
    molecule.GetConformer().SetProp("name", "Ideal")
    for kind in ("_Name", "name"):
        molecule.SetProp(kind, code)
    return molecule


def make_network(*, is_affinity):
    small = {"num_blocks": 2, "num_heads": 16, "dropout": 0.0, "v2": True}
    atoms = {"atom_encoder_depth": 1, "atom_encoder_heads": 4}
    settings = {
        "atom_s": 32, "atom_z": 8, "token_s": 64, "token_z": 16, "num_bins": 64, "atom_feature_dim": 388,
        "validation_args": {}, "diffusion_loss_args": {}, "validate_structure": False, "predict_args": None,
        "training_args": OmegaConf.create(
            {"max_lr": 1e-3, "lr": 1e-3, "weight_decay": 0.0, "recycling_steps": 0}
            | {"diffusion_multiplicity": 1, "diffusion_samples": 1}
        ),
        "embedder_args": atoms | dict.fromkeys(
            ("add_mol_type_feat", "add_method_conditioning", "add_modified_flag", "add_cyclic_flag"), True
        ),
        "msa_args": asdict(MSAModuleArgs(use_paired_feature=True, subsample_msa=True)),
        "pairformer_args": asdict(PairformerArgsV2()),
        "score_model_args": atoms | {
            "sigma_data": 16, "dim_fourier": 32, "token_transformer_depth": 2, "token_transformer_heads": 4,
            "atom_decoder_depth": 1, "atom_decoder_heads": 4, "conditioning_transition_layers": 2,
        },
        "diffusion_process_args": asdict(Boltz2DiffusionParams()),
        "confidence_model_args": {
            "pairformer_args": small, "num_dist_bins": 64, "max_dist": 22,
            "add_s_to_z_prod": True, "add_s_input_to_s": True, "add_z_input_to_z": True,
            "confidence_args": {
                "num_plddt_bins": 50, "num_pde_bins": 64, "num_pae_bins": 64, "use_separate_heads": True,
            },
        },
        "steering_args": asdict(BoltzSteeringParams()), "alpha_pae": 1.0, "bond_type_feature": True,
        "fix_sym_check": True, "cyclic_pos_enc": True, "no_random_recycling_training": True,
    }  # fmt: skip
    if is_affinity:
        head = {
            "pairformer_args": {"num_blocks": 2}, "use_cross_transformer": False, "groups": {0: 1, 1: 1},
            "transformer_args": {"token_s": 64, "num_blocks": 2, "num_heads": 4, "activation_checkpointing": False},
        }  # fmt: skip
        settings |= {
            "affinity_prediction": True, "affinity_ensemble": True, "affinity_mw_correction": True,
            "affinity_model_args1": head, "affinity_model_args2": head, "confidence_prediction": True,
        }  # fmt: skip
    return Boltz2(**settings), settings


Chem.SetDefaultPickleProperties(Chem.PropertyPickleOptions.AllProps)
(folder / "mols").mkdir()
nucleotides = (*const.rna_letter_to_token.values(), *const.dna_letter_to_token.values())
for code in (*const.canonical_tokens, *nucleotides, *LIGANDS):
    (folder / "mols" / f"{code}.pkl").write_bytes(pickle.dumps(make_molecule(code)))
with tarfile.open(folder / "mols.tar", "w") as archive:
    archive.add(folder / "mols", "mols")
torch.manual_seed(0)
for name, is_affinity in (("boltz2_conf.ckpt", False), ("boltz2_aff.ckpt", True)):
    network, settings = make_network(is_affinity=is_affinity)
    content = {"state_dict": network.state_dict(), "hyper_parameters": settings}
    lightning = {
        "pytorch-lightning_version": pytorch_lightning.__version__,
        "optimizer_states": [],
        "lr_schedulers": [],
    }
    torch.save(content | lightning, folder / name)
