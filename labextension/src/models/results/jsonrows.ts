/** Converts JSON text to rows of a table, each with a readable name and value. */
import { formatSize } from '../formatting/size';
import { formatMoment } from '../formatting/time';

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
/** Objects whose keys are shown unchanged, because they are names: of packages, variables or settings. */
const VERBATIM_KEYS = new Set(['packages', 'variables', 'settingsChanged', 'settingsIgnored']);
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const SHA256 = /^[0-9a-f]{64}$/;
const SHOWN_DIGITS = 12;
/** Lists with longer texts have one line per item. */
const LONG_TEXT = 40;
const NAME_KEYS = ['name', 'path', 'title'];

/** The rows of a JSON object, in its order; null if the text is not one. Empty values are left out. */
export function readJsonRows(text: string): readonly JsonRow[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return isObject(value) ? collectRows(value, { section: [], path: '', isVerbatim: false }) : null;
}

/** Names of the manifest's own fields; other fields are named by their key. */
const MANIFEST_NAMES: Readonly<Record<string, string>> = {
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
  const valueOf = (wantedPath: string): JsonRow['value'] | undefined =>
    rows.find(({ path }) => path === wantedPath)?.value;
  const areSeedsDifferent = valueOf('job.seedOffered') !== valueOf('job.seed');
  return rows
    .filter(({ path }) => path !== 'job.seedOffered' || areSeedsDifferent)
    .map(row => ({
      ...row,
      name: MANIFEST_NAMES[row.path] ?? row.name,
      value: row.path === 'job.type' && typeof row.value === 'string' ? displayName(row.value) : row.value
    }));
}

/** A key in words: `numSamples` as `Number of samples`, `sizeBytes` as `Size`. */
export function readableKey(key: string): string {
  const parts = key.match(/[Ss]ha256|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[A-Za-z]*/g) ?? [];
  const words = parts.map(
    word => SPELLINGS[word.toLowerCase()] ?? (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase())
  );
  const withoutUnit = words.at(-1) === 'bytes' && words.length > 1 ? words.slice(0, -1) : words;
  const [first = '', ...others] = withoutUnit;
  return first === '' ? key : [first.charAt(0).toUpperCase() + first.slice(1), ...others].join(' ');
}

/** Location of an object. */
interface ObjectLocation {
  readonly section: readonly string[];
  /** Its dotted path, with a dot at the end; empty for the outermost object. */
  readonly path: string;
  /** Whether its keys are shown as they are. */
  readonly isVerbatim: boolean;
}

function collectRows(object: object, { section, path, isVerbatim }: ObjectLocation): readonly JsonRow[] {
  const entries = Object.entries(object);
  // plain values come first: after a section, they would seem to belong to it
  const ordered = [
    ...entries.filter(([, value]) => !isObject(value)),
    ...entries.filter(([, value]) => isObject(value))
  ];
  return ordered.flatMap(([key, value]: [string, unknown]): readonly JsonRow[] => {
    const name = isVerbatim ? key : readableKey(key);
    if (isObject(value)) {
      return collectRows(value, {
        section: [...section, name],
        path: `${path}${key}.`,
        isVerbatim: VERBATIM_KEYS.has(key)
      });
    }
    const text = formatEntry(key, value);
    return text.length === 0 ? [] : [{ path: `${path}${key}`, name, section: section.join(', '), value: text }];
  });
}

/** A value in words; objects in a list have one line each. */
function formatEntry(key: string, value: unknown): string | readonly string[] {
  const isLong = (item: unknown): boolean => isObject(item) || (typeof item === 'string' && item.length > LONG_TEXT);
  if (Array.isArray(value) && value.some(isLong)) {
    return value.map(item => (isObject(item) ? describeObject(item) : formatValue(key, item)));
  }
  return formatValue(key, value);
}

/** An object on one line: its name, then its other values. */
function describeObject(object: object): string {
  const entries = Object.entries(object) as [string, unknown][];
  const names = entries.filter(([key]) => NAME_KEYS.includes(key)).map(([key, value]) => formatValue(key, value));
  const others = entries
    .filter(([key]) => !NAME_KEYS.includes(key))
    .map(([key, value]): readonly [string, string] => [
      key,
      isObject(value) ? describeObject(value) : formatValue(key, value)
    ])
    .filter(([, text]) => text !== '')
    .map(([key, text]) => (key === 'sizeBytes' ? text : `${readableKey(key)} ${text}`));
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
    return value.map(item => (isObject(item) ? describeObject(item) : formatValue(key, item))).join(', ');
  }
  if (typeof value !== 'string') {
    return JSON.stringify(value);
  }
  if (SHA256.test(value)) {
    return `${value.slice(0, SHOWN_DIGITS)}…`;
  }
  return TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value)) ? formatMoment(value) : value;
}

function isObject(value: unknown): value is object {
  return value instanceof Object && !Array.isArray(value);
}
