/** A real HTTP server in the place of Jupyter's, which answers as a test says and keeps what it was asked. */
import { ServerConnection } from '@jupyterlab/services';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What was asked. */
export interface Asked {
  readonly method: string;
  /** Path below the base address, with its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** How it is answered. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether no answer comes as long as the test lasts. */
  readonly isHeld?: boolean;
}

/** The server; start it before each test, and stop it afterwards. */
export class JupyterServer {
  readonly asked: Asked[] = [];
  answer: (asked: Asked) => Answer = () => ({ body: {} });

  /** Begins to listen on a free port. */
  async start(): Promise<void> {
    await new Promise<void>(done => this.server.listen(0, '127.0.0.1', done));
  }

  /** Ends every connection. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(done => this.server.close(done));
  }

  /** How JupyterLab's page reaches it. */
  settings(): ServerConnection.ISettings {
    const { port } = this.server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/user/ann/`;
    return ServerConnection.makeSettings({ baseUrl, token: 'secret', fetch: globalThis.fetch });
  }

  /** The last question. */
  last(): Asked {
    const asked = this.asked.at(-1);
    if (!asked) {
      throw new Error('Nothing was asked.');
    }
    return asked;
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
    const asked = { method: request.method ?? '', path, headers: request.headers, body };
    this.asked.push(asked);
    const answer = this.answer(asked);
    if (!answer.isHeld) {
      response.writeHead(answer.status ?? 200, { ...cors, ...answer.headers });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? ''));
    }
  }
}
