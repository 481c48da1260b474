/**
 * What a row of the list shows beside a job's name and status: which of it a person chose, and what of that gives way where the
 * list is narrow. How it is drawn is not known here.
 */

/** Facts that stand in a row's line, in this order. */
export const FACTS = ['tool', 'notebook', 'score', 'duration', 'hours', 'age'] as const;
/** Everything that can be chosen; what is no fact stands below the line. */
export const DETAILS = [...FACTS, 'progress', 'tags', 'reason'] as const;

/** A fact of a row's line. */
export type Fact = (typeof FACTS)[number];
/** Something that can be chosen. */
export type Detail = (typeof DETAILS)[number];

/** Facts that are shown only where somebody asked for them; so they are wanted more than the usual ones. */
const EXTRA: readonly Detail[] = ['hours', 'notebook'];

/** Places that the words of weighted hours take, where a score or a time takes one. */
const LONG = 2;
/** Places that a line of usual width has beyond those of a narrow one. */
const MORE_IN_MEDIUM = 2;

/** The details before anybody chose. */
export const FIRST_DETAILS: readonly Detail[] = DETAILS.filter(detail => !EXTRA.includes(detail));

/** The details with one more, or without it where it was among them. */
export function toggleDetail(details: readonly Detail[], detail: Detail): readonly Detail[] {
  return DETAILS.filter(each => (each === detail) !== details.includes(each));
}

/** What is kept of the details between visits. */
export function writeDetails(details: readonly Detail[]): string {
  return details.join(' ');
}

/** The details that were kept; the first ones, where none were. */
export function readDetails(kept: unknown): readonly Detail[] {
  if (typeof kept !== 'string') {
    return FIRST_DETAILS;
  }
  const names = new Set(kept.split(' '));
  return DETAILS.filter(detail => names.has(detail));
}

/** Where a fact gives way to others: below the width of a usual sidebar, or already below a wide one. */
export type Spare = 'narrow' | 'medium';

/**
 * The facts that give way where a line has no room for all.
 *
 * @param facts - those that the row has and a person chose
 * @param isRunning - how long a job runs is then wanted more than when it was submitted
 */
export function spareFacts(facts: readonly Fact[], isRunning: boolean): ReadonlyMap<Fact, Spare> {
  const usual: readonly Fact[] = isRunning ? ['duration', 'score', 'age'] : ['score', 'age', 'duration'];
  const wanted = [...FACTS.filter(fact => EXTRA.includes(fact)), ...usual].filter(fact => facts.includes(fact));
  const narrow = facts.includes('tool') ? 1 : 2;
  const spare = new Map<Fact, Spare>();
  let taken = 0;
  for (const fact of wanted) {
    const needed = taken + (fact === 'hours' ? LONG : 1);
    if (taken > 0 && needed > narrow) {
      spare.set(fact, needed > narrow + MORE_IN_MEDIUM ? 'medium' : 'narrow');
    }
    taken = needed;
  }
  return spare;
}

/** The columns of a table of rows, as CSS tells them: the status, then the facts among the details. */
export function columnsOf(details: readonly Detail[]): string {
  const facts = FACTS.filter(fact => details.includes(fact));
  const widths = facts.map(fact => `[${fact}] minmax(0, ${fact === 'tool' || fact === 'notebook' ? 3 : 2}fr)`);
  return ['minmax(0, 2fr)', ...widths].join(' ');
}
