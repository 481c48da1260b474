/** The list of jobs with its filters, and every state it can be in. */
import {
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type ReactElement
} from 'react';

import type { JobRecord } from '../api/answers';
import type { JobsState } from '../models/jobs';
import { countStates, shownState, type ShownState } from '../models/status';
import { CloseIcon } from './icons';
import { IconButton } from './IconButton';
import { JobRow, type JobActions } from './JobRow';
import { Notice } from './Notice';
import { SearchBox } from './SearchBox';
import { ServiceNotice } from './ServiceNotice';
import { StatusFilters } from './StatusFilters';

/** What the view needs. */
export interface JobsViewProps extends JobActions {
  readonly state: JobsState;
  /** What people call a tool. */
  readonly toolName: (type: string) => string;
  readonly onRetry: () => void;
  readonly onShowTools: () => void;
  readonly onDismissComplaint: () => void;
}

/** The jobs of the account. */
export function JobsView(props: JobsViewProps): ReactElement {
  const { state, toolName } = props;
  const { jobs, service, lost } = state;
  const [chosen, setChosen] = useState<ShownState | null>(null);
  const [query, setQuery] = useState('');
  const counts = useMemo(() => countStates(jobs), [jobs]);
  const shown = useMemo(
    () => jobs.filter(job => matches(job, chosen, query, toolName)),
    [jobs, chosen, query, toolName]
  );
  const hasJobs = jobs.length > 0;
  return (
    <div className="fn-View">
      <ServiceNotice
        service={service}
        lost={lost}
        now={Date.now()}
        isWhole={!hasJobs}
        onRetry={props.onRetry}
      />
      {state.complaint !== null && (
        <div className="fn-Complaint" role="alert">
          <span>{state.complaint}</span>
          <IconButton label="Dismiss" onClick={props.onDismissComplaint}>
            <CloseIcon />
          </IconButton>
        </div>
      )}
      {service === null && lost === null && <Loading />}
      {service?.state === 'ok' && lost === null && !hasJobs && (
        <Notice
          tone="plain"
          title="No jobs yet"
          isWhole
          action={{ label: 'Choose a tool', onClick: props.onShowTools }}
        >
          Choose a tool, fill in its form and submit it. The job appears here and in its cell.
        </Notice>
      )}
      {hasJobs && (
        <>
          <div className="fn-Toolbar">
            <StatusFilters counts={counts} chosen={chosen} onChoose={setChosen} />
            <SearchBox label="Search jobs" value={query} onChange={setQuery} />
          </div>
          <JobList {...props} shown={shown} />
          {shown.length === 0 && (
            <Notice
              tone="plain"
              title="No job matches"
              isWhole
              action={{
                label: 'Show all jobs',
                onClick: () => {
                  setChosen(null);
                  setQuery('');
                }
              }}
            >
              {jobs.length} jobs are hidden by the filter.
            </Notice>
          )}
          <Remainder state={state} />
        </>
      )}
    </div>
  );
}

function JobList(props: JobsViewProps & { readonly shown: readonly JobRecord[] }): ReactElement {
  const { shown, state, toolName } = props;
  const [current, setCurrent] = useState<string | null>(null);
  const [openLog, setOpenLog] = useState<string | null>(null);
  const rows = useRef(new Map<string, HTMLDivElement>());
  const toggleLog = useCallback((name: string) => {
    setOpenLog(open => (open === name ? null : name));
  }, []);
  const keepFocus = useFocusKeeper(shown, rows.current);
  const currentName = shown.some(job => job.jobName === current) ? current : shown[0]?.jobName;

  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const name = shown[index]?.jobName ?? '';
    const isInside = event.target !== event.currentTarget;
    const target = shown[nextIndex(event.key, index, shown.length)];
    if (isInside && event.key === 'Escape') {
      rows.current.get(name)?.focus();
    } else if (isInside) {
      return;
    } else if (target) {
      rows.current.get(target.jobName)?.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      toggleLog(name);
    } else if (event.key === 'Escape' && openLog === name) {
      setOpenLog(null);
    } else if (event.key === 'Delete' && !state.pending.has(name)) {
      props.onDelete(name);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      className="fn-JobList"
      role="grid"
      aria-label="Jobs"
      aria-rowcount={shown.length}
      {...keepFocus}
    >
      {shown.map((job, index) => (
        <JobRow
          key={job.jobName}
          job={job}
          index={index}
          toolName={toolName(toolType(job))}
          now={state.receivedAt}
          isCurrent={job.jobName === currentName}
          isLogOpen={job.jobName === openLog}
          isPending={state.pending.has(job.jobName)}
          actions={props}
          rowRef={element => {
            if (element) {
              rows.current.set(job.jobName, element);
            } else {
              rows.current.delete(job.jobName);
            }
          }}
          onCurrent={setCurrent}
          onToggleLog={toggleLog}
          onKeyDown={event => onKeyDown(event, index)}
        />
      ))}
    </div>
  );
}

/** Gives the focus of a row that is gone to the one that took its place; returns the list's handlers. */
function useFocusKeeper(
  shown: readonly JobRecord[],
  rows: ReadonlyMap<string, HTMLDivElement>
): { onFocus: (event: FocusEvent) => void; onBlur: (event: FocusEvent) => void } {
  const focused = useRef<{ name: string; index: number } | null>(null);
  useLayoutEffect(() => {
    const last = focused.current;
    const isGone = last !== null && !shown.some(job => job.jobName === last.name);
    if (isGone && document.activeElement === document.body) {
      const heir = shown[Math.min(last.index, shown.length - 1)];
      rows.get(heir?.jobName ?? '')?.focus();
    }
  }, [shown, rows]);
  return {
    onFocus: event => {
      const index = shown.findIndex(job => rows.get(job.jobName)?.contains(event.target));
      const name = shown[index]?.jobName;
      focused.current = name === undefined ? null : { name, index };
    },
    onBlur: event => {
      if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget)) {
        focused.current = null;
      }
    }
  };
}

/** Where a key leads in a list of `length` rows; -1 when it leads nowhere. */
function nextIndex(key: string, index: number, length: number): number {
  switch (key) {
    case 'ArrowDown':
      return Math.min(index + 1, length - 1);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
    default:
      return -1;
  }
}

function toolType(job: JobRecord): string {
  return job.tool ?? job.type;
}

function matches(
  job: JobRecord,
  chosen: ShownState | null,
  query: string,
  toolName: (type: string) => string
): boolean {
  if (chosen !== null && shownState(job) !== chosen) {
    return false;
  }
  const text = `${job.jobName} ${toolType(job)} ${toolName(toolType(job))}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}

function Remainder({ state }: { readonly state: JobsState }): ReactElement | null {
  const total = Object.values(state.statuses ?? {}).reduce((sum, count) => sum + count, 0);
  return total > state.jobs.length ? (
    <p className="fn-Remainder">
      The newest {state.jobs.length} of {total} jobs.
    </p>
  ) : null;
}

function Loading(): ReactElement {
  return (
    <div className="fn-Loading" role="status" aria-label="Asking for jobs">
      {[72, 54, 63].map(width => (
        <div className="fn-Loading-row" key={width}>
          <span style={{ width: `${width}%` }} />
          <span style={{ width: `${width - 25}%` }} />
        </div>
      ))}
    </div>
  );
}
