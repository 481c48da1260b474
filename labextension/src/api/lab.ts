/**
 * The only place that speaks HTTP: the routes of foldnote's server extension.
 *
 * It knows no job service and no key; those stay on the server's side.
 */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { JobsAnswer, Tagged, ToolsAnswer } from './answers';

const NAMESPACE = 'foldnote/api';

/** What went wrong with a request, in a sentence that can be shown. */
export class LabRequestError extends Error {
  /**
   * @param message - a sentence for the user
   * @param status - HTTP status; 0 when no answer came
   */
  constructor(
    message: string,
    readonly status: number
  ) {
    super(message);
    this.name = 'LabRequestError';
  }
}

/** The routes of the server extension, one method each. */
export class LabApi {
  /** @param settings - how to reach the Jupyter server; the page's own by default */
  constructor(settings: ServerConnection.ISettings = ServerConnection.makeSettings()) {
    this.settings = settings;
  }

  /** All jobs; `body` is null when nothing changed since `tag`. */
  async jobs(tag: string | null): Promise<Tagged<JobsAnswer>> {
    const response = await this.request('jobs', { headers: tag ? { 'If-None-Match': tag } : {} });
    if (response.status === 304) {
      return { body: null, tag };
    }
    return { body: (await response.json()) as JobsAnswer, tag: response.headers.get('ETag') };
  }

  /** The catalog of the service. */
  async tools(): Promise<ToolsAnswer> {
    const response = await this.request('tools', {});
    return (await response.json()) as ToolsAnswer;
  }

  /** Asks the service to stop a job. */
  async stop(name: string): Promise<void> {
    await this.request(`jobs/${encodeURIComponent(name)}/stop`, { method: 'POST' });
  }

  /** Deletes a job and its results. */
  async delete(name: string): Promise<void> {
    await this.request(`jobs/${encodeURIComponent(name)}`, { method: 'DELETE' });
  }

  /** The end of a job's log. */
  async log(name: string): Promise<string> {
    const response = await this.request(`jobs/${encodeURIComponent(name)}/log`, {});
    return ((await response.json()) as { log: string }).log;
  }

  private async request(path: string, init: RequestInit): Promise<Response> {
    const url = URLExt.join(this.settings.baseUrl, NAMESPACE, path);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this.settings);
    } catch {
      throw new LabRequestError('The Jupyter server does not answer. Is it still running?', 0);
    }
    if (!response.ok && response.status !== 304) {
      throw new LabRequestError(await explain(response), response.status);
    }
    return response;
  }

  private readonly settings: ServerConnection.ISettings;
}

async function explain(response: Response): Promise<string> {
  const fallback = `The Jupyter server answered ${response.status} ${response.statusText}.`;
  try {
    const body: unknown = await response.json();
    return isFault(body) ? body.error : fallback;
  } catch {
    return response.status === 404
      ? 'foldnote’s server extension is not running. Restart JupyterLab; “jupyter server extension list” should name foldnote.'
      : fallback;
  }
}

function isFault(body: unknown): body is { error: string } {
  return (
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
  );
}
