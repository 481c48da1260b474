/**
 * What the extension's plugins, and other extensions, may ask for.
 */
import { Token } from '@lumino/coreutils';

import type { Attention } from './models/attention';
import type { JobsModel } from './models/jobs';
import type { ToolsModel } from './models/tools';

/** The page's one truth about jobs and tools. */
export interface IFoldnote {
  /** Every job; asks the server only while somebody watches. */
  readonly jobs: JobsModel;
  /** The catalog. */
  readonly tools: ToolsModel;
  /** Looks for jobs that end, also while no view shows them. */
  readonly attention: Attention;
}

/** The token of {@link IFoldnote}. */
export const IFoldnote = new Token<IFoldnote>(
  'foldnote:IFoldnote',
  'The jobs and tools of the protein-analysis service that this JupyterLab talks to.'
);
