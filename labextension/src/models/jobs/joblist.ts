/**
 * Updates the page's list of jobs: the newest from the server's poller, followed by older pages. Pure functions.
 */
import type { JobRecord, JobsResponse } from '../../api/responses';

/**
 * Applies a response to the list.
 *
 * A whole response lists the newest jobs: it replaces them, and known jobs older than its last one stay. Another one
 * lists the changed jobs, and the names of the removed ones.
 */
export function mergeResponse(
  known: readonly JobRecord[],
  response: Pick<JobsResponse, 'jobs' | 'removed' | 'isWhole' | 'olderKey'>
): readonly JobRecord[] {
  if (response.isWhole) {
    return response.olderKey === null ? response.jobs : appendOlder(response.jobs, olderThan(known, response.jobs));
  }
  const changed = new Map(response.jobs.map(job => [job.jobName, job]));
  const removed = new Set(response.removed);
  const updated = known.flatMap(job => {
    const current = changed.get(job.jobName);
    changed.delete(job.jobName);
    return removed.has(job.jobName) && !current ? [] : [current ?? job];
  });
  return [...changed.values(), ...updated];
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
