/** The commands about cells, files and services, and the palette entries of all commands. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { CommandIDs, readText, type NewCellArgs } from '../commands';
import { confirmAction, notifyOnError } from '../dialogs';
import { fileCode, formCode, jobFileCode } from '../models/service/code';
import { visibleText } from '../models/formatting/text';
import { insertAtCursor, runInCell } from '../notebooks';
import { IFoldnote } from '../tokens';

/** Category in the palette. */
export const CATEGORY = 'Protein Analysis (foldnote)';

/** The commands. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:commands',
  description: 'Commands for protein-analysis tools, files and services.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, palette: ICommandPalette | null) => {
    addCellCommands(app, foldnote);
    addFileCommands(app, foldnote);
    addServiceCommands(app, foldnote);
    if (palette) {
      for (const command of [
        CommandIDs.refresh,
        CommandIDs.connect,
        CommandIDs.openShared,
        CommandIDs.exampleNotebook,
        CommandIDs.formOfCell
      ]) {
        palette.addItem({ command, category: CATEGORY, args: { isPalette: true } });
      }
      addToolsToPalette(foldnote, palette);
    }
  }
};

function addCellCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { tools, profiles, trans } = foldnote;
  app.commands.addCommand(CommandIDs.newCell, {
    label: args => {
      const type = readText(args, 'tool');
      const tool = tools.state().tools?.find(candidate => candidate.type === type);
      const name = tool?.displayName ?? type;
      return (tool?.available ?? true)
        ? trans.__('New cell: %1', name)
        : trans.__('New cell: %1 (not available here)', name);
    },
    caption: trans.__('Insert a cell with the form of a tool'),
    describedBy: { args: textArgument('tool', 'Type of the tool, for example abodybuilder') },
    execute: args => {
      const code = formCode(readText(args, 'tool'), profiles.forCode());
      return notifyOnError(runInCell(app, code, readText(args, 'cwd')));
    }
  });
  app.commands.addCommand(CommandIDs.formOfCell, {
    label: trans.__('Open the Settings of This Cell as a Form'),
    mnemonic: 9,
    describedBy: { args: null },
    execute: args => notifyOnError(import('../panels/cellform').then(({ openForm }) => openForm(app, foldnote, args)))
  });
}

function addFileCommands(app: JupyterFrontEnd, { files, profiles, trans }: IFoldnote): void {
  const describedBy = { args: textArgument('path', 'Path of the file as used in a setting') };
  app.commands.addCommand(CommandIDs.insertFile, {
    label: args => trans.__('Insert %1 into the notebook', visibleText(readText(args, 'path'))),
    describedBy,
    execute: async args => {
      const [path, job] = [readText(args, 'path'), readText(args, 'job')];
      const member = readText(args, 'member') || null;
      const profile = profiles.forCode(readText(args, 'profile') || null);
      const code = job === '' ? fileCode(path) : jobFileCode(job, path, profile, member);
      if (!insertAtCursor(app, code)) {
        await notifyOnError(runInCell(app, `import foldnote as fn\n\n${code}`, ''));
      }
    }
  });
  app.commands.addCommand(CommandIDs.deleteFile, {
    label: args => trans.__('Delete the file %1', visibleText(readText(args, 'path'))),
    describedBy,
    execute: async args => {
      const path = readText(args, 'path');
      const title = trans.__('Delete the file %1?', visibleText(path));
      const body = trans.__('Jobs that were submitted with it keep their copy.');
      if (await confirmAction(title, body, trans.__('Delete'), trans.__('Cancel'))) {
        await files.delete(path);
      }
    }
  });
  app.commands.addCommand(CommandIDs.deleteFolder, {
    label: args => trans.__('Delete the folder %1', visibleText(readText(args, 'path'))),
    describedBy: { args: textArgument('path', 'The folder') },
    execute: async args => {
      const path = readText(args, 'path');
      const title = trans.__('Delete the folder %1?', visibleText(path));
      const body = trans.__(
        'Every file in it and in its folders is deleted. Jobs that were submitted with them keep their copies.'
      );
      if (await confirmAction(title, body, trans.__('Delete'), trans.__('Cancel'))) {
        await files.deleteFolder(path);
      }
    }
  });
}

function addServiceCommands(app: JupyterFrontEnd, foldnote: IFoldnote): void {
  const { account, api, files, jobs, members, profiles, tools, trans } = foldnote;
  app.commands.addCommand(CommandIDs.refresh, {
    label: args => (args.isPalette === true ? trans.__('Refresh Jobs, Tools and Files') : trans.__('Refresh')),
    mnemonic: 0,
    describedBy: { args: null },
    execute: async () => {
      const refreshes = files.state().files ? [files.refresh()] : [];
      refreshes.push(...(members.state().jobs ? [members.refresh()] : []));
      await Promise.all([jobs.refresh(), tools.refresh(), profiles.load(), account.load(true), ...refreshes]);
    }
  });
  app.commands.addCommand(CommandIDs.connect, {
    label: trans.__('Connect to a Service …'),
    mnemonic: 0,
    describedBy: { args: null },
    execute: async () => {
      const service = jobs.state().service;
      const defaults = service && !service.isEmbedded ? { name: service.profile, url: service.url ?? '' } : undefined;
      const { askConnection } = await import('../panels/connection');
      const name = await askConnection(api, trans, defaults);
      if (name !== null) {
        await profiles.load();
        profiles.choose(name);
        jobs.reset(); // a profile of the same name may have the key of another account
        await jobs.refresh();
      }
    }
  });
}

/** Adds the tools to the palette once they are known; the label marks tools that cannot run. */
function addToolsToPalette({ tools }: IFoldnote, palette: ICommandPalette): void {
  const added = new Set<string>();
  tools.changed.connect(() => {
    for (const tool of tools.state().tools ?? []) {
      if (!added.has(tool.type)) {
        added.add(tool.type);
        const args: NewCellArgs = { tool: tool.type };
        palette.addItem({ command: CommandIDs.newCell, category: CATEGORY, args });
      }
    }
  });
}

/** JSON Schema of a command's argument. */
export function textArgument(name: string, description: string) {
  return { type: 'object', properties: { [name]: { type: 'string', description } } };
}
