/**
 * The jobs as a page holds them: the newest ones as the server tells of them, with older ones behind. Pure functions.
 */
import type { JobRecord, JobsAnswer } from '../api/answers';

/**
 * The jobs after an answer.
 *
 * A whole answer replaces what it covers: known jobs that are older than its last one stay, because an answer holds the
 * newest only. An answer that tells differences changes what it names.
 */
export function mergeAnswer(
  known: readonly JobRecord[],
  answer: Pick<JobsAnswer, 'jobs' | 'removed' | 'isWhole' | 'olderKey'>
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

/** The jobs with older ones behind; none twice. */
export function appendOlder(known: readonly JobRecord[], older: readonly JobRecord[]): readonly JobRecord[] {
  const names = new Set(known.map(job => job.jobName));
  return [...known, ...older.filter(job => !names.has(job.jobName))];
}

function olderThan(known: readonly JobRecord[], jobs: readonly JobRecord[]): readonly JobRecord[] {
  const end = jobs.at(-1)?.created;
  return end ? known.filter(job => job.created !== null && (job.created ?? '') < end) : [];
}
