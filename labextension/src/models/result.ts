/**
 * One job and its result, as a tab shows them. What a list tells of the job is taken from there; a job that no list holds
 * (of another service, of a folded batch, deleted since) is asked for by itself, and only while somebody looks.
 */
import { Poll } from '@lumino/polling';

import type { JobPlace, JobRecord, ResultAnswer } from '../api/answers';
import { isLive } from './status';
import { Store } from './store';
import { sentenceOf } from './text';

/** Where a job and its result come from. */
export interface ResultSource {
  /** The job as it is now; null when the service has none of this name. */
  record(place: JobPlace): Promise<JobRecord | null>;
  readResult(place: JobPlace): Promise<ResultAnswer>;
}

/** What the page's lists tell of the job. */
export interface Listed {
  /** Whether they have been read, so that what they do not hold is not there. */
  readonly isReady: boolean;
  /** Whether they tell of changes by themselves. */
  readonly isFollowed: boolean;
  readonly job: JobRecord | undefined;
}

/** Why something is not there. */
export interface Fault {
  readonly sentence: string;
  /** Whether it is retried automatically. */
  readonly isPassing: boolean;
}

/** Everything a tab shows. */
export interface ResultState {
  /** The record that was heard last, also when the job is gone since; undefined while none was. */
  readonly job: JobRecord | undefined;
  /** Milliseconds since 1970 of the last record. */
  readonly seenAt: number;
  /** Milliseconds since 1970 of the first answer that there is no such job; null while there is one. */
  readonly goneAt: number | null;
  /** Why the service cannot be asked for the job; null when it can. */
  readonly fault: Fault | null;
  readonly result: ResultAnswer | null;
  /** Why there is no result; null while it is on its way or there. */
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

/** Between two questions in a row, in milliseconds; the last one is repeated. */
const PAUSES_MS = [3000, 5000, 10_000, 30_000] as const;

/** The Jupyter server does not answer or is not there behind its hub, the service is too busy, gone, or late. */
const PASSING: readonly unknown[] = [0, 424, 429, 503, 504];

const NOT_THERE = 404;

/** A job and its result. */
export class ResultModel extends Store<ResultState> {
  /**
   * @param listed - asked whenever the lists may tell something else
   * @param pausesMs - between two questions in a row about one thing
   */
  constructor(
    private readonly place: JobPlace,
    private readonly source: ResultSource,
    private readonly listed: () => Listed,
    private readonly pausesMs: readonly number[] = PAUSES_MS
  ) {
    super(NOTHING);
  }

  /** Keeps job and result fresh until the returned function is called. */
  watch(): () => void {
    this.isWatched = true;
    this.look();
    if (this.isHeard && !this.isListed) {
      void this.ask(); // it may have ended, or been deleted, while nobody looked
    }
    void this.fetch();
    return () => {
      this.isWatched = false;
      void this.poll.stop();
    };
  }

  /** Takes what the lists tell now. */
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

  /** Asks at once for what is missing. */
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
      const isOther = before !== undefined && before.created !== job.created; // deleted, and the name used again
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
        return; // a list has told of it meanwhile
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

  /** Asks again after a while for what may have changed, while somebody looks. */
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
      this.later(); // at its own pace, or not at all
    }
  });
}

/** Whether a fault passes by itself. */
export function isPassing(error: unknown): boolean {
  return PASSING.includes(statusOf(error));
}

function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : undefined;
}

function faultOf(error: unknown): Fault {
  return { sentence: sentenceOf(error), isPassing: isPassing(error) };
}
