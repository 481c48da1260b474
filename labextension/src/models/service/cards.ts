/**
 * The launcher cards of the last visit, stored in the browser so that they can be shown before the service responds.
 */
import type { ReadonlyJSONObject } from '@lumino/coreutils';

/** What a card of a tool shows and opens. */
export interface CardArgs extends ReadonlyJSONObject {
  readonly tool: string;
  readonly name: string;
  readonly description: string;
  readonly family: string;
}

const STORAGE_KEY = 'foldnote:launcher-cards';

/** The stored cards; none if nothing valid is stored. */
export function readCards(storage: Pick<Storage, 'getItem'>): readonly CardArgs[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isCard) : [];
  } catch {
    return [];
  }
}

/** Stores the cards for the next visit; fails silently if the browser has no space. */
export function writeCards(storage: Pick<Storage, 'setItem'>, cards: readonly CardArgs[]): void {
  try {
    storage.setItem(STORAGE_KEY, JSON.stringify(cards));
  } catch {
    // the next visit shows the cards once the service has responded
  }
}

function isCard(value: unknown): value is CardArgs {
  const fields = new Map<string, unknown>(value instanceof Object ? Object.entries(value) : []);
  return ['tool', 'name', 'description', 'family'].every(name => typeof fields.get(name) === 'string');
}
