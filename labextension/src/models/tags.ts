/** Tags of jobs: words that a person gives them, kept on the computer that runs Jupyter. */
import type { JobRecord } from '../api/answers';

/** The words between the commas of a text; none twice. */
export function readTags(text: string): string[] {
  const words = text.split(',').map(word => word.trim().split(/\s+/).join(' '));
  return [...new Set(words.filter(word => word !== ''))];
}

/** The tags that every one of the jobs has, in alphabetical order. */
export function commonTags(jobs: readonly JobRecord[]): string[] {
  const [first, ...rest] = jobs.map(job => job.tags ?? []);
  return (first ?? []).filter(tag => rest.every(tags => tags.includes(tag))).sort();
}

/** What is to be added and removed so that the jobs have `wanted` in the place of what they have in common. */
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

/** Tags with some more and without others, in alphabetical order. */
export function mixTags(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  return [...new Set([...tags, ...added])].filter(tag => added.includes(tag) || !removed.includes(tag)).sort();
}
