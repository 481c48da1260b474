/** Labels: free text that is shown instead of a job's name. */
import type { JobRecord } from '../../api/responses';
import { visibleText } from '../formatting/text';

/** The label last given on the server's computer, else the service's; empty without one. */
export function findLabel(job: JobRecord): string {
  const stored = job.foldnote?.label;
  return job.localLabel ?? (typeof stored === 'string' ? stored : '');
}

/** The label of a job, or its name. */
export function shownName(job: JobRecord): string {
  return visibleText(findLabel(job) || job.jobName);
}
