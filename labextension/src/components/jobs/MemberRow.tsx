/** A job of another member of the organization in the list: job, owner, and actions on its result. */
import { addBelowIcon, dotsIcon, launchIcon } from '@jupyterlab/ui-components';
import type { MouseEvent, ReactElement } from 'react';

import type { JobRecord } from '../../api/responses';
import { describeBatch } from '../../models/jobs/batch';
import type { Detail } from '../../models/jobs/details';
import { stateLabel } from '../../models/jobs/status';
import { visibleText } from '../../models/formatting/text';
import { IconButton } from '../controls/IconButton';
import { JobFacts, openMenu, Reason, RowFrame } from './JobRow';
import { useTranslation } from '../translation';

/** Actions on a member's job; none if the service does not report the owner. */
export interface MemberActions {
  readonly onOpenMemberJob: (job: JobRecord) => void;
  readonly onInsertMemberJob: (job: JobRecord) => void;
  /** The mouse was pressed on the row, which may start a drag. */
  readonly onDragMemberJob: (job: JobRecord, event: MouseEvent) => void;
}

/** Props of a row. */
export interface MemberRowProps {
  readonly id: string;
  readonly rowKey: string;
  readonly index: number;
  readonly job: JobRecord;
  /** Details that the row shows. */
  readonly details: readonly Detail[];
  readonly toolName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isChosen: boolean;
  readonly level: 1 | 2;
  /** Whether the batch is expanded; null for other jobs. */
  readonly isExpanded: boolean | null;
  /** Why the service refused the result; undefined if it did not. */
  readonly refusal: string | undefined;
  readonly actions: MemberActions;
  readonly onToggleBatch: () => void;
  readonly onPress: (event: MouseEvent) => void;
}

/** A row. */
export function MemberRow(props: MemberRowProps): ReactElement {
  const { job, details, isChosen } = props;
  const trans = useTranslation();
  const name = visibleText(job.jobName);
  const owner = visibleText(job.email ?? '') || trans.__('Owner unknown');
  const state = stateLabel(job, trans);
  const batchText = details.includes('progress') ? describeBatch(job, trans) : '';
  return (
    <RowFrame
      {...props}
      className={`fn-mod-member${isChosen ? ' fn-mod-current fn-mod-selected' : ''}`}
      label={[name, details.includes('tool') && props.toolName, state, owner].filter(Boolean).join(', ')}
      isSelected={isChosen}
      buttons={job.email ? (job.status === 'Complete' ? 3 : 1) : 0}
      onMouseDown={props.onPress}
      onDoubleClick={() => props.actions.onOpenMemberJob(job)}
    >
      <JobFacts {...props}>
        <span className="fn-JobRow-message" title={[owner, batchText].filter(Boolean).join(' · ')}>
          <bdi>{owner}</bdi>
          {batchText !== '' && ` · ${batchText}`}
        </span>
        {job.error !== null && details.includes('reason') && <Reason text={job.error} />}
      </JobFacts>
      {job.email && <Buttons {...props} name={name} />}
      {props.refusal !== undefined && (
        <div className="fn-JobRow-detail" role="gridcell">
          <p className="fn-JobRow-error" role="status">
            {trans.__('The service refuses access to its result: %1', props.refusal)}
          </p>
        </div>
      )}
    </RowFrame>
  );
}

function Buttons(props: MemberRowProps & { readonly name: string }): ReactElement {
  const { job, name, actions, isChosen } = props;
  const trans = useTranslation();
  const tabIndex = isChosen ? 0 : -1;
  return (
    <div className="fn-JobRow-actions" role="gridcell">
      {job.status === 'Complete' && (
        <>
          <IconButton
            icon={launchIcon}
            label={trans.__('Open the result of %1', name)}
            isDisabled={props.refusal !== undefined}
            tabIndex={tabIndex}
            onClick={() => actions.onOpenMemberJob(job)}
          />
          <IconButton
            icon={addBelowIcon}
            label={trans.__('Insert a cell that loads %1', name)}
            tabIndex={tabIndex}
            onClick={() => actions.onInsertMemberJob(job)}
          />
        </>
      )}
      <IconButton
        icon={dotsIcon}
        label={trans.__('More actions for %1', name)}
        tabIndex={tabIndex}
        onPress={openMenu}
      />
    </div>
  );
}
