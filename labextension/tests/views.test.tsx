import { fireEvent, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import type { ReactElement } from 'react';

import type { JobRecord, ServiceReport } from '../src/api/answers';
import { JobsView, type JobsViewProps } from '../src/components/JobsView';
import { ToolsView } from '../src/components/ToolsView';
import type { JobsState } from '../src/models/jobs';
import { makeJob, makeTool, SERVICE } from './records';

const STATE: JobsState = {
  jobs: [],
  statuses: null,
  service: SERVICE,
  lost: null,
  receivedAt: Date.parse('2026-11-21T10:01:00Z'),
  pending: new Set(),
  complaint: null
};

function jobsView(state: Partial<JobsState>, acts: Partial<JobsViewProps> = {}): ReactElement {
  const props: JobsViewProps = {
    state: { ...STATE, ...state },
    toolName: type => (type === 'abodybuilder' ? 'AbodyBuilder' : type),
    onStop: vi.fn(),
    onInsert: vi.fn(),
    onDelete: vi.fn(),
    onRetry: vi.fn(),
    onShowTools: vi.fn(),
    onDismissComplaint: vi.fn(),
    readLog: () => Promise.resolve('first line\nlast line'),
    ...acts
  };
  return <JobsView {...props} />;
}

function showJobs(state: Partial<JobsState>, acts: Partial<JobsViewProps> = {}): void {
  render(jobsView(state, acts));
}

const names = (): (string | null)[] =>
  screen.queryAllByRole('row').map(row => row.querySelector('bdi')?.textContent ?? null);

const JOBS: readonly JobRecord[] = [
  makeJob({ jobName: 'one', progress: 0.42, message: 'Refining' }),
  makeJob({ jobName: 'two', status: 'Complete', type: 'anarci' }),
  makeJob({ jobName: 'three', status: 'Stopped', error: 'No heavy chain was found.' })
];

describe('JobsView', () => {
  it('shows progress in figures and words', () => {
    showJobs({ jobs: JOBS });
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('42');
    expect(screen.getByText('42 % · Refining')).toBeTruthy();
  });

  it('shows why a job failed', () => {
    showJobs({ jobs: JOBS });
    const row = screen.getByRole('row', { name: 'three, AbodyBuilder, Failed' });
    expect(within(row).getByText('No heavy chain was found.')).toBeTruthy();
  });

  it('filters by state and takes the filter back', async () => {
    showJobs({ jobs: JOBS });
    await userEvent.click(screen.getByRole('button', { name: 'Complete, 1 jobs' }));
    expect(names()).toEqual(['two']);
    await userEvent.click(screen.getByRole('button', { name: 'All, 3 jobs' }));
    expect(names()).toHaveLength(3);
  });

  it('searches names and tools, and says when nothing matches', async () => {
    showJobs({ jobs: JOBS });
    await userEvent.type(screen.getByLabelText('Search jobs'), 'abody');
    expect(names()).toEqual(['one', 'three']);
    await userEvent.type(screen.getByLabelText('Search jobs'), 'zzz');
    await userEvent.click(screen.getByRole('button', { name: 'Show all jobs' }));
    expect(names()).toHaveLength(3);
  });

  it('offers to stop only what still runs', async () => {
    const onStop = vi.fn();
    showJobs({ jobs: JOBS }, { onStop });
    expect(screen.queryByRole('button', { name: 'Stop two' })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Stop one' }));
    expect(onStop).toHaveBeenCalledWith('one');
  });

  it('does not stop a job twice', () => {
    showJobs({ jobs: JOBS, pending: new Set(['one']) });
    expect(screen.getByRole('button', { name: 'Stop one' }).hasAttribute('disabled')).toBe(true);
  });

  it('offers to delete any job, by its button and by the Delete key', async () => {
    const onDelete = vi.fn();
    showJobs({ jobs: JOBS }, { onDelete });
    await userEvent.click(screen.getByRole('button', { name: 'Delete one' }));
    screen.getByRole('row', { name: /two/ }).focus();
    await userEvent.keyboard('{Delete}');
    expect(onDelete.mock.calls).toEqual([['one'], ['two']]);
  });

  it('does not delete a job twice', async () => {
    const onDelete = vi.fn();
    showJobs({ jobs: JOBS, pending: new Set(['one']) }, { onDelete });
    screen.getByRole('row', { name: /one/ }).focus();
    await userEvent.keyboard('{Delete}');
    expect(onDelete).not.toHaveBeenCalled();
    expect(screen.getByRole('button', { name: 'Delete one' }).hasAttribute('disabled')).toBe(true);
  });

  it('gives the focus of a deleted row to the next one', () => {
    const { rerender } = render(jobsView({ jobs: JOBS }));
    screen.getByRole('button', { name: 'Delete two' }).focus();
    rerender(jobsView({ jobs: JOBS.filter(job => job.jobName !== 'two') }));
    expect(document.activeElement?.getAttribute('aria-label')).toBe('three, AbodyBuilder, Failed');
  });

  it('leads with Escape from a button to its row, and closes the log', async () => {
    showJobs({ jobs: JOBS });
    screen.getByRole('row', { name: /one/ }).focus();
    await userEvent.keyboard('{Enter}');
    screen.getByRole('button', { name: 'Hide the log of one' }).focus();
    await userEvent.keyboard('{Escape}');
    expect(document.activeElement).toBe(screen.getByRole('row', { name: /one/ }));
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByLabelText('Log of one')).toBeNull();
  });

  it('opens and closes the log', async () => {
    showJobs({ jobs: JOBS });
    await userEvent.click(screen.getByRole('button', { name: 'Show the log of two' }));
    expect((await screen.findByLabelText('Log of two')).textContent).toContain('last line');
    await userEvent.click(screen.getByRole('button', { name: 'Hide the log of two' }));
    expect(screen.queryByLabelText('Log of two')).toBeNull();
  });

  it('is moved through with the arrow keys, and Enter opens the log', async () => {
    showJobs({ jobs: JOBS });
    const [first] = screen.getAllByRole('row');
    first?.focus();
    await userEvent.keyboard('{ArrowDown}');
    expect(document.activeElement?.getAttribute('aria-label')).toContain('two');
    await userEvent.keyboard('{End}{Enter}');
    expect(screen.getByLabelText('Log of three')).toBeTruthy();
    expect(screen.getAllByRole('row').filter(row => row.tabIndex === 0)).toHaveLength(1);
  });

  it('shows hostile names as text', () => {
    showJobs({ jobs: [makeJob({ jobName: '<img src=x onerror=alert(1)>', message: '<b>x</b>' })] });
    expect(document.querySelector('img, .fn-JobRow b')).toBeNull();
    expect(names()).toEqual(['<img src=x onerror=alert(1)>']);
  });

  it('shows what a name hides', () => {
    showJobs({ jobs: [makeJob({ jobName: 'a\u202egnp.live' })] });
    expect(names()).toEqual(['a\ufffdgnp.live']);
  });

  it('leads from an empty list to the tools', async () => {
    const onShowTools = vi.fn();
    showJobs({}, { onShowTools });
    await userEvent.click(screen.getByRole('button', { name: 'Choose a tool' }));
    expect(onShowTools).toHaveBeenCalledOnce();
  });

  it('says that it is asking before the first answer', () => {
    showJobs({ service: null });
    expect(screen.getByRole('status', { name: 'Asking for jobs' })).toBeTruthy();
  });

  it.each<[Partial<ServiceReport>, string]>([
    [{ state: 'starting', url: null }, 'Starting the service of this computer'],
    [
      { state: 'unreachable', error: 'Connection refused.' },
      'The service of this computer does not answer'
    ],
    [
      { state: 'unauthorized', profile: 'lab', isEmbedded: false, error: 'Wrong key.' },
      'The service “lab” refuses the key'
    ]
  ])('says how the service is: %o', (report, title) => {
    showJobs({ jobs: JOBS, service: { ...SERVICE, ...report } });
    expect(screen.getByText(title)).toBeTruthy();
    expect(names()).toHaveLength(3);
  });

  it('tells of a lost Jupyter server and tries again when asked', () => {
    const onRetry = vi.fn();
    showJobs({ lost: 'The Jupyter server does not answer.' }, { onRetry });
    fireEvent.click(screen.getByRole('button', { name: 'Try now' }));
    expect(onRetry).toHaveBeenCalledOnce();
  });

  it('says how many jobs are not listed', () => {
    const statuses = { 'In Queue': 0, Running: 1, Complete: 900, Stopped: 1 };
    showJobs({ jobs: JOBS, statuses });
    expect(screen.getByText('The newest 3 of 902 jobs.')).toBeTruthy();
  });
});

describe('ToolsView', () => {
  const tools = [
    makeTool(),
    makeTool({ type: 'zed', displayName: 'Zed', available: false, unavailableReason: 'No engine.' })
  ];

  it('parts what runs from what does not, with the reason', () => {
    const state = { tools, service: SERVICE, isAsking: false, lost: null };
    render(<ToolsView state={state} onNewCell={vi.fn()} onRetry={vi.fn()} />);
    expect(
      within(screen.getByLabelText('Run on this computer')).getByText('AbodyBuilder')
    ).toBeTruthy();
    expect(screen.getByText('No engine.')).toBeTruthy();
  });

  it('inserts the form of the chosen tool', async () => {
    const onNewCell = vi.fn();
    const state = { tools, service: SERVICE, isAsking: false, lost: null };
    render(<ToolsView state={state} onNewCell={onNewCell} onRetry={vi.fn()} />);
    await userEvent.type(screen.getByLabelText('Search tools'), 'abody');
    await userEvent.click(screen.getByRole('button', { name: /New cell/ }));
    expect(onNewCell).toHaveBeenCalledWith('abodybuilder');
  });
});
