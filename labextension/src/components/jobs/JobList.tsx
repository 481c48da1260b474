/** The jobs as rows, with the mouse and keyboard behaviour of a multi-select list box. */
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  type RefObject
} from 'react';

import type { JobsState } from '../../models/jobs/jobs';
import { isBatch, toolType } from '../../models/jobs/batch';
import { columnsOf, type Detail } from '../../models/jobs/details';
import { selectable, type ListRow } from '../../models/jobs/listing';
import {
  readSelectionMode,
  nextIndex,
  type SelectionMode,
  type Selection,
  type SelectionState
} from '../../models/jobs/selection';
import { FoldIcon } from '../controls/icons';
import { JobRow, openMenuOfCurrent, ROW_PX, type JobActions } from './JobRow';
import { VirtualRows, type VirtualHandle } from '../controls/VirtualRows';
import { isLive } from '../../models/jobs/status';
import { formatCount, visibleText } from '../../models/formatting/text';
import { useTranslation } from '../translation';

/** Props of the list. */
export interface JobListProps extends JobActions {
  readonly rows: readonly ListRow[];
  readonly details: readonly Detail[];
  readonly state: JobsState;
  readonly selection: Selection;
  readonly selected: SelectionState;
  readonly collapsed: ReadonlySet<string>;
  readonly toolName: (type: string) => string;
  readonly onDelete: (names: readonly string[]) => void;
  readonly onToggleGroup: (group: string) => void;
  /** Starts dragging these jobs. */
  readonly onDrag: (names: readonly string[], event: MouseEvent, onClick: () => void) => void;
  readonly onToggleBatch: (batch: string) => void;
  readonly onNearEnd: () => void;
  readonly footer?: ReactNode;
}

const GROUP_PX = 32;
const SECOND_MS = 1000;

/** Ids of rows in the document. */
const rowId = (key: string): string => `fn-row-${key.replace(/[^\w-]/g, letter => `_${letter.charCodeAt(0)}`)}`;

/** The list. */
export function JobList(props: JobListProps): ReactElement {
  const { rows, details, selection, selected, state, onDrag } = props;
  const trans = useTranslation();
  const [openLog, setOpenLog] = useState<string | null>(null);
  const list = useRef<VirtualHandle>(null);
  const order = useMemo(() => selectable(rows), [rows]);
  const measured = useMemo(
    () => rows.map(row => ({ key: row.key, estimate: row.kind === 'job' ? ROW_PX : GROUP_PX, row })),
    [rows]
  );
  const selectedIndex = rows.findIndex(row => row.key === selected.current);
  const lastIndex = useRef(0);
  const activeIndex = selectedIndex >= 0 ? selectedIndex : Math.min(lastIndex.current, rows.length - 1);
  useEffect(() => {
    lastIndex.current = Math.max(0, activeIndex);
  });
  const activeRow = rows[activeIndex];
  const now = useClock(state.receivedAt, state.jobs.some(isLive));
  const toggleLog = useCallback((key: string) => setOpenLog(open => (open === key ? null : key)), []);

  const choose = (index: number, mode: SelectionMode): void => {
    const row = rows[index];
    if (row) {
      selection.choose(row.key, row.kind === 'job' ? row.job.jobName : null, mode, order);
      list.current?.reveal(index);
    }
  };
  const latest = useRef({ rows, order });
  latest.current = { rows, order };
  const onPress = useCallback(
    (key: string, event: MouseEvent): void => {
      const row = latest.current.rows.find(each => each.key === key);
      if (row?.kind !== 'job') {
        return;
      }
      const { jobName } = row.job;
      const isMenu = event.button === 2;
      const { order } = latest.current;
      const requestedMode = isMenu ? 'alone' : readSelectionMode(event);
      const keepsSelection = requestedMode === 'alone' && selection.state().names.has(jobName);
      selection.choose(key, jobName, keepsSelection ? 'keep' : requestedMode, order);
      if (!isMenu && !isTextOrButton(event.target)) {
        const names = selection.state().names.has(jobName) ? [...selection.state().names] : [jobName];
        onDrag(names, event, () => keepsSelection && selection.choose(key, jobName, 'alone', order));
      }
      if (event.shiftKey) {
        event.preventDefault(); // prevents selecting text
      }
      list.current?.focus();
    },
    [selection, onDrag]
  );

  const onKeyDown = (event: KeyboardEvent): void => {
    const isInside = event.target !== event.currentTarget;
    if (isInside && event.key === 'Escape') {
      list.current?.focus();
    } else if (isInside || !handleKey(event, props, { list, order, activeIndex, openLog, setOpenLog, choose })) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <VirtualRows
      rows={measured}
      handle={list}
      onNearEnd={props.onNearEnd}
      active={activeRow && { index: activeIndex, id: rowId(activeRow.key) }}
      footer={props.footer}
      attributes={{
        className: 'fn-JobList',
        role: 'treegrid',
        tabIndex: 0,
        'aria-label': trans.__('Jobs'),
        'aria-multiselectable': true,
        'aria-rowcount': rows.length,
        'aria-keyshortcuts': 'Enter Delete Control+A',
        style: tableStyle(details),
        onKeyDown,
        onContextMenu: openMenuOfCurrent
      }}
      renderRow={({ row }, index) =>
        row.kind === 'job' ? (
          <JobRow
            key={row.key}
            id={rowId(row.key)}
            rowKey={row.key}
            job={row.job}
            details={details}
            level={row.level}
            index={index}
            toolName={props.toolName(toolType(row.job))}
            now={now}
            isCurrent={index === activeIndex}
            isSelected={selected.names.has(row.job.jobName)}
            isLogOpen={row.key === openLog}
            isExpanded={isBatch(row.job) ? state.open.has(row.job.jobName) : null}
            isPending={state.pending.has(row.job.jobName)}
            actions={props}
            onPress={onPress}
            onToggleLog={toggleLog}
            onToggleBatch={props.onToggleBatch}
          />
        ) : (
          <OtherRow
            key={row.key}
            row={row}
            index={index}
            isCurrent={index === activeIndex}
            isCollapsed={row.kind === 'group' && props.collapsed.has(row.key)}
            onPress={() => {
              choose(index, 'alone');
              list.current?.focus();
              if (row.kind === 'group') {
                props.onToggleGroup(row.key);
              }
            }}
          />
        )
      }
    />
  );
}

/** What the keys of the list read and change besides its props. */
interface KeyContext {
  readonly list: RefObject<VirtualHandle>;
  /** Names of the jobs in the order of the rows. */
  readonly order: readonly string[];
  readonly activeIndex: number;
  /** Key of the row whose log is shown; null for none. */
  readonly openLog: string | null;
  readonly setOpenLog: (key: string | null) => void;
  /** Makes a row active and changes the selection. */
  readonly choose: (index: number, mode: SelectionMode) => void;
}

/** Handles a key that was pressed on the list itself; false if the key has no meaning there. */
function handleKey(event: KeyboardEvent, props: JobListProps, context: KeyContext): boolean {
  const { rows, selection, selected, state } = props;
  const { list, order, activeIndex, openLog, setOpenLog, choose } = context;
  const row = rows[activeIndex];
  const targetIndex = nextIndex(event.key, activeIndex, rows.length, list.current?.pageRows() ?? 10);
  const hasCtrl = event.ctrlKey || event.metaKey;
  if (targetIndex >= 0) {
    choose(targetIndex, event.shiftKey ? 'range' : hasCtrl ? 'keep' : 'alone');
  } else if (hasCtrl && event.key.toLowerCase() === 'a') {
    selection.chooseAll(order);
  } else if (event.key === 'Escape' && (selected.names.size > 0 || openLog !== null)) {
    setOpenLog(null);
    selection.clear();
  } else if (hasCtrl && event.key.toLowerCase() === 'z' && pendingDeletions(state).length > 0) {
    props.onUndoDelete(pendingDeletions(state));
  } else if (event.key === 'Delete' && selected.names.size > 0) {
    props.onDelete([...selected.names].filter(name => !state.pending.has(name)));
  } else if (row?.kind === 'group') {
    return handleGroupKey(event.key, row.key, props);
  } else if (row?.kind === 'job') {
    return handleJobKey(event.key, row, hasCtrl, props, context);
  } else {
    return false;
  }
  return true;
}

/** Handles a key on the heading of a group; false if the key has no meaning there. */
function handleGroupKey(key: string, group: string, { collapsed, onToggleGroup }: JobListProps): boolean {
  const isToggle = key === 'Enter' || key === ' ' || key === (collapsed.has(group) ? 'ArrowRight' : 'ArrowLeft');
  if (isToggle) {
    onToggleGroup(group);
  }
  return isToggle;
}

/** Handles a key on the row of a job; false if the key has no meaning there. */
function handleJobKey(
  key: string,
  { key: rowKey, job }: Extract<ListRow, { kind: 'job' }>,
  hasCtrl: boolean,
  props: JobListProps,
  { activeIndex, openLog, setOpenLog, choose }: KeyContext
): boolean {
  const name = job.jobName;
  const isOpen = isBatch(job) ? props.state.open.has(name) : openLog === rowKey;
  if (key === ' ') {
    choose(activeIndex, hasCtrl || props.selected.names.has(name) ? 'toggle' : 'alone');
  } else if (key === 'Enter' && job.status === 'Complete') {
    props.onOpen(name);
  } else if (key === 'Enter' || key === (isOpen ? 'ArrowLeft' : 'ArrowRight')) {
    if (isBatch(job)) {
      props.onToggleBatch(name);
    } else {
      setOpenLog(isOpen ? null : rowKey);
    }
  } else {
    return false;
  }
  return true;
}

/** Names of jobs whose deletion can still be undone. */
function pendingDeletions({ jobs }: JobsState): readonly string[] {
  return jobs.flatMap(job => (job.isLeaving ? [job.jobName] : []));
}

/** Whether the mouse was pressed on selectable text. */
function isTextOrButton(nextRow: EventTarget): boolean {
  return nextRow instanceof Element && nextRow.closest('.fn-JobRow-reason, .fn-JobRow-log, button') !== null;
}

/**
 * The time of the last response; while `isRunning`, the current second, so that durations advance between responses.
 */
function useClock(receivedAt: number, isRunning: boolean): number {
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (!isRunning) {
      return undefined;
    }
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return isRunning ? Math.max(receivedAt, now) : receivedAt;
}

/** A row that is not a job: the heading of a group, or a text instead of a batch's jobs. */
export function OtherRow(props: {
  readonly row: Exclude<ListRow, { kind: 'job' }>;
  readonly index: number;
  readonly isCurrent: boolean;
  readonly isCollapsed: boolean;
  readonly onPress: () => void;
}): ReactElement {
  const { row, isCollapsed } = props;
  return (
    <div
      className={`fn-OtherRow fn-mod-${row.kind}${props.isCurrent ? ' fn-mod-current' : ''}`}
      role="row"
      id={rowId(row.key)}
      data-key={row.key}
      aria-rowindex={props.index + 1}
      aria-level={row.kind === 'group' ? 1 : 2}
      aria-expanded={row.kind === 'group' ? !isCollapsed : undefined}
      onClick={props.onPress}
    >
      <div role="gridcell">
        {row.kind === 'group' ? (
          <>
            <FoldIcon isOpen={!isCollapsed} />
            <bdi title={visibleText(row.hint)}>{visibleText(row.title)}</bdi>{' '}
            <span className="fn-Filter-count">{formatCount(row.count)}</span>
          </>
        ) : (
          row.text
        )}
      </div>
    </div>
  );
}

/** Shows details in columns when the list is wide. */
export function tableStyle(details: readonly Detail[]): CSSProperties {
  const style: Readonly<Record<string, string>> = { '--fn-columns': columnsOf(details) };
  return style;
}
