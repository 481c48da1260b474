/**
 * The selected jobs of a list, with the behaviour of a list box: a click selects one job, Ctrl+click toggles it, and
 * Shift+click selects a range; keys do the same.
 */
import { Store } from '../store';

/** How an action changes the selection. */
export type SelectionMode = 'alone' | 'toggle' | 'range' | 'keep';

/** The selection. */
export interface SelectionState {
  readonly names: ReadonlySet<string>;
  /** Key of the active row; null if none. */
  readonly current: string | null;
}

/** The selection of the jobs list. */
export class Selection extends Store<SelectionState> {
  constructor() {
    super({ names: new Set(), current: null });
  }

  /**
   * Makes a row active and changes the selection.
   *
   * @param key - key of the row
   * @param name - name of its job; null for a row without one
   * @param mode - how the selection changes
   * @param order - names of all rows in display order, for ranges
   */
  choose(key: string, name: string | null, mode: SelectionMode, order: readonly string[] = []): void {
    if (name === null || mode === 'keep') {
      this.update({ current: key });
      return;
    }
    if (mode !== 'range' || this.anchor === null) {
      this.anchor = name;
    }
    this.update({ current: key, names: this.nextNames(name, mode, order) });
  }

  /** Selects all of these jobs. */
  chooseAll(names: readonly string[]): void {
    this.update({ names: new Set(names) });
  }

  /** Clears the selection. */
  clear(): void {
    this.anchor = null;
    this.update({ names: new Set() });
  }

  /** Removes jobs that no longer exist. */
  keepOnly(exists: (name: string) => boolean): void {
    const remaining = [...this.state().names].filter(exists);
    if (remaining.length < this.state().names.size) {
      this.update({ names: new Set(remaining) });
    }
  }

  private nextNames(name: string, mode: SelectionMode, order: readonly string[]): ReadonlySet<string> {
    const { names } = this.state();
    if (mode === 'toggle') {
      const changed = new Set(names);
      if (!changed.delete(name)) {
        changed.add(name);
      }
      return changed;
    }
    const from = order.indexOf(this.anchor ?? name);
    const to = order.indexOf(name);
    if (mode === 'range' && from >= 0 && to >= 0) {
      return new Set(order.slice(Math.min(from, to), Math.max(from, to) + 1));
    }
    return new Set([name]);
  }

  private anchor: string | null = null;
}

/** How a click with these modifier keys selects. */
export function readSelectionMode(event: {
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}): SelectionMode {
  if (event.shiftKey) {
    return 'range';
  }
  return event.ctrlKey || event.metaKey ? 'toggle' : 'alone';
}

/** The row that a key moves to in a list of `length` rows; -1 for other keys. */
export function nextIndex(key: string, index: number, length: number, page: number): number {
  switch (key) {
    case 'ArrowDown':
      return Math.min(index + 1, length - 1);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'PageDown':
      return Math.min(index + page, length - 1);
    case 'PageUp':
      return Math.max(index - page, 0);
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
    default:
      return -1;
  }
}
