/**
 * The page's model of jobs. It polls the server extension, never the job service, and only while a view is watching and
 * the page is visible. The server holds each request until something has changed.
 */
import { Poll } from '@lumino/polling';

import type { JobRecord, JobsResponse, OlderResponse, ServiceReport, StatusCounts, Tagged } from '../../api/responses';
import { readSubjobs, type BatchSource } from './batch';
import { appendOlder, mergeResponse } from './joblist';
import { shownState, stateRow } from './status';
import { mergeTags } from './tags';
import { Store } from '../store';
import { messageOf } from '../formatting/text';

/** Source of jobs. */
export interface JobsSource extends BatchSource {
  jobs(tag: string | null, waitS: number, signal?: AbortSignal): Promise<Tagged<JobsResponse>>;
  older(key: string): Promise<OlderResponse>;
  pollNow(): Promise<void>;
  stop(names: readonly string[]): Promise<readonly string[]>;
  delete(names: readonly string[], delayS: number): Promise<DeletionOutcome>;
  undoDelete(names: readonly string[], profile?: string): Promise<readonly string[]>;
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
  /** Null before the first response. */
  readonly service: ServiceReport | null;
  /** Why the Jupyter server did not respond; null if it did. */
  readonly connectionError: string | null;
  /** Time of the last response in milliseconds since 1970, from which ages are computed. */
  readonly receivedAt: number;
  /** Names of the jobs with a pending request of the user. */
  readonly pending: ReadonlySet<string>;
  /** Why the user's last request failed; null if it did not. */
  readonly requestError: string | null;
}

const PACE: Pace = { wait: 25_000, pause: 250 };

/** The first pause after a failure in milliseconds; later ones grow to half a minute. */
const RETRY_MS = 1000;

/** How long the server may wait for the effect of a request of the user. */
const REFRESH_WAIT_MS = 1500;

/** Initial state. */
export const INITIAL: JobsState = {
  jobs: [],
  statuses: null,
  hasOlder: false,
  isLoadingOlder: false,
  open: new Map(),
  service: null,
  connectionError: null,
  receivedAt: 0,
  pending: new Set(),
  requestError: null
};

/** The jobs of the account, polled while anything is watching. */
export class JobsModel extends Store<JobsState> {
  constructor(source: JobsSource, pace: Pace = PACE) {
    super(INITIAL);
    this.source = source;
    this.pace = pace;
    this.poll = new Poll({
      name: 'foldnote:jobs',
      auto: false,
      standby: 'never', // the current request is aborted as soon as the page is hidden
      frequency: { interval: RETRY_MS, backoff: true },
      factory: () => this.pollOnce()
    });
    document.addEventListener('visibilitychange', this.onVisibility);
  }

  /** Starts polling; call the returned function to stop. */
  watch(): () => void {
    this.watchers += 1;
    this.startPolling();
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
      await this.source.pollNow();
      await this.fetchJobs(0);
    } catch (error) {
      this.update({ connectionError: messageOf(error) });
    }
    this.startPolling();
  }

  /** Polls at once if the list is being watched and lacks the end of this job, which a card has reported. */
  noteEnd(name: string): void {
    this.endChecks = this.endChecks.then(() => {
      const known = this.find(name);
      const isListed = known !== undefined && stateRow(shownState(known)).isFinal;
      return this.shouldPoll && !isListed ? this.refresh() : undefined;
    });
  }

  /** Resets the state after switching to another service. */
  reset(): void {
    this.abortPolling();
    this.generation += 1;
    this.etag = null;
    this.olderKey = null;
    this.hasLoadedOlder = false;
    this.update(INITIAL);
    this.startPolling();
  }

  /** Requests the page after the oldest known job. */
  async loadOlder(): Promise<void> {
    const key = this.olderKey;
    if (key === null || this.state().isLoadingOlder) {
      return;
    }
    const { generation } = this;
    this.update({ isLoadingOlder: true });
    try {
      const page = await this.source.older(key);
      if (this.generation !== generation) {
        return;
      }
      this.olderKey = page.olderKey;
      this.hasLoadedOlder = true;
      this.update({
        jobs: appendOlder(this.state().jobs, page.jobs),
        hasOlder: page.olderKey !== null
      });
    } catch (error) {
      this.update({ requestError: messageOf(error) });
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
    return this.perform(names, () => this.source.stop(names));
  }

  /** Deletes jobs and their results after `delayS` seconds, unless undone; resolves after the deletion. */
  delete(names: readonly string[], delayS = 0): Promise<void> {
    return this.perform(names, async () => {
      const { generation } = this;
      const { gone, faults } = await this.source.delete(names, delayS);
      if (faults.length === 0 && this.generation === generation) {
        this.removeJobs(new Set(gone));
      }
      return faults;
    });
  }

  /** Undoes pending deletions, by default at the selected service. */
  undoDelete(names: readonly string[], profile?: string): Promise<void> {
    return this.perform([], async () => {
      const keptNames = new Set(await this.source.undoDelete(names, profile));
      const deletedNames = names.filter(name => !keptNames.has(name));
      return deletedNames.length === 0
        ? []
        : [
            `The deletion cannot be undone. Already deleted: ${deletedNames.slice(0, 3).join(', ')}${deletedNames.length > 3 ? ' …' : ''}`
          ];
    });
  }

  /** Adds and removes tags of jobs. */
  tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void> {
    return this.perform(names, async () => {
      await this.source.tag(names, added, removed);
      this.applyTags(new Set(names), added, removed);
      return [];
    });
  }

  /** Gets the end of a job's log. */
  readonly log = (name: string): Promise<string> => this.source.log(name);

  /** The record of a job, also of one in an expanded batch. */
  find(name: string): JobRecord | undefined {
    const { jobs, open } = this.state();
    const hasName = (job: JobRecord): boolean => job.jobName === name;
    return jobs.find(hasName) ?? [...open.values()].flatMap(subjobs => subjobs ?? []).find(hasName);
  }

  /** Shows why the user's request failed. */
  reportError(error: unknown): void {
    this.update({ requestError: messageOf(error) });
  }

  /** Clears the message of the last failure. */
  dismissError(): void {
    this.update({ requestError: null });
  }

  /** Stops polling for good. */
  dispose(): void {
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.watchers = 0;
    this.abortPolling();
    this.poll.dispose();
  }

  private get shouldPoll(): boolean {
    return this.watchers > 0 && !document.hidden;
  }

  /** Starts polling unless it is in progress, or nothing watches. */
  private startPolling(): void {
    if (this.shouldPoll && this.abortController === null) {
      this.abortController = new AbortController();
      void this.poll.start();
    }
  }

  /** Stops polling, and aborts the request in progress. */
  private abortPolling(): void {
    this.abortController?.abort();
    this.abortController = null;
    void this.poll.stop();
  }

  private pauseIfUnwatched(): void {
    if (!this.shouldPoll) {
      this.abortPolling();
    }
  }

  /** Polls once; the pause before the next poll grows while the server does not answer. */
  private async pollOnce(): Promise<void> {
    const signal = this.abortController?.signal;
    try {
      await this.fetchJobs(this.pace.wait, signal);
      if (!signal?.aborted) {
        void this.poll.schedule({ interval: this.pace.pause });
      }
    } catch (error) {
      if (!signal?.aborted) {
        this.update({ connectionError: messageOf(error) });
        throw error;
      }
    }
  }

  /** Requests the changes since the last response, for which the server waits up to `waitMs`, and applies them. */
  private async fetchJobs(waitMs: number, signal?: AbortSignal): Promise<void> {
    const { generation } = this;
    for (;;) {
      const base = this.etag;
      const response = await this.source.jobs(base, waitMs / 1000, signal);
      if (signal?.aborted || this.generation !== generation) {
        return;
      }
      if (this.etag === base || response.body?.isWhole === true) {
        this.etag = response.tag;
        this.applyResponse(response.body);
        return;
      }
      // the response to another request has changed the list meanwhile: the changes since `base` no longer apply
    }
  }

  /** Applies a response; null if nothing has changed. */
  private applyResponse(body: JobsResponse | null): void {
    const contact = { connectionError: null, receivedAt: Date.now() };
    if (body === null) {
      this.update(contact);
      return;
    }
    const { jobs, open } = this.state();
    if (!this.hasLoadedOlder) {
      this.olderKey = body.olderKey;
    }
    const merged = mergeResponse(jobs, body);
    this.update({
      ...contact,
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

  /** Requests all jobs of an expanded batch. */
  private async loadBatch(name: string): Promise<void> {
    const request = readSubjobs(this.source, name, null);
    this.batchRequests.set(name, request);
    const outcome = await request.catch(messageOf);
    const open = new Map(this.state().open);
    if (this.batchRequests.get(name) !== request || !open.has(name)) {
      return; // requested again, collapsed or reset meanwhile
    }
    if (typeof outcome === 'string') {
      open.delete(name);
      this.update({ open, requestError: outcome });
    } else {
      this.update({ open: open.set(name, outcome) });
    }
  }

  /** Removes deleted jobs from the page, since the server reports only the newest ones. */
  private removeJobs(names: ReadonlySet<string>): void {
    const remaining = (jobs: readonly JobRecord[]): readonly JobRecord[] => jobs.filter(job => !names.has(job.jobName));
    const { jobs, open } = this.state();
    const batches = [...open].map(([name, subjobs]) => [name, subjobs && remaining(subjobs)] as const);
    this.update({ jobs: remaining(jobs), open: new Map(batches) });
  }

  /** Applies the tags to all jobs on the page, since the server reports only the newest ones. */
  private applyTags(names: ReadonlySet<string>, added: readonly string[], removed: readonly string[]): void {
    const tagged = (job: JobRecord): JobRecord =>
      names.has(job.jobName) ? { ...job, tags: mergeTags(job.tags ?? [], added, removed) } : job;
    const { jobs, open } = this.state();
    const batches = [...open].map(([name, subjobs]) => [name, subjobs?.map(tagged) ?? null] as const);
    this.update({ jobs: jobs.map(tagged), open: new Map(batches) });
  }

  /** Sends a request of the user that returns its failures, shows them, and requests the changed jobs. */
  private async perform(names: readonly string[], request: () => Promise<readonly string[]>): Promise<void> {
    this.update({ pending: new Set([...this.state().pending, ...names]), requestError: null });
    try {
      const faults = await request();
      if (faults.length > 0) {
        this.update({ requestError: faults.slice(0, 3).join(' ') });
      }
      await this.fetchJobs(Math.min(REFRESH_WAIT_MS, this.pace.wait));
    } catch (error) {
      this.update({ requestError: messageOf(error) });
    } finally {
      this.update({ pending: new Set([...this.state().pending].filter(name => !names.includes(name))) });
    }
  }

  private readonly onVisibility = (): void => {
    this.pauseIfUnwatched();
    this.startPolling();
  };

  private readonly source: JobsSource;
  private readonly pace: Pace;
  private readonly poll: Poll;
  private watchers = 0;
  /** Aborts the polling in progress; null while not polling. */
  private abortController: AbortController | null = null;
  /** Version of the list, as of the last response. */
  private etag: string | null = null;
  /** Incremented when switching to another service, so that late responses of the previous one are ignored. */
  private generation = 0;
  /** The checks of {@link JobsModel.noteEnd}, one after another. */
  private endChecks: Promise<void> = Promise.resolve();
  /** Key of the page after the oldest known job; null if there is none. */
  private olderKey: string | null = null;
  /** Whether older pages were loaded, so that `olderKey` no longer follows the newest one. */
  private hasLoadedOlder = false;
  /** The latest request for the jobs of each batch. */
  private readonly batchRequests = new Map<string, Promise<unknown>>();
}
