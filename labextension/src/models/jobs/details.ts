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
export const DEFAULT_DETAILS: readonly Detail[] = DETAILS.filter(detail => !EXTRA.includes(detail));

/** Adds a detail, or removes it if present. */
export function toggleDetail(details: readonly Detail[], detail: Detail): readonly Detail[] {
  return DETAILS.filter(other => (other === detail) !== details.includes(other));
}

/** The saved form of the details. */
export function writeDetails(details: readonly Detail[]): string {
  return details.join(' ');
}

/** Restores the saved details, or the default ones. */
export function readDetails(saved: unknown): readonly Detail[] {
  if (typeof saved !== 'string') {
    return DEFAULT_DETAILS;
  }
  const names = new Set(saved.split(' '));
  return DETAILS.filter(detail => names.has(detail));
}

/** When a fact is hidden: in a line of default width, or wherever the list is not a table. */
export type HiddenIn = 'narrow' | 'medium';

/**
 * The facts to hide when a line has no space for all.
 *
 * @param facts - the selected facts that the row has
 * @param isRunning - whether the job is running; then its duration takes precedence over its age
 * @param keptFact - the only fact for which a note at the end of the line leaves space; undefined without a note
 */
export function chooseHiddenFacts(
  facts: readonly Fact[],
  isRunning: boolean,
  keptFact?: Fact | null
): ReadonlyMap<Fact, HiddenIn> {
  if (keptFact !== undefined) {
    return new Map(facts.filter(fact => fact !== keptFact).map(fact => [fact, 'medium']));
  }
  const byPriority: readonly Fact[] = isRunning ? ['duration', 'score', 'age'] : ['score', 'age', 'duration'];
  const removable = [...FACTS.filter(fact => EXTRA.includes(fact)), ...byPriority].filter(fact => facts.includes(fact));
  const narrowSlots = facts.includes('tool') ? 1 : 2;
  const hidden = new Map<Fact, HiddenIn>();
  let usedSlots = 0;
  for (const fact of removable) {
    const slotsWithFact = usedSlots + (LONG.includes(fact) ? 2 : 1);
    if (usedSlots > 0 && slotsWithFact > narrowSlots) {
      hidden.set(fact, slotsWithFact > narrowSlots + MORE_IN_MEDIUM ? 'medium' : 'narrow');
    }
    usedSlots = slotsWithFact;
  }
  return hidden;
}

/** CSS grid columns of the rows: the status, the selected facts, and the note. */
export function columnsOf(details: readonly Detail[]): string {
  const facts = FACTS.filter(fact => details.includes(fact));
  const widths = facts.map(fact => `[${fact}] minmax(0, ${fact === 'tool' || fact === 'notebook' ? 3 : 2}fr)`);
  const note = NOTES.some(detail => details.includes(detail)) ? ['[note] minmax(0, 6fr)'] : [];
  return ['minmax(9.5em, 2fr)', ...widths, ...note].join(' ');
}
