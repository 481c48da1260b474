/** The sidebar with jobs, tools and files. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';

import { CommandIDs, mnemonicOf, readText, type FileArgs, type JobArgs, type NewCellArgs } from '../commands';
import { notifyOnError } from '../dialogs';
import { dragFrom, type DragItem } from '../dragging';
import { markIcon } from '../icons';
import { ChoicesModel } from '../models/jobs/choices';
import { jobsCell, jobsAssignment, resultAssignment } from '../models/service/code';
import { isLive } from '../models/jobs/status';
import { formatCount, visibleText } from '../models/formatting/text';
import { Sidebar } from '../panels/sidebar';
import type { SidebarView } from '../panels/sidebaroptions';
import { IFoldnote } from '../tokens';
import { CATEGORY } from './commands';
import { SETTINGS } from '../settingsEditor';

/** The dialogs about engines, loaded on first use. */
const loadInstalling = () => notifyOnError(import('../panels/installing'));

/** The sidebar. */
export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:sidebar',
  description: 'Jobs, tools and files in the sidebar.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ICommandPalette, ILayoutRestorer, IStateDB, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    foldnote: IFoldnote,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    state: IStateDB | null,
    registry: ISettingRegistry | null
  ) => {
    const choices = new ChoicesModel(state);
    void app.restored.then(() => choices.restore());
    const sidebar = createSidebar(app, foldnote, choices, registry);
    app.shell.add(sidebar, 'left', { rank: 600, type: 'Protein analysis' });
    restorer?.add(sidebar, sidebar.id);
    keepFocus(app, sidebar);
    const { trans } = foldnote;
    const views: readonly (readonly [string, SidebarView, string, string])[] = [
      [CommandIDs.showJobs, 'jobs', trans.__('Show Jobs'), 'j'],
      [CommandIDs.showTools, 'tools', trans.__('Show Tools'), 't'],
      [CommandIDs.showFiles, 'files', trans.__('Show Files'), 'f'],
      [CommandIDs.showEngines, 'engines', trans.__('Show Engines on This Computer'), 'e']
    ];
    for (const [command, view, label, letter] of views) {
      app.commands.addCommand(command, {
        label: args => readText(args, 'label') || label,
        mnemonic: args => mnemonicOf(readText(args, 'label') || label, letter),
        describedBy: { args: null },
        execute: () => {
          app.shell.activateById(sidebar.id);
          sidebar.show(view);
          sidebar.focusView();
        }
      });
      palette?.addItem({ command, category: CATEGORY });
    }
  }
};

function createSidebar(
  app: JupyterFrontEnd,
  foldnote: IFoldnote,
  choices: ChoicesModel,
  registry: ISettingRegistry | null
): Sidebar {
  const run = (command: string, args: JobArgs | NewCellArgs | FileArgs = {}): void => {
    void app.commands.execute(command, args);
  };
  const sidebar = new Sidebar({
    foldnote,
    choices,
    onNewCell: tool => run(CommandIDs.newCell, { tool }),
    onOpen: job => run(CommandIDs.openJob, { job }),
    onInsert: job => run(CommandIDs.loadJob, { job }),
    onStop: job => run(CommandIDs.stopJob, { job }),
    onStopMany: names => run(CommandIDs.stopJob, { jobs: [...names] }),
    onDelete: names => run(CommandIDs.deleteJob, { jobs: [...names] }),
    onCompare: names => run(CommandIDs.compareJobs, { jobs: [...names] }),
    onTag: names => run(CommandIDs.tagJob, { jobs: [...names] }),
    onUndoDelete: names => run(CommandIDs.keepJob, { jobs: [...names] }),
    onDrag: (names, event, onClick) => dragFrom(event, () => jobsDragItem(foldnote, names), onClick),
    onOpenMemberJob: ({ jobName: job, email: member }) => member && run(CommandIDs.openJob, { job, member }),
    onInsertMemberJob: ({ jobName: job, email: member }) => member && run(CommandIDs.loadJob, { job, member }),
    onDragMemberJob: ({ jobName, email }, event) =>
      email && dragFrom(event, () => resultDragItem(foldnote, jobName, email)),
    onDownload: names => run(CommandIDs.downloadJob, { jobs: [...names] }),
    onInsertFile: path => run(CommandIDs.insertFile, { path }),
    onDeleteFile: path => run(CommandIDs.deleteFile, { path }),
    onDeleteFolder: path => run(CommandIDs.deleteFolder, { path }),
    onInstall: engine => void loadInstalling().then(loaded => loaded?.install(foldnote, engine)),
    onRemove: engine => void loadInstalling().then(loaded => loaded?.remove(foldnote, engine)),
    onCancelEngine: engine => void foldnote.engines.change(engine.name, 'cancel'),
    onRefresh: () => run(CommandIDs.refresh),
    onConnect: () => run(CommandIDs.connect),
    onChooseProfile: name => {
      foldnote.profiles.choose(name);
      void registry?.set(SETTINGS, 'profile', name);
    }
  });
  sidebar.id = 'foldnote-sidebar';
  sidebar.title.icon = markIcon;
  sidebar.node.setAttribute('role', 'region');
  sidebar.node.setAttribute('aria-label', foldnote.trans.__('Protein analysis'));
  showCount(sidebar, foldnote);
  return sidebar;
}

/** Returns the keyboard focus to the sidebar when its context menu closes and nothing else takes it. */
function keepFocus({ contextMenu }: JupyterFrontEnd, { node }: Sidebar): void {
  let lastFocused: HTMLElement | null = null;
  node.addEventListener(
    'contextmenu',
    () => {
      const { activeElement } = document;
      lastFocused = activeElement instanceof HTMLElement && node.contains(activeElement) ? activeElement : null;
    },
    true
  );
  contextMenu.menu.aboutToClose.connect(() => {
    const target = lastFocused;
    lastFocused = null;
    requestAnimationFrame(() => {
      if (document.activeElement === null || document.activeElement === document.body) {
        target?.focus();
      }
    });
  });
}

/** Dragged jobs: code for cells and, for a single job, its files for a file field. */
function jobsDragItem({ profiles, trans }: IFoldnote, names: readonly string[]): DragItem {
  const [name = ''] = names;
  const profile = profiles.forCode();
  return {
    label: names.length === 1 ? visibleText(name) : trans.__('%1 jobs', names.length),
    code: jobsAssignment(names, profile),
    cell: jobsCell(names, profile),
    value: names.length === 1 ? { kind: 'job', job: name } : undefined
  };
}

/** A dragged job of a member: code that loads its result. */
function resultDragItem({ profiles }: IFoldnote, job: string, member: string): DragItem {
  const line = resultAssignment(job, member, profiles.forCode());
  return { label: visibleText(job), code: line, cell: `import foldnote as fn\n\n${line}\nresult` };
}

/** Shows the number of unfinished jobs in the sidebar's tab. */
function showCount(sidebar: Sidebar, { jobs, trans }: IFoldnote): void {
  const updateTab = (): void => {
    const count = jobs.state().jobs.filter(isLive).length;
    const title = trans.__('Protein analysis with foldnote: jobs, tools and files');
    const running = trans._n('%2 job is unfinished', '%2 jobs are unfinished', count, formatCount(count));
    const caption = count > 0 ? `${title} (${running})` : title;
    if (sidebar.title.caption !== caption) {
      sidebar.title.caption = caption;
      sidebar.title.dataset = count > 0 ? { count: count > 99 ? '99+' : `${count}` } : {};
      sidebar.title.className = count > 0 ? 'fn-SideTab fn-mod-busy' : 'fn-SideTab';
    }
  };
  jobs.changed.connect(updateTab);
  updateTab();
}
