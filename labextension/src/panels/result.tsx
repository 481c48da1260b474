/** The main-area widget of a job's result. It needs no kernel. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { useSyncExternalStore, type ReactElement } from 'react';

import type { LabApi } from '../api/lab';
import { ResultView } from '../components/ResultView';
import { Words } from '../components/words';
import { dragFrom, type Dragged } from '../dragging';
import { toolType } from '../models/batch';
import { jobFileCode } from '../models/code';
import { visibleText } from '../models/text';
import type { IFoldnote } from '../tokens';

/** What the widget needs. */
export interface ResultOptions {
  readonly job: string;
  readonly api: LabApi;
  readonly foldnote: IFoldnote;
  readonly onInsert: () => void;
  readonly onAgain: () => void;
  readonly onDownload: (file: string | null) => void;
  readonly onInsertFile: (path: string) => void;
}

let lastId = 0;

/** A job and what came of it. */
export class ResultPanel extends ReactWidget {
  constructor(options: ResultOptions) {
    super();
    this.options = options;
    this.addClass('fn-ResultPanel');
  }

  /** Name of the job. */
  get job(): string {
    return this.options.job;
  }

  protected override render(): ReactElement {
    return (
      <Words.Provider value={this.options.foldnote.trans}>
        <Content {...this.options} id={this.own} />
      </Words.Provider>
    );
  }

  private readonly options: ResultOptions;
  private readonly own = `result${(lastId += 1)}`;
}

function Content(props: ResultOptions & { readonly id: string }): ReactElement {
  const { jobs, tools } = props.foldnote;
  const { receivedAt } = useSyncExternalStore(jobs.subscribe, jobs.state);
  useSyncExternalStore(tools.subscribe, tools.state);
  const job = jobs.find(props.job);
  return (
    <ResultView
      id={props.id}
      name={props.job}
      job={job}
      toolName={job ? tools.displayName(toolType(job)) : ''}
      now={receivedAt}
      readResult={props.api.readResult}
      readLog={jobs.log}
      readSettings={props.api.readSettings}
      onInsert={props.onInsert}
      onAgain={props.onAgain}
      onDownload={props.onDownload}
      onInsertFile={props.onInsertFile}
      onPressFile={(event, path) =>
        dragFrom(event, () => draggedFile(props.job, path, props.foldnote.profiles.forCode()))
      }
    />
  );
}

/** A file of a result as a cell, an editor or a file field takes it. */
function draggedFile(job: string, path: string, profile: string | null): Dragged {
  const code = jobFileCode(job, path, profile);
  const cell = `import foldnote as fn\n\n${code}`;
  return { label: visibleText(path), code, cell, value: { kind: 'jobFile', job, path } };
}
