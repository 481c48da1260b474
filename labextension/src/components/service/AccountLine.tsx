/** The account's remaining allowance, as a line at the bottom of the sidebar that expands to all details. */
import { useState, type ReactElement } from 'react';

import type { AccountResponse } from '../../api/responses';
import { formatCount, visibleText } from '../../models/formatting/text';
import { formatMoment } from '../../models/formatting/time';
import type { Trans } from '../../models/translation';
import { FoldIcon } from '../controls/icons';
import { useTranslation } from '../translation';

const LEAST_HOURS = 0.001;

/** Props of the line. */
export interface AccountLineProps {
  readonly account: AccountResponse | null;
  /** Address that leads to the claim page of a trial account; only followed, never read. */
  readonly claimAddress: string;
}

/** The line; nothing if there is nothing to show. */
export function AccountLine({ account, claimAddress }: AccountLineProps): ReactElement | null {
  const trans = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const facts = account ? listAccountFacts(account, trans) : [];
  if (!account || facts.length === 0) {
    return null;
  }
  return (
    <div className="fn-Account">
      <div className="fn-Account-head">
        <button type="button" className="fn-Fold" aria-expanded={isOpen} onClick={() => setOpen(before => !before)}>
          <FoldIcon isOpen={isOpen} />
          <span className={isScarce(account) ? 'fn-Account-scarce' : undefined}>
            {summarizeAccount(account, trans)}
          </span>
        </button>
        {account.canClaim && (
          <a
            className="fn-Link"
            href={claimAddress}
            target="_blank"
            rel="noopener noreferrer"
            title={trans.__('Opens the service’s page in a new tab. The person who claims the account owns its jobs.')}
          >
            {trans.__('Claim …')}
          </a>
        )}
      </div>
      {isOpen && (
        <dl className="fn-Account-facts">
          {facts.map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** All details, as term and value. */
function listAccountFacts(account: AccountResponse, trans: Trans): readonly (readonly [string, string])[] {
  const hours = (value: number | null): string =>
    value === null ? '' : trans.__('%1 weighted hours', formatHours(value, trans));
  const spent = hours(account.spentWeightedHours);
  const budget = hours(account.budgetWeightedHours);
  const rows: readonly (readonly [string, string])[] = [
    [trans.__('Account'), visibleText(account.email ?? '')],
    [trans.__('Jobs left'), describeJobsLeft(account, trans)],
    [trans.__('Trial key'), describeTrial(account, trans)],
    [trans.__('Used by the listed jobs'), hours(account.weightedHours)],
    [trans.__('Limit per run'), hours(account.allowanceWeightedHours)],
    [trans.__('Organization'), budget && spent ? trans.__('%1 of %2 used', spent, budget) : budget],
    [trans.__('API key'), account.hasKey ? '' : trans.__('none; connect to store one')]
  ];
  return rows.filter(([, value]) => value !== '');
}

function summarizeAccount(account: AccountResponse, trans: Trans): string {
  if (!account.hasKey) {
    return trans.__('No API key');
  }
  const left = describeJobsLeft(account, trans);
  return left === '' ? trans.__('Account') : trans.__('Jobs left: %1', left);
}

function describeJobsLeft({ jobsAllowed, jobsLeft }: AccountResponse, trans: Trans): string {
  if (jobsAllowed === null || jobsLeft === null) {
    return '';
  }
  const allowed = formatCount(jobsAllowed);
  return jobsLeft === 0
    ? trans.__('none of %1', allowed)
    : trans.__('at most %1 of %2', formatCount(jobsLeft), allowed);
}

/** Hours with four significant digits; a small cost is not written with an exponent. */
function formatHours(value: number, trans: Trans): string {
  return value > 0 && value < LEAST_HOURS ? trans.__('under %1', LEAST_HOURS) : String(Number(value.toPrecision(4)));
}

function describeTrial({ tier, isClaimed, expiresAt }: AccountResponse, trans: Trans): string {
  if (tier === null) {
    return '';
  }
  if (isClaimed === true) {
    return trans.__('claimed');
  }
  return expiresAt === null
    ? trans.__('not claimed')
    : trans.__('not claimed; works until %1', formatMoment(expiresAt));
}

/** Whether hardly any jobs are left. */
function isScarce({ jobsAllowed, jobsLeft }: AccountResponse): boolean {
  return jobsAllowed !== null && jobsLeft !== null && jobsLeft <= jobsAllowed / 5;
}
