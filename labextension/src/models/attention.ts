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
export interface Watched extends Pick<JobsModel, 'state' | 'watch'> {
  readonly changed: ISignal<unknown, void>;
}

const DISPLAY_MS = 60_000;

/** Polls while enabled and while there is a reason to. */
export class Attention {
  /**
   * @param jobs - the jobs model
   * @param lingerMs - how long to poll after an event, in milliseconds
   */
  constructor(jobs: Watched, lingerMs: number = DISPLAY_MS) {
    this.jobs = jobs;
    this.lingerMs = lingerMs;
    jobs.changed.connect(() => this.decide());
  }

  /** Enables or disables polling. */
  turn(isOn: boolean): void {
    this.isOn = isOn;
    this.decide();
  }

  /** Notes an event that may have submitted a job. */
  stir(): void {
    this.until = Date.now() + this.lingerMs;
    this.decide();
  }

  private decide(): void {
    const hasReason = Date.now() < this.until || this.jobs.state().jobs.some(isLive);
    if (this.isOn && hasReason) {
      this.unwatch ??= this.jobs.watch();
    } else {
      this.unwatch?.();
      this.unwatch = null;
    }
  }

  private readonly jobs: Watched;
  private readonly lingerMs: number;
  private isOn = false;
  private until = 0;
  private unwatch: (() => void) | null = null;
}
