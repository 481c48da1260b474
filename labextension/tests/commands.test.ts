/** The commands about cells, files and services, and the places where they are offered. */
import { MainAreaWidget } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import { readCards } from '../src/models/service/cards';
import { CommandIDs } from '../src/commands';
import { cleanUp, notices, openDialog, press, startApplication, type Running } from './application';
import { addNotebook, Cell, notebooks } from './notebook';
import { makeJob, makeTool, SERVICE } from './records';

const FORM = 'import foldnote as fn\n\nfn.form("abodybuilder")';

let running: Running;

beforeAll(async () => {
  running = await startApplication();
});

afterEach(() => cleanUp(running));

afterAll(() => running.stop());

const run = (command: string, args = {}): Promise<unknown> => running.app.commands.execute(command, args);

describe('opening a cell’s submission as a form before it is run', () => {
  const ANARCI = { label: 'anarci, line 1', code: 'fn.form("anarci")', unread: [] };
  const VINA = { label: 'vina, line 2', code: 'fn.form("vina")', unread: ['receptor, which is computed'] };
  const CODE = 'fn.submit("anarci")\nfn.submit("vina", receptor=f())';
  const respondWith = (body: object, status = 200): unknown =>
    running.server.overrides.set('cells/forms', { status, body });

  it('inserts and runs the form below; the cell itself is only parsed, not run', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell(CODE)]);
    respondWith({ cells: [ANARCI] });
    await run(CommandIDs.formOfCell);
    expect(running.server.bodyOf('cells/forms')).toEqual({ code: CODE });
    expect([notebook.sources(), notebook.runs()]).toEqual([[CODE, ANARCI.code], [ANARCI.code]]);
    expect(notices()).toEqual([]);
  });

  it('lets the user choose among several calls, and lists settings that could not be read', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell(CODE)]);
    respondWith({ cells: [ANARCI, VINA] });
    const done = run(CommandIDs.formOfCell);
    const list = (await openDialog()).querySelector('select');
    expect([...(list?.options ?? [])].map(each => each.text)).toEqual([ANARCI.label, VINA.label]);
    Object.assign(list ?? {}, { value: VINA.label });
    await press('Open');
    await done;
    expect(notebook.runs()).toEqual([VINA.code]);
    expect(notices()[0]).toContain('could not be read from the cell are missing from the form: receptor.');
  });

  it('inserts nothing after Cancel', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell(CODE)]);
    respondWith({ cells: [ANARCI, VINA] });
    const done = run(CommandIDs.formOfCell);
    await press('Cancel');
    await done;
    expect(notebook.sources()).toEqual([CODE]);
  });

  it('explains why there is no form for other cells, or without an active cell', async () => {
    await run(CommandIDs.formOfCell);
    addNotebook(running.app, running.rendermime, [new Cell('# Title', 'markdown')]);
    await run(CommandIDs.formOfCell);
    const sentence = 'Select a code cell that submits a job first.';
    expect(notices()).toEqual([sentence, sentence]);
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x = 1')]);
    respondWith({ error: 'This cell submits no job.' }, 400);
    await run(CommandIDs.formOfCell);
    expect(notices()[0]).toBe('This cell submits no job.');
    expect(notebook.sources()).toEqual(['x = 1']);
  });

  it('is in the command palette and in the menu', () => {
    const menu = running.mainMenu.menus.find(each => each.id === 'jp-mainmenu-foldnote');
    for (const items of [menu?.items ?? [], running.palette.items]) {
      expect(items.map(item => item.command)).toContain(CommandIDs.formOfCell);
    }
  });
});

describe('a new cell with a form', () => {
  const insert = (args = {}): Promise<unknown> => run(CommandIDs.newCell, { tool: 'abodybuilder', ...args });

  it('fills the blank cell of the current notebook and is run', async () => {
    const notebook = addNotebook(running.app, running.rendermime);
    await insert();
    expect([notebook.sources(), notebook.runs()]).toEqual([[FORM], [FORM]]);
  });

  it('does not overwrite a cell that has content', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x = 1'), new Cell('y = 2')]);
    await insert();
    expect(notebook.sources()).toEqual(['x = 1', FORM, 'y = 2']);
    expect(notebook.runs()).toEqual([FORM]);
  });

  it('does not fill a blank Markdown cell', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('', 'markdown')]);
    await insert();
    expect(notebook.sources()).toEqual(['', FORM]);
  });

  it('creates a notebook with a Python kernel if none is open', async () => {
    await insert({ cwd: 'work' });
    const [notebook] = notebooks(running.app);
    expect(notebook?.runs()).toEqual([FORM]);
    expect(notebook?.title.caption).toBe('{"cwd":"work","kernelName":"python3","activate":true}');
  });

  it('creates a notebook in the launcher’s folder even if another notebook is open behind it', async () => {
    const behind = addNotebook(running.app, running.rendermime);
    const launcher = new MainAreaWidget({ content: new Widget() });
    running.app.shell.add(launcher, 'main');
    running.app.shell.activateById(launcher.id);
    await insert({ cwd: 'work' });
    expect(behind.runs()).toEqual([]);
    expect(notebooks(running.app).map(each => each.runs())).toContainEqual([FORM]);
  });

  it('names the profile if another service is selected', async () => {
    const notebook = addNotebook(running.app, running.rendermime);
    running.foldnote.profiles.choose('lab');
    await insert();
    expect(notebook.runs()).toEqual(['import foldnote as fn\n\nfn.form("abodybuilder", profile="lab")']);
  });

  it('is not inserted without a Python kernel, and a notice explains why', async () => {
    const { kernelspecs } = running.app.serviceManager;
    const { ir } = (running.server.kernels as { kernelspecs: Record<string, unknown> }).kernelspecs;
    running.server.kernels = { default: 'ir', kernelspecs: { ir } };
    await kernelspecs.refreshSpecs();
    await insert();
    expect(notices()).toEqual(['There is no Python kernel. Install ipykernel where JupyterLab runs.']);
    expect(notebooks(running.app)).toEqual([]);
    running.server.reset();
    await kernelspecs.refreshSpecs();
  });

  it('is not inserted into a notebook without cells, and a notice explains why', async () => {
    const notebook = addNotebook(running.app, running.rendermime, []);
    vi.spyOn(notebook.content, 'insert').mockReturnValue();
    await insert();
    expect(notices()).toEqual(['The notebook has no cell to write to. Add one and try again.']);
  });
});

describe('a file', () => {
  const insert = (args: object): Promise<unknown> => run(CommandIDs.insertFile, args);

  it('is inserted at the cursor of a code cell', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('structure = ')]);
    await insert({ path: 'a "b".pdb' });
    expect(notebook.sources()).toEqual(['structure = fn.uploaded("a \\"b\\".pdb")']);
    expect(notebook.runs()).toEqual([]);
    expect(document.activeElement?.className).toBe('jp-Editor');
  });

  it.each([[''], ['# Title', 'markdown']])('gets its own cell if the active cell has no code: %j', async (...cell) => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell(...cell)]);
    await insert({ path: 'a.pdb' });
    expect(notebook.runs()).toEqual(['import foldnote as fn\n\nfn.uploaded("a.pdb")']);
  });

  it('of a result is referred to by its job, and by the job’s owner if that is another member', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x = ')]);
    await insert({ path: 'model.pdb', job: 'fold' });
    await insert({ path: 'model.pdb', job: 'fold', member: 'bo@x', profile: 'lab' });
    expect(notebook.sources()).toEqual([
      'x = fn.job("fold").file("model.pdb")fn.Client("lab").jobs.download("fold", "model.pdb", job_email="bo@x")'
    ]);
  });

  it('is deleted only after confirmation', async () => {
    running.server.files = [
      { fileId: '1', fileName: 'a.pdb', fileSize: 1, folder: null, isFolder: false, name: 'a.pdb', uploadTime: null }
    ];
    await running.foldnote.files.refresh();
    const first = run(CommandIDs.deleteFile, { path: 'a.pdb' });
    expect(await press('Cancel')).toContain('Delete the file a.pdb?');
    await first;
    expect(running.foldnote.files.state().files).toHaveLength(1);
    const second = run(CommandIDs.deleteFile, { path: 'a.pdb' });
    await press('Delete');
    await second;
    expect(running.server.requestsTo('files', 'DELETE').map(each => each.path)).toEqual(['files?path=a.pdb']);
    expect(running.foldnote.files.state().files).toEqual([]);
  });

  it('that the service refuses to delete stays in the list, with the reason', async () => {
    await running.foldnote.files.refresh();
    running.server.overrides.set('files', { status: 409, body: { error: 'A job is reading it.' } });
    const finished = run(CommandIDs.deleteFile, { path: 'a.pdb' });
    await press('Delete');
    await finished;
    expect(running.foldnote.files.state().requestError).toBe('A job is reading it.');
  });

  it('in a folder is deleted with the folder, and the confirmation warns of this', async () => {
    const finished = run(CommandIDs.deleteFolder, { path: 'targets/old' });
    expect(await press('Delete')).toContain('Every file in it and in its folders is deleted.');
    await finished;
    expect(running.server.requestsTo('files', 'DELETE').map(each => each.path)).toEqual(['files?folder=targets%2Fold']);
  });

  it('is named in labels, with hidden characters made visible', () => {
    const { commands } = running.app;
    expect(commands.label(CommandIDs.deleteFile, { path: 'a\u202eb' })).toBe('Delete the file a\ufffdb');
    expect(commands.label(CommandIDs.deleteFolder, { path: 'old' })).toBe('Delete the folder old');
    expect(commands.label(CommandIDs.insertFile, { path: 'a.pdb' })).toBe('Insert a.pdb into the notebook');
  });
});

describe('refreshing', () => {
  const requestedPaths = (): readonly string[] => [
    ...new Set(running.server.requests.map(each => each.path.split('?')[0] ?? ''))
  ];

  it('requests jobs, tools, profiles and the account', async () => {
    running.foldnote.files.reset();
    running.server.requests.length = 0;
    await run(CommandIDs.refresh);
    expect(requestedPaths()).toEqual(expect.arrayContaining(['refresh', 'jobs', 'tools', 'profiles', 'account']));
    expect(requestedPaths()).not.toContain('files');
    expect(running.server.requestsTo('account', 'GET')[0]?.path).toBe('account?fresh=1');
  });

  it('requests files and members’ jobs only if they have been shown before', async () => {
    await running.foldnote.files.refresh();
    await running.foldnote.members.refresh();
    running.server.requests.length = 0;
    await run(CommandIDs.refresh);
    expect(requestedPaths()).toEqual(expect.arrayContaining(['files', 'jobs/members']));
    running.foldnote.members.reset();
  });
});

describe('connecting to a service', () => {
  const field = async (label: string): Promise<HTMLInputElement> => {
    const labels = [...(await openDialog()).querySelectorAll('label')];
    const input = labels.find(each => each.textContent === label)?.querySelector('input');
    if (!input) {
      throw new Error(`No field “${label}”.`);
    }
    return input;
  };

  async function fill(name: string, url: string, key: string): Promise<void> {
    (await field('Profile name')).value = name;
    (await field('Service address')).value = url;
    (await field('API key')).value = key;
  }

  it('has the server test and store the key, and selects that service', async () => {
    const finished = run(CommandIDs.connect);
    await fill(' lab ', 'https://lab.example.org/v1 ', ' secret ');
    const key = await field('API key');
    expect(key.type).toBe('password');
    await press('Test and store');
    await finished;
    expect(key.value).toBe('');
    expect(running.server.bodyOf('profiles')).toEqual({
      name: 'lab',
      url: 'https://lab.example.org/v1',
      key: 'secret'
    });
    expect(running.foldnote.profiles.state().chosen).toBe('lab');
    expect(running.server.requestsTo('jobs', 'GET')[0]?.path).toContain('profile=lab');
  });

  it('shows why a key was refused, and clears only the key', async () => {
    running.server.overrides.set('profiles', { body: { isGood: false, message: 'The service refuses the key.' } });
    const finished = run(CommandIDs.connect);
    await fill('lab', 'https://lab.example.org', 'wrong');
    await press('Test and store');
    await vi.waitFor(async () =>
      expect((await openDialog()).querySelector('[role=alert]')?.textContent).toBe('The service refuses the key.')
    );
    const values = [await field('Profile name'), await field('Service address'), await field('API key')];
    expect(values.map(each => each.value)).toEqual(['lab', 'https://lab.example.org', '']);
    await press('Cancel');
    await finished;
    expect(running.foldnote.profiles.state().chosen).toBeNull();
  });

  it('shows the Jupyter server’s error message', async () => {
    running.server.overrides.set('profiles', { status: 400, body: { error: 'The name holds a slash.' } });
    const finished = run(CommandIDs.connect);
    await fill('a/b', 'https://lab.example.org', 'x');
    await press('Test and store');
    await vi.waitFor(async () => expect((await openDialog()).textContent).toContain('The name holds a slash.'));
    await press('Cancel');
    await finished;
  });

  it('is prefilled with the selected service unless that runs on this computer', async () => {
    running.server.report = { ...SERVICE, profile: 'lab', url: 'https://lab.example.org', isEmbedded: false };
    await running.foldnote.jobs.refresh();
    const finished = run(CommandIDs.connect);
    expect((await field('Profile name')).value).toBe('lab');
    expect((await field('Service address')).value).toBe('https://lab.example.org');
    await press('Cancel');
    await finished;
    expect(running.server.bodyOf('profiles')).toBeUndefined();
  });
});

describe('where commands are offered', () => {
  const TOOLS = [
    makeTool({ modalities: ['antibody'] }),
    makeTool({ type: 'vina', displayName: 'Vina', family: 'docking', modalities: ['small-molecule'] }),
    makeTool({ type: 'zed', displayName: 'Zed', family: 'docking', available: false, unavailableReason: 'No engine.' })
  ];
  const paletteLabels = (): readonly string[] => running.palette.items.map(item => item.label);
  const catalog = () => running.mainMenu.menus.find(menu => menu.id === 'jp-mainmenu-foldnote')?.items[0]?.submenu;

  beforeEach(async () => {
    running.server.tools = TOOLS;
    await running.foldnote.tools.refresh();
  });

  it('palette: each tool once, marked if it is not available', async () => {
    await running.foldnote.tools.refresh();
    const cells = paletteLabels().filter(label => label.startsWith('New cell'));
    expect(cells).toEqual(['New cell: AbodyBuilder', 'New cell: Vina', 'New cell: Zed (not available here)']);
    expect(running.palette.items.every(item => item.category.includes('foldnote'))).toBe(true);
  });

  it('palette: labels that make sense without the list of jobs', () => {
    const labels = paletteLabels();
    for (const label of [
      'Refresh Jobs, Tools and Files',
      'Connect to a Service …',
      'Show Jobs',
      'Open the Result (Selected Jobs)',
      "Open the Job's Settings as a Form (Selected Jobs)",
      'Notify in the Browser When Jobs End'
    ]) {
      expect(labels).toContain(label);
    }
    expect(new Set(labels).size).toBe(labels.length);
  });

  it('launcher: a card per available tool, which opens its form', async () => {
    const { app, launcher } = running;
    const [browse, example, ...cards] = [...launcher.items()];
    expect([browse?.command, example?.command]).toEqual([CommandIDs.browseTools, CommandIDs.exampleNotebook]);
    expect(readCards(window.localStorage).map(card => card.tool)).toEqual(['abodybuilder', 'vina']);
    expect(cards.map(card => app.commands.label(card.command, card.args ?? {}))).toEqual(['AbodyBuilder', 'Vina']);
    const [antibody, other] = cards.map(card => app.commands.icon(card.command, card.args ?? {}));
    expect(antibody).not.toBe(other);
    expect(app.commands.caption(CommandIDs.launchTool, cards[0]?.args ?? {})).toContain('antibody');
    await run(CommandIDs.launchTool, { ...cards[1]?.args, cwd: '' });
    expect(notebooks(app)[0]?.runs()).toEqual(['import foldnote as fn\n\nfn.form("vina")']);
  });

  it('menu: a submenu for each family of available tools', () => {
    const families = catalog()?.items.flatMap(item => item.submenu ?? []) ?? [];
    expect(families.map(menu => menu.title.label)).toEqual(['Antibody', 'Docking']);
    expect(families.map(menu => menu.items.map(item => item.label))).toEqual([['AbodyBuilder'], ['Vina']]);
  });

  it('menu: a link to all tools if none is available', async () => {
    running.server.tools = TOOLS.slice(2);
    await running.foldnote.tools.refresh();
    expect(catalog()?.items.map(item => item.label)).toEqual(['All Tools …']);
  });

  it('menu: not rebuilt by updates that do not concern tools', async () => {
    const before = catalog()?.items[0];
    running.server.jobs = [makeJob()];
    await running.foldnote.jobs.refresh();
    expect(catalog()?.items[0]).toBe(before);
  });

  it('menu: a different mnemonic for each entry', () => {
    const menu = running.mainMenu.menus.find(each => each.id === 'jp-mainmenu-foldnote');
    const letters = (menu?.items ?? [])
      .filter(item => item.type !== 'separator')
      .map(item => {
        const { label, mnemonic } = item.submenu?.title ?? item;
        return label.charAt(mnemonic).toLowerCase();
      });
    expect(letters).not.toContain('');
    expect(new Set(letters).size).toBe(letters.length);
  });
});
