/**
 * Polls the jobs while any is unfinished, also with the sidebar closed.
 *
 * New jobs are discovered by polling only, so events that may have submitted one (a click in a form, a new card) start
 * polling for a while.
 */
import type { ISignal } from '@lumino/signaling';

import type { JobsModel } from './jobs';
import { isLive } from './status';

/** The part of the jobs model that polling needs. */
export interface PolledJobs extends Pick<JobsModel, 'state' | 'watch'> {
  readonly changed: ISignal<unknown, void>;
}

const DISPLAY_MS = 60_000;

/** Polls the jobs while enabled, if a job is unfinished or was probably just submitted. */
export class Attention {
  /**
   * @param jobs - the jobs model
   * @param lingerMs - how long to poll after an event, in milliseconds
   */
  constructor(jobs: PolledJobs, lingerMs: number = DISPLAY_MS) {
    this.jobs = jobs;
    this.lingerMs = lingerMs;
    jobs.changed.connect(() => this.updatePolling());
  }

  /** Enables or disables polling. */
  enable(isOn: boolean): void {
    this.isOn = isOn;
    this.updatePolling();
  }

  /** Notes an event that may have submitted a job. */
  expectJob(): void {
    this.pollUntil = Date.now() + this.lingerMs;
    this.updatePolling();
  }

  private updatePolling(): void {
    const hasReason = Date.now() < this.pollUntil || this.jobs.state().jobs.some(isLive);
    if (this.isOn && hasReason) {
      this.stopWatching ??= this.jobs.watch();
    } else {
      this.stopWatching?.();
      this.stopWatching = null;
    }
  }

  private readonly jobs: PolledJobs;
  private readonly lingerMs: number;
  private isOn = false;
  private pollUntil = 0;
  private stopWatching: (() => void) | null = null;
}
