/**
 * The one figure of a result that a list has room for. Its name stands beside it, because scores of different tools
 * cannot be compared.
 */
import type { JobRecord } from '../api/answers';
import { visibleText } from './text';

/** A figure and what it is. */
export interface Score {
  readonly name: string;
  readonly value: number;
}

/** Names by which results are judged first, the most telling one at the front. */
const PREFERRED = ['iptm', 'ptm', 'mean_plddt', 'plddt', 'confidence', 'score', 'affinity'];
const LONGEST_NAME = 14;

/** The figure to show of a job; null when it has none. */
export function findScore(job: JobRecord): Score | null {
  const figures = Object.entries(job.score ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number'
  );
  const rank = (name: string): number => {
    const place = PREFERRED.findIndex(word => name.toLowerCase().includes(word));
    return place < 0 ? PREFERRED.length : place;
  };
  const [best] = figures.sort((a, b) => rank(a[0]) - rank(b[0]));
  return best ? { name: best[0], value: best[1] } : null;
}

/** The figure in a few letters: `ptm 0.87`. */
export function formatScore({ name, value }: Score): string {
  const shown = visibleText(name);
  const word = shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME - 1)}…` : shown;
  return `${word} ${Number(value.toPrecision(3))}`;
}
