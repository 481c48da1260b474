/** Handles events of job cards in notebooks; see `viewers/card/job_card.py` and `assets/card_status.js`. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { CommandIDs, type JobArgs } from '../commands';
import { notifyOnError } from '../dialogs';
import { IFoldnote } from '../tokens';

/** Name of the event with which a card reports that its job has ended. */
const JOB_ENDED = 'fn-job-ended';

/** Cards in notebooks: their buttons open results, and they notify the list of jobs. */
export const cardsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:cards',
  description: 'Opens results from the cards of jobs in notebooks, and lists the ends of these jobs at once.',
  autoStart: true,
  requires: [IFoldnote],
  activate: ({ commands }: JupyterFrontEnd, { jobs }: IFoldnote) => {
    document.addEventListener(JOB_ENDED, event => {
      const name = event instanceof CustomEvent ? readName(event.detail) : '';
      if (name !== '') {
        jobs.noteEnd(name);
      }
    });
    document.addEventListener('click', ({ target }) => {
      const args = target instanceof Element ? readJob(target) : null;
      if (args) {
        void notifyOnError(commands.execute(CommandIDs.openJob, args));
      }
    });
  }
};

function readName(detail: unknown): string {
  return typeof detail === 'object' && detail !== null && 'job' in detail ? String(detail.job) : '';
}

/** The job of the card whose button was clicked; null for other clicks. */
function readJob(target: Element): JobArgs | null {
  const card = target.closest('.foldnote-card-open')?.closest('.foldnote-card');
  const { fnJob: job, fnProfile: profile } = card?.querySelector<HTMLElement>('.fnc')?.dataset ?? {};
  return job && profile ? { job, profile } : null;
}
