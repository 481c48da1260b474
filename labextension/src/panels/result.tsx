/** The main-area widget of a job's result. It needs no kernel. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { useRef, useSyncExternalStore, type ReactElement } from 'react';

import { ResultView, type ResultViewProps } from '../components/ResultView';
import { Words } from '../components/words';
import { dragFrom, type Dragged } from '../dragging';
import { toolType } from '../models/batch';
import { jobFileCode } from '../models/code';
import { sentenceOf, visibleText } from '../models/text';
import type { IFoldnote } from '../tokens';

/** What the widget needs. */
export interface ResultOptions {
  readonly job: string;
  /** Address of the member of the organization whose job it is; null for one's own. */
  readonly member: string | null;
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
    this.source = options.member === null ? ownSource(options.foldnote) : memberSource(options.foldnote, options.member);
    this.addClass('fn-ResultPanel');
  }

  /** Name of the job. */
  get job(): string {
    return this.options.job;
  }

  /** Address of the member whose job it is; null for one's own. */
  get member(): string | null {
    return this.options.member;
  }

  protected override render(): ReactElement {
    return (
      <Words.Provider value={this.options.foldnote.trans}>
        <Content {...this.options} {...this.source} id={this.own} />
      </Words.Provider>
    );
  }

  private readonly options: ResultOptions;
  private readonly source: Source;
  private readonly own = `result${(lastId += 1)}`;
}

type Source = Pick<ResultViewProps, 'readResult' | 'readLog' | 'readSettings'>;

function ownSource({ api, jobs }: IFoldnote): Source {
  return {
    readResult: name => api.readResult(name),
    readLog: jobs.log,
    readSettings: name => api.readSettings(name)
  };
}

/** What the interface gives of another member's job: all but its log. */
function memberSource({ api, members, trans }: IFoldnote, member: string): Source {
  return {
    readResult: async name => {
      try {
        return await api.readResult(name, member);
      } catch (error) {
        const reason = sentenceOf(error);
        members.noteRefusal({ jobName: name, email: member }, reason);
        throw error;
      }
    },
    readLog: () => Promise.reject(new Error(trans.__('A service gives the log of a job to its owner only.'))),
    readSettings: name => api.readSettings(name, member)
  };
}

function Content(props: ResultOptions & Source & { readonly id: string }): ReactElement {
  const { member, foldnote } = props;
  const { jobs, members, tools } = foldnote;
  const own = useSyncExternalStore(jobs.subscribe, jobs.state);
  const team = useSyncExternalStore(members.subscribe, members.state);
  useSyncExternalStore(tools.subscribe, tools.state);
  const found = member === null ? jobs.find(props.job) : members.find(props.job, member);
  const last = useRef(found);
  last.current = found ?? last.current; // a list that is folded, or asked for anew, takes no result away
  const job = last.current;
  return (
    <ResultView
      {...props}
      name={props.job}
      owner={member}
      job={job}
      toolName={job ? tools.displayName(toolType(job)) : ''}
      now={member === null ? own.receivedAt : team.receivedAt}
      onPressFile={(event, path) => dragFrom(event, () => draggedFile(props, path))}
    />
  );
}

/** A file of a result as a cell, an editor or a file field takes it; a field takes no file of another member's job. */
function draggedFile({ job, member, foldnote }: ResultOptions, path: string): Dragged {
  const code = jobFileCode(job, path, foldnote.profiles.forCode(), member);
  const value = member === null ? ({ kind: 'jobFile', job, path } as const) : undefined;
  return { label: visibleText(path), code, cell: `import foldnote as fn\n\n${code}`, value };
}
