/**
 * Keeps the jobs fresh while one of them may end, also with the sidebar closed; asks nothing when none can.
 *
 * A page learns of a new job by looking, so something that may have submitted one (a form was clicked, a card appeared)
 * makes it look for a while.
 */
import type { ISignal } from '@lumino/signaling';

import type { JobsModel } from './jobs';
import { isLive } from './status';

/** What is watched: the jobs model. */
export interface Watched extends Pick<JobsModel, 'state' | 'watch'> {
  readonly changed: ISignal<unknown, void>;
}

const LINGER_MS = 60_000;

/** Looks while it is on and there is a reason to. */
export class Attention {
  /**
   * @param jobs - what is watched
   * @param lingerMs - how long to look after something stirred
   */
  constructor(jobs: Watched, lingerMs: number = LINGER_MS) {
    this.jobs = jobs;
    this.lingerMs = lingerMs;
    jobs.changed.connect(() => this.decide());
  }

  /** Begins or ends all looking of its own. */
  turn(isOn: boolean): void {
    this.isOn = isOn;
    this.decide();
  }

  /** Something may have submitted a job. */
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
