/** foldnote's server extension with jobs, tools and files in memory, behind the real HTTP server of tests. */
import { createHash } from 'node:crypto';

import type {
  AccountResponse,
  EngineRecord,
  FileRecord,
  JobRecord,
  ProfileRecord,
  ServiceReport,
  ToolRecord
} from '../src/api/responses';
import { makeResponse, makeTool, SERVICE } from './records';
import { JupyterServer, type Answer, type Asked } from './server';

const ACCOUNT: AccountResponse = {
  allowanceWeightedHours: null,
  budgetWeightedHours: null,
  canClaim: false,
  email: 'ann@example.org',
  expiresAt: null,
  hasKey: true,
  isClaimed: null,
  isOwnService: true,
  jobsAllowed: null,
  jobsLeft: null,
  spentWeightedHours: null,
  tier: null,
  weightedHours: null
};

/** The kernels that Jupyter's own API tells of. */
const KERNELS = {
  default: 'python3',
  kernelspecs: {
    python3: { name: 'python3', spec: { language: 'python', display_name: 'Python 3', argv: [] }, resources: {} },
    ir: { name: 'ir', spec: { language: 'R', display_name: 'R', argv: [] }, resources: {} }
  }
};

/** What a service has, and how it answers. */
export class FoldnoteServer extends JupyterServer {
  jobs: JobRecord[] = [];
  older: JobRecord[] = [];
  members: JobRecord[] = [];
  tools: ToolRecord[] = [makeTool()];
  files: FileRecord[] = [];
  engines: EngineRecord[] = [];
  profiles: ProfileRecord[] = [{ name: 'embedded', isActive: true, url: null }];
  report: ServiceReport = SERVICE;
  /** Names whose deletion is refused, and why. */
  readonly refusals = new Map<string, string>();
  /** Answers in the place of the usual ones, by the path without its query. */
  readonly instead = new Map<string, Answer>();
  kernels: unknown = KERNELS;

  /** Forgets what a test has changed. */
  reset(): void {
    Object.assign(this, new FoldnoteServer().fresh());
    this.refusals.clear();
    this.instead.clear();
    this.asked.length = 0;
  }

  /** What was asked of one route, the last of it first. */
  askedOf(path: string, method = 'POST'): readonly Asked[] {
    return this.asked.filter(each => each.method === method && pathOf(each) === path).reverse();
  }

  /** The body of the last question to a route. */
  bodyOf(path: string): unknown {
    const [last] = this.askedOf(path);
    return last ? JSON.parse(last.body) : undefined;
  }

  override answer = (asked: Asked): Answer => {
    const path = pathOf(asked);
    return this.instead.get(path) ?? this.route(path, asked);
  };

  private route(path: string, asked: Asked): Answer {
    const { jobs, report } = this;
    switch (path) {
      case '/user/ann/api/kernelspecs':
        return { body: this.kernels };
      case 'jobs':
        return this.listJobs(asked);
      case 'jobs/older':
        return { body: { jobs: this.older, olderKey: null } };
      case 'jobs/members':
        return { body: { jobs: this.members, olderKey: null } };
      case 'jobs/stop':
        return this.stopJobs(namesOf(asked));
      case 'jobs/delete':
        return this.deleteJobs(namesOf(asked));
      case 'jobs/keep':
        return { body: { kept: namesOf(asked).filter(name => jobs.some(job => job.jobName === name)) } };
      case 'tools':
        return { body: { tools: this.tools, service: report } };
      case 'files':
        return this.serveFiles(asked);
      case 'engines':
        return { body: { engines: this.engines } };
      case 'profiles':
        return { body: asked.method === 'GET' ? { profiles: this.profiles } : { isGood: true, message: '' } };
      case 'account':
        return { body: ACCOUNT };
      default:
        return path.startsWith('jobs/') ? this.serveJob(path) : { body: {} };
    }
  }

  private listJobs({ path }: Asked): Answer {
    const body = { ...makeResponse(this.jobs), service: this.report, olderKey: this.older.length > 0 ? 'old' : null };
    const tag = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const isSame = new URLSearchParams(path.split('?')[1]).get('since') === tag;
    return isSame ? { status: 304 } : { body, headers: { ETag: `W/"${tag}"` } };
  }

  private stopJobs(names: readonly string[]): Answer {
    this.jobs = this.jobs.map(job => (names.includes(job.jobName) ? { ...job, status: 'Stopped' } : job));
    return { body: { faults: [] } };
  }

  private deleteJobs(names: readonly string[]): Answer {
    const gone = names.filter(name => !this.refusals.has(name));
    this.jobs = this.jobs.filter(job => !gone.includes(job.jobName));
    return { body: { gone, faults: names.flatMap(name => this.refusals.get(name) ?? []) } };
  }

  private serveFiles({ method, path }: Asked): Answer {
    const query = new URLSearchParams(path.split('?')[1]);
    if (method === 'DELETE') {
      this.files = this.files.filter(file => file.fileName !== query.get('path'));
      return { body: {} };
    }
    return { body: { files: this.files, total: this.files.length, hasMore: false } };
  }

  /** One job: its record, its log, its settings, its result. */
  private serveJob(path: string): Answer {
    const [, name = '', part = ''] = path.split('/').map(decodeURIComponent);
    const job = [...this.jobs, ...this.older].find(each => each.jobName === name) ?? null;
    switch (part) {
      case 'record':
        return { body: { job } };
      case 'log':
        return { body: { log: `log of ${name}` } };
      case 'settings':
        return { body: { settings: `{"name": "${name}"}` } };
      case 'view':
        return { body: { files: [], html: `<p>result of ${name}</p>`, manifest: '', title: name } };
      default:
        return { body: {} };
    }
  }

  private fresh(): Partial<FoldnoteServer> {
    const { jobs, older, members, tools, files, engines, profiles, report, kernels } = this;
    return { jobs, older, members, tools, files, engines, profiles, report, kernels };
  }
}

function pathOf({ path }: Asked): string {
  return path.split('?')[0] ?? '';
}

function namesOf({ body }: Asked): readonly string[] {
  return (JSON.parse(body) as { names: string[] }).names;
}
