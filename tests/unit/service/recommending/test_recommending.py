"""What is recognized in a prompt, the tools recommended for it, and when none is recommended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote import catalog
from foldnote.service.domain.recommending.detection import find_molecules, is_smiles, read_sequence
from foldnote.service.domain.recommending.ranking import advise, patterns, read_task

TOOLS = list(catalog.tools().values())
PROTEIN = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVK"
HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def ask(prompt, molecules=None, roles=()):
    found = find_molecules(prompt) if molecules is None else molecules
    return advise(read_task(prompt, found, set(roles), TOOLS), TOOLS)


@pytest.mark.parametrize(
    "word", sorted({word for tool in TOOLS for word in (*tool.functions, *tool.modalities)})
)
def test_every_word_of_the_catalog_has_a_pattern(word):
    assert word in patterns()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.type)
def test_every_tool_is_found_by_its_name_and_its_description(tool):
    assert ask(f"Use {tool.display_name} for this").tools[0].tool_id == tool.type
    assert ask(tool.description).tools


@pytest.mark.parametrize(
    ("text", "kind", "form"),
    [
        (f"fold {PROTEIN} please", "protein", "sequence"),
        (f"fold this:\n>sp|P1|X\n{PROTEIN[:30]}\n{PROTEIN[30:]}\nthanks", "protein", "FASTA"),
        (f">x\n{PROTEIN.lower()}", "protein", "FASTA"),
        (HEAVY, "antibody", "sequence"),
        (f"{HEAVY}:{LIGHT}", "antibody", "sequence"),
        ("dna ACGTACGTACGTACGT", "nucleic-acid", "sequence"),
        (">r\nACGUACGUACGUACGU", "nucleic-acid", "FASTA"),
        ("peptide: GIGKFLH", "protein", "sequence"),
        (f"is {ASPIRIN} toxic?", "small-molecule", "SMILES"),
        ("SMILES: CCO", "small-molecule", "SMILES"),
        ("bind the CCD code A1B to it", "small-molecule", "CCD code"),
        ("with ATP in its pocket", "small-molecule", "CCD code"),
    ],
)
def test_a_molecule_is_found(text, kind, form):
    (found,) = find_molecules(text)
    assert (found.kind, found.form) == (kind, form)


@pytest.mark.parametrize(
    "text", ["", "Please predict a structure", "A CNN (SON) I/O NO", "PDB, RMSD and CDR", "(C", "e.g. 3"]
)
def test_words_are_not_molecules(text):
    assert find_molecules(text) == []


@pytest.mark.parametrize(
    "word", ["c1ccccc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]=C", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"]
)
def test_smiles_are_known(word):
    assert is_smiles(word)


@pytest.mark.parametrize("word", ["c1ccccc", "CC(C", "hello", "C)C(C", "(ON)", "1-2-3", "CONCISE"])
def test_invalid_smiles(word):
    assert not is_smiles(word)


@pytest.mark.parametrize(
    ("prompt", "best"),
    [
        (f"Predict the structure of this antibody: {HEAVY} {LIGHT}", "abodybuilder"),
        (f"predict the structure of {PROTEIN}", "alphafold"),
        (f"Is {ASPIRIN} toxic?", "admet"),
        ("Superimpose these PDB structures", "align-pdbs"),
        ("Give the IMGT numbering of my antibody", "anarci"),
        ("Humanize my nanobody", "abnativ"),
        ("Which residues aggregate on the surface of my PDB?", "aggrescan3d"),
        ("absolute binding free energy of a ligand", "binding-free-energy"),
        ("hydration free energy of my molecule", "hydration-free-energy"),
        ("dock two protein structures", "af2dock"),
        ("complex of two chains with crosslinking mass spectrometry", "alphalink2"),
        ("is this peptide antimicrobial?", "amplify"),
        ("Generate a library of heavy chains that begin with EVQLVESGG", "abgpt"),
        ("reconstruct the ancestors of these proteins", "ancestral-reconstruction"),
    ],
)
def test_a_task_finds_its_tool(prompt, best):
    advice = ask(prompt)
    assert advice.tools[0].tool_id == best
    assert 1 <= len(advice.tools) <= 4
    assert all(row.reason.endswith(".") for row in advice.tools)


@pytest.mark.parametrize(
    ("prompt", "missing"),
    [
        ("", "neither a task nor a molecule"),
        ("Hello there", "neither a task nor a molecule"),
        (PROTEIN, "not what to do with it"),
        ("fold ACGTACGTACGTACGTACGT", "No tool here"),
    ],
)
def test_it_abstains_and_says_what_is_missing(prompt, missing):
    advice = ask(prompt)
    assert advice.is_abstaining
    assert missing in advice.summary


def test_roles_tell_an_antibody():
    molecules = [read_sequence(PROTEIN), read_sequence(PROTEIN[::-1])]
    assert ask("predict the structure", molecules, {"heavy", "light"}).tools[0].tool_id == "abodybuilder"


def test_a_sequence_is_not_read_as_words():
    assert ask("MDRMSDCDRSAMPSFVTCRSTCR").is_abstaining


@given(st.text(max_size=200))
def test_any_prompt_gets_an_answer(prompt):
    advice = ask(prompt)
    assert advice.summary
    assert len({row.tool_id for row in advice.tools}) == len(advice.tools) <= 4


def test_a_question_about_docking_a_small_molecule_finds_a_docking_tool():
    advice = ask(f"dock {ASPIRIN} to my protein structure")
    assert advice.tools[0].tool_id == "vina"


def test_an_antibody_is_numbered_by_the_tool_for_that():
    assert ask(f"Number my antibody {HEAVY}").tools[0].tool_id == "anarci"


def test_a_heavy_domain_is_a_nanobody_if_the_prompt_says_so():
    advice = ask(f"Number the nanobody {HEAVY}")
    assert advice.tools[0].tool_id == "antibody-annotation"


def having(*running):
    return [tool.model_copy(update={"available": tool.type in running}) for tool in TOOLS]


def ask_where(prompt, *running):
    tools = having(*running)
    return advise(read_task(prompt, find_molecules(prompt), set(), tools), tools)


@pytest.mark.parametrize(
    ("protein", "ligand"),
    [("", "aspirin"), (f"{PROTEIN} ", "imatinib"), ("", "a drug"), (f"{PROTEIN} ", ASPIRIN)],
)
def test_each_part_of_a_request_has_a_tool_and_one_of_them_runs_here(protein, ligand):
    advice = ask_where(f"fold this protein {protein}and dock {ligand}", "vina")
    found = [row.tool_id for row in advice.tools]
    assert {"alphafold", "vina"} <= {*found}
    assert "af2dock" not in found
    assert found[0] == "vina"
    assert (
        "vina fits best" in advice.summary or "does not run at this service now; vina does" in advice.summary
    )


@pytest.mark.parametrize(
    "prompt", ["dock aspirin", "dock imatinib to a kinase", "docking of caffeine to my protein"]
)
def test_a_small_molecule_is_docked_by_a_tool_for_small_molecules(prompt):
    assert ask(prompt).tools[0].tool_id == "vina"


@pytest.mark.parametrize(
    "prompt",
    ["dock two protein structures", "dock the antibody to its antigen", "dock these proteins to each other"],
)
def test_proteins_are_docked_by_a_tool_for_proteins(prompt):
    found = [row.tool_id for row in ask(prompt).tools]
    assert "af2dock" in found
    assert "vina" not in found


def test_a_tool_that_runs_here_is_listed_beside_better_ones_that_do_not():
    found = ask_where(f"predict the structure of this protein {PROTEIN}", "afsample")
    assert "afsample" in [row.tool_id for row in found.tools]
