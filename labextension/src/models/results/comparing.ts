/** Decides which jobs can be compared with each other. */
import type { JobRecord } from '../../api/responses';
import { isBatch } from '../jobs/batch';

/** Maximum number of jobs that `fn.compare` accepts. */
export const MOST_COMPARED = 20;

/** Whether these are two or more jobs, none of them a batch; an unknown job is assumed not to be a batch. */
export function canCompare(jobs: readonly (JobRecord | undefined)[]): boolean {
  return jobs.length >= 2 && jobs.length <= MOST_COMPARED && !jobs.some(isBatch);
}
