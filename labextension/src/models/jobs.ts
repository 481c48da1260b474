/**
 * What the page knows about jobs. It asks the server extension, never the job service, and only while a view watches and
 * the page can be seen. The server answers when something changed, so that one question lasts long.
 */
import { Poll } from '@lumino/polling';

import type { JobRecord, JobsAnswer, OlderAnswer, ServiceReport, StatusCounts, Tagged } from '../api/answers';
import { readSubjobs, type BatchSource } from './batch';
import { appendOlder, mergeAnswer } from './joblist';
import { mixTags } from './tags';
import { Store } from './store';
import { sentenceOf } from './text';

/** Where jobs come from. */
export interface JobsSource extends BatchSource {
  jobs(tag: string | null, waitS: number, signal?: AbortSignal): Promise<Tagged<JobsAnswer>>;
  older(key: string): Promise<OlderAnswer>;
  hurry(): Promise<void>;
  stop(names: readonly string[]): Promise<readonly string[]>;
  delete(names: readonly string[], delayS: number): Promise<Departure>;
  keep(names: readonly string[]): Promise<readonly string[]>;
  tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void>;
  log(name: string): Promise<string>;
}

/** How a deletion ended. */
export interface Departure {
  /** Names that were not kept. */
  readonly gone: readonly string[];
  /** What could not be done. */
  readonly faults: readonly string[];
}

/** How the Jupyter server is asked, in milliseconds; how often that one asks the service is its own affair. */
export interface Pace {
  /** How long the server may hold a question until something changes. */
  readonly wait: number;
  /** Between two questions. */
  readonly pause: number;
}

/** Everything a view shows about jobs. */
export interface JobsState {
  /** Newest first. */
  readonly jobs: readonly JobRecord[];
  readonly statuses: StatusCounts | null;
  /** Whether there are older jobs that are not in `jobs`. */
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  /** Jobs of open batches by the batch's name; null while they are asked for. */
  readonly open: ReadonlyMap<string, readonly JobRecord[] | null>;
  /** Null before the first answer. */
  readonly service: ServiceReport | null;
  /** Why the Jupyter server itself did not answer; null while it does. */
  readonly lost: string | null;
  /** Milliseconds since 1970 of the last answer; ages are counted to here. */
  readonly receivedAt: number;
  /** Names of the jobs with a request of the user under way. */
  readonly pending: ReadonlySet<string>;
  /** Why the last request of the user failed; null when it did not. */
  readonly complaint: string | null;
}

const PACE: Pace = { wait: 25_000, pause: 250 };

/** The first pause after a failure; later ones grow to half a minute. */
const RETRY_MS = 1000;

const ACT_WAIT_MS = 1500;

/** The state before anybody asked. */
export const EMPTY: JobsState = {
  jobs: [],
  statuses: null,
  hasOlder: false,
  isLoadingOlder: false,
  open: new Map(),
  service: null,
  lost: null,
  receivedAt: 0,
  pending: new Set(),
  complaint: null
};

/** The jobs of the account, kept fresh while somebody watches. */
export class JobsModel extends Store<JobsState> {
  constructor(source: JobsSource, pace: Pace = PACE) {
    super(EMPTY);
    this.source = source;
    this.pace = pace;
    this.poll = new Poll({
      name: 'foldnote:jobs',
      auto: false,
      standby: 'never', // the question under way is given up as soon as the page is hidden
      frequency: { interval: RETRY_MS, backoff: true },
      factory: () => this.follow()
    });
    document.addEventListener('visibilitychange', this.onVisibility);
  }

  /** Keeps the jobs fresh until the returned function is called. */
  watch(): () => void {
    this.watchers += 1;
    this.begin();
    let isOver = false;
    return () => {
      if (!isOver) {
        isOver = true;
        this.watchers -= 1;
        this.pauseIfUnwatched();
      }
    };
  }

  /** Has the service asked at once; resolves when its answer is in the state, or told why there is none. */
  async refresh(): Promise<void> {
    try {
      await this.source.hurry();
      await this.ask(0);
    } catch (error) {
      this.update({ lost: sentenceOf(error) });
    }
    this.begin();
  }

  /** Forgets everything: another service is meant from now on. */
  reset(): void {
    this.giveUp();
    this.era += 1;
    this.mark = null;
    this.olderKey = null;
    this.isBeyondHead = false;
    this.update({ ...EMPTY });
    this.begin();
  }

  /** Asks for the page of jobs that follows after the oldest one known. */
  async loadOlder(): Promise<void> {
    const key = this.olderKey;
    if (key === null || this.state().isLoadingOlder) {
      return;
    }
    const { era } = this;
    this.update({ isLoadingOlder: true });
    try {
      const page = await this.source.older(key);
      if (this.era !== era) {
        return;
      }
      this.olderKey = page.olderKey;
      this.isBeyondHead = true;
      this.update({
        jobs: appendOlder(this.state().jobs, page.jobs),
        hasOlder: page.olderKey !== null
      });
    } catch (error) {
      this.update({ complaint: sentenceOf(error) });
    } finally {
      this.update({ isLoadingOlder: false });
    }
  }

  /** Opens or closes a batch in the list. */
  toggleBatch(name: string): void {
    const open = new Map(this.state().open);
    if (open.delete(name)) {
      this.update({ open });
    } else {
      this.update({ open: open.set(name, null) });
      void this.loadBatch(name);
    }
  }

  /** Asks the service to stop the jobs. */
  stop(names: readonly string[]): Promise<void> {
    return this.act(names, () => this.source.stop(names));
  }

  /** Deletes the jobs and their results after `delayS` seconds, unless they are kept; it ends when that is done. */
  delete(names: readonly string[], delayS = 0): Promise<void> {
    return this.act(names, async () => {
      const { gone, faults } = await this.source.delete(names, delayS);
      if (faults.length === 0) {
        this.forget(new Set(gone)); // the server follows the newest jobs only
      }
      return faults;
    });
  }

  /** Undoes deletions that have not begun. */
  keep(names: readonly string[]): Promise<void> {
    return this.act([], async () => {
      const kept = new Set(await this.source.keep(names));
      const late = names.filter(name => !kept.has(name));
      return late.length === 0 ? [] : [`Too late: ${late.slice(0, 3).join(', ')} is deleted already.`];
    });
  }

  /** Adds tags to jobs and takes others away. */
  tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void> {
    return this.act(names, async () => {
      await this.source.tag(names, added, removed);
      this.note(new Set(names), added, removed);
      return [];
    });
  }

  /** The end of the job's log. */
  readonly log = (name: string): Promise<string> => this.source.log(name);

  /** The record of a job, also of one in an open batch. */
  find(name: string): JobRecord | undefined {
    const { jobs, open } = this.state();
    const isMeant = (job: JobRecord): boolean => job.jobName === name;
    return jobs.find(isMeant) ?? [...open.values()].flatMap(subjobs => subjobs ?? []).find(isMeant);
  }

  /** Shows why something that a person wanted failed. */
  complain(error: unknown): void {
    this.update({ complaint: sentenceOf(error) });
  }

  /** Forgets why the last request failed. */
  dismissComplaint(): void {
    this.update({ complaint: null });
  }

  /** Stops asking for good. */
  dispose(): void {
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.watchers = 0;
    this.giveUp();
    this.poll.dispose();
  }

  private get isWanted(): boolean {
    return this.watchers > 0 && !document.hidden;
  }

  private begin(): void {
    if (this.isWanted && this.asking === null) {
      this.asking = new AbortController();
      void this.poll.start();
    }
  }

  private giveUp(): void {
    this.asking?.abort();
    this.asking = null;
    void this.poll.stop();
  }

  private pauseIfUnwatched(): void {
    if (!this.isWanted) {
      this.giveUp();
    }
  }

  /** Asks once; the poll asks again after a pause, which grows while the server does not answer. */
  private async follow(): Promise<void> {
    const signal = this.asking?.signal;
    try {
      await this.ask(this.pace.wait, signal);
      if (!signal?.aborted) {
        void this.poll.schedule({ interval: this.pace.pause });
      }
    } catch (error) {
      if (!signal?.aborted) {
        this.update({ lost: sentenceOf(error) });
        throw error;
      }
    }
  }

  private async ask(waitMs: number, signal?: AbortSignal): Promise<void> {
    const { era } = this;
    for (;;) {
      const base = this.mark;
      const answer = await this.source.jobs(base, waitMs / 1000, signal);
      if (signal?.aborted || this.era !== era) {
        return;
      }
      if (this.mark === base || answer.body?.isWhole === true) {
        this.mark = answer.tag;
        this.take(answer.body);
        return;
      }
      // Another question was answered meanwhile: what is new since `base` is not what is new since then.
    }
  }

  private take(body: JobsAnswer | null): void {
    const heard = { lost: null, receivedAt: Date.now() };
    if (body === null) {
      this.update(heard);
      return;
    }
    const { jobs, open } = this.state();
    if (!this.isBeyondHead) {
      this.olderKey = body.olderKey;
    }
    const merged = mergeAnswer(jobs, body);
    this.update({
      ...heard,
      jobs: merged,
      statuses: body.statuses,
      hasOlder: this.olderKey !== null,
      service: body.service
    });
    const changed = new Set(body.jobs.map(job => job.jobName));
    for (const name of open.keys()) {
      if (changed.has(name)) {
        void this.loadBatch(name);
      }
    }
  }

  private async loadBatch(name: string): Promise<void> {
    try {
      const found = await readSubjobs(this.source, name, null);
      if (this.state().open.has(name)) {
        this.update({ open: new Map(this.state().open).set(name, found) });
      }
    } catch (error) {
      const open = new Map(this.state().open);
      open.delete(name);
      this.update({ open, complaint: sentenceOf(error) });
    }
  }

  private forget(names: ReadonlySet<string>): void {
    const left = (jobs: readonly JobRecord[]): readonly JobRecord[] => jobs.filter(job => !names.has(job.jobName));
    const { jobs, open } = this.state();
    const batches = [...open].map(([name, subjobs]) => [name, subjobs && left(subjobs)] as const);
    this.update({ jobs: left(jobs), open: new Map(batches) });
  }

  /** Puts the tags on what the page holds: the server tells of the newest jobs only. */
  private note(names: ReadonlySet<string>, added: readonly string[], removed: readonly string[]): void {
    const tagged = (job: JobRecord): JobRecord =>
      names.has(job.jobName) ? { ...job, tags: mixTags(job.tags ?? [], added, removed) } : job;
    const { jobs, open } = this.state();
    const batches = [...open].map(([name, subjobs]) => [name, subjobs?.map(tagged) ?? null] as const);
    this.update({ jobs: jobs.map(tagged), open: new Map(batches) });
  }

  private async act(names: readonly string[], request: () => Promise<readonly string[]>): Promise<void> {
    this.update({ pending: new Set([...this.state().pending, ...names]), complaint: null });
    try {
      const faults = await request();
      if (faults.length > 0) {
        this.update({ complaint: faults.slice(0, 3).join(' ') });
      }
      await this.ask(Math.min(ACT_WAIT_MS, this.pace.wait));
    } catch (error) {
      this.update({ complaint: sentenceOf(error) });
    } finally {
      this.update({ pending: new Set([...this.state().pending].filter(name => !names.includes(name))) });
    }
  }

  private readonly onVisibility = (): void => {
    this.pauseIfUnwatched();
    this.begin();
  };

  private readonly source: JobsSource;
  private readonly pace: Pace;
  private readonly poll: Poll;
  private watchers = 0;
  private asking: AbortController | null = null;
  private mark: string | null = null;
  /** Goes up when another service is meant: answers of the one before are late. */
  private era = 0;
  private olderKey: string | null = null;
  private isBeyondHead = false;
}
