/** Which jobs can be compared with each other. */
import type { JobRecord } from '../api/answers';
import { isBatch } from './batch';

/** Most jobs that `fn.compare` takes. */
export const MOST_COMPARED = 20;

/** Whether these are two or more jobs, none of them a batch; an unknown job is taken for no batch. */
export function canCompare(jobs: readonly (JobRecord | undefined)[]): boolean {
  return jobs.length >= 2 && jobs.length <= MOST_COMPARED && !jobs.some(isBatch);
}
