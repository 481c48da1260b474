/** Settings and manifests as rows. */
import { readJsonRows } from '../src/models/jsonrows';

describe('a JSON object as rows', () => {
  it('names what is inside by its path, and leaves out what is empty', () => {
    const text = JSON.stringify({ method: 'X', run: { seed: 7, note: null, tags: [] }, ok: false, files: ['a', 'b'] });
    expect(readJsonRows(text)).toEqual([
      { name: 'method', value: 'X' },
      { name: 'run.seed', value: '7' },
      { name: 'ok', value: 'no' },
      { name: 'files', value: 'a, b' }
    ]);
  });

  it('writes lists of objects line by line', () => {
    expect(readJsonRows('{"rows": [{"a": 1}, {"a": 2}]}')).toEqual([{ name: 'rows', value: '{"a":1}\n{"a":2}' }]);
  });

  it('is none where the text is no object', () => {
    expect(readJsonRows('[1]')).toBeNull();
    expect(readJsonRows('not JSON')).toBeNull();
  });
});
