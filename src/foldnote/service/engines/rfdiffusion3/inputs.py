"""Translate the settings of a job into the input of RFdiffusion3, and refuse what it cannot read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contigs import (
    MOST_RESIDUES,
    Contig,
    Designed,
    name_places,
    read_contig,
    read_length,
    read_selection,
)
from engine_protocol import fail
from structures import InputLigand, Place, SourceStructure, read_structure

KEY = "design"
"""Name of the design in the input, the prefix of its files."""
STRUCTURE = "input.pdb"
FEWEST_AMINO_ACIDS = 2
FEW_CHAINS, FEWEST_OF_MANY_CHAINS = 3, 40
"""Above this many chains, ligands included, RFdiffusion3 reserves attention for neighbouring chains and needs
at least this many residues."""
SELECTIONS = {
    "fixedAtoms": "select_fixed_atoms",
    "hotspotAtoms": "select_hotspots",
    "buriedAtoms": "select_buried",
    "partlyBuriedAtoms": "select_partially_buried",
    "exposedAtoms": "select_exposed",
    "hydrogenBondDonors": "select_hbond_donor",
    "hydrogenBondAcceptors": "select_hbond_acceptor",
}
"""RFdiffusion3's name of each setting that maps residues or ligands to atoms."""
GUIDED = ("buriedAtoms", "partlyBuriedAtoms", "exposedAtoms", "hydrogenBondDonors", "hydrogenBondAcceptors")
"""Names of the features that classifier-free guidance strengthens."""
GROUPS = ("ALL", "BKBN", "TIP")
"""Names for groups of atoms of a residue: all, the backbone, the end of the side chain."""
NO_ATOMS = "NONE"
NOISE = {"sigma": 16.0, "greatest": 160.0, "least": 4e-4, "exponent": 7}
"""RFdiffusion3's noise schedule: the spread of its data in Å, end points as multiples of it, and its
shape."""
LOOPS = {"fewer": True, "more": False}
ORIGINS = {"center of mass": "com", "hotspots": "hotspots"}


@dataclass
class DesignInput:
    """The design in the form of RFdiffusion3's input."""

    specification: dict[str, Any] = field(default_factory=dict)
    ligands: Sequence[InputLigand] = ()
    notes: list[str] = field(default_factory=list)
    used: dict[str, Any] = field(default_factory=dict)
    """Settings whose values were chosen here."""

    def write(self, path: Path) -> None:
        """Write the input of RFdiffusion3."""
        path.write_text(json.dumps({KEY: self.specification}, indent=1), "utf-8")


def read_design(job: Mapping[str, Any]) -> DesignInput:
    """Return the design of a job; fail if it cannot be made.

    Args:
        job: content of job.json; the structure is rewritten into the working folder.
    """
    settings, files = job["settings"], job["files"]
    structure = read_structure(Path(files["structure"][0])) if files.get("structure") else None
    made = DesignInput(notes=list(structure.notes) if structure else [])
    text = str(settings.get("contig") or "")
    contig = read_contig(text, "contig") if text.strip() else Contig(())
    _add_lengths(made, settings, contig, structure)
    if structure is None:
        _refuse_without_structure(settings)
    else:
        _add_structure(made, settings, contig, structure)
    _add_symmetry(made, settings, contig)
    if settings.get("loops") in LOOPS:
        made.specification["is_non_loopy"] = LOOPS[settings["loops"]]
    if not settings.get("plddtEnhanced", True):
        made.specification["plddt_enhanced"] = False
    return made


def list_options(settings: Mapping[str, Any], seed: int) -> list[str]:
    """Return the options of ``rfd3 design`` for the settings."""
    designs, at_once = int(settings.get("designs", 1)), int(settings.get("batchSize", 1))
    if designs % at_once:
        fail(f"designs is {designs}, which is not a multiple of batchSize, {at_once}. Change one of the two.")
    values: dict[str, Any] = {
        "n_batches": designs // at_once,
        "diffusion_batch_size": at_once,
        "seed": seed,
        "global_prefix": "''",
        "low_memory_mode": bool(settings.get("lowMemory")),
        "inference_sampler.num_timesteps": settings.get("steps", 200),
        "inference_sampler.step_scale": settings.get("stepScale", 1.5),
        "inference_sampler.noise_scale": settings.get("noiseScale", 1.003),
        "inference_sampler.gamma_0": settings.get("churn", 0.6),
    }
    if settings.get("recycles"):
        values["inference_sampler.n_recycle"] = settings["recycles"]
    if settings.get("symmetry"):
        if float(values["inference_sampler.gamma_0"]) <= 0.5:
            fail("churn must be above 0.5 for a symmetric design.")
        values["inference_sampler.kind"] = "symmetry"
    if settings.get("guidanceScale"):
        if not any(settings.get(name) for name in GUIDED):
            fail(
                f"guidanceScale strengthens {', '.join(GUIDED[:-1])} and {GUIDED[-1]}, and none of these"
                " is set."
            )
        values["inference_sampler.use_classifier_free_guidance"] = True
        values["inference_sampler.cfg_scale"] = settings["guidanceScale"]
    return [f"{name}={value}" for name, value in values.items()]


def count_steps(settings: Mapping[str, Any]) -> int:
    """Count diffusion passes for a design; partial diffusion begins at the requested noise."""
    levels, partial = int(settings.get("steps", 200)), settings.get("partialNoise")
    if not partial:
        return levels - 1
    power = 1 / NOISE["exponent"]
    high, low = NOISE["greatest"] ** power, NOISE["least"] ** power
    noise = [
        NOISE["sigma"] * (high + number / (levels - 1) * (low - high)) ** NOISE["exponent"]
        for number in range(levels)
    ]
    left = sum(level <= float(partial) for level in noise) - 1
    if left < 1:
        fail(
            f"Of {levels} steps none is left at a partialNoise of {float(partial):g} Å, from which partial"
            " diffusion begins. Give more steps, such as 200, or more noise."
        )
    return left


def _add_lengths(
    made: DesignInput, settings: Mapping[str, Any], contig: Contig, structure: SourceStructure | None
) -> None:
    total = str(settings.get("totalLength") or "").strip()
    least, most = contig.lengths
    if settings.get("partialNoise"):
        if total or any(isinstance(part, Designed) for part in contig.parts):
            fail(
                "partialNoise changes a structure and keeps its length: the contig may name what is kept"
                " only, such"
                " as A1-120, and totalLength must be left out."
            )
        return
    if not contig.parts:
        fail(
            "contig is empty. Give the length of a new protein such as 80-120, or a contig such as"
            " 60-80,/0,A1-90."
        )
    if not any(isinstance(part, Designed) for part in contig.parts) and not any(map(settings.get, RELEASING)):
        fail(
            "Nothing is left to design: the contig keeps residues only. Add lengths, such as"
            f" 20-40,A12-40,20-40, or set one of {', '.join(RELEASING)}."
        )
    if structure is None and len(contig.parts) > 1:
        fail(
            "Without a structure RFdiffusion3 designs one chain: give one length such as 80-120. Identical"
            " chains"
            " are made by symmetry."
        )
    if total:
        wanted = read_length(total, "totalLength")
        if wanted.most < least or wanted.least > most:
            fail(
                f"totalLength is {wanted}, and the contig makes {Designed(least, most)} residues. Change"
                " one of the two."
            )
        least, most = max(least, wanted.least), min(most, wanted.most)
    copies = _count_copies(str(settings.get("symmetry") or ""))
    if most * copies > MOST_RESIDUES:
        description = f"{copies} copies of {most}" if copies > 1 else f"{most}"
        fail(
            f"The design has up to {description} residues; this engine takes {MOST_RESIDUES} at most, since"
            " memory grows"
            " with their square. Keep less of the structure, or give shorter lengths."
        )
    _refuse_small(settings, contig, structure, least * copies)
    if len(contig.parts) == 1 and isinstance(contig.parts[0], Designed):
        made.specification["length"] = str(Designed(least, most))
        return
    made.specification["contig"] = str(contig)
    if total:
        made.specification["length"] = str(Designed(least, most))


def _refuse_small(
    settings: Mapping[str, Any], contig: Contig, structure: SourceStructure | None, residues: int
) -> None:
    """Fail if RFdiffusion3 would fail because there are too few residues."""
    new = sum(part.least for part in contig.parts if isinstance(part, Designed))
    kept = [place for part in contig.kept for place in part.residues]
    if new + (structure.count_amino_acids(kept) if structure else 0) < FEWEST_AMINO_ACIDS:
        fail(
            f"A design has {FEWEST_AMINO_ACIDS} amino acids at least, without which RFdiffusion3 has no"
            " figures."
        )
    chains = len(contig.chains) * _count_copies(str(settings.get("symmetry") or ""))
    if chains + len(settings.get("ligands") or ()) > FEW_CHAINS and residues < FEWEST_OF_MANY_CHAINS:
        fail(
            f"A design of more than {FEW_CHAINS} chains has {FEWEST_OF_MANY_CHAINS} residues at least:"
            " fewer are too"
            " few for RFdiffusion3's network. Give longer chains."
        )


def _count_copies(symmetry: str) -> int:
    return int(symmetry[1:]) * (2 if symmetry[0] == "D" else 1) if symmetry else 1


RELEASING = ("fixedAtoms", "redesignSideChains")
"""Settings that release atoms of kept residues."""
NEEDING_STRUCTURE = (
    "hotspots",
    "ligands",
    "unindexed",
    "redesignedResidues",
    "redesignSideChains",
    "unsymmetricParts",
    "originPoint",
    "partialNoise",
    *SELECTIONS,
)


def _refuse_without_structure(settings: Mapping[str, Any]) -> None:
    for name in NEEDING_STRUCTURE:
        if settings.get(name):
            fail(
                f"{name} is about a structure, and the job has none. Give the structure, or leave {name} out."
            )


def _add_structure(
    made: DesignInput, settings: Mapping[str, Any], contig: Contig, structure: SourceStructure
) -> None:
    specification = made.specification
    places = [place for part in contig.kept for place in part.residues]
    structure.require(places, "contig")
    if unindexed := str(settings.get("unindexed") or "").strip():
        kept = read_selection(unindexed, "unindexed")
        moved = [place for part in kept for place in part.residues]
        structure.require(moved, "unindexed")
        if both := sorted(set(places) & set(moved)):
            fail(f"{name_places(both)} cannot be both in the contig and in unindexed.")
        specification["unindex"] = ",".join(map(str, kept))
        places += moved
    if noise := settings.get("partialNoise"):
        specification["partial_t"] = float(noise)
        places = _list_whole(structure)
    words = [str(word).strip() for word in settings.get("ligands") or ()]
    found = [ligand for word in words for ligand in structure.find_ligands(word, "ligands")]
    chosen = list({id(ligand): ligand for ligand in found}.values())
    if not places and not chosen:
        fail(
            "structure is given, and nothing of it is used: name residues in the contig or in unindexed,"
            " or name"
            " ligands. For a new protein alone leave the structure out."
        )
    taken = [chr(ord("A") + number) for number in range(max(1, len(contig.chains)))]
    made.ligands = structure.write(Path(STRUCTURE), chosen, taken)
    specification["input"] = STRUCTURE
    if made.ligands:
        specification["ligand"] = ",".join(ligand.key for ligand in made.ligands)
        description = ", ".join(f"{ligand.label} is chain {ligand.key[0]}" for ligand in made.ligands)
        made.notes.append(f"In the designs {description}.")
    _add_selections(made, settings, structure, places)
    if settings.get("partialNoise"):
        _fix_what_is_kept(made, contig)
    _add_origin(made, settings)


def _list_whole(structure: SourceStructure) -> list[Place]:
    """Return all residues, which partial diffusion uses."""
    if structure.odd_chains:
        fail(
            f"partialNoise takes the whole structure, and chain {structure.odd_chains[0]} has no name of a"
            " single"
            " letter, which RFdiffusion3 needs. Rename it, or remove it."
        )
    places = sorted(structure.polymers)
    structure.require(places, "structure")
    if len(places) > MOST_RESIDUES:
        fail(f"The structure has {len(places)} residues; this engine takes {MOST_RESIDUES} at most.")
    return places


def _add_selections(
    made: DesignInput, settings: Mapping[str, Any], structure: SourceStructure, places: Sequence[Place]
) -> None:
    specification, used = made.specification, set(places)
    for setting, name in SELECTIONS.items():
        atoms: dict[str, str] = {}
        for word, value in (settings.get(setting) or {}).items():
            atoms |= _read_atoms(setting, str(word).strip(), str(value), made.ligands, structure, used)
        if setting == "hotspotAtoms":
            atoms = _read_hotspots(settings.get("hotspots") or {}, structure, used) | atoms
        if atoms:
            specification[name] = atoms
    if text := str(settings.get("redesignedResidues") or "").strip():
        kept = read_selection(text, "redesignedResidues")
        _require_used(
            [place for part in kept for place in part.residues], used, structure, "redesignedResidues"
        )
        specification["select_unfixed_sequence"] = {str(part): "ALL" for part in kept}
    if settings.get("redesignSideChains"):
        specification["redesign_motif_sidechains"] = True


def _read_hotspots(
    residues: Mapping[str, str], structure: SourceStructure, used: set[Place]
) -> dict[str, str]:
    atoms = {}
    for chain, numbers in residues.items():
        text = " ".join(f"{chain}{word}" for word in str(numbers).replace(",", " ").split())
        for part in read_selection(text, "hotspots"):
            _require_used(list(part.residues), used, structure, "hotspots")
            atoms |= {f"{chain}{number}": "ALL" for chain, number in part.residues}
    return atoms


def _require_used(
    places: Sequence[Place], used: set[Place], structure: SourceStructure, setting: str
) -> None:
    structure.require(places, setting)
    if unused := [place for place in places if place not in used]:
        fail(
            f"In {setting}, {name_places(unused)} takes no part in the design. Name it in the contig or in"
            " unindexed, too."
        )


def _read_atoms(
    setting: str,
    word: str,
    value: str,
    ligands: Sequence[InputLigand],
    structure: SourceStructure,
    used: set[Place],
) -> dict[str, str]:
    """Return atoms of residues such as A33-36, or of a ligand, by RFdiffusion3's names."""
    keys: dict[str, Any] = {
        ligand.key: ligand.residue
        for ligand in ligands
        if word.upper() == ligand.name.upper() or word.replace(":", "") == f"{ligand.chain}{ligand.number}"
    }
    if not keys:
        if word.isalpha():
            fail(f"In {setting}, {word!r} is not a ligand of this job. Name it in ligands, too.")
        places = [place for part in read_selection(word, setting) for place in part.residues]
        _require_used(places, used, structure, setting)
        keys = {f"{chain}{number}": structure.polymers[chain, number][0] for chain, number in places}
    names = value.replace(",", " ").split()
    if names in ([], [NO_ATOMS], [NO_ATOMS.lower()]):
        if setting != "fixedAtoms":
            fail(f"In {setting}, {word!r} names no atoms. Give their names, or ALL.")
        return dict.fromkeys(keys, "")
    if len(names) == 1 and names[0].upper() in GROUPS:
        return dict.fromkeys(keys, names[0].upper())
    for key, residue in keys.items():
        known = [atom.name for atom in residue]
        if missing := [name for name in names if name not in known]:
            fail(
                f"In {setting}, {residue.name} {word} has no atom {missing[0]}. It has {', '.join(known)};"
                f" {', '.join(GROUPS)}"
                f" and, for fixedAtoms, {NO_ATOMS} stand for several or none."
            )
        if len(set(names)) < len(names):
            fail(f"In {setting}, an atom of {key} is named twice.")
    return dict.fromkeys(keys, ",".join(names))


def _fix_what_is_kept(made: DesignInput, contig: Contig) -> None:
    """Name the atoms that partial diffusion keeps; RFdiffusion3 would otherwise keep all."""
    kept = {str(part): "ALL" for part in contig.kept} | {ligand.key: "ALL" for ligand in made.ligands}
    fixed = kept | made.specification.get("select_fixed_atoms", {})
    made.specification["select_fixed_atoms"] = fixed or False


def _add_origin(made: DesignInput, settings: Mapping[str, Any]) -> None:
    point, strategy = settings.get("originPoint"), settings.get("origin")
    has_hotspots = "select_hotspots" in made.specification
    if strategy == "hotspots" and not has_hotspots:
        fail("origin is to lie at the hotspots, and the job names none.")
    if point:
        if strategy in ORIGINS:
            fail("origin and originPoint both say where the design begins. Give one of the two.")
        if len(point) != 3:
            fail("originPoint is a point: give x, y and z.")
        made.specification["ori_token"] = [float(value) for value in point]
        return
    if strategy not in ORIGINS and has_hotspots:
        made.used["origin"] = strategy = "hotspots"
    if strategy in ORIGINS:
        made.specification["infer_ori_strategy"] = ORIGINS[strategy]


def _add_symmetry(made: DesignInput, settings: Mapping[str, Any], contig: Contig) -> None:
    symmetry = str(settings.get("symmetry") or "")
    parts = [str(part).strip() for part in settings.get("unsymmetricParts") or ()]
    if not symmetry:
        if parts:
            fail("unsymmetricParts are those of a symmetric design, and no symmetry is set.")
        return
    if settings.get("partialNoise"):
        fail("partialNoise and symmetry cannot be combined here.")
    made.specification["symmetry"] = {"id": symmetry}
    if parts:
        names = [name for part in parts for name in _name_part(part, made.ligands, contig.residues)]
        made.specification["symmetry"]["is_unsym_motif"] = ",".join(names)


def _name_part(word: str, ligands: Sequence[InputLigand], kept: Iterable[Place]) -> list[str]:
    keys = [ligand.key for ligand in ligands if word.upper() == ligand.name.upper()]
    if keys:
        return keys
    parts, known = read_selection(word, "unsymmetricParts"), set(kept)
    for part in parts:
        if unused := [place for place in part.residues if place not in known]:
            fail(f"unsymmetricParts: {name_places(unused)} is not in the contig.")
    return list(map(str, parts))
