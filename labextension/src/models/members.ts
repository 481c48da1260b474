/**
 * The jobs of everybody in the organization. They are looked at and not followed: they are asked for when somebody opens the
 * view, and again on demand.
 */
import type { JobRecord, OlderAnswer } from '../api/answers';
import { Store } from './store';
import { sentenceOf } from './text';

/** Where they come from. */
export interface MembersSource {
  members(key: string | null): Promise<OlderAnswer>;
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
}

const NOTHING: MembersState = {
  jobs: null,
  hasOlder: false,
  isLoading: false,
  fault: null,
  receivedAt: 0,
  chosen: null,
  refusals: new Map()
};

/** The jobs of the organization. */
export class MembersModel extends Store<MembersState> {
  constructor(source: MembersSource) {
    super(NOTHING);
    this.source = source;
  }

  /** Asks for the newest ones; what was refused may be tried again. */
  refresh(): Promise<void> {
    this.update({ refusals: new Map() });
    return this.load(null, []);
  }

  /** Has the commands be about the job of this key; null for none. */
  choose(key: string | null): void {
    if (key !== this.state().chosen) {
      this.update({ chosen: key });
    }
  }

  /** The job that commands are about. */
  chosen(): JobRecord | undefined {
    const { jobs, chosen } = this.state();
    return chosen === null ? undefined : jobs?.find(job => memberKey(job) === chosen);
  }

  /** A member's job. */
  find(name: string, member: string): JobRecord | undefined {
    return this.state().jobs?.find(job => job.jobName === name && job.email === member);
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
