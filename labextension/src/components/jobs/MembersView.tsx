/** The jobs of all members of the organization, with search and a filter by member. */
import { useEffect, useMemo, useRef, useState, type ReactElement, type RefObject } from 'react';

import type { JobRecord } from '../../api/responses';
import { isBatch, toolType } from '../../models/jobs/batch';
import type { Detail } from '../../models/jobs/details';
import { DEFAULT_CHOICES, type Choices } from '../../models/jobs/choices';
import { filterJobs } from '../../models/jobs/listing';
import { listMembers, memberKey, memberRows, type MemberListRow, type MembersState } from '../../models/jobs/members';
import { nextIndex } from '../../models/jobs/selection';
import { visibleText } from '../../models/formatting/text';
import { DetailsMenu } from './DetailsMenu';
import { estimateHeights, OtherRow, tableStyle } from './JobList';
import { openMenuOfCurrent } from './JobRow';
import { MemberRow, type MemberActions } from './MemberRow';
import { Notice } from '../controls/Notice';
import { SearchBox } from '../controls/SearchBox';
import { Select } from '../controls/Select';
import { StatusFilters } from './StatusFilters';
import { listKeyHandler, VirtualRows, type VirtualHandle } from '../controls/VirtualRows';
import { WhoseSelect } from './WhoseSelect';
import { useTranslation } from '../translation';

/** Props of the view. */
export interface MembersViewProps extends MemberActions {
  readonly state: MembersState;
  readonly details: readonly Detail[];
  readonly toolName: (type: string) => string;
  readonly onLoad: () => void;
  readonly onLoadOlder: () => void;
  readonly onChoose: (change: Partial<Choices>) => void;
  /** The job with this key became the active row. */
  readonly onChooseJob: (key: string) => void;
  /** Expands or collapses a batch. */
  readonly onToggleBatch: (batch: JobRecord) => void;
}

const EVERYBODY = '';

/** The view. */
export function MembersView(props: MembersViewProps): ReactElement {
  const { state, toolName, onLoad, onChoose } = props;
  const trans = useTranslation();
  const [choices, setChoices] = useState(DEFAULT_CHOICES);
  const [member, setMember] = useState(EVERYBODY);
  useEffect(onLoad, [onLoad]);
  const jobs = useMemo(() => state.jobs ?? [], [state.jobs]);
  const members = useMemo(() => listMembers(jobs), [jobs]);
  const memberJobs = useMemo(
    () => (member === EVERYBODY ? jobs : jobs.filter(job => job.email === member)),
    [jobs, member]
  );
  const shown = useMemo(() => filterJobs(memberJobs, choices, toolName), [memberJobs, choices, toolName]);
  const names = Object.fromEntries(members.map(name => [name, visibleText(name)]));
  return (
    <div className="fn-View fn-mod-fixed">
      <div className="fn-Toolbar">
        <StatusFilters
          jobs={memberJobs}
          hasMore={state.hasOlder}
          chosen={choices.state}
          onChoose={chosen => setChoices({ ...choices, state: chosen })}
        />
        <div className="fn-Toolbar-row">
          <SearchBox
            label={trans.__('Search jobs')}
            value={choices.query}
            onChange={query => setChoices({ ...choices, query })}
          />
          <WhoseSelect chosen="organization" onChoose={whose => onChoose({ whose })} />
          <div className="fn-Options">
            <Select
              label={trans.__('Member')}
              values={[EVERYBODY, ...members]}
              labels={{ ...names, [EVERYBODY]: trans.__('All members') }}
              chosen={member}
              onChoose={setMember}
            />
            <DetailsMenu details={props.details} onChoose={onChoose} />
          </div>
        </div>
      </div>
      <EmptyNotice {...props} count={shown.length} />
      {shown.length > 0 && <Rows {...props} jobs={shown} />}
    </div>
  );
}

/** A notice shown if there are no rows. */
function EmptyNotice(props: MembersViewProps & { readonly count: number }): ReactElement | null {
  const { state, count, onLoad } = props;
  const trans = useTranslation();
  if (state.fault !== null) {
    const action = { label: trans.__('Try now'), onClick: onLoad };
    return (
      <Notice tone="warning" title={trans.__('The organization’s jobs cannot be shown')} action={action}>
        {state.fault}
      </Notice>
    );
  }
  if (state.jobs === null) {
    return <Notice tone="busy" title={trans.__('Loading the organization’s jobs')} fillsView />;
  }
  if (count > 0) {
    return null;
  }
  return state.jobs.length === 0 ? (
    <Notice tone="plain" title={trans.__('No jobs yet')} fillsView>
      {trans.__('Nobody in your organization has submitted a job.')}
    </Notice>
  ) : (
    <Notice tone="plain" title={trans.__('No matching jobs')} fillsView />
  );
}

/** The jobs as rows, with the mouse and keyboard behaviour of a list box. */
function Rows(props: MembersViewProps & { readonly jobs: readonly JobRecord[] }): ReactElement {
  const { state, jobs } = props;
  const trans = useTranslation();
  const list = useRef<VirtualHandle>(null);
  const rows = useMemo(() => estimateHeights(memberRows(jobs, state.open, trans)), [jobs, state.open, trans]);
  const activeIndex = rows.findIndex(({ row }) => row.kind === 'job' && memberKey(row.job) === state.chosen);
  const choose = (index: number): void => {
    const step = index < activeIndex ? -1 : 1; // skips a text that replaces jobs
    const job = jobAt(rows, index) ?? jobAt(rows, index + step);
    if (job) {
      props.onChooseJob(memberKey(job));
      list.current?.reveal(index);
    }
  };
  const onKeyDown = listKeyHandler(list, ({ key }) => {
    const targetIndex = nextIndex(key, activeIndex, rows.length, list.current?.pageRows() ?? 10);
    if (targetIndex >= 0) {
      choose(targetIndex);
      return true;
    }
    const job = jobAt(rows, activeIndex);
    return job !== undefined && handleJobKey(key, job, props);
  });
  return (
    <VirtualRows
      rows={rows}
      handle={list}
      onNearEnd={props.onLoadOlder}
      active={activeIndex < 0 ? undefined : { index: activeIndex, id: `fn-member-${activeIndex}` }}
      attributes={{
        className: 'fn-JobList',
        role: 'treegrid',
        tabIndex: 0,
        'aria-label': trans.__('Jobs of the organization'),
        'aria-rowcount': rows.length,
        'aria-keyshortcuts': 'Enter',
        style: tableStyle(props.details),
        onKeyDown,
        onContextMenu: openMenuOfCurrent
      }}
      renderRow={({ key, row }, index) =>
        row.kind === 'note' ? (
          <OtherRow key={key} row={row} index={index} isCurrent={false} isCollapsed={false} onPress={() => undefined} />
        ) : (
          <MemberJobRow
            key={key}
            {...props}
            row={row}
            index={index}
            list={list}
            isChosen={index === activeIndex}
            onActivate={() => choose(index)}
          />
        )
      }
    />
  );
}

/** The job of a row; undefined for a text, and outside the list. */
function jobAt(rows: readonly { readonly row: MemberListRow }[], index: number): JobRecord | undefined {
  const row = rows[index]?.row;
  return row?.kind === 'job' ? row.job : undefined;
}

/** Handles a key on the row of a job; false if the key has no meaning there. */
function handleJobKey(key: string, job: JobRecord, props: MembersViewProps): boolean {
  const isExpanded = props.state.open.has(memberKey(job));
  if (isBatch(job) && key === (isExpanded ? 'ArrowLeft' : 'ArrowRight')) {
    props.onToggleBatch(job);
  } else if (key === 'Enter') {
    props.onOpenMemberJob(job);
  } else {
    return false;
  }
  return true;
}

/** Whether the mouse was pressed on a button. */
function isButton(target: EventTarget): boolean {
  return target instanceof Element && target.closest('button') !== null;
}

/** Props of a job's row. */
interface MemberJobRowProps extends MembersViewProps {
  readonly row: Extract<MemberListRow, { kind: 'job' }>;
  readonly index: number;
  /** The list that has the row. */
  readonly list: RefObject<VirtualHandle>;
  readonly isChosen: boolean;
  /** Makes it the active row. */
  readonly onActivate: () => void;
}

/** The row of a job; pressing the mouse on it makes it the active row, and may start a drag. */
function MemberJobRow(props: MemberJobRowProps): ReactElement {
  const { row, index, list, state, details, toolName, isChosen } = props;
  const { key, job, level } = row;
  return (
    <MemberRow
      id={`fn-member-${index}`}
      rowKey={key}
      index={index}
      job={job}
      details={details}
      level={level}
      isExpanded={isBatch(job) && job.email ? state.open.has(memberKey(job)) : null}
      toolName={toolName(toolType(job))}
      now={state.receivedAt}
      isChosen={isChosen}
      refusal={state.refusals.get(memberKey(job))}
      actions={props}
      onToggleBatch={() => props.onToggleBatch(job)}
      onPress={event => {
        props.onActivate();
        if (event.button === 0 && !isButton(event.target)) {
          props.onDragMemberJob(job, event);
        }
        list.current?.focus();
      }}
    />
  );
}
