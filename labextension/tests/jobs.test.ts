import type { JobsAnswer, Tagged } from '../src/api/answers';
import { JobsModel, type JobsSource } from '../src/models/jobs';
import { makeAnswer, makeJob } from './records';

/** A source that keeps a list of jobs in memory and counts what it is asked. */
class MemorySource implements JobsSource {
  answer: JobsAnswer = makeAnswer([makeJob()]);
  tags: (string | null)[] = [];
  fault: Error | null = null;

  jobs(tag: string | null): Promise<Tagged<JobsAnswer>> {
    this.tags.push(tag);
    if (this.fault) {
      return Promise.reject(this.fault);
    }
    const current = JSON.stringify(this.answer);
    return Promise.resolve({ body: tag === current ? null : this.answer, tag: current });
  }

  stop(name: string): Promise<void> {
    this.answer = makeAnswer([makeJob({ jobName: name, status: 'Stopped' })]);
    return Promise.resolve();
  }

  delete(): Promise<void> {
    return Promise.reject(new Error('The job does not exist.'));
  }

  log(): Promise<string> {
    return Promise.resolve('line');
  }
}

let source: MemorySource;
let model: JobsModel;

beforeEach(() => {
  source = new MemorySource();
  model = new JobsModel(source, { busy: 10, idle: 30, longest: 60 });
});

afterEach(() => model.dispose());

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

describe('JobsModel', () => {
  it('asks nothing before somebody watches', async () => {
    await pause(60);
    expect(source.tags).toEqual([]);
    expect(model.state().service).toBeNull();
  });

  it('holds the jobs after the first look', async () => {
    await model.refresh();
    expect(model.state().jobs.map(job => job.jobName)).toEqual(['trastuzumab']);
    expect(model.state().service?.state).toBe('ok');
  });

  it('keeps its list when the server says that nothing changed', async () => {
    await model.refresh();
    const { jobs } = model.state();
    await model.refresh();
    expect(source.tags.at(-1)).not.toBeNull();
    expect(model.state().jobs).toBe(jobs);
  });

  it('goes on asking while it is watched and stops afterwards', async () => {
    const unwatch = model.watch();
    await pause(80);
    expect(source.tags.length).toBeGreaterThan(2);
    unwatch();
    await pause(30);
    const asked = source.tags.length;
    await pause(80);
    expect(source.tags.length).toBe(asked);
  });

  it('asks nothing while the page is hidden', async () => {
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    model.watch();
    await pause(30);
    const asked = source.tags.length;
    await pause(60);
    expect(source.tags.length).toBe(asked);
    hidden.mockRestore();
  });

  it('says that the server is lost, keeps the jobs, and recovers', async () => {
    await model.refresh();
    source.fault = new Error('The Jupyter server does not answer.');
    await model.refresh();
    expect(model.state().lost).toBe('The Jupyter server does not answer.');
    expect(model.state().jobs).toHaveLength(1);
    source.fault = null;
    await model.refresh();
    expect(model.state().lost).toBeNull();
  });

  it('shows a stopped job as soon as the service knows', async () => {
    await model.refresh();
    await model.stop('trastuzumab');
    expect(model.state().jobs[0]?.status).toBe('Stopped');
    expect(model.state().pending.size).toBe(0);
  });

  it('tells why a request of the user failed', async () => {
    await model.delete('gone');
    expect(model.state().complaint).toBe('The job does not exist.');
    model.dismissComplaint();
    expect(model.state().complaint).toBeNull();
  });
});
