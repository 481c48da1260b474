import { describeBatch } from '../src/models/jobs/batch';
import { formCode, jobCode } from '../src/models/service/code';
import { EnginesModel } from '../src/models/service/engines';
import { countStates, isLive, shownState, stateLabel } from '../src/models/jobs/status';
import { changeTags, commonTags, mergeTags, readTags } from '../src/models/jobs/tags';
import { formatAge, formatDuration, jobDuration } from '../src/models/formatting/time';
import type { ToolRecord, ToolsResponse } from '../src/api/responses';
import { countListed, filterJobs } from '../src/models/jobs/listing';
import { methodOf, searchTools, ToolsModel } from '../src/models/service/tools';
import { makeResponse, makeEngine, makeJob, makeTool, makeToolEngine, SERVICE } from './records';

describe('states', () => {
  it('distinguish a failed job from one that was stopped', () => {
    expect(shownState(makeJob({ status: 'Stopped' }))).toBe('stopped');
    expect(shownState(makeJob({ status: 'Stopped', error: 'no' }))).toBe('failed');
  });

  it('distinguish a stage that did not run from the failed one before it', () => {
    const error = 'The stage fold failed: no chain.';
    const stage = makeJob({ status: 'Stopped', batch: 'run', started: null, error });
    expect([shownState(stage), stateLabel(stage)]).toEqual(['stopped', 'Not run']);
    expect(stateLabel({ ...stage, started: '2026-11-21T10:00:05.000Z' })).toBe('Failed');
    expect(stateLabel({ ...stage, error: 'The stage cannot start: no file.' })).toBe('Failed');
  });

  it('are all counted, also those without jobs', () => {
    const counts = countStates([makeJob(), makeJob({ status: 'Complete' })]);
    expect([...counts.values()]).toEqual([0, 1, 1, 0, 0]);
  });

  it('are live for queued and running jobs', () => {
    const live = makeResponse([makeJob({ status: 'In Queue' }), makeJob(), makeJob({ status: 'Complete' })]);
    expect(live.jobs.map(isLive)).toEqual([true, true, false]);
  });
});

describe('describeBatch', () => {
  const batch = (stopped: number, failed?: number) =>
    makeJob({
      type: 'batch',
      batchSize: 100,
      statuses: { 'In Queue': 60, Running: 0, Complete: 37, Stopped: stopped },
      ...(failed === undefined ? {} : { failed })
    });

  it.each([
    [batch(3, 2), '37 of 100, 2 failed, 1 stopped'],
    [batch(2, 2), '37 of 100, 2 failed'],
    [batch(2, 0), '37 of 100, 2 stopped'],
    [batch(2), '37 of 100, 2 without a result'],
    [batch(0), '37 of 100'],
    [{ ...batch(0), batchSize: 2000 }, '37 of 2,000'],
    [{ ...batch(3, 3), tool: 'pipeline' }, '37 of 100, 3 without a result']
  ])('distinguishes failed jobs from stopped ones if the service does', (job, text) => {
    expect(describeBatch(job)).toBe(text);
  });
});

describe('a complete batch', () => {
  const statuses = { 'In Queue': 0, Running: 0, Complete: 18, Stopped: 2 };
  const batch = makeJob({ type: 'batch', status: 'Complete', batchSize: 20, statuses });

  it.each([
    [{ ...batch, failed: 1 }, 'Complete, 1 failed', '18 of 20, 1 stopped'],
    [{ ...batch, failed: 0 }, 'Complete', '18 of 20, 2 stopped'],
    [batch, 'Complete, 2 without a result', '18 of 20']
  ])('has the number of failed jobs in its state', (job, label, counts) => {
    expect([stateLabel(job), describeBatch(job)]).toEqual([label, counts]);
  });
});

describe('the filter Failed', () => {
  it('includes and counts complete batches with failed jobs', () => {
    const statuses = { 'In Queue': 0, Running: 0, Complete: 9, Stopped: 1 };
    const partly = makeJob({ jobName: 'partly', type: 'batch', status: 'Complete', statuses, failed: 1 });
    const stopped = makeJob({ jobName: 'stopped', type: 'batch', status: 'Complete', statuses, failed: 0 });
    const jobs = [partly, stopped, makeJob({ jobName: 'failed', status: 'Stopped', error: 'no' })];
    const listed = filterJobs(jobs, { state: 'failed', query: '' }, type => type);
    expect(listed.map(job => job.jobName)).toEqual(['partly', 'failed']);
    expect(countListed(jobs).get('failed')).toBe(2);
    expect(countListed(jobs).get('complete')).toBe(2);
  });
});

describe('EnginesModel', () => {
  it('reports the end of a change even if the engines are not shown', async () => {
    const answers = [true, true, false].map(isBusy => ({ engines: [makeEngine({ isBusy })] }));
    const last = { engines: [makeEngine()] };
    const source = {
      engines: () => Promise.resolve(answers.shift() ?? last),
      changeEngine: () => Promise.resolve()
    };
    const model = new EnginesModel(source, 1);
    const ended = new Promise<void>(done => {
      model.onEnd = done;
    });
    model.show(true);
    model.show(false);
    await ended;
    expect(model.state().engines?.map(engine => engine.isBusy)).toEqual([false]);
  });
});

describe('tags', () => {
  it('are separated by commas, each listed once', () => {
    expect(readTags(' lead  series, a,,a ')).toEqual(['lead series', 'a']);
  });

  it('of several jobs are changed as far as the jobs have them in common', () => {
    const jobs = [makeJob({ tags: ['a', 'b'] }), makeJob({ tags: ['b', 'c'] }), makeJob({ tags: ['b'] })];
    expect(commonTags(jobs)).toEqual(['b']);
    expect(changeTags(jobs, ['d'])).toEqual({ added: ['d'], removed: ['b'] });
    expect(mergeTags(['a', 'b'], ['d'], ['b'])).toEqual(['a', 'd']);
  });
});

describe('times', () => {
  it.each([
    [0.4, 'under 1 s'],
    [59, '59 s'],
    [72, '1 min 12 s'],
    [3600, '1 h'],
    [3600 * 30, '1 d 6 h']
  ])('formats %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each([
    [-5, 'just now'],
    [125, '2 min ago'],
    [86400 * 3, '3 d ago']
  ])('formats an age of %d seconds as %s', (seconds, text) => {
    expect(formatAge(seconds)).toBe(text);
  });

  it('measures a running job until now and an ended one until its end', () => {
    const now = Date.parse('2026-11-21T10:01:05Z');
    expect(jobDuration(makeJob(), now)).toBe('1 min');
    expect(jobDuration(makeJob({ completed: '2026-11-21T10:00:15Z' }), now)).toBe('10 s');
    expect(jobDuration(makeJob({ started: null }), now)).toBe('');
  });
});

describe('code', () => {
  it('shows the form of a tool', () => {
    expect(formCode('abodybuilder')).toBe('import foldnote as fn\n\nfn.form("abodybuilder")');
  });

  it('quotes a hostile name as a string literal', () => {
    expect(jobCode('a")\nimport os #\\')).toBe('import foldnote as fn\n\nfn.job("a\\")\\nimport os #\\\\")');
  });
});

describe('tools', () => {
  const tools = [
    makeTool({ type: 'zed', displayName: 'Zed', available: false }),
    makeTool({ type: 'anarci', displayName: 'ANARCI', description: 'Numbers sequences' }),
    makeTool()
  ];

  it('lists available tools first, then by name', () => {
    expect(searchTools(tools, '').map(tool => tool.type)).toEqual(['abodybuilder', 'anarci', 'zed']);
  });

  it('finds all words of the query in any order in the server’s search text', () => {
    expect(searchTools(tools, 'numbers ANTIBODY').map(tool => tool.type)).toEqual(['anarci']);
    const known = makeTool({ type: 'anarci', searchText: 'anarci antibody-numbering cdr kabat' });
    expect(searchTools([makeTool(), known], 'Kabat CDR')).toEqual([known]);
  });

  it('finds tools even if an older server sends no search text', () => {
    const description = 'Numbers antibodies.';
    const { searchText, ...old } = makeTool({ type: 'anarci', displayName: 'ANARCI', description });
    expect(searchText).toContain('anarci');
    expect(searchTools([old], 'anarci NUMBERS')).toEqual([old]);
    expect(searchTools([old], 'docking')).toEqual([]);
  });

  it('marks a substitute', () => {
    const engine = makeToolEngine({ method: 'ProteinMPNN', kind: 'substitute' });
    expect(methodOf(makeTool({ engine }))).toBe('ProteinMPNN (substitute)');
    expect(methodOf(makeTool())).toBe('');
  });

  it('keeps the same list object while nothing changes, so that an open menu is not rebuilt', async () => {
    let answered: ToolRecord[] = [makeTool(), makeTool({ type: 'b' })];
    const model = new ToolsModel({
      tools: () => Promise.resolve({ tools: structuredClone(answered), service: SERVICE })
    });
    const first = await model.load();
    expect(await model.refresh()).toBe(first);
    expect(model.state().tools).toBe(first);
    answered = [makeTool()];
    expect(await model.refresh()).toHaveLength(1);
    expect(model.state().tools).toHaveLength(1);
  });

  it('does not show the tools of the previous service', async () => {
    const answers: ((tools: ToolRecord[]) => void)[] = [];
    const request = (): Promise<ToolsResponse> =>
      new Promise(resolve => answers.push(found => resolve({ tools: found, service: SERVICE })));
    const model = new ToolsModel({ tools: request });
    void model.load();
    model.reset();
    answers[0]?.([makeTool({ type: 'left' })]);
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    expect(model.state().tools).toBeNull();
    answers[1]?.([makeTool({ type: 'entered' })]);
    await vi.waitFor(() => expect(model.state().tools?.map(tool => tool.type)).toEqual(['entered']));
    expect(model.state().isLoading).toBe(false);
  });

  it('waits until a starting service is ready', async () => {
    const answers = [
      { tools: [], service: { ...SERVICE, state: 'starting' as const } },
      { tools, service: SERVICE }
    ];
    let requestCount = 0;
    const next = (): (typeof answers)[0] => answers[Math.min(requestCount++, 1)] ?? { tools, service: SERVICE };
    const model = new ToolsModel({ tools: () => Promise.resolve(next()) }, 1);
    await expect(model.load()).resolves.toHaveLength(3);
    expect(model.displayName('anarci')).toBe('ANARCI');
    expect(model.displayName('unknown')).toBe('unknown');
  });
});
