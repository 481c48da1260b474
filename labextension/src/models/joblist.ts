/**
 * Updates the page's list of jobs: the newest from the server's poller, followed by older pages. Pure functions.
 */
import type { JobRecord, JobsResponse } from '../api/responses';

/**
 * Applies an answer to the list.
 *
 * A full answer contains the newest jobs only: it replaces these, and known jobs older than its last one stay. A
 * differential answer changes only the jobs that it contains.
 */
export function mergeResponse(
  known: readonly JobRecord[],
  answer: Pick<JobsResponse, 'jobs' | 'removed' | 'isWhole' | 'olderKey'>
): readonly JobRecord[] {
  if (answer.isWhole) {
    return answer.olderKey === null ? answer.jobs : appendOlder(answer.jobs, olderThan(known, answer.jobs));
  }
  const changed = new Map(answer.jobs.map(job => [job.jobName, job]));
  const removed = new Set(answer.removed);
  const kept = known.flatMap(job => {
    const now = changed.get(job.jobName);
    changed.delete(job.jobName);
    return removed.has(job.jobName) && !now ? [] : [now ?? job];
  });
  return [...changed.values(), ...kept];
}

/** Appends older jobs, without duplicates. */
export function appendOlder(known: readonly JobRecord[], older: readonly JobRecord[]): readonly JobRecord[] {
  const names = new Set(known.map(job => job.jobName));
  return [...known, ...older.filter(job => !names.has(job.jobName))];
}

function olderThan(known: readonly JobRecord[], jobs: readonly JobRecord[]): readonly JobRecord[] {
  const end = jobs.at(-1)?.created;
  return end ? known.filter(job => job.created !== null && (job.created ?? '') < end) : [];
}
