/** From jobs to rows, which rows are in sight, and which are selected. */
import { ChoicesModel, DEFAULT_CHOICES, type Choices } from '../src/models/jobs/choices';
import { rerunCode, fileCode, jobCode, jobFileCode } from '../src/models/service/code';
import { rowTops, rowAt, scrollFor, sliceRows } from '../src/models/layout';
import { listRows, sortJobs, type ListRow } from '../src/models/jobs/listing';
import { findScore, formatScore } from '../src/models/results/score';
import { Selection } from '../src/models/jobs/selection';
import { formatSize } from '../src/models/formatting/size';
import { makeJob } from './records';

const JOBS = [
  makeJob({ jobName: 'c', status: 'Complete', score: { ptm: 0.5, note: 'x' } }),
  makeJob({ jobName: 'a10', type: 'anarci', created: '2026-11-20T10:00:00.000Z' }),
  makeJob({
    jobName: 'a9',
    status: 'Complete',
    score: { ptm: 0.9 },
    created: '2026-11-19T10:00:00.000Z'
  })
];
const NAMING = { toolName: (type: string) => type, now: Date.parse('2026-11-21T12:00:00Z') };

function rows(choices: Partial<Choices>, open = new Map<string, null>()): readonly string[] {
  const listed = { jobs: JOBS, open, collapsed: new Set<string>() };
  return listRows(listed, { ...DEFAULT_CHOICES, ...choices }, NAMING).map(show);
}

function show(row: ListRow): string {
  switch (row.kind) {
    case 'job':
      return row.job.jobName;
    case 'group':
      return `${row.title}: ${row.count}`;
    case 'note':
      return row.text;
  }
}

describe('rows', () => {
  it('list the jobs, newest first', () => {
    expect(rows({})).toEqual(['c', 'a10', 'a9']);
  });

  it('can be filtered by state and by words, all of which must match', () => {
    expect(rows({ state: 'complete' })).toEqual(['c', 'a9']);
    expect(rows({ query: 'ANARCI a1' })).toEqual(['a10']);
  });

  it('can be grouped by tool and by day', () => {
    expect(rows({ grouping: 'tool' })).toEqual(['abodybuilder: 2', 'c', 'a9', 'anarci: 1', 'a10']);
    expect(rows({ grouping: 'day' })[0]).toBe('Today: 1');
    expect(rows({ grouping: 'day' })[2]).toBe('Yesterday: 1');
  });

  it('can be grouped by project, notebook and tags, and found by them', () => {
    const jobs = [
      makeJob({
        jobName: 'a',
        projectTag: 'panel',
        notebook: '/home/me/x/one.ipynb',
        tags: ['lead']
      }),
      makeJob({ jobName: 'b', notebook: '/home/me/y/one.ipynb' })
    ];
    const shown = (choices: Partial<Choices>): readonly string[] =>
      listRows({ jobs, open: new Map(), collapsed: new Set() }, { ...DEFAULT_CHOICES, ...choices }, NAMING).map(show);
    expect(shown({ grouping: 'project' })).toEqual(['panel: 1', 'a', 'No project: 1', 'b']);
    expect(shown({ grouping: 'notebook' })).toEqual(['x/one.ipynb: 1', 'a', 'y/one.ipynb: 1', 'b']);
    expect(shown({ grouping: 'tags' })).toEqual(['lead: 1', 'a', 'No tags: 1', 'b']);
    expect([shown({ query: 'lead' }), shown({ query: 'y/one' })]).toEqual([['a'], ['b']]);
  });

  it('can be found and sorted by their labels', () => {
    const jobs = [
      makeJob({ jobName: 'a', localLabel: 'z first' }),
      makeJob({ jobName: 'b', foldnote: { label: 'Second' } })
    ];
    const shown = (choices: Partial<Choices>): readonly string[] =>
      listRows({ jobs, open: new Map(), collapsed: new Set() }, { ...DEFAULT_CHOICES, ...choices }, NAMING).map(show);
    expect([shown({ query: 'first' }), shown({ query: 'second' })]).toEqual([['a'], ['b']]);
    expect(shown({ sort: 'name' })).toEqual(['b', 'a']);
  });

  it('of jobs without a project come last when grouped by project', () => {
    const jobs = [makeJob({ jobName: 'b' }), makeJob({ jobName: 'a', projectTag: 'panel' }), makeJob({ jobName: 'c' })];
    const rows = listRows(
      { jobs, open: new Map(), collapsed: new Set() },
      { ...DEFAULT_CHOICES, grouping: 'project' },
      NAMING
    );
    expect(rows.map(show)).toEqual(['panel: 1', 'a', 'No project: 2', 'b', 'c']);
  });

  it('can be sorted by name in natural order, and by score, best first', () => {
    const names = (sort: Choices['sort']): string[] => sortJobs(JOBS, sort, NAMING.now).map(job => job.jobName);
    expect(names('name')).toEqual(['a9', 'a10', 'c']);
    expect(names('score')).toEqual(['a9', 'c', 'a10']);
  });

  it('can be sorted by the end of the run or the time in the queue, those without one last', () => {
    const jobs = [
      makeJob({ jobName: 'running' }),
      makeJob({ jobName: 'waiting', status: 'In Queue', started: null }),
      makeJob({ jobName: 'early', status: 'Complete', completed: '2026-11-21T10:00:10.000Z' }),
      makeJob({ jobName: 'late', status: 'Complete', completed: '2026-11-21T10:00:40.000Z' })
    ];
    const now = Date.parse('2026-11-21T10:01:00Z');
    const names = (sort: Choices['sort']): string[] => sortJobs(jobs, sort, now).map(job => job.jobName);
    expect(names('ended')).toEqual(['late', 'early', 'running', 'waiting']);
    expect(names('queue')[0]).toBe('waiting');
  });
});

describe('the visible rows', () => {
  const list = Array.from({ length: 10_000 }, (_, index) => ({ key: `${index}`, estimate: 40 }));

  it('are few, with empty space for the others', () => {
    const tops = rowTops(list, new Map([['0', 100]]));
    const slice = sliceRows(tops, 200_000, 800);
    expect(slice.end - slice.start).toBeLessThan(90);
    const shown = (tops[slice.end] ?? 0) - (tops[slice.start] ?? 0);
    expect(slice.before + shown + slice.after).toBe(100 + 9999 * 40);
  });

  it('are found by their vertical position', () => {
    const tops = rowTops(list, new Map());
    expect([rowAt(tops, -5), rowAt(tops, 85), rowAt(tops, 1e9)]).toEqual([0, 2, 9999]);
  });

  it('need scrolling only when they are outside the view', () => {
    expect(scrollFor(100, 140, 0, 200)).toBeNull();
    expect(scrollFor(300, 340, 0, 200)).toBe(140);
    expect(scrollFor(100, 140, 120, 200)).toBe(100);
  });
});

describe('the selection', () => {
  const order = ['a', 'b', 'c', 'd'];

  it('is extended from its start with Shift, and toggled with Ctrl', () => {
    const selection = new Selection();
    selection.choose('b', 'b', 'alone', order);
    selection.choose('d', 'd', 'range', order);
    expect([...selection.state().names]).toEqual(['b', 'c', 'd']);
    selection.choose('a', 'a', 'range', order);
    expect([...selection.state().names]).toEqual(['a', 'b']);
    selection.choose('a', 'a', 'toggle', order);
    expect([...selection.state().names]).toEqual(['b']);
  });

  it('drops removed jobs', () => {
    const selection = new Selection();
    selection.chooseAll(order);
    selection.keepOnly(name => name === 'c');
    expect([...selection.state().names]).toEqual(['c']);
  });
});

describe('the user’s choices', () => {
  it('are restored at the next visit, except for the search text', async () => {
    const stored = new Map<string, unknown>();
    const storage = {
      fetch: (id: string) => Promise.resolve(stored.get(id)),
      save: (id: string, value: unknown) => Promise.resolve(void stored.set(id, value))
    };
    new ChoicesModel(storage).choose({
      sort: 'score',
      grouping: 'day',
      state: 'failed',
      whose: 'organization',
      query: 'x'
    });
    const next = new ChoicesModel(storage);
    await next.restore();
    expect(next.state()).toEqual({
      sort: 'score',
      grouping: 'day',
      state: 'failed',
      whose: 'organization',
      details: DEFAULT_CHOICES.details,
      query: ''
    });
  });
});

describe('scores, sizes and code', () => {
  it('formats the most informative score with its name', () => {
    const score = findScore(makeJob({ score: { seconds: 3, mean_plddt: 91.234, model: 'm' } }));
    expect(score && formatScore(score)).toBe('mean pLDDT 91.2');
    expect(findScore(makeJob({ score: { model: 'm' } }))).toBeNull();
  });

  it('does not take counts and times for scores, and keeps the name of an unknown metric', () => {
    expect(findScore(makeJob({ score: { heavyResidues: 120, seconds: 3 } }))).toBeNull();
    const own = findScore(makeJob({ score: { seconds: 3, humanness_score: 0.5 } }));
    expect(own && formatScore(own)).toBe('humanness_sco… 0.5');
  });

  it('sorts by score metric by metric, in each metric’s direction, jobs without one last', () => {
    const jobs = [
      makeJob({ jobName: 'none', score: { seconds: 1 } }),
      makeJob({ jobName: 'weak', score: { affinity: -5.1 } }),
      makeJob({ jobName: 'strong', score: { affinity: -9.4 } }),
      makeJob({ jobName: 'sure', score: { ipTM: 0.9 } }),
      makeJob({ jobName: 'unsure', score: { iptm: 0.2 } })
    ];
    expect(sortJobs(jobs, 'score', 0).map(job => job.jobName)).toEqual(['sure', 'unsure', 'strong', 'weak', 'none']);
  });

  it('formats sizes with units', () => {
    expect([0, 999, 271_400, 5_000_000_000].map(formatSize)).toEqual(['0 B', '999 B', '271 kB', '5 GB']);
  });

  it('names the profile in code only if it is not the default', () => {
    expect(jobCode('a')).toBe('import foldnote as fn\n\nfn.job("a")');
    expect(jobCode('a', 'lab')).toBe('import foldnote as fn\n\nfn.job("a", profile="lab")');
    expect(jobCode('a', 'lab', null, true)).toBe('import foldnote as fn\n\nfn.batch("a", profile="lab")');
    expect(rerunCode('a')).toBe('import foldnote as fn\n\nfn.form(fn.job("a"))');
    expect(rerunCode('a', 'lab')).toContain('fn.form(fn.job("a", profile="lab"), profile="lab")');
    expect(jobFileCode('a', 'out/"1".pdb')).toBe('fn.job("a").file("out/\\"1\\".pdb")');
    const client = 'fn.Client("lab").jobs';
    expect(jobCode('a', 'lab', 'b@x')).toContain(`fn.open_result(${client}.download("a", job_email="b@x"))`);
    expect(rerunCode('a', 'lab', 'b@x')).toContain(
      `job = ${client}.record("a", job_email="b@x")\nfn.form(job.tool_type`
    );
    expect(jobFileCode('a', 'o.pdb', null, 'b"@x')).toBe('fn.Client().jobs.download("a", "o.pdb", job_email="b\\"@x")');
    expect(fileCode('dir/a".pdb')).toBe('fn.uploaded("dir/a\\".pdb")');
  });
});
