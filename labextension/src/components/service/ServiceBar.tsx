/** The bottom of the sidebar: the selected service, its state, and a list to select another. */
import type { ReactElement } from 'react';

import type { ServiceReport } from '../../api/responses';
import { EMBEDDED, serviceTitle, type ProfilesState } from '../../models/service/profiles';
import { useTranslation } from '../translation';

/** Props of the bar. */
export interface ServiceBarProps {
  readonly service: ServiceReport | null;
  /** Whether the Jupyter server does not answer, so that the service's state is unknown. */
  readonly isDisconnected: boolean;
  readonly state: ProfilesState;
  readonly onChoose: (profile: string) => void;
  readonly onConnect: () => void;
}

const CONNECT = '\u0000connect';

/** The service bar. */
export function ServiceBar({ service, isDisconnected, state, onChoose, onConnect }: ServiceBarProps): ReactElement {
  const trans = useTranslation();
  const labels = {
    starting: trans.__('Starting'),
    ok: trans.__('Connected'),
    unreachable: trans.__('Not responding'),
    unauthorized: trans.__('Key refused')
  };
  const active = state.profiles.find(profile => profile.isActive)?.name;
  const chosen = state.chosen ?? active ?? service?.profile ?? EMBEDDED;
  const names = state.profiles.length > 0 ? state.profiles.map(profile => profile.name) : [chosen];
  const isConnecting = service === null || (service.state === 'starting' && !service.isEmbedded);
  const label = isDisconnected
    ? trans.__('Disconnected')
    : isConnecting
      ? trans.__('Connecting')
      : labels[service.state];
  return (
    <div className="fn-ServiceBar">
      <span
        className={`fn-Dot fn-mod-${isDisconnected ? 'starting' : (service?.state ?? 'starting')}`}
        aria-hidden="true"
      />
      <select
        className="fn-Select"
        aria-label={trans.__('Service')}
        title={service?.url ?? trans.__('Service')}
        value={chosen}
        onChange={event => {
          const name = event.currentTarget.value;
          if (name === CONNECT) {
            onConnect();
          } else {
            onChoose(name);
          }
        }}
      >
        {names.map(name => (
          <option key={name} value={name}>
            {serviceTitle(name, trans)}
          </option>
        ))}
        <option value={CONNECT}>{trans.__('Connect to a service …')}</option>
      </select>
      <span className="fn-ServiceBar-word" role="status">
        {label}
      </span>
    </div>
  );
}
