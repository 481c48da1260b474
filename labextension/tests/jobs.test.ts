import type { JobRecord, JobsResponse, OlderResponse, Tagged } from '../src/api/responses';
import { mergeResponse } from '../src/models/jobs/joblist';
import { JobsModel, type DeletionOutcome, type JobsSource } from '../src/models/jobs/jobs';
import { makeResponse, makeJob } from './records';

/** A source with jobs in memory, which delays responses while nothing changes, and records the tags of requests. */
class MemorySource implements JobsSource {
  answer: JobsResponse = makeResponse([makeJob()]);
  tags: (string | null)[] = [];
  fault: Error | null = null;
  deleteFaults: readonly string[] = [];
  kept: readonly string[] = [];

  async jobs(tag: string | null, waitS: number, signal?: AbortSignal): Promise<Tagged<JobsResponse>> {
    this.tags.push(tag);
    if (this.fault) {
      throw this.fault;
    }
    const end = Date.now() + waitS * 1000;
    while (tag === JSON.stringify(this.answer) && Date.now() < end && !signal?.aborted) {
      await pause(5);
    }
    const current = JSON.stringify(this.answer);
    return { body: tag === current ? null : this.answer, tag: current };
  }

  older(key: string): Promise<OlderResponse> {
    return Promise.resolve({ jobs: [makeJob({ jobName: key })], olderKey: null });
  }

  subjobs(name: string): Promise<OlderResponse> {
    return Promise.resolve({ jobs: [makeJob({ jobName: `${name}-1` })], olderKey: null });
  }

  pollNow(): Promise<void> {
    return Promise.resolve();
  }

  stop([name = '']: readonly string[]): Promise<readonly string[]> {
    this.answer = makeResponse([makeJob({ jobName: name, status: 'Stopped' })]);
    return Promise.resolve([]);
  }

  delete(names: readonly string[]): Promise<DeletionOutcome> {
    const gone = names.filter(name => !this.kept.includes(name));
    return Promise.resolve({ gone, faults: this.deleteFaults });
  }

  undoDelete(names: readonly string[]): Promise<readonly string[]> {
    return Promise.resolve(names.filter(name => this.kept.includes(name)));
  }

  tag(): Promise<void> {
    return Promise.resolve();
  }

  log(): Promise<string> {
    return Promise.resolve('line');
  }
}

let source: MemorySource;
let model: JobsModel;

beforeEach(() => {
  source = new MemorySource();
  model = new JobsModel(source, { wait: 40, pause: 1 });
});

afterEach(() => model.dispose());

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));
const names = (jobs: readonly JobRecord[]): readonly string[] => jobs.map(job => job.jobName);

describe('JobsModel', () => {
  it('polls once at the end of a job reported by a card, unless it is unwatched or the list already has it', async () => {
    const pollNow = vi.spyOn(source, 'pollNow');
    source.answer = makeResponse([makeJob({ jobName: 'ab', status: 'Running' })]);
    model.noteEnd('ab');
    await pause(20);
    expect(pollNow).not.toHaveBeenCalled();
    const stop = model.watch();
    await vi.waitUntil(() => model.find('ab') !== undefined);
    source.answer = makeResponse([makeJob({ jobName: 'ab', status: 'Complete' })]);
    model.noteEnd('ab');
    model.noteEnd('ab');
    await vi.waitUntil(() => model.find('ab')?.status === 'Complete');
    await pause(20);
    model.noteEnd('ab');
    await pause(20);
    expect(pollNow).toHaveBeenCalledTimes(1);
    stop();
  });

  it('makes no request before it is watched', async () => {
    await pause(60);
    expect(source.tags).toEqual([]);
    expect(model.state().service).toBeNull();
  });

  it('has the jobs after the first refresh', async () => {
    await model.refresh();
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
    expect(model.state().service?.state).toBe('ok');
  });

  it('keeps its list if the server reports no change', async () => {
    await model.refresh();
    const { jobs } = model.state();
    await model.refresh();
    expect(source.tags.at(-1)).not.toBeNull();
    expect(model.state().jobs).toBe(jobs);
  });

  it('shows a change as soon as the server responds, with one pending request', async () => {
    model = new JobsModel(source, { wait: 20_000, pause: 1 });
    model.watch();
    await vi.waitFor(() => expect(source.tags).toHaveLength(2));
    const requestCount = source.tags.length;
    source.answer = makeResponse([makeJob({ status: 'Complete' })]);
    await vi.waitFor(() => expect(model.state().jobs[0]?.status).toBe('Complete'));
    expect(source.tags.length - requestCount).toBeLessThan(3);
  });

  it('polls while it is watched and stops afterwards', async () => {
    const unwatch = model.watch();
    await pause(150);
    expect(source.tags.length).toBeGreaterThan(2);
    unwatch();
    await pause(30);
    const requestCount = source.tags.length;
    await pause(100);
    expect(source.tags.length).toBe(requestCount);
  });

  it('makes no request while the page is hidden', async () => {
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    model.watch();
    await pause(60);
    expect(source.tags).toEqual([]);
    hidden.mockRestore();
    document.dispatchEvent(new Event('visibilitychange'));
    await vi.waitFor(() => expect(source.tags.length).toBeGreaterThan(0));
  });

  it('reports a lost connection, keeps the jobs, and recovers', async () => {
    await model.refresh();
    source.fault = new Error('The Jupyter server does not answer.');
    await model.refresh();
    expect(model.state().connectionError).toBe('The Jupyter server does not answer.');
    expect(model.state().jobs).toHaveLength(1);
    source.fault = null;
    await model.refresh();
    expect(model.state().connectionError).toBeNull();
  });

  it('shows a stopped job as soon as the service reports it', async () => {
    await model.refresh();
    await model.stop(['trastuzumab']);
    expect(model.state().jobs[0]?.status).toBe('Stopped');
    expect(model.state().pending.size).toBe(0);
  });

  it('reports why the user’s request failed', async () => {
    await model.refresh();
    source.deleteFaults = ['The job does not exist.'];
    await model.delete(['trastuzumab']);
    expect(model.state().requestError).toBe('The job does not exist.');
    expect(model.state().jobs).toHaveLength(1);
    model.dismissError();
    expect(model.state().requestError).toBeNull();
  });

  it('removes deleted jobs that are on an older page', async () => {
    source.answer = { ...source.answer, olderKey: 'old' };
    await model.refresh();
    await model.loadOlder();
    expect(names(model.state().jobs)).toEqual(['trastuzumab', 'old']);
    await model.delete(['old']);
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
  });

  it('keeps restored jobs, and reports those that were already deleted', async () => {
    source.kept = ['trastuzumab'];
    await model.refresh();
    await model.delete(['trastuzumab'], 8);
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
    await model.undoDelete(['trastuzumab', 'gone']);
    expect(model.state().requestError).toContain('Already deleted: gone');
  });

  it('updates the tags of jobs on an older page', async () => {
    source.answer = { ...source.answer, olderKey: 'old' };
    await model.refresh();
    await model.loadOlder();
    await model.tag(['old'], ['lead'], []);
    expect(model.find('old')?.tags).toEqual(['lead']);
  });

  it('loads the jobs of a batch when it is expanded', async () => {
    model.toggleBatch('panel');
    expect(model.state().open.get('panel')).toBeNull();
    await vi.waitFor(() => expect(names(model.state().open.get('panel') ?? [])).toEqual(['panel-1']));
    model.toggleBatch('panel');
    expect(model.state().open.has('panel')).toBe(false);
  });
});

describe('a batch in the list', () => {
  it('shows the response to the latest request for its jobs, even if an earlier one arrives later', async () => {
    const answers: ((response: OlderResponse) => void)[] = [];
    source.subjobs = () => new Promise(resolve => answers.push(resolve));
    const page = (status: JobRecord['status']): OlderResponse => ({
      jobs: [makeJob({ jobName: 'panel-1', status })],
      olderKey: null
    });
    model.toggleBatch('panel');
    source.answer = makeResponse([makeJob({ jobName: 'panel' })]);
    await model.refresh();
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.(page('Complete'));
    await pause(0);
    answers[0]?.(page('Running'));
    await pause(0);
    expect(model.find('panel-1')?.status).toBe('Complete');
  });

  it('is not affected by the deletion of a job of the same name at the previous service', async () => {
    let end: () => void = () => undefined;
    source.delete = async names => {
      await new Promise<void>(go => (end = go));
      return { gone: names, faults: [] };
    };
    await model.refresh();
    const deleting = model.delete(['trastuzumab']);
    model.reset();
    await model.refresh();
    end();
    await deleting;
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
  });
});

/** A source whose requests the test answers one by one. */
class HeldSource extends MemorySource {
  readonly requests: { tag: string | null; respond: (response: Tagged<JobsResponse>) => void }[] = [];

  override jobs(tag: string | null): Promise<Tagged<JobsResponse>> {
    return new Promise(resolve => this.requests.push({ tag, respond: resolve }));
  }
}

describe('two concurrent requests', () => {
  const later = (fields: Partial<JobsResponse>): JobsResponse => ({
    ...makeResponse([]),
    isWhole: false,
    ...fields
  });
  let held: HeldSource;

  beforeEach(async () => {
    held = new HeldSource();
    model = new JobsModel(held, { wait: 40, pause: 1 });
    model.watch();
    await vi.waitFor(() => expect(held.requests.length).toBe(1));
    held.requests[0]?.respond({ body: makeResponse([makeJob({ jobName: 'first' })]), tag: 't1' });
    await vi.waitFor(() => expect(held.requests.length).toBe(2));
    void model.refresh();
    await vi.waitFor(() => expect(held.requests.length).toBe(3));
  });

  it('that are answered out of order lead to the latest list', async () => {
    held.requests[2]?.respond({ body: later({ jobs: [makeJob({ jobName: 'second' })] }), tag: 't2' });
    await vi.waitFor(() => expect(names(model.state().jobs)).toEqual(['second', 'first']));
    held.requests[1]?.respond({ body: later({ jobs: [makeJob({ jobName: 'third' })] }), tag: 't3' });
    await vi.waitFor(() => expect(held.requests[3]?.tag).toBe('t2'));
    held.requests[3]?.respond({
      body: later({ removed: ['second'], jobs: [makeJob({ jobName: 'third' })] }),
      tag: 't3'
    });
    await vi.waitFor(() => expect(names(model.state().jobs)).toEqual(['third', 'first']));
  });

  it('keep the later response’s tag if the earlier one reports no change', async () => {
    held.requests[2]?.respond({ body: makeResponse([]), tag: 't2' });
    await vi.waitFor(() => expect(model.state().jobs).toEqual([]));
    held.requests[1]?.respond({ body: null, tag: 't1' });
    await vi.waitFor(() => expect(held.requests[3]?.tag).toBe('t2'));
  });

  it('do not mix the jobs of the previous service with those of the selected one', async () => {
    model.reset();
    held.requests[2]?.respond({ body: makeResponse([makeJob({ jobName: 'of before' })]), tag: 't2' });
    await vi.waitFor(() => expect(held.requests[3]?.tag).toBeNull());
    held.requests[3]?.respond({
      body: { ...makeResponse([makeJob({ jobName: 'new' })]), olderKey: 'k' },
      tag: 'n1'
    });
    await vi.waitFor(() => expect(names(model.state().jobs)).toEqual(['new']));
    expect(model.state().hasOlder).toBe(true);
  });
});

describe('mergeResponse', () => {
  const old = { jobName: 'old', created: '2026-11-20T10:00:00.000Z' };
  const known = [makeJob({ jobName: 'b' }), makeJob({ jobName: 'a' }), makeJob(old)];

  it('puts new jobs first, updates others in place and removes deleted ones', () => {
    const jobs = [makeJob({ jobName: 'c' }), makeJob({ jobName: 'a', status: 'Complete' })];
    const merged = mergeResponse(known, { jobs, removed: ['b'], isWhole: false, olderKey: null });
    expect(names(merged)).toEqual(['c', 'a', 'old']);
    expect(merged[1]?.status).toBe('Complete');
  });

  it('keeps older pages after a full response, unless there are no older jobs', () => {
    const jobs = [makeJob({ jobName: 'c' }), makeJob({ jobName: 'a' })];
    const whole = { jobs, removed: [], isWhole: true };
    expect(names(mergeResponse(known, { ...whole, olderKey: 'k' }))).toEqual(['c', 'a', 'old']);
    expect(names(mergeResponse(known, { ...whole, olderKey: null }))).toEqual(['c', 'a']);
  });
});
