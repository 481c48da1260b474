/** A result's tab: what is shown of the job, of its files, its log and settings, and what is said where there is none. */
import { render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import type { ReactElement } from 'react';

import { ResultView, type ResultViewProps } from '../src/components/results/ResultView';
import type { ResultState } from '../src/models/results/result';
import { makeJob } from './records';

const NOW = Date.parse('2026-11-21T10:05:00Z');
const DONE = makeJob({
  jobName: 'fold',
  status: 'Complete',
  completed: '2026-11-21T10:01:05.000Z',
  score: { ptm: 0.8 }
});
const RESULT = {
  title: 'fold',
  html: '<p>A structure</p>',
  files: [{ name: 'model.pdb', kind: 'structure', sizeBytes: 271_400 }],
  manifest: '{"method": "X"}',
  settings: ''
};
const STATE: ResultState = { job: DONE, seenAt: NOW, goneAt: null, fault: null, result: RESULT, resultFault: null };

function view(state: Partial<ResultState> = {}, change: Partial<ResultViewProps> = {}): ReactElement {
  const props: Omit<ResultViewProps, 'state'> = {
    id: 'test',
    name: 'fold',
    toolName: 'AbodyBuilder',
    owner: null,
    service: null,
    isElsewhere: false,
    otherProfiles: [],
    now: NOW,
    readLog: () => Promise.resolve('line of the log'),
    readSettings: () => Promise.resolve('{"heavy": "EVQL"}'),
    onInsert: vi.fn(),
    onShare: null,
    onRerun: vi.fn(),
    onDownload: vi.fn(),
    onInsertFile: vi.fn(),
    onPressFile: vi.fn(),
    onRetry: vi.fn(),
    onClose: vi.fn()
  };
  return <ResultView {...props} {...change} state={{ ...STATE, ...state }} />;
}

const press = (name: string | RegExp): Promise<void> => userEvent.click(screen.getByRole('button', { name }));
const go = (name: string): Promise<void> => userEvent.click(screen.getByRole('tab', { name }));
const facts = (): string => document.querySelector('.fn-Result-facts')?.textContent ?? '';

describe('a complete job', () => {
  it('shows its result, and facts about it in one line', () => {
    render(view());
    expect(screen.getByText('A structure')).toBeTruthy();
    expect(facts()).toMatch(/^AbodyBuilder · Complete · 1 min · pTM 0.8 · /);
  });

  it('is titled with its label, and lists its name among the facts', () => {
    render(view({ job: { ...DONE, localLabel: 'First try, wild type' } }));
    expect(screen.getByRole('heading').textContent).toBe('First try, wild type');
    expect(facts()).toMatch(/^fold · AbodyBuilder · Complete · /);
  });

  it('shows its owner and its service if they are not the user’s own', () => {
    render(view({}, { owner: 'a\u202e@x', isElsewhere: true, service: 'lab' }));
    expect(facts()).toMatch(/^Owner: a\ufffd@x · at lab · /);
  });

  it('can be inserted into a cell, run again and downloaded', async () => {
    const [onInsert, onAgain, onDownload] = [vi.fn(), vi.fn(), vi.fn()];
    render(view({}, { onInsert, onRerun: onAgain, onDownload }));
    await press('Insert cell');
    await press('Change and run again');
    await press('Download');
    expect([onInsert, onAgain].map(handler => handler.mock.calls.length)).toEqual([1, 1]);
    expect(onDownload).toHaveBeenCalledWith(null);
  });

  it('lists its files with kind and size, which can be saved or inserted', async () => {
    const [onDownload, onInsertFile] = [vi.fn(), vi.fn()];
    render(view({}, { onDownload, onInsertFile }));
    await go('Files');
    expect(screen.getByRole('listitem').textContent).toContain('structure · 271 kB');
    await press('Save model.pdb');
    await press('model.pdb');
    await press('Insert model.pdb into the notebook');
    expect(onDownload.mock.calls).toEqual([['model.pdb'], ['model.pdb']]);
    expect(onInsertFile).toHaveBeenCalledWith('model.pdb');
  });

  it('shows its log, its settings and its provenance', async () => {
    render(view());
    await go('Log');
    await screen.findByText('line of the log');
    await go('Settings');
    const settings = await screen.findByRole('table', { name: 'Settings' });
    expect(settings.textContent).toBe('HeavyEVQL');
    expect(screen.getByText('{"heavy": "EVQL"}').closest('details')?.open).toBe(false);
    await go('Provenance');
    expect(screen.getByRole('table', { name: 'Provenance' }).textContent).toBe('MethodX');
  });

  it('has the tool’s display name in its provenance', async () => {
    const manifest = '{"job": {"type": "abodybuilder", "seed": 7, "seedOffered": 7}}';
    render(view({ result: { ...RESULT, manifest } }, { toolName: 'ABodyBuilder2' }));
    await go('Provenance');
    expect(screen.getByRole('table', { name: 'Provenance' }).textContent).toBe('JobToolABodyBuilder2Seed used7');
  });

  it('has a notice if its result has no manifest', async () => {
    render(view({ result: { ...RESULT, manifest: '' } }));
    await go('Provenance');
    expect(screen.getByText('No manifest')).toBeTruthy();
  });

  it('shows the settings that the jobs of a batch share, from its result', async () => {
    const settings = '{"sameInAllRows": {"scheme": "kabat"}, "differentByRow": {"sequence": "2 values in 3 rows"}}';
    const batch = makeJob({ jobName: 'screen', type: 'batch', tool: 'anarci', status: 'Complete' });
    render(view({ job: batch, result: { ...RESULT, settings } }, { readSettings: () => Promise.resolve('{}') }));
    await go('Settings');
    expect(screen.getByRole('table', { name: 'Settings' }).textContent).toBe(
      'Same in all rowsSchemekabatDifferent by rowSequence2 values in 3 rows'
    );
  });

  it('shows why its settings cannot be shown', async () => {
    render(view({}, { readSettings: () => Promise.reject(new Error('Only its owner may see them.')) }));
    await go('Settings');
    expect((await screen.findByRole('alert')).textContent).toContain('Only its owner may see them.');
  });
});

describe('a job without a result', () => {
  it('shows that it is queued, or its progress', () => {
    const { rerender } = render(view({ job: makeJob({ status: 'In Queue' }), result: null }));
    expect(screen.getByText('Waiting in the queue')).toBeTruthy();
    rerender(view({ job: makeJob({ progress: 0.4, message: 'Refining' }), result: null }));
    expect(screen.getByText('40 % · Refining')).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Download' }).disabled).toBe(true);
  });

  it('shows why it failed', () => {
    render(view({ job: makeJob({ status: 'Stopped', error: 'No heavy chain. See `fn.job("<b>")`.' }), result: null }));
    expect(screen.getByText('fn.job("<b>")').tagName).toBe('CODE');
    expect(screen.getByText(/^No heavy chain\. See/).textContent).toBe('No heavy chain. See fn.job("<b>").');
    expect(screen.getByText('No result')).toBeTruthy();
  });

  it('shows that the result is being fetched', () => {
    render(view({ result: null }));
    expect(screen.getByText('Fetching the result')).toBeTruthy();
  });

  it.each([
    [true, 'The result cannot be fetched now', 'Too busy. Retrying automatically.', 'Try now'],
    [false, 'The result cannot be shown', 'Too busy.', 'Try again']
  ])('shows why the result is not available (temporary: %s)', async (isTemporary, title, text, label) => {
    const onRetry = vi.fn();
    render(view({ result: null, resultFault: { message: 'Too busy.', isTemporary } }, { onRetry }));
    expect(screen.getByText(title)).toBeTruthy();
    expect(screen.getByText(text)).toBeTruthy();
    await press(label);
    expect(onRetry).toHaveBeenCalledOnce();
  });
});

describe('a missing job', () => {
  const GONE = { job: undefined, result: null, goneAt: NOW };

  it('is shown as loading until the service has responded', () => {
    render(view({ job: undefined, result: null }));
    expect(screen.getByText('Loading the job')).toBeTruthy();
    expect(screen.queryByRole('tab')).toBeNull();
  });

  it('can be looked up at another service', async () => {
    const onSelect = vi.fn();
    render(view(GONE, { service: 'lab', otherProfiles: [{ location: 'at hosted', onSelect }] }));
    expect(screen.getByText('No such job')).toBeTruthy();
    expect(screen.getByRole('status').textContent).toContain('The service “lab” had no job with this name');
    await press('Look for it at hosted');
    expect(onSelect).toHaveBeenCalledOnce();
  });

  it('of another member is reported with that member’s address', () => {
    render(view(GONE, { owner: 'a@x' }));
    expect(screen.getByRole('status').textContent).toContain('no job with this name by a@x');
  });

  it('keeps the result that was loaded, and can be closed', async () => {
    const onClose = vi.fn();
    render(view({ goneAt: NOW }, { onClose }));
    expect(screen.getByText('This job no longer exists')).toBeTruthy();
    expect(screen.getByText(/stay available until this tab is closed/)).toBeTruthy();
    expect(screen.getByText('A structure')).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Insert cell' }).disabled).toBe(true);
    await press('Close');
    expect(onClose).toHaveBeenCalledOnce();
  });
});

describe('a service that does not respond', () => {
  const fault = { message: 'No answer.', isTemporary: true };

  it('has a notice above a job that may have changed, with the time of the data', () => {
    render(view({ job: makeJob(), result: null, fault }));
    const notice = within(document.querySelector<HTMLElement>('.fn-Result-trouble') ?? document.body);
    expect(notice.getByText('The service does not answer')).toBeTruthy();
    expect(notice.getByText(/No answer\. Retrying automatically\. Shown as of/)).toBeTruthy();
  });

  it('has no notice above a complete job', () => {
    render(view({ fault }));
    expect(screen.queryByText('The service does not answer')).toBeNull();
  });

  it('has a notice without a retry if it refused', () => {
    render(view({ job: undefined, result: null, fault: { message: 'Wrong key.', isTemporary: false } }));
    expect(screen.getByText('The job cannot be fetched from the service')).toBeTruthy();
    expect(screen.getByText('Wrong key.')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Close' })).toBeTruthy();
  });
});
