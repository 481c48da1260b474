/** The user's display options of the list of jobs, saved between visits if there is storage. */
import { DEFAULT_DETAILS, readDetails, writeDetails, type Detail } from './details';
import { STATES, type ShownState } from './status';
import { Store } from '../store';

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
export const DEFAULT_CHOICES: Choices = {
  state: null,
  query: '',
  sort: 'newest',
  grouping: 'none',
  whose: 'mine',
  details: DEFAULT_DETAILS
};

/** Storage of small plain values. */
export interface ChoiceStorage {
  fetch(id: string): Promise<unknown>;
  save(id: string, value: Record<string, string | null>): Promise<void>;
}

const STORAGE_ID = 'foldnote:choices';

/** The choices. */
export class ChoicesModel extends Store<Choices> {
  /** @param storage - where they are saved; null to not save them */
  constructor(storage: ChoiceStorage | null = null) {
    super(DEFAULT_CHOICES);
    this.storage = storage;
  }

  /** Restores the saved options that are valid. */
  async restore(): Promise<void> {
    const stored: unknown = await this.storage?.fetch(STORAGE_ID);
    if (stored instanceof Object) {
      const fields = new Map<string, unknown>(Object.entries(stored));
      this.update({
        state: STATES.find(row => row.state === fields.get('state'))?.state ?? null,
        sort: SORTS.find(sort => sort === fields.get('sort')) ?? DEFAULT_CHOICES.sort,
        grouping: GROUPS.find(grouping => grouping === fields.get('grouping')) ?? DEFAULT_CHOICES.grouping,
        whose: JOB_OWNERS.find(whose => whose === fields.get('whose')) ?? DEFAULT_CHOICES.whose,
        details: readDetails(fields.get('details'))
      });
    }
  }

  /** Changes options. The search is not saved, because an empty list at the next start would be confusing. */
  choose(change: Partial<Choices>): void {
    this.update(change);
    const { state, sort, grouping, whose, details } = this.state();
    void this.storage?.save(STORAGE_ID, { state, sort, grouping, whose, details: writeDetails(details) });
  }

  private readonly storage: ChoiceStorage | null;
}
