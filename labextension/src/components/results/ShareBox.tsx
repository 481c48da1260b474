/** Links with which colleagues open a job: make one, copy it, see who has opened it, and revoke it. */
import { useEffect, useState, type ReactElement } from 'react';

import type { ShareRecord } from '../../api/responses';
import { messageOf, visibleText } from '../../models/formatting/text';
import { formatClock } from '../../models/formatting/time';
import type { Trans } from '../../models/translation';
import { CodeText } from '../controls/CodeText';
import { useTranslation } from '../translation';

const DAYS = [7, 30, 90, 366] as const;

/** Props of the box. */
export interface ShareBoxProps {
  readonly list: () => Promise<readonly ShareRecord[]>;
  readonly make: (days: number) => Promise<ShareRecord>;
  /** Revokes a link, and returns the confirmation to show. */
  readonly revoke: (name: string) => Promise<string>;
  readonly copy: (text: string) => void;
}

/** The links to one job. */
export function ShareBox(props: ShareBoxProps): ReactElement {
  const trans = useTranslation();
  const { shares, newShare, isBusy, message, fault, setMessage, create, revoke } = useShares(props);
  return (
    <div className="fn-Share" aria-busy={isBusy}>
      <p>
        {trans.__(
          'A colleague opens the link with their own key and sees the settings and the result, read-only. The link works for members of your organization or, if you are in none, for anyone with an account at the service.'
        )}
      </p>
      <LinkForm isBusy={isBusy} onCreate={create} />
      {newShare?.url && (
        <NewLink
          share={newShare}
          url={newShare.url}
          onCopy={url => {
            props.copy(url);
            setMessage(trans.__('Copied.'));
          }}
        />
      )}
      <p role="status">{message}</p>
      {fault !== null && (
        <p className="fn-JobRow-error fn-mod-whole" role="alert">
          <CodeText text={fault} />
        </p>
      )}
      {shares !== null && shares.length > 0 && (
        <>
          <h3>{trans.__('Links to this job')}</h3>
          <ul>
            {shares.map(share => (
              <LinkRow key={share.name} share={share} isBusy={isBusy} onRevoke={() => revoke(share.name)} />
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** The links to a job, and operations on them. */
interface Shares {
  /** Null before the first response. */
  readonly shares: readonly ShareRecord[] | null;
  /** The link created last, with its address; null if there is none or it was revoked. */
  readonly newShare: ShareRecord | null;
  /** Whether an operation is running. */
  readonly isBusy: boolean;
  /** Confirmation of the last operation; empty for none. */
  readonly message: string;
  /** Why the last operation failed; null if it did not. */
  readonly fault: string | null;
  readonly setMessage: (message: string) => void;
  readonly create: (days: number) => void;
  readonly revoke: (name: string) => void;
}

/** Lists the links to a job, and again after each operation. */
function useShares({ list, make, revoke }: ShareBoxProps): Shares {
  const [shares, setShares] = useState<readonly ShareRecord[] | null>(null);
  const [newShare, setNewShare] = useState<ShareRecord | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [message, setMessage] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const run = async (action: () => Promise<string>): Promise<void> => {
    setBusy(true);
    setFault(null);
    setMessage('');
    try {
      setMessage(await action());
      setShares(await list());
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    list().then(setShares, (error: unknown) => setFault(messageOf(error)));
  }, [list]);
  return {
    shares,
    newShare,
    isBusy,
    message,
    fault,
    setMessage,
    create: days =>
      void run(async () => {
        setNewShare(await make(days));
        return '';
      }),
    revoke: name =>
      void run(async () => {
        const confirmation = await revoke(name);
        setNewShare(before => (before?.name === name ? null : before));
        return confirmation;
      })
  };
}

interface LinkFormProps {
  readonly isBusy: boolean;
  readonly onCreate: (days: number) => void;
}

/** Selects how long a new link is valid, and creates it. */
function LinkForm({ isBusy, onCreate }: LinkFormProps): ReactElement {
  const trans = useTranslation();
  const [days, setDays] = useState<number>(30);
  const dayLabels: Readonly<Record<number, string>> = {
    7: trans.__('7 days'),
    30: trans.__('30 days'),
    90: trans.__('90 days'),
    366: trans.__('1 year')
  };
  return (
    <div className="fn-Share-row">
      <label>
        {trans.__('Valid for')}{' '}
        <select value={days} onChange={event => setDays(Number(event.currentTarget.value))}>
          {DAYS.map(option => (
            <option key={option} value={option}>
              {dayLabels[option]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" className="fn-Button" disabled={isBusy} onClick={() => onCreate(days)}>
        {trans.__('Create link')}
      </button>
    </div>
  );
}

interface NewLinkProps {
  readonly share: ShareRecord;
  readonly url: string;
  readonly onCopy: (url: string) => void;
}

/** A link just made, with its address. */
function NewLink({ share, url, onCopy }: NewLinkProps): ReactElement {
  const trans = useTranslation();
  return (
    <div className="fn-Share-made">
      <div className="fn-Share-row">
        <input
          className="jp-mod-styled"
          readOnly
          value={url}
          aria-label={trans.__('New link')}
          onFocus={event => event.currentTarget.select()}
        />
        <button type="button" className="fn-Button" onClick={() => onCopy(url)}>
          {trans.__('Copy')}
        </button>
      </div>
      <p>
        {describeReaders(share, trans)} {trans.__('Copy it now; it will not be shown again.')}
      </p>
    </div>
  );
}

interface LinkRowProps {
  readonly share: ShareRecord;
  readonly isBusy: boolean;
  readonly onRevoke: () => void;
}

/** A valid link: until when, who has opened it, and a button to revoke it. */
function LinkRow({ share, isBusy, onRevoke }: LinkRowProps): ReactElement {
  const trans = useTranslation();
  const until = formatClock(share.expires, Date.now());
  return (
    <li className="fn-Share-row">
      <span>
        <bdi>{trans.__('Until %1', until)}</bdi>
        <span className="fn-Tool-method">{describeOpenings(share, trans)}</span>
      </span>
      <button
        type="button"
        className="fn-Button fn-mod-small"
        disabled={isBusy}
        aria-label={trans.__('Revoke the link that is valid until %1', until)}
        onClick={onRevoke}
      >
        {trans.__('Revoke')}
      </button>
    </li>
  );
}

/** Who can open a link, and until when. */
function describeReaders({ expires, organization }: ShareRecord, trans: Trans): string {
  const until = formatClock(expires, Date.now());
  return organization
    ? trans.__('For members of %1, until %2.', visibleText(organization), until)
    : trans.__('For anyone with an account at the service, until %1.', until);
}

/** Number of times a link was opened, and by whom. */
function describeOpenings({ openings }: ShareRecord, trans: Trans): string {
  return openings.length === 0
    ? trans.__('Not opened yet')
    : openings.map(({ count, email }) => trans.__('%1 (%2×)', visibleText(email), count)).join(', ');
}
