"""Rules beyond JSON Schema: what each accepts, what it refuses, and at which field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit.Chem import GetMolFrags, MolFromSmiles

from foldnote import catalog
from foldnote.catalog.checks.molecule import count_parts, find_smiles_fault
from foldnote.catalog.contents import list_pdb_chains, list_sequence_names, read_extension, read_lines

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
PDB = "".join(
    f"ATOM  {number:5d}  CA  ALA {chain}{number:4d}      11.000  12.000  13.000  1.00  0.00\n"
    for number, chain in enumerate("HHLL", 1)
)


def codes(tool, **changes):
    """Return field and code of each problem of the example with ``changes``; None removes a setting."""
    found = catalog.tool(tool)
    settings = {**found.example_job["settings"], **changes}
    settings = {name: value for name, value in settings.items() if value is not None}
    return [(problem.field, problem.code) for problem in catalog.check(found, settings).problems]


CASES = [
    # sequences
    ("abodybuilder", {"heavy": ""}, [("heavy", "empty")]),
    ("abodybuilder", {"heavy": " \n"}, [("heavy", "empty")]),
    ("abodybuilder", {"heavy": "evql\n VES"}, []),
    ("abodybuilder", {"heavy": "EVQX"}, [("heavy", "wrong_letter")]),
    ("abodybuilder", {"heavy": ">vh\nEVQL"}, [("heavy", "wrong_letter")]),
    ("abodybuilder", {"heavy": "EVQL:DIQM"}, [("heavy", "wrong_letter")]),
    ("abodybuilder", {"heavy": "GAGGTGCAGCTGGTG" * 5}, [("heavy", "nucleotides")]),
    ("abodybuilder", {"heavy": "A" * 1000}, []),
    ("alphafold", {"sequence": "MKXV"}, []),
    ("alphafold", {"sequence": "MKV:"}, [("sequence", "empty_chain")]),
    ("alphafold", {"sequence": "MKV:MKV:MKV"}, []),
    ("ablang", {"lightSequence": ""}, []),
    ("alphalink2", {"sequence": "MKV", "crosslinksFile": "x.txt"}, [("sequence", "too_few_chains")]),
    ("alphalink2", {"sequence": "MKV:MKV", "crosslinksFile": "x.txt"}, []),
    # masks
    ("ablang", {"heavyMask": "1-119"}, []),
    ("ablang", {"heavyMask": "1-120"}, [("heavyMask", "whole_sequence_masked")]),
    ("ablang", {"heavyMask": "2-121"}, [("heavyMask", "range_outside")]),
    ("ablang", {"heavyMask": "0-5"}, [("heavyMask", "bad_range")]),
    ("ablang", {"heavyMask": "9-5"}, [("heavyMask", "bad_range")]),
    ("ablang", {"heavyMask": "5"}, [("heavyMask", "bad_range")]),
    ("ablang", {"heavyMask": "5-5"}, []),
    ("ablang", {"heavyMask": "5–9"}, [("heavyMask", "bad_range")]),
    ("ablang", {"heavySequence": None}, [("heavyMask", "nothing_to_mask")]),
    ("ablang", {"task": "scan", "heavyMask": "nonsense"}, []),
    ("antiberty", {"lightMask": "1-107"}, [("lightMask", "whole_sequence_masked")]),
    # rotatable side chains: NLYIQWLKDGGPSSGRPPPS
    ("vina", {"flexibleResidues": {"A": "1 2"}}, []),
    ("vina", {"flexibleResidues": {"A": "1 12"}}, [("flexibleResidues", "cannot_turn")]),
    ("vina", {"flexibleResidues": {"A": "1 2 3 4 5 6 7 8 9 13 14 16 20"}}, [("flexibleResidues", "cannot_turn")]),
    ("vina", {"flexibleResidues": {"A": "99"}}, [("flexibleResidues.A", "no_residue")]),
    ("vina", {"flexibleResidues": {"B": "1"}}, [("flexibleResidues.B", "bad_chain")]),
    ("vina", {"flexibleResidues": {"A": "12"}, "receptorFile": "uploaded.pdb"}, []),
    # chains and residues
    ("af2bind", {"chain": "B"}, [("chain", "bad_chain")]),
    ("af2bind", {"chain": ""}, [("chain", "empty")]),
    ("af2bind", {"chain": "A B"}, [("chain", "bad_chain")]),
    ("af2bind", {"chain": "B", "pdbFile": "upload.pdb"}, []),
    ("antidif", {"chains": []}, [("chains", "empty")]),
    ("antidif", {"chains": ["H", "H"]}, [("chains.1", "bad_chain")]),
    ("antidif", {"chains": ["H", "Q"]}, [("chains.1", "bad_chain")]),
    ("abmpnn", {"designedChains": ["H", "L"]}, []),
    ("abmpnn", {"designedChains": ["H"]}, [("designedChains", "chain_pair_needed")]),
    ("abmpnn", {"designedChains": ["H"], "detectCDRs": False}, []),
    ("abmpnn", {"designedChains": None}, [("detectCDRs", "chain_pair_needed")]),
    ("abmpnn", {"designedChains": ["H L K"]}, [("designedChains.0", "bad_chain"), ("designedChains", "chain_pair_needed")]),
    ("abmpnn", {"designedResidues": {"H": "26 27 52A"}}, []),
    ("abmpnn", {"designedResidues": {"H": "26-33 52A-52C -2-5 100B-102"}}, []),
    ("abmpnn", {"designedResidues": {"H": "33-26"}}, [("designedResidues.H", "bad_residue")]),
    ("abmpnn", {"designedResidues": {"H": "26-"}}, [("designedResidues.H", "bad_residue")]),
    ("abmpnn", {"designedResidues": {"H": "26-33-40"}}, [("designedResidues.H", "bad_residue")]),
    ("ablang-mpnn", {"customHeavyResidues": "105-107 111A"}, []),
    ("abmpnn", {"designedResidues": {"H": "26,27"}}, [("designedResidues.H", "bad_residue")]),
    ("abmpnn", {"designedResidues": {"Q": "26"}}, [("designedResidues.Q", "bad_chain")]),
    ("abmpnn", {"designedResidues": {"H": 26}}, [("designedResidues.H", "wrong_type")]),
    ("abmpnn", {"designedResidues": {"H": ""}}, [("designedResidues.H", "empty")]),
    ("abmpnn", {"regions": ["CDRH3", "CDR3"]}, [("regions.1", "not_an_option")]),
    ("abmpnn", {"omitAAs": "CM"}, []),
    ("abmpnn", {"omitAAs": ""}, []),
    ("abmpnn", {"omitAAs": "C, M"}, [("omitAAs", "wrong_letter")]),
    ("ablang-mpnn", {"customHeavyResidues": "105 106;"}, [("customHeavyResidues", "bad_residue")]),
    ("adapt", {"tcrPdbids": "1oga 5bs"}, [("tcrPdbids", "bad_word")]),
    ("adapt", {"tcrPdbids": "1oga,5bs0"}, [("tcrPdbids", "bad_word")]),
    ("adapt", {"designCdrs": "0 1 2 3 4 5 6 7"}, []),
    ("adapt", {"designCdrs": "8"}, [("designCdrs", "bad_word")]),
    ("adapt", {"designCdrs": "1 1"}, [("designCdrs", "repeated")]),
    ("adapt", {"designCdrs": ""}, [("designCdrs", "empty")]),
    # contigs
    ("rfdiffusion3", {"contig": "80-120"}, []),
    ("rfdiffusion3", {"contig": ""}, []),
    ("rfdiffusion3", {"contig": " 10-40/A17-A22 5 /0 B1-11 , 3"}, []),
    ("rfdiffusion3", {"contig": "10,/0,"}, [("contig", "empty")]),
    ("rfdiffusion3", {"contig": "10;A5"}, [("contig", "bad_contig")]),
    ("rfdiffusion3", {"contig": "10,A5A-9"}, [("contig", "bad_contig")]),
    ("rfdiffusion3", {"contig": "40-10"}, [("contig", "bad_contig")]),
    ("rfdiffusion3", {"contig": "10,A5-B9"}, [("contig", "bad_contig")]),
    ("rfdiffusion3", {"contig": "10,Q5-9"}, [("contig", "bad_contig")]),
    ("rfdiffusion3", {"contig": "10,Q5-9", "structure": "upload.cif"}, []),
    ("rfdiffusion3", {"contig": "10,A5-9", "structure": None, "hotspots": None}, [("contig", "bad_contig")]),
    # files
    ("aggrescan3d", {"pdbFile": "my fold.pdb"}, []),
    ("aggrescan3d", {"pdbFile": "job-1/out/model.PDB"}, []),
    ("aggrescan3d", {"pdbFile": "upload"}, []),
    ("aggrescan3d", {"pdbFile": "model.cif"}, [("pdbFile", "wrong_extension")]),
    ("aggrescan3d", {"pdbFile": ""}, [("pdbFile", "empty")]),
    ("aggrescan3d", {"pdbFile": "HEADER\nnothing\n"}, [("pdbFile", "wrong_contents")]),
    ("aggrescan3d", {"pdbFile": "data_x\n_atom_site.id\nATOM 1 N\n"}, [("pdbFile", "wrong_contents")]),
    ("aggrescan3d", {"pdbFile": "# PyMOL\ndata_x\n_atom_site.id\nATOM 1 N\n"}, [("pdbFile", "wrong_contents")]),
    ("vina", {"ligandFile": "CCO ethanol\n\n \n"}, []),
    ("vina", {"ligandFile": "CCO\nCCN\n"}, [("ligandFile", "several_molecules")]),
    ("vina", {"ligandFile": "\n\n\nV2000\nM  END\n$$$$\n"}, []),
    ("vina", {"ligandFile": "V2000\nM  END\n$$$$\nV2000\nM  END\n"}, [("ligandFile", "several_molecules")]),
    ("hydration-free-energy", {"ligandsSDF": "CCO\nCCN\n"}, []),
    ("afcycdesign", {"pdbFile": "nothing\n"}, [("pdbFile", "wrong_contents")]),
    ("afcycdesign", {"pdbFile": "model.anything"}, []),
    ("abfe", {"ligandsSDF": "benzene\n"}, [("ligandsSDF", "wrong_contents")]),
    ("afcluster", {"a3mFile": "MKV\nMKV\n"}, [("a3mFile", "wrong_contents")]),
    ("alphafold", {"initialGuess": PDB}, []),
    ("alphafold", {"initialGuess": "data_x\nloop_\n_atom_site.id\n1\n"}, []),
    ("alphafold", {"initialGuess": "neither\n"}, [("initialGuess", "wrong_contents")]),
    ("alphafold", {"templateFiles": "x.pdb"}, [("templateFiles", "wrong_extension")]),
    ("alde", {"csvFile": "sequence,fitness\n"}, [("csvFile", "wrong_contents")]),
    ("align-pdbs", {"pdbFiles": []}, [("pdbFiles", "empty")]),
    ("align-pdbs", {"pdbFiles": ["a.pdb", "b.cif"]}, [("pdbFiles.1", "wrong_extension")]),
    ("align-pdbs", {"pdbFiles": [PDB, PDB], "alignChain": "A"}, [("alignChain", "bad_chain")]),
    ("af-unmasked", {"sequence": VH}, [("templateFile", "chain_count_differs")]),
    ("af-unmasked", {"sequence": VH, "templateFile": "template.pdb"}, []),
    ("af-unmasked", {"modelsToUse": ""}, []),
    ("af-unmasked", {"modelsToUse": "model_1_multimer_v3, model_2_multimer_v3"}, []),
    ("af-unmasked", {"modelsToUse": "model_1_multimer_v3,,"}, [("modelsToUse", "bad_word")]),
    ("af-unmasked", {"modelsToUse": "m,m"}, [("modelsToUse", "repeated")]),
    # tables
    ("adapt", {"pmhcTargets": "organism\tmhc\tpeptide\nhuman\tA\tB\n"}, [("pmhcTargets", "missing_columns")]),
    ("adapt", {"pmhcTargets": "organism,mhc_class,mhc,peptide\nh,1,A,B\n"}, [("pmhcTargets", "missing_columns")]),
    ("alphabind-finetune", {"KdColumn": "kd"}, [("KdColumn", "unknown_column")]),
    ("alphabind-finetune", {"csvFile": "A" * 200_000 + "\nB\n", "KdColumn": "x"}, [(name, "unknown_column") for name in ("sequenceColumn", "targetColumn", "KdColumn")]),
    ("ancestral-reconstruction", {"outgroup": "c", "alignmentFile": "²3 4\na MK\n"}, [("alignmentFile", "wrong_contents")]),
    ("alphabind-finetune", {"KdColumn": ""}, [("KdColumn", "empty")]),
    ("alphabind-finetune", {"csvFile": '"antibody", "antigen",Kd\nA,B,1\n', "targetColumn": "antigen"}, []),
    # crosslinks
    ("alphalink2", {"crosslinksFile": "27 A 22 B 0.05\n\n"}, []),
    ("alphalink2", {"crosslinksFile": "27 A 22 B\n"}, [("crosslinksFile", "bad_crosslink")]),
    ("alphalink2", {"crosslinksFile": "0 A 22 B 0.05\n"}, [("crosslinksFile", "bad_crosslink")]),
    ("alphalink2", {"crosslinksFile": "27 A 22 C 0.05\n"}, [("crosslinksFile", "bad_crosslink")]),
    ("alphalink2", {"crosslinksFile": "27 A 90 B 0.05\n"}, [("crosslinksFile", "bad_crosslink")]),
    ("alphalink2", {"crosslinksFile": "27 A 22 B 5\n"}, [("crosslinksFile", "bad_crosslink")]),
    ("alphalink2", {"crosslinksFile": "\n"}, [("crosslinksFile", "empty")]),
    # alignments
    ("ancestral-reconstruction", {"alignmentFile": ">a\nMK\n>b\nMK\n", "outgroup": None}, [("alignmentFile", "too_few_sequences")]),
    ("ancestral-reconstruction", {"alignmentFile": "MK\nMK\n", "outgroup": None}, [("alignmentFile", "wrong_contents")]),
    ("ancestral-reconstruction", {"outgroup": "nedd8_human"}, [("outgroup", "unknown_sequence")]),
    ("ancestral-reconstruction", {"outgroup": "anything", "alignmentFile": "upload.aln"}, []),
    ("ancestral-reconstruction", {"outgroup": "c", "alignmentFile": "3 2\na MK\nb MK\nc MK\n"}, []),
    ("ancestral-reconstruction", {"outgroup": "c", "alignmentFile": "CLUSTAL W\n\na MK\nb MK\nc MK\n  **\n"}, []),
    # molecules
    ("admet", {"smilesStrings": []}, []),
    ("admet", {"smilesStrings": ["CCO", "aspirin"]}, [("smilesStrings.1", "bad_smiles")]),
    ("admet", {"smilesStrings": ["CCO", 5]}, [("smilesStrings.1", "wrong_type")]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "changes", "expected"), CASES)
def test_a_rule_refuses_what_it_should_and_nothing_else(tool, changes, expected):
    assert codes(tool, **changes) == expected


def test_the_letters_that_do_not_belong_are_named_by_position():
    found = catalog.check(catalog.tool("anarci"), {"sequence": "EVB L-*\nZ1U"})
    message = found.problems[0].message
    assert message.startswith("Position 3: 'B' stands for aspartate or asparagine; write D or N.")
    assert "Position 5: '-' is a gap" in message
    assert "Position 6: '*' is a stop codon" in message
    assert message.endswith("And 3 more.")


@pytest.mark.parametrize(
    ("value", "hint"), [(["MK", "MKV"], " To run one job for each item, submit a batch."), (["MK"], "")]
)
def test_several_sequences_in_place_of_one_lead_to_a_batch(value, hint):
    (problem,) = catalog.check(catalog.tool("anarci"), {"sequence": value}).problems
    assert problem.message == f"This must be text, not a list.{hint}"


@pytest.mark.parametrize(
    "text",
    [
        "~/seqs/vh.fasta",
        " vh.fasta\n",
        "../data/her2",
        "/home/ada/vh",
        "C:\\data\\vh.txt",
        "run1/vh.fa",
        "MKV.pdb",
    ],
)
def test_the_path_of_a_file_is_one_fault(text):
    (fault,) = catalog.find_sequence_faults(text)
    assert (fault.position, fault.letter) == (1, text.strip()[0])
    assert fault.message == "this is the path of a file; give the letters of the sequence in it"


@pytest.mark.parametrize(
    "text", ["MetLysThrAlaTyr", "Met Lys Thr Ala Tyr", "\nMET LYS THR\nALA TYR\n", "met-lys-thr-ala-tyr"]
)
@pytest.mark.parametrize("alphabet", ["amino-acid", "amino-acid-x"])
def test_three_letter_codes_are_not_read_as_one_letter_codes(text, alphabet):
    """Their letters would be valid: methionine, glutamate, threonine, leucine and so on."""
    (fault,) = catalog.find_sequence_faults(text, alphabet)
    assert (fault.position, fault.letter) == (1, text.strip()[0])
    assert fault.message == "these are three-letter codes; write one-letter codes: MKTAY"


def test_a_long_list_of_three_letter_codes_is_cut_in_the_message():
    (fault,) = catalog.find_sequence_faults("SerAlaGly" * 2000)
    assert fault.message.endswith(f": {'SAG' * 10}…")


@pytest.mark.parametrize("text", ["ALA", "SERGLYALA", "SERGLYALAHISK", "METLYSTHRALATYRMK"])
def test_short_or_mixed_texts_are_sequences(text):
    assert catalog.find_sequence_faults(text) == ()


def test_a_job_is_not_submitted_with_three_letter_codes():
    (problem,) = catalog.check(catalog.tool("anarci"), {"sequence": "SerGlyAlaHisLysThr" * 5}).problems
    assert problem.message.startswith("These are three-letter codes; write one-letter codes: SGAHKT")


@pytest.mark.parametrize(
    "text", ["MKV/MKL", "MKV.MKL", "MKV..FASTA", "/MKV", "MKV.FA", "M./K.FAS A", ">a/b.fasta\nM"]
)
def test_a_chain_break_or_a_gap_makes_no_path(text):
    assert "path" not in catalog.find_sequence_faults(text)[0].message


@pytest.mark.parametrize(
    ("letter", "name"), [("\u200b", "U+200B, zero width space"), ("\x02", "U+0002, control character")]
)
def test_an_invisible_character_is_named(letter, name):
    (fault,) = catalog.find_sequence_faults(f"MK{letter}V")
    assert (fault.position, fault.message) == (3, f"here is an invisible character ({name}); delete it")


def test_faults_tell_chain_position_and_place_in_the_raw_text():
    faults = catalog.find_sequence_faults("MK V:M b\nK", "amino-acid", ":")
    assert [(fault.chain, fault.position, fault.letter, fault.index) for fault in faults] == [(1, 2, "b", 7)]


def test_a_fasta_header_is_one_fault_and_its_letters_are_not_read():
    faults = catalog.find_sequence_faults(">sp|P1|BZ human\r\nMKV\n>B\nMKB")
    assert [(fault.letter, fault.index) for fault in faults] == [(">", 0), (">", 21), ("B", 26)]
    assert "FASTA header" in faults[0].message


@given(
    text=st.text(alphabet="ACDEFGHIKLMNPQRSTVWYacdy \n\t", max_size=80),
    letter=st.sampled_from("BJOUXZ*-.1_é"),
    data=st.data(),
)
def test_one_wrong_letter_is_found_at_its_position(text, letter, data):
    index = data.draw(st.integers(0, len(text)))
    faults = catalog.find_sequence_faults(text[:index] + letter + text[index:])
    assert [(fault.letter, fault.index) for fault in faults] == [(letter, index)]
    assert faults[0].position == len("".join(text[:index].split())) + 1


@given(st.text(alphabet="ACDEFGHIKLMNPQRSTVWY", min_size=1, max_size=200))
def test_a_clean_sequence_has_no_faults_and_stays_itself(text):
    assert catalog.find_sequence_faults(text) == ()
    assert catalog.clean_sequence(text) == text


def test_normalized_holds_the_sequence_cleaned():
    found = catalog.check(catalog.tool("anarci"), {"sequence": "evql\nVES "})
    assert found.normalized["sequence"] == "EVQLVES"


@pytest.mark.parametrize(
    "smiles",
    ["C", "CC(=O)Oc1ccccc1C(=O)O", "[Na+].[Cl-]", "C1CC1", "C%12CC%12", "N[C@@H](C)C(=O)O", "F/C=C/F", "c1cc[nH]c1", "[13CH4]", "BrCCl"],
)  # fmt: skip
def test_good_smiles_pass(smiles):
    assert find_smiles_fault(smiles) is None


@pytest.mark.parametrize(
    "smiles", ["", " ", "ethanol", "C(C", "C)C(", "C1CC", "CCO ethanol", "[Na", "C?C", "MKVL"]
)
def test_broken_smiles_are_reported(smiles):
    assert find_smiles_fault(smiles)


def test_chains_of_a_structure_are_read_in_order_and_from_the_first_model_only():
    hetero = "HETATM    9  O   HOH W   9      11.000  12.000  13.000\n"
    text = PDB + hetero + "ENDMDL\n" + PDB.replace(" H", " Z")
    assert list_pdb_chains(text) == ("H", "L", "W")
    assert list_pdb_chains(text, with_ligands=False) == ("H", "L")


def test_names_of_sequences_are_the_first_words():
    assert list(list_sequence_names(">a human\nMK\n>b\nMK\n")) == ["a", "b"]
    assert list(list_sequence_names("\n")) == []


@pytest.mark.parametrize(
    ("name", "extension"),
    [("a.pdb", "pdb"), ("job/a.B.PDB", "pdb"), ("a", ""), (".pdb", ""), ("job.1/a", ""), ("a.", "")],
)
def test_the_extension_of_a_name(name, extension):
    assert read_extension(name) == extension


LONG = "A" * 100_001
TEXTS = [
    ("anarci", {"sequence": LONG}, [("sequence", "too_long")]),
    ("anarci", {"sequence": LONG[1:]}, []),
    ("anarci", {"sequence": "A\n" + LONG[2:]}, []),
    ("abodybuilder", {"heavy": LONG}, [("heavy", "too_long")]),
    ("afsample", {"sequence": "AA:" * 40_000}, [("sequence", "too_long")]),
    ("admet", {"smilesStrings": ["C", "C" * 100_001]}, [("smilesStrings.1", "too_long")]),
    ("af2bind", {"chain": LONG}, [("chain", "too_long")]),
    ("af2bind", {"pdbFile": LONG}, [("pdbFile", "too_long")]),
    ("af2bind", {"pdbFile": PDB * 500, "chain": "H"}, []),
]


@pytest.mark.parametrize(("tool", "changes", "expected"), TEXTS)
def test_a_text_without_its_own_limit_has_a_maximum_length(tool, changes, expected):
    assert codes(tool, **changes) == expected


def test_a_message_names_few_letters_and_how_many_more_there_are():
    found = catalog.tool("anarci")
    problem = catalog.check(found, {**found.example_job["settings"], "sequence": "1" * 90_000}).problems[0]
    assert problem.message.count("Position") == 3
    assert problem.message.endswith("And 89997 more.")


@given(st.text("ACX:*1 \n>", max_size=60), st.sampled_from([None, ":"]))
def test_faults_are_counted_as_they_are_described(text, separator):
    described = catalog.find_sequence_faults(text, "amino-acid", separator)
    assert len(described) == min(20, catalog.count_sequence_faults(text, "amino-acid", separator))
    assert all(text[fault.index] == fault.letter for fault in described)


def test_unknown_settings_are_named_up_to_twenty_and_then_counted():
    problems = catalog.check(catalog.tool("anarci"), {f"key{i}": 1 for i in range(1000)}).problems
    unknown = [problem for problem in problems if problem.code == "unknown_field"]
    assert len(unknown) == 21
    assert unknown[-1].message == "There are 980 more settings that this tool does not have."


@given(st.text("a\n\r\x0b >", max_size=40))
def test_lines_are_read_as_splitlines_gives_them(text):
    text = text * 4000
    assert list(read_lines(text)) == text.splitlines()


@pytest.mark.parametrize("value", ["A:1", "A:-3", "A:52A", "A:5-45"])
def test_a_residue_in_place_of_a_chain_is_answered_with_its_chain(value):
    settings = catalog.tool("af2bind").example_job["settings"] | {"chain": value}
    (problem,) = catalog.check(catalog.tool("af2bind"), settings).problems
    assert problem.message == f"{value!r} names a residue. Give its chain alone: A."


@pytest.mark.parametrize(
    "smiles", ["C*", "C[*]", "[R1]CC", "[2*]C", "[#6]CO", "[C,N]C", "C~C", "[!C]C", "C[Xx]"]
)
@pytest.mark.parametrize(
    ("tool", "field"),
    [("vina", "ligandFile"), ("hydration-free-energy", "ligandsSDF"), ("admet", "smilesStrings")],
)
def test_an_invalid_molecule_is_refused_by_every_tool_that_takes_smiles(smiles, tool, field):
    given = [smiles] if field == "smilesStrings" else f"{smiles} name\n"
    assert ("bad_smiles") in {code for _, code in codes(tool, **{field: given})}


@pytest.mark.parametrize(
    "smiles",
    ["[CH3:1][OH:2]", "C[CH2]", "[Fe+2]", "[13CH4]", "[H][H]", "C[N+](C)(C)C", "F[C@@H](Cl)Br", "[nH]1cccc1",
     "[O--]", "c1cc[se]c1", "C[Si](C)(C)C", "OB(O)c1ccccc1", "N[C@@H](C)C(=O)O", "[2H]O[2H]", "C1.C1"],
)  # fmt: skip
def test_unusual_atoms_are_atoms(smiles):
    assert codes("admet", smilesStrings=[smiles]) == codes("vina", ligandFile=f"{smiles}\n") == []


def test_a_salt_is_refused_where_one_molecule_is_taken_and_predicted_as_a_whole_where_it_may_be():
    salt = "CC(=O)[O-].[Na+]"
    for tool, field in (("vina", "ligandFile"), ("hydration-free-energy", "ligandsSDF")):
        assert codes(tool, **{field: f"{salt}\n"}) == [(field, "bad_smiles")]
    assert codes("admet", smilesStrings=[salt]) == []


@pytest.mark.parametrize(
    ("smiles", "parts"),
    [
        ("C", 1), ("CC(=O)[O-].[Na+]", 2), ("C1.C1", 1), ("C1.CC.C1", 2), ("C1.C2.C1.C2", 2),
        ("C%11.C%11", 1), ("C1CC1.C1CC1", 2), ("C1(N2).C1.O2", 1), ("[13CH4].O", 2),
    ],
)  # fmt: skip
def test_the_parts_of_a_molecule_are_counted_as_rdkit_counts_them(smiles, parts):
    assert len(GetMolFrags(MolFromSmiles(smiles))) == parts
    assert count_parts(smiles) == parts


@pytest.mark.parametrize(("smiles", "parts"), [("C(.O)N", 2), ("C1(.O)CC1", 2), ("C%01.C1", 1)])
def test_parts_are_counted_as_opensmiles_defines_them_where_rdkit_reads_less(smiles, parts):
    assert MolFromSmiles(smiles) is None
    assert count_parts(smiles) == parts
