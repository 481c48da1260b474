/** Settings and manifests as rows. */
import { readJsonRows, readManifestRows, readableKey } from '../src/models/results/jsonrows';

const rowsOf = (found: object) =>
  readJsonRows(JSON.stringify(found))?.map(({ section, name, value }) => [section, name, value]);

describe('a JSON object as rows', () => {
  it('names what is inside in words, by section, and leaves out what is empty', () => {
    const found = { run: { seed: 7, note: null, tags: [] }, method: 'X', isDry: false, files: ['a', 'b'] };
    expect(rowsOf(found)).toEqual([
      ['', 'Method', 'X'],
      ['', 'Is dry', 'no'],
      ['', 'Files', 'a, b'],
      ['Run', 'Seed', '7']
    ]);
  });

  it('keeps the path in the JSON of each', () => {
    const rows = readJsonRows('{"job": {"jobName": "fold"}}');
    expect(rows?.map(row => row.path)).toEqual(['job.jobName']);
  });

  it('writes objects of lists in words, each on its own line', () => {
    const outputs = [
      { path: 'model.pdb', sizeBytes: 271_400, sha256: 'ab'.repeat(32) },
      { path: 'score.json', sizeBytes: 12, sha256: null }
    ];
    expect(rowsOf({ outputs })).toEqual([
      ['', 'Outputs', ['model.pdb · 271 kB · SHA-256 abababababab…', 'score.json · 12 B']]
    ]);
  });

  it('gives sentences a line each', () => {
    const notes = ['No weights were published for this version of it.', 'It is a substitute.'];
    expect(rowsOf({ notes })).toEqual([['', 'Notes', notes]]);
  });

  it('leaves names of packages as they are written', () => {
    expect(rowsOf({ engine: { packages: { numpy: '2.3.1', 'scikit-learn': '1.7' } } })).toEqual([
      ['Engine, Packages', 'numpy', '2.3.1'],
      ['Engine, Packages', 'scikit-learn', '1.7']
    ]);
  });

  it('is none where the text is no object', () => {
    expect(readJsonRows('[1]')).toBeNull();
    expect(readJsonRows('not JSON')).toBeNull();
  });
});

describe('a manifest as rows', () => {
  const rowsOfManifest = (job: object) =>
    readManifestRows(JSON.stringify({ job }), type => `the ${type}`)?.map(({ name, value }) => [name, value]);

  it('says which seed was used, and the one that was given only where that differs or nothing else is known', () => {
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

  it('has the displayed name of the tool', () => {
    expect(rowsOfManifest({ jobName: 'fold', type: 'anarci' })).toEqual([
      ['Job name', 'fold'],
      ['Tool', 'the anarci']
    ]);
  });

  it('is none where the text is no object', () => {
    expect(readManifestRows('[1]', type => type)).toBeNull();
  });
});

describe('a key in words', () => {
  it.each([
    ['manifestVersion', 'Manifest version'],
    ['settingsSha256', 'Settings SHA-256'],
    ['numSamples', 'Number of samples'],
    ['proteinPDB', 'Protein PDB'],
    ['sizeBytes', 'Size'],
    ['…', '…']
  ])('of %s is %s', (key, words) => {
    expect(readableKey(key)).toBe(words);
  });
});
