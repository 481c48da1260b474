/** One job in the list: name, state, details, reason of a failure, and actions. */
import {
  addBelowIcon,
  caretDownIcon,
  caretRightIcon,
  dotsIcon,
  launchIcon,
  stopIcon,
  textEditorIcon
} from '@jupyterlab/ui-components';
import { memo, type CSSProperties, type MouseEvent, type ReactElement, type ReactNode } from 'react';

import type { JobRecord } from '../../api/responses';
import { batchFraction, describeBatch, isBatch } from '../../models/jobs/batch';
import { FACTS, chooseHiddenFacts, type Detail, type Fact } from '../../models/jobs/details';
import { notebookName } from '../../models/jobs/listing';
import { findLabel, shownName } from '../../models/jobs/label';
import { findScore, formatScore } from '../../models/results/score';
import { formatSize } from '../../models/formatting/size';
import { isLive, isMixed, shownState, stateLabel } from '../../models/jobs/status';
import { plainSentence, visibleText } from '../../models/formatting/text';
import {
  formatClock,
  formatDuration,
  formatMoment,
  jobAge,
  jobDuration,
  queueSeconds
} from '../../models/formatting/time';
import type { Trans } from '../../models/translation';
import { CodeText } from '../controls/CodeText';
import { IconButton } from '../controls/IconButton';
import { JobIcon } from '../controls/icons';
import { lazyComponent } from '../controls/lazyComponent';
import { MiddleText } from '../controls/MiddleText';
import { percentOf, ProgressBar } from '../controls/ProgressBar';
import { useTranslation } from '../translation';

const LogPane = lazyComponent(async () => (await import('../results/LogPane')).LogPane);

/** Actions on jobs. */
export interface JobActions {
  readonly onOpen: (name: string) => void;
  readonly onStop: (name: string) => void;
  readonly onInsert: (name: string) => void;
  /** Undoes pending deletions. */
  readonly onUndoDelete: (names: readonly string[]) => void;
  readonly readLog: (name: string) => Promise<string>;
}

/** Props of a row. */
export interface JobRowProps {
  readonly job: JobRecord;
  /** Details that the row shows. */
  readonly details: readonly Detail[];
  readonly id: string;
  readonly rowKey: string;
  readonly level: 1 | 2;
  /** Display name of the tool. */
  readonly toolName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly isLogOpen: boolean;
  /** Whether the batch is expanded; null for other jobs. */
  readonly isExpanded: boolean | null;
  readonly isPending: boolean;
  readonly index: number;
  readonly actions: JobActions;
  readonly onPress: (rowKey: string, event: MouseEvent) => void;
  readonly onToggleLog: (rowKey: string) => void;
  readonly onToggleBatch: (name: string) => void;
}

/** A row of the jobs list. */
export const JobRow = memo(function JobRow(props: JobRowProps): ReactElement {
  const trans = useTranslation();
  const { job, details, isCurrent, isSelected, isLogOpen } = props;
  const classes = [isCurrent && 'fn-mod-current', isSelected && 'fn-mod-selected', job.isLeaving && 'fn-mod-leaving'];
  return (
    <RowFrame
      {...props}
      className={classes.filter(Boolean).join(' ')}
      label={labelOf(props, trans)}
      buttons={2 + Number(job.status === 'Complete') + Number(isLive(job)) + Number(!isBatch(job))}
      onMouseDown={event => props.onPress(props.rowKey, event)}
      onDoubleClick={() => props.actions.onOpen(job.jobName)}
      onToggleBatch={() => props.onToggleBatch(job.jobName)}
    >
      <JobFacts {...props}>{noteOf({ ...props, trans })}</JobFacts>
      <RowActions {...props} />
      {shownState(job) === 'running' && details.includes('progress') && (
        <div className="fn-JobRow-bar" role="gridcell">
          <ProgressBar label={trans.__('Progress of %1', visibleText(job.jobName))} percent={percentOfJob(job)} />
        </div>
      )}
      {showsFullReason(props) && (
        <div className="fn-JobRow-detail" role="gridcell">
          <Reason text={reasonOf(job)} isFull />
        </div>
      )}
      {isLogOpen && (
        <div className="fn-JobRow-log" role="gridcell">
          <LogPane name={job.jobName} isLive={isLive(job)} read={props.actions.readLog} />
        </div>
      )}
    </RowFrame>
  );
});

/** Props of the frame of a row. */
export interface RowFrameProps extends Pick<
  JobRowProps,
  'job' | 'id' | 'rowKey' | 'level' | 'index' | 'isSelected' | 'isExpanded'
> {
  readonly className: string;
  /** Accessible name of the row. */
  readonly label: string;
  readonly onMouseDown: (event: MouseEvent) => void;
  readonly onDoubleClick: () => void;
  readonly onToggleBatch: () => void;
  /** Number of its buttons. */
  readonly buttons: number;
  readonly children: ReactNode;
}

/** A row with the state and name of a job, your own or a member's; other content is passed as children. */
export function RowFrame(props: RowFrameProps): ReactElement {
  const { job, isExpanded } = props;
  const state = shownState(job);
  const name = shownName(job);
  const lines = [findLabel(job) === '' ? '' : job.jobName, ...(job.note ?? '').split('\n')];
  const tooltip = [name, ...lines.filter(Boolean).map(visibleText)].join('\n');
  return (
    <div
      className={`fn-JobRow fn-mod-${state} fn-mod-level${props.level} ${props.className}`}
      role="row"
      id={props.id}
      data-key={props.rowKey}
      data-job={job.jobName}
      aria-rowindex={props.index + 1}
      aria-level={props.level}
      aria-selected={props.isSelected}
      aria-expanded={isExpanded ?? undefined}
      aria-label={props.label}
      style={actionsStyle(props.buttons)}
      onMouseDown={props.onMouseDown}
      onDoubleClick={props.onDoubleClick}
    >
      <div className="fn-JobRow-icon" role="gridcell">
        <JobIcon job={job} />
      </div>
      <div className="fn-JobRow-name" role="gridcell" aria-label={name} title={tooltip}>
        {isExpanded !== null && <FoldButton name={name} isExpanded={isExpanded} onToggleBatch={props.onToggleBatch} />}
        <MiddleText text={name} />
      </div>
      {props.children}
    </div>
  );
}

/** Space for the buttons beside the name. */
function actionsStyle(buttons: number): CSSProperties {
  const style: Readonly<Record<string, number>> = { '--fn-actions': buttons };
  return style;
}

/** Expands or collapses a batch. */
function FoldButton(props: {
  /** The name as displayed. */
  readonly name: string;
  readonly isExpanded: boolean;
  readonly onToggleBatch: () => void;
}): ReactElement {
  const trans = useTranslation();
  const { name, isExpanded } = props;
  return (
    <IconButton
      icon={isExpanded ? caretDownIcon : caretRightIcon}
      label={isExpanded ? trans.__('Collapse %1', name) : trans.__('Show the jobs of %1', name)}
      tabIndex={-1}
      onClick={props.onToggleBatch}
    />
  );
}

/** Accessible name of a row, with the details that distinguish jobs. */
function labelOf({ job, toolName, details }: JobRowProps, trans: Trans): string {
  return [
    visibleText(findLabel(job)),
    visibleText(job.jobName),
    details.includes('tool') && toolName,
    stateLabel(job, trans),
    details.includes('progress') && describeBatch(job, trans),
    ...(details.includes('tags') ? (job.tags ?? []).map(visibleText) : [])
  ]
    .filter(Boolean)
    .join(', ');
}

/** Estimated height of a row in pixels, before it is measured. */
export const ROW_PX = 43;

/** Props of the line of facts. */
interface JobFactsProps extends Pick<JobRowProps, 'job' | 'toolName' | 'now' | 'details'> {
  /** The note at the end of the line; null for none. */
  readonly children?: ReactNode;
}

/** The selected details of a job in one line: state, tool, score, times, and a note. */
export function JobFacts(props: JobFactsProps): ReactElement {
  const trans = useTranslation();
  const { job, details, children: note = null } = props;
  const state = shownState(job);
  const texts = factsOf(props, trans);
  const facts = FACTS.filter(fact => details.includes(fact) && texts[fact][0] !== '');
  const mainFact = state === 'running' ? 'duration' : state === 'complete' && !isBatch(job) ? 'score' : null;
  const keptFact = job.isLeaving ? null : mainFact; // the button that undoes a deletion needs all of a narrow line
  const hiddenFacts =
    note === null ? chooseHiddenFacts(facts, state === 'running') : chooseHiddenFacts(facts, false, keptFact);
  return (
    <div className="fn-JobRow-facts" role="gridcell">
      <span className={`fn-JobRow-word${isMixed(job) ? ' fn-mod-bad' : ''}`}>{stateLabel(job, trans)}</span>
      {facts.map(fact => {
        const [text, title] = texts[fact];
        const hiddenIn = hiddenFacts.get(fact);
        const className = `fn-JobRow-${fact}${hiddenIn ? ` fn-mod-spare-${hiddenIn}` : ''}`;
        const Tag = fact === 'age' ? 'time' : 'span';
        return (
          <Tag key={fact} className={className} title={title}>
            {text}
          </Tag>
        );
      })}
      {note !== null && <span className="fn-JobRow-note">{note}</span>}
    </div>
  );
}

/** Text of each fact of a job (empty if there is none), and its tooltip. */
function factsOf(
  { job, toolName, now }: Pick<JobRowProps, 'job' | 'toolName' | 'now'>,
  trans: Trans
): Readonly<Record<Fact, readonly [string, string]>> {
  const score = findScore(job);
  const hours = job.weightedHours;
  const secondsInQueue = queueSeconds(job, now);
  const notebook = job.notebook ?? '';
  return {
    tool: [toolName, toolName],
    notebook: [visibleText(notebookName(notebook)), visibleText(notebook)],
    score: score === null ? ['', ''] : [formatScore(score), `${visibleText(score.name)}: ${score.value}`],
    duration: [
      jobDuration(job, now),
      [trans.__('Started %1', formatMoment(job.started)), ...describeUsage(job, trans)].join('\n')
    ],
    hours:
      hours === null
        ? ['', '']
        : [trans.__('%1 weighted h', Number(hours.toPrecision(3))), trans.__('%1 weighted hours', hours)],
    queue:
      secondsInQueue === null
        ? ['', '']
        : [
            trans.__('%1 in queue', formatDuration(secondsInQueue)),
            [
              trans.__('Submitted %1', formatMoment(job.created)),
              job.started ? trans.__('Started %1', formatMoment(job.started)) : ''
            ]
              .filter(Boolean)
              .join('\n')
          ],
    ended: [
      job.completed ? trans.__('ended %1', formatClock(job.completed, now)) : '',
      trans.__('Ended %1', formatMoment(job.completed))
    ],
    age: [jobAge(job, now, trans), trans.__('Submitted %1', formatMoment(job.created))]
  };
}

/** Resources that a run used, as far as the service measured them. */
function describeUsage({ cpuSeconds, peakMemoryMb, peakGpuMemoryMb }: JobRowProps['job'], trans: Trans): string[] {
  return cpuSeconds === null || peakMemoryMb === null
    ? []
    : [
        trans.__('CPU time: %1', formatDuration(cpuSeconds)),
        trans.__('Peak memory of one process: %1', formatSize(peakMemoryMb * 2 ** 20)),
        ...(peakGpuMemoryMb === null ? [] : [trans.__('Peak GPU memory: %1', formatSize(peakGpuMemoryMb * 2 ** 20))])
      ];
}

function RowActions(props: JobRowProps): ReactElement {
  const trans = useTranslation();
  const { job, actions, isCurrent, isLogOpen, isPending } = props;
  const tabIndex = isCurrent ? 0 : -1;
  const name = visibleText(job.jobName);
  return (
    <div className="fn-JobRow-actions" role="gridcell">
      {job.status === 'Complete' && (
        <IconButton
          icon={launchIcon}
          label={trans.__('Open the result of %1', name)}
          tabIndex={tabIndex}
          onClick={() => actions.onOpen(job.jobName)}
        />
      )}
      {isLive(job) && (
        <IconButton
          icon={stopIcon}
          label={trans.__('Stop %1', name)}
          isDisabled={isPending}
          tabIndex={tabIndex}
          onClick={() => actions.onStop(job.jobName)}
        />
      )}
      {!isBatch(job) && (
        <IconButton
          icon={textEditorIcon}
          label={isLogOpen ? trans.__('Hide the log of %1', name) : trans.__('Show the log of %1', name)}
          isPressed={isLogOpen}
          tabIndex={tabIndex}
          onClick={() => props.onToggleLog(props.rowKey)}
        />
      )}
      <IconButton
        icon={addBelowIcon}
        label={trans.__('Insert a cell that loads %1', name)}
        tabIndex={tabIndex}
        onClick={() => actions.onInsert(job.jobName)}
      />
      <IconButton
        icon={dotsIcon}
        label={trans.__('More actions for %1', name)}
        tabIndex={tabIndex}
        onPress={openMenu}
      />
    </div>
  );
}

/** Opens JupyterLab's context menu at the button, like a right click on the row. */
export function openMenu(button: HTMLElement): void {
  const { left, bottom } = button.getBoundingClientRect();
  const init = { bubbles: true, cancelable: true, clientX: left, clientY: bottom };
  button.closest('[data-job]')?.dispatchEvent(new window.MouseEvent('contextmenu', init));
}

/** Opens the context menu of the active row, when requested by keyboard. */
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

/** The note at the end of a row's line: a pending deletion, else project, tags, progress, and the reason of a failure. */
function noteOf(props: JobRowProps & { readonly trans: Trans }): ReactElement | null {
  const { job, details, trans, actions } = props;
  if (job.isLeaving) {
    return <PendingDeletion job={job} onUndoDelete={actions.onUndoDelete} />;
  }
  const progress = details.includes('progress') ? describeProgress(job, trans) : '';
  const hasTags = details.includes('tags') && (Boolean(job.projectTag) || Boolean(job.tags?.length));
  const hasReason = reasonOf(job) !== '' && details.includes('reason') && !showsFullReason(props);
  const runNote = details.includes('progress') ? describeRun(job, trans) : null;
  if (!hasTags && !hasReason && runNote === null && progress === '') {
    return null;
  }
  return (
    <>
      {hasTags && <JobTags job={job} />}
      {runNote !== null && (
        <span className="fn-JobRow-message" dir="auto" title={runNote.title}>
          {runNote.text}
        </span>
      )}
      {progress !== '' && (
        <span
          className={`fn-JobRow-message${job.failed && !isMixed(job) ? ' fn-mod-bad' : ''}`}
          dir="auto"
          title={progress}
        >
          {progress}
        </span>
      )}
      {hasReason && <Reason text={reasonOf(job)} />}
    </>
  );
}

/** Special features of a job's run: it was repeated, or it reused another job's result. */
function describeRun(job: JobRecord, trans: Trans): { readonly text: string; readonly title: string } | null {
  if (job.reusedFrom) {
    const text = trans.__('reused from %1', visibleText(job.reusedFrom));
    return { text, title: trans.__('%1: the same tool, settings and inputs', text) };
  }
  if (!job.retries) {
    return null;
  }
  const title = trans.__('Run again after the tool failed: %1×', job.retries);
  return { text: trans.__('run %1', job.retries + 1), title };
}

/** Whether to show the complete reason of a failure below the line: in selected rows and above an open log. */
function showsFullReason({ job, details, isSelected, isLogOpen }: JobRowProps): boolean {
  return reasonOf(job) !== '' && details.includes('reason') && (isSelected || isLogOpen);
}

/** Why a job failed, why a job of a batch did not run, or why a batch stopped early; empty for others. */
function reasonOf(job: JobRecord): string {
  const isStopped = job.batch !== null && job.status === 'Stopped';
  return job.error ?? (isStopped || job.type === 'batch' ? (job.message ?? '') : '');
}

/** The reason of a failure, in one line or in full. */
export function Reason(props: { readonly text: string; readonly isFull?: boolean }): ReactElement {
  const title = plainSentence(props.text);
  return (
    <span className={`fn-JobRow-reason${props.isFull ? ' fn-mod-whole' : ''}`} dir="auto" title={title}>
      <CodeText text={props.text} />
    </span>
  );
}

/** Announces the pending deletion of the job, with a button to undo it. */
function PendingDeletion(props: {
  readonly job: JobRecord;
  readonly onUndoDelete: (names: readonly string[]) => void;
}): ReactElement {
  const trans = useTranslation();
  return (
    <span className="fn-JobRow-message">
      {trans.__('Deletion pending.')}{' '}
      <button type="button" className="fn-Link" onClick={() => props.onUndoDelete([props.job.jobName])}>
        {trans.__('Undo')}
      </button>
    </span>
  );
}

/** The job's project and tags. */
function JobTags({ job }: { readonly job: JobRecord }): ReactElement | null {
  const trans = useTranslation();
  const { projectTag, tags = [] } = job;
  return projectTag || tags.length > 0 ? (
    <span className="fn-Tags">
      {projectTag && (
        <bdi className="fn-Tag fn-mod-project" title={trans.__('Project %1', visibleText(projectTag))}>
          {visibleText(projectTag)}
        </bdi>
      )}
      {tags.map(tag => (
        <bdi className="fn-Tag" key={tag} title={trans.__('Tag %1, stored on this computer', visibleText(tag))}>
          {visibleText(tag)}
        </bdi>
      ))}
    </span>
  ) : null;
}

/** Progress and message of a running job. */
export function Progress({ job }: { readonly job: JobRecord }): ReactElement {
  const trans = useTranslation();
  const text = describeProgress(job, trans);
  return (
    <>
      <ProgressBar label={trans.__('Progress of %1', visibleText(job.jobName))} percent={percentOfJob(job)} />
      {text !== '' && (
        <p className="fn-JobRow-message" dir="auto" title={text}>
          {text}
        </p>
      )}
    </>
  );
}

/** Progress and message of a running job, or the counts of a batch; empty if there are none. */
function describeProgress(job: JobRecord, trans: Trans): string {
  const isRunning = shownState(job) === 'running';
  const percent = percentOfJob(job);
  const message = describeBatch(job, trans) || (isRunning ? visibleText(job.message ?? '') : '');
  return [isRunning && percent !== null ? `${percent} %` : '', message].filter(Boolean).join(' · ');
}

/** Progress of a job or batch in per cent; null if unknown. */
function percentOfJob(job: JobRecord): number | null {
  return percentOf(job.progress ?? batchFraction(job));
}
