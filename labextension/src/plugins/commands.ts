/** The commands, and their places in the palette. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, ICommandPalette, Notification, showDialog } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import { CommandIDs, readText, type NewCellArgs } from '../commands';
import { formCode, jobCode } from '../models/code';
import { visibleText } from '../models/text';
import { runInCell } from '../notebooks';
import { IFoldnote } from '../tokens';

/** Where the commands stand in the palette. */
export const CATEGORY = 'Protein analysis';

/** The commands. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:commands',
  description: 'Commands for protein-analysis tools and jobs.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, palette: ICommandPalette | null) => {
    addCellCommands(app, foldnote);
    addJobCommands(app, foldnote);
    if (palette) {
      palette.addItem({ command: CommandIDs.refresh, category: CATEGORY });
      offerTools(foldnote, palette);
    }
  }
};

function addCellCommands(app: JupyterFrontEnd, { tools }: IFoldnote): void {
  app.commands.addCommand(CommandIDs.newCell, {
    label: args => `New cell: ${tools.displayName(readText(args, 'tool'))}`,
    caption: 'Insert a cell with the form of a tool',
    describedBy: { args: textArgument('tool', 'Type of the tool, for example abodybuilder') },
    execute: args =>
      orNotify(runInCell(app, formCode(readText(args, 'tool')), readText(args, 'cwd')))
  });
  app.commands.addCommand(CommandIDs.loadJob, {
    label: args => `Insert a cell that loads ${visibleText(readText(args, 'job'))}`,
    describedBy: { args: textArgument('job', 'Name of the job') },
    execute: args => orNotify(runInCell(app, jobCode(readText(args, 'job')), ''))
  });
}

function addJobCommands(app: JupyterFrontEnd, { jobs, tools }: IFoldnote): void {
  app.commands.addCommand(CommandIDs.stopJob, {
    label: args => `Stop the job ${visibleText(readText(args, 'job'))}`,
    describedBy: { args: textArgument('job', 'Name of the job') },
    execute: async args => {
      const job = readText(args, 'job');
      const name = visibleText(job);
      const body = 'What it computed so far is lost, unless the tool has written it already.';
      if (await isConfirmed(`Stop the job ${name}?`, body, 'Stop')) {
        await jobs.stop(job);
      }
    }
  });
  app.commands.addCommand(CommandIDs.deleteJob, {
    label: args => `Delete the job ${visibleText(readText(args, 'job'))}`,
    describedBy: { args: textArgument('job', 'Name of the job') },
    execute: async args => {
      const job = readText(args, 'job');
      const name = visibleText(job);
      const body =
        'Its record, its log and its results are removed from the service for good. What still runs is stopped.';
      if (await isConfirmed(`Delete the job ${name}?`, body, 'Delete')) {
        await jobs.delete(job);
      }
    }
  });
  app.commands.addCommand(CommandIDs.refresh, {
    label: 'Refresh jobs and tools',
    describedBy: { args: null },
    execute: async () => {
      await Promise.all([jobs.refresh(), tools.refresh()]);
    }
  });
}

/** Puts the tools that can run into the palette, when they are known. */
function offerTools({ tools }: IFoldnote, palette: ICommandPalette): void {
  const offered = new Set<string>();
  tools.subscribe(() => {
    for (const tool of tools.state().tools ?? []) {
      if (tool.available && !offered.has(tool.type)) {
        offered.add(tool.type);
        const args: NewCellArgs = { tool: tool.type };
        palette.addItem({ command: CommandIDs.newCell, category: CATEGORY, args });
      }
    }
  });
}

async function isConfirmed(title: string, body: string, act: string): Promise<boolean> {
  const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label: act })];
  return (await showDialog({ title, body, buttons, defaultButton: 0 })).button.accept;
}

/** The result, or null after telling the user why there is none. */
async function orNotify(work: Promise<Widget>): Promise<Widget | null> {
  try {
    return await work;
  } catch (error) {
    Notification.error(error instanceof Error ? error.message : String(error), { autoClose: 8000 });
    return null;
  }
}

function textArgument(name: string, description: string) {
  return {
    type: 'object',
    required: [name],
    properties: { [name]: { type: 'string', description } }
  };
}
