/** The user's display options of the list of jobs, saved between visits if there is storage. */
import { FIRST_DETAILS, readDetails, writeDetails, type Detail } from './details';
import { STATES, type ShownState } from './status';
import { Store } from './store';

/** Orders of the list. */
export const SORTS = ['newest', 'oldest', 'ended', 'name', 'status', 'duration', 'queue', 'score'] as const;
/** Ways to group the list. */
export const GROUPS = ['none', 'tool', 'day', 'project', 'notebook', 'tags'] as const;

/** Whose jobs are listed. */
export const JOB_OWNERS = ['mine', 'organization'] as const;

/** Whose jobs are listed. */
export type JobOwner = (typeof JOB_OWNERS)[number];
/** An order of the list. */
export type Sort = (typeof SORTS)[number];
/** A way to group the list. */
export type Grouping = (typeof GROUPS)[number];

/** Display options of the list. */
export interface Choices {
  /** The state to show; null for all. */
  readonly state: ShownState | null;
  readonly query: string;
  readonly sort: Sort;
  readonly grouping: Grouping;
  readonly whose: JobOwner;
  /** Details of rows besides name and status. */
  readonly details: readonly Detail[];
}

/** The default options. */
export const FIRST_CHOICES: Choices = {
  state: null,
  query: '',
  sort: 'newest',
  grouping: 'none',
  whose: 'mine',
  details: FIRST_DETAILS
};

/** Storage of small plain values. */
export interface ChoiceStorage {
  fetch(id: string): Promise<unknown>;
  save(id: string, value: Record<string, string | null>): Promise<void>;
}

const ID = 'foldnote:choices';

/** The choices. */
export class ChoicesModel extends Store<Choices> {
  /** @param storage - where they are saved; null to not save them */
  constructor(storage: ChoiceStorage | null = null) {
    super(FIRST_CHOICES);
    this.storage = storage;
  }

  /** Restores the saved options that are valid. */
  async restore(): Promise<void> {
    const kept: unknown = await this.storage?.fetch(ID);
    if (kept instanceof Object) {
      const read = new Map<string, unknown>(Object.entries(kept));
      this.update({
        state: STATES.find(row => row.state === read.get('state'))?.state ?? null,
        sort: SORTS.find(sort => sort === read.get('sort')) ?? FIRST_CHOICES.sort,
        grouping: GROUPS.find(grouping => grouping === read.get('grouping')) ?? FIRST_CHOICES.grouping,
        whose: JOB_OWNERS.find(whose => whose === read.get('whose')) ?? FIRST_CHOICES.whose,
        details: readDetails(read.get('details'))
      });
    }
  }

  /** Changes options. The search is not saved, because an empty list at the next start would be confusing. */
  choose(change: Partial<Choices>): void {
    this.update(change);
    const { state, sort, grouping, whose, details } = this.state();
    void this.storage?.save(ID, { state, sort, grouping, whose, details: writeDetails(details) });
  }

  private readonly storage: ChoiceStorage | null;
}
