/** Notices in a result's tab when there is no result: not yet available, temporarily unavailable, or deleted. */
import type { ReactElement } from 'react';

import { isLive, shownState } from '../models/status';
import type { Fault, ResultState } from '../models/result';
import { visibleText } from '../models/text';
import type { Trans } from '../models/words';
import { Progress } from './JobRow';
import { Notice, type NoticeAction } from './Notice';
import { useWords } from './words';

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
  readonly elsewhere: readonly OtherProfile[];
  /** Requests the missing data at once. */
  readonly onRetry: () => void;
  /** Asks for a link; absent if the job was not opened with one. */
  readonly onOpenLink?: () => void;
  readonly onClose: () => void;
}

/** A service that may have the job. */
export interface OtherProfile {
  /** Its location in a sentence, such as “at lab”. */
  readonly place: string;
  readonly onLook: () => void;
}

/** The notice above the result: the job is gone, or the service does not answer. Null if all is well. */
export function ResultTrouble(props: ResultNoticeProps): ReactElement | null {
  const { state, onRetry, onOpenLink, onClose } = props;
  const trans = useWords();
  const { job, fault, goneAt } = state;
  const retry = { label: trans.__('Try now'), onClick: onRetry };
  const close = { label: trans.__('Close'), onClick: onClose };
  if (goneAt !== null) {
    return <DeletedNotice {...props} goneAt={goneAt} />;
  }
  if (fault === null || (job && !isLive(job))) {
    return null;
  }
  const title = fault.isPassing
    ? trans.__('The service does not answer')
    : props.isShared
      ? trans.__('The shared job cannot be opened')
      : trans.__('The job cannot be fetched from the service');
  return (
    <Notice
      tone="warning"
      title={title}
      action={onOpenLink ? { label: trans.__('Open a shared link …'), onClick: onOpenLink } : retry}
      others={job ? [] : [...(onOpenLink ? [retry] : []), ...lookElsewhere(props, trans), close]}
    >
      {faultWords(fault, trans)}
      {job && ` ${trans.__('Shown as of %1.', momentOf(state.seenAt))}`}
    </Notice>
  );
}

function DeletedNotice(props: ResultNoticeProps & { readonly goneAt: number }): ReactElement {
  const { state, goneAt, service, owner, onClose } = props;
  const trans = useWords();
  const where =
    service === null ? trans.__('The service on this computer') : trans.__('The service “%1”', visibleText(service));
  const close = { label: trans.__('Close'), onClick: onClose };
  const wasThere = state.job !== undefined;
  const asked = wasThere
    ? trans.__('%1 had this job at %2 but not at %3: it was deleted.', where, momentOf(state.seenAt), momentOf(goneAt))
    : owner === null
      ? trans.__('%1 had no job with this name at %2.', where, momentOf(goneAt))
      : trans.__('%1 had no job with this name by %2 at %3.', where, visibleText(owner), momentOf(goneAt));
  const why = wasThere
    ? state.result !== null && trans.__('The data already loaded stay available until this tab is closed.')
    : trans.__('It was deleted, or it belongs to another service or account.');
  return (
    <Notice
      tone="warning"
      title={wasThere ? trans.__('This job no longer exists') : trans.__('No such job')}
      action={close}
      others={wasThere ? [] : lookElsewhere(props, trans)}
    >
      {[asked, why].filter(Boolean).join(' ')}
    </Notice>
  );
}

/** The notice shown instead of a missing result. */
export function ResultPending({ state, onRetry }: ResultNoticeProps): ReactElement | null {
  const trans = useWords();
  const { job, fault, resultFault, goneAt } = state;
  if (!job) {
    return fault === null && goneAt === null ? (
      <Notice tone="busy" title={trans.__('Loading the job')} isWhole />
    ) : null;
  }
  if (goneAt !== null) {
    return null;
  }
  if (isLive(job)) {
    const isRunning = shownState(job) === 'running';
    return (
      <Notice tone="plain" title={isRunning ? trans.__('Running') : trans.__('Waiting in the queue')} isWhole>
        {isRunning && <Progress job={job} />}
        <p>{trans.__('The result appears here when the job is complete.')}</p>
      </Notice>
    );
  }
  if (job.status !== 'Complete') {
    return (
      <Notice tone="plain" title={trans.__('No result')} isWhole>
        {trans.__('The job ended without a result. Its log may say why.')}
      </Notice>
    );
  }
  if (resultFault === null) {
    return <Notice tone="busy" title={trans.__('Fetching the result')} isWhole />;
  }
  const title = resultFault.isPassing
    ? trans.__('The result cannot be fetched now')
    : trans.__('The result cannot be shown');
  return (
    <Notice
      tone={resultFault.isPassing ? 'warning' : 'error'}
      title={title}
      action={{ label: resultFault.isPassing ? trans.__('Try now') : trans.__('Try again'), onClick: onRetry }}
    >
      {faultWords(resultFault, trans)}
    </Notice>
  );
}

function faultWords({ sentence, isPassing }: Fault, trans: Trans): string {
  return isPassing ? `${sentence} ${trans.__('Retrying automatically.')}` : sentence;
}

function lookElsewhere({ elsewhere }: ResultNoticeProps, trans: Trans): readonly NoticeAction[] {
  return elsewhere.map(({ place, onLook }) => ({ label: trans.__('Look for it %1', place), onClick: onLook }));
}

/** The time, with the date unless it is today. */
function momentOf(time: number): string {
  const moment = new Date(time);
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday ? moment.toLocaleTimeString() : moment.toLocaleString();
}
