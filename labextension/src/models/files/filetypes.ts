/** The file types that our viewer opens, and whether it is the default viewer. */

/** What the icon of a file type shows. */
export type Picture = 'structure' | 'molecule' | 'alignment' | 'sequences' | 'matrix' | 'archive';

/** A file type. */
export interface FileKind {
  readonly name: string;
  /** Display name. */
  readonly label: string;
  readonly extensions: readonly string[];
  /** Regular expression of names that have this type regardless of their extension. */
  readonly pattern?: string;
  /** Whether our viewer is the default; if not, it is listed under “Open With”. */
  readonly isDefault: boolean;
  readonly picture: Picture;
}

/** Each extension, plain and compressed. */
function withCompressed(...extensions: string[]): readonly string[] {
  return [...extensions, ...extensions.map(extension => `${extension}.gz`)];
}

/**
 * File names of predicted aligned errors of AlphaFold DB, ColabFold and AlphaFold 3. Summaries do not contain any.
 */
const PAE_NAMES =
  '(^|[^A-Za-z])([Pp][Aa][Ee](?![A-Za-z])|predicted_aligned_error|full_data_\\d|scores_rank_\\d|(?<!summary_)confidences).*\\.json(\\.gz)?$';

/** All file types; the one with a pattern is tried first. */
export const FILE_KINDS: readonly FileKind[] = [
  {
    name: 'foldnote-pae',
    label: 'Predicted aligned error',
    extensions: [],
    pattern: PAE_NAMES,
    isDefault: true,
    picture: 'matrix'
  },
  {
    name: 'foldnote-pdb',
    label: 'PDB structure',
    extensions: withCompressed('.pdb', '.ent'),
    isDefault: true,
    picture: 'structure'
  },
  {
    name: 'foldnote-cif',
    label: 'mmCIF structure',
    extensions: withCompressed('.cif', '.mmcif', '.pdbx'),
    isDefault: true,
    picture: 'structure'
  },
  {
    name: 'foldnote-bcif',
    label: 'BinaryCIF structure',
    extensions: withCompressed('.bcif'),
    isDefault: true,
    picture: 'structure'
  },
  {
    name: 'foldnote-sdf',
    label: 'Small molecules',
    extensions: withCompressed('.sdf', '.mol', '.mol2', '.pdbqt'),
    isDefault: true,
    picture: 'molecule'
  },
  {
    name: 'foldnote-a3m',
    label: 'Sequence alignment',
    extensions: withCompressed('.a3m', '.a2m', '.sto', '.sth', '.stk', '.stockholm'),
    isDefault: true,
    picture: 'alignment'
  },
  {
    name: 'foldnote-fasta',
    label: 'Sequences',
    extensions: withCompressed('.fasta', '.fa', '.faa', '.fas', '.fna', '.aln', '.clustal', '.clw'),
    isDefault: false,
    picture: 'sequences'
  },
  {
    name: 'foldnote-zip',
    label: 'ZIP archive',
    extensions: ['.zip'],
    isDefault: true,
    picture: 'archive'
  }
];
