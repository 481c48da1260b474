/** Settings and manifests as rows. */
import { readJsonRows, readManifestRows, readableKey } from '../src/models/results/jsonrows';

const rowsOf = (found: object) =>
  readJsonRows(JSON.stringify(found))?.map(({ section, name, value }) => [section, name, value]);

describe('readJsonRows', () => {
  it('converts keys to words, groups rows by section, and omits empty values', () => {
    const found = { run: { seed: 7, note: null, tags: [] }, method: 'X', isDry: false, files: ['a', 'b'] };
    expect(rowsOf(found)).toEqual([
      ['', 'Method', 'X'],
      ['', 'Is dry', 'no'],
      ['', 'Files', 'a, b'],
      ['Run', 'Seed', '7']
    ]);
  });

  it('gives each row its path in the JSON', () => {
    const rows = readJsonRows('{"job": {"jobName": "fold"}}');
    expect(rows?.map(row => row.path)).toEqual(['job.jobName']);
  });

  it('describes each object of a list on its own line', () => {
    const outputs = [
      { path: 'model.pdb', sizeBytes: 271_400, sha256: 'ab'.repeat(32) },
      { path: 'score.json', sizeBytes: 12, sha256: null }
    ];
    expect(rowsOf({ outputs })).toEqual([
      ['', 'Outputs', ['model.pdb · 271 kB · SHA-256 abababababab…', 'score.json · 12 B']]
    ]);
  });

  it('puts each sentence of a list on its own line', () => {
    const notes = ['No weights were published for this version of it.', 'It is a substitute.'];
    expect(rowsOf({ notes })).toEqual([['', 'Notes', notes]]);
  });

  it('leaves the names of packages unchanged', () => {
    expect(rowsOf({ engine: { packages: { numpy: '2.3.1', 'scikit-learn': '1.7' } } })).toEqual([
      ['Engine, Packages', 'numpy', '2.3.1'],
      ['Engine, Packages', 'scikit-learn', '1.7']
    ]);
  });

  it('returns null if the text is not a JSON object', () => {
    expect(readJsonRows('[1]')).toBeNull();
    expect(readJsonRows('not JSON')).toBeNull();
  });
});

describe('readManifestRows', () => {
  const rowsOfManifest = (job: object) =>
    readManifestRows(JSON.stringify({ job }), type => `the ${type}`)?.map(({ name, value }) => [name, value]);

  it('shows the seed used, and the one given only if it differs or is the only one known', () => {
    expect(rowsOfManifest({ seed: 7, seedOffered: 7 })).toEqual([['Seed used', '7']]);
    expect(rowsOfManifest({ seed: 7, seedOffered: 8 })).toEqual([
      ['Seed used', '7'],
      ['Seed given to the engine', '8']
    ]);
    expect(rowsOfManifest({ seed: null, seedNote: 'Not reported.', seedOffered: 8 })).toEqual([
      ['Note on the seed', 'Not reported.'],
      ['Seed given to the engine', '8']
    ]);
    expect(rowsOfManifest({ seed: null, seedNote: 'The engine uses no random seed.', seedOffered: null })).toEqual([
      ['Note on the seed', 'The engine uses no random seed.']
    ]);
  });

  it('shows the tool’s display name', () => {
    expect(rowsOfManifest({ jobName: 'fold', type: 'anarci' })).toEqual([
      ['Job name', 'fold'],
      ['Tool', 'the anarci']
    ]);
  });

  it('returns null if the text is not a JSON object', () => {
    expect(readManifestRows('[1]', type => type)).toBeNull();
  });
});

describe('readableKey', () => {
  it.each([
    ['manifestVersion', 'Manifest version'],
    ['settingsSha256', 'Settings SHA-256'],
    ['numSamples', 'Number of samples'],
    ['proteinPDB', 'Protein PDB'],
    ['sizeBytes', 'Size'],
    ['…', '…']
  ])('converts %s to “%s”', (key, words) => {
    expect(readableKey(key)).toBe(words);
  });
});
