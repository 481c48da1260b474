/** Records as the server extension sends them, for tests. */
import type { EngineRecord, JobRecord, JobsResponse, ServiceReport, ToolRecord } from '../src/api/responses';

export const SERVICE: ServiceReport = {
  state: 'ok',
  profile: 'embedded',
  isEmbedded: true,
  url: 'http://127.0.0.1:40000',
  lastGood: '2026-11-21T10:00:00.000Z',
  error: null
};

export function makeJob(change: Partial<JobRecord> = {}): JobRecord {
  return {
    jobName: 'trastuzumab',
    type: 'abodybuilder',
    status: 'Running',
    projectTag: null,
    created: '2026-11-21T10:00:00.000Z',
    started: '2026-11-21T10:00:05.000Z',
    completed: null,
    email: null,
    batch: null,
    score: null,
    weightedHours: null,
    cpuSeconds: null,
    peakMemoryMb: null,
    peakGpuMemoryMb: null,
    retries: null,
    reusedFrom: null,
    engineVersion: null,
    webhook: null,
    error: null,
    progress: null,
    message: null,
    foldnote: null,
    ...change
  };
}

export function makeResponse(jobs: readonly JobRecord[], service: Partial<ServiceReport> = {}): JobsResponse {
  const statuses = { 'In Queue': 0, Running: 0, Complete: 0, Stopped: 0 };
  for (const job of jobs) {
    statuses[job.status] += 1;
  }
  const rest = { removed: [], isWhole: true, olderKey: null };
  return { jobs, statuses, ...rest, service: { ...SERVICE, ...service } };
}

/** What runs a tool. */
type ToolEngine = NonNullable<ToolRecord['engine']>;

export function makeToolEngine(change: Partial<ToolEngine> = {}): ToolEngine {
  return {
    name: 'x',
    method: 'X',
    kind: 'genuine',
    version: null,
    fullVersion: null,
    licence: null,
    citation: null,
    note: null,
    outputs: [],
    databases: [],
    ...change
  };
}

export function makeTool(change: Partial<ToolRecord> = {}): ToolRecord {
  const tool = {
    type: 'abodybuilder',
    name: 'abodybuilder',
    displayName: 'AbodyBuilder',
    description: 'Predicts the structure of an antibody',
    family: 'antibody',
    modalities: ['antibody'],
    functions: ['predict-structure'],
    available: true,
    unavailableReason: null,
    engine: null,
    extensions: ['label'],
    ...change
  };
  return { searchText: `${tool.type} ${tool.displayName} ${tool.description} antibody`.toLowerCase(), ...tool };
}

export function makeEngine(change: Partial<EngineRecord> = {}): EngineRecord {
  return {
    name: 'anarci',
    method: 'ANARCI',
    kind: 'genuine',
    licence: 'BSD-3-Clause',
    licenceNote: '',
    weights: [],
    terms: [],
    weightsNote: '',
    optionalMethod: '',
    diskMb: 200,
    installedMb: 0,
    tools: ['anarci'],
    addsTo: [],
    hasEnvironment: true,
    isInstalled: false,
    hasFiles: false,
    how: '',
    isBusy: false,
    fraction: null,
    message: '',
    hasFailed: false,
    ...change
  };
}
