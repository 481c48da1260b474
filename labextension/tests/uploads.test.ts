import type { FileRecord, FilesResponse, UploadResponse } from '../src/api/responses';
import { LabRequestError } from '../src/api/request';
import { FilesModel, type FilesSource } from '../src/models/files/files';

/** The server's side of uploads, with a line that can be cut and a service that can refuse. */
class Server implements FilesSource {
  readonly received = new Map<string, number>();
  readonly requests: string[] = [];
  readonly forwarded: string[] = [];
  disconnects = 0;
  /** Why the service is waited for, a question each. */
  readonly outages: string[] = [];
  refusal: string | null = null;
  /** Called with each request, before the response. */
  onRequest: (what: string) => void = () => undefined;

  beginUpload(file: File, folder: string | null): Promise<UploadResponse> {
    const id = `${folder ?? ''}/${file.name}`;
    this.record(`begin ${id}`);
    this.received.set(id, this.received.get(id) ?? 0);
    return this.answer(id, file.size);
  }

  sendPiece(id: string, offset: number, piece: Blob, onProgress: (bytes: number) => void): Promise<UploadResponse> {
    this.record(`piece ${offset}`);
    if (!this.received.has(id)) {
      throw new LabRequestError('Unknown.', 404);
    }
    this.received.set(id, offset + piece.size);
    onProgress(piece.size);
    if (this.disconnects > 0) {
      this.disconnects -= 1;
      throw new LabRequestError('Lost.', 0);
    }
    return this.answer(id, 10);
  }

  finishUpload(id: string): Promise<UploadResponse> {
    this.record('finish');
    const reason = this.outages.shift();
    if (reason !== undefined) {
      return this.answer(id, 10).then(answer => ({ ...answer, waiting: reason }));
    }
    if (this.refusal !== null) {
      throw new LabRequestError(this.refusal, 413);
    }
    this.forwarded.push(id);
    return this.answer(id, 10, id);
  }

  cancelUpload(id: string): Promise<void> {
    this.record(`drop ${id}`);
    return Promise.resolve();
  }

  /** Whether lists of files are answered later. */
  isWithheld = false;
  release: () => void = () => undefined;

  async files(folder: string | null): Promise<FilesResponse> {
    this.record(`files ${folder ?? ''}`);
    if (this.isWithheld) {
      await new Promise<void>(go => (this.release = go));
    }
    const file = { fileId: '1', fileName: 'a', folder, isFolder: false } as FileRecord;
    return { files: [file], total: 1, hasMore: false };
  }

  uploadContents(path: string, folder: string | null): Promise<UploadResponse> {
    this.record(`contents ${folder ?? ''} ${path}`);
    return this.answer(path, 10);
  }

  deleteFile = (): Promise<void> => Promise.resolve();
  deleteFolder = (): Promise<void> => Promise.resolve();

  withFixedProfile = (): this => this;

  private record(what: string): void {
    this.requests.push(what);
    this.onRequest(what);
  }

  private answer(id: string, sizeBytes: number, path: string | null = null): Promise<UploadResponse> {
    const receivedBytes = this.received.get(id) ?? 0;
    return Promise.resolve({ id, sizeBytes, receivedBytes, sentBytes: null, waiting: null, path });
  }
}

const FILE = new File(['0123456789'], 'a');

function make(): { server: Server; files: FilesModel; phases: string[] } {
  const server = new Server();
  const files = new FilesModel(server, [0], 4);
  const phases: string[] = [];
  files.changed.connect(() => {
    const [upload] = files.state().uploads;
    const phase = upload ? `${upload.phase} ${upload.fraction ?? '?'}` : 'none';
    if (phases.at(-1) !== phase) {
      phases.push(phase);
    }
  });
  return { server, files, phases };
}

it('a file is uploaded in chunks to the current folder, and passed on to the service', async () => {
  const { server, files, phases } = make();
  await files.open('targets');
  await files.upload([FILE]);
  expect(server.forwarded).toEqual(['targets/a']);
  expect(server.requests.filter(each => each.startsWith('piece'))).toEqual(['piece 0', 'piece 4', 'piece 8']);
  expect(phases).toContain('sending 0.8');
  expect(phases).toContain('passing ?');
  expect(files.state().uploads).toEqual([]);
});

it('after a lost connection the upload resumes, and received chunks are not sent again', async () => {
  const { server, files, phases } = make();
  server.disconnects = 1;
  await files.upload([FILE]);
  expect(phases).toContain('waiting ?');
  expect(server.requests.filter(each => each.startsWith('piece'))).toEqual(['piece 0', 'piece 4', 'piece 8']);
  expect(server.forwarded).toHaveLength(1);
});

it.each([0, 424, 503])('the upload waits for a Jupyter server that is unavailable (status %i)', async status => {
  const { server, files } = make();
  let isAway = true;
  server.onRequest = what => {
    if (what === 'piece 4' && isAway) {
      isAway = false;
      throw new LabRequestError('Away.', status);
    }
  };
  await files.upload([FILE]);
  expect(server.requests.filter(each => each === 'piece 0')).toHaveLength(1);
  expect(server.forwarded).toHaveLength(1);
});

it('the whole file is sent again if the Jupyter server has lost the upload, and the reason is shown', async () => {
  const { server, files } = make();
  const reasons: (string | null | undefined)[] = [];
  files.changed.connect(() => reasons.push(files.state().uploads[0]?.reason));
  let isForgotten = false;
  server.onRequest = what => {
    if (what === 'piece 8' && !isForgotten) {
      isForgotten = true;
      server.received.clear();
    }
  };
  await files.upload([FILE]);
  expect(server.requests.filter(each => each === 'piece 0')).toHaveLength(2);
  expect(reasons.some(each => each?.includes('lost the upload'))).toBe(true);
  expect(server.forwarded).toHaveLength(1);
});

it('the server waits for an unavailable service, and the page sends nothing again', async () => {
  const { server, files } = make();
  server.outages.push('Gone.', 'Gone.');
  const reasons = new Set<string | null>();
  files.changed.connect(() => files.state().uploads.forEach(upload => reasons.add(upload.reason)));
  await files.upload([FILE]);
  expect(reasons).toEqual(new Set([null, 'Gone.']));
  expect(server.requests.filter(each => each.startsWith('piece'))).toHaveLength(3);
  expect(server.forwarded).toHaveLength(1);
});

it('a refusal is shown, and a retry sends only missing chunks', async () => {
  const { server, files } = make();
  server.refusal = 'The file is too large.';
  await files.upload([FILE]);
  const [upload] = files.state().uploads;
  expect(upload).toMatchObject({ phase: 'failed', fault: 'The file is too large.' });
  server.refusal = null;
  await files.retry(upload?.id ?? 0);
  expect(server.requests.filter(each => each.startsWith('piece'))).toHaveLength(3);
  expect(files.state().uploads).toEqual([]);
});

it('an upload cancelled while waiting is deleted at the server', async () => {
  const server = new Server();
  const files = new FilesModel(server, [1_000_000], 4);
  server.disconnects = 1;
  const work = files.upload([FILE]);
  await vi.waitUntil(() => files.state().uploads[0]?.phase === 'waiting', 30_000);
  files.dismiss(files.state().uploads[0]?.id ?? 0);
  await work;
  expect(server.requests).toContain('drop /a');
  expect(server.forwarded).toEqual([]);
  expect(files.state().uploads).toEqual([]);
});

it.each(['begin /a', 'piece 4'])('an upload cancelled during “%s” sends no more chunks', async when => {
  const { server, files } = make();
  server.onRequest = what => {
    if (what === when) {
      files.dismiss(files.state().uploads[0]?.id ?? 0);
    }
  };
  await files.upload([FILE]);
  expect(server.requests.slice(server.requests.indexOf(when) + 1).filter(each => /piece|finish/.test(each))).toEqual(
    []
  );
  expect(server.requests).toContain('drop /a');
});

it('a late response from the previous service is ignored', async () => {
  const { server, files } = make();
  server.isWithheld = true;
  const asking = files.refresh();
  files.reset();
  server.release();
  await asking;
  expect(files.state().files).toBeNull();
});

it('a late response for the previous folder is ignored', async () => {
  const { files } = make();
  await Promise.all([files.open('targets'), files.open('others')]);
  expect(files.state().files?.map(file => file.folder)).toEqual(['others']);
});

it('a file of the file browser is uploaded to the current folder', async () => {
  const { server, files } = make();
  await files.open('targets');
  await files.uploadContents(['work/local.pdb']);
  expect(server.requests).toContain('contents targets work/local.pdb');
});
