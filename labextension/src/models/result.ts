/**
 * One job and its result, as shown in a tab. The record is taken from the lists; a job on none of them (of another service,
 * of a collapsed batch, or deleted) is requested separately, and only while the tab is visible.
 */
import { Poll } from '@lumino/polling';

import type { JobPlace, JobRecord, ResultResponse } from '../api/responses';
import { isLive } from './status';
import { Store } from './store';
import { sentenceOf, statusOf } from './text';

/** Source of a job and its result. */
export interface ResultSource {
  /** Gets the job's current record; null if the service has none of this name. */
  record(place: JobPlace): Promise<JobRecord | null>;
  readResult(place: JobPlace): Promise<ResultResponse>;
}

/** The job in the page's lists. */
export interface Listed {
  /** Whether the lists have been loaded, so that a missing job is really absent. */
  readonly isReady: boolean;
  /** Whether they are polled. */
  readonly isFollowed: boolean;
  readonly job: JobRecord | undefined;
}

/** Why something could not be loaded. */
export interface Fault {
  readonly sentence: string;
  /** Whether it is retried automatically. */
  readonly isPassing: boolean;
}

/** State of a tab. */
export interface ResultState {
  /** The last known record, also of a deleted job; undefined before the first. */
  readonly job: JobRecord | undefined;
  /** Time of the last record in milliseconds since 1970. */
  readonly seenAt: number;
  /** Time of the first answer that there is no such job, in milliseconds since 1970; null if it exists. */
  readonly goneAt: number | null;
  /** Why the job cannot be requested; null if it can. */
  readonly fault: Fault | null;
  readonly result: ResultResponse | null;
  /** Why there is no result; null while loading or loaded. */
  readonly resultFault: Fault | null;
}

const NOTHING: ResultState = {
  job: undefined,
  seenAt: 0,
  goneAt: null,
  fault: null,
  result: null,
  resultFault: null
};

/** Pauses between successive requests in milliseconds; the last one is repeated. */
const PAUSES_MS = [3000, 5000, 10_000, 30_000] as const;

/** Statuses of temporary failures: the Jupyter server or its hub does not answer, or the service is busy or down. */
const PASSING: readonly unknown[] = [0, 424, 429, 503, 504];

const NOT_THERE = 404;

/** A job and its result. */
export class ResultModel extends Store<ResultState> {
  /**
   * @param listed - reads the lists; called whenever they may have changed
   * @param pausesMs - pauses between successive requests in milliseconds
   */
  constructor(
    private readonly place: JobPlace,
    private readonly source: ResultSource,
    private readonly listed: () => Listed,
    private readonly pausesMs: readonly number[] = PAUSES_MS
  ) {
    super(NOTHING);
  }

  /** Starts polling job and result; call the returned function to stop. */
  watch(): () => void {
    this.isWatched = true;
    this.look();
    if (this.isHeard && !this.isListed) {
      void this.ask(); // it may have ended or been deleted meanwhile
    }
    void this.fetch();
    return () => {
      this.isWatched = false;
      void this.poll.stop();
    };
  }

  /** Updates from the lists. */
  readonly look = (): void => {
    if (!this.isWatched) {
      return;
    }
    const { isReady, isFollowed, job } = this.listed();
    if (job && (isFollowed || !this.isHeard)) {
      this.isListed = isFollowed;
      this.hear(job);
    } else if (isReady && (this.isListed || !this.isHeard)) {
      this.isListed = false;
      void this.ask();
    }
  };

  /** Requests the missing data at once. */
  hurry(): void {
    this.turns = 0;
    this.update({ resultFault: null });
    if (!this.isListed) {
      void this.ask();
    }
    void this.fetch();
  }

  private hear(job: JobRecord): void {
    const before = this.state().job;
    this.isHeard = true;
    if (job !== before || this.state().goneAt !== null || this.state().fault !== null) {
      const isOther = before !== undefined && before.created !== job.created; // deleted, and the name was reused
      const forgotten = isOther ? { result: null, resultFault: null } : {};
      this.update({ job, seenAt: Date.now(), goneAt: null, fault: null, ...forgotten });
    }
    if (isLive(job)) {
      this.later();
    } else {
      void this.fetch();
    }
  }

  private async ask(): Promise<void> {
    if (this.isAsking) {
      return;
    }
    this.isAsking = true;
    try {
      const job = await this.source.record(this.place);
      if (this.isListed) {
        return; // updated from a list meanwhile
      }
      if (job !== null) {
        this.hear(job);
      } else {
        this.isHeard = true;
        this.update({ goneAt: this.state().goneAt ?? Date.now(), fault: null, resultFault: null });
      }
    } catch (error) {
      this.update({ fault: faultOf(error) });
      this.later();
    } finally {
      this.isAsking = false;
    }
  }

  private async fetch(): Promise<void> {
    const { job, result, resultFault, goneAt } = this.state();
    const isThere = job?.status === 'Complete' && goneAt === null;
    if (!isThere || result !== null || this.isFetching || resultFault?.isPassing === false) {
      return;
    }
    this.isFetching = true;
    try {
      this.update({ result: await this.source.readResult(this.place), resultFault: null });
      this.turns = 0;
    } catch (error) {
      this.update({ resultFault: faultOf(error) });
      this.later();
      if (!this.isListed && statusOf(error) === NOT_THERE) {
        void this.ask();
      }
    } finally {
      this.isFetching = false;
    }
  }

  /** Schedules the next request, while the tab is visible. */
  private later(): void {
    const { job, fault, resultFault } = this.state();
    const isOpen = !this.isListed && (fault === null ? job !== undefined && isLive(job) : fault.isPassing);
    if (!this.isWatched || !(isOpen || resultFault?.isPassing)) {
      void this.poll.stop();
      return;
    }
    this.next = isOpen ? () => this.ask() : () => this.fetch();
    void this.poll.schedule({ interval: this.pausesMs[Math.min(this.turns, this.pausesMs.length - 1)] ?? 0 });
  }

  private isWatched = false;
  private isHeard = false;
  private isListed = false;
  private isAsking = false;
  private isFetching = false;
  private turns = 0;
  private next: () => Promise<void> = () => this.ask();
  private readonly poll = new Poll({
    name: 'foldnote:result',
    auto: false,
    standby: 'when-hidden',
    linger: 0,
    factory: async () => {
      this.turns += 1;
      await this.next();
      this.later(); // at its own interval, or not at all
    }
  });
}

/** Whether a failure is temporary. */
export function isPassing(error: unknown): boolean {
  return PASSING.includes(statusOf(error));
}

function faultOf(error: unknown): Fault {
  return { sentence: sentenceOf(error), isPassing: isPassing(error) };
}
