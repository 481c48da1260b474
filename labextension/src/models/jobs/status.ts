/**
 * The table of displayed job states: word, icon and order. The interface has four; a stopped job with an error is shown as
 * failed, unless it is a stage of a pipeline that did not run.
 */
import type { JobRecord } from '../../api/responses';
import { hasFailures, describeFailures } from './batch';
import { PLAIN, type Trans } from '../translation';

/** A displayed state. */
export type ShownState = 'queued' | 'running' | 'complete' | 'stopped' | 'failed';

/** Display of one state. */
export interface StateRow {
  readonly state: ShownState;
  readonly label: string;
  /** Explanation for tooltips. */
  readonly hint: string;
  readonly isFinal: boolean;
}

/** All states, in the order of a job's life cycle. */
export const STATES: readonly StateRow[] = [
  { state: 'queued', label: 'In Queue', hint: 'Waiting in the queue', isFinal: false },
  { state: 'running', label: 'Running', hint: 'The tool is running', isFinal: false },
  { state: 'complete', label: 'Complete', hint: 'Finished, with a result', isFinal: true },
  { state: 'stopped', label: 'Stopped', hint: 'Stopped by a user', isFinal: true },
  { state: 'failed', label: 'Failed', hint: 'Ended with an error', isFinal: true }
];

const SKIPPED_LABEL = 'Not run';
const BY_STATE = new Map(STATES.map(row => [row.state, row]));

/**
 * Whether it is a stage that did not run because an earlier one has no result; on the wire it is stopped, with an
 * error.
 */
function wasSkipped(job: JobRecord): boolean {
  const { error } = job;
  const hasEnded = job.status === 'Stopped' && job.started === null && job.batch !== null && error !== null;
  return hasEnded && error.startsWith('The stage ') && !error.startsWith('The stage cannot start: ');
}

/** The displayed state of a job. */
export function shownState(job: JobRecord): ShownState {
  switch (job.status) {
    case 'In Queue':
      return 'queued';
    case 'Running':
      return 'running';
    case 'Complete':
      return 'complete';
    case 'Stopped':
      return job.error === null || wasSkipped(job) ? 'stopped' : 'failed';
  }
}

/** The row of the table for a state. */
export function stateRow(state: ShownState): StateRow {
  const row = BY_STATE.get(state);
  if (!row) {
    throw new Error(`No row for the state ${state}.`);
  }
  return row;
}

/** Whether it is a complete batch with failed jobs. */
export function isMixed(job: JobRecord): boolean {
  return job.status === 'Complete' && hasFailures(job);
}

/** The state of a job in words; for a complete batch, also how many of its jobs failed. */
export function stateLabel(job: JobRecord, trans: Trans = PLAIN): string {
  const label = trans.__(wasSkipped(job) ? SKIPPED_LABEL : stateRow(shownState(job)).label);
  return isMixed(job) ? `${label}, ${describeFailures(job, trans)}` : label;
}

/** Whether the job can still change. */
export function isLive(job: JobRecord): boolean {
  return !stateRow(shownState(job)).isFinal;
}

/** Number of jobs by displayed state; all states are present. */
export function countStates(jobs: readonly JobRecord[]): ReadonlyMap<ShownState, number> {
  const counts = new Map<ShownState, number>(STATES.map(row => [row.state, 0]));
  for (const job of jobs) {
    const state = shownState(job);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}
