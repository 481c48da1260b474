/** Properties of what the page knows: files, members' jobs, rows and selection, whatever happens in whatever order. */
import type { FileRecord, FilesResponse, OlderResponse, UploadResponse } from '../src/api/responses';
import { FilesModel, pathOf, type FilesSource } from '../src/models/files/files';
import { DEFAULT_CHOICES, GROUPS, SORTS } from '../src/models/jobs/choices';
import { listRows, selectable } from '../src/models/jobs/listing';
import { MembersModel } from '../src/models/jobs/members';
import { Selection, type SelectionMode } from '../src/models/jobs/selection';
import { countStates, shownState, STATES } from '../src/models/jobs/status';
import { changeTags, commonTags, mergeTags, readTags } from '../src/models/jobs/tags';
import { forSeeds, type Random } from './random';
import { makeJob } from './records';

const PAGE = 3;

function makeFile(fileName: string, folder: string | null = null): FileRecord {
  return { fileId: fileName, fileName, folder, fileSize: 1, isFolder: false, name: fileName, uploadTime: null };
}

/** Files of an account in memory, a page at a time; answers wait until the test lets them go. */
class Account implements FilesSource {
  isHeld = false;
  fault: Error | null = null;
  private held: (() => void)[] = [];
  private all: FileRecord[] = [...Array.from({ length: 7 }, (_, at) => makeFile(`f${at}`)), makeFile('x', 'in')];

  in(folder: string | null): readonly FileRecord[] {
    return this.all.filter(file => file.folder === folder);
  }

  release(): void {
    this.isHeld = false;
    this.held.splice(0).forEach(go => go());
  }

  async files(folder: string | null, offset: number): Promise<FilesResponse> {
    await this.pass();
    const found = this.in(folder);
    const hasMore = offset + PAGE < found.length;
    return { files: found.slice(offset, offset + PAGE), total: found.length, hasMore };
  }

  async deleteFile(path: string): Promise<void> {
    await this.pass();
    this.all = this.all.filter(file => pathOf(file) !== path);
  }

  async deleteFolder(folder: string): Promise<void> {
    await this.pass();
    this.all = this.all.filter(file => file.folder !== folder);
  }

  withFixedProfile = (): this => this;
  uploadContents = (): Promise<UploadResponse> => Promise.reject(new Error('No room.'));
  beginUpload = (): Promise<UploadResponse> => Promise.reject(new Error('No room.'));
  sendPiece = (): Promise<UploadResponse> => Promise.reject(new Error('No room.'));
  finishUpload = (): Promise<UploadResponse> => Promise.reject(new Error('No room.'));
  cancelUpload = (): Promise<void> => Promise.resolve();

  private async pass(): Promise<void> {
    if (this.isHeld) {
      await new Promise<void>(go => this.held.push(go));
    }
    if (this.fault) {
      throw this.fault;
    }
  }
}

describe('files', () => {
  let account: Account;
  let model: FilesModel;
  const names = (): readonly string[] => (model.state().files ?? []).map(file => file.fileName);

  beforeEach(() => {
    account = new Account();
    model = new FilesModel(account);
  });

  it('are loaded page by page, each once', async () => {
    await model.refresh();
    expect([names(), model.state().hasMore]).toEqual([['f0', 'f1', 'f2'], true]);
    await model.loadMore();
    await model.loadMore();
    await model.loadMore();
    expect([names(), model.state().hasMore]).toEqual([account.in(null).map(file => file.fileName), false]);
  });

  it('of the next page are requested once by concurrent calls', async () => {
    await model.refresh();
    account.isHeld = true;
    const asking = [model.loadMore(), model.loadMore()];
    account.release();
    await Promise.all(asking);
    expect(names()).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5']);
  });

  it('are kept after a failed request, with the reason, until the next successful one', async () => {
    await model.refresh();
    account.fault = new Error('The service is busy.');
    await model.loadMore();
    expect([names().length, model.state().requestError, model.state().isLoading]).toEqual([
      3,
      'The service is busy.',
      false
    ]);
    account.fault = null;
    await model.refresh();
    expect(model.state().requestError).toBeNull();
  });

  it('whose upload was refused stay listed with the reason until dismissed', async () => {
    await model.upload([new File(['x'], 'a.pdb'), new File(['y'], 'b.pdb')]);
    const { uploads } = model.state();
    expect(uploads.map(({ name, phase, fault }) => [name, phase, fault])).toEqual([
      ['a.pdb', 'failed', 'No room.'],
      ['b.pdb', 'failed', 'No room.']
    ]);
    model.dismiss(uploads[0]?.id ?? 0);
    expect(model.state().uploads.map(upload => upload.name)).toEqual(['b.pdb']);
  });

  it('are not shown if a response of the previous service arrives late', async () => {
    account.isHeld = true;
    const asking = model.open('in');
    model.reset();
    account.release();
    await asking;
    expect(model.state().files).toBeNull();
  });

  it('are those of the current folder after any sequence of operations', async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      await runOperations(seed);
      await model.refresh();
      const { folder, requestError } = model.state();
      expect(names()).toEqual(
        account
          .in(folder)
          .slice(0, PAGE)
          .map(file => file.fileName)
      );
      expect(requestError).toBeNull();
    }
  });

  async function runOperations(seed: number): Promise<void> {
    const operations: Promise<void>[] = [];
    for (let step = 0; step < 6; step += 1) {
      account.isHeld = (seed + step) % 3 === 0;
      const what = (seed * 7 + step * 3) % 5;
      operations.push(
        what === 0
          ? model.open('in')
          : what === 1
            ? model.open(null)
            : what === 2
              ? model.loadMore()
              : what === 3
                ? model.delete(`f${seed % 7}`)
                : model.refresh()
      );
      account.release();
    }
    await Promise.all(operations);
  }
});

it('members’ jobs of the previous service are not shown, nor is its error', async () => {
  const answers: ((page: OlderResponse) => void)[] = [];
  const refusals: ((error: Error) => void)[] = [];
  const model = new MembersModel({
    members: () =>
      new Promise((resolve, reject) => {
        answers.push(resolve);
        refusals.push(reject);
      }),
    subjobs: () => Promise.resolve({ jobs: [], olderKey: null })
  });
  const [first, second] = [model.refresh(), model.refresh()];
  model.reset();
  answers[0]?.({ jobs: [makeJob()], olderKey: null });
  refusals[1]?.(new Error('No answer.'));
  await Promise.all([first, second]);
  expect([model.state().jobs, model.state().fault]).toEqual([null, null]);
});

/** Any jobs, some of them batches. */
function someJobs(random: Random) {
  return Array.from({ length: random.below(12) }, (_, at) =>
    makeJob({
      jobName: `${random.text(6)}${at}`,
      type: random.pick(['anarci', 'batch', 'vina']),
      status: random.pick(['In Queue', 'Running', 'Complete', 'Stopped'] as const),
      error: random.pick([null, 'No.']),
      created: random.pick([null, '2026-11-20T10:00:00.000Z', '2026-11-21T10:00:00.000Z']),
      started: random.pick([null, '2026-11-21T10:00:00.000Z']),
      score: random.pick([null, { ptm: random.below(100) / 100 }, { note: 'x' }]),
      projectTag: random.pick([null, '', random.text(4)]),
      notebook: random.pick([null, '/a/b.ipynb', 'c:\\d\\b.ipynb']),
      tags: random.some(['lead', 'old'])
    })
  );
}

const NAMING = { toolName: (type: string) => type.toUpperCase(), now: Date.parse('2026-11-21T12:00:00Z') };

describe('rows', () => {
  it('contain every job once in every order and grouping, and no key twice', () => {
    forSeeds(random => {
      const jobs = someJobs(random);
      const choices = { ...DEFAULT_CHOICES, sort: random.pick(SORTS), grouping: random.pick(GROUPS) };
      const rows = listRows({ jobs, open: new Map(), collapsed: new Set() }, choices, NAMING);
      expect([...selectable(rows)].sort()).toEqual(jobs.map(job => job.jobName).sort());
      expect(new Set(rows.map(row => row.key)).size).toBe(rows.length);
      const counts = rows.flatMap(row => (row.kind === 'group' ? [row.count] : []));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(choices.grouping === 'none' ? 0 : jobs.length);
    });
  });

  it('of collapsed groups are hidden, and their headings stay', () => {
    forSeeds(random => {
      const jobs = someJobs(random);
      const choices = { ...DEFAULT_CHOICES, grouping: random.pick(GROUPS.slice(1)) };
      const all = listRows({ jobs, open: new Map(), collapsed: new Set() }, choices, NAMING);
      const heads = all.filter(row => row.kind === 'group');
      const collapsed = new Set(random.some(heads).map(row => row.key));
      const rows = listRows({ jobs, open: new Map(), collapsed }, choices, NAMING);
      expect(rows.filter(row => row.kind === 'group')).toEqual(heads);
      const hidden = heads.reduce((sum, head) => sum + (collapsed.has(head.key) ? head.count : 0), 0);
      expect(selectable(rows)).toHaveLength(jobs.length - hidden);
    });
  });

  it('filtered by state are as many as are counted for it', () => {
    forSeeds(random => {
      const jobs = someJobs(random);
      const counts = countStates(jobs);
      for (const { state } of STATES) {
        const rows = listRows({ jobs, open: new Map(), collapsed: new Set() }, { ...DEFAULT_CHOICES, state }, NAMING);
        expect(rows).toHaveLength(counts.get(state) ?? 0);
        expect(rows.every(row => row.kind === 'job' && shownState(row.job) === state)).toBe(true);
      }
    });
  });

  it('of jobs without a score come last when sorted by score', () => {
    forSeeds(random => {
      const jobs = someJobs(random);
      const rows = listRows(
        { jobs, open: new Map(), collapsed: new Set() },
        { ...DEFAULT_CHOICES, sort: 'score' },
        NAMING
      );
      const has = rows.map(row => row.kind === 'job' && row.job.score !== null && 'ptm' in row.job.score);
      expect(has).toEqual([...has].sort((a, b) => Number(b) - Number(a)));
    });
  });

  it('are found by any part of a name, whatever its characters', () => {
    forSeeds(random => {
      const jobs = someJobs(random);
      for (const { jobName } of jobs) {
        const query = jobName.slice(random.below(jobName.length));
        const rows = listRows({ jobs, open: new Map(), collapsed: new Set() }, { ...DEFAULT_CHOICES, query }, NAMING);
        expect(selectable(rows)).toContain(jobName);
      }
    });
  });
});

it('a selection contains only existing jobs after any sequence of selections and removals', () => {
  forSeeds(random => {
    const selection = new Selection();
    let order = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (let step = 0; step < 25; step += 1) {
      if (random.below(6) === 0 && order.length > 1) {
        const gone = random.pick(order);
        order = order.filter(name => name !== gone);
        selection.keepOnly(name => order.includes(name));
      } else if (random.below(8) === 0) {
        selection.clear();
      } else {
        const name = random.pick(order);
        selection.choose(name, name, random.pick<SelectionMode>(['alone', 'toggle', 'range', 'keep']), order);
      }
      expect(order).toEqual(expect.arrayContaining([...selection.state().names]));
    }
  });
});

describe('tags', () => {
  const WORDS = ['lead', 'old', 'a b', 'é'];

  it('are changed as entered, and other tags are kept', () => {
    forSeeds(random => {
      const jobs = Array.from({ length: 1 + random.below(4) }, () => makeJob({ tags: random.some(WORDS) }));
      const wanted = readTags(random.some(WORDS).join(random.pick([',', ' , ', ',,'])));
      const { added, removed } = changeTags(jobs, wanted);
      const after = jobs.map(job => ({ ...job, tags: mergeTags(job.tags ?? [], added, removed) }));
      expect(commonTags(after)).toEqual(expect.arrayContaining([...wanted].sort()));
      for (const [at, job] of jobs.entries()) {
        const own = (job.tags ?? []).filter(tag => !commonTags(jobs).includes(tag));
        expect(after[at]?.tags).toEqual(expect.arrayContaining(own));
      }
    });
  });

  it('are unchanged after being joined and read again', () => {
    forSeeds(random => {
      const tags = readTags(random.text(30));
      expect(readTags(tags.join(', '))).toEqual(tags);
    });
  });
});
