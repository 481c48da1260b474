/** The engines of the server's computer; asked for when somebody looks, and often while one is being changed. */
import { Poll } from '@lumino/polling';

import type { EngineAction, EngineRecord, EnginesAnswer } from '../api/answers';
import { Store } from './store';
import { sentenceOf } from './text';

/** Where engines come from. */
export interface EnginesSource {
  engines(): Promise<EnginesAnswer>;
  changeEngine(name: string, action: EngineAction): Promise<void>;
}

/** Everything a view shows about engines. */
export interface EnginesState {
  /** Null before the first answer. */
  readonly engines: readonly EngineRecord[] | null;
  /** Whether a person looks at them. */
  readonly isOpen: boolean;
  readonly complaint: string | null;
}

const BUSY_MS = 2000;

/** The engines. */
export class EnginesModel extends Store<EnginesState> {
  constructor(source: EnginesSource, busyMs: number = BUSY_MS) {
    super({ engines: null, isOpen: false, complaint: null });
    this.source = source;
    this.busyMs = busyMs;
  }

  /** Calls back when an installation or removal has ended: other tools may run from now on. */
  onEnd: () => void = () => undefined;

  /** Opens the list and asks anew, or closes it; the end of a change is waited for either way. */
  show(isOpen: boolean): void {
    this.update({ isOpen });
    if (isOpen) {
      void this.refresh();
    }
  }

  /** Begins to install or to remove one, or cancels that. */
  async change(name: string, action: EngineAction): Promise<void> {
    let complaint: string | null = null;
    try {
      await this.source.changeEngine(name, action);
    } catch (error) {
      complaint = sentenceOf(error);
    }
    await this.refresh();
    if (complaint !== null) {
      this.update({ complaint }); // after the answer, which takes back what was said before
    }
  }

  /** Asks again. */
  async refresh(): Promise<void> {
    const isBusy = (): boolean => this.state().engines?.some(engine => engine.isBusy) ?? false;
    const wasBusy = isBusy();
    try {
      const { engines } = await this.source.engines();
      this.update({ engines, complaint: null });
    } catch (error) {
      this.update({ complaint: sentenceOf(error) });
    }
    if (wasBusy && !isBusy()) {
      this.onEnd();
    }
    void (isBusy() ? this.poll.schedule({ interval: this.busyMs }) : this.poll.stop());
  }

  private readonly source: EnginesSource;
  private readonly busyMs: number;
  private readonly poll = new Poll({
    name: 'foldnote:engines',
    auto: false,
    factory: () => this.refresh()
  });
}
