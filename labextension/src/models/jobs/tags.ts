/** Tags that users give to jobs, stored on the computer that runs Jupyter. */
import type { JobRecord } from '../../api/responses';

/** Splits a text at commas, without duplicates. */
export function readTags(text: string): string[] {
  const words = text.split(',').map(word => word.trim().split(/\s+/).join(' '));
  return [...new Set(words.filter(word => word !== ''))];
}

/** The common tags of all jobs, in alphabetical order. */
export function commonTags(jobs: readonly JobRecord[]): string[] {
  const [first, ...rest] = jobs.map(job => job.tags ?? []);
  return (first ?? []).filter(tag => rest.every(tags => tags.includes(tag))).sort();
}

/** The tags to add and remove so that `wanted` replaces the common tags of the jobs. */
export function changeTags(
  jobs: readonly JobRecord[],
  wanted: readonly string[]
): { readonly added: string[]; readonly removed: string[] } {
  const common = commonTags(jobs);
  return {
    added: wanted.filter(tag => !common.includes(tag)),
    removed: common.filter(tag => !wanted.includes(tag))
  };
}

/** Adds and removes tags; the result is in alphabetical order. */
export function mergeTags(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  return [...new Set([...tags, ...added])].filter(tag => added.includes(tag) || !removed.includes(tag)).sort();
}
