/** A job in the main area: its result as cells show it, its files, its log, its settings, what was really run. */
import { useEffect, useState, type ReactElement, type ReactNode } from 'react';

import type { JobRecord, ResultAnswer } from '../api/answers';
import { batchWords } from '../models/batch';
import { findScore, formatScore } from '../models/score';
import { isLive, shownState, stateRow } from '../models/status';
import { sentenceOf, visibleText } from '../models/text';
import { formatMoment, jobDuration } from '../models/time';
import { HtmlPane } from './HtmlPane';
import { DownloadIcon, InsertIcon, StateIcon } from './icons';
import { LogPane } from './LogPane';
import { Notice } from './Notice';
import { ResultFiles, type ResultFileActions } from './ResultFiles';
import { Tabs, type Tab } from './Tabs';
import { useWords } from './words';

/** What the view needs. */
export interface ResultViewProps extends ResultFileActions {
  readonly name: string;
  /** Address of the member of the organization whose job it is; null for one's own. */
  readonly owner?: string | null;
  /** Tells views on the same page apart. */
  readonly id: string;
  /** The record as it is now; undefined while it is not known. */
  readonly job: JobRecord | undefined;
  readonly toolName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly readResult: (name: string) => Promise<ResultAnswer>;
  readonly readLog: (name: string) => Promise<string>;
  readonly readSettings: (name: string) => Promise<string>;
  readonly onInsert: () => void;
  readonly onAgain: () => void;
  /** Null for the whole archive. */
  readonly onDownload: (file: string | null) => void;
}

type View = 'result' | 'files' | 'log' | 'settings' | 'manifest';

/** A result. */
export function ResultView(props: ResultViewProps): ReactElement {
  const { job, name, readResult } = props;
  const trans = useWords();
  const [view, setView] = useState<View>('result');
  const isComplete = job?.status === 'Complete';
  const result = useLoaded(isComplete ? readResult : null, name);
  const tabs: readonly Tab<View>[] = [
    { key: 'result', label: trans.__('Result') },
    { key: 'files', label: trans.__('Files') },
    { key: 'log', label: trans.__('Log') },
    { key: 'settings', label: trans.__('Settings') },
    { key: 'manifest', label: trans.__('What was run') }
  ];
  return (
    <div className="fn-Result">
      <Head {...props} />
      <Tabs
        id={props.id}
        label={visibleText(name)}
        tabs={tabs}
        chosen={view}
        onChoose={setView}
      >
        <div className="fn-Result-body">
          {view === 'log' && (
            <LogPane name={name} isLive={job ? isLive(job) : false} read={props.readLog} />
          )}
          {view === 'settings' && <Settings {...props} />}
          {view !== 'log' && view !== 'settings' && (
            <Loaded job={job} result={result}>
              {result.value && <Part view={view} result={result.value} {...props} />}
            </Loaded>
          )}
        </div>
      </Tabs>
    </div>
  );
}

interface Loading<T> {
  readonly value: T | null;
  readonly fault: string | null;
}

/** What `read` gives for `name`; nothing is asked while `read` is null. */
function useLoaded<T>(read: ((name: string) => Promise<T>) | null, name: string): Loading<T> {
  const [loading, setLoading] = useState<Loading<T>>({ value: null, fault: null });
  useEffect(() => {
    let isOver = false;
    setLoading({ value: null, fault: null });
    read?.(name).then(
      value => !isOver && setLoading({ value, fault: null }),
      (error: unknown) =>
        !isOver && setLoading({ value: null, fault: sentenceOf(error) })
    );
    return () => {
      isOver = true;
    };
  }, [read, name]);
  return loading;
}

function Head(props: ResultViewProps): ReactElement {
  const { job, toolName, now } = props;
  const trans = useWords();
  const state = job ? shownState(job) : null;
  const score = job ? findScore(job) : null;
  const facts = job
    ? [
        props.owner ? trans.__('A job of %1', visibleText(props.owner)) : '',
        toolName,
        trans.__(stateRow(shownState(job)).word),
        batchWords(job, trans),
        jobDuration(job, now),
        score ? formatScore(score) : '',
        formatMoment(job.created)
      ]
    : [];
  return (
    <div className="fn-Result-head">
      <div className="fn-Result-title">
        {state && <StateIcon state={state} />}
        <h2>
          <bdi>{visibleText(props.name)}</bdi>
        </h2>
      </div>
      <div className="fn-Result-actions">
        <button type="button" className="fn-Button" onClick={props.onInsert}>
          <InsertIcon /> {trans.__('Insert cell')}
        </button>
        <button type="button" className="fn-Button" onClick={props.onAgain}>
          {trans.__('Change and run again')}
        </button>
        <button
          type="button"
          className="fn-Button"
          disabled={job?.status !== 'Complete'}
          onClick={() => props.onDownload(null)}
        >
          <DownloadIcon /> {trans.__('Download')}
        </button>
      </div>
      <p className="fn-Result-facts">{facts.filter(Boolean).join(' · ')}</p>
      {job?.error && <p className="fn-JobRow-error fn-mod-whole">{visibleText(job.error)}</p>}
    </div>
  );
}

function Loaded(props: {
  readonly job: JobRecord | undefined;
  readonly result: Loading<ResultAnswer>;
  readonly children: ReactNode;
}): ReactElement {
  const { job, result } = props;
  const trans = useWords();
  if (result.fault !== null) {
    return (
      <Notice tone="error" title={trans.__('The result cannot be shown')}>
        {result.fault}
      </Notice>
    );
  }
  if (result.value) {
    return <>{props.children}</>;
  }
  if (job?.status === 'Complete' || !job) {
    return <Notice tone="busy" title={trans.__('Fetching the result')} isWhole />;
  }
  return isLive(job) ? (
    <Notice tone="busy" title={trans.__('Not finished yet')} isWhole>
      {visibleText(job.message ?? '') || trans.__('The result appears here when the job is complete.')}
    </Notice>
  ) : (
    <Notice tone="plain" title={trans.__('No result')} isWhole>
      {trans.__('The job ended without one. Its log may tell more.')}
    </Notice>
  );
}

function Part(props: ResultViewProps & { readonly view: View; readonly result: ResultAnswer }): ReactElement {
  const { view, result } = props;
  const trans = useWords();
  if (view === 'result') {
    return <HtmlPane html={result.html} />;
  }
  if (view === 'manifest') {
    return result.manifest === '' ? (
      <Notice tone="plain" title={trans.__('No manifest')} isWhole>
        {trans.__('The result does not say what was run.')}
      </Notice>
    ) : (
      <pre className="fn-Log fn-mod-whole" tabIndex={0} aria-label={trans.__('Manifest')}>
        {result.manifest}
      </pre>
    );
  }
  return <ResultFiles files={result.files} {...props} />;
}

function Settings({ name, readSettings }: ResultViewProps): ReactElement {
  const trans = useWords();
  const { value, fault } = useLoaded(readSettings, name);
  if (fault !== null) {
    return (
      <Notice tone="error" title={trans.__('The settings cannot be shown')}>
        {fault}
      </Notice>
    );
  }
  return (
    <pre className="fn-Log fn-mod-whole" tabIndex={0} aria-label={trans.__('Settings')}>
      {value ?? trans.__('Asking for the settings …')}
    </pre>
  );
}
