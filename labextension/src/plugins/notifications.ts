/**
 * Reports the end of jobs with JupyterLab's notifications, and with the browser's while the page is hidden, unless
 * disabled in the settings.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget, Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { JobRecord } from '../api/responses';
import { requestPermission, isAway, readPermission, showNotice } from '../browserNotice';
import { CommandIDs, type JobArgs } from '../commands';
import { endingNote, Endings, endingSummary, type EndingNote } from '../models/jobs/endings';
import { toolType } from '../models/jobs/batch';
import { visibleText } from '../models/formatting/text';
import type { Trans } from '../models/translation';
import { ResultPanel } from '../panels/result';
import { Sidebar } from '../panels/sidebar';
import { TitleCount } from '../titleCount';
import { IFoldnote } from '../tokens';
import { CATEGORY } from './commands';
import { followSettings, SETTINGS } from '../settingsEditor';

/** Maximum number of jobs ending together that are reported individually. */
const MAX_AT_ONCE = 3;

const SHOWN_MS = 15_000;

/** The notifications. The extension's settings use the id of this plugin. */
export const notificationsPlugin: JupyterFrontEndPlugin<void> = {
  id: SETTINGS,
  description: 'Notifies when a protein-analysis job ends.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ISettingRegistry, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    foldnote: IFoldnote,
    registry: ISettingRegistry | null,
    palette: ICommandPalette | null
  ) => {
    const { jobs, settings } = foldnote;
    const endings = new Endings();
    const count = new TitleCount();
    jobs.changed.connect(() => {
      const ended = endings.findEnded(jobs.state());
      if (settings.state().hasNotifications) {
        notifyEnded(app, foldnote, ended);
        count.add(ended.length);
      }
    });
    addBrowserCommand(app, foldnote, registry);
    palette?.addItem({ command: CommandIDs.notifyInBrowser, category: CATEGORY });
    let wasWanted = false;
    settings.changed.connect(() => {
      const isWanted = settings.state().hasBrowserNotifications;
      if (isWanted && !wasWanted && readPermission() !== 'granted') {
        offerPermission(app, foldnote);
      }
      wasWanted = isWanted;
      if (!settings.state().hasNotifications) {
        count.clear();
      }
    });
    void app.restored.then(() => followSettings(registry, settings));
  }
};

function notifyEnded(app: JupyterFrontEnd, foldnote: IFoldnote, ended: readonly JobRecord[]): void {
  const { tools, trans } = foldnote;
  if (ended.length > MAX_AT_ONCE) {
    notify(app, foldnote, endingSummary(ended, trans), showJobs(app, trans), null);
    return;
  }
  for (const job of ended) {
    const note = endingNote(job, tools.displayName(toolType(job)), trans);
    const action = job.status === 'Complete' ? openResult(app, job.jobName, trans) : showJobs(app, trans);
    notify(app, foldnote, note, action, job.jobName);
  }
}

/** Reports one or several jobs, without a pop-up while a view shows the same information. */
function notify(
  app: JupyterFrontEnd,
  { settings }: IFoldnote,
  { tone, text }: EndingNote,
  action: Notification.IAction,
  job: string | null
): void {
  const isQuiet = isListVisible(app) || (job !== null && isJobVisible(app, job));
  Notification.emit(text, tone, { autoClose: isQuiet ? 0 : SHOWN_MS, actions: [action] });
  if (settings.state().hasBrowserNotifications && readPermission() === 'granted' && isAway()) {
    showNotice(text, job ?? 'several', () => action.callback(new MouseEvent('click')));
  }
}

function isListVisible(app: JupyterFrontEnd): boolean {
  for (const widget of app.shell.widgets('left')) {
    if (widget instanceof Sidebar) {
      return widget.isVisible && widget.view === 'jobs';
    }
  }
  return false;
}

/** Whether the job's result or card is visible. */
function isJobVisible({ shell }: JupyterFrontEnd, job: string): boolean {
  for (const widget of shell.widgets('main')) {
    const content: unknown = widget instanceof MainAreaWidget ? widget.content : null;
    if (widget.isVisible && content instanceof ResultPanel && content.jobRef.job === job) {
      return true;
    }
  }
  const cards = document.querySelectorAll<HTMLElement>('.fnc .fnc-name');
  return [...cards].some(card => card.textContent === job && isOnTop(card));
}

function isOnTop(node: HTMLElement): boolean {
  const { x, y, width, height } = node.getBoundingClientRect();
  const topmost = width > 0 ? document.elementFromPoint(x + width / 2, y + height / 2) : null;
  return topmost !== null && (node.contains(topmost) || topmost.contains(node));
}

function addBrowserCommand(
  { commands }: JupyterFrontEnd,
  { settings, trans }: IFoldnote,
  registry: ISettingRegistry | null
): void {
  const isOn = (): boolean => settings.state().hasBrowserNotifications && readPermission() === 'granted';
  commands.addCommand(CommandIDs.notifyInBrowser, {
    label: trans.__('Notify in the Browser When Jobs End'),
    caption: trans.__('Notify me when jobs end while the page is hidden'),
    describedBy: { args: null },
    isToggled: isOn,
    execute: async () => {
      if (isOn()) {
        await registry?.set(SETTINGS, 'browserNotifications', false);
        return;
      }
      const permission = readPermission() === 'default' ? await requestPermission() : readPermission();
      if (permission === 'granted') {
        await registry?.set(SETTINGS, 'browserNotifications', true);
      } else {
        Notification.warning(describeRefusal(permission === 'missing', trans), { autoClose: SHOWN_MS });
      }
    }
  });
}

/** Offers to request the browser's permission, which is allowed only after a click. */
function offerPermission({ commands }: JupyterFrontEnd, { trans }: IFoldnote): void {
  const permission = readPermission();
  if (permission !== 'default') {
    Notification.warning(describeRefusal(permission === 'missing', trans), { autoClose: SHOWN_MS });
    return;
  }
  const action: Notification.IAction = {
    label: trans.__('Allow …'),
    caption: trans.__('The browser will ask for permission'),
    displayType: 'accent',
    callback: () => void commands.execute(CommandIDs.notifyInBrowser)
  };
  Notification.info(trans.__('Allow browser notifications to hear about jobs while this page is hidden.'), {
    autoClose: false,
    actions: [action]
  });
}

function describeRefusal(isMissing: boolean, trans: Trans): string {
  return isMissing
    ? trans.__(
        'The browser cannot show notifications from this page: they require HTTPS or JupyterLab on this computer.'
      )
    : trans.__('The browser blocks notifications from this page. Allow them with the lock icon in the address bar.');
}

function openResult({ commands }: JupyterFrontEnd, job: string, trans: Trans): Notification.IAction {
  const args: JobArgs = { job };
  return {
    label: trans.__('Open result'),
    caption: trans.__('Open the result of %1', visibleText(job)),
    displayType: 'accent',
    callback: () => void commands.execute(CommandIDs.openJob, args)
  };
}

function showJobs({ commands }: JupyterFrontEnd, trans: Trans): Notification.IAction {
  return {
    label: trans.__('Show jobs'),
    caption: trans.__('Show the jobs in the sidebar'),
    callback: () => void commands.execute(CommandIDs.showJobs)
  };
}
