/**
 * One job and its result, as shown in a tab. The record is taken from the lists; a job on none of them (of another service,
 * of a collapsed batch, or deleted) is requested separately, and only while the tab is visible.
 */
import { Poll } from '@lumino/polling';

import type { JobRef, JobRecord, ResultResponse } from '../../api/responses';
import { isLive } from '../jobs/status';
import { Store } from '../store';
import { messageOf, statusOf } from '../formatting/text';

/** Source of a job and its result. */
export interface ResultSource {
  /** Gets the job's current record; null if the service has none of this name. */
  record(jobRef: JobRef): Promise<JobRecord | null>;
  readResult(jobRef: JobRef): Promise<ResultResponse>;
}

/** The job in the page's lists. */
export interface ListedJob {
  /** Whether the lists have been loaded, so that a missing job is really absent. */
  readonly isReady: boolean;
  /** Whether they are polled. */
  readonly isPolled: boolean;
  readonly job: JobRecord | undefined;
}

/** Why something could not be loaded. */
export interface Fault {
  readonly message: string;
  /** Whether it is retried automatically. */
  readonly isTemporary: boolean;
}

/** State of a tab. */
export interface ResultState {
  /** The last known record, also of a deleted job; undefined before the first. */
  readonly job: JobRecord | undefined;
  /** Time of the last record in milliseconds since 1970. */
  readonly seenAt: number;
  /** When the service first reported that there is no such job, in milliseconds since 1970; null if it exists. */
  readonly goneAt: number | null;
  /** Why the job cannot be requested; null if it can. */
  readonly fault: Fault | null;
  readonly result: ResultResponse | null;
  /** Why there is no result; null while loading or loaded. */
  readonly resultFault: Fault | null;
}

const INITIAL: ResultState = {
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
const TEMPORARY_STATUSES: readonly unknown[] = [0, 424, 429, 503, 504];

const NOT_FOUND = 404;

/** A job and its result. */
export class ResultModel extends Store<ResultState> {
  /**
   * @param readLists - reads the lists; called whenever they may have changed
   * @param pausesMs - pauses between successive requests in milliseconds
   */
  constructor(
    private readonly jobRef: JobRef,
    private readonly source: ResultSource,
    private readonly readLists: () => ListedJob,
    private readonly pausesMs: readonly number[] = PAUSES_MS
  ) {
    super(INITIAL);
  }

  /** Starts polling job and result; call the returned function to stop. */
  watch(): () => void {
    this.isWatched = true;
    this.updateFromLists();
    if (this.hasAnswer && !this.isListed) {
      void this.requestRecord(); // it may have ended or been deleted meanwhile
    }
    void this.requestResult();
    return () => {
      this.isWatched = false;
      void this.poll.stop();
    };
  }

  /** Takes the record from the lists; requests it if they do not have the job. */
  readonly updateFromLists = (): void => {
    if (!this.isWatched) {
      return;
    }
    const { isReady, isPolled, job } = this.readLists();
    if (job && (isPolled || !this.hasAnswer)) {
      this.isListed = isPolled;
      this.applyRecord(job);
    } else if (isReady && (this.isListed || !this.hasAnswer)) {
      this.isListed = false;
      void this.requestRecord();
    }
  };

  /** Requests the missing data at once. */
  retryNow(): void {
    this.attempts = 0;
    this.update({ resultFault: null });
    if (!this.isListed) {
      void this.requestRecord();
    }
    void this.requestResult();
  }

  /** Updates the state with a record, and continues with the next request. */
  private applyRecord(job: JobRecord): void {
    const before = this.state().job;
    this.hasAnswer = true;
    if (job !== before || this.state().goneAt !== null || this.state().fault !== null) {
      const isOtherJob = before !== undefined && before.created !== job.created; // deleted, and the name was reused
      const cleared = isOtherJob ? { result: null, resultFault: null } : {};
      this.update({ job, seenAt: Date.now(), goneAt: null, fault: null, ...cleared });
    }
    if (isLive(job)) {
      this.scheduleNext();
    } else {
      void this.requestResult();
    }
  }

  /** Requests the record of a job that no list has. */
  private async requestRecord(): Promise<void> {
    if (this.isRequestingRecord) {
      return;
    }
    this.isRequestingRecord = true;
    try {
      const job = await this.source.record(this.jobRef);
      if (this.isListed) {
        return; // updated from a list meanwhile
      }
      if (job !== null) {
        this.applyRecord(job);
      } else {
        this.hasAnswer = true;
        this.update({ goneAt: this.state().goneAt ?? Date.now(), fault: null, resultFault: null });
      }
    } catch (error) {
      this.update({ fault: faultOf(error) });
      this.scheduleNext();
    } finally {
      this.isRequestingRecord = false;
    }
  }

  /** Requests the result, once the job is complete. */
  private async requestResult(): Promise<void> {
    const { job, result, resultFault, goneAt } = this.state();
    const hasResult = job?.status === 'Complete' && goneAt === null;
    if (!hasResult || result !== null || this.isRequestingResult || resultFault?.isTemporary === false) {
      return;
    }
    this.isRequestingResult = true;
    try {
      this.update({ result: await this.source.readResult(this.jobRef), resultFault: null });
      this.attempts = 0;
    } catch (error) {
      this.update({ resultFault: faultOf(error) });
      this.scheduleNext();
      if (!this.isListed && statusOf(error) === NOT_FOUND) {
        void this.requestRecord();
      }
    } finally {
      this.isRequestingResult = false;
    }
  }

  /** Schedules the next request, while the tab is visible. */
  private scheduleNext(): void {
    const { job, fault, resultFault } = this.state();
    const needsRecord = !this.isListed && (fault === null ? job !== undefined && isLive(job) : fault.isTemporary);
    if (!this.isWatched || !(needsRecord || resultFault?.isTemporary)) {
      void this.poll.stop();
      return;
    }
    this.nextRequest = needsRecord ? () => this.requestRecord() : () => this.requestResult();
    void this.poll.schedule({ interval: this.pausesMs[Math.min(this.attempts, this.pausesMs.length - 1)] ?? 0 });
  }

  private isWatched = false;
  /** Whether it is known if the job exists. */
  private hasAnswer = false;
  /** Whether a polled list has the job, so that its record need not be requested. */
  private isListed = false;
  private isRequestingRecord = false;
  private isRequestingResult = false;
  /** Number of scheduled requests since the last success; determines the pause. */
  private attempts = 0;
  private nextRequest: () => Promise<void> = () => this.requestRecord();
  private readonly poll = new Poll({
    name: 'foldnote:result',
    auto: false,
    standby: 'when-hidden',
    linger: 0,
    factory: async () => {
      this.attempts += 1;
      await this.nextRequest();
      this.scheduleNext(); // at its own interval, or not at all
    }
  });
}

/** Whether a failure is temporary. */
export function isTemporary(error: unknown): boolean {
  return TEMPORARY_STATUSES.includes(statusOf(error));
}

function faultOf(error: unknown): Fault {
  return { message: messageOf(error), isTemporary: isTemporary(error) };
}
