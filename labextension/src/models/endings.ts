/**
 * Detects jobs that ended while the page was open. A job that had already ended when first seen is not reported, and no
 * job is reported twice.
 */
import type { JobRecord } from '../api/responses';
import type { JobsState } from './jobs';
import { batchWords } from './batch';
import { countStates, isLive, isMixed, shownState, STATES, stateWord, type ShownState } from './status';
import { formatCount, plainSentence, visibleText } from './text';
import { PLAIN, type Trans } from './words';

const LONGEST_NAME = 60;

/** Text of a notification. */
export interface EndingNote {
  readonly tone: 'success' | 'info' | 'warning' | 'error';
  readonly text: string;
}

/** Remembers the jobs that were seen unfinished. */
export class Endings {
  /**
   * Processes the current list; a list that is not up to date with the service is ignored.
   *
   * @returns jobs that were unfinished before and have ended now
   */
  note({ jobs, service, lost }: JobsState): readonly JobRecord[] {
    if (service?.state !== 'ok' || lost !== null) {
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
  const word = stateWord(job, trans);
  const about = [toolName, batchWords(job, trans)].filter(Boolean).join(', ');
  return { tone: isMixed(job) ? 'warning' : toneOf(state), text: `${word}: ${name} (${about}).${reason}` };
}

/** Describes several jobs that ended together: counts by state. */
export function endingSummary(jobs: readonly JobRecord[], trans: Trans = PLAIN): EndingNote {
  const counts = countStates(jobs);
  const present = STATES.filter(row => (counts.get(row.state) ?? 0) > 0);
  const parts = present.map(row => `${formatCount(counts.get(row.state) ?? 0)} ${trans.__(row.word)}`);
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
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}
