/** A real HTTP server in place of Jupyter's, which records requests and responds as a test specifies. */
import { ServerConnection } from '@jupyterlab/services';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the server received. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path below the base address, with its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The response to a request. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether no response is sent as long as the test lasts. */
  readonly isWithheld?: boolean;
}

/** The server; start it before each test, and stop it afterwards. */
export class JupyterServer {
  readonly requests: ReceivedRequest[] = [];
  respond: (request: ReceivedRequest) => Reply = () => ({ body: {} });

  /** Starts listening on a free port. */
  async start(): Promise<void> {
    await new Promise<void>(done => this.server.listen(0, '127.0.0.1', done));
  }

  /** Closes every connection. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(done => this.server.close(done));
  }

  /** The settings with which JupyterLab's page connects to it. */
  settings(): ServerConnection.ISettings {
    const { port } = this.server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/user/ann/`;
    return ServerConnection.makeSettings({ baseUrl, token: 'secret', fetch: globalThis.fetch });
  }

  /** The last request. */
  lastRequest(): ReceivedRequest {
    const request = this.requests.at(-1);
    if (!request) {
      throw new Error('No request was received.');
    }
    return request;
  }

  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cors = {
      'Access-Control-Allow-Origin': request.headers.origin ?? '*',
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Allow-Headers': 'authorization, content-type, x-xsrftoken',
      'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE'
    };
    if (request.method === 'OPTIONS') {
      response.writeHead(204, cors).end(); // the page of a test has an origin of its own
      return;
    }
    let body = '';
    for await (const piece of request) {
      body += String(piece);
    }
    const path = (request.url ?? '').replace('/user/ann/foldnote/api/', '').replace(/[?&]\d{12,}$/, ''); // against caches
    const received = { method: request.method ?? '', path, headers: request.headers, body };
    this.requests.push(received);
    const reply = this.respond(received);
    if (!reply.isWithheld) {
      response.writeHead(reply.status ?? 200, { ...cors, ...reply.headers });
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? ''));
    }
  }
}
