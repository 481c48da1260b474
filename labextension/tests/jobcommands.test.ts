/** The commands about jobs, the tabs of results, what is told of jobs that end, and the status bar. */
import { MainAreaWidget, Notification } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import type { JobRecord } from '../src/api/responses';
import { CommandIDs } from '../src/commands';
import { memberKey } from '../src/models/jobs/members';
import { DEFAULT_SETTINGS } from '../src/models/service/settings';
import { ResultPanel } from '../src/panels/result';
import { SETTINGS } from '../src/plugins/settings';
import { notices, notifications, openDialog, press, startApplication, tidy, type Running } from './application';
import { addNotebook, Cell, notebooks } from './notebook';
import { makeJob, SERVICE } from './records';

const PREFIX = 'import foldnote as fn\n\n';
const DONE = makeJob({ jobName: 'done', status: 'Complete', completed: '2026-11-21T10:10:00.000Z' });
const LIVE = makeJob({ jobName: 'live' });
const WAITING = makeJob({ jobName: 'waiting', status: 'In Queue', started: null });
const BATCH = makeJob({ jobName: 'screen', type: 'batch', tool: 'anarci', status: 'Complete' });

let running: Running;

beforeAll(async () => {
  running = await startApplication();
});

afterEach(async () => {
  running.foldnote.settings.replace(DEFAULT_SETTINGS);
  await tidy(running);
});

afterAll(() => running.stop());

const run = (command: string, args = {}): Promise<unknown> => running.app.commands.execute(command, args);

/** Has the page know these jobs. */
async function know(...jobs: JobRecord[]): Promise<void> {
  running.server.jobs = jobs;
  await running.foldnote.jobs.refresh();
}

const tabs = (): readonly MainAreaWidget<ResultPanel>[] =>
  [...running.app.shell.widgets('main')].filter(
    (widget: Widget): widget is MainAreaWidget<ResultPanel> =>
      widget instanceof MainAreaWidget && widget.content instanceof ResultPanel
  );

const wordsOf = (widget: Widget | undefined): string => widget?.node.textContent ?? '';

test('the end of a job that a card in a notebook tells of is listed at once', async () => {
  await know(LIVE);
  const stop = running.foldnote.jobs.watch();
  const hurry = vi.spyOn(running.foldnote.api, 'pollNow');
  running.server.jobs = [makeJob({ jobName: 'live', status: 'Complete' })];
  document.dispatchEvent(new CustomEvent('fn-job-ended', { detail: { job: 'live' } }));
  document.dispatchEvent(new Event('fn-job-ended'));
  await vi.waitUntil(() => running.foldnote.jobs.find('live')?.status === 'Complete', 5000);
  expect(hurry).toHaveBeenCalledTimes(1);
  hurry.mockRestore();
  stop();
});

describe('opening a result', () => {
  it('shows it in a tab of its own, once', async () => {
    await know(DONE);
    await run(CommandIDs.openJob, { job: 'done' });
    await run(CommandIDs.openJob, { job: 'done' });
    expect(tabs().map(tab => [tab.title.label, tab.title.caption, tab.title.closable])).toEqual([['done', '', true]]);
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('result of done'), 5000); // the view is loaded first
    expect(running.app.shell.currentWidget).toBe(tabs()[0]);
  });

  it('keeps jobs of one name apart by member and service, and says so in the tab', async () => {
    await know(DONE);
    await run(CommandIDs.openJob, { job: 'done' });
    await run(CommandIDs.openJob, { job: 'done', member: 'bo@x' });
    await run(CommandIDs.openJob, { job: 'done', profile: 'lab' });
    expect(tabs().map(tab => tab.title.caption)).toEqual(['', 'Owner: bo@x', 'at lab']);
  });

  it('of several selected jobs opens each', async () => {
    await know(DONE, BATCH);
    running.foldnote.selection.chooseAll(['done', 'screen']);
    await run(CommandIDs.openJob);
    expect(tabs().map(tab => tab.title.label)).toEqual(['done', 'screen']);
  });

  it('shows what a name hides', async () => {
    const job = { ...DONE, jobName: 'a\u202eb' };
    await know(job);
    await run(CommandIDs.openJob, { job: job.jobName });
    expect(tabs()[0]?.title.label).toBe('a\ufffdb');
  });

  it('calls the tab by the label of the job', async () => {
    await know({ ...DONE, localLabel: 'Wild type' });
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(tabs().map(tab => tab.title.label)).toEqual(['Wild type']));
  });

  it('follows a job to its end', async () => {
    await know(LIVE);
    await run(CommandIDs.openJob, { job: 'live' });
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('Running'));
    await know({ ...LIVE, status: 'Complete' });
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('result of live'));
  });

  it('finds a job that no list holds, and says where there is none', async () => {
    await know();
    running.server.older = [DONE];
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('result of done'));
    await run(CommandIDs.openJob, { job: 'none' });
    await vi.waitFor(() => expect(wordsOf(tabs()[1])).toMatch(/no job/i));
  });

  it('tells that the service refuses the result, and gives it when asked again', async () => {
    await know(DONE);
    running.server.instead.set('jobs/done/view', { status: 403, body: { error: 'Not yours.' } });
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('Not yours.'));
    running.server.instead.clear();
    const again = [...(tabs()[0]?.node.querySelectorAll('button') ?? [])].find(
      each => each.textContent === 'Try again'
    );
    again?.click();
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('result of done'));
  });

  it('notes a member’s refusal, after which the command says so and cannot be run', async () => {
    running.server.report = { ...SERVICE, isEmbedded: false };
    running.server.members = [{ ...DONE, email: 'bo@x' }];
    await know();
    await running.foldnote.members.refresh();
    running.server.instead.set('jobs/done/view', { status: 403, body: { error: 'Not yours.' } });
    await run(CommandIDs.openJob, { job: 'done', member: 'bo@x' });
    const { members } = running.foldnote;
    await vi.waitFor(() => expect(members.state().refusals.size).toBe(1));
    members.choose(memberKey({ jobName: 'done', email: 'bo@x' }));
    const { commands } = running.app;
    expect(commands.label(CommandIDs.openJob)).toBe('Open the Result (the service refused: see the row)');
    expect(commands.isEnabled(CommandIDs.openJob)).toBe(false);
    expect(commands.isEnabled(CommandIDs.downloadJob)).toBe(false);
    expect(commands.isEnabled(CommandIDs.loadJob)).toBe(true);
    members.reset();
  });

  it('keeps what is open for the next visit', async () => {
    await know(DONE);
    await run(CommandIDs.openJob, { job: 'done', profile: 'lab' });
    await vi.waitFor(async () => {
      const kept = await running.state.list('foldnote-results');
      expect(kept.values).toEqual([{ data: { job: 'done', profile: 'lab' } }]);
    });
  });

  it('shows the log of one’s own job, and whose log it is where it is not one’s own', async () => {
    await know(DONE);
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('result of done'));
    const log = [...(tabs()[0]?.node.querySelectorAll<HTMLElement>('[role=tab]') ?? [])].find(
      each => each.textContent === 'Log'
    );
    log?.click();
    await vi.waitFor(() => expect(wordsOf(tabs()[0])).toContain('log of done'));
  });
});

describe('a cell for a job', () => {
  it('loads each selected job, a batch as one', async () => {
    await know(DONE, BATCH);
    const notebook = addNotebook(running.app, running.rendermime);
    running.foldnote.selection.chooseAll(['done', 'screen']);
    await run(CommandIDs.loadJob);
    expect(notebook.runs()).toEqual([`${PREFIX}fn.job("done")`, `${PREFIX}fn.batch("screen")`]);
  });

  it('goes into the notebook that can be seen, although a result is in front', async () => {
    await know(DONE);
    const notebook = addNotebook(running.app, running.rendermime);
    await run(CommandIDs.openJob, { job: 'done' });
    await run(CommandIDs.loadJob, { job: 'done' });
    expect(notebook.runs()).toEqual([`${PREFIX}fn.job("done")`]);
    expect(notebooks(running.app)).toHaveLength(1);
  });

  it('compares two jobs, not one alone and no batch', async () => {
    await know(DONE, LIVE, BATCH);
    const notebook = addNotebook(running.app, running.rendermime);
    const { commands } = running.app;
    const can = (...jobs: string[]): boolean => commands.isEnabled(CommandIDs.compareJobs, { jobs });
    expect([can('done'), can('done', 'live'), can('done', 'screen')]).toEqual([false, true, false]);
    running.foldnote.selection.chooseAll(['done', 'live']);
    await run(CommandIDs.compareJobs);
    expect(notebook.runs()).toEqual([`${PREFIX}fn.compare("done", "live")`]);
  });

  it('shows the settings of one job as a form, not of several', async () => {
    await know(DONE, LIVE);
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x')]);
    running.foldnote.selection.chooseAll(['done', 'live']);
    expect(running.app.commands.isEnabled(CommandIDs.againJob)).toBe(false);
    await run(CommandIDs.againJob, { job: 'done' });
    expect(notebook.runs()).toEqual([`${PREFIX}fn.form(fn.job("done"))`]);
  });

  it('shows the run of a pipeline, and lets it write its code below', async () => {
    await know(makeJob({ jobName: 'steps', type: 'batch', tool: 'pipeline', status: 'Stopped' }));
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x')]);
    await run(CommandIDs.againJob, { job: 'steps' });
    expect(notebook.runs()).toEqual([`${PREFIX}run = fn.job("steps")\nrun.edit_settings()\nrun`]);
  });
});

describe('code that an output offers', () => {
  const offer = (target: EventTarget, detail: unknown): Event => {
    const event = new CustomEvent('fn-insert-cell', { bubbles: true, cancelable: true, detail });
    target.dispatchEvent(event);
    return event;
  };

  it('becomes the cell below the one of the output, and is not run', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('first'), new Cell('second')]);
    const cell = notebook.content.widgets[0];
    const output = cell?.node.appendChild(document.createElement('p'));
    const event = output && offer(output, { code: 'fn.pipeline()' });
    expect(event?.defaultPrevented).toBe(true);
    await vi.waitFor(() => expect(notebook.sources()).toContain('fn.pipeline()'));
    expect(notebook.sources()[notebook.sources().indexOf('fn.pipeline()') - 1]).toBe(cell?.source);
    expect(notebook.runs()).toEqual([]);
  });

  it('is left where it is outside notebooks, and where there is none', () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x')]);
    expect(offer(document.body, { code: 'x = 1' }).defaultPrevented).toBe(false);
    const cell = notebook.content.widgets[0]?.node ?? document.body;
    expect(offer(cell, null).defaultPrevented).toBe(false);
    expect(offer(cell, { code: '' }).defaultPrevented).toBe(false);
    expect(notebook.sources()).toEqual(['x']);
  });
});

describe('downloading', () => {
  /** The addresses that the browser was told to save. */
  function saved(): string[] {
    const links: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      links.push(this.href.replace(/^.*\/api\//, ''));
    });
    return links;
  }

  it('saves the results of what is complete, one after the other', async () => {
    const links = saved();
    await know(DONE, LIVE, BATCH);
    running.foldnote.selection.chooseAll(['done', 'live', 'screen']);
    await run(CommandIDs.downloadJob);
    expect(links).toEqual(['jobs/done/result', 'jobs/screen/result']);
  });

  it('saves one file of a result, of a member at another service too', async () => {
    const links = saved();
    await know(DONE);
    await run(CommandIDs.downloadJob, { job: 'done', file: 'a b.pdb', member: 'bo@x', profile: 'lab' });
    expect(links).toEqual(['jobs/done/result?profile=lab&file=a+b.pdb&member=bo%40x']);
  });

  it('says why a result cannot be had, and saves the others', async () => {
    const links = saved();
    await know(DONE, BATCH);
    running.server.instead.set('jobs/done/result', { status: 507, body: { error: 'The disk is full.' } });
    await run(CommandIDs.downloadJob, { jobs: ['done', 'screen'] });
    expect(notices()).toEqual(['done: The disk is full.']);
    expect(links).toEqual(['jobs/screen/result']);
  });

  it('is not offered for what has no result', async () => {
    await know(LIVE);
    expect(running.app.commands.isEnabled(CommandIDs.downloadJob, { job: 'live' })).toBe(false);
    expect(running.app.commands.isEnabled(CommandIDs.downloadJob, { job: 'unknown' })).toBe(true);
  });
});

describe('stopping', () => {
  it('is asked about, and does nothing when the person would rather not', async () => {
    await know(LIVE);
    const act = run(CommandIDs.stopJob, { job: 'live' });
    expect(await press('Cancel')).toContain('Stop the job live?');
    await act;
    expect(running.server.bodyOf('jobs/stop')).toBeUndefined();
  });

  it('stops of the selected jobs those that can still be stopped', async () => {
    await know(DONE, LIVE, WAITING);
    running.foldnote.selection.chooseAll(['done', 'live', 'waiting']);
    const act = run(CommandIDs.stopJob);
    expect(await press('Stop')).toContain('Stop 2 jobs?');
    await act;
    expect(running.server.bodyOf('jobs/stop')).toEqual({ names: ['live', 'waiting'] });
    expect(running.foldnote.jobs.find('live')?.status).toBe('Stopped');
  });

  it('is not offered for what has ended, nor for a member’s job', async () => {
    await know(DONE);
    const { commands } = running.app;
    expect(commands.isEnabled(CommandIDs.stopJob, { job: 'done' })).toBe(false);
    expect(commands.isVisible(CommandIDs.stopJob, { job: 'live', member: 'bo@x' })).toBe(false);
  });
});

describe('deleting', () => {
  const remove = async (args: object): Promise<void> => {
    const act = run(CommandIDs.deleteJob, args);
    await press('Delete');
    await act;
  };

  it('is asked about, and not done when the person closes the question', async () => {
    await know(DONE);
    const act = run(CommandIDs.deleteJob, { job: 'done' });
    const dialog = await openDialog();
    expect(dialog.textContent).toContain('Delete the job done?');
    dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', keyCode: 27, bubbles: true }));
    await act;
    expect(running.server.bodyOf('jobs/delete')).toBeUndefined();
  });

  it('waits for the time that the settings give to undo it', async () => {
    await know(DONE, LIVE);
    await remove({ jobs: ['done', 'live'] });
    expect(running.server.bodyOf('jobs/delete')).toEqual({ names: ['done', 'live'], delayS: 8 });
    expect(running.foldnote.jobs.state().jobs).toEqual([]);
    expect(notices()).toEqual([]);
  });

  it('is undone with a button that is there as long as it can be undone', async () => {
    await know(DONE);
    running.server.instead.set('jobs/delete', { isHeld: true });
    const act = run(CommandIDs.deleteJob, { job: 'done' });
    await press('Delete');
    await vi.waitFor(() => expect(notices()).toEqual(['done will be deleted in 8 s.']));
    const [undo] = notifications()[0]?.options.actions ?? [];
    expect(undo?.label).toBe('Undo');
    undo?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(running.server.bodyOf('jobs/keep')).toEqual({ names: ['done'] }));
    expect(running.foldnote.jobs.find('done')).toBeDefined();
    expect(running.foldnote.jobs.state().requestError).toBeNull();
    void act;
  });

  it('is undone at its own service, also after another one was selected', async () => {
    running.server.profiles = [
      { name: 'lab', url: 'https://lab.example', isActive: true },
      { name: 'cloud', url: 'https://cloud.example', isActive: false }
    ];
    await running.foldnote.profiles.load();
    await know(DONE);
    running.server.instead.set('jobs/delete', { isHeld: true });
    void run(CommandIDs.deleteJob, { job: 'done' });
    await press('Delete');
    await vi.waitFor(() => expect(notifications()).toHaveLength(1));
    running.foldnote.profiles.choose('cloud');
    notifications()[0]?.options.actions?.[0]?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(running.server.asked.some(each => each.path.startsWith('jobs/keep'))).toBe(true));
    running.foldnote.profiles.choose(null);
    expect(running.server.asked.find(each => each.path.startsWith('jobs/keep'))?.path).toBe('jobs/keep?profile=lab');
  });

  it('begins at once, and tells of no undoing, where a person wants none', async () => {
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, undoSeconds: 0 });
    await know(DONE);
    const seen: string[] = [];
    const note = (): void => void seen.push(...notices());
    Notification.manager.changed.connect(note);
    await remove({ job: 'done' });
    Notification.manager.changed.disconnect(note);
    expect(running.server.bodyOf('jobs/delete')).toEqual({ names: ['done'], delayS: 0 });
    expect(seen).toEqual([]);
  });

  it('that the service refuses says why, and keeps the job', async () => {
    await know(DONE);
    running.server.refusals.set('done', 'It is an input of a job that runs.');
    await remove({ job: 'done' });
    expect(running.foldnote.jobs.state().requestError).toBe('It is an input of a job that runs.');
    expect(running.foldnote.jobs.find('done')).toBeDefined();
  });

  it('can be undone by command while a job is leaving', async () => {
    await know(DONE);
    const { commands } = running.app;
    expect(commands.isVisible(CommandIDs.keepJob)).toBe(false);
    await know({ ...DONE, isLeaving: true }, LIVE);
    expect(commands.isVisible(CommandIDs.keepJob)).toBe(true);
    expect(commands.isEnabled(CommandIDs.keepJob, { job: 'live' })).toBe(false);
    await run(CommandIDs.keepJob);
    expect(running.server.bodyOf('jobs/keep')).toEqual({ names: ['done'] });
  });

  it('has nothing to ask about without a job', async () => {
    expect(running.app.commands.isEnabled(CommandIDs.deleteJob)).toBe(false);
    await run(CommandIDs.deleteJob);
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });
});

describe('tagging', () => {
  const input = async (): Promise<HTMLInputElement> => {
    const field = (await openDialog()).querySelector('input');
    if (!field) {
      throw new Error('The dialog asks for nothing.');
    }
    return field;
  };

  it('changes what the jobs have in common, and leaves the rest', async () => {
    await know({ ...DONE, tags: ['lead', 'old'] }, { ...LIVE, tags: ['old', 'mine'] });
    running.foldnote.selection.chooseAll(['done', 'live']);
    const act = run(CommandIDs.tagJob);
    expect((await input()).value).toBe('old');
    (await input()).value = ' new  one , , lead';
    await press('Ok');
    await act;
    expect(running.server.bodyOf('jobs/tag')).toEqual({
      names: ['done', 'live'],
      added: ['new one', 'lead'],
      removed: ['old']
    });
    expect(running.foldnote.jobs.state().requestError).toBeNull();
  });

  it('changes nothing when it is given up', async () => {
    await know(DONE);
    const act = run(CommandIDs.tagJob, { job: 'done' });
    expect(await press('Cancel')).toContain('Tags of done');
    await act;
    expect(running.server.bodyOf('jobs/tag')).toBeUndefined();
  });
});

describe('the commands', () => {
  it('are about the selected jobs, or about the member’s job that is chosen', async () => {
    const { commands } = running.app;
    await know(DONE);
    expect(commands.isEnabled(CommandIDs.loadJob)).toBe(false);
    running.foldnote.selection.chooseAll(['done']);
    expect([CommandIDs.loadJob, CommandIDs.deleteJob].map(id => commands.isEnabled(id))).toEqual([true, true]);
    running.server.members = [{ ...DONE, email: 'bo@x' }];
    await running.foldnote.members.refresh();
    running.foldnote.members.choose(memberKey({ jobName: 'done', email: 'bo@x' }));
    expect([CommandIDs.loadJob, CommandIDs.deleteJob].map(id => commands.isEnabled(id))).toEqual([true, false]);
    running.foldnote.members.reset();
  });

  it('name the job that they are given, with what its name hides', () => {
    const { commands } = running.app;
    const labels = [CommandIDs.openJob, CommandIDs.loadJob, CommandIDs.downloadJob, CommandIDs.stopJob].map(id =>
      commands.label(id, { job: 'a\u202eb' })
    );
    for (const label of labels) {
      expect(label).toContain('a\ufffdb');
    }
    expect(new Set(labels).size).toBe(labels.length);
  });

  it('are those of the context menu of a row', () => {
    const row = document.createElement('div');
    row.className = 'fn-JobRow';
    running.app.shell.node.append(row);
    const { contextMenu } = running.app;
    const event = new MouseEvent('contextmenu', { bubbles: true });
    Object.defineProperty(event, 'target', { value: row });
    Object.defineProperty(event, 'currentTarget', { value: document });
    contextMenu.open(event);
    expect(contextMenu.menu.items.map(item => item.command)).toEqual(
      expect.arrayContaining([CommandIDs.openJob, CommandIDs.deleteJob, CommandIDs.tagJob, CommandIDs.copyJob])
    );
    contextMenu.menu.close();
    row.remove();
  });
});

describe('a job that ends', () => {
  it('is told of, with a way to its result', async () => {
    await know(LIVE);
    await know({ ...LIVE, status: 'Complete' });
    expect(notices()).toEqual(['Complete: live (AbodyBuilder).']);
    const [note] = notifications();
    expect([note?.type, note?.options.actions?.[0]?.label]).toEqual(['success', 'Open result']);
    note?.options.actions?.[0]?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(tabs().map(tab => tab.title.label)).toEqual(['live']));
  });

  it('that failed is told of with the reason, and leads to the list', async () => {
    await know(LIVE);
    await know({ ...LIVE, status: 'Stopped', error: 'No heavy chain.' });
    expect(notices()).toEqual(['Failed: live (AbodyBuilder). No heavy chain.']);
    const [note] = notifications();
    expect([note?.type, note?.options.actions?.[0]?.label]).toEqual(['error', 'Show jobs']);
  });

  it('is told of once, and not when it was over at first sight', async () => {
    await know(DONE);
    await know(DONE);
    expect(notices()).toEqual([]);
  });

  it('among many is told of in one sentence', async () => {
    const many = ['a', 'b', 'c', 'd'].map(jobName => ({ ...LIVE, jobName }));
    await know(...many);
    await know(...many.map((job, at) => ({ ...job, status: 'Stopped' as const, error: at === 0 ? 'x' : null })));
    expect(notices()).toEqual(['4 jobs ended: 3 Stopped, 1 Failed.']);
  });

  it('is told of without a pop-up to somebody who looks at its result', async () => {
    await know(LIVE, WAITING);
    await run(CommandIDs.openJob, { job: 'live' });
    await know({ ...LIVE, status: 'Complete' }, { ...WAITING, status: 'Complete' });
    const closing = Object.fromEntries(notifications().map(note => [note.message, note.options.autoClose]));
    expect(closing).toEqual({
      'Complete: live (AbodyBuilder).': 0,
      'Complete: waiting (AbodyBuilder).': 15_000
    });
  });

  it('is not told of to those who want no notifications', async () => {
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasNotifications: false });
    await know(LIVE);
    await know({ ...LIVE, status: 'Complete' });
    expect(notices()).toEqual([]);
  });

  it('is counted in the title of a page that nobody looks at', async () => {
    document.title = 'JupyterLab';
    const focus = vi.spyOn(document, 'hasFocus').mockReturnValue(false);
    await know(LIVE);
    await know({ ...LIVE, status: 'Complete' });
    expect(document.title).toBe('(1) JupyterLab');
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasNotifications: false });
    expect(document.title).toBe('JupyterLab');
    focus.mockRestore();
  });
});

describe('notifications of the browser', () => {
  /** What browsers have, and jsdom has not. */
  class BrowserNotification {
    static permission = 'default';
    static answer = 'granted';
    static shown: BrowserNotification[] = [];
    onclick: () => void = () => undefined;
    close = vi.fn();

    constructor(
      readonly text: string,
      readonly options: { readonly tag: string }
    ) {
      BrowserNotification.shown.push(this);
    }

    static requestPermission(): Promise<string> {
      BrowserNotification.permission = BrowserNotification.answer;
      return Promise.resolve(BrowserNotification.permission);
    }
  }

  const isOn = (): boolean => running.app.commands.isToggled(CommandIDs.notifyInBrowser);
  const setting = async (): Promise<unknown> => (await running.registry.get(SETTINGS, 'browserNotifications')).user;

  beforeEach(() => {
    Object.assign(BrowserNotification, { permission: 'default', answer: 'granted', shown: [] });
    vi.stubGlobal('Notification', BrowserNotification);
    vi.spyOn(window, 'focus').mockReturnValue();
  });

  afterEach(async () => {
    await running.registry.remove(SETTINGS, 'browserNotifications');
    vi.spyOn(document, 'hasFocus').mockRestore();
  });

  it('are turned on and off by the command, which has the browser ask', async () => {
    expect(isOn()).toBe(false);
    await run(CommandIDs.notifyInBrowser);
    expect(await setting()).toBe(true);
    await vi.waitFor(() => expect(isOn()).toBe(true));
    await run(CommandIDs.notifyInBrowser);
    expect(await setting()).toBe(false);
  });

  it('are refused by the browser in words that say where to allow them', async () => {
    BrowserNotification.answer = 'denied';
    await run(CommandIDs.notifyInBrowser);
    expect(notices()[0]).toContain('The browser blocks notifications from this page.');
    expect(await setting()).toBeUndefined();
  });

  it('are missing on pages without HTTPS, which is said', async () => {
    Reflect.deleteProperty(window, 'Notification');
    await run(CommandIDs.notifyInBrowser);
    expect(notices()[0]).toContain('they require HTTPS');
  });

  it('that are wanted and not allowed yet are offered with a button', async () => {
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasBrowserNotifications: true });
    expect(notices()[0]).toContain('Allow browser notifications');
    notifications()[0]?.options.actions?.[0]?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(BrowserNotification.permission).toBe('granted'));
  });

  it('tell of a job that ends while nobody looks, and lead to its result', async () => {
    BrowserNotification.permission = 'granted';
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasBrowserNotifications: true });
    vi.spyOn(document, 'hasFocus').mockReturnValue(false);
    await know(LIVE);
    await know({ ...LIVE, status: 'Complete' });
    const [shown] = BrowserNotification.shown;
    expect([shown?.text, shown?.options.tag]).toEqual(['Complete: live (AbodyBuilder).', 'foldnote live']);
    shown?.onclick();
    expect(shown?.close).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(tabs().map(tab => tab.title.label)).toEqual(['live']));
  });

  it('stay away while somebody looks', async () => {
    BrowserNotification.permission = 'granted';
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasBrowserNotifications: true });
    vi.spyOn(document, 'hasFocus').mockReturnValue(true);
    await know(LIVE);
    await know({ ...LIVE, status: 'Complete' });
    expect(BrowserNotification.shown).toEqual([]);
  });
});

describe('the status bar', () => {
  const item = (): HTMLElement | null => running.statusBar.node.querySelector('.fn-StatusItem');

  it('counts what runs and what waits, and goes when nothing does', async () => {
    await know(LIVE, WAITING, DONE);
    await vi.waitFor(() => expect(running.statusBar.node.textContent).toContain('1 running, 1 queued'));
    await know(WAITING);
    await vi.waitFor(() => expect(running.statusBar.node.textContent).toContain(' 1 queued'));
    await know(DONE);
    await vi.waitFor(() =>
      expect(item()?.closest('.jp-StatusBar-Item')?.classList.contains('lm-mod-hidden')).toBe(true)
    );
  });
});
