/** Provides the page's one truth about jobs and tools. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { LabApi } from '../api/lab';
import { Attention } from '../models/attention';
import { JobsModel } from '../models/jobs';
import { ToolsModel } from '../models/tools';
import { IFoldnote } from '../tokens';

/** The models. */
export const modelsPlugin: JupyterFrontEndPlugin<IFoldnote> = {
  id: 'foldnote:models',
  description: 'Keeps the jobs and tools of the protein-analysis service.',
  autoStart: true,
  provides: IFoldnote,
  activate: (app: JupyterFrontEnd): IFoldnote => {
    const api = new LabApi(app.serviceManager.serverSettings);
    const jobs = new JobsModel(api);
    return { jobs, tools: new ToolsModel(api), attention: new Attention(jobs) };
  }
};
