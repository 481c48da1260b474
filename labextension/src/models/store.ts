/**
 * A value that views can watch: the smallest thing that React's `useSyncExternalStore` needs.
 */

/** Holds one immutable state and tells listeners when it is replaced. */
export class Store<S> {
  constructor(initial: S) {
    this.current = initial;
  }

  /** The present state; the same object until something changes. */
  readonly state = (): S => this.current;

  /** Calls `listener` after each change; returns what ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  /** Replaces parts of the state. */
  protected update(change: Partial<S>): void {
    this.current = { ...this.current, ...change };
    for (const listener of [...this.listeners]) {
      listener();
    }
  }

  private current: S;
  private readonly listeners = new Set<() => void>();
}
