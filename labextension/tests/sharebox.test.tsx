/** The dialog with the links to one job: made, copied, listed with their openings, revoked, refused. */
import { act, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';

import type { ShareRecord } from '../src/api/responses';
import { ShareBox } from '../src/components/results/ShareBox';

const URL = 'https://lab.example.org/shared#secret-token';
const KEPT: ShareRecord = {
  name: 'kept',
  jobName: 'fv-17',
  created: '2026-11-01T10:00:00Z',
  expires: '2026-12-24T10:00:00Z',
  organization: null,
  openings: [],
  url: null
};
const MADE: ShareRecord = { ...KEPT, name: 'made', expires: '2027-01-30T10:00:00Z', url: URL };

/** A service with these links, and the box before it. */
function open(shares: ShareRecord[] = []) {
  const made: number[] = [];
  const copied: string[] = [];
  const service = {
    list: vi.fn(() => Promise.resolve(shares.map(each => ({ ...each, url: null })))),
    make: vi.fn((days: number) => {
      made.push(days);
      shares.push(MADE);
      return Promise.resolve(MADE);
    }),
    revoke: vi.fn((name: string) => {
      shares.splice(
        shares.findIndex(each => each.name === name),
        1
      );
      return Promise.resolve('Revoked, says the service.');
    }),
    copy: (text: string) => void copied.push(text)
  };
  const { container } = render(<ShareBox {...service} />);
  return { service, made, copied, container };
}

const button = (name: string | RegExp): HTMLElement => screen.getByRole('button', { name });

describe('the links to a job', () => {
  it('are requested once, and the list is hidden if there are none', async () => {
    const { service } = open();
    await act(() => Promise.resolve());
    expect(service.list).toHaveBeenCalledTimes(1);
    expect(screen.queryByText('Links to this job')).toBeNull();
    expect(screen.getByRole('combobox', { name: 'Valid for' })).toHaveProperty('value', '30');
  });

  it('show until when each is valid, and who has opened it how often', async () => {
    const openings = [
      { email: 'bo\u202e@lab.org', count: 2, last: '2026-11-02T10:00:00Z' },
      { email: 'cy@lab.org', count: 1, last: '2026-11-02T11:00:00Z' }
    ];
    open([KEPT, { ...KEPT, name: 'read', openings }]);
    expect(await screen.findByText('Not opened yet')).toBeTruthy();
    expect(screen.getByText('bo\ufffd@lab.org (2×), cy@lab.org (1×)')).toBeTruthy();
    expect(screen.getAllByText(/^Until .*24/)).toHaveLength(2);
  });

  it('are created for the chosen time; the address is shown once, can be copied, and is not in the list', async () => {
    const { made, copied, container } = open();
    await userEvent.selectOptions(screen.getByRole('combobox'), '1 year');
    await userEvent.click(button('Create link'));
    const address = await screen.findByRole('textbox', { name: 'New link' });
    expect([made, (address as HTMLInputElement).value]).toEqual([[366], URL]);
    expect(container.textContent).toMatch(/For anyone with an account at the service, until .*30/);
    expect(container.textContent).not.toContain('secret-token');
    await userEvent.click(button('Copy'));
    expect([copied, screen.getByRole('status').textContent]).toEqual([[URL], 'Copied.']);
    act(() => address.focus());
    const { selectionStart, selectionEnd } = address as HTMLInputElement;
    expect([selectionStart, selectionEnd]).toEqual([0, URL.length]);
  });

  it('name the organization whose members can open them', async () => {
    const { service, container } = open();
    service.make.mockResolvedValueOnce({ ...MADE, organization: 'Lab <A>' });
    await userEvent.click(button('Create link'));
    await screen.findByRole('textbox');
    expect(container.textContent).toContain('For members of Lab <A>, until ');
  });

  it('are revoked one at a time; the address of a revoked one is hidden', async () => {
    const { service } = open([KEPT]);
    await userEvent.click(button('Create link'));
    await screen.findByRole('textbox');
    await userEvent.click(await screen.findByRole('button', { name: /^Revoke the link that is valid until .*30/ }));
    await waitFor(() => expect(screen.queryByRole('textbox')).toBeNull());
    expect(service.revoke.mock.calls).toEqual([['made']]);
    expect(screen.getByRole('status').textContent).toBe('Revoked, says the service.');
    expect(screen.getAllByRole('button', { name: /^Revoke/ })).toHaveLength(1);
  });

  it('keep the new address if another link is revoked', async () => {
    open([KEPT]);
    await userEvent.click(button('Create link'));
    await screen.findByRole('textbox');
    await userEvent.click(await screen.findByRole('button', { name: /^Revoke the link that is valid until .*24/ }));
    await waitFor(() => expect(screen.getAllByRole('button', { name: /^Revoke/ })).toHaveLength(1));
    expect(screen.getByRole('textbox')).toHaveProperty('value', URL);
  });

  it('cannot be created or revoked while a request is pending', async () => {
    const { service } = open([KEPT]);
    await screen.findByText('Not opened yet');
    let answer: (share: ShareRecord) => void = vi.fn();
    service.make.mockReturnValueOnce(
      new Promise(resolve => {
        answer = resolve;
      })
    );
    await userEvent.click(button('Create link'));
    const buttons = [button('Create link'), button(/^Revoke/)];
    expect(buttons.map(each => each.hasAttribute('disabled'))).toEqual([true, true]);
    act(() => answer(MADE));
    await waitFor(() => expect(buttons.map(each => each.hasAttribute('disabled'))).toEqual([false, false]));
  });

  it('report in an alert why the service refused, until the next operation', async () => {
    const { service } = open([KEPT]);
    service.revoke.mockRejectedValueOnce(new Error('The service is gone.'));
    await userEvent.click(await screen.findByRole('button', { name: /^Revoke/ }));
    expect((await screen.findByRole('alert')).textContent).toBe('The service is gone.');
    expect(screen.getAllByRole('button', { name: /^Revoke/ })).toHaveLength(1);
    await userEvent.click(button('Create link'));
    await screen.findByRole('textbox');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('report in an alert that they cannot be listed', async () => {
    const list = () => Promise.reject(new Error('No answer.'));
    render(<ShareBox list={list} make={vi.fn()} revoke={vi.fn()} copy={vi.fn()} />);
    expect((await screen.findByRole('alert')).textContent).toBe('No answer.');
  });
});
