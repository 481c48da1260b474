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
import { listKeyHandler, VirtualRows, type VirtualHandle } from '../controls/VirtualRows';
import { isLive } from '../../models/jobs/status';
import { formatCount, visibleText } from '../../models/formatting/text';
import type { Measured } from '../../models/layout';
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

const OTHER_ROW_PX = 32;
const SECOND_MS = 1000;

/** Ids of rows in the document. */
const rowId = (key: string): string => `fn-row-${key.replace(/[^\w-]/g, letter => `_${letter.charCodeAt(0)}`)}`;

/** The list. */
export function JobList(props: JobListProps): ReactElement {
  const { rows, details, selection, selected, state } = props;
  const trans = useTranslation();
  const [openLog, setOpenLog] = useState<string | null>(null);
  const list = useRef<VirtualHandle>(null);
  const order = useMemo(() => selectable(rows), [rows]);
  const measured = useMemo(() => estimateHeights(rows), [rows]);
  const activeIndex = useActiveIndex(rows, selected.current);
  const activeRow = rows[activeIndex];
  const now = useClock(state.receivedAt, state.jobs.some(isLive));
  const toggleLog = useCallback((key: string) => setOpenLog(open => (open === key ? null : key)), []);
  const onPress = useRowPress(props, order, list);
  const choose = (index: number, mode: SelectionMode): void => {
    const row = rows[index];
    if (row) {
      selection.choose(row.key, row.kind === 'job' ? row.job.jobName : null, mode, order);
      list.current?.reveal(index);
    }
  };
  const onKeyDown = listKeyHandler(list, event =>
    handleKey(event, props, { list, order, activeIndex, openLog, setOpenLog, choose })
  );
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
      renderRow={({ row }, index) => (
        <ListedRow
          key={row.key}
          row={row}
          index={index}
          isCurrent={index === activeIndex}
          list={props}
          now={now}
          openLog={openLog}
          onToggleLog={toggleLog}
          onPressJob={onPress}
          onPressOther={() => {
            choose(index, 'alone');
            list.current?.focus();
          }}
        />
      )}
    />
  );
}

/** Props of a row of the list. */
interface ListedRowProps {
  readonly row: ListRow;
  readonly index: number;
  readonly isCurrent: boolean;
  /** Props of the list that has the row. */
  readonly list: JobListProps;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Key of the row whose log is shown; null for none. */
  readonly openLog: string | null;
  readonly onToggleLog: (key: string) => void;
  readonly onPressJob: (key: string, event: MouseEvent) => void;
  /** A row that is not a job was pressed. */
  readonly onPressOther: () => void;
}

/** A row of the list: a job, the heading of a group, or a text. */
function ListedRow({ row, index, isCurrent, list, now, openLog, ...props }: ListedRowProps): ReactElement {
  const { state } = list;
  if (row.kind !== 'job') {
    return (
      <OtherRow
        row={row}
        index={index}
        isCurrent={isCurrent}
        isCollapsed={row.kind === 'group' && list.collapsed.has(row.key)}
        onPress={() => {
          props.onPressOther();
          if (row.kind === 'group') {
            list.onToggleGroup(row.key);
          }
        }}
      />
    );
  }
  const { key, job, level } = row;
  return (
    <JobRow
      id={rowId(key)}
      rowKey={key}
      job={job}
      details={list.details}
      level={level}
      index={index}
      toolName={list.toolName(toolType(job))}
      now={now}
      isCurrent={isCurrent}
      isSelected={list.selected.names.has(job.jobName)}
      isLogOpen={key === openLog}
      isExpanded={isBatch(job) ? state.open.has(job.jobName) : null}
      isPending={state.pending.has(job.jobName)}
      actions={list}
      onPress={props.onPressJob}
      onToggleLog={props.onToggleLog}
      onToggleBatch={list.onToggleBatch}
    />
  );
}

/** Index of the row with the key `current`; without such a row, the last index, or the last row of a shorter list. */
function useActiveIndex(rows: readonly ListRow[], current: string | null): number {
  const lastIndex = useRef(0);
  const currentIndex = rows.findIndex(row => row.key === current);
  const activeIndex = currentIndex >= 0 ? currentIndex : Math.min(lastIndex.current, rows.length - 1);
  useEffect(() => {
    lastIndex.current = Math.max(0, activeIndex);
  });
  return activeIndex;
}

/**
 * Returns a stable callback for a mouse button pressed on a job: it selects the job and starts dragging the selection.
 * A press on one of several selected jobs keeps the selection until it turns out to be a click.
 */
function useRowPress(
  { rows, selection, onDrag }: JobListProps,
  order: readonly string[],
  list: RefObject<VirtualHandle>
): (key: string, event: MouseEvent) => void {
  const latest = useRef({ rows, order });
  latest.current = { rows, order };
  return useCallback(
    (key, event) => {
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
    [selection, onDrag, list]
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
function isTextOrButton(target: EventTarget): boolean {
  return target instanceof Element && target.closest('.fn-JobRow-reason, .fn-JobRow-log, button') !== null;
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

/** Adds the estimated height of each row in pixels, for `VirtualRows`. */
export function estimateHeights<R extends ListRow>(rows: readonly R[]): readonly (Measured & { readonly row: R })[] {
  return rows.map(row => ({ key: row.key, estimate: row.kind === 'job' ? ROW_PX : OTHER_ROW_PX, row }));
}

/** Shows details in columns when the list is wide. */
export function tableStyle(details: readonly Detail[]): CSSProperties {
  const style: Readonly<Record<string, string>> = { '--fn-columns': columnsOf(details) };
  return style;
}
