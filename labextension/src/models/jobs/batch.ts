/** Counts and records of a batch's jobs. */
import type { JobRecord, OlderResponse } from '../../api/responses';
import { formatCount } from '../formatting/text';
import { PLAIN, type Trans } from '../translation';

/** Whether the record is a batch parent; false for an unknown job. */
export function isBatch(job: JobRecord | undefined): boolean {
  return Boolean(job?.batchStatus) || job?.type.toLowerCase() === 'batch';
}

/** The tool's type, also for a batch. */
export function toolType(job: JobRecord): string {
  return job.tool ?? job.type;
}

/** Fraction of a batch's jobs that have ended, 0 to 1; null if the service does not report it. */
export function batchFraction(job: JobRecord): number | null {
  const { statuses } = job;
  const size = batchSize(job);
  return statuses && size ? (statuses.Complete + statuses.Stopped) / size : null;
}

/**
 * Describes the jobs of a batch: `37 of 100, 2 failed, 1 stopped`; empty if the service does not report them. Counts
 * that the state of a complete batch already shows are omitted.
 */
export function describeBatch(job: JobRecord, trans: Trans = PLAIN): string {
  const { statuses } = job;
  const failed = countFailed(job);
  const size = batchSize(job);
  if (!statuses || !size) {
    return '';
  }
  return [
    trans.__('%1 of %2', formatCount(statuses.Complete), formatCount(size)),
    job.status === 'Complete' ? '' : describeFailures(job, trans),
    failed !== null && statuses.Stopped > failed ? trans.__('%1 stopped', formatCount(statuses.Stopped - failed)) : ''
  ]
    .filter(Boolean)
    .join(', ');
}

/**
 * Describes the failed jobs of a batch: `2 failed`; empty if there are none. If the service does not distinguish failed
 * and stopped jobs, they are described as without a result; as are those of a pipeline, where stages after a failed one
 * did not run.
 */
export function describeFailures(job: JobRecord, trans: Trans = PLAIN): string {
  const failed = countFailed(job);
  const stopped = job.statuses?.Stopped ?? 0;
  if (failed !== null) {
    return failed > 0 ? trans.__('%1 failed', formatCount(failed)) : '';
  }
  return stopped > 0 ? trans.__('%1 without a result', formatCount(stopped)) : '';
}

/** Failed jobs of a batch; null if the service does not distinguish them from stopped ones, and for pipelines. */
function countFailed(job: JobRecord): number | null {
  return job.tool === 'pipeline' ? null : (job.failed ?? null);
}

/**
 * Whether jobs of a batch failed, also if it is complete; stopped jobs count if the service does not distinguish them.
 */
export function hasFailures(job: JobRecord): boolean {
  return isBatch(job) && describeFailures(job) !== '';
}

function batchSize(job: JobRecord): number {
  const { statuses } = job;
  const total = statuses ? statuses['In Queue'] + statuses.Running + statuses.Complete + statuses.Stopped : 0;
  return job.batchSize ?? total;
}

/** Source of a batch's jobs. */
export interface BatchSource {
  /** Lists a page of them, newest first; `member` is the address of the owner, if another member. */
  subjobs(name: string, key: string | null, member: string | null): Promise<OlderResponse>;
}

/** All jobs of a batch, in row order. */
export async function readSubjobs(
  source: BatchSource,
  name: string,
  member: string | null
): Promise<readonly JobRecord[]> {
  const jobs: JobRecord[] = [];
  let key: string | null = null;
  do {
    const page: OlderResponse = await source.subjobs(name, key, member);
    jobs.push(...page.jobs);
    key = page.olderKey;
  } while (key !== null);
  return jobs.reverse();
}
