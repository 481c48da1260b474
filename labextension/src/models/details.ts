/**
 * The details that a row of the list shows besides a job's name and status: the user's selection, and which of them are
 * hidden when the list is narrow. Rendering is elsewhere.
 */

/** Facts in a row's line, in this order. */
export const FACTS = ['tool', 'notebook', 'score', 'duration', 'queue', 'hours', 'ended', 'age'] as const;
/** Details that are not facts: they share the end of the line. */
const NOTES = ['progress', 'tags', 'reason'] as const;
/** All details that can be selected. */
export const DETAILS = [...FACTS, ...NOTES] as const;

/** A fact of a row's line. */
export type Fact = (typeof FACTS)[number];
/** A detail that can be selected. */
export type Detail = (typeof DETAILS)[number];

/** Facts that are hidden by default; if selected, they take precedence over the default ones. */
const EXTRA: readonly Detail[] = ['hours', 'notebook', 'ended', 'queue'];

/** Facts that take two slots; a score or a duration takes one. */
const LONG: readonly Fact[] = ['hours', 'ended', 'queue'];
/** Additional slots of a line of default width, compared with a narrow one. */
const MORE_IN_MEDIUM = 2;

/** The default details. */
export const FIRST_DETAILS: readonly Detail[] = DETAILS.filter(detail => !EXTRA.includes(detail));

/** Adds a detail, or removes it if present. */
export function toggleDetail(details: readonly Detail[], detail: Detail): readonly Detail[] {
  return DETAILS.filter(each => (each === detail) !== details.includes(each));
}

/** The saved form of the details. */
export function writeDetails(details: readonly Detail[]): string {
  return details.join(' ');
}

/** Restores the saved details, or the default ones. */
export function readDetails(kept: unknown): readonly Detail[] {
  if (typeof kept !== 'string') {
    return FIRST_DETAILS;
  }
  const names = new Set(kept.split(' '));
  return DETAILS.filter(detail => names.has(detail));
}

/** When a fact is hidden: in a line of default width, or wherever the list is not a table. */
export type HiddenIn = 'narrow' | 'medium';

/**
 * The facts to hide when a line has no space for all.
 *
 * @param facts - the selected facts that the row has
 * @param isRunning - whether the job is running; then its duration takes precedence over its age
 * @param kept - the only fact for which a note at the end of the line leaves space; undefined without a note
 */
export function chooseHiddenFacts(
  facts: readonly Fact[],
  isRunning: boolean,
  kept?: Fact | null
): ReadonlyMap<Fact, HiddenIn> {
  if (kept !== undefined) {
    return new Map(facts.filter(fact => fact !== kept).map(fact => [fact, 'medium']));
  }
  const usual: readonly Fact[] = isRunning ? ['duration', 'score', 'age'] : ['score', 'age', 'duration'];
  const wanted = [...FACTS.filter(fact => EXTRA.includes(fact)), ...usual].filter(fact => facts.includes(fact));
  const narrow = facts.includes('tool') ? 1 : 2;
  const spare = new Map<Fact, HiddenIn>();
  let taken = 0;
  for (const fact of wanted) {
    const needed = taken + (LONG.includes(fact) ? 2 : 1);
    if (taken > 0 && needed > narrow) {
      spare.set(fact, needed > narrow + MORE_IN_MEDIUM ? 'medium' : 'narrow');
    }
    taken = needed;
  }
  return spare;
}

/** CSS grid columns of the rows: the status, the selected facts, and the note. */
export function columnsOf(details: readonly Detail[]): string {
  const facts = FACTS.filter(fact => details.includes(fact));
  const widths = facts.map(fact => `[${fact}] minmax(0, ${fact === 'tool' || fact === 'notebook' ? 3 : 2}fr)`);
  const note = NOTES.some(each => details.includes(each)) ? ['[note] minmax(0, 6fr)'] : [];
  return ['minmax(9.5em, 2fr)', ...widths, ...note].join(' ');
}
