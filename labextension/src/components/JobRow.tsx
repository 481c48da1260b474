/** One job in the list: what it is, how it stands, why it failed, and what can be done with it. */
import { memo, type MouseEvent, type ReactElement } from 'react';

import type { JobRecord } from '../api/answers';
import { batchShare, batchWords, isBatch } from '../models/batch';
import { findScore, formatScore } from '../models/score';
import { isLive, shownState, stateRow } from '../models/status';
import { visibleText } from '../models/text';
import { formatMoment, jobAge, jobDuration } from '../models/time';
import { IconButton } from './IconButton';
import { FoldIcon, InsertIcon, LogIcon, MoreIcon, OpenIcon, StateIcon, StopIcon } from './icons';
import { LogPane } from './LogPane';
import { useWords } from './words';

/** What can be done with jobs. */
export interface JobActions {
  readonly onOpen: (name: string) => void;
  readonly onStop: (name: string) => void;
  readonly onInsert: (name: string) => void;
  /** Undoes deletions that have not begun. */
  readonly onKeep: (names: readonly string[]) => void;
  readonly readLog: (name: string) => Promise<string>;
}

/** What a row needs. */
export interface JobRowProps {
  readonly job: JobRecord;
  readonly id: string;
  readonly rowKey: string;
  readonly level: 1 | 2;
  /** What people call the tool. */
  readonly toolName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly isLogOpen: boolean;
  /** Whether the batch is unfolded; null for a job that is none. */
  readonly isUnfolded: boolean | null;
  readonly isPending: boolean;
  readonly index: number;
  readonly actions: JobActions;
  readonly onPress: (rowKey: string, event: MouseEvent) => void;
  readonly onToggleLog: (rowKey: string) => void;
  readonly onUnfold: (name: string) => void;
}

/** A row of the jobs list. */
export const JobRow = memo(function JobRow(props: JobRowProps): ReactElement {
  const trans = useWords();
  const { job, toolName, isCurrent, isSelected, isLogOpen, isUnfolded } = props;
  const state = shownState(job);
  const word = trans.__(stateRow(state).word);
  const name = visibleText(job.jobName);
  const marks = [
    isCurrent && 'fn-mod-current',
    isSelected && 'fn-mod-selected',
    job.isLeaving && 'fn-mod-leaving'
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <div
      className={`fn-JobRow fn-mod-${state} fn-mod-level${props.level} ${marks}`}
      role="row"
      id={props.id}
      data-key={props.rowKey}
      data-job={job.jobName}
      aria-rowindex={props.index + 1}
      aria-level={props.level}
      aria-selected={isSelected}
      aria-expanded={isUnfolded ?? undefined}
      aria-label={[name, toolName, word, batchWords(job, trans), ...(job.tags ?? [])].filter(Boolean).join(', ')}
      onMouseDown={event => props.onPress(props.rowKey, event)}
      onDoubleClick={() => props.actions.onOpen(job.jobName)}
    >
      <div className="fn-JobRow-icon" role="gridcell">
        <StateIcon state={state} />
      </div>
      <div className="fn-JobRow-name" role="gridcell" title={name}>
        {isUnfolded !== null && (
          <FoldButton name={name} isUnfolded={isUnfolded} onUnfold={() => props.onUnfold(job.jobName)} />
        )}
        <bdi>{name}</bdi>
      </div>
      <JobFacts {...props} />
      <RowActions {...props} />
      {hasDetail(job) && <Detail job={job} isWhole={isLogOpen} onKeep={props.actions.onKeep} />}
      {isLogOpen && (
        <div className="fn-JobRow-log" role="gridcell">
          <LogPane name={job.jobName} isLive={isLive(job)} read={props.actions.readLog} />
        </div>
      )}
    </div>
  );
});

/** Unfolds a batch, or folds it. */
export function FoldButton(props: {
  /** As it is shown. */
  readonly name: string;
  readonly isUnfolded: boolean;
  readonly onUnfold: () => void;
}): ReactElement {
  const trans = useWords();
  const { name, isUnfolded } = props;
  return (
    <IconButton
      label={isUnfolded ? trans.__('Fold %1', name) : trans.__('Show the jobs of %1', name)}
      tabIndex={-1}
      onClick={props.onUnfold}
    >
      <FoldIcon isOpen={isUnfolded} />
    </IconButton>
  );
}

/** A guess of the row's height in pixels, before it was seen. */
export function guessHeight(job: JobRecord): number {
  return hasDetail(job) ? 72 : 47;
}

function hasDetail(job: JobRecord): boolean {
  return shownState(job) === 'running' || job.error !== null || isBatch(job) || hasNotes(job);
}

function hasNotes(job: JobRecord): boolean {
  return Boolean(job.projectTag) || Boolean(job.tags?.length) || job.isLeaving === true;
}

/** State, tool, score and times of a job in one line. */
export function JobFacts(props: Pick<JobRowProps, 'job' | 'toolName' | 'now'>): ReactElement {
  const trans = useWords();
  const { job, toolName, now } = props;
  const word = trans.__(stateRow(shownState(job)).word);
  const duration = jobDuration(job, now);
  const score = findScore(job);
  return (
    <div className="fn-JobRow-facts" role="gridcell">
      <span className="fn-JobRow-word">{word}</span>
            <span className="fn-JobRow-tool" title={toolName}>
        {toolName}
      </span>
      {score !== null && (
        <span className="fn-JobRow-score" title={`${visibleText(score.name)}: ${score.value}`}>
          {formatScore(score)}
        </span>
      )}
      {duration !== '' && (
        <span className="fn-JobRow-duration" title={trans.__('Started %1', formatMoment(job.started))}>
          {duration}
        </span>
      )}
      <time className="fn-JobRow-age" title={trans.__('Submitted %1', formatMoment(job.created))}>
        {jobAge(job, now, trans)}
      </time>
    </div>
  );
}

function RowActions(props: JobRowProps): ReactElement {
  const trans = useWords();
  const { job, actions, isCurrent, isLogOpen, isPending } = props;
  const tabIndex = isCurrent ? 0 : -1;
  const name = visibleText(job.jobName);
  return (
    <div className="fn-JobRow-actions" role="gridcell">
      {job.status === 'Complete' && (
        <IconButton
          label={trans.__('Open the result of %1', name)}
          tabIndex={tabIndex}
          onClick={() => actions.onOpen(job.jobName)}
        >
          <OpenIcon />
        </IconButton>
      )}
      {isLive(job) && (
        <IconButton
          label={trans.__('Stop %1', name)}
          isDisabled={isPending}
          tabIndex={tabIndex}
          onClick={() => actions.onStop(job.jobName)}
        >
          <StopIcon />
        </IconButton>
      )}
      {!isBatch(job) && (
        <IconButton
          label={isLogOpen ? trans.__('Hide the log of %1', name) : trans.__('Show the log of %1', name)}
          isPressed={isLogOpen}
          tabIndex={tabIndex}
          onClick={() => props.onToggleLog(props.rowKey)}
        >
          <LogIcon />
        </IconButton>
      )}
      <IconButton
        label={trans.__('Insert a cell that loads %1', name)}
        tabIndex={tabIndex}
        onClick={() => actions.onInsert(job.jobName)}
      >
        <InsertIcon />
      </IconButton>
      <IconButton label={trans.__('More for %1', name)} tabIndex={tabIndex} onPress={openMenu}>
        <MoreIcon />
      </IconButton>
    </div>
  );
}

/** Opens JupyterLab's context menu at the button, as a right click on the row does. */
export function openMenu(button: HTMLElement): void {
  const { left, bottom } = button.getBoundingClientRect();
  const at = { bubbles: true, cancelable: true, clientX: left, clientY: bottom };
  button.closest('[data-job]')?.dispatchEvent(new window.MouseEvent('contextmenu', at));
}

/** Opens the context menu of the row that the keyboard is at, when a key asked the list for one. */
export function openMenuOfCurrent(event: MouseEvent<HTMLElement>): void {
  if (event.target === event.currentTarget) {
    event.preventDefault();
    event.stopPropagation();
    const row = event.currentTarget.querySelector<HTMLElement>(':scope > .fn-mod-current');
    if (row) {
      openMenu(row);
    }
  }
}

function Detail(props: {
  readonly job: JobRecord;
  readonly isWhole: boolean;
  readonly onKeep: (names: readonly string[]) => void;
}): ReactElement {
  const { job, isWhole } = props;
  if (job.isLeaving) {
    return (
      <div className="fn-JobRow-detail" role="gridcell">
        <Leaving job={job} onKeep={props.onKeep} />
      </div>
    );
  }
  return (
    <div className="fn-JobRow-detail" role="gridcell">
      <JobNotes job={job} />
      {shownState(job) === 'running' ? <Progress job={job} /> : <InBatch job={job} />}
      {job.error !== null && (
        <p
          className={`fn-JobRow-error${isWhole ? ' fn-mod-whole' : ''}`}
          dir="auto"
          title={visibleText(job.error)}
        >
          {visibleText(job.error)}
        </p>
      )}
    </div>
  );
}

/** Says that the job will be deleted, and takes that back. */
function Leaving(props: {
  readonly job: JobRecord;
  readonly onKeep: (names: readonly string[]) => void;
}): ReactElement {
  const trans = useWords();
  return (
    <p className="fn-JobRow-message">
      {trans.__('Will be deleted in a moment.')}{' '}
      <button type="button" className="fn-Link" onClick={() => props.onKeep([props.job.jobName])}>
        {trans.__('Undo')}
      </button>
    </p>
  );
}

/** The job's project and its tags. */
function JobNotes({ job }: { readonly job: JobRecord }): ReactElement | null {
  const trans = useWords();
  const { projectTag, tags = [] } = job;
  return projectTag || tags.length > 0 ? (
    <p className="fn-Tags">
      {projectTag && (
        <bdi className="fn-Tag fn-mod-project" title={trans.__('Project %1', visibleText(projectTag))}>
          {visibleText(projectTag)}
        </bdi>
      )}
      {tags.map(tag => (
        <bdi className="fn-Tag" key={tag} title={trans.__('Tag %1, kept on this computer', visibleText(tag))}>
          {visibleText(tag)}
        </bdi>
      ))}
    </p>
  ) : null;
}

/** The jobs of a batch that does not run, in words. */
function InBatch({ job }: { readonly job: JobRecord }): ReactElement | null {
  const words = batchWords(job, useWords());
  return words === '' ? null : <p className="fn-JobRow-message">{words}</p>;
}

/** How far a job that runs is, and what it does. */
export function Progress({ job }: { readonly job: JobRecord }): ReactElement {
  const trans = useWords();
  const share = job.progress ?? batchShare(job);
  const percent = share === null ? null : Math.round(Math.min(1, Math.max(0, share)) * 100);
  const message = batchWords(job, trans) || visibleText(job.message ?? '');
  return (
    <>
      <div
        className={`fn-Bar${percent === null ? ' fn-mod-endless' : ''}`}
        role="progressbar"
        aria-label={trans.__('Progress of %1', visibleText(job.jobName))}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent ?? undefined}
      >
        <div className="fn-Bar-done" style={{ width: `${percent ?? 0}%` }} />
      </div>
      {(message !== '' || percent !== null) && (
        <p className="fn-JobRow-message" dir="auto" title={message}>
          {[percent === null ? '' : `${percent} %`, message].filter(Boolean).join(' · ')}
        </p>
      )}
    </>
  );
}
