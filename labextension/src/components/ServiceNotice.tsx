/** Says how the job service is, when it is not well. */
import type { ReactElement } from 'react';

import type { ServiceReport } from '../api/answers';
import { formatAge } from '../models/time';
import type { Trans } from '../models/words';
import { Notice } from './Notice';
import { useWords } from './words';

/** What the notice needs. */
export interface ServiceNoticeProps {
  readonly service: ServiceReport | null;
  /** Why the Jupyter server did not answer; null while it does. */
  readonly lost: string | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether nothing else is shown. */
  readonly isWhole: boolean;
  readonly onRetry: () => void;
  /** Leads to a place where a key is stored. */
  readonly onConnect?: () => void;
}

/** A notice about the service, or nothing when all is well. */
export function ServiceNotice(props: ServiceNoticeProps): ReactElement | null {
  const { service, lost, isWhole, onRetry, onConnect } = props;
  const trans = useWords();
  const retry = { label: trans.__('Try now'), onClick: onRetry };
  if (lost !== null) {
    const title = trans.__('No connection to JupyterLab’s server');
    return (
      <Notice tone="error" title={title} action={retry} isWhole={isWhole}>
        {lost} {trans.__('Retrying automatically.')}
      </Notice>
    );
  }
  switch (service?.state) {
    case 'starting':
      return (
        <Notice tone="busy" title={startingTitle(service, trans)} isWhole={isWhole}>
          {service.isEmbedded ? trans.__('This takes a few seconds, once.') : service.url}
        </Notice>
      );
    case 'unreachable': {
      const title = trans.__('%1 does not answer', nameOf(service, trans));
      return (
        <Notice tone="warning" title={title} action={retry} isWhole={isWhole}>
          <p>{service.error}</p>
          <p>
            {lastGood(service, props.now, trans)}
            {service.isEmbedded
              ? trans.__('It is restarted automatically.')
              : trans.__('Submitted jobs continue there. Retrying automatically.')}
          </p>
        </Notice>
      );
    }
    case 'unauthorized': {
      const title = trans.__('%1 refuses the key', nameOf(service, trans));
      const connect = onConnect && !service.isEmbedded;
      const action = connect ? { label: trans.__('Store a key …'), onClick: onConnect } : retry;
      return (
        <Notice tone="error" title={title} action={action} isWhole={isWhole}>
          <p>{service.error}</p>
        </Notice>
      );
    }
    default:
      return null;
  }
}

function lastGood(service: ServiceReport, now: number, trans: Trans): string {
  return service.lastGood
    ? `${trans.__('Last response: %1.', formatAge((now - Date.parse(service.lastGood)) / 1000, trans))} `
    : '';
}

function startingTitle(service: ServiceReport, trans: Trans): string {
  return service.isEmbedded ? trans.__('Starting the service of this computer') : trans.__('Connecting to the service');
}

function nameOf(service: ServiceReport, trans: Trans): string {
  return service.isEmbedded ? trans.__('The service of this computer') : trans.__('The service “%1”', service.profile);
}
