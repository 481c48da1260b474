/** The commands about jobs, in the palette and in the context menu of the list. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette, MainAreaWidget, Notification, WidgetTracker } from '@jupyterlab/apputils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { JobRef, JobRecord } from '../api/responses';
import { CommandIDs, readText, readTexts, type JobArgs } from '../commands';
import { confirmAction, notifyOnError } from '../dialogs';
import { isBatch } from '../models/jobs/batch';
import { rerunCode, compareCode, jobCode } from '../models/service/code';
import { canCompare } from '../models/results/comparing';
import { memberKey } from '../models/jobs/members';
import { serviceLocation } from '../models/service/profiles';
import { isTemporary } from '../models/results/result';
import { isLive } from '../models/jobs/status';
import { formatCount, messageOf, visibleText } from '../models/formatting/text';
import { runInCell } from '../notebooks';
import { ResultPanel } from '../panels/result';
import { addTab, type ResultTracker } from '../tabs';
import { IFoldnote } from '../tokens';
import { CATEGORY, textArgument } from './commands';

const DOWNLOAD_PAUSE_MS = 400;

const MENU_COMMANDS = [
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
      args: ({ content }) => argsOf(content.jobRef),
      name: ({ content: { jobRef } }) => [jobRef.profile, jobRef.member, jobRef.job, jobRef.share].join('/')
    });
    addStopCommand(app, foldnote);
    addDeleteCommand(app, foldnote);
    addUndoDeleteCommand(app, foldnote);
    addTagCommand(app, foldnote);
    MENU_COMMANDS.forEach((command, rank) => {
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
  /** See {@link JobRef}. */
  readonly share?: string;
}

/** The jobs that a command applies to: those in its arguments, else the selected ones. */
function findTarget(args: ReadonlyPartialJSONObject, { members, selection }: IFoldnote): CommandTarget {
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
function argsOf({ job, member, profile, share }: JobRef): JobArgs {
  return { job, ...(member && { member }), ...(profile && { profile }), ...(share && { share }) };
}

/** A command about jobs. */
interface JobCommand {
  readonly label: string;
  /** The label if the caller names the job; menus and the palette apply to the selection. */
  readonly labelFor?: (name: string) => string;
  /** Addition to the label about these jobs. */
  readonly labelSuffix?: (target: CommandTarget) => string;
  /** Whether the command is enabled. */
  readonly canRun: (target: CommandTarget) => boolean;
  /** Whether the command is visible; by default always. */
  readonly isVisible?: (target: CommandTarget) => boolean;
  readonly run: (target: CommandTarget, args: ReadonlyPartialJSONObject) => unknown;
}

function addJobCommand(app: JupyterFrontEnd, foldnote: IFoldnote, id: string, command: JobCommand): void {
  const { label, labelFor, labelSuffix, canRun, isVisible, run } = command;
  app.commands.addCommand(id, {
    label: args => {
      const job = readText(args, 'job');
      if (job && labelFor) {
        return labelFor(visibleText(job));
      }
      const plain = `${label}${labelSuffix?.(findTarget(args, foldnote)) ?? ''}`;
      return args.isPalette === true ? foldnote.trans.__('%1 (Selected Jobs)', plain) : plain;
    },
    describedBy: { args: textArgument('job', 'Name of the job') },
    isVisible: args => isVisible?.(findTarget(args, foldnote)) ?? true,
    isEnabled: args => canRun(findTarget(args, foldnote)),
    execute: args => run(findTarget(args, foldnote), args)
  });
}

const hasJobs = ({ names }: CommandTarget): boolean => names.length > 0;
const isOwn = ({ member }: CommandTarget): boolean => member === null;
const isOwnWithJobs = (target: CommandTarget): boolean => hasJobs(target) && isOwn(target);

/** The record of a job; undefined if unknown, or if the lists show another service. */
function recordOf(name: string, { member, profile }: CommandTarget, foldnote: IFoldnote): JobRecord | undefined {
  const { jobs, members, profiles } = foldnote;
  if (!profiles.isSelected(profile)) {
    return undefined;
  }
  return member === null ? jobs.find(name) : members.find(name, member);
}

function addCellCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { profiles, trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.loadJob, {
    label: trans.__('Insert a Cell That Loads the Job'),
    labelFor: name => trans.__('Insert a cell that loads %1', name),
    canRun: hasJobs,
    run: async target => {
      const { member, profile } = target;
      for (const name of target.names) {
        const isParent = isBatch(recordOf(name, target, foldnote));
        await notifyOnError(runInCell(app, jobCode(name, profiles.forCode(profile), member, isParent), ''));
      }
    }
  });
  addJobCommand(app, foldnote, CommandIDs.againJob, {
    label: trans.__("Open the Job's Settings as a Form"),
    canRun: ({ names }) => names.length === 1,
    run: target => {
      const {
        names: [name = ''],
        member,
        profile
      } = target;
      const isPipeline = recordOf(name, target, foldnote)?.tool === 'pipeline';
      return notifyOnError(runInCell(app, rerunCode(name, profiles.forCode(profile), member, isPipeline), ''));
    }
  });
}

const loadSharing = () => notifyOnError(import('../panels/sharing'));

/** Commands that make links for colleagues, and open colleagues' links. */
function addShareCommands(app: JupyterFrontEnd, foldnote: IFoldnote, tracker: ResultTracker): void {
  const { profiles, trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.shareJob, {
    label: trans.__('Share …'),
    isVisible: target => isOwn(target) && profiles.canShare(target.profile),
    canRun: target => target.names.length === 1 && isOwn(target) && profiles.canShare(target.profile),
    run: async ({ names: [job = ''], ...owner }) => (await loadSharing())?.shareJob(foldnote, { job, ...owner })
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
    canRun: target => {
      const { names } = target;
      return isOwn(target) && canCompare(names.map(name => recordOf(name, target, foldnote)));
    },
    run: ({ names, profile }) => notifyOnError(runInCell(app, compareCode(names, profiles.forCode(profile)), ''))
  });
}

function addResultCommands(app: JupyterFrontEnd, foldnote: IFoldnote): ResultTracker {
  const { members, trans } = foldnote;
  const tracker: ResultTracker = new WidgetTracker({ namespace: 'foldnote-results' });
  const isRefused = ({ names: [jobName = ''], member }: CommandTarget): boolean =>
    member !== null && members.state().refusals.has(memberKey({ jobName, email: member }));
  const refused = (target: CommandTarget): string =>
    isRefused(target) ? ` ${trans.__('(the service refused: see the row)')}` : '';
  addJobCommand(app, foldnote, CommandIDs.openJob, {
    label: trans.__('Open the Result'),
    labelFor: name => trans.__('Open the result of %1', name),
    labelSuffix: refused,
    canRun: target => hasJobs(target) && !isRefused(target),
    run: async ({ names, ...owner }) => {
      for (const job of names) {
        await openResult(app, foldnote, tracker, { job, ...owner });
      }
    }
  });
  /** For an unlisted job, the service reports an error. */
  const isComplete = (name: string, target: CommandTarget): boolean =>
    (recordOf(name, target, foldnote)?.status ?? 'Complete') === 'Complete';
  addJobCommand(app, foldnote, CommandIDs.downloadJob, {
    label: trans.__('Download the Result'),
    labelFor: name => trans.__('Download the result of %1', name),
    labelSuffix: refused,
    canRun: target => !isRefused(target) && target.names.some(name => isComplete(name, target)),
    run: async (target, args) => {
      for (const name of target.names.filter(job => isComplete(job, target))) {
        const { member, profile } = target;
        await download(foldnote, { job: name, member, profile }, readText(args, 'file') || null);
      }
    }
  });
  addJobCommand(app, foldnote, CommandIDs.copyJob, {
    label: trans.__('Copy the Name'),
    canRun: hasJobs,
    run: ({ names }) => Clipboard.copyToSystem(names.join('\n'))
  });
  return tracker;
}

async function openResult(
  app: JupyterFrontEnd,
  foldnote: IFoldnote,
  tracker: ResultTracker,
  requested: JobRef
): Promise<void> {
  const { profiles } = foldnote;
  if (requested.share) {
    (await loadSharing())?.restoreShared(app, foldnote, tracker, requested);
    return;
  }
  if (requested.profile === null && profiles.selected() === null) {
    await profiles.load(); // a tab keeps its service, even if another one is selected
  }
  const jobRef = { ...requested, profile: requested.profile ?? profiles.selected() };
  const { job, member } = jobRef;
  const existing = tracker.find(({ content }) => isSameJob(content.jobRef, jobRef));
  if (existing) {
    app.shell.activateById(existing.id);
    return;
  }
  const run = (command: string, labelSuffix: { file?: string; path?: string } = {}): void => {
    void app.commands.execute(command, { ...argsOf(jobRef), ...labelSuffix });
  };
  const content = new ResultPanel({
    jobRef,
    foldnote,
    onInsert: () => run(CommandIDs.loadJob),
    onRerun: () => run(CommandIDs.againJob),
    onShare: profiles.canShare(jobRef.profile) && member === null ? () => run(CommandIDs.shareJob) : null,
    onDownload: file => run(CommandIDs.downloadJob, file === null ? {} : { file }),
    onInsertFile: path => run(CommandIDs.insertFile, { path }),
    onSwitchProfile: other => {
      widget.close();
      void openResult(app, foldnote, tracker, { job, member, profile: other });
    },
    onClose: () => widget.close()
  });
  const widget = new MainAreaWidget({ content });
  widget.title.caption = captionOf(jobRef, foldnote);
  addTab(app, widget);
  void tracker.add(widget);
  app.shell.activateById(widget.id);
}

function isSameJob(one: JobRef, other: JobRef): boolean {
  return one.job === other.job && one.member === other.member && one.profile === other.profile && !one.share;
}

/** Owner and service of a job, if not the default. */
function captionOf({ member, profile }: JobRef, { profiles, trans }: IFoldnote): string {
  return [
    member === null ? '' : trans.__('Owner: %1', visibleText(member)),
    profiles.forCode(profile) === null ? '' : serviceLocation(profile, trans)
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Makes the server download a result, and the browser save it. */
async function download({ api, members }: IFoldnote, jobRef: JobRef, file: string | null): Promise<void> {
  const { job, member } = jobRef;
  try {
    save(await api.fetchResult(jobRef, file));
    await new Promise(resolve => setTimeout(resolve, DOWNLOAD_PAUSE_MS)); // browsers drop simultaneous downloads
  } catch (error) {
    const reason = messageOf(error);
    if (member !== null && !isTemporary(error)) {
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

function addStopCommand(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { jobs, trans } = foldnote;
  const unfinished = ({ names }: CommandTarget): readonly string[] =>
    names.filter(name => {
      const job = jobs.find(name);
      return job !== undefined && isLive(job);
    });
  addJobCommand(app, foldnote, CommandIDs.stopJob, {
    label: trans.__('Stop'),
    labelFor: name => trans.__('Stop the job %1', name),
    isVisible: isOwn,
    canRun: target => isOwn(target) && unfinished(target).length > 0,
    run: async target => {
      const names = unfinished(target);
      const title = describeJobs(
        names,
        name => trans.__('Stop the job %1?', name),
        count => trans.__('Stop %1 jobs?', formatCount(count))
      );
      const body = trans.__('Results computed so far are lost unless the tool has already saved them.');
      if (await confirmAction(title, body, trans.__('Stop'), trans.__('Cancel'))) {
        await jobs.stop(names);
      }
    }
  });
}

function addDeleteCommand(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { trans } = foldnote;
  addJobCommand(app, foldnote, CommandIDs.deleteJob, {
    label: trans.__('Delete'),
    labelFor: name => trans.__('Delete the job %1', name),
    isVisible: isOwn,
    canRun: isOwnWithJobs,
    run: async ({ names }) => {
      const title = describeJobs(
        names,
        name => trans.__('Delete the job %1?', name),
        count => trans.__('Delete %1 jobs?', formatCount(count))
      );
      const body = trans.__(
        'Records, logs and results are permanently removed from the service. Running jobs are stopped.'
      );
      if (names.length > 0 && (await confirmAction(title, body, trans.__('Delete'), trans.__('Cancel')))) {
        await deleteLater(app, foldnote, names);
      }
    }
  });
}

/** Undoes pending deletions: of the selected jobs, else of all. */
function addUndoDeleteCommand(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { jobs, trans } = foldnote;
  const pendingDeletions = ({ names }: CommandTarget): readonly string[] =>
    (names.length > 0 ? names : jobs.state().jobs.map(job => job.jobName)).filter(name => jobs.find(name)?.isLeaving);
  addJobCommand(app, foldnote, CommandIDs.keepJob, {
    label: trans.__('Undo the Deletion'),
    isVisible: target => isOwn(target) && pendingDeletions(target).length > 0,
    canRun: target => isOwn(target) && pendingDeletions(target).length > 0,
    run: target => {
      const pendingNames = pendingDeletions(target);
      const names = pendingNames.length > 0 ? pendingNames : target.names; // the page may not know of the deletion yet
      return jobs.undoDelete(names, target.profile ?? undefined);
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
  const profile = profiles.selected(); // another one may be selected before it is undone
  if (undoSeconds === 0) {
    await jobs.delete(names);
    return;
  }
  const text = describeJobs(
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
    labelFor: name => trans.__('Tag %1 …', name),
    isVisible: isOwn,
    canRun: isOwnWithJobs,
    run: async ({ names }) => (await notifyOnError(import('../panels/tagging')))?.editTags(foldnote, names)
  });
}

function describeJobs(
  names: readonly string[],
  one: (name: string) => string,
  many: (count: number) => string
): string {
  const [name = ''] = names;
  return names.length === 1 ? one(visibleText(name)) : many(names.length);
}
