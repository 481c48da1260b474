/** The jobs of everybody in the organization: to be looked at, searched, and narrowed down to one member. */
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';

import type { JobRecord } from '../api/answers';
import { batchWords, toolType } from '../models/batch';
import { filterJobs, FIRST_CHOICES, type Choices } from '../models/listing';
import { listMembers, type MembersState } from '../models/members';
import { countStates, shownState, stateRow } from '../models/status';
import { visibleText } from '../models/text';
import { formatMoment, jobAge, jobDuration } from '../models/time';
import { StateIcon } from './icons';
import { Notice } from './Notice';
import { SearchBox } from './SearchBox';
import { Select } from './Select';
import { StatusFilters } from './StatusFilters';
import { VirtualRows, type VirtualHandle } from './VirtualRows';
import { WhoseSelect } from './WhoseSelect';
import { useWords } from './words';

/** What the view needs. */
export interface MembersViewProps {
  readonly state: MembersState;
  readonly toolName: (type: string) => string;
  readonly onLoad: () => void;
  readonly onOlder: () => void;
  readonly onChoose: (change: Partial<Choices>) => void;
}

const EVERYBODY = '';
const ROW_PX = 62;

/** The view. */
export function MembersView(props: MembersViewProps): ReactElement {
  const { state, toolName, onLoad, onChoose } = props;
  const trans = useWords();
  const [choices, setChoices] = useState(FIRST_CHOICES);
  const [member, setMember] = useState(EVERYBODY);
  useEffect(onLoad, [onLoad]);
  const jobs = useMemo(() => state.jobs ?? [], [state.jobs]);
  const members = useMemo(() => listMembers(jobs), [jobs]);
  const own = useMemo(
    () => (member === EVERYBODY ? jobs : jobs.filter(job => job.email === member)),
    [jobs, member]
  );
  const shown = useMemo(() => filterJobs(own, choices, toolName), [own, choices, toolName]);
  const names = Object.fromEntries(members.map(name => [name, visibleText(name)]));
  return (
    <div className="fn-View fn-mod-fixed">
      <div className="fn-Toolbar">
        <StatusFilters
          counts={countStates(own)}
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
          <div className="fn-Options">
            <WhoseSelect chosen="organization" onChoose={whose => onChoose({ whose })} />
            <Select
              label={trans.__('Member')}
              values={[EVERYBODY, ...members]}
              words={{ ...names, [EVERYBODY]: trans.__('All members') }}
              chosen={member}
              onChoose={setMember}
            />
          </div>
        </div>
      </div>
      <Outcome {...props} count={shown.length} />
      {shown.length > 0 && <Rows {...props} jobs={shown} />}
    </div>
  );
}

/** Why there are no rows, where there are none. */
function Outcome(props: MembersViewProps & { readonly count: number }): ReactElement | null {
  const { state, count, onLoad } = props;
  const trans = useWords();
  if (state.fault !== null) {
    const action = { label: trans.__('Try now'), onClick: onLoad };
    return (
      <Notice tone="warning" title={trans.__('The organization’s jobs cannot be shown')} action={action}>
        {state.fault}
      </Notice>
    );
  }
  if (state.jobs === null) {
    return <Notice tone="busy" title={trans.__('Asking for the organization’s jobs')} isWhole />;
  }
  if (count > 0) {
    return null;
  }
  return (
    <Notice tone="plain" title={trans.__('No job matches')} isWhole>
      {state.jobs.length === 0 && trans.__('Nobody in your organization has submitted a job.')}
    </Notice>
  );
}

function Rows(props: MembersViewProps & { readonly jobs: readonly JobRecord[] }): ReactElement {
  const { state, jobs, toolName } = props;
  const trans = useWords();
  const list = useRef<VirtualHandle>(null);
  const rows = useMemo(
    () => jobs.map(job => ({ key: `${job.email ?? ''}/${job.jobName}/${job.created ?? ''}`, guess: ROW_PX, job })),
    [jobs]
  );
  return (
    <VirtualRows
      rows={rows}
      handle={list}
      onEnd={props.onOlder}
      attributes={{
        className: 'fn-JobList',
        role: 'list',
        tabIndex: 0,
        'aria-label': trans.__('Jobs of the organization')
      }}
      draw={({ key, job }) => (
        <MemberRow
          key={key}
          rowKey={key}
          job={job}
          toolName={toolName(toolType(job))}
          now={state.receivedAt}
        />
      )}
    />
  );
}

function MemberRow(props: {
  readonly rowKey: string;
  readonly job: JobRecord;
  readonly toolName: string;
  readonly now: number;
}): ReactElement {
  const { job, now } = props;
  const trans = useWords();
  const state = shownState(job);
  const name = visibleText(job.jobName);
  const facts = [trans.__(stateRow(state).word), props.toolName, jobDuration(job, now), jobAge(job, now, trans)];
  return (
    <div className={`fn-JobRow fn-mod-member fn-mod-${state}`} role="listitem" data-key={props.rowKey}>
      <div className="fn-JobRow-icon">
        <StateIcon state={state} />
      </div>
      <div className="fn-JobRow-name" title={name}>
        <bdi>{name}</bdi>
      </div>
      <div className="fn-JobRow-facts" title={trans.__('Submitted %1', formatMoment(job.created))}>
        {facts.filter(Boolean).map(fact => (
          <span key={fact}>{fact}</span>
        ))}
      </div>
      <div className="fn-JobRow-detail">
        <p className="fn-JobRow-message">
          <bdi>{visibleText(job.email ?? '') || trans.__('Owner unknown')}</bdi>
          {batchWords(job, trans) !== '' && ` · ${batchWords(job, trans)}`}
        </p>
        {job.error !== null && <p className="fn-JobRow-error">{visibleText(job.error)}</p>}
      </div>
    </div>
  );
}
