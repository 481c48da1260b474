/** The commands about jobs, the tabs of results, what is told of jobs that end, and the status bar. */
import { MainAreaWidget, Notification } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import type { JobRecord } from '../src/api/responses';
import { CommandIDs } from '../src/commands';
import { memberKey } from '../src/models/jobs/members';
import { DEFAULT_SETTINGS } from '../src/models/service/settings';
import { ResultPanel } from '../src/panels/result';
import { SETTINGS } from '../src/settingsEditor';
import { cleanUp, notices, notifications, openDialog, press, startApplication, type Running } from './application';
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
  await cleanUp(running);
});

afterAll(() => running.stop());

const run = (command: string, args = {}): Promise<unknown> => running.app.commands.execute(command, args);

/** Sets the jobs of the service, and loads them into the page. */
async function setJobs(...jobs: JobRecord[]): Promise<void> {
  running.server.jobs = jobs;
  await running.foldnote.jobs.refresh();
}

const tabs = (): readonly MainAreaWidget<ResultPanel>[] =>
  [...running.app.shell.widgets('main')].filter(
    (widget: Widget): widget is MainAreaWidget<ResultPanel> =>
      widget instanceof MainAreaWidget && widget.content instanceof ResultPanel
  );

const textOf = (widget: Widget | undefined): string => widget?.node.textContent ?? '';

test('the list is refreshed at once when a job card reports the end of its job', async () => {
  await setJobs(LIVE);
  const stop = running.foldnote.jobs.watch();
  const pollNow = vi.spyOn(running.foldnote.api, 'pollNow');
  running.server.jobs = [makeJob({ jobName: 'live', status: 'Complete' })];
  document.dispatchEvent(new CustomEvent('fn-job-ended', { detail: { job: 'live' } }));
  document.dispatchEvent(new Event('fn-job-ended'));
  await vi.waitUntil(() => running.foldnote.jobs.find('live')?.status === 'Complete', 5000);
  expect(pollNow).toHaveBeenCalledTimes(1);
  pollNow.mockRestore();
  stop();
});

describe('opening a result', () => {
  it('shows it in its own tab, once', async () => {
    await setJobs(DONE);
    await run(CommandIDs.openJob, { job: 'done' });
    await run(CommandIDs.openJob, { job: 'done' });
    expect(tabs().map(tab => [tab.title.label, tab.title.caption, tab.title.closable])).toEqual([['done', '', true]]);
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('result of done'), 5000); // the view is loaded first
    expect(running.app.shell.currentWidget).toBe(tabs()[0]);
  });

  it('distinguishes jobs of the same name by member and service in the tab’s caption', async () => {
    await setJobs(DONE);
    await run(CommandIDs.openJob, { job: 'done' });
    await run(CommandIDs.openJob, { job: 'done', member: 'bo@x' });
    await run(CommandIDs.openJob, { job: 'done', profile: 'lab' });
    expect(tabs().map(tab => tab.title.caption)).toEqual(['', 'Owner: bo@x', 'at lab']);
  });

  it('opens each of several selected jobs', async () => {
    await setJobs(DONE, BATCH);
    running.foldnote.selection.chooseAll(['done', 'screen']);
    await run(CommandIDs.openJob);
    expect(tabs().map(tab => tab.title.label)).toEqual(['done', 'screen']);
  });

  it('makes hidden characters of a name visible', async () => {
    const job = { ...DONE, jobName: 'a\u202eb' };
    await setJobs(job);
    await run(CommandIDs.openJob, { job: job.jobName });
    expect(tabs()[0]?.title.label).toBe('a\ufffdb');
  });

  it('titles the tab with the job’s label', async () => {
    await setJobs({ ...DONE, localLabel: 'Wild type' });
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(tabs().map(tab => tab.title.label)).toEqual(['Wild type']));
  });

  it('follows a job until it ends', async () => {
    await setJobs(LIVE);
    await run(CommandIDs.openJob, { job: 'live' });
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('Running'));
    await setJobs({ ...LIVE, status: 'Complete' });
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('result of live'));
  });

  it('looks up a job that is not in the list, and reports if there is none', async () => {
    await setJobs();
    running.server.older = [DONE];
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('result of done'));
    await run(CommandIDs.openJob, { job: 'none' });
    await vi.waitFor(() => expect(textOf(tabs()[1])).toMatch(/no job/i));
  });

  it('shows that the service refused the result, and retries on demand', async () => {
    await setJobs(DONE);
    running.server.overrides.set('jobs/done/view', { status: 403, body: { error: 'Not yours.' } });
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('Not yours.'));
    running.server.overrides.clear();
    const again = [...(tabs()[0]?.node.querySelectorAll('button') ?? [])].find(
      each => each.textContent === 'Try again'
    );
    again?.click();
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('result of done'));
  });

  it('disables the commands for a member’s job after the service has refused its result', async () => {
    running.server.report = { ...SERVICE, isEmbedded: false };
    running.server.members = [{ ...DONE, email: 'bo@x' }];
    await setJobs();
    await running.foldnote.members.refresh();
    running.server.overrides.set('jobs/done/view', { status: 403, body: { error: 'Not yours.' } });
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

  it('saves the open tabs for the next visit', async () => {
    await setJobs(DONE);
    await run(CommandIDs.openJob, { job: 'done', profile: 'lab' });
    await vi.waitFor(async () => {
      const kept = await running.state.list('foldnote-results');
      expect(kept.values).toEqual([{ data: { job: 'done', profile: 'lab' } }]);
    });
  });

  it('shows the log of the user’s own job', async () => {
    await setJobs(DONE);
    await run(CommandIDs.openJob, { job: 'done' });
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('result of done'));
    const log = [...(tabs()[0]?.node.querySelectorAll<HTMLElement>('[role=tab]') ?? [])].find(
      each => each.textContent === 'Log'
    );
    log?.click();
    await vi.waitFor(() => expect(textOf(tabs()[0])).toContain('log of done'));
  });
});

describe('a cell for a job', () => {
  it('loads each selected job, a batch as one', async () => {
    await setJobs(DONE, BATCH);
    const notebook = addNotebook(running.app, running.rendermime);
    running.foldnote.selection.chooseAll(['done', 'screen']);
    await run(CommandIDs.loadJob);
    expect(notebook.runs()).toEqual([`${PREFIX}fn.job("done")`, `${PREFIX}fn.batch("screen")`]);
  });

  it('goes into the visible notebook even if a result has the focus', async () => {
    await setJobs(DONE);
    const notebook = addNotebook(running.app, running.rendermime);
    await run(CommandIDs.openJob, { job: 'done' });
    await run(CommandIDs.loadJob, { job: 'done' });
    expect(notebook.runs()).toEqual([`${PREFIX}fn.job("done")`]);
    expect(notebooks(running.app)).toHaveLength(1);
  });

  it('compares two jobs, but neither a single job nor a batch', async () => {
    await setJobs(DONE, LIVE, BATCH);
    const notebook = addNotebook(running.app, running.rendermime);
    const { commands } = running.app;
    const can = (...jobs: string[]): boolean => commands.isEnabled(CommandIDs.compareJobs, { jobs });
    expect([can('done'), can('done', 'live'), can('done', 'screen')]).toEqual([false, true, false]);
    running.foldnote.selection.chooseAll(['done', 'live']);
    await run(CommandIDs.compareJobs);
    expect(notebook.runs()).toEqual([`${PREFIX}fn.compare("done", "live")`]);
  });

  it('shows the settings of one job as a form, but not of several', async () => {
    await setJobs(DONE, LIVE);
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x')]);
    running.foldnote.selection.chooseAll(['done', 'live']);
    expect(running.app.commands.isEnabled(CommandIDs.againJob)).toBe(false);
    await run(CommandIDs.againJob, { job: 'done' });
    expect(notebook.runs()).toEqual([`${PREFIX}fn.form(fn.job("done"))`]);
  });

  it('shows the run of a pipeline with its settings for editing', async () => {
    await setJobs(makeJob({ jobName: 'steps', type: 'batch', tool: 'pipeline', status: 'Stopped' }));
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('x')]);
    await run(CommandIDs.againJob, { job: 'steps' });
    expect(notebook.runs()).toEqual([`${PREFIX}run = fn.job("steps")\nrun.edit_settings()\nrun`]);
  });
});

describe('code offered by an output', () => {
  const offer = (target: EventTarget, detail: unknown): Event => {
    const event = new CustomEvent('fn-insert-cell', { bubbles: true, cancelable: true, detail });
    target.dispatchEvent(event);
    return event;
  };

  it('is inserted below the output’s cell and is not run', async () => {
    const notebook = addNotebook(running.app, running.rendermime, [new Cell('first'), new Cell('second')]);
    const cell = notebook.content.widgets[0];
    const output = cell?.node.appendChild(document.createElement('p'));
    const event = output && offer(output, { code: 'fn.pipeline()' });
    expect(event?.defaultPrevented).toBe(true);
    await vi.waitFor(() => expect(notebook.sources()).toContain('fn.pipeline()'));
    expect(notebook.sources()[notebook.sources().indexOf('fn.pipeline()') - 1]).toBe(cell?.source);
    expect(notebook.runs()).toEqual([]);
  });

  it('is ignored outside notebooks, or if it is empty', () => {
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

  it('downloads the results of complete jobs one after the other', async () => {
    const links = saved();
    await setJobs(DONE, LIVE, BATCH);
    running.foldnote.selection.chooseAll(['done', 'live', 'screen']);
    await run(CommandIDs.downloadJob);
    expect(links).toEqual(['jobs/done/result', 'jobs/screen/result']);
  });

  it('downloads one file of a result, also of a member’s job at another service', async () => {
    const links = saved();
    await setJobs(DONE);
    await run(CommandIDs.downloadJob, { job: 'done', file: 'a b.pdb', member: 'bo@x', profile: 'lab' });
    expect(links).toEqual(['jobs/done/result?profile=lab&file=a+b.pdb&member=bo%40x']);
  });

  it('reports why a result cannot be downloaded, and downloads the others', async () => {
    const links = saved();
    await setJobs(DONE, BATCH);
    running.server.overrides.set('jobs/done/result', { status: 507, body: { error: 'The disk is full.' } });
    await run(CommandIDs.downloadJob, { jobs: ['done', 'screen'] });
    expect(notices()).toEqual(['done: The disk is full.']);
    expect(links).toEqual(['jobs/screen/result']);
  });

  it('is disabled for a job without a result', async () => {
    await setJobs(LIVE);
    expect(running.app.commands.isEnabled(CommandIDs.downloadJob, { job: 'live' })).toBe(false);
    expect(running.app.commands.isEnabled(CommandIDs.downloadJob, { job: 'unknown' })).toBe(true);
  });
});

describe('stopping', () => {
  it('asks for confirmation, and does nothing after Cancel', async () => {
    await setJobs(LIVE);
    const finished = run(CommandIDs.stopJob, { job: 'live' });
    expect(await press('Cancel')).toContain('Stop the job live?');
    await finished;
    expect(running.server.bodyOf('jobs/stop')).toBeUndefined();
  });

  it('stops only the unfinished ones of the selected jobs', async () => {
    await setJobs(DONE, LIVE, WAITING);
    running.foldnote.selection.chooseAll(['done', 'live', 'waiting']);
    const finished = run(CommandIDs.stopJob);
    expect(await press('Stop')).toContain('Stop 2 jobs?');
    await finished;
    expect(running.server.bodyOf('jobs/stop')).toEqual({ names: ['live', 'waiting'] });
    expect(running.foldnote.jobs.find('live')?.status).toBe('Stopped');
  });

  it('is not available for finished jobs or another member’s job', async () => {
    await setJobs(DONE);
    const { commands } = running.app;
    expect(commands.isEnabled(CommandIDs.stopJob, { job: 'done' })).toBe(false);
    expect(commands.isVisible(CommandIDs.stopJob, { job: 'live', member: 'bo@x' })).toBe(false);
  });
});

describe('deleting', () => {
  const remove = async (args: object): Promise<void> => {
    const finished = run(CommandIDs.deleteJob, args);
    await press('Delete');
    await finished;
  };

  it('asks for confirmation, and does nothing if the dialog is closed', async () => {
    await setJobs(DONE);
    const finished = run(CommandIDs.deleteJob, { job: 'done' });
    const dialog = await openDialog();
    expect(dialog.textContent).toContain('Delete the job done?');
    dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', keyCode: 27, bubbles: true }));
    await finished;
    expect(running.server.bodyOf('jobs/delete')).toBeUndefined();
  });

  it('is delayed by the time for undoing it from the settings', async () => {
    await setJobs(DONE, LIVE);
    await remove({ jobs: ['done', 'live'] });
    expect(running.server.bodyOf('jobs/delete')).toEqual({ names: ['done', 'live'], delayS: 8 });
    expect(running.foldnote.jobs.state().jobs).toEqual([]);
    expect(notices()).toEqual([]);
  });

  it('shows a button that undoes it during the delay', async () => {
    await setJobs(DONE);
    running.server.overrides.set('jobs/delete', { isWithheld: true });
    const finished = run(CommandIDs.deleteJob, { job: 'done' });
    await press('Delete');
    await vi.waitFor(() => expect(notices()).toEqual(['done will be deleted in 8 s.']));
    const [undo] = notifications()[0]?.options.actions ?? [];
    expect(undo?.label).toBe('Undo');
    undo?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(running.server.bodyOf('jobs/keep')).toEqual({ names: ['done'] }));
    expect(running.foldnote.jobs.find('done')).toBeDefined();
    expect(running.foldnote.jobs.state().requestError).toBeNull();
    void finished;
  });

  it('is undone at the job’s service even if another one is selected meanwhile', async () => {
    running.server.profiles = [
      { name: 'lab', url: 'https://lab.example', isActive: true },
      { name: 'cloud', url: 'https://cloud.example', isActive: false }
    ];
    await running.foldnote.profiles.load();
    await setJobs(DONE);
    running.server.overrides.set('jobs/delete', { isWithheld: true });
    void run(CommandIDs.deleteJob, { job: 'done' });
    await press('Delete');
    await vi.waitFor(() => expect(notifications()).toHaveLength(1));
    running.foldnote.profiles.choose('cloud');
    notifications()[0]?.options.actions?.[0]?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(running.server.requests.some(each => each.path.startsWith('jobs/keep'))).toBe(true));
    running.foldnote.profiles.choose(null);
    expect(running.server.requests.find(each => each.path.startsWith('jobs/keep'))?.path).toBe('jobs/keep?profile=lab');
  });

  it('starts at once, without a notice, if the settings allow no undoing', async () => {
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, undoSeconds: 0 });
    await setJobs(DONE);
    const seen: string[] = [];
    const note = (): void => void seen.push(...notices());
    Notification.manager.changed.connect(note);
    await remove({ job: 'done' });
    Notification.manager.changed.disconnect(note);
    expect(running.server.bodyOf('jobs/delete')).toEqual({ names: ['done'], delayS: 0 });
    expect(seen).toEqual([]);
  });

  it('shows why the service refused, and the job stays in the list', async () => {
    await setJobs(DONE);
    running.server.refusals.set('done', 'It is an input of a job that runs.');
    await remove({ job: 'done' });
    expect(running.foldnote.jobs.state().requestError).toBe('It is an input of a job that runs.');
    expect(running.foldnote.jobs.find('done')).toBeDefined();
  });

  it('can be undone by command during the delay', async () => {
    await setJobs(DONE);
    const { commands } = running.app;
    expect(commands.isVisible(CommandIDs.keepJob)).toBe(false);
    await setJobs({ ...DONE, isLeaving: true }, LIVE);
    expect(commands.isVisible(CommandIDs.keepJob)).toBe(true);
    expect(commands.isEnabled(CommandIDs.keepJob, { job: 'live' })).toBe(false);
    await run(CommandIDs.keepJob);
    expect(running.server.bodyOf('jobs/keep')).toEqual({ names: ['done'] });
  });

  it('is disabled without a job', async () => {
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

  it('changes the tags that the jobs have in common, and no others', async () => {
    await setJobs({ ...DONE, tags: ['lead', 'old'] }, { ...LIVE, tags: ['old', 'mine'] });
    running.foldnote.selection.chooseAll(['done', 'live']);
    const finished = run(CommandIDs.tagJob);
    expect((await input()).value).toBe('old');
    (await input()).value = ' new  one , , lead';
    await press('Ok');
    await finished;
    expect(running.server.bodyOf('jobs/tag')).toEqual({
      names: ['done', 'live'],
      added: ['new one', 'lead'],
      removed: ['old']
    });
    expect(running.foldnote.jobs.state().requestError).toBeNull();
  });

  it('changes nothing after Cancel', async () => {
    await setJobs(DONE);
    const finished = run(CommandIDs.tagJob, { job: 'done' });
    expect(await press('Cancel')).toContain('Tags of done');
    await finished;
    expect(running.server.bodyOf('jobs/tag')).toBeUndefined();
  });
});

describe('the commands', () => {
  it('apply to the selected jobs, or to the selected job of another member', async () => {
    const { commands } = running.app;
    await setJobs(DONE);
    expect(commands.isEnabled(CommandIDs.loadJob)).toBe(false);
    running.foldnote.selection.chooseAll(['done']);
    expect([CommandIDs.loadJob, CommandIDs.deleteJob].map(id => commands.isEnabled(id))).toEqual([true, true]);
    running.server.members = [{ ...DONE, email: 'bo@x' }];
    await running.foldnote.members.refresh();
    running.foldnote.members.choose(memberKey({ jobName: 'done', email: 'bo@x' }));
    expect([CommandIDs.loadJob, CommandIDs.deleteJob].map(id => commands.isEnabled(id))).toEqual([true, false]);
    running.foldnote.members.reset();
  });

  it('name their job in the label, with hidden characters made visible', () => {
    const { commands } = running.app;
    const labels = [CommandIDs.openJob, CommandIDs.loadJob, CommandIDs.downloadJob, CommandIDs.stopJob].map(id =>
      commands.label(id, { job: 'a\u202eb' })
    );
    for (const label of labels) {
      expect(label).toContain('a\ufffdb');
    }
    expect(new Set(labels).size).toBe(labels.length);
  });

  it('are in the context menu of a row', () => {
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
  it('is announced with a button that opens its result', async () => {
    await setJobs(LIVE);
    await setJobs({ ...LIVE, status: 'Complete' });
    expect(notices()).toEqual(['Complete: live (AbodyBuilder).']);
    const [note] = notifications();
    expect([note?.type, note?.options.actions?.[0]?.label]).toEqual(['success', 'Open result']);
    note?.options.actions?.[0]?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(tabs().map(tab => tab.title.label)).toEqual(['live']));
  });

  it('is announced with the reason if it failed, and a button that shows the list', async () => {
    await setJobs(LIVE);
    await setJobs({ ...LIVE, status: 'Stopped', error: 'No heavy chain.' });
    expect(notices()).toEqual(['Failed: live (AbodyBuilder). No heavy chain.']);
    const [note] = notifications();
    expect([note?.type, note?.options.actions?.[0]?.label]).toEqual(['error', 'Show jobs']);
  });

  it('is not announced if it had already ended when first seen', async () => {
    await setJobs(DONE);
    await setJobs(DONE);
    expect(notices()).toEqual([]);
  });

  it('is announced in one summary together with others', async () => {
    const many = ['a', 'b', 'c', 'd'].map(jobName => ({ ...LIVE, jobName }));
    await setJobs(...many);
    await setJobs(...many.map((job, at) => ({ ...job, status: 'Stopped' as const, error: at === 0 ? 'x' : null })));
    expect(notices()).toEqual(['4 jobs ended: 3 Stopped, 1 Failed.']);
  });

  it('is announced without a pop-up if its result is in the active tab', async () => {
    await setJobs(LIVE, WAITING);
    await run(CommandIDs.openJob, { job: 'live' });
    await setJobs({ ...LIVE, status: 'Complete' }, { ...WAITING, status: 'Complete' });
    const closing = Object.fromEntries(notifications().map(note => [note.message, note.options.autoClose]));
    expect(closing).toEqual({
      'Complete: live (AbodyBuilder).': 0,
      'Complete: waiting (AbodyBuilder).': 15_000
    });
  });

  it('is not announced if notifications are disabled', async () => {
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasNotifications: false });
    await setJobs(LIVE);
    await setJobs({ ...LIVE, status: 'Complete' });
    expect(notices()).toEqual([]);
  });

  it('is counted in the title of a page without focus', async () => {
    document.title = 'JupyterLab';
    const focus = vi.spyOn(document, 'hasFocus').mockReturnValue(false);
    await setJobs(LIVE);
    await setJobs({ ...LIVE, status: 'Complete' });
    expect(document.title).toBe('(1) JupyterLab');
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasNotifications: false });
    expect(document.title).toBe('JupyterLab');
    focus.mockRestore();
  });
});

describe('browser notifications', () => {
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

  it('are turned on and off by the command, which requests the browser’s permission', async () => {
    expect(isOn()).toBe(false);
    await run(CommandIDs.notifyInBrowser);
    expect(await setting()).toBe(true);
    await vi.waitFor(() => expect(isOn()).toBe(true));
    await run(CommandIDs.notifyInBrowser);
    expect(await setting()).toBe(false);
  });

  it('explain where to allow them if the browser blocks them', async () => {
    BrowserNotification.answer = 'denied';
    await run(CommandIDs.notifyInBrowser);
    expect(notices()[0]).toContain('The browser blocks notifications from this page.');
    expect(await setting()).toBeUndefined();
  });

  it('explain that they require HTTPS', async () => {
    Reflect.deleteProperty(window, 'Notification');
    await run(CommandIDs.notifyInBrowser);
    expect(notices()[0]).toContain('they require HTTPS');
  });

  it('are offered with a button if they are enabled but not yet permitted', async () => {
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasBrowserNotifications: true });
    expect(notices()[0]).toContain('Allow browser notifications');
    notifications()[0]?.options.actions?.[0]?.callback(new MouseEvent('click'));
    await vi.waitFor(() => expect(BrowserNotification.permission).toBe('granted'));
  });

  it('announce a job that ends while the page has no focus, and open its result on a click', async () => {
    BrowserNotification.permission = 'granted';
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasBrowserNotifications: true });
    vi.spyOn(document, 'hasFocus').mockReturnValue(false);
    await setJobs(LIVE);
    await setJobs({ ...LIVE, status: 'Complete' });
    const [shown] = BrowserNotification.shown;
    expect([shown?.text, shown?.options.tag]).toEqual(['Complete: live (AbodyBuilder).', 'foldnote live']);
    shown?.onclick();
    expect(shown?.close).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(tabs().map(tab => tab.title.label)).toEqual(['live']));
  });

  it('are not shown while the page has the focus', async () => {
    BrowserNotification.permission = 'granted';
    running.foldnote.settings.replace({ ...DEFAULT_SETTINGS, hasBrowserNotifications: true });
    vi.spyOn(document, 'hasFocus').mockReturnValue(true);
    await setJobs(LIVE);
    await setJobs({ ...LIVE, status: 'Complete' });
    expect(BrowserNotification.shown).toEqual([]);
  });
});

describe('the status bar', () => {
  const item = (): HTMLElement | null => running.statusBar.node.querySelector('.fn-StatusItem');

  it('counts running and queued jobs, and is hidden if there are none', async () => {
    await setJobs(LIVE, WAITING, DONE);
    await vi.waitFor(() => expect(running.statusBar.node.textContent).toContain('1 running, 1 queued'));
    await setJobs(WAITING);
    await vi.waitFor(() => expect(running.statusBar.node.textContent).toContain(' 1 queued'));
    await setJobs(DONE);
    await vi.waitFor(() =>
      expect(item()?.closest('.jp-StatusBar-Item')?.classList.contains('lm-mod-hidden')).toBe(true)
    );
  });
});
