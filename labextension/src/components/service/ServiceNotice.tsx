/** A notice when the job service has a problem. */
import type { ReactElement } from 'react';

import type { ServiceReport } from '../../api/responses';
import { formatAge } from '../../models/formatting/time';
import type { Trans } from '../../models/translation';
import { CodeText } from '../controls/CodeText';
import { Notice } from '../controls/Notice';
import { useTranslation } from '../translation';

/** Props of the notice. */
export interface ServiceNoticeProps {
  readonly service: ServiceReport | null;
  /** Why the Jupyter server did not respond; null if it did. */
  readonly connectionError: string | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether it is the only content of the view. */
  readonly fillsView: boolean;
  readonly onRetry: () => void;
  /** Opens the dialog for storing a key. */
  readonly onConnect?: () => void;
}

/** The notice, or nothing if all is well. */
export function ServiceNotice(props: ServiceNoticeProps): ReactElement | null {
  const { service, connectionError, fillsView, onRetry, onConnect } = props;
  const trans = useTranslation();
  const retry = { label: trans.__('Try now'), onClick: onRetry };
  if (connectionError !== null) {
    const title = trans.__('No connection to the Jupyter server');
    return (
      <Notice tone="error" title={title} action={retry} fillsView={fillsView}>
        {connectionError} {trans.__('Retrying automatically.')}
      </Notice>
    );
  }
  switch (service?.state) {
    case 'starting':
      return (
        <Notice tone="busy" title={startingTitle(service, trans)} fillsView={fillsView}>
          {service.isEmbedded ? trans.__('This takes a few seconds.') : service.url}
        </Notice>
      );
    case 'unreachable': {
      const title = trans.__('%1 does not answer', nameOf(service, trans));
      return (
        <Notice tone="warning" title={title} action={retry} fillsView={fillsView}>
          <p>
            <CodeText text={service.error ?? ''} />
          </p>
          <p>
            {describeLastResponse(service, props.now, trans)}
            {service.isEmbedded
              ? trans.__('It is restarted automatically.')
              : trans.__('Submitted jobs continue there. Retrying automatically.')}
          </p>
        </Notice>
      );
    }
    case 'unauthorized': {
      const title = trans.__('%1 refuses the key', nameOf(service, trans));
      const canConnect = onConnect && !service.isEmbedded;
      const action = canConnect ? { label: trans.__('Store a key …'), onClick: onConnect } : retry;
      return (
        <Notice tone="error" title={title} action={action} fillsView={fillsView}>
          <p>
            <CodeText text={service.error ?? ''} />
          </p>
        </Notice>
      );
    }
    default:
      return null;
  }
}

function describeLastResponse(service: ServiceReport, now: number, trans: Trans): string {
  return service.lastGood
    ? `${trans.__('Last response: %1.', formatAge((now - Date.parse(service.lastGood)) / 1000, trans))} `
    : '';
}

function startingTitle(service: ServiceReport, trans: Trans): string {
  return service.isEmbedded ? trans.__('Starting the service on this computer') : trans.__('Connecting to the service');
}

function nameOf(service: ServiceReport, trans: Trans): string {
  return service.isEmbedded ? trans.__('The service on this computer') : trans.__('The service “%1”', service.profile);
}
