"""Stand-in for unifold/homo_search.py of AlphaLink2: its flags and its files."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from standin import read_flags, tell_arguments

FLAGS = "fasta_path output_dir uniref90_database_path mgnify_database_path bfd_database_path uniclust30_database_path"
FLAGS += (
    " uniprot_database_path pdb_seqres_database_path template_mmcif_dir obsolete_pdbs_path max_template_date"
)
flags = read_flags([*FLAGS.split(), "use_precomputed_msas"])
tell_arguments("search")

assert Path(flags["uniref90_database_path"]).parent.is_dir()
assert Path(flags["fasta_path"]).read_text().count(">") >= 2
Path(flags["output_dir"]).mkdir()
Path(flags["output_dir"], "chains.txt").write_text("A B")
