/** The routes of foldnote's server extension, one method per route. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  AccountResponse,
  AdviceResponse,
  ConnectionVerdict,
  EngineAction,
  EnginesResponse,
  FilesResponse,
  JobRef,
  JobRecord,
  JobsResponse,
  OlderResponse,
  ProfilesResponse,
  RecordResponse,
  ResultResponse,
  Tagged,
  ToolResponse,
  ToolsResponse,
  UploadResponse
} from './responses';
import { Requests, type OnProgress, type Query } from './request';

/** Data of a new connection; the key is sent to the server once and not kept here. */
export interface NewConnection {
  readonly name: string;
  readonly url: string;
  readonly key: string;
}

const TIMEOUT_MS = 15_000;

/** Client of the server extension. */
export class LabApi {
  /** @param settings - connection settings of the Jupyter server; by default the page's own */
  constructor(private readonly settings?: ServerConnection.ISettings) {
    this.requests = new Requests(settings);
  }

  /** Returns a client for the service that is selected now, also after another one is selected. */
  withFixedProfile(): LabApi {
    return Object.assign(new LabApi(this.settings), { profile: this.profile });
  }

  /** Sends the requests, including those of modules that are loaded later. */
  readonly requests: Requests;

  /** Name of the profile whose service is used; null for the one that notebooks use. */
  get profile(): string | null {
    return this.requests.profile;
  }

  /** Switches to another service. */
  set profile(name: string | null) {
    this.requests.profile = name;
  }

  /** Minimum seconds between two requests to the service, enforced by the server. */
  pollSeconds = 0;

  /** Initial colouring of structures. */
  colors = 'automatic';

  /**
   * Lists jobs, or those changed since `tag`; `body` is null if none has changed.
   *
   * @param waitS - how long the server may wait for a change, in seconds
   * @param signal - aborts the request
   */
  async jobs(tag: string | null, waitS: number, signal?: AbortSignal): Promise<Tagged<JobsResponse>> {
    const query = {
      since: tag,
      wait_s: tag === null ? null : waitS,
      pause_s: this.pollSeconds || null
    };
    const timeout = AbortSignal.timeout(waitS * 1000 + TIMEOUT_MS); // a proxy may lose the response
    const response = await this.requests.send('jobs', query, {
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout
    });
    if (response.status === 304) {
      return { body: null, tag };
    }
    const etag = response.headers.get('ETag')?.match(/"(.*)"/)?.[1] ?? null;
    return { body: (await response.json()) as JobsResponse, tag: etag };
  }

  /** Lists jobs older than those of {@link LabApi.jobs}. */
  older(key: string): Promise<OlderResponse> {
    return this.requests.get('jobs/older', { key });
  }

  /** Lists a page of the jobs of all members of the organization. */
  members(key: string | null): Promise<OlderResponse> {
    return this.requests.get('jobs/members', { key });
  }

  /** Lists a page of a batch's jobs; `member` is the address of the owner, if another member. */
  subjobs(name: string, key: string | null, member: string | null = null): Promise<OlderResponse> {
    return this.requests.get(jobPath(name, 'subjobs'), { key, member });
  }

  /** Gets a job's current record, listed or not; null if the service has none of this name. */
  async record(jobRef: JobRef): Promise<JobRecord | null> {
    return (await this.requests.get<RecordResponse>(jobPath(jobRef.job, 'record'), jobQuery(jobRef))).job;
  }

  /** Makes the server poll the service at once. */
  async pollNow(): Promise<void> {
    await this.requests.post('refresh');
  }

  /** Asks the service to stop jobs; returns the failures. */
  async stop(names: readonly string[]): Promise<readonly string[]> {
    return (await this.requests.post<Faults>('jobs/stop', { names })).faults;
  }

  /** Deletes jobs and their results after `delayS` seconds, unless undone; resolves after the deletion. */
  delete(names: readonly string[], delayS: number): Promise<DeletionOutcome> {
    return this.requests.post('jobs/delete', { names, delayS });
  }

  /** Undoes pending deletions at a service, by default the selected one; returns the names of the kept jobs. */
  async undoDelete(names: readonly string[], profile = this.profile): Promise<readonly string[]> {
    return (await this.requests.post<{ kept: readonly string[] }>('jobs/keep', { names }, { profile })).kept;
  }

  /** Adds and removes tags of jobs, which are kept on the server's computer. */
  async tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void> {
    await this.requests.post('jobs/tag', { names, added, removed });
  }

  /** Gets the end of a job's log. */
  log(name: string): Promise<string> {
    return this.readLog({ job: name, member: null, profile: null });
  }

  /** Gets the end of the log of a job at any service. */
  async readLog(jobRef: JobRef): Promise<string> {
    return (await this.requests.get<{ log: string }>(jobPath(jobRef.job, 'log'), jobQuery(jobRef))).log;
  }

  /** Gets the settings that a job was submitted with, as JSON text. */
  async readSettings(jobRef: JobRef): Promise<string> {
    return (await this.requests.get<{ settings: string }>(jobPath(jobRef.job, 'settings'), jobQuery(jobRef))).settings;
  }

  /** Gets a job's result, rendered. */
  readResult(jobRef: JobRef): Promise<ResultResponse> {
    return this.requests.get(jobPath(jobRef.job, 'view'), { colors: this.colors, ...jobQuery(jobRef) });
  }

  /** Gets a file of the file browser, rendered. */
  renderFile(path: string): Promise<ResultResponse> {
    return this.requests.get('view', { path, colors: this.colors });
  }

  /**
   * Waits until the server has a job's result archive, or one file of it; returns its download address.
   *
   * @throws LabRequestError with a message, since a browser's download does not report errors to the page
   */
  async fetchResult(jobRef: JobRef, file: string | null): Promise<string> {
    const address = jobPath(jobRef.job, 'result');
    const query = { file, ...jobQuery(jobRef) };
    await this.requests.send(address, query, { method: 'POST' });
    return this.requests.address(address, query);
  }

  /** Gets the catalog of the service. */
  tools(): Promise<ToolsResponse> {
    return this.requests.get('tools');
  }

  /** Gets the details of one tool. */
  readonly tool = (type: string): Promise<ToolResponse> => this.requests.get(`tools/${encodeURIComponent(type)}`);

  /** Recommends tools for a task described in prose. */
  readonly advise = (prompt: string): Promise<AdviceResponse> => this.requests.post('advice', { prompt });

  /** Lists a page of the folders and files at the top level or in a folder. */
  files(folder: string | null, offset: number): Promise<FilesResponse> {
    return this.requests.get('files', { folder, offset });
  }

  /** Begins the upload of a file of the user's computer, or finds an interrupted one. */
  beginUpload(file: File, folder: string | null): Promise<UploadResponse> {
    const body = { name: file.name, folder, sizeBytes: file.size, mark: `${file.lastModified}` };
    return this.requests.post('files/uploads', body);
  }

  /** Sends a piece of a file. */
  sendPiece(
    id: string,
    offset: number,
    piece: Blob,
    onProgress: OnProgress,
    signal: AbortSignal
  ): Promise<UploadResponse> {
    return this.requests.upload(`files/uploads/${id}`, { offset }, piece, onProgress, signal);
  }

  /** Starts passing an upload on to the service; must be called until the response has a path. */
  finishUpload(id: string): Promise<UploadResponse> {
    return this.requests.post(`files/uploads/${id}/finish`);
  }

  /** Cancels an upload. */
  async cancelUpload(id: string): Promise<void> {
    await this.requests.delete(`files/uploads/${id}`, {});
  }

  /** Begins the upload of a file of JupyterLab's file browser. */
  uploadContents(path: string, folder: string | null): Promise<UploadResponse> {
    return this.requests.post('files/contents', { path, folder });
  }

  /** Deletes a file of the account. */
  async deleteFile(path: string): Promise<void> {
    await this.requests.delete('files', { path });
  }

  /** Deletes a folder of the account with every file in it. */
  async deleteFolder(folder: string): Promise<void> {
    await this.requests.delete('files', { folder });
  }

  /** Lists the services that can be selected. */
  profiles(): Promise<ProfilesResponse> {
    return this.requests.get('profiles');
  }

  /** Tests a connection, and stores it on the server if it works. */
  connect(connection: NewConnection): Promise<ConnectionVerdict> {
    return this.requests.post('profiles', connection);
  }

  /** Gets the account's data; `isFresh` requests it from the service. */
  account(isFresh: boolean): Promise<AccountResponse> {
    return this.requests.get('account', { fresh: isFresh ? 1 : null });
  }

  /** Address that redirects to the claim page of a trial account; this page never learns the target. */
  claimAddress(): string {
    return this.requests.address('account/claim');
  }

  /** Gets the engines of the server's computer. */
  engines(): Promise<EnginesResponse> {
    return this.requests.get('engines');
  }

  /**
   * Begins or cancels the installation or removal of an engine; installing implies that the user accepted the licences
   * shown.
   */
  async changeEngine(name: string, action: EngineAction): Promise<void> {
    const install = { action: 'install', acceptsLicences: true };
    const bodies = { install, complete: { ...install, optionalWeights: true } };
    const body = action === 'install' || action === 'complete' ? bodies[action] : { action };
    await this.requests.post(`engines/${encodeURIComponent(name)}`, body);
  }
}

/** Outcome of a deletion. */
export interface DeletionOutcome {
  /** Names of the jobs that were not kept. */
  readonly gone: readonly string[];
  /** Errors. */
  readonly faults: readonly string[];
}

interface Faults {
  readonly faults: readonly string[];
}

/** Owner and service of a job as a query; requests name the selected profile themselves. */
function jobQuery({ member, profile }: JobRef): Query {
  return profile === null ? { member } : { member, profile };
}

function jobPath(name: string, part: string): string {
  return `jobs/${encodeURIComponent(name)}/${part}`;
}
