/**
 * The jobs of everybody in the organization. They are looked at and not followed: they are asked for when somebody opens the
 * view, and again on demand.
 */
import type { JobRecord, OlderAnswer } from '../api/answers';
import { isBatch, readSubjobs, type BatchSource } from './batch';
import { Store } from './store';
import { sentenceOf } from './text';
import { PLAIN, type Trans } from './words';

/** Where they come from. */
export interface MembersSource extends BatchSource {
  members(key: string | null): Promise<OlderAnswer>;
}

/** The jobs of a batch of a member. */
export interface OpenBatch {
  /** In the order of the batch's rows; null while they are asked for, and where there is a fault. */
  readonly jobs: readonly JobRecord[] | null;
  /** Why the service does not give them; null when it does. */
  readonly fault: string | null;
}

/** Everything a view shows about them. */
export interface MembersState {
  /** Newest first; null before the first answer. */
  readonly jobs: readonly JobRecord[] | null;
  readonly hasOlder: boolean;
  readonly isLoading: boolean;
  /** Why they are not there; null when they are. */
  readonly fault: string | null;
  /** Milliseconds since 1970 of the answer. */
  readonly receivedAt: number;
  /** Key of the job that commands are about; null for none. */
  readonly chosen: string | null;
  /** Why the service gives no result, by the job's key. */
  readonly refusals: ReadonlyMap<string, string>;
  /** Unfolded batches by their key. */
  readonly open: ReadonlyMap<string, OpenBatch>;
}

const NOTHING: MembersState = {
  jobs: null,
  hasOlder: false,
  isLoading: false,
  fault: null,
  receivedAt: 0,
  chosen: null,
  refusals: new Map(),
  open: new Map()
};

/** The jobs of the organization. */
export class MembersModel extends Store<MembersState> {
  constructor(source: MembersSource) {
    super(NOTHING);
    this.source = source;
  }

  /** Asks for the newest ones, and for the jobs of unfolded batches; what was refused may be tried again. */
  async refresh(): Promise<void> {
    this.update({ refusals: new Map() });
    await this.load(null, []);
    const { jobs, open } = this.state();
    await Promise.all((jobs ?? []).filter(job => open.has(memberKey(job))).map(job => this.loadBatch(job)));
  }

  /** Unfolds a member's batch, or folds it. */
  toggleBatch(batch: JobRecord): void {
    const [open, key] = [new Map(this.state().open), memberKey(batch)];
    if (open.delete(key)) {
      this.update({ open });
    } else {
      this.update({ open: open.set(key, { jobs: null, fault: null }) });
      void this.loadBatch(batch);
    }
  }

  /** Has the commands be about the job of this key; null for none. */
  choose(key: string | null): void {
    if (key !== this.state().chosen) {
      this.update({ chosen: key });
    }
  }

  /** The job that commands are about. */
  chosen(): JobRecord | undefined {
    const { chosen } = this.state();
    return chosen === null ? undefined : this.known().find(job => memberKey(job) === chosen);
  }

  /** A member's job, also one in an unfolded batch. */
  find(name: string, member: string): JobRecord | undefined {
    return this.known().find(job => job.jobName === name && job.email === member);
  }

  /** Keeps why the service gives no result of a job. */
  noteRefusal(job: Pick<JobRecord, 'jobName' | 'email'>, reason: string): void {
    this.update({ refusals: new Map(this.state().refusals).set(memberKey(job), reason) });
  }

  /** Asks for the page that follows after the oldest one known. */
  async loadOlder(): Promise<void> {
    if (this.olderKey !== null && !this.state().isLoading) {
      await this.load(this.olderKey, this.state().jobs ?? []);
    }
  }

  /** Forgets everything: another service is meant from now on. */
  reset(): void {
    this.turn += 1;
    this.olderKey = null;
    this.update(NOTHING);
  }

  private known(): readonly JobRecord[] {
    const { jobs, open } = this.state();
    return [...(jobs ?? []), ...[...open.values()].flatMap(batch => batch.jobs ?? [])];
  }

  private async loadBatch({ jobName, email }: JobRecord): Promise<void> {
    const key = memberKey({ jobName, email });
    let found: OpenBatch;
    try {
      const jobs = await readSubjobs(this.source, jobName, email);
      found = { jobs: jobs.map(job => ({ ...job, email })), fault: null };
    } catch (error) {
      found = { jobs: null, fault: sentenceOf(error) };
    }
    if (this.state().open.has(key)) {
      this.update({ open: new Map(this.state().open).set(key, found) });
    }
  }

  private async load(key: string | null, known: readonly JobRecord[]): Promise<void> {
    const turn = (this.turn += 1);
    this.update({ isLoading: true, fault: null });
    try {
      const page = await this.source.members(key);
      if (turn === this.turn) {
        this.olderKey = page.olderKey;
        const jobs = [...known, ...page.jobs];
        this.update({ jobs, hasOlder: page.olderKey !== null, isLoading: false, receivedAt: Date.now() });
      }
    } catch (error) {
      if (turn === this.turn) {
        this.update({ isLoading: false, fault: sentenceOf(error) });
      }
    }
  }

  private readonly source: MembersSource;
  private turn = 0;
  private olderKey: string | null = null;
}

/** Tells the jobs of members apart, who may use one name. */
export function memberKey({ jobName, email }: Pick<JobRecord, 'jobName' | 'email'>): string {
  return `${email ?? ''}/${jobName}`;
}

/** Addresses of the members whose jobs are known, in alphabetical order. */
export function listMembers(jobs: readonly JobRecord[]): readonly string[] {
  return [...new Set(jobs.flatMap(job => job.email ?? []))].sort();
}

/** A row of the list: a job, or a word in the place of a batch's jobs. */
export type MemberListRow =
  | { readonly kind: 'job'; readonly key: string; readonly job: JobRecord; readonly level: 1 | 2 }
  | { readonly kind: 'note'; readonly key: string; readonly text: string };

/** The rows for jobs, those of unfolded batches below their batch. */
export function memberRows(
  jobs: readonly JobRecord[],
  open: ReadonlyMap<string, OpenBatch>,
  trans: Trans = PLAIN
): readonly MemberListRow[] {
  return jobs.flatMap((job): readonly MemberListRow[] => {
    const key = `${memberKey(job)}/${job.created ?? ''}`;
    const row = { kind: 'job', key, job, level: 1 } as const;
    const batch = isBatch(job) ? open.get(memberKey(job)) : undefined;
    if (!batch) {
      return [row];
    }
    const text = wordsInstead(batch, job, trans);
    if (text !== null) {
      return [row, { kind: 'note', key: `note ${key}`, text }];
    }
    const subjobs = batch.jobs ?? [];
    return [row, ...subjobs.map(each => ({ ...row, key: `${key} / ${each.jobName}`, job: each, level: 2 as const }))];
  });
}

/** Why a batch's jobs are not below it; null when they are. */
function wordsInstead({ jobs, fault }: OpenBatch, batch: JobRecord, trans: Trans): string | null {
  if (fault !== null) {
    return trans.__('The service refuses access to its jobs. %1', fault);
  }
  if (jobs === null) {
    return trans.__('Loading its jobs …');
  }
  if (jobs.length > 0) {
    return null;
  }
  return batch.batchSize
    ? trans.__('The service does not list the jobs of another member’s batch. Its result covers all of them.')
    : trans.__('No jobs are left in this batch.');
}
