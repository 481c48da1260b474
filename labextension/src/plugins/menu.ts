/** The main menu: tools by family, views, and the service, with mnemonics for every entry. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IMainMenu } from '@jupyterlab/mainmenu';
import { MenuSvg } from '@jupyterlab/ui-components';

import { CommandIDs } from '../commands';
import { groupTools } from '../models/service/tools';
import { IFoldnote } from '../tokens';
import { cardOf } from './launcher';

const RANK = 560; // after Run and Kernel, before Tabs and Settings

const VIEWS = [CommandIDs.showJobs, CommandIDs.showTools, CommandIDs.showFiles, CommandIDs.showEngines];

/** The menu. */
export const menuPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:menu',
  description: 'A main menu with the protein-analysis tools, views and services.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [IMainMenu],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, mainMenu: IMainMenu | null) => {
    if (!mainMenu) {
      return;
    }
    const { tools, trans } = foldnote;
    const { commands } = app;
    const menu = new MenuSvg({ commands });
    menu.id = 'jp-mainmenu-foldnote';
    menu.title.label = trans.__('Protein Analysis');
    menu.title.mnemonic = 0;
    const catalog = new MenuSvg({ commands });
    catalog.title.label = trans.__('New Cell');
    catalog.title.mnemonic = 0;
    menu.addItem({ type: 'submenu', submenu: catalog });
    menu.addItem({ command: CommandIDs.exampleNotebook });
    menu.addItem({ command: CommandIDs.formOfCell });
    menu.addItem({ type: 'separator' });
    for (const command of VIEWS) {
      menu.addItem({ command });
    }
    menu.addItem({ type: 'separator' });
    menu.addItem({ command: CommandIDs.refresh });
    menu.addItem({ command: CommandIDs.connect });
    menu.addItem({ command: CommandIDs.openShared });
    mainMenu.addMenu(menu, false, { rank: RANK });
    let shownTools: unknown;
    const updateCatalog = (): void => {
      const current = tools.state().tools;
      if (current !== shownTools) {
        shownTools = current; // an open menu is not rebuilt by unrelated changes
        fillCatalog(app, foldnote, catalog);
      }
    };
    tools.changed.connect(updateCatalog);
    updateCatalog();
    void app.restored.then(() => tools.load());
  }
};

/** A submenu for each family with available tools, or an entry that says there are none. */
function fillCatalog(app: JupyterFrontEnd, { tools, trans }: IFoldnote, catalog: MenuSvg): void {
  const available = (tools.state().tools ?? []).filter(tool => tool.available);
  for (const { submenu } of [...catalog.items]) {
    submenu?.dispose();
  }
  catalog.clearItems();
  for (const { family, tools: members } of groupTools(available)) {
    const submenu = new MenuSvg({ commands: app.commands });
    submenu.title.label = family;
    submenu.title.mnemonic = 0;
    for (const tool of members) {
      submenu.addItem({ command: CommandIDs.launchTool, args: cardOf(tool) });
    }
    catalog.addItem({ type: 'submenu', submenu });
  }
  if (catalog.items.length > 0) {
    catalog.addItem({ type: 'separator' });
  }
  catalog.addItem({ command: CommandIDs.showTools, args: { label: trans.__('All Tools …') } });
}
