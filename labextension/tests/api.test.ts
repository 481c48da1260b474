/** Requests to the routes of the server extension, sent to a real HTTP server. */
import { LabApi } from '../src/api/lab';
import { LabRequestError, Requests } from '../src/api/request';
import { FilesModel } from '../src/models/files/files';
import { makeResponse, makeJob } from './records';
import { forSeeds } from './random';
import { JupyterServer } from './server';

const JOB = { job: 'fold', member: null, profile: null };

let server: JupyterServer;
let api: LabApi;

beforeEach(async () => {
  server = new JupyterServer();
  await server.start();
  api = new LabApi(server.settings());
});

afterEach(() => server.stop());

/** The error with which a request was rejected. */
async function rejectionOf(request: Promise<unknown>): Promise<LabRequestError> {
  const fault: unknown = await request.then(
    () => null,
    (error: unknown) => error
  );
  expect(fault).toBeInstanceOf(LabRequestError);
  return fault as LabRequestError;
}

describe('requests about jobs', () => {
  it('return an entity tag, and send it with the next request', async () => {
    const body = makeResponse([makeJob()]);
    server.respond = () => ({ body, headers: { ETag: 'W/"t1"' } });
    const first = await api.jobs(null, 25);
    expect([first.tag, first.body?.jobs[0]?.jobName]).toEqual(['t1', 'trastuzumab']);
    expect(server.lastRequest().path).toBe('jobs');
    await api.jobs('t1', 25);
    expect(server.lastRequest().path).toBe('jobs?since=t1&wait_s=25');
  });

  it('return no body when nothing has changed', async () => {
    server.respond = () => ({ status: 304 });
    expect(await api.jobs('t1', 0)).toEqual({ body: null, tag: 't1' });
  });

  it('pass on the polling interval and the profile that the user chose', async () => {
    api.pollSeconds = 30;
    api.profile = 'lab & co';
    await api.jobs(null, 0);
    expect(server.lastRequest().path).toBe('jobs?profile=lab+%26+co&pause_s=30');
  });

  it('are aborted by a signal, which is not reported as a server error', async () => {
    server.respond = () => ({ isWithheld: true });
    const control = new AbortController();
    const pending = api.jobs('t1', 25, control.signal);
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    control.abort();
    await expect(pending).rejects.not.toBeInstanceOf(LabRequestError);
  });

  it('stop, delete, restore and tag jobs by name', async () => {
    server.respond = ({ path }) => ({
      body: path.endsWith('keep')
        ? { kept: ['a'] }
        : path.endsWith('stop')
          ? { faults: ['No.'] }
          : { gone: ['a'], faults: [] }
    });
    expect(await api.stop(['a', 'b'])).toEqual(['No.']);
    expect(await api.delete(['a'], 8)).toEqual({ gone: ['a'], faults: [] });
    expect(await api.undoDelete(['a'])).toEqual(['a']);
    await api.tag(['a'], ['lead'], ['old']);
    await api.pollNow();
    expect(server.requests.map(({ method, path, body }) => [method, path, JSON.parse(body) as unknown])).toEqual([
      ['POST', 'jobs/stop', { names: ['a', 'b'] }],
      ['POST', 'jobs/delete', { names: ['a'], delayS: 8 }],
      ['POST', 'jobs/keep', { names: ['a'] }],
      ['POST', 'jobs/tag', { names: ['a'], added: ['lead'], removed: ['old'] }],
      ['POST', 'refresh', {}]
    ]);
  });

  it.each([
    [() => api.older('k/1'), 'jobs/older?key=k%2F1'],
    [() => api.members(null), 'jobs/members'],
    [() => api.subjobs('a b', 'k', 'm@x'), 'jobs/a%20b/subjobs?key=k&member=m%40x'],
    [() => api.record(JOB), 'jobs/fold/record'],
    [() => api.record({ job: 'fold', member: 'm@x', profile: 'lab' }), 'jobs/fold/record?profile=lab&member=m%40x'],
    [() => api.log('fold'), 'jobs/fold/log'],
    [() => api.readSettings(JOB), 'jobs/fold/settings'],
    [() => api.readResult(JOB), 'jobs/fold/view?colors=automatic'],
    [() => api.renderFile('a/b.pdb'), 'view?path=a%2Fb.pdb&colors=automatic'],
    [() => api.tools(), 'tools'],
    [() => api.tool('my/tool'), 'tools/my%2Ftool'],
    [() => api.files('set', 50), 'files?folder=set&offset=50'],
    [() => api.profiles(), 'profiles'],
    [() => api.account(true), 'account?fresh=1'],
    [() => api.account(false), 'account'],
    [() => api.engines(), 'engines']
  ])('and other read requests use GET: %#', async (send, path) => {
    await send();
    expect([server.lastRequest().method, server.lastRequest().path]).toEqual(['GET', path]);
  });

  it('give jobs with different names different addresses', () => {
    const addresses = new Map<string, string>();
    const requests = new Requests(server.settings());
    forSeeds(random => {
      const name = `a${random.text(12)}`;
      const address = requests.address(`jobs/${encodeURIComponent(name)}/log`);
      expect(addresses.get(address) ?? name).toBe(name);
      addresses.set(address, name);
      expect(new URL(address).pathname.split('/')).toHaveLength(8);
    });
  });
});

describe('requests that change something', () => {
  it.each([
    [() => api.advise('dock'), 'POST', 'advice', { prompt: 'dock' }],
    [() => api.uploadContents('a.pdb', null), 'POST', 'files/contents', { path: 'a.pdb', folder: null }],
    [() => api.connect({ name: 'lab', url: 'u', key: 'k' }), 'POST', 'profiles', { name: 'lab', url: 'u', key: 'k' }],
    [() => api.changeEngine('a/b', 'install'), 'POST', 'engines/a%2Fb', { action: 'install', acceptsLicences: true }],
    [() => api.changeEngine('a/b', 'remove'), 'POST', 'engines/a%2Fb', { action: 'remove' }],
    [() => api.finishUpload('u1'), 'POST', 'files/uploads/u1/finish', {}]
  ])('are sent as JSON: %#', async (send, method, path, body) => {
    await send();
    const request = server.lastRequest();
    expect([request.method, request.path, JSON.parse(request.body)]).toEqual([method, path, body]);
    expect(request.headers.authorization).toBe('token secret');
  });

  it.each([
    [() => api.deleteFile('a b.pdb'), 'files?path=a+b.pdb'],
    [() => api.deleteFolder('set'), 'files?folder=set'],
    [() => api.cancelUpload('u1'), 'files/uploads/u1']
  ])('use DELETE to delete files and uploads: %#', async (send, path) => {
    await send();
    expect([server.lastRequest().method, server.lastRequest().path]).toEqual(['DELETE', path]);
  });

  it('distinguish local files of the same name', async () => {
    const file = new File(['abc'], 'a.pdb', { lastModified: 17 });
    await api.beginUpload(file, 'set');
    expect(JSON.parse(server.lastRequest().body)).toEqual({ name: 'a.pdb', folder: 'set', sizeBytes: 3, mark: '17' });
  });

  it('fetch a result to our own server before the browser downloads it from there', async () => {
    const address = await api.fetchResult({ ...JOB, profile: 'lab' }, 'model.pdb');
    expect(server.lastRequest().method).toBe('POST');
    expect(address.endsWith(server.lastRequest().path)).toBe(true);
    expect(new URL(address).searchParams.get('file')).toBe('model.pdb');
    expect(api.claimAddress()).toMatch(/\/foldnote\/api\/account\/claim$/);
  });
});

describe('an error response', () => {
  it('is reported with the server’s message', async () => {
    server.respond = () => ({ status: 409, body: { error: 'The job has ended.' } });
    const fault = await rejectionOf(api.stop(['a']));
    expect([fault.message, fault.status, fault.name]).toEqual(['The job has ended.', 409, 'LabRequestError']);
  });

  it.each([
    [500, '<html>', /status 500/],
    [404, '<html>', /server extension is not running/],
    [424, '<html>', /Reload the page/],
    [502, '', /status 502/]
  ])('without a message (status %i) is explained', async (status, body, sentence) => {
    server.respond = () => ({ status, body });
    expect((await rejectionOf(api.tools())).message).toMatch(sentence);
  });

  it('is replaced by a question if the server cannot be reached', async () => {
    await server.stop();
    const fault = await rejectionOf(api.tools());
    expect([fault.status, fault.message]).toEqual([0, 'The Jupyter server does not answer. Is it still running?']);
    await server.start();
  });
});

describe('a chunk of an upload', () => {
  const send = (signal = new AbortController().signal, onProgress = vi.fn()): Promise<unknown> =>
    api.sendPiece('u1', 4, new Blob(['tail']), onProgress, signal);

  it('is sent unchanged, with the page’s authorization', async () => {
    server.respond = () => ({ body: { id: 'u1', receivedBytes: 8 } });
    expect(await send()).toEqual({ id: 'u1', receivedBytes: 8 });
    const { method, path, body, headers } = server.lastRequest();
    expect([method, path, body]).toEqual(['PUT', 'files/uploads/u1?offset=4', 'tail']);
    expect(headers['content-type']).toBe('application/octet-stream');
    expect(headers.authorization).toBe('token secret');
  });

  it('reports why it was refused', async () => {
    server.respond = () => ({ status: 413, body: { error: 'The file is too large.' } });
    expect((await rejectionOf(send())).message).toBe('The file is too large.');
    server.respond = () => ({ status: 500, body: 'oops' });
    expect((await rejectionOf(send())).message).toBe('The Jupyter server responded with status 500.');
  });

  it('removes its abort listener when it has been sent', async () => {
    server.respond = () => ({ body: { id: 'u1', receivedBytes: 8 } });
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    await send(signal);
    await vi.waitFor(() => expect(remove.mock.calls).toEqual(add.mock.calls));
    expect(add).toHaveBeenCalledOnce();
  });

  it('can be cancelled', async () => {
    server.respond = () => ({ isWithheld: true });
    const control = new AbortController();
    const sending = send(control.signal);
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    control.abort();
    expect((await rejectionOf(sending)).message).toBe('The upload was cancelled.');
  });
});

describe('an upload in progress', () => {
  it('goes to the service that was selected when it began', async () => {
    const upload = { id: 'u1', sizeBytes: 2, receivedBytes: 0, sentBytes: null, waiting: null, path: null };
    api.profile = 'lab';
    server.respond = ({ path, method }) => {
      api.profile = 'cloud'; // selected meanwhile
      const isSent = method === 'PUT' || path.includes('finish');
      return { body: { ...upload, receivedBytes: isSent ? 2 : 0, path: path.includes('finish') ? 'a' : null } };
    };
    await new FilesModel(api, [0], 2).upload([new File(['ab'], 'a')]);
    const sent = server.requests.filter(each => each.path.startsWith('files/uploads'));
    expect(sent.map(each => new URLSearchParams(each.path.split('?')[1]).get('profile'))).toEqual([
      'lab',
      'lab',
      'lab'
    ]);
  });
});
