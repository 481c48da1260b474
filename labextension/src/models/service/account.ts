/**
 * The account's remaining allowance. It is requested when displayed, and again after a job was submitted. After a
 * failure the last value is kept; the jobs view reports the state of the service.
 */
import type { AccountResponse } from '../../api/responses';
import { Store } from '../store';

/** Source of the account. */
export interface AccountSource {
  account(isFresh: boolean): Promise<AccountResponse>;
}

/** State of the account model. */
export interface AccountState {
  /** Null before the first response. */
  readonly account: AccountResponse | null;
}

/** The account. */
export class AccountModel extends Store<AccountState> {
  constructor(source: AccountSource) {
    super({ account: null });
    this.source = source;
  }

  /** Requests the account; `isFresh` bypasses the server's cache of a minute. */
  async load(isFresh = false): Promise<void> {
    const { generation } = this;
    try {
      const account = await this.source.account(isFresh);
      if (generation === this.generation) {
        this.update({ account });
      }
    } catch {
      // the jobs view reports that the service does not answer
    }
  }

  /** Notes the number of known jobs: an increase means that some of the allowance was used. */
  noteJobs(count: number): void {
    if (this.state().account && this.count !== null && count > this.count) {
      void this.load(true);
    }
    this.count = count;
  }

  /** Resets the state after switching to another service. */
  reset(): void {
    this.generation += 1;
    this.count = null;
    this.update({ account: null });
  }

  private readonly source: AccountSource;
  private generation = 0;
  private count: number | null = null;
}
