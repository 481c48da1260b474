/**
 * The one figure of a result that a list has room for. Its name stands beside it, because scores of different tools
 * cannot be compared; a count or a time is not a score.
 */
import type { JobRecord } from '../api/answers';
import { METRICS } from './metrics';
import { visibleText } from './text';

/** A figure and what it is. */
export interface Score {
  readonly name: string;
  readonly value: number;
  /** Whether a higher one is better; null where nothing is known of it. */
  readonly higher: boolean | null;
  /** Its place among the metrics, the most telling first. */
  readonly rank: number;
}

/** What a figure is called that says of itself that it judges a result. */
const JUDGES = /score|confidence/i;
const LONGEST_NAME = 14;

const KNOWN = new Map(
  METRICS.flatMap(([label, higher, ...names], rank) =>
    names.map(name => [name, { name: label, higher, rank }] as const)
  )
);

/** The figure to show of a job; null when it has none. */
export function findScore(job: JobRecord): Score | null {
  const scores = Object.entries(job.score ?? {}).flatMap(([name, value]) =>
    typeof value === 'number' ? judge(name, value) : []
  );
  return scores.sort((a, b) => a.rank - b.rank)[0] ?? null;
}

function judge(name: string, value: number): readonly Score[] {
  const known = KNOWN.get(name.toLowerCase().replace(/[^a-z0-9+]+/g, ''));
  if (known) {
    return [{ ...known, value }];
  }
  return JUDGES.test(name) ? [{ name, value, higher: null, rank: METRICS.length }] : [];
}

/** The order of two scores: by metric, and the better one first. */
export function compareScores(a: Score, b: Score): number {
  if (a.rank !== b.rank || a.name !== b.name) {
    return a.rank - b.rank || a.name.localeCompare(b.name);
  }
  return a.higher === false ? a.value - b.value : b.value - a.value;
}

/** The figure in a few letters: `pTM 0.87`. */
export function formatScore({ name, value }: Score): string {
  const shown = visibleText(name);
  const word = shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME - 1)}…` : shown;
  return `${word} ${Number(value.toPrecision(3))}`;
}
