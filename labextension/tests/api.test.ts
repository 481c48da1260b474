/** The routes of the server extension, asked of a real HTTP server. */
import { LabApi } from '../src/api/lab';
import { LabRequestError, Requests } from '../src/api/request';
import { FilesModel } from '../src/models/files/files';
import { makeResponse, makeJob } from './records';
import { forSeeds } from './random';
import { JupyterServer } from './server';

const PLACE = { job: 'fold', member: null, profile: null };

let server: JupyterServer;
let api: LabApi;

beforeEach(async () => {
  server = new JupyterServer();
  await server.start();
  api = new LabApi(server.settings());
});

afterEach(() => server.stop());

/** What a request ended in. */
async function faultOf(request: Promise<unknown>): Promise<LabRequestError> {
  const fault: unknown = await request.then(
    () => null,
    (error: unknown) => error
  );
  expect(fault).toBeInstanceOf(LabRequestError);
  return fault as LabRequestError;
}

describe('jobs', () => {
  it('come with a tag, and are asked for with it', async () => {
    const body = makeResponse([makeJob()]);
    server.answer = () => ({ body, headers: { ETag: 'W/"t1"' } });
    const first = await api.jobs(null, 25);
    expect([first.tag, first.body?.jobs[0]?.jobName]).toEqual(['t1', 'trastuzumab']);
    expect(server.last().path).toBe('jobs');
    await api.jobs('t1', 25);
    expect(server.last().path).toBe('jobs?since=t1&wait_s=25');
  });

  it('that are as before are not sent again', async () => {
    server.answer = () => ({ status: 304 });
    expect(await api.jobs('t1', 0)).toEqual({ body: null, tag: 't1' });
  });

  it('are asked for at the pace and of the profile that a person chose', async () => {
    api.pollSeconds = 30;
    api.profile = 'lab & co';
    await api.jobs(null, 0);
    expect(server.last().path).toBe('jobs?profile=lab+%26+co&pause_s=30');
  });

  it('are given up with a signal, which is no fault of the server', async () => {
    server.answer = () => ({ isHeld: true });
    const control = new AbortController();
    const asking = api.jobs('t1', 25, control.signal);
    await vi.waitFor(() => expect(server.asked).toHaveLength(1));
    control.abort();
    await expect(asking).rejects.not.toBeInstanceOf(LabRequestError);
  });

  it('are stopped, deleted, kept and tagged by their names', async () => {
    server.answer = ({ path }) => ({
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
    expect(server.asked.map(({ method, path, body }) => [method, path, JSON.parse(body) as unknown])).toEqual([
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
    [() => api.record(PLACE), 'jobs/fold/record'],
    [() => api.record({ job: 'fold', member: 'm@x', profile: 'lab' }), 'jobs/fold/record?profile=lab&member=m%40x'],
    [() => api.log('fold'), 'jobs/fold/log'],
    [() => api.readSettings(PLACE), 'jobs/fold/settings'],
    [() => api.readResult(PLACE), 'jobs/fold/view?colors=automatic'],
    [() => api.renderFile('a/b.pdb'), 'view?path=a%2Fb.pdb&colors=automatic'],
    [() => api.tools(), 'tools'],
    [() => api.tool('my/tool'), 'tools/my%2Ftool'],
    [() => api.files('set', 50), 'files?folder=set&offset=50'],
    [() => api.profiles(), 'profiles'],
    [() => api.account(true), 'account?fresh=1'],
    [() => api.account(false), 'account'],
    [() => api.engines(), 'engines']
  ])('and all else are asked for by GET: %#', async (ask, path) => {
    await ask();
    expect([server.last().method, server.last().path]).toEqual(['GET', path]);
  });

  it('of any name have an address of their own', () => {
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

describe('what changes something', () => {
  it.each([
    [() => api.advise('dock'), 'POST', 'advice', { prompt: 'dock' }],
    [() => api.uploadContents('a.pdb', null), 'POST', 'files/contents', { path: 'a.pdb', folder: null }],
    [() => api.connect({ name: 'lab', url: 'u', key: 'k' }), 'POST', 'profiles', { name: 'lab', url: 'u', key: 'k' }],
    [() => api.changeEngine('a/b', 'install'), 'POST', 'engines/a%2Fb', { action: 'install', acceptsLicences: true }],
    [() => api.changeEngine('a/b', 'remove'), 'POST', 'engines/a%2Fb', { action: 'remove' }],
    [() => api.finishUpload('u1'), 'POST', 'files/uploads/u1/finish', {}]
  ])('is sent as JSON: %#', async (ask, method, path, body) => {
    await ask();
    const asked = server.last();
    expect([asked.method, asked.path, JSON.parse(asked.body)]).toEqual([method, path, body]);
    expect(asked.headers.authorization).toBe('token secret');
  });

  it.each([
    [() => api.deleteFile('a b.pdb'), 'files?path=a+b.pdb'],
    [() => api.deleteFolder('set'), 'files?folder=set'],
    [() => api.cancelUpload('u1'), 'files/uploads/u1']
  ])('is deleted: %#', async (ask, path) => {
    await ask();
    expect([server.last().method, server.last().path]).toEqual(['DELETE', path]);
  });

  it('tells one file of a computer from another of its name', async () => {
    const file = new File(['abc'], 'a.pdb', { lastModified: 17 });
    await api.beginUpload(file, 'set');
    expect(JSON.parse(server.last().body)).toEqual({ name: 'a.pdb', folder: 'set', sizeBytes: 3, mark: '17' });
  });

  it('fetches a result before the browser saves it, from an address of our own server', async () => {
    const address = await api.fetchResult({ ...PLACE, profile: 'lab' }, 'model.pdb');
    expect(server.last().method).toBe('POST');
    expect(address.endsWith(server.last().path)).toBe(true);
    expect(new URL(address).searchParams.get('file')).toBe('model.pdb');
    expect(api.claimAddress()).toMatch(/\/foldnote\/api\/account\/claim$/);
  });
});

describe('a refusal', () => {
  it('is told in the sentence of the server', async () => {
    server.answer = () => ({ status: 409, body: { error: 'The job has ended.' } });
    const fault = await faultOf(api.stop(['a']));
    expect([fault.message, fault.status, fault.name]).toEqual(['The job has ended.', 409, 'LabRequestError']);
  });

  it.each([
    [500, '<html>', /status 500/],
    [404, '<html>', /server extension is not running/],
    [424, '<html>', /Reload the page/],
    [502, '', /status 502/]
  ])('without one (%i) says what it means', async (status, body, sentence) => {
    server.answer = () => ({ status, body });
    expect((await faultOf(api.tools())).message).toMatch(sentence);
  });

  it('of a server that is gone asks whether it runs', async () => {
    await server.stop();
    const fault = await faultOf(api.tools());
    expect([fault.status, fault.message]).toEqual([0, 'The Jupyter server does not answer. Is it still running?']);
    await server.start();
  });
});

describe('a piece of a file', () => {
  const send = (signal = new AbortController().signal, onProgress = vi.fn()): Promise<unknown> =>
    api.sendPiece('u1', 4, new Blob(['tail']), onProgress, signal);

  it('is sent as it is, with the rights of the page', async () => {
    server.answer = () => ({ body: { id: 'u1', receivedBytes: 8 } });
    expect(await send()).toEqual({ id: 'u1', receivedBytes: 8 });
    const { method, path, body, headers } = server.last();
    expect([method, path, body]).toEqual(['PUT', 'files/uploads/u1?offset=4', 'tail']);
    expect(headers['content-type']).toBe('application/octet-stream');
    expect(headers.authorization).toBe('token secret');
  });

  it('that is refused says why', async () => {
    server.answer = () => ({ status: 413, body: { error: 'The file is too large.' } });
    expect((await faultOf(send())).message).toBe('The file is too large.');
    server.answer = () => ({ status: 500, body: 'oops' });
    expect((await faultOf(send())).message).toBe('The Jupyter server responded with status 500.');
  });

  it('leaves nothing behind that hears of a cancellation', async () => {
    server.answer = () => ({ body: { id: 'u1', receivedBytes: 8 } });
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    await send(signal);
    await vi.waitFor(() => expect(remove.mock.calls).toEqual(add.mock.calls));
    expect(add).toHaveBeenCalledOnce();
  });

  it('is cancelled', async () => {
    server.answer = () => ({ isHeld: true });
    const control = new AbortController();
    const sending = send(control.signal);
    await vi.waitFor(() => expect(server.asked).toHaveLength(1));
    control.abort();
    expect((await faultOf(sending)).message).toBe('The upload was cancelled.');
  });
});

describe('a file on its way', () => {
  it('goes to the service that was selected when its upload began', async () => {
    const upload = { id: 'u1', sizeBytes: 2, receivedBytes: 0, sentBytes: null, waiting: null, path: null };
    api.profile = 'lab';
    server.answer = ({ path, method }) => {
      api.profile = 'cloud'; // selected meanwhile
      const isSent = method === 'PUT' || path.includes('finish');
      return { body: { ...upload, receivedBytes: isSent ? 2 : 0, path: path.includes('finish') ? 'a' : null } };
    };
    await new FilesModel(api, [0], 2).upload([new File(['ab'], 'a')]);
    const sent = server.asked.filter(each => each.path.startsWith('files/uploads'));
    expect(sent.map(each => new URLSearchParams(each.path.split('?')[1]).get('profile'))).toEqual([
      'lab',
      'lab',
      'lab'
    ]);
  });
});
