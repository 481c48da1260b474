/** The routes of foldnote's server extension, one method each. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  AccountAnswer,
  AdviceAnswer,
  ConnectionVerdict,
  EngineAction,
  EnginesAnswer,
  FilesAnswer,
  JobPlace,
  JobRecord,
  JobsAnswer,
  OlderAnswer,
  ProfilesAnswer,
  RecordAnswer,
  ResultAnswer,
  Tagged,
  ToolAnswer,
  ToolsAnswer,
  UploadAnswer
} from './answers';
import { Requests, type OnProgress, type Query } from './request';

/** What a connection is made of; the key goes to the server once and is not kept here. */
export interface NewConnection {
  readonly name: string;
  readonly url: string;
  readonly key: string;
}

const PATIENCE_MS = 15_000;

/** Everything that a page can ask of the server extension. */
export class LabApi {
  /** @param settings - how to reach the Jupyter server; the page's own by default */
  constructor(settings?: ServerConnection.ISettings) {
    this.requests = new Requests(settings);
  }

  /** Name of the profile whose service is meant; null for the one that notebooks use. */
  get profile(): string | null {
    return this.requests.profile;
  }

  /** Means another service from now on. */
  set profile(name: string | null) {
    this.requests.profile = name;
  }

  /** Least time between two questions to the service, in seconds; the server keeps to it. */
  pollSeconds = 0;

  /** What structures are coloured by at first. */
  colors = 'automatic';

  /**
   * Jobs, or what is other than at `tag`; `body` is null when nothing is.
   *
   * @param waitS - how long the server may wait for something new, in seconds
   * @param signal - gives the question up
   */
  async jobs(tag: string | null, waitS: number, signal?: AbortSignal): Promise<Tagged<JobsAnswer>> {
    const query = {
      since: tag,
      wait_s: tag === null ? null : waitS,
      pause_s: this.pollSeconds || null
    };
    const limit = AbortSignal.timeout(waitS * 1000 + PATIENCE_MS); // what stands between may swallow an answer
    const response = await this.requests.send('jobs', query, {
      signal: signal ? AbortSignal.any([signal, limit]) : limit
    });
    if (response.status === 304) {
      return { body: null, tag };
    }
    const found = response.headers.get('ETag')?.match(/"(.*)"/)?.[1] ?? null;
    return { body: (await response.json()) as JobsAnswer, tag: found };
  }

  /** Jobs that are older than those of {@link LabApi.jobs}. */
  older(key: string): Promise<OlderAnswer> {
    return this.requests.get('jobs/older', { key });
  }

  /** A page of the jobs of everybody in the organization. */
  members(key: string | null): Promise<OlderAnswer> {
    return this.requests.get('jobs/members', { key });
  }

  /** A page of a batch's jobs; `member` is the address of another member whose batch it is. */
  subjobs(name: string, key: string | null, member: string | null = null): Promise<OlderAnswer> {
    return this.requests.get(about(name, 'subjobs'), { key, member });
  }

  /** A job as the service has it now, also one that no list holds; null when it has none of this name. */
  async record(place: JobPlace): Promise<JobRecord | null> {
    return (await this.requests.get<RecordAnswer>(about(place.job, 'record'), at(place))).job;
  }

  /** Has the service asked at once. */
  async hurry(): Promise<void> {
    await this.requests.post('refresh');
  }

  /** Asks the service to stop jobs; returns the failures. */
  async stop(names: readonly string[]): Promise<readonly string[]> {
    return (await this.requests.post<Faults>('jobs/stop', { names })).faults;
  }

  /** Deletes jobs and their results after `delayS` seconds, unless they are kept; it ends when that is done. */
  delete(names: readonly string[], delayS: number): Promise<Departed> {
    return this.requests.post('jobs/delete', { names, delayS });
  }
  /** Undoes deletions that have not begun; gives the names that are kept. */
  async keep(names: readonly string[]): Promise<readonly string[]> {
    return (await this.requests.post<{ kept: readonly string[] }>('jobs/keep', { names })).kept;
  }
  /** Adds tags to jobs and takes others away; they are kept on the server's computer. */
  async tag(names: readonly string[], added: readonly string[], removed: readonly string[]): Promise<void> {
    await this.requests.post('jobs/tag', { names, added, removed });
  }

  /** The end of a job's log. */
  log(name: string): Promise<string> {
    return this.readLog({ job: name, member: null, profile: null });
  }

  /** The end of the log of a job at any service. */
  async readLog(place: JobPlace): Promise<string> {
    return (await this.requests.get<{ log: string }>(about(place.job, 'log'), at(place))).log;
  }

  /** What a job was submitted with, as JSON text. */
  async readSettings(place: JobPlace): Promise<string> {
    return (await this.requests.get<{ settings: string }>(about(place.job, 'settings'), at(place))).settings;
  }

  /** A job's result, laid out. */
  readResult(place: JobPlace): Promise<ResultAnswer> {
    return this.requests.get(about(place.job, 'view'), { colors: this.colors, ...at(place) });
  }

  /** A file of the file browser, laid out. */
  drawFile(path: string): Promise<ResultAnswer> {
    return this.requests.get('view', { path, colors: this.colors });
  }

  /**
   * Where a job's result archive, or one file of it, can be saved from, once the server has it.
   *
   * @throws LabRequestError with a sentence: a browser that saves tells nobody why it got nothing
   */
  async fetchResult(place: JobPlace, file: string | null): Promise<string> {
    const address = about(place.job, 'result');
    const query = { file, ...at(place) };
    await this.requests.send(address, query, { method: 'POST' });
    return this.requests.address(address, query);
  }

  /** The catalog of the service. */
  tools(): Promise<ToolsAnswer> {
    return this.requests.get('tools');
  }

  /** What a person wants to know of one tool. */
  readonly tool = (type: string): Promise<ToolAnswer> => this.requests.get(`tools/${encodeURIComponent(type)}`);

  /** Tools for a task that is described in words. */
  readonly advise = (prompt: string): Promise<AdviceAnswer> => this.requests.post('advice', { prompt });

  /** A page of the folders and files at the top, or in a folder. */
  files(folder: string | null, offset: number): Promise<FilesAnswer> {
    return this.requests.get('files', { folder, offset });
  }

  /** Begins the upload of a file of the reader's computer, or finds the one that was broken off. */
  beginUpload(file: File, folder: string | null): Promise<UploadAnswer> {
    const wish = { name: file.name, folder, sizeBytes: file.size, mark: `${file.lastModified}` };
    return this.requests.post('files/uploads', wish);
  }

  /** Sends a piece of a file. */
  sendPiece(
    id: string,
    offset: number,
    piece: Blob,
    onProgress: OnProgress,
    signal: AbortSignal
  ): Promise<UploadAnswer> {
    return this.requests.upload(`files/uploads/${id}`, { offset }, piece, onProgress, signal);
  }

  /** Has an upload passed on to the service; asked until the answer has a path. */
  finishUpload(id: string): Promise<UploadAnswer> {
    return this.requests.post(`files/uploads/${id}/finish`);
  }

  /** Gives an upload up. */
  async dropUpload(id: string): Promise<void> {
    await this.requests.delete(`files/uploads/${id}`, {});
  }

  /** Begins to send a file of JupyterLab's file browser. */
  uploadContents(path: string, folder: string | null): Promise<UploadAnswer> {
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

  /** The services that can be chosen. */
  profiles(): Promise<ProfilesAnswer> {
    return this.requests.get('profiles');
  }

  /** Tries a connection, and keeps it on the server when it is good. */
  connect(connection: NewConnection): Promise<ConnectionVerdict> {
    return this.requests.post('profiles', connection);
  }

  /** What is known of the account; `isFresh` has the service asked. */
  account(isFresh: boolean): Promise<AccountAnswer> {
    return this.requests.get('account', { fresh: isFresh ? 1 : null });
  }

  /** Leads to the page where a person claims a trial account; the page here never learns which that is. */
  claimAddress(): string {
    return this.requests.address('account/claim');
  }

  /** The engines of the server's computer. */
  engines(): Promise<EnginesAnswer> {
    return this.requests.get('engines');
  }

  /** Begins to install or to remove an engine, or cancels what was begun. */
  async changeEngine(name: string, action: EngineAction): Promise<void> {
    await this.requests.post(`engines/${encodeURIComponent(name)}`, { action });
  }

  private readonly requests: Requests;
}

/** How a deletion ended. */
export interface Departed {
  /** Names that were not kept. */
  readonly gone: readonly string[];
  /** What could not be done. */
  readonly faults: readonly string[];
}

interface Faults {
  readonly faults: readonly string[];
}

/** Whose job it is and where, as a query; the chosen profile is named by the requests themselves. */
function at({ member, profile }: JobPlace): Query {
  return profile === null ? { member } : { member, profile };
}

function about(name: string, part: string): string {
  return `jobs/${encodeURIComponent(name)}/${part}`;
}
