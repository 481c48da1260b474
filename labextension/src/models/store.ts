/** A value that views and plugins can watch. */
import { Signal } from '@lumino/signaling';

/** Holds one immutable state and emits a signal when it is replaced. */
export class Store<S> {
  constructor(initial: S) {
    this.current = initial;
  }

  /** The current state; the same object until something changes. */
  readonly state = (): S => this.current;

  /** Emitted after each change. */
  readonly changed = new Signal<this, void>(this);

  /** Replaces parts of the state. */
  protected update(change: Partial<S>): void {
    this.current = { ...this.current, ...change };
    this.changed.emit();
  }

  private current: S;
}
