/** Rows of a batch's table are answered with the result of their job. */
import { expect, test, vi } from 'vitest';

import type { JobRef } from '../src/api/responses';
import { PLAIN } from '../src/models/translation';
import { handleRowRequest, OPEN_JOB } from '../src/rowresults';

const ANSWER = { html: '<p>seen</p>', files: [], manifest: '' };
const find = (job: string, profile: string | null): JobRef | null =>
  profile === null ? null : { job, member: null, profile };

function makeRequest(profile: string | null): {
  event: Event;
  show: ReturnType<typeof vi.fn>;
  fail: ReturnType<typeof vi.fn>;
} {
  const show = vi.fn();
  const fail = vi.fn();
  return {
    event: new CustomEvent(OPEN_JOB, { cancelable: true, detail: { job: 'ab3', profile, show, fail } }),
    show,
    fail
  };
}

test('the result of the row’s job is shown', async () => {
  const { event, show } = makeRequest('lab');
  const readResult = vi.fn().mockResolvedValue(ANSWER);
  handleRowRequest(event, { readResult }, PLAIN, find);
  await vi.waitFor(() => expect(show).toHaveBeenCalledWith('<p>seen</p>'));
  expect(readResult).toHaveBeenCalledWith({ job: 'ab3', member: null, profile: 'lab' });
  expect(event.defaultPrevented).toBe(true);
});

test('a failure is reported with the reason', async () => {
  const { event, fail } = makeRequest('lab');
  handleRowRequest(
    event,
    { readResult: () => Promise.reject(new Error('There is no job of this name.')) },
    PLAIN,
    find
  );
  await vi.waitFor(() =>
    expect(fail).toHaveBeenCalledWith('The result cannot be shown: There is no job of this name.')
  );
});

test('a job of an unknown service and a handled event are ignored', () => {
  const readResult = vi.fn();
  const { event } = makeRequest(null);
  handleRowRequest(event, { readResult }, PLAIN, find);
  expect(event.defaultPrevented).toBe(false);
  const answered = makeRequest('lab').event;
  answered.preventDefault();
  handleRowRequest(answered, { readResult }, PLAIN, find);
  handleRowRequest(new Event(OPEN_JOB), { readResult }, PLAIN, find);
  expect(readResult).not.toHaveBeenCalled();
});
