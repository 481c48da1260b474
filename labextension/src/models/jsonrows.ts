/** Converts JSON text to rows of a table, each with a readable name and value. */
import { formatSize } from './size';
import { formatMoment } from './time';

/** A row of the table. */
export interface JsonRow {
  /** Its dotted path in the JSON. */
  readonly path: string;
  /** Name in words, without the part that all rows of its section share. */
  readonly name: string;
  /** Name of the enclosing object in words; empty for the outermost one. */
  readonly section: string;
  /** One text, or one for each item of a list of objects. */
  readonly value: string | readonly string[];
}

/** Spellings of words in keys. */
const SPELLINGS: Readonly<Record<string, string>> = {
  doi: 'DOI',
  gpu: 'GPU',
  id: 'ID',
  pdb: 'PDB',
  rmsd: 'RMSD',
  rna: 'RNA',
  dna: 'DNA',
  smiles: 'SMILES',
  sha256: 'SHA-256',
  url: 'URL',
  num: 'number of'
};
/** Objects whose keys are shown unchanged, because they are names from elsewhere. */
const AS_WRITTEN = new Set(['packages', 'variables', 'settingsChanged', 'settingsIgnored']);
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const DIGEST = /^[0-9a-f]{64}$/;
const SHOWN_OF_DIGEST = 12;
/** Lists with longer texts have one line per item. */
const LONG = 40;
const NAMES = ['name', 'path', 'title'];

/** The rows of a JSON object, in its order; null if the text is not one. Empty values are left out. */
export function readJsonRows(text: string): readonly JsonRow[] | null {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  return isObject(found) ? listRows(found, { section: [], path: '', isAsWritten: false }) : null;
}

/** Names of the manifest's own fields; other fields are named by their key. */
const OF_MANIFEST: Readonly<Record<string, string>> = {
  'job.type': 'Tool',
  'job.seed': 'Seed used',
  'job.seedNote': 'Note on the seed',
  'job.seedOffered': 'Seed given to the engine'
};

/**
 * The rows of a manifest; null if the text is not a JSON object. The tool has its display name, and the requested seed
 * is omitted if the engine used it.
 */
export function readManifestRows(text: string, displayName: (type: string) => string): readonly JsonRow[] | null {
  const rows = readJsonRows(text);
  if (rows === null) {
    return null;
  }
  const valueOf = (wanted: string): JsonRow['value'] | undefined => rows.find(({ path }) => path === wanted)?.value;
  const tellsGiven = valueOf('job.seedOffered') !== valueOf('job.seed');
  return rows
    .filter(({ path }) => path !== 'job.seedOffered' || tellsGiven)
    .map(row => ({
      ...row,
      name: OF_MANIFEST[row.path] ?? row.name,
      value: row.path === 'job.type' && typeof row.value === 'string' ? displayName(row.value) : row.value
    }));
}

/** A key in words: `numSamples` as `Number of samples`, `sizeBytes` as `Size`. */
export function wordsOf(key: string): string {
  const words = key.match(/[Ss]ha256|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[A-Za-z]*/g) ?? [];
  const plain = words.map(
    word => SPELLINGS[word.toLowerCase()] ?? (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase())
  );
  const told = plain.at(-1) === 'bytes' && plain.length > 1 ? plain.slice(0, -1) : plain;
  const [first = '', ...others] = told;
  return first === '' ? key : [first.charAt(0).toUpperCase() + first.slice(1), ...others].join(' ');
}

/** Location of an object. */
interface Place {
  readonly section: readonly string[];
  /** Its dotted path, with a dot at the end; empty for the outermost object. */
  readonly path: string;
  /** Whether its keys are shown as they are. */
  readonly isAsWritten: boolean;
}

function listRows(found: object, { section, path, isAsWritten }: Place): readonly JsonRow[] {
  const entries = Object.entries(found);
  // values without a section come first, since a section has no visible end
  const ordered = [
    ...entries.filter(([, value]) => !isObject(value)),
    ...entries.filter(([, value]) => isObject(value))
  ];
  return ordered.flatMap(([key, value]: [string, unknown]): readonly JsonRow[] => {
    const name = isAsWritten ? key : wordsOf(key);
    if (isObject(value)) {
      return listRows(value, { section: [...section, name], path: `${path}${key}.`, isAsWritten: AS_WRITTEN.has(key) });
    }
    const shown = describe(key, value);
    return shown.length === 0 ? [] : [{ path: `${path}${key}`, name, section: section.join(', '), value: shown }];
  });
}

/** A value in words; objects in a list have one line each. */
function describe(key: string, value: unknown): string | readonly string[] {
  const isLong = (each: unknown): boolean => isObject(each) || (typeof each === 'string' && each.length > LONG);
  if (Array.isArray(value) && value.some(isLong)) {
    return value.map(each => (isObject(each) ? describeObject(each) : formatValue(key, each)));
  }
  return formatValue(key, value);
}

/** An object on one line: its name, then its other values. */
function describeObject(found: object): string {
  const entries = Object.entries(found) as [string, unknown][];
  const names = entries.filter(([key]) => NAMES.includes(key)).map(([key, value]) => formatValue(key, value));
  const others = entries
    .filter(([key]) => !NAMES.includes(key))
    .map(([key, value]): readonly [string, string] => [
      key,
      isObject(value) ? describeObject(value) : formatValue(key, value)
    ])
    .filter(([, text]) => text !== '')
    .map(([key, text]) => (key === 'sizeBytes' ? text : `${wordsOf(key)} ${text}`));
  return [...names, ...others].filter(Boolean).join(' · ');
}

function formatValue(key: string, value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  if (typeof value === 'number') {
    return key.endsWith('Bytes') ? formatSize(value) : String(value);
  }
  if (Array.isArray(value)) {
    return value.map(each => (isObject(each) ? describeObject(each) : formatValue(key, each))).join(', ');
  }
  if (typeof value !== 'string') {
    return JSON.stringify(value);
  }
  if (DIGEST.test(value)) {
    return `${value.slice(0, SHOWN_OF_DIGEST)}…`;
  }
  return MOMENT.test(value) && !Number.isNaN(Date.parse(value)) ? formatMoment(value) : value;
}

function isObject(value: unknown): value is object {
  return value instanceof Object && !Array.isArray(value);
}
