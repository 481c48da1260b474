/** How a person wants to see the list of jobs; kept between visits where there is a place for it. */
import { readDetails, writeDetails } from './details';
import { FIRST_CHOICES, GROUPS, SORTS, WHOSE, type Choices } from './listing';
import { STATES } from './status';
import { Store } from './store';

/** A place that keeps small plain values. */
export interface Keeper {
  fetch(id: string): Promise<unknown>;
  save(id: string, value: Record<string, string | null>): Promise<void>;
}

const ID = 'foldnote:choices';

/** The choices. */
export class ChoicesModel extends Store<Choices> {
  /** @param keeper - where they are kept; null for nowhere */
  constructor(keeper: Keeper | null = null) {
    super(FIRST_CHOICES);
    this.keeper = keeper;
  }

  /** Takes what was kept, as far as it can be understood. */
  async restore(): Promise<void> {
    const kept: unknown = await this.keeper?.fetch(ID);
    if (kept instanceof Object) {
      const read = new Map<string, unknown>(Object.entries(kept));
      this.update({
        state: STATES.find(row => row.state === read.get('state'))?.state ?? null,
        sort: SORTS.find(sort => sort === read.get('sort')) ?? FIRST_CHOICES.sort,
        grouping: GROUPS.find(grouping => grouping === read.get('grouping')) ?? FIRST_CHOICES.grouping,
        whose: WHOSE.find(whose => whose === read.get('whose')) ?? FIRST_CHOICES.whose,
        details: readDetails(read.get('details'))
      });
    }
  }

  /** Changes some of them. A search is not kept: an empty list at the next start would puzzle. */
  choose(change: Partial<Choices>): void {
    this.update(change);
    const { state, sort, grouping, whose, details } = this.state();
    void this.keeper?.save(ID, { state, sort, grouping, whose, details: writeDetails(details) });
  }

  private readonly keeper: Keeper | null;
}
