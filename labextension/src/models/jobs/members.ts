/**
 * The jobs of all members of the organization. They are not polled, but requested when the view is opened, and on demand.
 */
import type { JobRecord, OlderResponse } from '../../api/responses';
import { isBatch, readSubjobs, type BatchSource } from './batch';
import { Store } from '../store';
import { messageOf } from '../formatting/text';
import { PLAIN, type Trans } from '../translation';

/** Source of these jobs. */
export interface MembersSource extends BatchSource {
  members(key: string | null): Promise<OlderResponse>;
}

/** The jobs of a member's batch. */
export interface OpenBatch {
  /** In the order of the batch's rows; null while loading, and after a failure. */
  readonly jobs: readonly JobRecord[] | null;
  /** Why they could not be loaded; null if they could. */
  readonly fault: string | null;
}

/** Everything a view shows about them. */
export interface MembersState {
  /** Newest first; null before the first response. */
  readonly jobs: readonly JobRecord[] | null;
  readonly hasOlder: boolean;
  readonly isLoading: boolean;
  /** Why they could not be loaded; null if they could. */
  readonly fault: string | null;
  /** Time of the response in milliseconds since 1970. */
  readonly receivedAt: number;
  /** Key of the active job, to which commands apply; null for none. */
  readonly chosen: string | null;
  /** Why the service refused a result, by the job's key. */
  readonly refusals: ReadonlyMap<string, string>;
  /** Expanded batches by their key. */
  readonly open: ReadonlyMap<string, OpenBatch>;
}

const INITIAL: MembersState = {
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
    super(INITIAL);
    this.source = source;
  }

  /** Requests the newest jobs and those of expanded batches, and clears the noted refusals. */
  async refresh(): Promise<void> {
    this.update({ refusals: new Map() });
    await this.load(null, []);
    const { jobs, open } = this.state();
    await Promise.all((jobs ?? []).filter(job => open.has(memberKey(job))).map(job => this.loadBatch(job)));
  }

  /** Expands or collapses a member's batch. */
  toggleBatch(batch: JobRecord): void {
    const [open, key] = [new Map(this.state().open), memberKey(batch)];
    if (open.delete(key)) {
      this.update({ open });
    } else {
      this.update({ open: open.set(key, { jobs: null, fault: null }) });
      void this.loadBatch(batch);
    }
  }

  /** Makes the job with this key active for commands; null for none. */
  choose(key: string | null): void {
    if (key !== this.state().chosen) {
      this.update({ chosen: key });
    }
  }

  /** The active job, to which commands apply. */
  chosen(): JobRecord | undefined {
    const { chosen } = this.state();
    return chosen === null ? undefined : this.knownJobs().find(job => memberKey(job) === chosen);
  }

  /** A member's job, also one in an expanded batch. */
  find(name: string, member: string): JobRecord | undefined {
    return this.knownJobs().find(job => job.jobName === name && job.email === member);
  }

  /** Notes why the service refused the result of a job. */
  noteRefusal(job: Pick<JobRecord, 'jobName' | 'email'>, reason: string): void {
    this.update({ refusals: new Map(this.state().refusals).set(memberKey(job), reason) });
  }

  /** Requests the page after the oldest known job. */
  async loadOlder(): Promise<void> {
    if (this.olderKey !== null && !this.state().isLoading) {
      await this.load(this.olderKey, this.state().jobs ?? []);
    }
  }

  /** Resets the state after switching to another service. */
  reset(): void {
    this.generation += 1;
    this.olderKey = null;
    this.update(INITIAL);
  }

  private knownJobs(): readonly JobRecord[] {
    const { jobs, open } = this.state();
    return [...(jobs ?? []), ...[...open.values()].flatMap(batch => batch.jobs ?? [])];
  }

  private async loadBatch({ jobName, email }: JobRecord): Promise<void> {
    const key = memberKey({ jobName, email });
    const request = readSubjobs(this.source, jobName, email);
    this.batchRequests.set(key, request);
    const batch = await request.then(
      (jobs): OpenBatch => ({ jobs: jobs.map(job => ({ ...job, email })), fault: null }),
      (error: unknown): OpenBatch => ({ jobs: null, fault: messageOf(error) })
    );
    if (this.batchRequests.get(key) === request && this.state().open.has(key)) {
      this.update({ open: new Map(this.state().open).set(key, batch) });
    }
  }

  private async load(key: string | null, knownJobs: readonly JobRecord[]): Promise<void> {
    const generation = (this.generation += 1);
    this.update({ isLoading: true, fault: null });
    try {
      const page = await this.source.members(key);
      if (generation === this.generation) {
        this.olderKey = page.olderKey;
        const jobs = [...knownJobs, ...page.jobs];
        this.update({ jobs, hasOlder: page.olderKey !== null, isLoading: false, receivedAt: Date.now() });
      }
    } catch (error) {
      if (generation === this.generation) {
        this.update({ isLoading: false, fault: messageOf(error) });
      }
    }
  }

  private readonly source: MembersSource;
  private generation = 0;
  private olderKey: string | null = null;
  /** The latest request for the jobs of each batch. */
  private readonly batchRequests = new Map<string, Promise<unknown>>();
}

/** Key of a member's job; several members may use the same name. */
export function memberKey({ jobName, email }: Pick<JobRecord, 'jobName' | 'email'>): string {
  return `${email ?? ''}/${jobName}`;
}

/** Addresses of the members whose jobs are known, in alphabetical order. */
export function listMembers(jobs: readonly JobRecord[]): readonly string[] {
  return [...new Set(jobs.flatMap(job => job.email ?? []))].sort();
}

/** A row of the list: a job, or a text in place of a batch's jobs. */
export type MemberListRow =
  | { readonly kind: 'job'; readonly key: string; readonly job: JobRecord; readonly level: 1 | 2 }
  | { readonly kind: 'note'; readonly key: string; readonly text: string };

/** The rows for jobs, those of expanded batches below their batch. */
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
    const text = placeholderText(batch, job, trans);
    if (text !== null) {
      return [row, { kind: 'note', key: `note ${key}`, text }];
    }
    const subjobs = batch.jobs ?? [];
    return [
      row,
      ...subjobs.map(subjob => ({ ...row, key: `${key} / ${subjob.jobName}`, job: subjob, level: 2 as const }))
    ];
  });
}

/** The text shown instead of a batch's jobs; null if they are listed. */
function placeholderText({ jobs, fault }: OpenBatch, batch: JobRecord, trans: Trans): string | null {
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
