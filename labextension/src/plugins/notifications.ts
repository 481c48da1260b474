/** Tells in JupyterLab's own notifications that a job ended, unless the settings say no. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { JobRecord } from '../api/answers';
import { CommandIDs, type JobArgs } from '../commands';
import { endingNote, Endings, endingSummary, type EndingNote } from '../models/endings';
import { visibleText } from '../models/text';
import { IFoldnote } from '../tokens';

/** Jobs that end in the same moment and are still told one by one. */
const MOST_AT_ONCE = 3;

const SHOWN_MS = 15_000;

/** The notifications; the extension's settings go by this plugin's name. */
export const notificationsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:plugin',
  description: 'Notifies when a protein-analysis job ends.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [ISettingRegistry],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, registry: ISettingRegistry | null) => {
    const { attention, jobs } = foldnote;
    const endings = new Endings();
    let isOn = false;
    const turn = (isWanted: boolean): void => {
      isOn = isWanted;
      attention.turn(isWanted);
    };
    jobs.subscribe(() => {
      const ended = endings.note(jobs.state());
      if (isOn) {
        tell(app, foldnote, ended);
      }
    });
    void app.restored.then(() => followSetting(registry, turn));
  }
};

/** Calls `turn` with the setting, now and whenever it changes; without settings, notifications are on. */
async function followSetting(
  registry: ISettingRegistry | null,
  turn: (isWanted: boolean) => void
): Promise<void> {
  try {
    const settings = await registry?.load(notificationsPlugin.id);
    const apply = (): void => turn(settings?.composite.notifications !== false);
    settings?.changed.connect(apply);
    apply();
  } catch (error) {
    console.warn('The settings of foldnote cannot be read; its notifications are on.', error);
    turn(true);
  }
}

function tell(app: JupyterFrontEnd, { tools }: IFoldnote, ended: readonly JobRecord[]): void {
  if (ended.length > MOST_AT_ONCE) {
    emit(endingSummary(ended), showJobs(app));
    return;
  }
  for (const job of ended) {
    const note = endingNote(job, tools.displayName(job.tool ?? job.type));
    emit(note, job.status === 'Complete' ? loadResult(app, job.jobName) : showJobs(app));
  }
}

function emit({ tone, text }: EndingNote, action: Notification.IAction): void {
  Notification.emit(text, tone, { autoClose: SHOWN_MS, actions: [action] });
}

function loadResult({ commands }: JupyterFrontEnd, job: string): Notification.IAction {
  const args: JobArgs = { job };
  return {
    label: 'Load result',
    caption: `Insert a cell that loads ${visibleText(job)}`,
    displayType: 'accent',
    callback: () => void commands.execute(CommandIDs.loadJob, args)
  };
}

function showJobs({ commands }: JupyterFrontEnd): Notification.IAction {
  return {
    label: 'Show jobs',
    caption: 'Show the jobs in the sidebar',
    callback: () => void commands.execute(CommandIDs.showJobs)
  };
}
