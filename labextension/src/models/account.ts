/**
 * What the account has left. It is asked for when somebody looks, and again after a job was submitted; a failure leaves it
 * as it was, since the jobs view says how the service is.
 */
import type { AccountAnswer } from '../api/answers';
import { Store } from './store';

/** Where the account comes from. */
export interface AccountSource {
  account(isFresh: boolean): Promise<AccountAnswer>;
}

/** What is known of the account. */
export interface AccountState {
  /** Null before the first answer. */
  readonly account: AccountAnswer | null;
}

/** The account. */
export class AccountModel extends Store<AccountState> {
  constructor(source: AccountSource) {
    super({ account: null });
    this.source = source;
  }

  /** Asks for it; `isFresh` has the service asked, and not what was known a minute ago. */
  async load(isFresh = false): Promise<void> {
    const { turn } = this;
    try {
      const account = await this.source.account(isFresh);
      if (turn === this.turn) {
        this.update({ account });
      }
    } catch {
      // the jobs view says that the service does not answer
    }
  }

  /** Takes note of how many jobs are known: more than before means that some of the account's were used. */
  noteJobs(count: number): void {
    if (this.state().account && this.count !== null && count > this.count) {
      void this.load(true);
    }
    this.count = count;
  }

  /** Forgets everything: another service is meant from now on. */
  reset(): void {
    this.turn += 1;
    this.count = null;
    this.update({ account: null });
  }

  private readonly source: AccountSource;
  private turn = 0;
  private count: number | null = null;
}
