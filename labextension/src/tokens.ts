/**
 * What the extension's plugins, and other extensions, may ask for.
 */
import { Token } from '@lumino/coreutils';

import type { LabApi } from './api/lab';
import type { AccountModel } from './models/account';
import type { Attention } from './models/attention';
import type { EnginesModel } from './models/engines';
import type { FilesModel } from './models/files';
import type { JobsModel } from './models/jobs';
import type { MembersModel } from './models/members';
import type { ProfilesModel } from './models/profiles';
import type { Selection } from './models/selection';
import type { SettingsModel } from './models/settings';
import type { ToolsModel } from './models/tools';
import type { Trans } from './models/words';

/** The page's one truth about jobs, tools and files. */
export interface IFoldnote {
  /** Every job; asks the server only while somebody watches. */
  readonly jobs: JobsModel;
  /** The jobs of everybody in the organization. */
  readonly members: MembersModel;
  /** The jobs that a person has selected in the list. */
  readonly selection: Selection;
  /** The catalog. */
  readonly tools: ToolsModel;
  /** The account's files. */
  readonly files: FilesModel;
  /** What the account has left. */
  readonly account: AccountModel;
  /** The services that can be chosen. */
  readonly profiles: ProfilesModel;
  /** The engines of the server's computer. */
  readonly engines: EnginesModel;
  /** What a person has set in JupyterLab. */
  readonly settings: SettingsModel;
  /** Looks for jobs that end, also while no view shows them. */
  readonly attention: Attention;
  /** The server extension. */
  readonly api: LabApi;
  /** The words of the page's language. */
  readonly trans: Trans;
}

/** The token of {@link IFoldnote}. */
export const IFoldnote = new Token<IFoldnote>(
  'foldnote:IFoldnote',
  'The jobs, tools and files of the protein-analysis service to which JupyterLab is connected.'
);
