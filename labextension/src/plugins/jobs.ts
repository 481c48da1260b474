/** The commands about jobs, in the palette and in the context menu of the list. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  Clipboard,
  ICommandPalette,
  InputDialog,
  MainAreaWidget,
  Notification,
  WidgetTracker
} from '@jupyterlab/apputils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { CommandIDs, readText, readTexts, type JobArgs } from '../commands';
import { markIcon } from '../icons';
import { againCode, jobCode } from '../models/code';
import { isLive } from '../models/status';
import { changeTags, commonTags, readTags } from '../models/tags';
import { visibleText } from '../models/text';
import { runInCell } from '../notebooks';
import { ResultPanel } from '../panels/result';
import { IFoldnote } from '../tokens';
import { CATEGORY, isConfirmed, orNotify, textArgument } from './commands';

const DOWNLOAD_PAUSE_MS = 400;

const MENU = [
  CommandIDs.openJob,
  CommandIDs.loadJob,
  CommandIDs.againJob,
  CommandIDs.downloadJob,
  CommandIDs.copyJob,
  CommandIDs.tagJob,
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
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, palette: ICommandPalette | null) => {
    addCellCommands(app, foldnote);
    addResultCommands(app, foldnote);
    addEndingCommands(app, foldnote);
    addTagCommand(app, foldnote);
    MENU.forEach((command, rank) => {
      palette?.addItem({ command, category: CATEGORY });
      app.contextMenu.addItem({ command, selector: '.fn-JobRow', rank });
    });
  }
};

/** The jobs that a command is about: those it is given, else the selected ones. */
function meant(args: ReadonlyPartialJSONObject, { selection }: IFoldnote): readonly string[] {
  const job = readText(args, 'job');
  const jobs = readTexts(args, 'jobs');
  return job ? [job] : jobs.length > 0 ? jobs : [...selection.state().names];
}

/** A label that names the job if the caller does; menus and the palette know what is selected. */
function labelled(plain: string, named: (name: string) => string) {
  return (args: ReadonlyPartialJSONObject): string => {
    const job = readText(args, 'job');
    return job ? named(visibleText(job)) : plain;
  };
}

function addCellCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { profiles, trans } = foldnote;
  app.commands.addCommand(CommandIDs.loadJob, {
    label: labelled(trans.__('Insert a Cell That Loads the Job'), name => trans.__('Insert a cell that loads %1', name)),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).length > 0,
    execute: async args => {
      for (const name of meant(args, foldnote)) {
        await orNotify(runInCell(app, jobCode(name, profiles.forCode()), ''));
      }
    }
  });
  app.commands.addCommand(CommandIDs.againJob, {
    label: trans.__('Open Its Settings as a Form'),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).length === 1,
    execute: args => {
      const [name = ''] = meant(args, foldnote);
      return orNotify(runInCell(app, againCode(name, profiles.forCode()), ''));
    }
  });
}

function addResultCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { api, jobs, trans } = foldnote;
  const tracker = new WidgetTracker<MainAreaWidget<ResultPanel>>({ namespace: 'foldnote-results' });
  app.commands.addCommand(CommandIDs.openJob, {
    label: labelled(trans.__('Open the Result'), name => trans.__('Open the result of %1', name)),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).length > 0,
    execute: args => {
      for (const name of meant(args, foldnote)) {
        open(app, foldnote, tracker, name);
      }
    }
  });
  app.commands.addCommand(CommandIDs.downloadJob, {
    label: labelled(trans.__('Download the Result'), name => trans.__('Download the result of %1', name)),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).some(name => jobs.find(name)?.status === 'Complete'),
    execute: async args => {
      for (const name of meant(args, foldnote)) {
        if (jobs.find(name)?.status === 'Complete') {
          save(api.resultAddress(name, readText(args, 'file') || null));
          await new Promise(resolve => setTimeout(resolve, DOWNLOAD_PAUSE_MS)); // browsers drop what comes at once
        }
      }
    }
  });
  app.commands.addCommand(CommandIDs.copyJob, {
    label: trans.__('Copy the Name'),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).length > 0,
    execute: args => Clipboard.copyToSystem(meant(args, foldnote).join('\n'))
  });
}

function open(
  app: JupyterFrontEnd,
  foldnote: IFoldnote,
  tracker: WidgetTracker<MainAreaWidget<ResultPanel>>,
  job: string
): void {
  const shown = tracker.find(widget => widget.content.job === job);
  if (shown) {
    app.shell.activateById(shown.id);
    return;
  }
  const run = (command: string, args: JobArgs & { file?: string }): void => {
    void app.commands.execute(command, args);
  };
  const content = new ResultPanel({
    job,
    api: foldnote.api,
    foldnote,
    onInsert: () => run(CommandIDs.loadJob, { job }),
    onAgain: () => run(CommandIDs.againJob, { job }),
    onDownload: file => run(CommandIDs.downloadJob, file === null ? { job } : { job, file }),
    onInsertFile: path => void app.commands.execute(CommandIDs.insertFile, { job, path })
  });
  const widget = new MainAreaWidget({ content });
  widget.title.label = visibleText(job);
  widget.title.icon = markIcon;
  widget.title.closable = true;
  const unwatch = foldnote.jobs.watch();
  widget.disposed.connect(unwatch);
  void tracker.add(widget);
  app.shell.add(widget, 'main');
  app.shell.activateById(widget.id);
}

/** Has the browser save what is at the address. */
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
  const leaving = (args: ReadonlyPartialJSONObject): readonly string[] => {
    const given = meant(args, foldnote);
    const names = given.length > 0 ? given : jobs.state().jobs.map(job => job.jobName);
    return names.filter(name => jobs.find(name)?.isLeaving);
  };
  const live = (args: ReadonlyPartialJSONObject): readonly string[] =>
    meant(args, foldnote).filter(name => {
      const job = jobs.find(name);
      return job !== undefined && isLive(job);
    });
  app.commands.addCommand(CommandIDs.stopJob, {
    label: labelled(trans.__('Stop'), name => trans.__('Stop the job %1', name)),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => live(args).length > 0,
    execute: async args => {
      const names = live(args);
      const title = question(names, name => trans.__('Stop the job %1?', name), count => trans.__('Stop %1 jobs?', count));
      const body = trans.__('What was computed so far is lost, unless the tool has written it already.');
      if (await isConfirmed(title, body, trans.__('Stop'), trans.__('Cancel'))) {
        await jobs.stop(names);
      }
    }
  });
  app.commands.addCommand(CommandIDs.deleteJob, {
    label: labelled(trans.__('Delete'), name => trans.__('Delete the job %1', name)),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).length > 0,
    execute: async args => {
      const names = meant(args, foldnote);
      const title = question(names, name => trans.__('Delete the job %1?', name), count => trans.__('Delete %1 jobs?', count));
      const body = trans.__(
        'Records, logs and results are removed from the service for good. What still runs is stopped.'
      );
      if (names.length > 0 && (await isConfirmed(title, body, trans.__('Delete'), trans.__('Cancel')))) {
        await deleteLater(app, foldnote, names);
      }
    }
  });
  app.commands.addCommand(CommandIDs.keepJob, {
    label: trans.__('Undo the Deletion'),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isVisible: args => leaving(args).length > 0,
    isEnabled: args => leaving(args).length > 0,
    execute: args => jobs.keep(leaving(args))
  });
}

/** Has the server delete the jobs after a while, and offers to undo that meanwhile. */
async function deleteLater(
  { commands }: JupyterFrontEnd,
  { jobs, settings, trans }: IFoldnote,
  names: readonly string[]
): Promise<void> {
  const { undoSeconds } = settings.state();
  if (undoSeconds === 0) {
    await jobs.delete(names);
    return;
  }
  const text = question(
    names,
    name => trans.__('%1 will be deleted in %2 s.', name, undoSeconds),
    count => trans.__('%1 jobs will be deleted in %2 s.', count, undoSeconds)
  );
  const undo: Notification.IAction = {
    label: trans.__('Undo'),
    displayType: 'accent',
    callback: () => void commands.execute(CommandIDs.keepJob, { jobs: [...names] })
  };
  const id = Notification.emit(text, 'default', { autoClose: undoSeconds * 1000, actions: [undo] });
  try {
    await jobs.delete(names, undoSeconds);
  } finally {
    Notification.dismiss(id);
  }
}

function addTagCommand(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { jobs, trans } = foldnote;
  app.commands.addCommand(CommandIDs.tagJob, {
    label: labelled(trans.__('Tag …'), name => trans.__('Tag %1 …', name)),
    describedBy: { args: textArgument('job', 'Name of the job') },
    isEnabled: args => meant(args, foldnote).length > 0,
    execute: async args => {
      const names = meant(args, foldnote);
      const tagged = names.flatMap(name => jobs.find(name) ?? []);
      const title = question(names, name => trans.__('Tags of %1', name), count => trans.__('Tags of %1 jobs', count));
      const { button, value } = await InputDialog.getText({
        title,
        label: trans.__(
          'Words with commas between them. They are kept on the computer that runs Jupyter; the service does not know them.'
        ),
        text: commonTags(tagged).join(', ')
      });
      if (button.accept && tagged.length > 0) {
        const { added, removed } = changeTags(tagged, readTags(value ?? ''));
        await jobs.tag(names, added, removed);
      }
    }
  });
}

function question(
  names: readonly string[],
  one: (name: string) => string,
  many: (count: number) => string
): string {
  const [name = ''] = names;
  return names.length === 1 ? one(visibleText(name)) : many(names.length);
}
