/** One job in the list: what it is, how it stands, why it failed, and what can be done with it. */
import { memo, type KeyboardEvent, type ReactElement, type Ref } from 'react';

import type { JobRecord } from '../api/answers';
import { isLive, shownState, stateRow } from '../models/status';
import { visibleText } from '../models/text';
import { formatMoment, jobAge, jobDuration } from '../models/time';
import { IconButton } from './IconButton';
import { DeleteIcon, InsertIcon, LogIcon, StateIcon, StopIcon } from './icons';
import { LogPane } from './LogPane';

/** What can be done with a job. */
export interface JobActions {
  readonly onStop: (name: string) => void;
  readonly onInsert: (name: string) => void;
  /** Asks the person first. */
  readonly onDelete: (name: string) => void;
  readonly readLog: (name: string) => Promise<string>;
}

/** What a row needs. */
export interface JobRowProps {
  readonly job: JobRecord;
  /** What people call the tool. */
  readonly toolName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isLogOpen: boolean;
  readonly isPending: boolean;
  readonly index: number;
  readonly actions: JobActions;
  readonly rowRef: Ref<HTMLDivElement>;
  readonly onCurrent: (name: string) => void;
  readonly onToggleLog: (name: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** A row of the jobs list. */
export const JobRow = memo(function JobRow(props: JobRowProps): ReactElement {
  const { job, toolName, now, isCurrent, isLogOpen } = props;
  const state = shownState(job);
  const { word } = stateRow(state);
  const duration = jobDuration(job, now);
  const name = visibleText(job.jobName);
  return (
    <div
      className={`fn-JobRow fn-mod-${state}`}
      role="row"
      ref={props.rowRef}
      tabIndex={isCurrent ? 0 : -1}
      aria-rowindex={props.index + 1}
      aria-selected={isCurrent}
      aria-label={`${name}, ${toolName}, ${word}`}
      aria-keyshortcuts="Enter Delete"
      onFocus={() => props.onCurrent(job.jobName)}
      onKeyDown={props.onKeyDown}
    >
      <div className="fn-JobRow-icon" role="gridcell">
        <StateIcon state={state} />
      </div>
      <div className="fn-JobRow-name" role="gridcell" title={name}>
        <bdi>{name}</bdi>
      </div>
      <div className="fn-JobRow-facts" role="gridcell">
        <span className="fn-JobRow-word">{word}</span>
        <span className="fn-JobRow-tool" title={toolName}>
          {toolName}
        </span>
        {duration !== '' && (
          <span className="fn-JobRow-duration" title={`Started ${formatMoment(job.started)}`}>
            {duration}
          </span>
        )}
        {state !== 'running' && (
          <time className="fn-JobRow-age" title={`Submitted ${formatMoment(job.created)}`}>
            {jobAge(job, now)}
          </time>
        )}
      </div>
      <RowActions {...props} />
      {(state === 'running' || job.error !== null) && (
        <div className="fn-JobRow-detail" role="gridcell">
          {state === 'running' && <Progress job={job} />}
          {job.error !== null && (
            <p className="fn-JobRow-error" dir="auto">
              {visibleText(job.error)}
            </p>
          )}
        </div>
      )}
      {isLogOpen && (
        <div className="fn-JobRow-log" role="gridcell">
          <LogPane name={job.jobName} isLive={isLive(job)} read={props.actions.readLog} />
        </div>
      )}
    </div>
  );
});

function RowActions(props: JobRowProps): ReactElement {
  const { job, actions, isCurrent, isLogOpen, isPending } = props;
  const tabIndex = isCurrent ? 0 : -1;
  const name = visibleText(job.jobName);
  return (
    <div className="fn-JobRow-actions" role="gridcell">
      {isLive(job) && (
        <IconButton
          label={`Stop ${name}`}
          isDisabled={isPending}
          tabIndex={tabIndex}
          onClick={() => actions.onStop(job.jobName)}
        >
          <StopIcon />
        </IconButton>
      )}
      <IconButton
        label={isLogOpen ? `Hide the log of ${name}` : `Show the log of ${name}`}
        isPressed={isLogOpen}
        tabIndex={tabIndex}
        onClick={() => props.onToggleLog(job.jobName)}
      >
        <LogIcon />
      </IconButton>
      <IconButton
        label={`Insert a cell that loads ${name}`}
        tabIndex={tabIndex}
        onClick={() => actions.onInsert(job.jobName)}
      >
        <InsertIcon />
      </IconButton>
      <IconButton
        label={`Delete ${name}`}
        isDisabled={isPending}
        tabIndex={tabIndex}
        onClick={() => actions.onDelete(job.jobName)}
      >
        <DeleteIcon />
      </IconButton>
    </div>
  );
}

function Progress({ job }: { readonly job: JobRecord }): ReactElement {
  const { progress, message } = job;
  const percent = progress === null ? null : Math.round(Math.min(1, Math.max(0, progress)) * 100);
  return (
    <>
      <div
        className={`fn-Bar${percent === null ? ' fn-mod-endless' : ''}`}
        role="progressbar"
        aria-label={`Progress of ${visibleText(job.jobName)}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent ?? undefined}
      >
        <div className="fn-Bar-done" style={{ width: `${percent ?? 0}%` }} />
      </div>
      {(message !== null || percent !== null) && (
        <p className="fn-JobRow-message" dir="auto">
          {[percent === null ? '' : `${percent} %`, visibleText(message ?? '')].filter(Boolean).join(' · ')}
        </p>
      )}
    </>
  );
}
