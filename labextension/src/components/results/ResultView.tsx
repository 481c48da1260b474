/** A job in the main area: its result as in cells, files, log, settings, and provenance. */
import { addBelowIcon, downloadIcon } from '@jupyterlab/ui-components';
import { useCallback, useEffect, useState, type ReactElement } from 'react';

import type { JobRecord, ResultResponse } from '../../api/responses';
import { describeBatch, isBatch, toolType } from '../../models/jobs/batch';
import { readManifestRows, type JsonRow } from '../../models/results/jsonrows';
import { findLabel, shownName } from '../../models/jobs/label';
import { serviceLocation } from '../../models/service/profiles';
import { findScore, formatScore } from '../../models/results/score';
import { isLive, stateLabel } from '../../models/jobs/status';
import { messageOf, visibleText } from '../../models/formatting/text';
import { formatMoment, jobDuration } from '../../models/formatting/time';
import type { Trans } from '../../models/translation';
import { CodeText } from '../controls/CodeText';
import { HtmlPane } from './HtmlPane';
import { JsonTable } from './JsonTable';
import { Glyph, JobIcon } from '../controls/icons';
import { LogPane } from './LogPane';
import { Notice } from '../controls/Notice';
import { ResultFiles, type ResultFileActions } from './ResultFiles';
import { ResultPending, ResultTrouble, type ResultNoticeProps } from './ResultNotices';
import { Tabs, type Tab } from '../controls/Tabs';
import { useTranslation } from '../translation';

/** Props of the view. */
export interface ResultViewProps extends ResultFileActions, ResultNoticeProps {
  /** Distinguishes views on the same page. */
  readonly id: string;
  readonly toolName: string;
  /** Whether the sidebar shows another service. */
  readonly isElsewhere: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Reads the log; null if the reader may not see it. */
  readonly readLog: (() => Promise<string>) | null;
  readonly readSettings: () => Promise<string>;
  readonly onInsert: () => void;
  /** Runs the job again; null if the job is read-only. */
  readonly onRerun: (() => void) | null;
  /** Opens the dialog for links; null if no link can be made. */
  readonly onShare: (() => void) | null;
  /** Downloads a file; null for the whole archive. */
  readonly onDownload: (file: string | null) => void;
}

type View = 'result' | 'files' | 'log' | 'settings' | 'manifest';

/** A result. */
export function ResultView(props: ResultViewProps): ReactElement {
  const { state, name } = props;
  const { job, result } = state;
  const trans = useTranslation();
  const [view, setView] = useState<View>('result');
  const tabs: readonly Tab<View>[] = [
    { key: 'result', label: trans.__('Result') },
    { key: 'files', label: trans.__('Files') },
    ...(props.readLog === null ? [] : [{ key: 'log', label: trans.__('Log') } as const]),
    { key: 'settings', label: trans.__('Settings') },
    { key: 'manifest', label: trans.__('Provenance') }
  ];
  return (
    <div className="fn-Result">
      <Header {...props} />
      <div className="fn-Result-trouble">
        <ResultTrouble {...props} />
      </div>
      {job ? (
        <Tabs id={props.id} label={visibleText(name)} tabs={tabs} chosen={view} onChoose={setView}>
          <div className="fn-Result-body">
            {view === 'log' && props.readLog !== null && (
              <LogPane name={name} isLive={isLive(job)} isBatch={isBatch(job)} read={props.readLog} />
            )}
            {view === 'settings' && <Settings {...props} />}
            {view !== 'log' &&
              view !== 'settings' &&
              (result ? <TabContent view={view} result={result} {...props} /> : <ResultPending {...props} />)}
          </div>
        </Tabs>
      ) : (
        <ResultPending {...props} />
      )}
    </div>
  );
}

/** A value that is being read: both null until then. */
interface Loading<T> {
  readonly value: T | null;
  readonly fault: string | null;
}

/** Shows the value that `read` returns. */
function useLoaded<T>(read: () => Promise<T>): Loading<T> {
  const [loading, setLoading] = useState<Loading<T>>({ value: null, fault: null });
  useEffect(() => {
    let isCancelled = false;
    setLoading({ value: null, fault: null });
    read().then(
      value => !isCancelled && setLoading({ value, fault: null }),
      (error: unknown) => !isCancelled && setLoading({ value: null, fault: messageOf(error) })
    );
    return () => {
      isCancelled = true;
    };
  }, [read]);
  return loading;
}

/** The title of the job, its actions, and facts about it. */
function Header(props: ResultViewProps): ReactElement {
  const { job } = props.state;
  const trans = useTranslation();
  return (
    <div className="fn-Result-head">
      <div className="fn-Result-title">
        {job && <JobIcon job={job} />}
        <h2>
          <bdi>{job ? shownName(job) : visibleText(props.name)}</bdi>
        </h2>
      </div>
      <Actions {...props} />
      <p className="fn-Result-facts">{job && listFacts(job, props, trans).join(' · ')}</p>
      {job?.webhook && <p className="fn-Result-facts">{trans.__('Webhook: %1', visibleText(job.webhook))}</p>}
      {job?.error && (
        <p className="fn-JobRow-error fn-mod-whole">
          <CodeText text={job.error} />
        </p>
      )}
    </div>
  );
}

/** The buttons of the header. */
function Actions(props: ResultViewProps): ReactElement {
  const { job, goneAt } = props.state;
  const trans = useTranslation();
  const exists = job !== undefined && goneAt === null;
  return (
    <div className="fn-Result-actions">
      <button type="button" className="fn-Button" disabled={!exists} onClick={props.onInsert}>
        <Glyph icon={addBelowIcon} /> {trans.__('Insert cell')}
      </button>
      {props.onRerun !== null && (
        <button type="button" className="fn-Button" disabled={!exists} onClick={props.onRerun}>
          {trans.__('Change and run again')}
        </button>
      )}
      <button
        type="button"
        className="fn-Button"
        disabled={!exists || job.status !== 'Complete'}
        onClick={() => props.onDownload(null)}
      >
        <Glyph icon={downloadIcon} /> {trans.__('Download')}
      </button>
      {props.onShare !== null && (
        <button type="button" className="fn-Button" disabled={!exists} onClick={props.onShare}>
          {trans.__('Share …')}
        </button>
      )}
    </div>
  );
}

/** Whose job it is, where it is, its tool, state, duration, score and age, as far as they are known. */
function listFacts(job: JobRecord, props: ResultViewProps, trans: Trans): readonly string[] {
  const score = findScore(job);
  return [
    props.isShared ? trans.__('Shared with you, read-only') : '',
    props.owner ? trans.__('Owner: %1', visibleText(props.owner)) : '',
    props.isElsewhere ? serviceLocation(props.service, trans) : '',
    findLabel(job) === '' ? '' : visibleText(props.name),
    props.toolName,
    stateLabel(job, trans),
    describeBatch(job, trans),
    jobDuration(job, props.now),
    score ? formatScore(score) : '',
    formatMoment(job.created)
  ].filter(Boolean);
}

/** The content of a tab that shows a part of the result. */
function TabContent(props: ResultViewProps & { readonly view: View; readonly result: ResultResponse }): ReactElement {
  const { view, result, toolName } = props;
  const trans = useTranslation();
  const ownType = props.state.job ? toolType(props.state.job) : '';
  const readManifest = useCallback(
    (text: string): readonly JsonRow[] | null => readManifestRows(text, type => (type === ownType ? toolName : type)),
    [ownType, toolName]
  );
  if (view === 'result') {
    return <HtmlPane html={result.html} />;
  }
  if (view === 'manifest') {
    return result.manifest === '' ? (
      <Notice tone="plain" title={trans.__('No manifest')} fillsView>
        {trans.__('The result has no provenance data.')}
      </Notice>
    ) : (
      <JsonTable
        label={trans.__('Provenance')}
        text={result.manifest}
        read={readManifest}
        empty={[trans.__('No manifest'), trans.__('The result has no provenance data.')]}
      />
    );
  }
  return <ResultFiles files={result.files} {...props} />;
}

/** The settings of the job. */
function Settings({ readSettings, state }: ResultViewProps): ReactElement {
  const trans = useTranslation();
  const loaded = useLoaded(readSettings);
  // a batch has no settings itself; its result contains those of its jobs
  const { value, fault } = state.result?.settings ? { value: state.result.settings, fault: null } : loaded;
  if (fault !== null) {
    return (
      <Notice tone="error" title={trans.__('The settings cannot be shown')}>
        {fault}
      </Notice>
    );
  }
  return value === null ? (
    <p className="fn-Tool-method">{trans.__('Loading the settings …')}</p>
  ) : (
    <JsonTable
      label={trans.__('Settings')}
      text={value}
      empty={
        isBatch(state.job)
          ? [trans.__('No settings of its own'), trans.__('The settings of each job are in the result’s table.')]
          : [trans.__('No settings'), trans.__('The job was submitted without settings.')]
      }
    />
  );
}
