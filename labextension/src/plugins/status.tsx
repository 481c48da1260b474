/** The number of unfinished jobs in the status bar, if there is one. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import type { ReactElement } from 'react';

import { CommandIDs } from '../commands';
import { StateIcon } from '../components/controls/icons';
import { useStore } from '../components/store';
import { isLive } from '../models/jobs/status';
import { formatCount } from '../models/formatting/text';
import { IFoldnote } from '../tokens';

/** The status bar item. */
export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:status',
  description: 'Shows in the status bar how many protein-analysis jobs are unfinished.',
  autoStart: true,
  requires: [IFoldnote],
  optional: [IStatusBar],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote, bar: IStatusBar | null) => {
    if (!bar) {
      return;
    }
    const { jobs } = foldnote;
    const showJobs = (): void => void app.commands.execute(CommandIDs.showJobs);
    const item = ReactWidget.create(<Count foldnote={foldnote} onShow={showJobs} />);
    const isActive = (): boolean => jobs.state().jobs.some(isLive);
    const changed = new Signal<object, void>(item);
    let wasActive = false;
    jobs.changed.connect(() => {
      if (isActive() !== wasActive) {
        wasActive = isActive();
        changed.emit();
      }
    });
    bar.registerStatusItem('foldnote:status', {
      item,
      align: 'left',
      rank: 90,
      isActive,
      activeStateChanged: changed
    });
  }
};

function Count(props: { readonly foldnote: IFoldnote; readonly onShow: () => void }): ReactElement {
  const { jobs, trans } = props.foldnote;
  const state = useStore(jobs);
  const live = state.jobs.filter(isLive);
  const running = live.filter(job => job.status === 'Running').length;
  const waiting = live.length - running;
  const parts = [
    running > 0 && trans.__('%1 running', formatCount(running)),
    waiting > 0 && trans.__('%1 queued', formatCount(waiting))
  ];
  return (
    <button
      type="button"
      className="fn-StatusItem"
      title={trans.__('Show the jobs in the sidebar')}
      onClick={props.onShow}
    >
      <StateIcon state={running > 0 ? 'running' : 'queued'} /> {parts.filter(Boolean).join(', ')}
    </button>
  );
}
