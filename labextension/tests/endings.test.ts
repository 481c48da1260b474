/** What is told about jobs that end, and how long the page looks for it. */
import { Attention, type PolledJobs } from '../src/models/jobs/attention';
import { endingNote, Endings, endingSummary } from '../src/models/jobs/endings';
import { INITIAL, type JobsState } from '../src/models/jobs/jobs';
import { Store } from '../src/models/store';
import { makeJob, SERVICE } from './records';

function stateOf(...jobs: JobsState['jobs']): JobsState {
  return { ...INITIAL, jobs, service: SERVICE };
}

const RUNNING = makeJob();
const DONE = makeJob({ status: 'Complete' });

describe('Endings', () => {
  it('reports once a job that was unfinished before', () => {
    const endings = new Endings();
    expect(endings.findEnded(stateOf(RUNNING))).toEqual([]);
    expect(endings.findEnded(stateOf(DONE))).toEqual([DONE]);
    expect(endings.findEnded(stateOf(DONE))).toEqual([]);
  });

  it('does not report jobs that had ended when first seen', () => {
    expect(new Endings().findEnded(stateOf(DONE, makeJob({ jobName: 'b', status: 'Stopped' })))).toEqual([]);
  });

  it('does not report a deleted job, or a new job of the same name', () => {
    const endings = new Endings();
    endings.findEnded(stateOf(RUNNING));
    expect(endings.findEnded(stateOf())).toEqual([]);
    endings.findEnded(stateOf(RUNNING));
    const next = makeJob({ status: 'Complete', created: '2026-11-22T10:00:00.000Z' });
    expect(endings.findEnded(stateOf(next))).toEqual([]);
  });

  it('remembers unfinished jobs across a restart of the service', () => {
    const endings = new Endings();
    endings.findEnded(stateOf(RUNNING));
    endings.findEnded({ ...stateOf(), service: { ...SERVICE, state: 'starting' } });
    endings.findEnded({ ...stateOf(), connectionError: 'The Jupyter server does not answer.' });
    expect(endings.findEnded(stateOf(DONE))).toEqual([DONE]);
  });
});

describe('endingNote', () => {
  it.each([
    [{ status: 'Complete' as const }, 'success', 'Complete: trastuzumab (AbodyBuilder).'],
    [{ status: 'Stopped' as const }, 'info', 'Stopped: trastuzumab (AbodyBuilder).'],
    [
      { status: 'Stopped' as const, error: 'No heavy chain.' },
      'error',
      'Failed: trastuzumab (AbodyBuilder). No heavy chain.'
    ]
  ])('contains the state and the reason: %o', (change, tone, text) => {
    expect(endingNote(makeJob(change), 'AbodyBuilder')).toEqual({ tone, text });
  });

  it('is a warning for a batch with a failed job', () => {
    const statuses = { 'In Queue': 0, Running: 0, Complete: 19, Stopped: 1 };
    const job = makeJob({ type: 'batch', status: 'Complete', batchSize: 20, statuses, failed: 1 });
    const text = 'Complete, 1 failed: trastuzumab (AbodyBuilder, 19 of 20).';
    expect(endingNote(job, 'AbodyBuilder')).toEqual({ tone: 'warning', text });
  });

  it('truncates a long name and makes hidden characters visible', () => {
    const { text } = endingNote(makeJob({ jobName: `\u202e${'x'.repeat(100)}` }), 'T');
    expect(text).toMatch(/^Running: \ufffdx{58}… \(T\)\.$/);
  });

  it('summarises several jobs', () => {
    const failed = makeJob({ status: 'Stopped', error: 'No.' });
    const note = endingSummary([DONE, DONE, failed, DONE]);
    expect(note).toEqual({ tone: 'error', text: '4 jobs ended: 3 Complete, 1 Failed.' });
  });
});

/** Jobs that a test sets, and how many watch them. */
class Jobs extends Store<JobsState> implements PolledJobs {
  watchers = 0;

  constructor() {
    super(stateOf());
  }

  watch(): () => void {
    this.watchers += 1;
    return () => {
      this.watchers -= 1;
    };
  }

  set(...jobs: JobsState['jobs']): void {
    this.update(stateOf(...jobs));
  }
}

describe('Attention', () => {
  let jobs: Jobs;
  let attention: Attention;

  beforeEach(() => {
    vi.useFakeTimers();
    jobs = new Jobs();
    attention = new Attention(jobs, 1000);
    attention.enable(true);
  });

  afterEach(() => vi.useRealTimers());

  it('does not poll while all jobs have ended', () => {
    jobs.set(DONE);
    expect(jobs.watchers).toBe(0);
  });

  it('polls until the last job has ended', () => {
    jobs.set(RUNNING);
    jobs.set(RUNNING);
    expect(jobs.watchers).toBe(1);
    jobs.set(DONE);
    expect(jobs.watchers).toBe(0);
  });

  it('polls for a while when a new job is expected', () => {
    attention.expectJob();
    jobs.set();
    expect(jobs.watchers).toBe(1);
    vi.advanceTimersByTime(1001);
    jobs.set();
    expect(jobs.watchers).toBe(0);
  });

  it('does not poll when disabled', () => {
    attention.enable(false);
    jobs.set(RUNNING);
    attention.expectJob();
    expect(jobs.watchers).toBe(0);
  });
});
