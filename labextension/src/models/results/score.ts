/**
 * The one score of a result to show in a list. Its name is shown with it, because scores of different tools cannot be
 * compared; counts and times are not scores.
 */
import type { JobRecord } from '../../api/responses';
import { METRICS } from './metrics';
import { visibleText } from '../formatting/text';

/** A score with its metric. */
export interface Score {
  readonly name: string;
  readonly value: number;
  /** Whether higher is better; null if unknown. */
  readonly higher: boolean | null;
  /** Its rank among the metrics, the most informative first. */
  readonly rank: number;
}

/** Names that mark a value as a score. */
const SCORE_NAME = /score|confidence/i;
const MAX_LABEL_LENGTH = 14;

const KNOWN = new Map(
  METRICS.flatMap(([label, higher, ...names], rank) =>
    names.map(name => [name, { name: label, higher, rank }] as const)
  )
);

/** The score to show for a job; null if it has none. */
export function findScore(job: JobRecord): Score | null {
  const scores = Object.entries(job.score ?? {}).flatMap(([name, value]) =>
    typeof value === 'number' ? rateScore(name, value) : []
  );
  return scores.sort((a, b) => a.rank - b.rank)[0] ?? null;
}

function rateScore(name: string, value: number): readonly Score[] {
  const known = KNOWN.get(name.toLowerCase().replace(/[^a-z0-9+]+/g, ''));
  if (known) {
    return [{ ...known, value }];
  }
  return SCORE_NAME.test(name) ? [{ name, value, higher: null, rank: METRICS.length }] : [];
}

/** Compares two scores: by metric, then better first. */
export function compareScores(a: Score, b: Score): number {
  if (a.rank !== b.rank || a.name !== b.name) {
    return a.rank - b.rank || a.name.localeCompare(b.name);
  }
  return a.higher === false ? a.value - b.value : b.value - a.value;
}

/** Formats a score briefly: `pTM 0.87`. */
export function formatScore({ name, value }: Score): string {
  const shown = visibleText(name);
  const label = shown.length > MAX_LABEL_LENGTH ? `${shown.slice(0, MAX_LABEL_LENGTH - 1)}…` : shown;
  return `${label} ${Number(value.toPrecision(3))}`;
}
