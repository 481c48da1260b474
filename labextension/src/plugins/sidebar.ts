/** The sidebar with jobs and tools. */
import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { CommandIDs, type JobArgs, type NewCellArgs } from '../commands';
import { markIcon } from '../icons';
import { Sidebar, type SidebarView } from '../panels/sidebar';
import { IFoldnote } from '../tokens';
import { CATEGORY } from './commands';

/** The sidebar. */
export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:sidebar',
  description: 'Jobs and tools in the sidebar.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    foldnote: IFoldnote,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ) => {
    const sidebar = createSidebar(app, foldnote);
    app.shell.add(sidebar, 'left', { rank: 600, type: 'Protein analysis' });
    restorer?.add(sidebar, sidebar.id);
    addShowCommand(app, sidebar, CommandIDs.showJobs, 'jobs', 'Show jobs');
    addShowCommand(app, sidebar, CommandIDs.showTools, 'tools', 'Show tools');
    for (const command of [CommandIDs.showJobs, CommandIDs.showTools]) {
      palette?.addItem({ command, category: CATEGORY });
    }
  }
};

function createSidebar(app: JupyterFrontEnd, foldnote: IFoldnote): Sidebar {
  const { commands } = app;
  const sidebar = new Sidebar({
    foldnote,
    onNewCell: tool => {
      const args: NewCellArgs = { tool };
      void commands.execute(CommandIDs.newCell, args);
    },
    onInsert: job => {
      const args: JobArgs = { job };
      void commands.execute(CommandIDs.loadJob, args);
    },
    onStop: job => {
      const args: JobArgs = { job };
      void commands.execute(CommandIDs.stopJob, args);
    },
    onDelete: job => {
      const args: JobArgs = { job };
      void commands.execute(CommandIDs.deleteJob, args);
    },
    onRefresh: () => {
      void commands.execute(CommandIDs.refresh);
    }
  });
  sidebar.id = 'foldnote-sidebar';
  sidebar.title.icon = markIcon;
  sidebar.title.caption = 'Protein analysis: jobs and tools';
  sidebar.node.setAttribute('role', 'region');
  sidebar.node.setAttribute('aria-label', 'Protein analysis');
  return sidebar;
}

function addShowCommand(
  app: JupyterFrontEnd,
  sidebar: Sidebar,
  id: string,
  view: SidebarView,
  label: string
): void {
  app.commands.addCommand(id, {
    label,
    describedBy: { args: null },
    execute: () => {
      app.shell.activateById(sidebar.id);
      sidebar.show(view);
    }
  });
}
