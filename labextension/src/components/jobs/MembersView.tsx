/** The jobs of all members of the organization, with search and a filter by member. */
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';

import type { JobRecord } from '../../api/responses';
import { isBatch, toolType } from '../../models/jobs/batch';
import type { Detail } from '../../models/jobs/details';
import { DEFAULT_CHOICES, type Choices } from '../../models/jobs/choices';
import { filterJobs } from '../../models/jobs/listing';
import { listMembers, memberKey, memberRows, type MembersState } from '../../models/jobs/members';
import { nextIndex } from '../../models/jobs/selection';
import { visibleText } from '../../models/formatting/text';
import { DetailsMenu } from './DetailsMenu';
import { OtherRow, tableStyle } from './JobList';
import { openMenuOfCurrent, ROW_PX } from './JobRow';
import { MemberRow, type MemberActions } from './MemberRow';
import { Notice } from '../controls/Notice';
import { SearchBox } from '../controls/SearchBox';
import { Select } from '../controls/Select';
import { StatusFilters } from './StatusFilters';
import { VirtualRows, type VirtualHandle } from '../controls/VirtualRows';
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
const NOTE_PX = 32;

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

function Rows(props: MembersViewProps & { readonly jobs: readonly JobRecord[] }): ReactElement {
  const { state, jobs, toolName, onChooseJob } = props;
  const trans = useTranslation();
  const list = useRef<VirtualHandle>(null);
  const rows = useMemo(
    () =>
      memberRows(jobs, state.open, trans).map(row => ({
        key: row.key,
        estimate: row.kind === 'job' ? ROW_PX : NOTE_PX,
        row
      })),
    [jobs, state.open, trans]
  );
  const jobAt = (index: number): JobRecord | undefined => {
    const row = rows[index]?.row;
    return row?.kind === 'job' ? row.job : undefined;
  };
  const activeIndex = rows.findIndex(({ row }) => row.kind === 'job' && memberKey(row.job) === state.chosen);
  const choose = (index: number): void => {
    const step = index < activeIndex ? -1 : 1; // skips a text that replaces jobs
    const job = jobAt(index) ?? jobAt(index + step);
    if (job) {
      onChooseJob(memberKey(job));
      list.current?.reveal(index);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const job = jobAt(activeIndex);
    const isExpanded = job !== undefined && state.open.has(memberKey(job));
    const targetIndex = nextIndex(event.key, activeIndex, rows.length, list.current?.pageRows() ?? 10);
    if (event.target !== event.currentTarget) {
      if (event.key !== 'Escape') {
        return;
      }
      list.current?.focus();
    } else if (targetIndex >= 0) {
      choose(targetIndex);
    } else if (job && isBatch(job) && event.key === (isExpanded ? 'ArrowLeft' : 'ArrowRight')) {
      props.onToggleBatch(job);
    } else if (event.key === 'Enter' && job) {
      props.onOpenMemberJob(job);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
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
          <MemberRow
            key={key}
            id={`fn-member-${index}`}
            rowKey={key}
            index={index}
            job={row.job}
            details={props.details}
            level={row.level}
            isExpanded={isBatch(row.job) && row.job.email ? state.open.has(memberKey(row.job)) : null}
            toolName={toolName(toolType(row.job))}
            now={state.receivedAt}
            isChosen={index === activeIndex}
            refusal={state.refusals.get(memberKey(row.job))}
            actions={props}
            onToggleBatch={() => props.onToggleBatch(row.job)}
            onPress={event => {
              choose(index);
              if (event.button === 0 && !(event.target instanceof Element && event.target.closest('button'))) {
                props.onDragMemberJob(row.job, event);
              }
              list.current?.focus();
            }}
          />
        )
      }
    />
  );
}
