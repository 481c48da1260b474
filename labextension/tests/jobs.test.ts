import type { JobRecord, JobsResponse, OlderResponse, Tagged } from '../src/api/responses';
import { mergeResponse } from '../src/models/jobs/joblist';
import { JobsModel, type DeletionOutcome, type JobsSource } from '../src/models/jobs/jobs';
import { makeResponse, makeJob } from './records';

/** A source that keeps a list of jobs in memory, holds questions while nothing changes, and counts what it is asked. */
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
  it('polls once at the end of a job that a card tells of, unless nobody watches or the list has it', async () => {
    const hurry = vi.spyOn(source, 'pollNow');
    source.answer = makeResponse([makeJob({ jobName: 'ab', status: 'Running' })]);
    model.noteEnd('ab');
    await pause(20);
    expect(hurry).not.toHaveBeenCalled();
    const stop = model.watch();
    await vi.waitUntil(() => model.find('ab') !== undefined);
    source.answer = makeResponse([makeJob({ jobName: 'ab', status: 'Complete' })]);
    model.noteEnd('ab');
    model.noteEnd('ab');
    await vi.waitUntil(() => model.find('ab')?.status === 'Complete');
    await pause(20);
    model.noteEnd('ab');
    await pause(20);
    expect(hurry).toHaveBeenCalledTimes(1);
    stop();
  });

  it('asks nothing before somebody watches', async () => {
    await pause(60);
    expect(source.tags).toEqual([]);
    expect(model.state().service).toBeNull();
  });

  it('holds the jobs after the first look', async () => {
    await model.refresh();
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
    expect(model.state().service?.state).toBe('ok');
  });

  it('keeps its list when the server says that nothing changed', async () => {
    await model.refresh();
    const { jobs } = model.state();
    await model.refresh();
    expect(source.tags.at(-1)).not.toBeNull();
    expect(model.state().jobs).toBe(jobs);
  });

  it('shows a change as soon as the server tells, with one question under way', async () => {
    model = new JobsModel(source, { wait: 20_000, pause: 1 });
    model.watch();
    await vi.waitFor(() => expect(source.tags).toHaveLength(2));
    const asked = source.tags.length;
    source.answer = makeResponse([makeJob({ status: 'Complete' })]);
    await vi.waitFor(() => expect(model.state().jobs[0]?.status).toBe('Complete'));
    expect(source.tags.length - asked).toBeLessThan(3);
  });

  it('goes on asking while it is watched and stops afterwards', async () => {
    const unwatch = model.watch();
    await pause(150);
    expect(source.tags.length).toBeGreaterThan(2);
    unwatch();
    await pause(30);
    const asked = source.tags.length;
    await pause(100);
    expect(source.tags.length).toBe(asked);
  });

  it('asks nothing while the page is hidden', async () => {
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    model.watch();
    await pause(60);
    expect(source.tags).toEqual([]);
    hidden.mockRestore();
    document.dispatchEvent(new Event('visibilitychange'));
    await vi.waitFor(() => expect(source.tags.length).toBeGreaterThan(0));
  });

  it('says that the server is lost, keeps the jobs, and recovers', async () => {
    await model.refresh();
    source.fault = new Error('The Jupyter server does not answer.');
    await model.refresh();
    expect(model.state().connectionError).toBe('The Jupyter server does not answer.');
    expect(model.state().jobs).toHaveLength(1);
    source.fault = null;
    await model.refresh();
    expect(model.state().connectionError).toBeNull();
  });

  it('shows a stopped job as soon as the service knows', async () => {
    await model.refresh();
    await model.stop(['trastuzumab']);
    expect(model.state().jobs[0]?.status).toBe('Stopped');
    expect(model.state().pending.size).toBe(0);
  });

  it('tells why a request of the user failed', async () => {
    await model.refresh();
    source.deleteFaults = ['The job does not exist.'];
    await model.delete(['trastuzumab']);
    expect(model.state().requestError).toBe('The job does not exist.');
    expect(model.state().jobs).toHaveLength(1);
    model.dismissError();
    expect(model.state().requestError).toBeNull();
  });

  it('forgets deleted jobs that the server follows no more', async () => {
    source.answer = { ...source.answer, olderKey: 'old' };
    await model.refresh();
    await model.loadOlder();
    expect(names(model.state().jobs)).toEqual(['trastuzumab', 'old']);
    await model.delete(['old']);
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
  });

  it('keeps what was kept, and says when it was too late to', async () => {
    source.kept = ['trastuzumab'];
    await model.refresh();
    await model.delete(['trastuzumab'], 8);
    expect(names(model.state().jobs)).toEqual(['trastuzumab']);
    await model.undoDelete(['trastuzumab', 'gone']);
    expect(model.state().requestError).toContain('Already deleted: gone');
  });

  it('puts tags on older jobs, too, which the server follows no more', async () => {
    source.answer = { ...source.answer, olderKey: 'old' };
    await model.refresh();
    await model.loadOlder();
    await model.tag(['old'], ['lead'], []);
    expect(model.find('old')?.tags).toEqual(['lead']);
  });

  it('loads the jobs of a batch when it is opened', async () => {
    model.toggleBatch('panel');
    expect(model.state().open.get('panel')).toBeNull();
    await vi.waitFor(() => expect(names(model.state().open.get('panel') ?? [])).toEqual(['panel-1']));
    model.toggleBatch('panel');
    expect(model.state().open.has('panel')).toBe(false);
  });
});

describe('a batch in the list', () => {
  it('shows the latest answer about its jobs, also when an earlier one comes after it', async () => {
    const answers: ((said: OlderResponse) => void)[] = [];
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

  it('stays as it is when a job of its name was deleted at the service that was left', async () => {
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

/** A source whose questions are answered when the test says so. */
class HeldSource extends MemorySource {
  readonly asked: { tag: string | null; answer: (said: Tagged<JobsResponse>) => void }[] = [];

  override jobs(tag: string | null): Promise<Tagged<JobsResponse>> {
    return new Promise(resolve => this.asked.push({ tag, answer: resolve }));
  }
}

describe('two questions at once', () => {
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
    await vi.waitFor(() => expect(held.asked.length).toBe(1));
    held.asked[0]?.answer({ body: makeResponse([makeJob({ jobName: 'first' })]), tag: 't1' });
    await vi.waitFor(() => expect(held.asked.length).toBe(2));
    void model.refresh();
    await vi.waitFor(() => expect(held.asked.length).toBe(3));
  });

  it('that are answered crosswise end in what was told last, of what is known', async () => {
    held.asked[2]?.answer({ body: later({ jobs: [makeJob({ jobName: 'second' })] }), tag: 't2' });
    await vi.waitFor(() => expect(names(model.state().jobs)).toEqual(['second', 'first']));
    held.asked[1]?.answer({ body: later({ jobs: [makeJob({ jobName: 'third' })] }), tag: 't3' });
    await vi.waitFor(() => expect(held.asked[3]?.tag).toBe('t2'));
    held.asked[3]?.answer({
      body: later({ removed: ['second'], jobs: [makeJob({ jobName: 'third' })] }),
      tag: 't3'
    });
    await vi.waitFor(() => expect(names(model.state().jobs)).toEqual(['third', 'first']));
  });

  it('leave the mark of the later one when the earlier one says that nothing is new', async () => {
    held.asked[2]?.answer({ body: makeResponse([]), tag: 't2' });
    await vi.waitFor(() => expect(model.state().jobs).toEqual([]));
    held.asked[1]?.answer({ body: null, tag: 't1' });
    await vi.waitFor(() => expect(held.asked[3]?.tag).toBe('t2'));
  });

  it('of the service before say nothing of the one that is chosen now', async () => {
    model.reset();
    held.asked[2]?.answer({ body: makeResponse([makeJob({ jobName: 'of before' })]), tag: 't2' });
    await vi.waitFor(() => expect(held.asked[3]?.tag).toBeNull());
    held.asked[3]?.answer({
      body: { ...makeResponse([makeJob({ jobName: 'new' })]), olderKey: 'k' },
      tag: 'n1'
    });
    await vi.waitFor(() => expect(names(model.state().jobs)).toEqual(['new']));
    expect(model.state().hasOlder).toBe(true);
  });
});

describe('an answer with differences', () => {
  const old = { jobName: 'old', created: '2026-11-20T10:00:00.000Z' };
  const known = [makeJob({ jobName: 'b' }), makeJob({ jobName: 'a' }), makeJob(old)];

  it('puts new jobs to the front, changes others in place and drops what is gone', () => {
    const jobs = [makeJob({ jobName: 'c' }), makeJob({ jobName: 'a', status: 'Complete' })];
    const merged = mergeResponse(known, { jobs, removed: ['b'], isWhole: false, olderKey: null });
    expect(names(merged)).toEqual(['c', 'a', 'old']);
    expect(merged[1]?.status).toBe('Complete');
  });

  it('keeps older pages behind a whole answer, unless there is nothing older', () => {
    const jobs = [makeJob({ jobName: 'c' }), makeJob({ jobName: 'a' })];
    const whole = { jobs, removed: [], isWhole: true };
    expect(names(mergeResponse(known, { ...whole, olderKey: 'k' }))).toEqual(['c', 'a', 'old']);
    expect(names(mergeResponse(known, { ...whole, olderKey: null }))).toEqual(['c', 'a']);
  });
});
