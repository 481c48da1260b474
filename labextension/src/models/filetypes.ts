/** The kinds of files that are drawn: their names, and whether ours is the view that opens first. */

/** A kind of file. */
export interface FileKind {
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  readonly extensions: readonly string[];
  /** Names that mean this kind whatever their ending says; a regular expression. */
  readonly pattern?: string;
  /** Whether a click opens it drawn; if not, our view is one choice of “Open With”. */
  readonly isFirst: boolean;
}

/** Each ending, plain and packed. */
function packed(...extensions: string[]): readonly string[] {
  return [...extensions, ...extensions.map(extension => `${extension}.gz`)];
}

/**
 * Names that programs give to their files of aligned errors: AlphaFold's database, ColabFold, AlphaFold 3. Summaries
 * hold none.
 */
const ERRORS =
  '(^|[^A-Za-z])([Pp][Aa][Ee](?![A-Za-z])|predicted_aligned_error|full_data_\\d|scores_rank_\\d|(?<!summary_)confidences).*\\.json(\\.gz)?$';

/** Every kind. The one with a pattern is asked first. */
export const FILE_KINDS: readonly FileKind[] = [
  {
    name: 'foldnote-pae',
    label: 'Predicted aligned error',
    extensions: [],
    pattern: ERRORS,
    isFirst: true
  },
  {
    name: 'foldnote-pdb',
    label: 'PDB structure',
    extensions: packed('.pdb', '.ent'),
    isFirst: true
  },
  {
    name: 'foldnote-cif',
    label: 'mmCIF structure',
    extensions: packed('.cif', '.mmcif'),
    isFirst: true
  },
  {
    name: 'foldnote-bcif',
    label: 'BinaryCIF structure',
    extensions: packed('.bcif'),
    isFirst: true
  },
  {
    name: 'foldnote-sdf',
    label: 'Small molecules',
    extensions: packed('.sdf', '.mol', '.mol2', '.pdbqt'),
    isFirst: true
  },
  {
    name: 'foldnote-a3m',
    label: 'Sequence alignment',
    extensions: packed('.a3m', '.a2m', '.sto', '.stockholm'),
    isFirst: true
  },
  {
    name: 'foldnote-fasta',
    label: 'Sequences',
    extensions: packed('.fasta', '.fa', '.faa', '.aln'),
    isFirst: false
  }
];
