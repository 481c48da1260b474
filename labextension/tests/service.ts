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
import { JupyterServer, type Reply, type ReceivedRequest } from './server';

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

/** The kernels listed by Jupyter's own API. */
const KERNELS = {
  default: 'python3',
  kernelspecs: {
    python3: { name: 'python3', spec: { language: 'python', display_name: 'Python 3', argv: [] }, resources: {} },
    ir: { name: 'ir', spec: { language: 'R', display_name: 'R', argv: [] }, resources: {} }
  }
};

/** The data of a service, and its responses. */
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
  /** Responses that replace the usual ones, by path without query. */
  readonly overrides = new Map<string, Reply>();
  kernels: unknown = KERNELS;

  /** Undoes the changes of a test. */
  reset(): void {
    Object.assign(this, new FoldnoteServer().fresh());
    this.refusals.clear();
    this.overrides.clear();
    this.requests.length = 0;
  }

  /** The requests to one route, newest first. */
  requestsTo(path: string, method = 'POST'): readonly ReceivedRequest[] {
    return this.requests.filter(each => each.method === method && pathOf(each) === path).reverse();
  }

  /** The body of the last request to a route. */
  bodyOf(path: string): unknown {
    const [last] = this.requestsTo(path);
    return last ? JSON.parse(last.body) : undefined;
  }

  override respond = (request: ReceivedRequest): Reply => {
    const path = pathOf(request);
    return this.overrides.get(path) ?? this.route(path, request);
  };

  private route(path: string, request: ReceivedRequest): Reply {
    const { jobs, report } = this;
    switch (path) {
      case '/user/ann/api/kernelspecs':
        return { body: this.kernels };
      case 'jobs':
        return this.listJobs(request);
      case 'jobs/older':
        return { body: { jobs: this.older, olderKey: null } };
      case 'jobs/members':
        return { body: { jobs: this.members, olderKey: null } };
      case 'jobs/stop':
        return this.stopJobs(namesOf(request));
      case 'jobs/delete':
        return this.deleteJobs(namesOf(request));
      case 'jobs/keep':
        return { body: { kept: namesOf(request).filter(name => jobs.some(job => job.jobName === name)) } };
      case 'tools':
        return { body: { tools: this.tools, service: report } };
      case 'files':
        return this.serveFiles(request);
      case 'engines':
        return { body: { engines: this.engines } };
      case 'profiles':
        return { body: request.method === 'GET' ? { profiles: this.profiles } : { isGood: true, message: '' } };
      case 'account':
        return { body: ACCOUNT };
      default:
        return path.startsWith('jobs/') ? this.serveJob(path) : { body: {} };
    }
  }

  private listJobs({ path }: ReceivedRequest): Reply {
    const body = { ...makeResponse(this.jobs), service: this.report, olderKey: this.older.length > 0 ? 'old' : null };
    const tag = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const isSame = new URLSearchParams(path.split('?')[1]).get('since') === tag;
    return isSame ? { status: 304 } : { body, headers: { ETag: `W/"${tag}"` } };
  }

  private stopJobs(names: readonly string[]): Reply {
    this.jobs = this.jobs.map(job => (names.includes(job.jobName) ? { ...job, status: 'Stopped' } : job));
    return { body: { faults: [] } };
  }

  private deleteJobs(names: readonly string[]): Reply {
    const gone = names.filter(name => !this.refusals.has(name));
    this.jobs = this.jobs.filter(job => !gone.includes(job.jobName));
    return { body: { gone, faults: names.flatMap(name => this.refusals.get(name) ?? []) } };
  }

  private serveFiles({ method, path }: ReceivedRequest): Reply {
    const query = new URLSearchParams(path.split('?')[1]);
    if (method === 'DELETE') {
      this.files = this.files.filter(file => file.fileName !== query.get('path'));
      return { body: {} };
    }
    return { body: { files: this.files, total: this.files.length, hasMore: false } };
  }

  /** One job: its record, its log, its settings, its result. */
  private serveJob(path: string): Reply {
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

function pathOf({ path }: ReceivedRequest): string {
  return path.split('?')[0] ?? '';
}

function namesOf({ body }: ReceivedRequest): readonly string[] {
  return (JSON.parse(body) as { names: string[] }).names;
}
