/**
 * The only module that uses HTTP. It talks to the Jupyter server only, and never sees a key.
 */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

const NAMESPACE = 'foldnote/api';

/** An error of a request, with a message for the user. */
export class LabRequestError extends Error {
  /**
   * @param message - a sentence for the user
   * @param status - HTTP status; 0 without a response
   */
  constructor(
    message: string,
    readonly status: number
  ) {
    super(message);
    this.name = 'LabRequestError';
  }
}

/** Values of a query; null and empty ones are omitted. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Called with the number of bytes of a body sent so far. */
export type OnProgress = (bytes: number) => void;

/** Requests to the routes of the server extension, for one profile. */
export class Requests {
  /** @param settings - connection settings of the Jupyter server; by default the page's own */
  constructor(settings: ServerConnection.ISettings = ServerConnection.makeSettings()) {
    this.settings = settings;
  }

  /** Name of the profile whose service is used; null for the one that notebooks use. */
  profile: string | null = null;

  /** Address of a route, for links and downloads; a query may name another profile. */
  address(path: string, query: Query = {}): string {
    const values: Query = { profile: this.profile, ...query };
    const pairs = Object.entries(values).flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [[name, String(value)]]
    );
    const text = new URLSearchParams(pairs).toString();
    return URLExt.join(this.settings.baseUrl, NAMESPACE, path) + (text === '' ? '' : `?${text}`);
  }

  /** Sends a GET request. */
  async get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return (await (await this.send(path, query, signal ? { signal } : {})).json()) as T;
  }

  /** Sends a POST request with a JSON body. */
  async post<T>(path: string, body: object = {}, query: Query = {}): Promise<T> {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return (await (await this.send(path, query, init)).json()) as T;
  }

  /** Sends a DELETE request. */
  async delete(path: string, query: Query): Promise<void> {
    await this.send(path, query, { method: 'DELETE' });
  }

  /**
   * Sends a request.
   *
   * @throws LabRequestError with a message for the user
   */
  async send(path: string, query: Query, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(this.address(path, query), init, this.settings);
    } catch (error) {
      if (init.signal?.aborted && !isTimeout(init.signal)) {
        throw error;
      }
      throw new LabRequestError('The Jupyter server does not answer. Is it still running?', 0);
    }
    if (!response.ok && response.status !== 304) {
      throw new LabRequestError(await describeFailure(response), response.status);
    }
    return response;
  }

  /** Sends bytes as the body and reports progress; `signal` aborts the request. */
  upload<T>(path: string, query: Query, file: Blob, onProgress: OnProgress, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(); // fetch does not report upload progress
      request.open('PUT', this.address(path, query));
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      const { token } = this.settings;
      if (token) {
        request.setRequestHeader('Authorization', `token ${token}`);
      }
      request.setRequestHeader('X-XSRFToken', readCookie('_xsrf'));
      request.upload.onprogress = event => onProgress(event.loaded);
      request.onload = () => {
        if (request.status < 300) {
          resolve(JSON.parse(request.responseText) as T);
        } else {
          const text =
            readErrorMessage(request.responseText) ?? `The Jupyter server responded with status ${request.status}.`;
          reject(new LabRequestError(text, request.status));
        }
      };
      request.onerror = () => reject(new LabRequestError('The connection was lost. Try again.', 0));
      request.onabort = () => reject(new LabRequestError('The upload was cancelled.', 0));
      const abort = (): void => request.abort();
      signal.addEventListener('abort', abort);
      request.onloadend = () => signal.removeEventListener('abort', abort); // a large file has thousands of pieces
      request.send(file);
    });
  }

  private readonly settings: ServerConnection.ISettings;
}

function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

async function describeFailure(response: Response): Promise<string> {
  const fallback = `The Jupyter server responded with status ${response.status} ${response.statusText}.`;
  const message = readErrorMessage(await response.text());
  if (message === null && response.status === 424) {
    return 'Your Jupyter server is no longer running. Reload the page to let the hub restart it.';
  }
  if (message === null && response.status === 404) {
    return 'foldnote’s server extension is not running. Restart JupyterLab; “jupyter server extension list” should name foldnote.';
  }
  return message ?? fallback;
}

function readErrorMessage(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    return body instanceof Object && 'error' in body && typeof body.error === 'string' ? body.error : null;
  } catch {
    return null;
  }
}

function readCookie(name: string): string {
  return new RegExp(`\\b${name}=([^;]*)\\b`).exec(document.cookie)?.[1] ?? '';
}
