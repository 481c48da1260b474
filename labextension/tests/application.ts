/** JupyterLab as the plugins find it: its own shell, menus, registries and notifications, without a page around them. */
import { ILayoutRestorer, JupyterFrontEnd, LabShell, LayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { ILauncher, LauncherModel } from '@jupyterlab/launcher';
import { IMainMenu, MainMenu } from '@jupyterlab/mainmenu';
import { IRenderMimeRegistry, RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { KernelSpecManager, type ServiceManager } from '@jupyterlab/services';
import { ISettingRegistry, SettingRegistry } from '@jupyterlab/settingregistry';
import { DataConnector, IStateDB, StateDB } from '@jupyterlab/statedb';
import { IStatusBar, StatusBar } from '@jupyterlab/statusbar';
import type { Token } from '@lumino/coreutils';
import { DisposableDelegate } from '@lumino/disposable';
import { CommandPalette } from '@lumino/widgets';

import schema from '../schema/plugin.json';
import plugins from '../src/index';
import { SETTINGS } from '../src/settingsEditor';
import { IFoldnote } from '../src/tokens';
import { registerNotebooks } from './notebook';
import { FoldnoteServer } from './service';

class FrontEnd extends JupyterFrontEnd {
  readonly name = 'tests';
  readonly namespace = 'tests';
  readonly version = '4';
}

/** The settings of one user, in memory. */
class SettingsConnector extends DataConnector<ISettingRegistry.IPlugin, string> {
  raw = '{}';

  override fetch(id: string): Promise<ISettingRegistry.IPlugin> {
    const data = { composite: {}, user: {} };
    return Promise.resolve({
      id,
      raw: this.raw,
      schema: schema as unknown as ISettingRegistry.ISchema,
      data,
      version: '1'
    });
  }

  override save(_: string, raw: string): Promise<void> {
    this.raw = raw;
    return Promise.resolve();
  }
}

/** A running application with every plugin of ours. */
export interface Running {
  readonly app: JupyterFrontEnd;
  readonly server: FoldnoteServer;
  readonly foldnote: IFoldnote;
  readonly palette: CommandPalette;
  readonly launcher: LauncherModel;
  readonly mainMenu: MainMenu;
  readonly statusBar: StatusBar;
  readonly registry: SettingRegistry;
  readonly rendermime: RenderMimeRegistry;
  readonly state: StateDB;
  readonly stop: () => Promise<void>;
}

/** Starts it; one in a file of tests is enough. */
export async function startApplication(prepare: (server: FoldnoteServer) => void = () => undefined): Promise<Running> {
  Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false); // widgets draw by themselves
  const server = new FoldnoteServer();
  await server.start();
  prepare(server);
  const serverSettings = server.settings();
  const kernelspecs = new KernelSpecManager({ serverSettings });
  const shell = new LabShell();
  const app: JupyterFrontEnd = new FrontEnd({
    shell,
    serviceManager: { serverSettings, kernelspecs } as unknown as ServiceManager
  });
  const { commands } = app;
  const state = new StateDB();
  const palette = new CommandPalette({ commands });
  const launcher = new LauncherModel();
  const mainMenu = new MainMenu(commands);
  const statusBar = new StatusBar();
  const registry = new SettingRegistry({ connector: new SettingsConnector(), timeout: 0 });
  const rendermime = new RenderMimeRegistry({ initialFactories: standardRendererFactories });
  const restorer = new LayoutRestorer({ connector: state, first: app.started, registry: commands });
  const offered: ICommandPalette = {
    placeholder: '',
    activate: () => undefined,
    addItem: item => {
      const added = palette.addItem(item);
      return new DisposableDelegate(() => palette.removeItem(added));
    }
  };
  const provide = <T>(token: Token<T>, value: T): void =>
    app.registerPlugin({ id: `tests:${token.name}`, autoStart: true, provides: token, activate: () => value });
  provide(ICommandPalette, offered);
  provide(ILauncher, launcher);
  provide(IMainMenu, mainMenu as unknown as IMainMenu); // its own types disagree
  provide(IStatusBar, statusBar);
  provide(ISettingRegistry, registry);
  provide(IStateDB, state);
  provide(IRenderMimeRegistry, rendermime);
  provide(ILayoutRestorer, restorer);
  app.registerPlugins(plugins);
  registerNotebooks(app, rendermime);
  await app.start();
  await shell.restoreLayout('multiple-document', restorer);
  await app.restored;
  await registry.load(SETTINGS);
  const foldnote = await app.resolveRequiredService(IFoldnote);
  const stop = async (): Promise<void> => {
    foldnote.attention.enable(false);
    foldnote.jobs.dispose();
    shell.dispose();
    kernelspecs.dispose();
    await server.stop();
  };
  return { app, server, foldnote, palette, launcher, mainMenu, statusBar, registry, rendermime, state, stop };
}

/** Closes the tabs that a test has opened, and resets the server and the models. */
export async function cleanUp({ app, server, foldnote }: Running): Promise<void> {
  const open = [...app.shell.widgets('main')];
  for (const widget of open.sort((a, b) => Number(a.isVisible) - Number(b.isVisible))) {
    widget.dispose(); // those in front last, so that none comes to the front for a moment
  }
  server.reset();
  foldnote.profiles.choose(null);
  foldnote.selection.clear();
  foldnote.jobs.reset();
  await foldnote.jobs.refresh();
  Notification.dismiss();
}

/** The notifications that are there, newest first. */
export function notifications(): readonly Notification.INotification[] {
  return Notification.manager.notifications;
}

/** The text of the notifications, newest first. */
export function notices(): readonly string[] {
  return notifications().map(each => each.message);
}

/** The dialog that is open. */
export async function openDialog(): Promise<HTMLElement> {
  return vi.waitFor(() => {
    const dialog = document.querySelector<HTMLElement>('.jp-Dialog');
    if (!dialog) {
      throw new Error('No dialog is open.');
    }
    return dialog;
  });
}

/** Presses a button of the open dialog, and returns the dialog's text. */
export async function press(label: string): Promise<string> {
  const dialog = await openDialog();
  const text = dialog.textContent;
  const buttons = [...dialog.querySelectorAll<HTMLElement>('button')];
  const button = buttons.find(each => each.textContent === label);
  if (!button) {
    throw new Error(`No button “${label}” among ${buttons.map(each => each.textContent).join(', ')}.`);
  }
  button.click();
  await vi.waitUntil(() => !dialog.isConnected);
  return text;
}
