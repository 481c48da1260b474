/** Notices in a result's tab when there is no result: not yet available, temporarily unavailable, or deleted. */
import type { ReactElement } from 'react';

import { isLive, shownState } from '../../models/jobs/status';
import type { Fault, ResultState } from '../../models/results/result';
import { visibleText } from '../../models/formatting/text';
import type { Trans } from '../../models/translation';
import { Progress } from '../jobs/JobRow';
import { Notice, type NoticeAction } from '../controls/Notice';
import { useTranslation } from '../translation';

/** Props of the notices. */
export interface ResultNoticeProps {
  readonly state: ResultState;
  readonly name: string;
  /** Address of the organization's member who owns the job; null for your own. */
  readonly owner: string | null;
  /** Name of the service; null for the service on this computer. */
  readonly service: string | null;
  /** Whether it was opened with a colleague's link. */
  readonly isShared?: boolean;
  /** Other services that may have the job. */
  readonly otherProfiles: readonly OtherProfile[];
  /** Requests the missing data at once. */
  readonly onRetry: () => void;
  /** Asks for a link; absent if the job was not opened with one. */
  readonly onOpenLink?: () => void;
  readonly onClose: () => void;
}

/** A service that may have the job. */
export interface OtherProfile {
  /** Its location in a sentence, such as “at lab”. */
  readonly location: string;
  readonly onSelect: () => void;
}

/** The notice above the result: the job is gone, or the service does not answer. Null if all is well. */
export function ResultTrouble(props: ResultNoticeProps): ReactElement | null {
  const { state, onRetry, onOpenLink, onClose } = props;
  const trans = useTranslation();
  const { job, fault, goneAt } = state;
  const retry = { label: trans.__('Try now'), onClick: onRetry };
  const close = { label: trans.__('Close'), onClick: onClose };
  if (goneAt !== null) {
    return <NotFoundNotice {...props} goneAt={goneAt} />;
  }
  if (fault === null || (job && !isLive(job))) {
    return null;
  }
  const title = fault.isTemporary
    ? trans.__('The service does not answer')
    : props.isShared
      ? trans.__('The shared job cannot be opened')
      : trans.__('The job cannot be fetched from the service');
  return (
    <Notice
      tone="warning"
      title={title}
      action={onOpenLink ? { label: trans.__('Open a shared link …'), onClick: onOpenLink } : retry}
      others={job ? [] : [...(onOpenLink ? [retry] : []), ...listOtherProfiles(props, trans), close]}
    >
      {describeFault(fault, trans)}
      {job && ` ${trans.__('Shown as of %1.', formatTime(state.seenAt))}`}
    </Notice>
  );
}

function NotFoundNotice(props: ResultNoticeProps & { readonly goneAt: number }): ReactElement {
  const { state, goneAt, service, owner, onClose } = props;
  const trans = useTranslation();
  const serviceName =
    service === null ? trans.__('The service on this computer') : trans.__('The service “%1”', visibleText(service));
  const close = { label: trans.__('Close'), onClick: onClose };
  const wasKnown = state.job !== undefined;
  const finding = wasKnown
    ? trans.__(
        '%1 had this job at %2 but not at %3: it was deleted.',
        serviceName,
        formatTime(state.seenAt),
        formatTime(goneAt)
      )
    : owner === null
      ? trans.__('%1 had no job with this name at %2.', serviceName, formatTime(goneAt))
      : trans.__('%1 had no job with this name by %2 at %3.', serviceName, visibleText(owner), formatTime(goneAt));
  const explanation = wasKnown
    ? state.result !== null && trans.__('The data already loaded stay available until this tab is closed.')
    : trans.__('It was deleted, or it belongs to another service or account.');
  return (
    <Notice
      tone="warning"
      title={wasKnown ? trans.__('This job no longer exists') : trans.__('No such job')}
      action={close}
      others={wasKnown ? [] : listOtherProfiles(props, trans)}
    >
      {[finding, explanation].filter(Boolean).join(' ')}
    </Notice>
  );
}

/** The notice shown instead of a missing result. */
export function ResultPending({ state, onRetry }: ResultNoticeProps): ReactElement | null {
  const trans = useTranslation();
  const { job, fault, resultFault, goneAt } = state;
  if (!job) {
    return fault === null && goneAt === null ? (
      <Notice tone="busy" title={trans.__('Loading the job')} fillsView />
    ) : null;
  }
  if (goneAt !== null) {
    return null;
  }
  if (isLive(job)) {
    const isRunning = shownState(job) === 'running';
    return (
      <Notice tone="plain" title={isRunning ? trans.__('Running') : trans.__('Waiting in the queue')} fillsView>
        {isRunning && <Progress job={job} />}
        <p>{trans.__('The result appears here when the job is complete.')}</p>
      </Notice>
    );
  }
  if (job.status !== 'Complete') {
    return (
      <Notice tone="plain" title={trans.__('No result')} fillsView>
        {trans.__('The job ended without a result. Its log may say why.')}
      </Notice>
    );
  }
  if (resultFault === null) {
    return <Notice tone="busy" title={trans.__('Fetching the result')} fillsView />;
  }
  const title = resultFault.isTemporary
    ? trans.__('The result cannot be fetched now')
    : trans.__('The result cannot be shown');
  return (
    <Notice
      tone={resultFault.isTemporary ? 'warning' : 'error'}
      title={title}
      action={{ label: resultFault.isTemporary ? trans.__('Try now') : trans.__('Try again'), onClick: onRetry }}
    >
      {describeFault(resultFault, trans)}
    </Notice>
  );
}

function describeFault({ message, isTemporary }: Fault, trans: Trans): string {
  return isTemporary ? `${message} ${trans.__('Retrying automatically.')}` : message;
}

function listOtherProfiles({ otherProfiles }: ResultNoticeProps, trans: Trans): readonly NoticeAction[] {
  return otherProfiles.map(({ location, onSelect }) => ({
    label: trans.__('Look for it %1', location),
    onClick: onSelect
  }));
}

/** The time, with the date unless it is today. */
function formatTime(time: number): string {
  const moment = new Date(time);
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday ? moment.toLocaleTimeString() : moment.toLocaleString();
}
