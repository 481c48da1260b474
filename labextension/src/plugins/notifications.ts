/** Tells in JupyterLab's own notifications that a job ended, unless the settings say no. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { JobRecord } from '../api/answers';
import { CommandIDs, type JobArgs } from '../commands';
import { endingNote, Endings, endingSummary, type EndingNote } from '../models/endings';
import { toolType } from '../models/batch';
import { visibleText } from '../models/text';
import type { Trans } from '../models/words';
import { Sidebar } from '../panels/sidebar';
import { IFoldnote } from '../tokens';
import { followSettings, SETTINGS, type Settings } from './settings';

/** Jobs that end in the same moment and are still told one by one. */
const MOST_AT_ONCE = 3;

const SHOWN_MS = 15_000;

/** The notifications; the extension's settings go by this plugin's name. */
export const notificationsPlugin: JupyterFrontEndPlugin<void> = {
  id: SETTINGS,
  description: 'Notifies when a protein-analysis job ends.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ISettingRegistry],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, registry: ISettingRegistry | null) => {
    const { attention, jobs } = foldnote;
    const endings = new Endings();
    let isOn = false;
    jobs.subscribe(() => {
      const ended = endings.note(jobs.state());
      if (isOn) {
        tell(app, foldnote, ended);
      }
    });
    const apply = ({ hasNotifications, profile }: Settings): void => {
      isOn = hasNotifications;
      attention.turn(hasNotifications);
      foldnote.profiles.choose(profile);
    };
    void app.restored.then(() => followSettings(registry, apply));
  }
};

function tell(app: JupyterFrontEnd, { tools, trans }: IFoldnote, ended: readonly JobRecord[]): void {
  if (ended.length > MOST_AT_ONCE) {
    emit(app, endingSummary(ended, trans), showJobs(app, trans));
    return;
  }
  for (const job of ended) {
    const note = endingNote(job, tools.displayName(toolType(job)), trans);
    emit(app, note, job.status === 'Complete' ? openResult(app, job.jobName, trans) : showJobs(app, trans));
  }
}

/** Tells; without a pop-up while the list of jobs can be seen, which shows the same. */
function emit(app: JupyterFrontEnd, { tone, text }: EndingNote, action: Notification.IAction): void {
  Notification.emit(text, tone, { autoClose: isListSeen(app) ? 0 : SHOWN_MS, actions: [action] });
}

function isListSeen(app: JupyterFrontEnd): boolean {
  for (const widget of app.shell.widgets('left')) {
    if (widget instanceof Sidebar) {
      return widget.isVisible && widget.view === 'jobs';
    }
  }
  return false;
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
