/**
 * Detects jobs that ended while the page was open. A job that had already ended when first seen is not reported, and no
 * job is reported twice.
 */
import type { JobRecord } from '../../api/responses';
import type { JobsState } from './jobs';
import { describeBatch } from './batch';
import { countStates, isLive, isMixed, shownState, STATES, stateLabel, type ShownState } from './status';
import { formatCount, plainSentence, visibleText } from '../formatting/text';
import { PLAIN, type Trans } from '../translation';

const MAX_NAME_LENGTH = 60;

/** Text of a notification. */
export interface EndingNote {
  readonly tone: 'success' | 'info' | 'warning' | 'error';
  readonly text: string;
}

/** Remembers the jobs that were seen unfinished. */
export class Endings {
  /**
   * Compares the current list with the previous one; a list that is not up to date with the service is ignored.
   *
   * @returns jobs that were unfinished before and have ended now
   */
  findEnded({ jobs, service, connectionError }: JobsState): readonly JobRecord[] {
    if (service?.state !== 'ok' || connectionError !== null) {
      return [];
    }
    const ended = jobs.filter(job => !isLive(job) && this.live.has(identity(job)));
    this.live = new Set(jobs.filter(isLive).map(identity));
    return ended;
  }

  private live: ReadonlySet<string> = new Set();
}

/** Describes a job that ended: state, name and, for a failure, the reason. */
export function endingNote(job: JobRecord, toolName: string, trans: Trans = PLAIN): EndingNote {
  const state = shownState(job);
  const reason = job.error === null ? '' : ` ${plainSentence(job.error)}`;
  const name = shorten(visibleText(job.jobName));
  const label = stateLabel(job, trans);
  const details = [toolName, describeBatch(job, trans)].filter(Boolean).join(', ');
  return { tone: isMixed(job) ? 'warning' : toneOf(state), text: `${label}: ${name} (${details}).${reason}` };
}

/** Describes several jobs that ended together: counts by state. */
export function endingSummary(jobs: readonly JobRecord[], trans: Trans = PLAIN): EndingNote {
  const counts = countStates(jobs);
  const present = STATES.filter(row => (counts.get(row.state) ?? 0) > 0);
  const parts = present.map(row => `${formatCount(counts.get(row.state) ?? 0)} ${trans.__(row.label)}`);
  const worst = present.at(-1)?.state ?? 'stopped'; // the table ends with the unsuccessful states
  return { tone: toneOf(worst), text: trans.__('%1 jobs ended: %2.', formatCount(jobs.length), parts.join(', ')) };
}

function toneOf(state: ShownState): EndingNote['tone'] {
  switch (state) {
    case 'complete':
      return 'success';
    case 'failed':
      return 'error';
    default:
      return 'info';
  }
}

/** Key of a job; a deleted job's name may be reused, so the name alone does not suffice. */
function identity(job: JobRecord): string {
  return `${job.created ?? ''} ${job.jobName}`;
}

function shorten(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name;
}
