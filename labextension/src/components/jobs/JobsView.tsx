/** The jobs with their filters, and all states of the view. */
import { closeIcon, deleteIcon, downloadIcon, stopIcon } from '@jupyterlab/ui-components';
import { useCallback, useMemo, useState, type MouseEvent, type ReactElement } from 'react';

import { compareIcon, tagIcon } from '../../icons';
import { canCompare, MOST_COMPARED } from '../../models/results/comparing';
import type { JobsState } from '../../models/jobs/jobs';
import type { Choices } from '../../models/jobs/choices';
import { listRows } from '../../models/jobs/listing';
import type { Selection, SelectionState } from '../../models/jobs/selection';
import { isLive } from '../../models/jobs/status';
import { formatCount } from '../../models/formatting/text';
import { DetailsMenu } from './DetailsMenu';
import { IconButton } from '../controls/IconButton';
import { JobList } from './JobList';
import type { JobActions } from './JobRow';
import { ListOptions } from './ListOptions';
import { Notice } from '../controls/Notice';
import { SearchBox } from '../controls/SearchBox';
import { ServiceNotice } from '../service/ServiceNotice';
import { StatusFilters } from './StatusFilters';
import { WhoseSelect } from './WhoseSelect';
import { useTranslation } from '../translation';

/** Actions on several jobs at once. */
export interface ManyActions {
  readonly onStopMany: (names: readonly string[]) => void;
  /** Asks for confirmation first. */
  readonly onDelete: (names: readonly string[]) => void;
  readonly onDownload: (names: readonly string[]) => void;
  readonly onCompare: (names: readonly string[]) => void;
  readonly onTag: (names: readonly string[]) => void;
  /** Starts dragging jobs; `onClick` is called if nothing was dragged. */
  readonly onDrag: (names: readonly string[], event: MouseEvent, onClick: () => void) => void;
}

/** Props of the view. */
export interface JobsViewProps extends JobActions, ManyActions {
  readonly state: JobsState;
  readonly choices: Choices;
  readonly selection: Selection;
  readonly selected: SelectionState;
  /** Display name of a tool. */
  readonly toolName: (type: string) => string;
  readonly onChoose: (change: Partial<Choices>) => void;
  readonly onToggleBatch: (batch: string) => void;
  readonly onLoadOlder: () => void;
  readonly onRetry: () => void;
  readonly onConnect: () => void;
  readonly onShowTools: () => void;
  readonly onDismissError: () => void;
}

/** The jobs of the account. */
export function JobsView(props: JobsViewProps): ReactElement {
  const { state } = props;
  const trans = useTranslation();
  const { service, connectionError } = state;
  const hasJobs = state.jobs.length > 0;
  return (
    <div className="fn-View fn-mod-fixed">
      <ServiceNotice
        service={service}
        connectionError={connectionError}
        now={Date.now()}
        fillsView={!hasJobs}
        onRetry={props.onRetry}
        onConnect={props.onConnect}
      />
      {state.requestError !== null && (
        <div className="fn-Complaint" role="alert">
          <span>{state.requestError}</span>
          <IconButton icon={closeIcon} label={trans.__('Dismiss')} onClick={props.onDismissError} />
        </div>
      )}
      {service === null && connectionError === null && <Loading />}
      {service?.state === 'ok' && connectionError === null && !hasJobs && (
        <Notice
          tone="plain"
          title={trans.__('No jobs yet')}
          fillsView
          action={{ label: trans.__('Choose a tool'), onClick: props.onShowTools }}
        >
          {trans.__('Choose a tool, fill in its form and submit it. The job appears here and in its cell.')}
        </Notice>
      )}
      {hasJobs && (
        <>
          <Filters {...props} />
          <ManyBar {...props} />
          <Rows {...props} />
        </>
      )}
    </div>
  );
}

/** The toolbar: filters by status, search, and options of the list. */
function Filters({ state, choices, onChoose }: JobsViewProps): ReactElement {
  const trans = useTranslation();
  return (
    <div className="fn-Toolbar">
      <StatusFilters
        jobs={state.jobs}
        hasMore={state.hasOlder}
        chosen={choices.state}
        onChoose={chosen => onChoose({ state: chosen })}
      />
      <div className="fn-Toolbar-row">
        <SearchBox label={trans.__('Search jobs')} value={choices.query} onChange={query => onChoose({ query })} />
        <DetailsMenu details={choices.details} onChoose={onChoose} />
        {state.service?.isEmbedded === false && (
          <WhoseSelect chosen={choices.whose} onChoose={whose => onChoose({ whose })} />
        )}
        <ListOptions choices={choices} onChoose={onChoose} />
      </div>
    </div>
  );
}

/** The list of the jobs that match the filters; a notice if there are none. */
function Rows(props: JobsViewProps): ReactElement {
  const { state, choices, toolName, onChoose, onLoadOlder } = props;
  const trans = useTranslation();
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const { jobs, open, receivedAt } = state;
  const needsNow = choices.sort === 'duration' || choices.sort === 'queue' || choices.grouping === 'day';
  const now = needsNow ? receivedAt : 0;
  const rows = useMemo(
    () => listRows({ jobs, open, collapsed }, choices, { toolName, now, trans }),
    [jobs, open, collapsed, choices, toolName, now, trans]
  );
  const onNearEnd = useCallback(() => {
    if (state.hasOlder && !state.isLoadingOlder) {
      onLoadOlder();
    }
  }, [state.hasOlder, state.isLoadingOlder, onLoadOlder]);
  if (rows.length === 0) {
    const action = {
      label: trans.__('Show all jobs'),
      onClick: () => onChoose({ state: null, query: '' })
    };
    return (
      <Notice tone="plain" title={trans.__('No matching jobs')} fillsView action={action}>
        {trans._n(
          '%2 job is hidden by the filter.',
          '%2 jobs are hidden by the filter.',
          jobs.length,
          formatCount(jobs.length)
        )}
        {state.hasOlder && (
          <button type="button" className="fn-Link" disabled={state.isLoadingOlder} onClick={onLoadOlder}>
            {trans.__('Search older jobs')}
          </button>
        )}
      </Notice>
    );
  }
  return (
    <JobList
      {...props}
      details={choices.details}
      rows={rows}
      collapsed={collapsed}
      onToggleGroup={group =>
        setCollapsed(before => {
          const after = new Set(before);
          if (!after.delete(group)) {
            after.add(group);
          }
          return after;
        })
      }
      onNearEnd={onNearEnd}
      footer={<Footer state={state} choices={choices} />}
    />
  );
}

/** The line after the last row while older jobs are loaded. */
function Footer(props: { readonly state: JobsState; readonly choices: Choices }): ReactElement | null {
  const trans = useTranslation();
  const { state, choices } = props;
  if (!state.hasOlder) {
    return null;
  }
  const isReordered = choices.sort !== 'newest' || choices.grouping !== 'none';
  const count = state.jobs.length;
  const summary = trans._n(
    'Only the newest job is loaded.',
    'The newest %2 jobs are loaded.',
    count,
    formatCount(count)
  );
  return (
    <p className="fn-Remainder" aria-hidden="true">
      {isReordered ? `${summary} ` : ''}
      {trans.__('Loading older jobs …')}
    </p>
  );
}

/** Actions on the selected jobs, shown if there are two or more. */
function ManyBar(props: JobsViewProps): ReactElement | null {
  const { selected, selection, state } = props;
  const trans = useTranslation();
  const names = [...selected.names];
  if (names.length < 2) {
    return null;
  }
  const selectedJobs = state.jobs.filter(job => selected.names.has(job.jobName));
  const isComparable = canCompare(selectedJobs);
  const canStop = selectedJobs.some(isLive);
  const canDownload = selectedJobs.some(job => job.status === 'Complete');
  return (
    <div className="fn-ManyBar" role="toolbar" aria-label={trans.__('Selected jobs')}>
      <span role="status">{trans.__('%1 selected', formatCount(names.length))}</span>
      <IconButton
        icon={downloadIcon}
        label={trans.__('Download the results of the selected jobs')}
        isDisabled={!canDownload}
        onClick={() => props.onDownload(names)}
      />
      <IconButton
        icon={compareIcon}
        label={
          isComparable
            ? trans.__('Compare the selected jobs')
            : trans.__('Compare the selected jobs (2 to %1 jobs, no batches)', MOST_COMPARED)
        }
        isDisabled={!isComparable}
        onClick={() => props.onCompare(names)}
      />
      <IconButton icon={tagIcon} label={trans.__('Tag the selected jobs')} onClick={() => props.onTag(names)} />
      <IconButton
        icon={stopIcon}
        label={trans.__('Stop the selected jobs')}
        isDisabled={!canStop}
        onClick={() => props.onStopMany(names)}
      />
      <IconButton
        icon={deleteIcon}
        label={trans.__('Delete the selected jobs')}
        onClick={() => props.onDelete(names)}
      />
      <IconButton icon={closeIcon} label={trans.__('Clear the selection')} onClick={() => selection.clear()} />
    </div>
  );
}

/** Placeholders of rows before the first response. */
function Loading(): ReactElement {
  const trans = useTranslation();
  return (
    <div className="fn-Loading" role="status" aria-label={trans.__('Loading jobs')}>
      {[72, 54, 63].map(width => (
        <div className="fn-Loading-row" key={width}>
          <span style={{ width: `${width}%` }} />
          <span style={{ width: `${width - 25}%` }} />
        </div>
      ))}
    </div>
  );
}
