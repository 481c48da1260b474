/** The token with which plugins and other extensions access the models. */
import { Token } from '@lumino/coreutils';

import type { LabApi } from './api/lab';
import type { AccountModel } from './models/service/account';
import type { Attention } from './models/jobs/attention';
import type { EnginesModel } from './models/service/engines';
import type { FilesModel } from './models/files/files';
import type { JobsModel } from './models/jobs/jobs';
import type { MembersModel } from './models/jobs/members';
import type { ProfilesModel } from './models/service/profiles';
import type { Selection } from './models/jobs/selection';
import type { SettingsModel } from './models/service/settings';
import type { ToolsModel } from './models/service/tools';
import type { Trans } from './models/translation';

/** The page's shared models of jobs, tools and files. */
export interface IFoldnote {
  /** All jobs; polls the server only while watched. */
  readonly jobs: JobsModel;
  /** The jobs of all members of the organization. */
  readonly members: MembersModel;
  /** The selected jobs of the list. */
  readonly selection: Selection;
  /** The catalog. */
  readonly tools: ToolsModel;
  /** The account's files. */
  readonly files: FilesModel;
  /** The account's remaining allowance. */
  readonly account: AccountModel;
  /** The available services. */
  readonly profiles: ProfilesModel;
  /** The engines of the server's computer. */
  readonly engines: EnginesModel;
  /** The user's settings in JupyterLab. */
  readonly settings: SettingsModel;
  /** Polls for jobs that end, even while no view shows them. */
  readonly attention: Attention;
  /** The server extension. */
  readonly api: LabApi;
  /** The translation. */
  readonly trans: Trans;
}

/** The token of {@link IFoldnote}. */
export const IFoldnote = new Token<IFoldnote>(
  'foldnote:IFoldnote',
  'The jobs, tools and files of the protein-analysis service to which JupyterLab is connected.'
);
