/**
 * What the page knows about jobs. It asks the server extension, never the job service, and only while a view watches and
 * the page can be seen.
 */
import type { JobRecord, JobsAnswer, ServiceReport, StatusCounts, Tagged } from '../api/answers';
import { isLive } from './status';
import { Store } from './store';

/** Where jobs come from. */
export interface JobsSource {
  jobs(tag: string | null): Promise<Tagged<JobsAnswer>>;
  stop(name: string): Promise<void>;
  delete(name: string): Promise<void>;
  log(name: string): Promise<string>;
}

/** How often to ask the Jupyter server, in milliseconds; how often that one asks the service is its own affair. */
export interface Pace {
  /** While a job is unfinished or the service is starting. */
  readonly busy: number;
  /** Otherwise. */
  readonly idle: number;
  /** The longest pause after failures. */
  readonly longest: number;
}

/** Everything a view shows about jobs. */
export interface JobsState {
  readonly jobs: readonly JobRecord[];
  readonly statuses: StatusCounts | null;
  /** Null before the first answer. */
  readonly service: ServiceReport | null;
  /** Why the Jupyter server itself did not answer; null while it does. */
  readonly lost: string | null;
  /** Milliseconds since 1970 of the last answer; ages are counted to here. */
  readonly receivedAt: number;
  /** Names of the jobs with a request of the user under way. */
  readonly pending: ReadonlySet<string>;
  /** Why the last request of the user failed; null when it did not. */
  readonly complaint: string | null;
}

const PACE: Pace = { busy: 1500, idle: 2000, longest: 20000 };

const EMPTY: JobsState = {
  jobs: [],
  statuses: null,
  service: null,
  lost: null,
  receivedAt: 0,
  pending: new Set(),
  complaint: null
};

/** The jobs of the account, kept fresh while somebody watches. */
export class JobsModel extends Store<JobsState> {
  constructor(source: JobsSource, pace: Pace = PACE) {
    super(EMPTY);
    this.source = source;
    this.pace = pace;
    document.addEventListener('visibilitychange', this.onVisibility);
  }

  /** Keeps the jobs fresh until the returned function is called. */
  watch(): () => void {
    this.watchers += 1;
    void this.refresh();
    let isOver = false;
    return () => {
      if (!isOver) {
        isOver = true;
        this.watchers -= 1;
      }
    };
  }

  /** Asks at once, or joins the question that is under way; resolves when the answer is in the state. */
  refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.asking ??= this.ask().finally(() => {
      this.asking = null;
      this.schedule();
    });
    return this.asking;
  }

  /** Asks the service to stop the job. */
  stop(name: string): Promise<void> {
    return this.act(name, () => this.source.stop(name));
  }

  /** Deletes the job and its results. */
  delete(name: string): Promise<void> {
    return this.act(name, () => this.source.delete(name));
  }

  /** The end of the job's log. */
  log(name: string): Promise<string> {
    return this.source.log(name);
  }

  /** Forgets why the last request failed. */
  dismissComplaint(): void {
    this.update({ complaint: null });
  }

  /** Stops asking for good. */
  dispose(): void {
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.watchers = 0;
    clearTimeout(this.timer);
  }

  private async ask(): Promise<void> {
    try {
      const answer = await this.source.jobs(this.tag);
      this.tag = answer.tag;
      this.failures = 0;
      this.update({ ...answer.body, lost: null, receivedAt: Date.now() });
    } catch (error) {
      this.failures += 1;
      this.update({ lost: sentence(error) });
    }
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.watchers > 0 && !document.hidden) {
      this.timer = setTimeout(() => void this.refresh(), this.pause());
    }
  }

  /** Milliseconds until the next question. */
  private pause(): number {
    const { jobs, service } = this.state();
    if (this.failures > 0) {
      return Math.min(this.pace.idle * 2 ** (this.failures - 1), this.pace.longest);
    }
    return service?.state === 'starting' || jobs.some(isLive) ? this.pace.busy : this.pace.idle;
  }

  private async act(name: string, request: () => Promise<void>): Promise<void> {
    this.update({ pending: new Set([...this.state().pending, name]), complaint: null });
    try {
      await request();
      await this.asking; // that answer may be older than the request
      await this.refresh();
    } catch (error) {
      this.update({ complaint: sentence(error) });
    } finally {
      this.update({ pending: new Set([...this.state().pending].filter(other => other !== name)) });
    }
  }

  private readonly onVisibility = (): void => {
    if (this.watchers === 0) {
      return;
    }
    if (document.hidden) {
      clearTimeout(this.timer);
    } else {
      void this.refresh();
    }
  };

  private readonly source: JobsSource;
  private readonly pace: Pace;
  private watchers = 0;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: Promise<void> | null = null;
  private tag: string | null = null;
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
