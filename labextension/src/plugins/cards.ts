/** Opens the result of a job in a tab, asked by a button on its card; see `viewers/card/job_card.py`. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { CommandIDs, type JobArgs } from '../commands';
import { orNotify } from './commands';

/** Buttons of cards in notebooks. */
export const cardsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:cards',
  description: 'Opens results from the cards of jobs in notebooks.',
  autoStart: true,
  activate: ({ commands }: JupyterFrontEnd) => {
    document.addEventListener('click', ({ target }) => {
      const args = target instanceof Element ? readJob(target) : null;
      if (args) {
        void orNotify(commands.execute(CommandIDs.openJob, args));
      }
    });
  }
};

/** The job of the card whose button was clicked; null for other clicks. */
function readJob(target: Element): JobArgs | null {
  const card = target.closest('.foldnote-card-open')?.closest('.foldnote-card');
  const { fnJob: job, fnProfile: profile } = card?.querySelector<HTMLElement>('.fnc')?.dataset ?? {};
  return job && profile ? { job, profile } : null;
}
