/**
 * The selected jobs of a list, with the behaviour of a list box: a click selects one job, Ctrl+click toggles it, and
 * Shift+click selects a range; keys do the same.
 */
import { Store } from './store';

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
   * @param how - how the selection changes
   * @param order - names of all rows in display order, for ranges
   */
  choose(key: string, name: string | null, how: SelectionMode, order: readonly string[] = []): void {
    if (name === null || how === 'keep') {
      this.update({ current: key });
      return;
    }
    if (how !== 'range' || this.anchor === null) {
      this.anchor = name;
    }
    this.update({ current: key, names: this.next(name, how, order) });
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
  keepOnly(isThere: (name: string) => boolean): void {
    const left = [...this.state().names].filter(isThere);
    if (left.length < this.state().names.size) {
      this.update({ names: new Set(left) });
    }
  }

  private next(name: string, how: SelectionMode, order: readonly string[]): ReadonlySet<string> {
    const { names } = this.state();
    if (how === 'toggle') {
      const changed = new Set(names);
      if (!changed.delete(name)) {
        changed.add(name);
      }
      return changed;
    }
    const from = order.indexOf(this.anchor ?? name);
    const to = order.indexOf(name);
    if (how === 'range' && from >= 0 && to >= 0) {
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
