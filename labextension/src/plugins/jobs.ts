/** The commands about jobs, in the palette and in the context menu of the list. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette, MainAreaWidget, Notification, WidgetTracker } from '@jupyterlab/apputils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import type { JobPlace, JobRecord } from '../api/responses';
import { CommandIDs, readText, readTexts, type JobArgs } from '../commands';
import { isBatch } from '../models/batch';
import { rerunCode, compareCode, jobCode } from '../models/code';
import { canCompare } from '../models/comparing';
import { memberKey } from '../models/members';
import { servicePlace } from '../models/profiles';
import { isPassing } from '../models/result';
import { isLive } from '../models/status';
import { formatCount, sentenceOf, visibleText } from '../models/text';
import { runInCell } from '../notebooks';
import { ResultPanel } from '../panels/result';
import { addTab } from '../tabs';
import { IFoldnote } from '../tokens';
import { CATEGORY, isConfirmed, notifyOnError, textArgument } from './commands';

const DOWNLOAD_PAUSE_MS = 400;

const MENU = [
  CommandIDs.openJob,
  CommandIDs.loadJob,
  CommandIDs.againJob,
  CommandIDs.compareJobs,
  CommandIDs.downloadJob,
  CommandIDs.copyJob,
  CommandIDs.tagJob,
  CommandIDs.shareJob,
  CommandIDs.stopJob,
  CommandIDs.keepJob,
  CommandIDs.deleteJob
];

/** The commands about jobs. */
export const jobsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:jobs',
  description: 'Opens, loads, downloads, stops and deletes protein-analysis jobs.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    foldnote: IFoldnote,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ) => {
    addCellCommands(app, foldnote);
    addCompareCommand(app, foldnote);
    const results = addResultCommands(app, foldnote);
    addShareCommands(app, foldnote, results);
    void restorer?.restore(results, {
      command: CommandIDs.openJob,
      args: ({ content }) => argsOf(content.place),
      name: ({ content: { place } }) => [place.profile, place.member, place.job, place.share].join('/')
    });
    addEndingCommands(app, foldnote);
    addTagCommand(app, foldnote);
    MENU.forEach((command, rank) => {
      palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
      app.contextMenu.addItem({ command, selector: '.fn-JobRow', rank });
    });
  }
};

/** The jobs that a command applies to. */
interface CommandTarget {
  readonly names: readonly string[];
  /** Address of the member who owns the job; null for your own. */
  readonly member: string | null;
  /** Name of the profile of their service; null for the selected one. */
  readonly profile: string | null;
  /** See {@link JobPlace}. */
  readonly share?: string;
}

/** The jobs that a command applies to: the given ones, else the selected ones. */
function meant(args: ReadonlyPartialJSONObject, { members, selection }: IFoldnote): CommandTarget {
  const [job, jobs] = [readText(args, 'job'), readTexts(args, 'jobs')];
  if (job || jobs.length > 0) {
    const [member, profile] = [readText(args, 'member') || null, readText(args, 'profile') || null];
    return { names: job ? [job] : jobs, member, profile, share: readText(args, 'share') };
  }
  const chosen = members.chosen();
  return chosen
    ? { names: chosen.email ? [chosen.jobName] : [], member: chosen.email ?? '', profile: null }
    : { names: [...selection.state().names], member: null, profile: null };
}

/** Arguments of a command for this job. */
function argsOf({ job, member, profile, share }: JobPlace): JobArgs {
  return { job, ...(member && { member }), ...(profile && { profile }), ...(share && { share }) };
}

/** A command about jobs. */
interface JobCommand {
  readonly label: string;
  /** The label if the caller names the job; menus and the palette apply to the selection. */
  readonly named?: (name: string) => string;
  /** Addition to the label about these jobs. */
  readonly more?: (meant: CommandTarget) => string;
  /** Whether the command is enabled. */
  readonly canRun: (meant: CommandTarget) => boolean;
  /** Whether the command is visible; by default always. */
  readonly isThere?: (meant: CommandTarget) => boolean;
  readonly run: (meant: CommandTarget, args: ReadonlyPartialJSONObject) => unknown;
}

function addJobCommand(app: JupyterFrontEnd, foldnote: IFoldnote, id: string, command: JobCommand): void {
  const { label, named, more, canRun, isThere, run } = command;
  app.commands.addCommand(id, {
    label: args => {
      const job = readText(args, 'job');
      if (job && named) {
        return named(visibleText(job));
      }
      const plain = `${label}${more?.(meant(args, foldnote)) ?? ''}`;
      return args.isPalette === true ? foldnote.trans.__('%1 (Selected Jobs)', plain) : plain;
    },
    describedBy: { args: textArgument('job', 'Name of the job') },
    isVisible: args => isThere?.(meant(args, foldnote)) ?? true,
    isEnabled: args => canRun(meant(args, foldnote)),
    execute: args => run(meant(args, foldnote), args)
  });
}

const hasOne = ({ names }: CommandTarget): boolean => names.length > 0;
const isOwn = ({ member }: CommandTarget): boolean => member === null;
const isOwnAndThere = (meant: CommandTarget): boolean => hasOne(meant) && isOwn(meant);

/** The record of a job; undefined if unknown, or if the lists show another service. */
function recordOf(name: string, { member, profile }: CommandTarget, foldnote: IFoldnote): JobRecord | undefined {
  const { jobs, members, profiles } = foldnote;
  if (!profiles.isMeant(profile)) {
    return undefined;
  }
  return member === null ? jobs.find(name) : members.find(name, member);
}

function addCellCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { profiles, trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.loadJob, {
    label: trans.__('Insert a Cell That Loads the Job'),
    named: name => trans.__('Insert a cell that loads %1', name),
    canRun: hasOne,
    run: async meant => {
      const { member, profile } = meant;
      for (const name of meant.names) {
        const isParent = isBatch(recordOf(name, meant, foldnote));
        await notifyOnError(runInCell(app, jobCode(name, profiles.forCode(profile), member, isParent), ''));
      }
    }
  });
  addJobCommand(app, foldnote, CommandIDs.againJob, {
    label: trans.__("Open the Job's Settings as a Form"),
    canRun: ({ names }) => names.length === 1,
    run: meant => {
      const {
        names: [name = ''],
        member,
        profile
      } = meant;
      const isPipeline = recordOf(name, meant, foldnote)?.tool === 'pipeline';
      return notifyOnError(runInCell(app, rerunCode(name, profiles.forCode(profile), member, isPipeline), ''));
    }
  });
}

const loadSharing = () => notifyOnError(import('../panels/sharing'));

/** Commands that make links for colleagues, and open colleagues' links. */
function addShareCommands(app: JupyterFrontEnd, foldnote: IFoldnote, tracker: Results): void {
  const { profiles, trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.shareJob, {
    label: trans.__('Share …'),
    isThere: given => isOwn(given) && profiles.canShare(given.profile),
    canRun: given => given.names.length === 1 && isOwn(given) && profiles.canShare(given.profile),
    run: async ({ names: [job = ''], ...where }) => (await loadSharing())?.shareJob(foldnote, { job, ...where })
  });
  app.commands.addCommand(CommandIDs.openShared, {
    label: trans.__('Open a Shared Link …'),
    mnemonic: 0,
    describedBy: { args: null },
    execute: async () => (await loadSharing())?.openShared(app, foldnote, tracker)
  });
}

/** Compares two or more of your own jobs in a cell; batches are recognised by the service's record. */
function addCompareCommand(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { profiles, trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.compareJobs, {
    label: trans.__('Compare in a Cell'),
    canRun: given => {
      const { names } = given;
      return isOwn(given) && canCompare(names.map(name => recordOf(name, given, foldnote)));
    },
    run: ({ names, profile }) => notifyOnError(runInCell(app, compareCode(names, profiles.forCode(profile)), ''))
  });
}

function addResultCommands(app: JupyterFrontEnd, foldnote: IFoldnote): Results {
  const { members, trans } = foldnote;
  const tracker: Results = new WidgetTracker({ namespace: 'foldnote-results' });
  const isRefused = ({ names: [jobName = ''], member }: CommandTarget): boolean =>
    member !== null && members.state().refusals.has(memberKey({ jobName, email: member }));
  const refused = (meant: CommandTarget): string =>
    isRefused(meant) ? ` ${trans.__('(the service refused: see the row)')}` : '';
  addJobCommand(app, foldnote, CommandIDs.openJob, {
    label: trans.__('Open the Result'),
    named: name => trans.__('Open the result of %1', name),
    more: refused,
    canRun: given => hasOne(given) && !isRefused(given),
    run: async ({ names, ...where }) => {
      for (const job of names) {
        await open(app, foldnote, tracker, { job, ...where });
      }
    }
  });
  /** For an unlisted job, the service reports an error. */
  const isComplete = (name: string, given: CommandTarget): boolean =>
    (recordOf(name, given, foldnote)?.status ?? 'Complete') === 'Complete';
  addJobCommand(app, foldnote, CommandIDs.downloadJob, {
    label: trans.__('Download the Result'),
    named: name => trans.__('Download the result of %1', name),
    more: refused,
    canRun: given => !isRefused(given) && given.names.some(name => isComplete(name, given)),
    run: async (given, args) => {
      for (const name of given.names.filter(each => isComplete(each, given))) {
        const { member, profile } = given;
        await download(foldnote, { job: name, member, profile }, readText(args, 'file') || null);
      }
    }
  });
  addJobCommand(app, foldnote, CommandIDs.copyJob, {
    label: trans.__('Copy the Name'),
    canRun: hasOne,
    run: ({ names }) => Clipboard.copyToSystem(names.join('\n'))
  });
  return tracker;
}

/** The open tabs. */
export type Results = WidgetTracker<MainAreaWidget<Widget & { readonly place: JobPlace }>>;

async function open(app: JupyterFrontEnd, foldnote: IFoldnote, tracker: Results, given: JobPlace): Promise<void> {
  const { profiles } = foldnote;
  if (given.share) {
    (await loadSharing())?.restoreShared(app, foldnote, tracker, given);
    return;
  }
  if (given.profile === null && profiles.meant() === null) {
    await profiles.load(); // a tab keeps its service, even if another one is selected
  }
  const place = { ...given, profile: given.profile ?? profiles.meant() };
  const { job, member } = place;
  const shown = tracker.find(({ content }) => isSamePlace(content.place, place));
  if (shown) {
    app.shell.activateById(shown.id);
    return;
  }
  const run = (command: string, more: { file?: string; path?: string } = {}): void => {
    void app.commands.execute(command, { ...argsOf(place), ...more });
  };
  const content = new ResultPanel({
    place,
    foldnote,
    onInsert: () => run(CommandIDs.loadJob),
    onAgain: () => run(CommandIDs.againJob),
    onShare: profiles.canShare(place.profile) && member === null ? () => run(CommandIDs.shareJob) : null,
    onDownload: file => run(CommandIDs.downloadJob, file === null ? {} : { file }),
    onInsertFile: path => run(CommandIDs.insertFile, { path }),
    onElsewhere: other => {
      widget.close();
      void open(app, foldnote, tracker, { job, member, profile: other });
    },
    onClose: () => widget.close()
  });
  const widget = new MainAreaWidget({ content });
  widget.title.caption = captionOf(place, foldnote);
  addTab(app, widget);
  void tracker.add(widget);
  app.shell.activateById(widget.id);
}

function isSamePlace(one: JobPlace, other: JobPlace): boolean {
  return one.job === other.job && one.member === other.member && one.profile === other.profile && !one.share;
}

/** Owner and service of a job, if not the default. */
function captionOf({ member, profile }: JobPlace, { profiles, trans }: IFoldnote): string {
  return [
    member === null ? '' : trans.__('Owner: %1', visibleText(member)),
    profiles.forCode(profile) === null ? '' : servicePlace(profile, trans)
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Makes the server download a result, and the browser save it. */
async function download({ api, members }: IFoldnote, place: JobPlace, file: string | null): Promise<void> {
  const { job, member } = place;
  try {
    save(await api.fetchResult(place, file));
    await new Promise(resolve => setTimeout(resolve, DOWNLOAD_PAUSE_MS)); // browsers drop simultaneous downloads
  } catch (error) {
    const reason = sentenceOf(error);
    if (member !== null && !isPassing(error)) {
      members.noteRefusal({ jobName: job, email: member }, reason);
    }
    Notification.error(`${visibleText(job)}: ${reason}`, { autoClose: 8000 });
  }
}

/** Makes the browser save the file at the address. */
function save(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}

function addEndingCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { jobs, trans } = foldnote;
  const leaving = ({ names }: CommandTarget): readonly string[] =>
    (names.length > 0 ? names : jobs.state().jobs.map(job => job.jobName)).filter(name => jobs.find(name)?.isLeaving);
  const live = ({ names }: CommandTarget): readonly string[] =>
    names.filter(name => {
      const job = jobs.find(name);
      return job !== undefined && isLive(job);
    });
  addJobCommand(app, foldnote, CommandIDs.stopJob, {
    label: trans.__('Stop'),
    named: name => trans.__('Stop the job %1', name),
    isThere: isOwn,
    canRun: given => isOwn(given) && live(given).length > 0,
    run: async given => {
      const names = live(given);
      const title = question(
        names,
        name => trans.__('Stop the job %1?', name),
        count => trans.__('Stop %1 jobs?', formatCount(count))
      );
      const body = trans.__('Results computed so far are lost unless the tool has already saved them.');
      if (await isConfirmed(title, body, trans.__('Stop'), trans.__('Cancel'))) {
        await jobs.stop(names);
      }
    }
  });
  addJobCommand(app, foldnote, CommandIDs.deleteJob, {
    label: trans.__('Delete'),
    named: name => trans.__('Delete the job %1', name),
    isThere: isOwn,
    canRun: isOwnAndThere,
    run: async ({ names }) => {
      const title = question(
        names,
        name => trans.__('Delete the job %1?', name),
        count => trans.__('Delete %1 jobs?', formatCount(count))
      );
      const body = trans.__(
        'Records, logs and results are permanently removed from the service. Running jobs are stopped.'
      );
      if (names.length > 0 && (await isConfirmed(title, body, trans.__('Delete'), trans.__('Cancel')))) {
        await deleteLater(app, foldnote, names);
      }
    }
  });
  addJobCommand(app, foldnote, CommandIDs.keepJob, {
    label: trans.__('Undo the Deletion'),
    isThere: given => isOwn(given) && leaving(given).length > 0,
    canRun: given => isOwn(given) && leaving(given).length > 0,
    run: given => {
      const heard = leaving(given);
      return jobs.keep(heard.length > 0 ? heard : given.names, given.profile ?? undefined); // the page may not yet know about their pending deletion
    }
  });
}

/** Schedules the deletion of jobs, and offers to undo it. */
async function deleteLater(
  { commands }: JupyterFrontEnd,
  { jobs, profiles, settings, trans }: IFoldnote,
  names: readonly string[]
): Promise<void> {
  const { undoSeconds } = settings.state();
  const profile = profiles.meant(); // another one may be selected before it is undone
  if (undoSeconds === 0) {
    await jobs.delete(names);
    return;
  }
  const text = question(
    names,
    name => trans.__('%1 will be deleted in %2 s.', name, undoSeconds),
    count => trans.__('%1 jobs will be deleted in %2 s.', formatCount(count), undoSeconds)
  );
  const undo: Notification.IAction = {
    label: trans.__('Undo'),
    displayType: 'accent',
    callback: () => void commands.execute(CommandIDs.keepJob, { jobs: [...names], profile })
  };
  const id = Notification.emit(text, 'default', { autoClose: undoSeconds * 1000, actions: [undo] });
  try {
    await jobs.delete(names, undoSeconds);
  } finally {
    Notification.dismiss(id);
  }
}

function addTagCommand(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.tagJob, {
    label: trans.__('Tag …'),
    named: name => trans.__('Tag %1 …', name),
    isThere: isOwn,
    canRun: isOwnAndThere,
    run: async ({ names }) => (await notifyOnError(import('../panels/tagging')))?.editTags(foldnote, names)
  });
}

function question(names: readonly string[], one: (name: string) => string, many: (count: number) => string): string {
  const [name = ''] = names;
  return names.length === 1 ? one(visibleText(name)) : many(names.length);
}
