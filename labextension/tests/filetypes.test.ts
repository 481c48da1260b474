import { FILE_KINDS } from '../src/models/files/filetypes';

const pattern = new RegExp(FILE_KINDS[0]?.pattern ?? 'none');

describe('a JSON file', () => {
  it.each([
    'AF-P69905-F1-predicted_aligned_error_v4.json',
    'fold_one_full_data_0.json',
    'run_scores_rank_001_alphafold2_ptm_model_3_seed_000.json',
    'job_confidences.json',
    'pae.json',
    'rank_1.PAE.json',
    'model-pae-2.json.gz'
  ])('opens in the viewer if its name indicates aligned errors: %s', name => {
    expect(pattern.test(name)).toBe(true);
  });

  it.each([
    'package.json',
    'spaetzle.json',
    'paella.json',
    'job_summary_confidences_0.json',
    'job_summary_confidences.json',
    'pae.csv',
    'notebook_pae.ipynb'
  ])('opens in the editor otherwise: %s', name => {
    expect(pattern.test(name)).toBe(false);
  });
});

it('no file extension belongs to two kinds', () => {
  const all = FILE_KINDS.flatMap(kind => kind.extensions);
  expect(new Set(all).size).toBe(all.length);
  expect(all).toContain('.sdf.gz');
});

it('archives open in the viewer by default', () => {
  const kind = FILE_KINDS.find(({ extensions }) => extensions.includes('.zip'));
  expect(kind?.isDefault).toBe(true);
});
