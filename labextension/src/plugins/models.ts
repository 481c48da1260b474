/** Provides the shared models of jobs, tools and files. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';

import { LabApi } from '../api/lab';
import { AccountModel } from '../models/service/account';
import { Attention } from '../models/jobs/attention';
import { EnginesModel } from '../models/service/engines';
import { FilesModel } from '../models/files/files';
import { JobsModel, type JobsState } from '../models/jobs/jobs';
import { MembersModel } from '../models/jobs/members';
import { ProfilesModel } from '../models/service/profiles';
import { Selection } from '../models/jobs/selection';
import { SettingsModel } from '../models/service/settings';
import { ToolsModel } from '../models/service/tools';
import { PLAIN } from '../models/translation';
import { IFoldnote } from '../tokens';

/** The models. */
export const modelsPlugin: JupyterFrontEndPlugin<IFoldnote> = {
  id: 'foldnote:models',
  description: 'Keeps the jobs, tools and files of the protein-analysis service.',
  autoStart: true,
  provides: IFoldnote,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): IFoldnote => {
    const api = new LabApi(app.serviceManager.serverSettings);
    const jobs = new JobsModel(api);
    const members = new MembersModel(api);
    const selection = new Selection();
    const tools = new ToolsModel(api);
    const files = new FilesModel(api);
    const account = new AccountModel(api);
    const profiles = new ProfilesModel(api);
    const engines = new EnginesModel(api);
    profiles.onChange = () => {
      selection.clear();
      jobs.reset();
      members.reset();
      tools.reset();
      files.reset();
      account.reset();
      void account.load();
    };
    engines.onEnd = () => void tools.refresh();
    jobs.changed.connect(() => account.noteJobs(countJobs(jobs.state())));
    jobs.changed.connect(() => selection.keepOnly(name => jobs.find(name) !== undefined));
    const trans = translator?.load('foldnote') ?? PLAIN;
    const attention = new Attention(jobs);
    const settings = new SettingsModel();
    settings.changed.connect(() => {
      const { hasNotifications, profile, pollSeconds, colors } = settings.state();
      attention.enable(hasNotifications);
      api.pollSeconds = pollSeconds;
      api.colors = colors;
      profiles.choose(profile);
    });
    return { jobs, members, selection, tools, files, account, profiles, engines, settings, attention, api, trans };
  }
};

/** Number of jobs at the service, including those not loaded. */
function countJobs({ statuses }: JobsState): number {
  return Object.values(statuses ?? {}).reduce((sum, count) => sum + count, 0);
}
