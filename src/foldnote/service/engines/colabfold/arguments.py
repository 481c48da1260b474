"""Translate the settings of a job into arguments of colabfold_batch.

Settings without a counterpart are refused, or reported as ignored with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engine_protocol import AMINO_ACIDS, clean_sequence, fail, read_options
from own_databases import OwnDatabases, find_own_databases

PUBLIC_SERVER = "https://api.colabfold.com"
NO_SERVER = "http://127.0.0.1:9"
"""A port of this machine on which nothing listens: the server address if nothing may be sent."""
LAB_SERVER = "FOLDNOTE_MSA_SERVER"
"""Variable with the address of the lab's own MSA server (with the API of ColabFold's)."""
CONSENT = "msa-server"
ALIGNMENT_FIELD = "foldnote.alignment"
LONGEST = 1200
"""Maximum residues in all chains: more need more memory than a run reserves, and days on a CPU."""
LARGEST_SEED = 2**31 - 1
LEFT_TO_SERVICE = ("chooseBest",)
"""Settings that take effect outside of a run: which of the models a pipeline passes on."""


@dataclass(frozen=True)
class Parameters:
    """Location of a model type's parameters, and ColabFold's marker that they are complete."""

    folder: str
    pattern: str
    mark: str


_SINGLE = "alphafold_params_2021-07-14"
PARAMETERS = {
    "alphafold2_ptm": Parameters(_SINGLE, "params_model_?_ptm.npz", "download_finished.txt"),
    "alphafold2": Parameters(_SINGLE, "params_model_?.npz", "download_finished.txt"),
    "alphafold2_multimer_v3": Parameters(
        "alphafold_params_colab_2022-12-06",
        "params_model_?_multimer_v3.npz",
        "download_complexes_multimer_v3_finished.txt",
    ),
}


@dataclass
class RunPlan:
    """One run of the program."""

    chains: list[str]
    model_type: str
    models: int
    recycles: int
    seed: int
    arguments: list[str]
    alignment: Path | None = None
    """The user's own alignment; None without one."""
    databases: OwnDatabases | None = None
    """The lab's own databases, if the alignment is searched in them; else None."""
    pairing: str | None = None
    """How rows of different chains are paired in that search; None for ColabFold's default."""
    relaxed: int = 0
    """Number of the best models to relax."""
    has_ipsae: bool = False
    used: dict[str, Any] = field(default_factory=dict)
    """Settings whose values were computed or changed."""
    ignored: dict[str, str] = field(default_factory=dict)
    """Settings without effect, each with the reason."""
    notes: list[str] = field(default_factory=list)


def plan_run(job: Mapping[str, Any], environment: Mapping[str, str]) -> RunPlan:
    """Plan the run; fail if it is impossible."""
    settings, files = job["settings"], job["files"]
    chains = read_chains(settings["sequence"])
    models, recycles = (
        int(settings.get("numModels", "5")),
        read_whole("numRecycles", settings.get("numRecycles", 3)),
    )
    seed = read_seed(settings.get("randomSeed"), job["seed"])
    model_type = read_model_type(settings.get("modelType", "auto"), chains)
    alignment = Path(files[ALIGNMENT_FIELD][0]) if files.get(ALIGNMENT_FIELD) else None
    plan = RunPlan(chains, model_type, models, recycles, seed, [], alignment)
    plan.used = {"randomSeed": seed, "modelType": model_type}
    plan.arguments = [
        *("--num-models", str(models), "--num-recycle", str(recycles), "--random-seed", str(seed)),
        *("--model-type", model_type, "--rank", "auto"),
    ]
    server = choose_server(job, environment)
    plan.arguments += ["--host-url", server or NO_SERVER]
    asks_server = plan_alignment(plan, settings, server, find_own_databases(read_options(environment)))
    searches = asks_server or plan.databases is not None
    plan_templates(plan, settings, files, server)
    plan_guess(plan, files)
    plan.relaxed = read_whole("numRelax", settings.get("numRelax", 0))
    if plan.relaxed > models:
        plan.used["numRelax"] = plan.relaxed = models
    plan.arguments += ["--use-dropout"] if settings.get("dropout") else []
    if (tolerance := settings.get("recycleEarlyStopTolerance")) is not None:
        plan.arguments += ["--recycle-early-stop-tolerance", tolerance]
    if (depth := settings.get("maxMsa")) is not None:
        if searches or alignment is not None:
            plan.arguments += ["--max-msa", depth]
        else:
            plan.ignored["maxMsa"] = "There is one sequence for each chain, and so nothing to choose from."
    refuse_databases(plan, settings, searches=searches)
    plan_ipsae(plan, settings)
    if server is not None and (asks_server or "--templates" in plan.arguments):
        plan.notes.append(f"The sequence was sent to {urlsplit(server).hostname}.")
    return plan


def read_chains(text: str) -> list[str]:
    """Return the chains of the sequence, without white space and in capitals."""
    chains = [clean_sequence(part) for part in text.split(":")]
    if not all(chains):
        fail("The sequence has an empty chain. Separate chains by one ':' each, and end with a letter.")
    strange = sorted(set("".join(chains)) - set(AMINO_ACIDS) - {"X"})
    if strange:
        unknown_letters = ", ".join(map(repr, strange[:20]))
        fail(f"The sequence has {unknown_letters}; the standard amino acids and X are taken.")
    if (letters := sum(map(len, chains))) > LONGEST:
        fail(
            f"The chains have {letters} letters together. This engine computes on the CPU and takes at most"
            f" {LONGEST}, since time and memory grow faster than the length. Use a service with a GPU."
        )
    if all(set(chain) == {"X"} for chain in chains):
        fail("The sequence has only X, of which nothing can be predicted.")
    return chains


def read_whole(name: str, value: float) -> int:
    """Return a setting that counts something as a whole number."""
    if value != int(value):
        fail(f"{name} is {value:g}; it must be a whole number.")
    return int(value)


def read_seed(given: float | None, offered: int) -> int:
    """Return the seed of all random numbers: from the settings, else the job's."""
    if given is None:
        return offered
    if given != int(given) or not 0 <= given <= LARGEST_SEED:
        fail(f"randomSeed is {given:g}; it must be a whole number from 0 to {LARGEST_SEED}.")
    return int(given)


def read_model_type(given: str, chains: list[str]) -> str:
    """Return the type of the model; ``auto`` is resolved by the number of chains."""
    if given == "auto":
        return "alphafold2_multimer_v3" if len(chains) > 1 else "alphafold2_ptm"
    if given not in PARAMETERS:
        fail(
            f"modelType {given} needs parameters that this engine does not fetch. Choose"
            f" {', '.join(PARAMETERS)} or auto."
        )
    return given


def choose_server(job: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """Return the MSA server to use: the lab's own, the public one if the user agreed, else None."""
    has_agreed = CONSENT in job.get("extensions", {}).get("external", [])
    own = environment.get(LAB_SERVER, "").rstrip("/")
    if own and urlsplit(own).scheme not in ("http", "https"):
        fail(f"{LAB_SERVER} is not the address of a server. The administrator of the service can correct it.")
    if own and urlsplit(own).hostname != urlsplit(PUBLIC_SERVER).hostname:
        return own
    return PUBLIC_SERVER if has_agreed else None


def plan_alignment(
    plan: RunPlan, settings: Mapping[str, Any], server: str | None, own: OwnDatabases | None
) -> bool:
    """Plan the source of the alignment; return whether a server is asked for it.

    The lab's own databases come before any server, since then nothing is sent.
    """
    uses_msa, pairing = settings.get("useMSA", True), settings.get("pairMode")
    if plan.alignment is not None and not uses_msa:
        fail("There is an alignment, and useMSA is false, which means to use none. Leave out one of them.")
    if plan.alignment is not None:
        reason = "The alignment is the user's own, in which sequences are paired or not."
    elif not uses_msa:
        plan.arguments += ["--msa-mode", "single_sequence"]
        reason = "Without an alignment there is nothing to pair."
    elif own is None and server is None:
        fail(
            "This job asks for an alignment, and nothing may be sent. Give an alignment, set useMSA to false,"
            " or agree to the public server for this job."
        )
    else:
        reason = "" if len(plan.chains) > 1 else "There is one chain, and so nothing to pair."
        plan.databases = own
        plan.arguments += [] if own is not None else ["--msa-mode", "mmseqs2_uniref"]
    if pairing is not None and reason:
        plan.ignored["pairMode"] = reason
    elif plan.databases is not None:
        plan.pairing = pairing
    elif pairing is not None:
        plan.arguments += ["--pair-mode", pairing]
    return plan.alignment is None and plan.databases is None and uses_msa


def plan_templates(
    plan: RunPlan, settings: Mapping[str, Any], files: Mapping[str, list[str]], server: str | None
) -> None:
    """Plan the templates: the user's file, those that a server finds in the PDB, or none."""
    mode, given = settings.get("templateMode", "pdb100"), files.get("templateFiles")
    if mode == "custom":
        if not given:
            fail("templateMode is custom, and there is no template: give templateFiles, or choose none.")
        folder = Path("templates")
        folder.mkdir()
        # hhsearch expects hits with names of four letters
        (folder / "tmpl.cif").write_text(read_template(Path(given[0])), "utf-8")
        plan.arguments += ["--templates", "--custom-template-path", str(folder)]
        return
    if given:
        plan.ignored["templateFiles"] = f"templateMode is {mode}; it is used when that is custom."
    if mode == "pdb100" and server is not None:
        plan.arguments += ["--templates"]
    elif mode == "pdb100":
        plan.used["templateMode"] = "none"
        plan.notes.append(
            "No templates were used: those of the PDB are found by a server, to which nothing was sent."
        )


def read_template(path: Path) -> str:
    """Return the text of a template that has atoms in mmCIF."""
    text = path.read_text("utf-8", "replace").replace("\r\n", "\n")
    if "_atom_site." not in text:
        fail("The file in templateFiles is not mmCIF with atoms, so it cannot be a template.")
    items = ("_entity_poly_seq.mon_id", "_struct_asym.entity_id", "_chem_comp.type", "peptide")
    if lacking := [item for item in items if item not in text.lower()]:
        fail(
            f"The template lacks {lacking[0]}. ColabFold needs what the PDB's own mmCIF files say of chains."
        )
    return text


def plan_guess(plan: RunPlan, files: Mapping[str, list[str]]) -> None:
    """Plan the initial structure of the prediction; its residues must be those of the sequence."""
    if not files.get("initialGuess"):
        return
    text = Path(files["initialGuess"][0]).read_text("utf-8", "replace").replace("\r\n", "\n")
    is_cif = "_atom_site." in text
    path = Path("guess.cif" if is_cif else "guess.pdb")
    path.write_text(text, "utf-8")
    count = count_residues(path, is_cif=is_cif)
    letters = sum(map(len, plan.chains))
    if count != letters:
        fail(
            f"The structure in initialGuess has {count} residues, and the sequence {letters} letters."
            " Give one whose residues are those of the sequence."
        )
    plan.arguments += ["--initial-guess", str(path)]


def count_residues(path: Path, *, is_cif: bool) -> int:
    """Count the residues of a structure as ColabFold reads it."""
    from alphafold.common import protein
    from colabfold.input import pdb_to_string

    try:
        if is_cif:
            read = protein.from_mmcif_string(path.read_text("utf-8"))
        else:
            read = protein.from_pdb_string(pdb_to_string(str(path)))
    except (ValueError, KeyError, IndexError, TypeError):
        fail(
            "The structure in initialGuess cannot be read. It must be PDB or mmCIF, with one model and"
            " without insertion codes."
        )
    return int(read.aatype.shape[0])


def refuse_databases(plan: RunPlan, settings: Mapping[str, Any], *, searches: bool) -> None:
    """Refuse databases that ColabFold does not have if they would be searched."""
    database = settings.get("msaDatabase", "uniref")
    searches_own = plan.databases is not None
    subject = "The service's own databases have" if searches_own else "ColabFold's servers search"
    if not searches:
        plan.used["msaDatabase"] = "none"
    elif database != "uniref":
        fail(f"{subject} UniRef30 and not Swiss-Prot, and msaDatabase is {database}. Choose uniref.")
    if settings.get("logan") and searches:
        fail(f"{subject} UniRef30 and not Logan. Leave logan off.")
    if settings.get("logan"):
        plan.ignored["logan"] = "No database is searched in this run."
    if settings.get("bfvdTemplates"):
        fail("ColabFold takes no templates from BFVD. Leave bfvdTemplates off.")


def plan_ipsae(plan: RunPlan, settings: Mapping[str, Any]) -> None:
    """Make the ipSAE score a figure of the job; files of complexes always contain it."""
    if settings.get("ipsaeScoring") and len(plan.chains) == 1:
        plan.ignored["ipsaeScoring"] = "There is one chain, and so no interface."
    plan.has_ipsae = bool(settings.get("ipsaeScoring")) and len(plan.chains) > 1
