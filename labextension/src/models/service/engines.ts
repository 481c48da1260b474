/** The engines of the server's computer, requested when displayed, and polled during a change. */
import { Poll } from '@lumino/polling';

import type { EngineAction, EngineRecord, EnginesResponse } from '../../api/responses';
import { Store } from '../store';
import { messageOf } from '../formatting/text';

/** Source of the engines. */
export interface EnginesSource {
  engines(): Promise<EnginesResponse>;
  changeEngine(name: string, action: EngineAction): Promise<void>;
}

/** Everything a view shows about engines. */
export interface EnginesState {
  /** Null before the first response. */
  readonly engines: readonly EngineRecord[] | null;
  /** Whether they are displayed. */
  readonly isOpen: boolean;
  readonly requestError: string | null;
}

const BUSY_MS = 2000;

/** The engines. */
export class EnginesModel extends Store<EnginesState> {
  constructor(source: EnginesSource, busyMs: number = BUSY_MS) {
    super({ engines: null, isOpen: false, requestError: null });
    this.source = source;
    this.busyMs = busyMs;
  }

  /** Called after an installation or removal, since the set of available tools may have changed. */
  onEnd: () => void = () => undefined;

  /** Opens the list and requests it, or closes it; an operation in progress is followed to its end in either case. */
  show(isOpen: boolean): void {
    this.update({ isOpen });
    if (isOpen) {
      void this.refresh();
    }
  }

  /** Begins or cancels an installation or removal. */
  async change(name: string, action: EngineAction): Promise<void> {
    let requestError: string | null = null;
    try {
      await this.source.changeEngine(name, action);
    } catch (error) {
      requestError = messageOf(error);
    }
    await this.refresh();
    if (requestError !== null) {
      this.update({ requestError }); // after the response, which clears the previous message
    }
  }

  /** Requests the list again. */
  async refresh(): Promise<void> {
    const isBusy = (): boolean => this.state().engines?.some(engine => engine.isBusy) ?? false;
    const wasBusy = isBusy();
    try {
      const { engines } = await this.source.engines();
      this.update({ engines, requestError: null });
    } catch (error) {
      this.update({ requestError: messageOf(error) });
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
