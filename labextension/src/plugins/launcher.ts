/** Cards in the launcher: the catalog, an example notebook, and each available tool. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILauncher } from '@jupyterlab/launcher';
import type { ReadonlyJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import type { ToolRecord } from '../api/responses';
import { CommandIDs, readText, type NewCellArgs } from '../commands';
import { notifyOnError } from '../dialogs';
import { markIcon } from '../icons';
import { familyIcon } from '../kindIcons';
import { exampleCode } from '../models/service/code';
import { readCards, writeCards, type CardArgs } from '../models/service/cards';
import { runInCell } from '../notebooks';
import { IFoldnote } from '../tokens';
import { CATEGORY } from './commands';

const TOOL_RANK = 10; // after the cards that are always present

/** The launcher cards. */
export const launcherPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:launcher',
  description: 'Launcher cards for protein-analysis tools.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ILauncher],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, launcher: ILauncher | null) => {
    addCardCommands(app, foldnote);
    if (!launcher) {
      return;
    }
    launcher.add({ command: CommandIDs.browseTools, category: CATEGORY, rank: 0 });
    launcher.add({ command: CommandIDs.exampleNotebook, category: CATEGORY, rank: 1 });
    const { tools } = foldnote;
    const cards = new ToolCards(launcher);
    cards.show(readCards(window.localStorage)); // the cards of the last visit, until the service has responded
    let shownTools: unknown = null;
    tools.changed.connect(() => {
      const { tools: catalog, service } = tools.state();
      if (catalog !== null && catalog !== shownTools && service?.state === 'ok') {
        shownTools = catalog;
        const args = catalog.filter(tool => tool.available).map(cardOf);
        cards.show(args);
        writeCards(window.localStorage, args);
      }
    });
    void app.restored.then(() => tools.load());
  }
};

/** The cards of tools; unchanged cards are not redrawn. */
class ToolCards {
  constructor(private readonly launcher: ILauncher) {}

  /** Shows exactly these tools. */
  show(cards: readonly CardArgs[]): void {
    const cardsByKey = new Map(cards.map(card => [JSON.stringify(card), card]));
    for (const [key, item] of this.items) {
      if (!cardsByKey.has(key)) {
        item.dispose();
        this.items.delete(key);
      }
    }
    for (const [key, args] of cardsByKey) {
      if (!this.items.has(key)) {
        const item = { command: CommandIDs.launchTool, category: CATEGORY, rank: TOOL_RANK, args };
        this.items.set(key, this.launcher.add(item));
      }
    }
  }

  private readonly items = new Map<string, IDisposable>();
}

function addCardCommands(app: JupyterFrontEnd, { profiles, trans }: IFoldnote): void {
  app.commands.addCommand(CommandIDs.launchTool, {
    label: args => readText(args, 'name'),
    caption: args => readText(args, 'description'),
    icon: args => familyIcon(readText(args, 'family')),
    describedBy: { args: { type: 'object', properties: { tool: { type: 'string' } } } },
    execute: args => {
      const newCell: NewCellArgs = { tool: readText(args, 'tool'), cwd: readText(args, 'cwd') };
      return app.commands.execute(CommandIDs.newCell, newCell);
    }
  });
  app.commands.addCommand(CommandIDs.browseTools, {
    label: trans.__('Browse All Tools'),
    caption: trans.__('Show every protein-analysis tool of foldnote in the sidebar'),
    icon: markIcon,
    describedBy: { args: null },
    execute: () => app.commands.execute(CommandIDs.showTools)
  });
  app.commands.addCommand(CommandIDs.exampleNotebook, {
    label: trans.__('Example Notebook'),
    caption: trans.__('Open a notebook that shows foldnote’s first steps'),
    mnemonic: 1,
    icon: markIcon,
    describedBy: { args: null },
    execute: args => notifyOnError(runInCell(app, exampleCode(profiles.forCode()), readText(args, 'cwd'), true))
  });
}

/** Arguments of the command of cards and menus for a tool. */
export function cardOf(tool: ToolRecord): CardArgs & ReadonlyJSONObject {
  return { tool: tool.type, name: tool.displayName, description: tool.description, family: tool.family };
}
