/** The launcher cards of the last visit, kept in the browser so that they are there before the service answers. */
import type { ReadonlyJSONObject } from '@lumino/coreutils';

/** What a card of a tool shows and opens. */
export interface CardArgs extends ReadonlyJSONObject {
  readonly tool: string;
  readonly name: string;
  readonly description: string;
  readonly family: string;
}

const KEY = 'foldnote:launcher-cards';

/** The kept cards; none if nothing valid is kept. */
export function readCards(storage: Pick<Storage, 'getItem'>): readonly CardArgs[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isCard) : [];
  } catch {
    return [];
  }
}

/** Keeps the cards for the next visit; a browser without space keeps none. */
export function writeCards(storage: Pick<Storage, 'setItem'>, cards: readonly CardArgs[]): void {
  try {
    storage.setItem(KEY, JSON.stringify(cards));
  } catch {
    // the next visit shows the cards when the service has answered
  }
}

function isCard(value: unknown): value is CardArgs {
  const row = new Map<string, unknown>(value instanceof Object ? Object.entries(value) : []);
  return ['tool', 'name', 'description', 'family'].every(name => typeof row.get(name) === 'string');
}
