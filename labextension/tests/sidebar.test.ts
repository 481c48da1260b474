/** The sidebar in the shell: what it asks for, its views, its tab, engines, and what is dragged out of it and into it. */
import { MimeData } from '@lumino/coreutils';
import { userEvent } from '@testing-library/user-event';

import { CommandIDs } from '../src/commands';
import { CELL_MIME, dragFrom, VALUE_MIME } from '../src/dragging';
import { DEFAULT_CHOICES } from '../src/models/jobs/choices';
import { Sidebar } from '../src/panels/sidebar';
import { cleanUp, notices, openDialog, press, startApplication, type Running } from './application';
import { addNotebook, Cell } from './notebook';
import { makeEngine, makeJob, makeTool, SERVICE } from './records';

const LIVE = makeJob({ jobName: 'live' });
const DONE = makeJob({ jobName: 'done', status: 'Complete' });

let running: Running;
let sidebar: Sidebar;

beforeAll(async () => {
  running = await startApplication();
  const found = [...running.app.shell.widgets('left')].find(widget => widget instanceof Sidebar);
  if (!found) {
    throw new Error('There is no sidebar.');
  }
  sidebar = found;
});

afterEach(async () => {
  await cleanUp(running);
  await show(CommandIDs.showJobs);
});

afterAll(() => running.stop());

const run = (command: string, args = {}): Promise<unknown> => running.app.commands.execute(command, args);

/** Brings a view to the front. */
async function show(command: string): Promise<void> {
  await run(command);
  await vi.waitUntil(() => sidebar.isVisible);
}

const sidebarText = (): string => sidebar.node.textContent;

/** The element with this role and name, as soon as it is there. */
function find(role: string, name: string | RegExp): Promise<HTMLElement> {
  return vi.waitFor(() => {
    const all = [...sidebar.node.querySelectorAll<HTMLElement>(role)];
    const nameOf = (each: HTMLElement): string => each.getAttribute('aria-label') ?? each.textContent;
    const found = all.find(each => (name instanceof RegExp ? name.test(nameOf(each)) : nameOf(each) === name));
    if (!found) {
      throw new Error(`No ${role} “${name}” among: ${all.map(nameOf).join(' | ')}`);
    }
    return found;
  }, 5000); // views are loaded when they are first shown
}

async function setJobs(...jobs: ReturnType<typeof makeJob>[]): Promise<void> {
  running.server.jobs = jobs;
  await running.foldnote.jobs.refresh();
}

describe('the views', () => {
  it('are rendered when first shown', async () => {
    expect(sidebar.isAttached).toBe(true);
    expect(sidebar.isVisible).toBe(false);
    expect(sidebar.node.childElementCount).toBe(0);
    await show(CommandIDs.showJobs);
    await find('[role=tab]', 'Jobs');
  });

  it.each([
    [CommandIDs.showTools, 'tools', 'Search tools'],
    [CommandIDs.showFiles, 'files', 'Search files']
  ])('are shown by the command %s', async (command, view, field) => {
    await show(command);
    expect(sidebar.view).toBe(view);
    await find('input', field);
    const chosen = sidebar.node.querySelector('[role=tab][aria-selected=true]');
    expect(chosen?.textContent.toLowerCase()).toBe(view);
  });

  it('list the files of another service as soon as it is selected', async () => {
    await show(CommandIDs.showFiles);
    await vi.waitFor(() => expect(running.foldnote.files.state().files).toEqual([]));
    running.foldnote.profiles.choose('cloud');
    await vi.waitFor(() => expect(running.foldnote.files.state().files).toEqual([]));
    running.foldnote.profiles.choose(null);
    expect(running.server.requests.map(each => each.path)).toContain('files?profile=cloud&offset=0');
  });

  it('are selected by their tabs', async () => {
    await setJobs(DONE);
    await show(CommandIDs.showTools);
    (await find('[role=tab]', 'Jobs')).click();
    await find('[role=treegrid]', 'Jobs');
    expect(sidebar.view).toBe('jobs');
  });

  it('request files only if the files are shown', async () => {
    running.server.requests.length = 0;
    await show(CommandIDs.showTools);
    expect(running.server.requestsTo('files', 'GET')).toEqual([]);
    await show(CommandIDs.showFiles);
    await vi.waitFor(() => expect(running.server.requestsTo('files', 'GET')).toHaveLength(1));
  });

  it('poll the jobs while the sidebar is visible, and not while it is closed', async () => {
    running.server.jobs = [LIVE];
    await vi.waitFor(() => expect(sidebarText()).toContain('live'), 5000);
    await setJobs();
    sidebar.hide();
    running.server.requests.length = 0;
    await new Promise(resolve => setTimeout(resolve, 600));
    expect(running.server.requestsTo('jobs', 'GET')).toEqual([]);
    sidebar.show();
    await vi.waitFor(() => expect(running.server.requestsTo('jobs', 'GET').length).toBeGreaterThan(0), 5000);
  });

  it('link an empty list of jobs to the tools', async () => {
    await setJobs();
    (await find('button', 'Choose a tool')).click();
    await find('input', 'Search tools');
  });

  it('have labels in JupyterLab’s menus and palette', () => {
    const { commands } = running.app;
    expect(commands.label(CommandIDs.showFiles)).toBe('Show Files');
    expect(commands.label(CommandIDs.showTools, { label: 'All Tools …' })).toBe('All Tools …');
    expect(commands.mnemonic(CommandIDs.showTools, { label: 'All Tools …' })).toBe(4);
    expect(sidebar.node.getAttribute('aria-label')).toBe('Protein analysis');
  });
});

describe('the tab of the sidebar', () => {
  it('counts unfinished jobs', async () => {
    await setJobs(LIVE, makeJob({ jobName: 'b', status: 'In Queue' }), DONE);
    expect(sidebar.title.dataset).toEqual({ count: '2' });
    expect(sidebar.title.caption).toContain('(2 jobs are unfinished)');
    await setJobs(DONE);
    expect(sidebar.title.dataset).toEqual({});
    expect(sidebar.title.caption).not.toContain('unfinished');
  });

  it('shows at most two digits', async () => {
    await setJobs(...Array.from({ length: 100 }, (_, index) => makeJob({ jobName: `job-${index}` })));
    expect(sidebar.title.dataset).toEqual({ count: '99+' });
  });
});

describe('the list of jobs', () => {
  it('runs JupyterLab commands', async () => {
    const notebook = addNotebook(running.app, running.rendermime);
    await setJobs(DONE);
    (await find('button', 'Insert a cell that loads done')).click();
    await vi.waitFor(() => expect(notebook.runs()).toEqual(['import foldnote as fn\n\nfn.job("done")']));
  });

  it('asks for confirmation before the Delete key deletes the selected jobs', async () => {
    await setJobs(DONE, LIVE);
    running.foldnote.selection.chooseAll(['done', 'live']);
    const grid = await find('[role=treegrid]', 'Jobs');
    grid.focus();
    await userEvent.keyboard('{Delete}');
    expect(await press('Cancel')).toContain('Delete 2 jobs?');
  });

  it('can show the organization’s jobs, which clears the selection', async () => {
    running.server.report = { ...SERVICE, isEmbedded: false, profile: 'lab' };
    running.server.members = [{ ...DONE, email: 'bo@x' }];
    await setJobs(LIVE);
    running.foldnote.selection.chooseAll(['live']);
    const whose = await find('select', 'Owner of the jobs');
    await userEvent.selectOptions(whose, 'organization');
    await find('[role=row]', /done.*bo@x/);
    expect(running.foldnote.selection.state().names.size).toBe(0);
    const mine = await find('select', 'Owner of the jobs');
    await userEvent.selectOptions(mine, 'mine');
    await find('[role=row]', /^live/);
  });

  it('stores the order of the jobs for the next visit', async () => {
    await setJobs(DONE);
    await userEvent.selectOptions(await find('select', 'Order'), 'name');
    await vi.waitFor(async () => expect(await running.state.fetch('foldnote:choices')).toMatchObject({ sort: 'name' }));
    await userEvent.selectOptions(await find('select', 'Order'), DEFAULT_CHOICES.sort);
  });
});

describe('engines', () => {
  const TERMS = {
    name: 'Fold',
    licence: 'Academic licence',
    source: 'Example University',
    url: 'https://example.org/licence',
    isOptional: false,
    isAsked: true,
    user: '',
    accepted: null
  };
  const ENGINE = makeEngine({ licenceNote: 'Ask before you sell what you made with it.' });
  const shown = async (): Promise<void> => {
    await running.foldnote.jobs.refresh();
    running.server.tools = [makeTool()];
    await running.foldnote.tools.refresh();
    await running.foldnote.engines.refresh();
    await show(CommandIDs.showEngines);
  };

  afterEach(() => running.foldnote.engines.show(false));

  it('are installed after their licence has been shown', async () => {
    running.server.engines = [ENGINE];
    await shown();
    (await find('button', /^Install/)).click();
    const text = await press('Install');
    for (const part of ['Install ANARCI?', 'Licence: BSD-3-Clause', ENGINE.licenceNote, 'at least 200 MB']) {
      expect(text).toContain(part);
    }
    await vi.waitFor(() =>
      expect(running.server.bodyOf('engines/anarci')).toEqual({ action: 'install', acceptsLicences: true })
    );
  });

  it('with a licence that must be accepted link to it, and are installed with the button Accept and Install', async () => {
    running.server.engines = [makeEngine({ terms: [TERMS] })];
    await shown();
    (await find('button', /^Install/)).click();
    const link = (await openDialog()).querySelector('a');
    expect([link?.textContent, link?.href, link?.rel]).toEqual(['Read the licence', TERMS.url, 'noopener']);
    const text = await press('Accept and Install');
    expect(text).toContain('You must accept the licence of Fold: Academic licence (Example University).');
    expect(text).toContain('Your acceptance is recorded on this computer');
    await vi.waitFor(() =>
      expect(running.server.bodyOf('engines/anarci')).toEqual({ action: 'install', acceptsLicences: true })
    );
  });

  it('with an accepted licence show who accepted it, and are installed without asking again', async () => {
    const accepted = { ...TERMS, isAsked: false, user: 'ada', accepted: '2026-11-26T03:00:00Z' };
    running.server.engines = [makeEngine({ terms: [accepted] })];
    await shown();
    expect((await find('.fn-Engine-notes p', /accepted by ada/)).textContent).toMatch(
      /^Licence of Fold accepted by ada on .*2026/
    );
    (await find('button', /^Install/)).click();
    expect(await press('Install')).not.toContain('You must accept');
  });

  it('list the weights to download, their source, and the licences to accept', async () => {
    const weights = {
      name: 'Model 1',
      host: 'models.example.org',
      source: 'Example Group',
      licence: 'CC BY-NC 4.0',
      sizeBytes: 540e6,
      isExact: false,
      isOptional: false,
      isInstalled: false
    };
    const there = { ...weights, name: 'Model 2', isInstalled: true };
    const more = { ...weights, name: 'Model 3', isOptional: true };
    const asked = { ...TERMS, name: 'Model 1', licence: 'CC BY-NC 4.0', url: '' };
    const terms = [
      asked,
      { ...asked, name: 'Model 2', isAsked: false },
      { ...asked, name: 'Model 3', isOptional: true }
    ];
    running.server.engines = [makeEngine({ weights: [weights, there, more], terms, weightsNote: 'Not yet checked.' })];
    await shown();
    (await find('button', /^Install/)).click();
    const text = await press('Cancel');
    expect(text).toContain(
      'Weights: Model 1, about 540 MB, from models.example.org (Example Group). Licence: CC BY-NC 4.0.'
    );
    expect(text).toContain('You must accept the licence of Model 1: CC BY-NC 4.0 (Example University).');
    expect(text).not.toMatch(/Model [23]/);
    expect(text).toContain('Not yet checked.');
  });

  it('get optional weights after a confirmation that describes them', async () => {
    const weights = {
      name: 'Model 2',
      host: 'models.example.org',
      source: 'Example Group',
      licence: 'CC BY 4.0',
      sizeBytes: 540e6,
      isExact: true,
      isOptional: true,
      isInstalled: false
    };
    const needed = { ...weights, name: 'Model 1', isOptional: false };
    running.server.engines = [
      makeEngine({ isInstalled: true, hasFiles: true, optionalMethod: 'All models', weights: [needed, weights] })
    ];
    await shown();
    (await find('button', /^Add optional weights to anarci/)).click();
    const text = await press('Install');
    expect(text).toContain('With them it runs All models.');
    expect(text).toContain('Weights: Model 2, 540 MB, from models.example.org (Example Group). Licence: CC BY 4.0.');
    expect(text).not.toContain('Model 1');
    await vi.waitFor(() =>
      expect(running.server.bodyOf('engines/anarci')).toEqual({
        action: 'install',
        acceptsLicences: true,
        optionalWeights: true
      })
    );
  });

  it('state that size and licence are unknown', async () => {
    running.server.engines = [makeEngine({ licence: '', diskMb: 0 })];
    await shown();
    (await find('button', /^Install/)).click();
    const text = await press('Cancel');
    expect(text).toContain('Licence: not stated');
    expect(text).toContain('at least gigabytes');
    expect(running.server.bodyOf('engines/anarci')).toBeUndefined();
  });

  it('are removed after a confirmation that says what is kept', async () => {
    running.server.engines = [makeEngine({ isInstalled: true, hasFiles: true })];
    await shown();
    (await find('button', /^Remove/)).click();
    expect(await press('Remove')).toContain('Jobs and results are kept.');
    await vi.waitFor(() => expect(running.server.bodyOf('engines/anarci')).toEqual({ action: 'remove' }));
  });

  it('that are being installed can be cancelled without confirmation', async () => {
    running.server.engines = [makeEngine({ isBusy: true, fraction: 0.5, message: 'Downloading' })];
    await shown();
    (await find('button', /^Cancel/)).click();
    await vi.waitFor(() => expect(running.server.bodyOf('engines/anarci')).toEqual({ action: 'cancel' }));
    running.server.engines = [];
    await running.foldnote.engines.refresh();
  });
});

describe('the service bar at the bottom', () => {
  it('selects a service, stores it in the settings, and requests its jobs at once', async () => {
    running.server.profiles = [
      { name: 'embedded', isActive: true, url: null },
      { name: 'lab', isActive: false, url: 'https://lab.example.org' }
    ];
    await running.foldnote.profiles.load();
    await userEvent.selectOptions(await find('select', 'Service'), 'lab');
    expect(running.foldnote.profiles.state().chosen).toBe('lab');
    await vi.waitFor(() => expect(running.server.requestsTo('jobs', 'GET')[0]?.path).toContain('profile=lab'));
    await vi.waitFor(async () => expect((await running.registry.get('foldnote:plugin', 'profile')).user).toBe('lab'));
    await running.registry.remove('foldnote:plugin', 'profile');
  });
});

/** A drag event of Lumino, as its drags send them. */
function luminoEvent(type: string, data: Readonly<Record<string, unknown>>): Event & { dropAction?: string } {
  const mimeData = new MimeData();
  for (const [mime, value] of Object.entries(data)) {
    mimeData.setData(mime, value);
  }
  return Object.assign(new Event(type, { bubbles: true, cancelable: true }), { mimeData });
}

describe('files dragged from the file browser', () => {
  const FILES = { 'application/x-jupyter-icontents': ['work/a.pdb', 'work/b.pdb'] };
  const send = (type: string): Event & { dropAction?: string } => {
    const event = luminoEvent(type, FILES);
    sidebar.node.dispatchEvent(event);
    return event;
  };

  it('are uploaded if the files are shown, and highlight the drop target', async () => {
    await show(CommandIDs.showFiles);
    expect(send('lm-dragover').dropAction).toBe('copy');
    expect(sidebar.hasClass('fn-mod-over')).toBe(true);
    send('lm-dragleave');
    expect(sidebar.hasClass('fn-mod-over')).toBe(false);
    running.server.overrides.set('files/contents', {
      body: { id: 'u', path: 'a.pdb', receivedBytes: 1, sentBytes: 1, sizeBytes: 1, waiting: null }
    });
    expect(send('lm-drop').defaultPrevented).toBe(true);
    await vi.waitFor(() => expect(running.server.requestsTo('files/contents')).toHaveLength(2));
    const paths = running.server.requestsTo('files/contents').map(each => JSON.parse(each.body) as unknown);
    expect(paths).toContainEqual({ path: 'work/a.pdb', folder: null });
    await vi.waitFor(() => expect(running.foldnote.files.state().uploads).toEqual([]));
  });

  it('are ignored if the jobs are shown', () => {
    expect(send('lm-drop').defaultPrevented).toBe(false);
  });
});

describe('a drop into a notebook', () => {
  const CELL = { [CELL_MIME]: 'import foldnote as fn\n\njob = fn.job("done")' };
  const drop = (target: Element, data: Readonly<Record<string, unknown>> = CELL): boolean => {
    target.dispatchEvent(luminoEvent('lm-dragenter', data));
    target.dispatchEvent(luminoEvent('lm-dragover', data));
    const event = luminoEvent('lm-drop', data);
    target.dispatchEvent(event);
    return event.dropAction === 'copy';
  };

  it('on a cell inserts a cell below it, which is not run', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('a'), new Cell('b')]);
    const target = notebook.content.widgets[0]?.node ?? document.body;
    target.dispatchEvent(luminoEvent('lm-dragover', CELL));
    expect(target.classList.contains('fn-mod-dropHere')).toBe(true);
    expect(drop(target)).toBe(true);
    expect(target.classList.contains('fn-mod-dropHere')).toBe(false);
    await vi.waitFor(() => expect(notebook.sources()).toEqual(['a', CELL[CELL_MIME], 'b']));
    expect(notebook.runs()).toEqual([]);
  });

  it('beside the cells appends a cell', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('a'), new Cell('b')]);
    drop(notebook.content.node);
    await vi.waitFor(() => expect(notebook.sources()).toEqual(['a', 'b', CELL[CELL_MIME]]));
  });

  it('on a blank cell fills it', async () => {
    const notebook = addNotebook(running.app, running.rendermime);
    drop(notebook.content.widgets[0]?.node ?? document.body);
    await vi.waitFor(() => expect(notebook.sources()).toEqual([CELL[CELL_MIME]]));
  });

  it('on an editor, of other data, or outside notebooks is ignored', () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('a')]);
    const [cell] = notebook.content.widgets;
    expect(drop(cell?.node.querySelector('.jp-Editor') ?? document.body)).toBe(false);
    expect(drop(cell?.node ?? document.body, { 'text/plain': 'x' })).toBe(false);
    expect(drop(running.app.shell.node)).toBe(false);
    expect(notebook.sources()).toEqual(['a']);
  });

  it('goes into that notebook even if another one has the focus', async () => {
    const [left, right] = ['left', 'right'].map(source =>
      addNotebook(running.app, running.rendermime, [new Cell(source)])
    );
    await vi.waitUntil(() => running.app.shell.currentWidget === right);
    drop(left?.content.widgets[0]?.node ?? document.body);
    await vi.waitFor(() => expect(left?.sources()).toEqual(['left', CELL[CELL_MIME]]));
    expect(right?.sources()).toEqual(['right']);
  });

  it('overwrites nothing if no cell can be inserted, and a notice explains why', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('precious')]);
    vi.spyOn(notebook.content, 'insert').mockReturnValue();
    drop(notebook.content.node);
    await vi.waitFor(() => expect(notices()[0]).toContain('no cell to write to'));
    expect(notebook.sources()).toEqual(['precious']);
  });

  it('no longer highlights a cell that the drag has left', () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('a')]);
    const target = notebook.content.widgets[0]?.node ?? document.body;
    target.dispatchEvent(luminoEvent('lm-dragover', CELL));
    target.dispatchEvent(luminoEvent('lm-dragleave', CELL));
    expect(target.classList.contains('fn-mod-dropHere')).toBe(false);
  });
});

describe('a drag', () => {
  const DRAGGED = { label: 'done', code: 'x', cell: 'import x', value: { kind: 'job', job: 'done' } as const };
  let target: HTMLElement;
  let dropped: Map<string, unknown>[];

  beforeEach(() => {
    dropped = [];
    target = document.body.appendChild(document.createElement('div'));
    document.elementFromPoint = () => target; // jsdom lays nothing out
    for (const type of ['lm-dragenter', 'lm-dragover', 'lm-drop']) {
      target.addEventListener(type, event => {
        event.preventDefault();
        const drag = event as Event & { dropAction: string; mimeData: MimeData };
        drag.dropAction = 'copy';
        if (type === 'lm-drop') {
          dropped.push(new Map(drag.mimeData.types().map(mime => [mime, drag.mimeData.getData(mime) as unknown])));
        }
      });
    }
  });

  afterEach(() => target.remove());

  const mouse = (type: string, clientX: number): boolean =>
    document.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, button: 0, clientX, clientY: 0 }));
  const pointer = (type: string, clientX: number): boolean =>
    document.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, button: 0, clientX, clientY: 0 }));

  it('starts when the mouse has moved a few pixels, and carries code and value', async () => {
    const onClick = vi.fn();
    dragFrom({ button: 0, clientX: 0, clientY: 0 }, () => DRAGGED, onClick);
    mouse('mousemove', 4);
    expect(document.querySelector('.fn-DragImage')).toBeNull();
    mouse('mousemove', 20);
    await vi.waitFor(() => expect(document.querySelector('.fn-DragImage')?.textContent).toBe('done'));
    pointer('pointermove', 30);
    pointer('pointerup', 30);
    await vi.waitFor(() => expect(dropped).toHaveLength(1));
    const [data] = dropped;
    expect(['text/plain', CELL_MIME, VALUE_MIME].map(mime => data?.get(mime))).toEqual([
      'x',
      'import x',
      { kind: 'job', job: 'done' }
    ]);
    expect(onClick).not.toHaveBeenCalled();
  });

  it('without movement is a click', () => {
    const onClick = vi.fn();
    const find = vi.fn();
    dragFrom({ button: 0, clientX: 0, clientY: 0 }, find, onClick);
    mouse('mousemove', 3);
    mouse('mouseup', 3);
    mouse('mousemove', 50);
    expect([find.mock.calls.length, onClick.mock.calls.length]).toEqual([0, 1]);
  });

  it('does not start with another mouse button', () => {
    const find = vi.fn();
    dragFrom({ button: 2, clientX: 0, clientY: 0 }, find);
    mouse('mousemove', 50);
    expect(find).not.toHaveBeenCalled();
  });

  it('of several selected jobs carries all of them, and no value for a file field', async () => {
    await setJobs(DONE, LIVE);
    running.foldnote.selection.chooseAll(['done', 'live']);
    const row = await find('[role=row]', /^live/);
    row.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, button: 0, clientX: 0, clientY: 0 }));
    mouse('mousemove', 20);
    await vi.waitFor(() => expect(document.querySelector('.fn-DragImage')?.textContent).toBe('2 jobs'));
    pointer('pointermove', 30);
    pointer('pointerup', 30);
    await vi.waitFor(() => expect(dropped).toHaveLength(1));
    expect(dropped[0]?.get('text/plain')).toBe('jobs = [fn.job("done"), fn.job("live")]');
    expect(dropped[0]?.has(VALUE_MIME)).toBe(false);
  });
});
