import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';

import type { AccountResponse } from '../src/api/responses';
import { AccountLine } from '../src/components/service/AccountLine';
import { AccountModel } from '../src/models/service/account';

const ACCOUNT: AccountResponse = {
  isOwnService: false,
  hasKey: true,
  email: null,
  tier: null,
  isClaimed: null,
  expiresAt: null,
  canClaim: false,
  jobsAllowed: null,
  jobsLeft: null,
  weightedHours: null,
  allowanceWeightedHours: null,
  budgetWeightedHours: null,
  spentWeightedHours: null
};
const TRIAL: AccountResponse = {
  ...ACCOUNT,
  tier: 'agent-trial',
  isClaimed: false,
  expiresAt: '2026-12-21T10:00:00Z',
  canClaim: true,
  jobsAllowed: 10,
  jobsLeft: 2
};

describe('the account line at the bottom of the sidebar', () => {
  it('is not rendered for a service without accounts', () => {
    const own = { ...ACCOUNT, isOwnService: true };
    const { container } = render(<AccountLine account={own} claimAddress="/claim" />);
    expect(container.childElementCount).toBe(0);
  });

  it('shows the jobs left on a trial key and links to its claim page through our own server', () => {
    render(<AccountLine account={TRIAL} claimAddress="/foldnote/api/account/claim" />);
    expect(screen.getByRole('button').textContent).toBe('Jobs left: at most 2 of 10');
    const link = screen.getByRole('link', { name: 'Claim …' });
    expect(link.getAttribute('href')).toBe('/foldnote/api/account/claim');
    expect(link.getAttribute('rel')).toBe('noopener noreferrer');
  });

  it('shows that no jobs are left, and writes a small cost without an exponent', async () => {
    render(<AccountLine account={{ ...TRIAL, jobsLeft: 0, weightedHours: 3.1e-5 }} claimAddress="/claim" />);
    expect(screen.getByRole('button').textContent).toBe('Jobs left: none of 10');
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByText('under 0.001 weighted hours')).toBeTruthy();
  });

  it('shows the details when it is expanded, with a hostile e-mail address as text', async () => {
    const account = { ...TRIAL, email: '<b>a</b>\u202e@x', weightedHours: 1.23456 };
    const { container } = render(<AccountLine account={account} claimAddress="/claim" />);
    await userEvent.click(screen.getByRole('button'));
    expect(screen.getByText('<b>a</b>\ufffd@x')).toBeTruthy();
    expect(screen.getByText('1.235 weighted hours')).toBeTruthy();
    expect(screen.getByText(/not claimed; works until/)).toBeTruthy();
    expect(container.querySelector('b')).toBeNull();
  });
});

describe('AccountModel', () => {
  it('requests a fresh account when the number of jobs has grown', async () => {
    const requests: boolean[] = [];
    const model = new AccountModel({
      account: isFresh => {
        requests.push(isFresh);
        return Promise.resolve(TRIAL);
      }
    });
    model.noteJobs(3);
    await model.load();
    model.noteJobs(3);
    model.noteJobs(2);
    model.noteJobs(3);
    expect(requests).toEqual([false, true]);
  });

  it('discards a response from the previously selected service', async () => {
    let respond: (account: AccountResponse) => void = () => undefined;
    const model = new AccountModel({ account: () => new Promise(done => (respond = done)) });
    const loading = model.load();
    model.reset();
    respond(TRIAL);
    await loading;
    expect(model.state().account).toBeNull();
  });
});
