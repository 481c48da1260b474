/** A card in the launcher for each available tool. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILauncher } from '@jupyterlab/launcher';
import type { ReadonlyJSONObject } from '@lumino/coreutils';

import type { ToolRecord } from '../api/answers';
import { CommandIDs, type NewCellArgs } from '../commands';
import { antibodyIcon, proteinIcon } from '../icons';
import { IFoldnote } from '../tokens';
import { CATEGORY } from './commands';

/** The launcher cards. */
export const launcherPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:launcher',
  description: 'Launcher cards for protein-analysis tools.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ILauncher],
  activate: (app: JupyterFrontEnd, { tools }: IFoldnote, launcher: ILauncher | null) => {
    addCardCommands(app);
    if (!launcher) {
      return;
    }
    const carded = new Set<string>();
    tools.changed.connect(() => {
      for (const tool of tools.state().tools ?? []) {
        if (tool.available && !carded.has(tool.type)) {
          carded.add(tool.type);
          addCard(launcher, tool);
        }
      }
    });
    void app.restored.then(() => tools.load());
  }
};

function addCardCommands(app: JupyterFrontEnd): void {
  app.commands.addCommand(CommandIDs.launchTool, {
    label: args => textOf(args.name),
    caption: args => textOf(args.description),
    icon: args => (args.isAntibody === true ? antibodyIcon : proteinIcon),
    describedBy: { args: { type: 'object', properties: { tool: { type: 'string' } } } },
    execute: args => {
      const newCell: NewCellArgs = { tool: textOf(args.tool), cwd: textOf(args.cwd) };
      return app.commands.execute(CommandIDs.newCell, newCell);
    }
  });
}

function addCard(launcher: ILauncher, tool: ToolRecord): void {
  launcher.add({ command: CommandIDs.launchTool, category: CATEGORY, args: cardOf(tool) });
}

/** Arguments of the command of cards and menus for a tool. */
export function cardOf(tool: ToolRecord): ReadonlyJSONObject {
  return {
    tool: tool.type,
    name: tool.displayName,
    description: tool.description,
    isAntibody: tool.modalities.some(modality => modality.includes('antibody'))
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
