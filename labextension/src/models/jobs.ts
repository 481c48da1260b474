/**
 * The page's model of jobs. It polls the server extension, never the job service, and only while a view is watching and
 * the page is visible. The server holds each request until something has changed.
 */
import { Poll } from '@lumino/polling';

import type { JobRecord, JobsResponse, OlderResponse, ServiceReport, StatusCounts, Tagged } from '../api/responses';
import { readSubjobs, type BatchSource } from './batch';
import { appendOlder, mergeResponse } from './joblist';
import { shownState, stateRow } from './status';
import { mergeTags } from './tags';
import { Store } from './store';
import { sentenceOf } from './text';

/** Source of jobs. */
export interface JobsSource extends BatchSource {
  jobs(tag: string | null, waitS: number, signal?: AbortSignal): Promise<Tagged<JobsResponse>>;
  older(key: string): Promise<OlderResponse>;
  hurry(): Promise<void>;
  stop(names: readonly string[]): Promise<readonly string[]>;
  delete(names: readonly string[], delayS: number): Promise<DeletionOutcome>;
  keep(names: readonly string[], profile?: string): Promise<readonly string[]>;
  tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void>;
  log(name: string): Promise<string>;
}

/** Outcome of a deletion. */
export interface DeletionOutcome {
  /** Names of the jobs that were not kept. */
  readonly gone: readonly string[];
  /** Errors. */
  readonly faults: readonly string[];
}

/** Polling of the Jupyter server, in milliseconds; the server polls the service at its own rate. */
export interface Pace {
  /** How long the server may hold a request until something has changed. */
  readonly wait: number;
  /** Pause between two requests. */
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
  /** Jobs of expanded batches by the batch's name; null while loading. */
  readonly open: ReadonlyMap<string, readonly JobRecord[] | null>;
  /** Null before the first answer. */
  readonly service: ServiceReport | null;
  /** Why the Jupyter server did not respond; null if it did. */
  readonly lost: string | null;
  /** Time of the last response in milliseconds since 1970, from which ages are computed. */
  readonly receivedAt: number;
  /** Names of the jobs with a pending request of the user. */
  readonly pending: ReadonlySet<string>;
  /** Why the user's last request failed; null if it did not. */
  readonly complaint: string | null;
}

const PACE: Pace = { wait: 25_000, pause: 250 };

/** The first pause after a failure in milliseconds; later ones grow to half a minute. */
const RETRY_MS = 1000;

const ACT_WAIT_MS = 1500;

/** Initial state. */
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

/** The jobs of the account, polled while anything is watching. */
export class JobsModel extends Store<JobsState> {
  constructor(source: JobsSource, pace: Pace = PACE) {
    super(EMPTY);
    this.source = source;
    this.pace = pace;
    this.poll = new Poll({
      name: 'foldnote:jobs',
      auto: false,
      standby: 'never', // the current request is aborted as soon as the page is hidden
      frequency: { interval: RETRY_MS, backoff: true },
      factory: () => this.follow()
    });
    document.addEventListener('visibilitychange', this.onVisibility);
  }

  /** Starts polling; call the returned function to stop. */
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

  /** Polls the service at once; resolves when the state has the response or the failure. */
  async refresh(): Promise<void> {
    try {
      await this.source.hurry();
      await this.ask(0);
    } catch (error) {
      this.update({ lost: sentenceOf(error) });
    }
    this.begin();
  }

  /** Polls at once if the list is being watched and lacks the end of this job, which a card has reported. */
  noteEnd(name: string): void {
    this.ends = this.ends.then(() => {
      const known = this.find(name);
      const isListed = known !== undefined && stateRow(shownState(known)).isFinal;
      return this.isWanted && !isListed ? this.refresh() : undefined;
    });
  }

  /** Resets the state after switching to another service. */
  reset(): void {
    this.giveUp();
    this.era += 1;
    this.mark = null;
    this.olderKey = null;
    this.isBeyondHead = false;
    this.update(EMPTY);
    this.begin();
  }

  /** Requests the page after the oldest known job. */
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

  /** Expands or collapses a batch in the list. */
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

  /** Deletes jobs and their results after `delayS` seconds, unless undone; resolves after the deletion. */
  delete(names: readonly string[], delayS = 0): Promise<void> {
    return this.act(names, async () => {
      const { era } = this;
      const { gone, faults } = await this.source.delete(names, delayS);
      if (faults.length === 0 && this.era === era) {
        this.forget(new Set(gone)); // the server polls only the newest jobs
      }
      return faults;
    });
  }

  /** Undoes pending deletions, by default at the selected service. */
  keep(names: readonly string[], profile?: string): Promise<void> {
    return this.act([], async () => {
      const kept = new Set(await this.source.keep(names, profile));
      const late = names.filter(name => !kept.has(name));
      return late.length === 0
        ? []
        : [
            `The deletion cannot be undone. Already deleted: ${late.slice(0, 3).join(', ')}${late.length > 3 ? ' …' : ''}`
          ];
    });
  }

  /** Adds and removes tags of jobs. */
  tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void> {
    return this.act(names, async () => {
      await this.source.tag(names, added, removed);
      this.note(new Set(names), added, removed);
      return [];
    });
  }

  /** Gets the end of a job's log. */
  readonly log = (name: string): Promise<string> => this.source.log(name);

  /** The record of a job, also of one in an expanded batch. */
  find(name: string): JobRecord | undefined {
    const { jobs, open } = this.state();
    const isMeant = (job: JobRecord): boolean => job.jobName === name;
    return jobs.find(isMeant) ?? [...open.values()].flatMap(subjobs => subjobs ?? []).find(isMeant);
  }

  /** Shows why the user's request failed. */
  complain(error: unknown): void {
    this.update({ complaint: sentenceOf(error) });
  }

  /** Clears the message of the last failure. */
  dismissComplaint(): void {
    this.update({ complaint: null });
  }

  /** Stops polling for good. */
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

  /** Polls once; the pause before the next poll grows while the server does not answer. */
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
      // Another request was answered meanwhile, so the differences since `base` no longer apply.
    }
  }

  private take(body: JobsResponse | null): void {
    const heard = { lost: null, receivedAt: Date.now() };
    if (body === null) {
      this.update(heard);
      return;
    }
    const { jobs, open } = this.state();
    if (!this.isBeyondHead) {
      this.olderKey = body.olderKey;
    }
    const merged = mergeResponse(jobs, body);
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
    const asked = readSubjobs(this.source, name, null);
    this.loading.set(name, asked);
    const found = await asked.catch(sentenceOf);
    const open = new Map(this.state().open);
    if (this.loading.get(name) !== asked || !open.has(name)) {
      return; // requested again, collapsed or reset meanwhile
    }
    if (typeof found === 'string') {
      open.delete(name);
      this.update({ open, complaint: found });
    } else {
      this.update({ open: open.set(name, found) });
    }
  }

  private forget(names: ReadonlySet<string>): void {
    const left = (jobs: readonly JobRecord[]): readonly JobRecord[] => jobs.filter(job => !names.has(job.jobName));
    const { jobs, open } = this.state();
    const batches = [...open].map(([name, subjobs]) => [name, subjobs && left(subjobs)] as const);
    this.update({ jobs: left(jobs), open: new Map(batches) });
  }

  /** Applies the tags to all jobs on the page, since the server reports only the newest ones. */
  private note(names: ReadonlySet<string>, added: readonly string[], removed: readonly string[]): void {
    const tagged = (job: JobRecord): JobRecord =>
      names.has(job.jobName) ? { ...job, tags: mergeTags(job.tags ?? [], added, removed) } : job;
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
  /** Incremented when switching to another service, to ignore late answers of the previous one. */
  private era = 0;
  private ends: Promise<void> = Promise.resolve();
  private olderKey: string | null = null;
  private isBeyondHead = false;
  /** The latest request for the jobs of each batch. */
  private readonly loading = new Map<string, Promise<unknown>>();
}
