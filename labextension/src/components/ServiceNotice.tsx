/** Says how the job service is, when it is not well. */
import type { ReactElement } from 'react';

import type { ServiceReport } from '../api/answers';
import { formatAge } from '../models/time';
import { Notice } from './Notice';

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
}

/** A notice about the service, or nothing when all is well. */
export function ServiceNotice(props: ServiceNoticeProps): ReactElement | null {
  const { service, lost, isWhole, onRetry } = props;
  const retry = { label: 'Try now', onClick: onRetry };
  if (lost !== null) {
    return (
      <Notice tone="error" title="No connection to JupyterLab’s server" action={retry} isWhole={isWhole}>
        {lost} It is tried again by itself.
      </Notice>
    );
  }
  switch (service?.state) {
    case 'starting':
      return (
        <Notice tone="busy" title={startingTitle(service)} isWhole={isWhole}>
          {service.isEmbedded ? 'This takes a few seconds, once.' : service.url}
        </Notice>
      );
    case 'unreachable':
      return (
        <Notice tone="warning" title={`${nameOf(service)} does not answer`} action={retry} isWhole={isWhole}>
          <p>{service.error}</p>
          <p>
            {lastGood(service, props.now)}
            {service.isEmbedded
              ? 'It is started again by itself.'
              : 'Submitted jobs go on there. It is asked again by itself.'}
          </p>
        </Notice>
      );
    case 'unauthorized':
      return (
        <Notice tone="error" title={`${nameOf(service)} refuses the key`} action={retry} isWhole={isWhole}>
          <p>{service.error}</p>
        </Notice>
      );
    default:
      return null;
  }
}

function lastGood(service: ServiceReport, now: number): string {
  return service.lastGood
    ? `Last good answer: ${formatAge((now - Date.parse(service.lastGood)) / 1000)}. `
    : '';
}

function startingTitle(service: ServiceReport): string {
  return service.isEmbedded ? 'Starting the service of this computer' : 'Connecting to the service';
}

function nameOf(service: ServiceReport): string {
  return service.isEmbedded ? 'The service of this computer' : `The service “${service.profile}”`;
}
