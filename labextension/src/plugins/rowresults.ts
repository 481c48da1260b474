/**
 * Responds to rows of a batch's table in notebooks that request the result of a job; a result's tab responds to its own
 * rows.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { handleRowRequest, OPEN_JOB } from '../rowresults';
import { IFoldnote } from '../tokens';

/** Rows open results without a kernel. */
export const rowResultsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:row-results',
  description: 'Shows the result of a job below the table of its batch.',
  autoStart: true,
  requires: [IFoldnote],
  activate: (_app: JupyterFrontEnd, { api, trans }: IFoldnote) => {
    document.addEventListener(OPEN_JOB, event => {
      handleRowRequest(event, api, trans, (job, profile) => (profile === null ? null : { job, member: null, profile }));
    });
  }
};
