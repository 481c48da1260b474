import { fireEvent, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';

import type { JobRecord, ServiceReport } from '../src/api/responses';
import { JobsView, type JobsViewProps } from '../src/components/jobs/JobsView';
import { useStore } from '../src/components/store';
import { ToolsView, type ToolsViewProps } from '../src/components/tools/ToolsView';
import { INITIAL, type JobsState } from '../src/models/jobs/jobs';
import { DEFAULT_CHOICES } from '../src/models/jobs/choices';
import { Selection } from '../src/models/jobs/selection';
import { makeJob, makeTool, makeToolEngine, SERVICE } from './records';

const STATE: JobsState = {
  ...INITIAL,
  service: SERVICE,
  receivedAt: Date.parse('2026-11-21T10:01:00Z')
};

/** The view with a selection of its own, as the sidebar gives it. */
function Shown(props: Partial<JobsViewProps> & { readonly state: JobsState }): ReactElement {
  const [selection] = useState(() => new Selection());
  const selected = useStore(selection);
  const [choices, setChoices] = useState(DEFAULT_CHOICES);
  const rest: Omit<JobsViewProps, 'state'> = {
    choices,
    selection,
    selected,
    toolName: type => (type === 'abodybuilder' ? 'AbodyBuilder' : type),
    onOpen: vi.fn(),
    onStop: vi.fn(),
    onStopMany: vi.fn(),
    onInsert: vi.fn(),
    onDelete: vi.fn(),
    onDownload: vi.fn(),
    onCompare: vi.fn(),
    onTag: vi.fn(),
    onUndoDelete: vi.fn(),
    onDrag: (_names, _event, onClick) => onClick(),
    onChoose: change => setChoices({ ...choices, ...change }),
    onToggleBatch: vi.fn(),
    onLoadOlder: vi.fn(),
    onRetry: vi.fn(),
    onConnect: vi.fn(),
    onShowTools: vi.fn(),
    onDismissError: vi.fn(),
    readLog: () => Promise.resolve('first line\nlast line')
  };
  return <JobsView {...rest} {...props} />;
}

function jobsView(state: Partial<JobsState>, handlers: Partial<JobsViewProps> = {}): ReactElement {
  return <Shown {...handlers} state={{ ...STATE, ...state }} />;
}

function showJobs(state: Partial<JobsState>, handlers: Partial<JobsViewProps> = {}): void {
  render(jobsView(state, handlers));
}

const names = (): (string | null)[] =>
  screen.queryAllByRole('row').map(row => row.querySelector('bdi')?.textContent ?? null);

const selectedNames = (): (string | null)[] =>
  screen.queryAllByRole('row', { selected: true }).map(row => row.querySelector('bdi')?.textContent ?? null);

const JOBS: readonly JobRecord[] = [
  makeJob({ jobName: 'one', progress: 0.42, message: 'Refining' }),
  makeJob({ jobName: 'two', status: 'Complete', type: 'anarci' }),
  makeJob({ jobName: 'three', status: 'Stopped', error: 'No heavy chain was found.' })
];

describe('JobsView', () => {
  it('shows progress as a percentage with the message', () => {
    showJobs({ jobs: JOBS });
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('42');
    expect(screen.getByText('42 % · Refining')).toBeTruthy();
  });

  it('shows why a job failed', () => {
    showJobs({ jobs: JOBS });
    const row = screen.getByRole('row', { name: 'three, AbodyBuilder, Failed' });
    expect(within(row).getByText('No heavy chain was found.')).toBeTruthy();
  });

  it('marks a complete batch with failed jobs', () => {
    const statuses = { 'In Queue': 0, Running: 0, Complete: 2, Stopped: 1 };
    const batch = makeJob({ jobName: 'panel', status: 'Complete', type: 'batch', batchSize: 3, statuses, failed: 1 });
    showJobs({
      jobs: [batch, makeJob({ ...batch, jobName: 'good', statuses: { ...statuses, Stopped: 0 }, failed: 0 })]
    });
    expect(screen.getByText('Complete, 1 failed').className).toContain('fn-mod-bad');
    const good = within(screen.getByRole('row', { name: /^good, / }));
    expect(good.getByText('Complete').className).not.toContain('fn-mod-bad');
    expect(document.querySelectorAll('.fn-StateIcon.fn-mod-mixed')).toHaveLength(1);
  });

  it('filters by state and removes the filter', async () => {
    showJobs({ jobs: JOBS });
    await userEvent.click(screen.getByRole('button', { name: 'Complete, 1 job' }));
    expect(names()).toEqual(['two']);
    await userEvent.click(screen.getByRole('button', { name: 'All, 3 jobs' }));
    expect(names()).toHaveLength(3);
  });

  it('searches names and tools, and states if nothing matches', async () => {
    showJobs({ jobs: JOBS });
    await userEvent.type(screen.getByLabelText('Search jobs'), 'abody');
    expect(names()).toEqual(['one', 'three']);
    await userEvent.type(screen.getByLabelText('Search jobs'), 'zzz');
    await userEvent.click(screen.getByRole('button', { name: 'Show all jobs' }));
    expect(names()).toHaveLength(3);
  });

  it('offers to stop only unfinished jobs', async () => {
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

  it('is navigated with the arrow keys and exposes the active row', async () => {
    showJobs({ jobs: JOBS });
    const grid = screen.getByRole('treegrid', { name: 'Jobs' });
    grid.focus();
    await userEvent.keyboard('{ArrowDown}');
    expect(selectedNames()).toEqual(['two']);
    await userEvent.keyboard('{End}{Enter}');
    expect(await screen.findByLabelText('Log of three')).toBeTruthy();
    const at = grid.getAttribute('aria-activedescendant') ?? '';
    expect(document.getElementById(at)?.getAttribute('aria-label')).toBe('three, AbodyBuilder, Failed');
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByLabelText('Log of three')).toBeNull();
  });

  it('selects several with Shift and with Ctrl, by key and by mouse', async () => {
    showJobs({ jobs: JOBS });
    screen.getByRole('treegrid').focus();
    await userEvent.keyboard('{Home}{Shift>}{ArrowDown}{/Shift}');
    expect(selectedNames()).toEqual(['one', 'two']);
    const third = screen.getByRole('row', { name: /three/ });
    fireEvent.mouseDown(third, { ctrlKey: true });
    expect(selectedNames()).toEqual(['one', 'two', 'three']);
    fireEvent.mouseDown(third);
    expect(selectedNames()).toEqual(['three']);
    await userEvent.keyboard('{Control>}a{/Control}');
    expect(selectedNames()).toHaveLength(3);
  });

  it('deletes the selected jobs with one key, except those already being deleted', async () => {
    const onDelete = vi.fn();
    showJobs({ jobs: JOBS, pending: new Set(['one']) }, { onDelete });
    screen.getByRole('treegrid').focus();
    await userEvent.keyboard('{Control>}a{/Control}{Delete}');
    expect(onDelete).toHaveBeenCalledWith(['two', 'three']);
  });

  it('opens the result of a complete job with Enter and with a double click', async () => {
    const onOpen = vi.fn();
    showJobs({ jobs: JOBS }, { onOpen });
    screen.getByRole('treegrid').focus();
    await userEvent.keyboard('{ArrowDown}{Enter}');
    await userEvent.dblClick(screen.getByRole('row', { name: /two/ }));
    expect(onOpen.mock.calls).toEqual([['two'], ['two']]);
  });

  it('keeps the focus in the list when a row is removed', () => {
    const { rerender } = render(jobsView({ jobs: JOBS }));
    const grid = screen.getByRole('treegrid');
    grid.focus();
    rerender(jobsView({ jobs: JOBS.filter(job => job.jobName !== 'one') }));
    expect(document.activeElement).toBe(grid);
  });

  it('renders few of many rows', () => {
    const jobs = Array.from({ length: 10_000 }, (_, index) => makeJob({ jobName: `job-${index}` }));
    showJobs({ jobs });
    expect(screen.getByRole('treegrid').getAttribute('aria-rowcount')).toBe('10000');
    expect(screen.getAllByRole('row').length).toBeLessThan(100);
  });

  it('loads older jobs when the end is near', () => {
    const onLoadOlder = vi.fn();
    showJobs({ jobs: JOBS, hasOlder: true }, { onLoadOlder });
    expect(onLoadOlder).toHaveBeenCalled();
  });

  it('groups by tool, collapses a group, and shows the progress of a batch', async () => {
    const statuses = { 'In Queue': 59, Running: 2, Complete: 37, Stopped: 2 };
    const batch = { batchStatus: 'Running', batchSize: 100, statuses, tool: 'anarci' } as const;
    showJobs({ jobs: [...JOBS, makeJob({ jobName: 'panel', type: 'batch', ...batch })] });
    expect(screen.getByText(/37 of 100, 2 without a result/)).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText('Groups'), 'tool');
    await userEvent.click(screen.getByRole('row', { name: 'AbodyBuilder 2' }));
    expect(names()).toEqual(['AbodyBuilder', 'anarci', 'two', 'panel']);
  });

  it('opens and closes the log', async () => {
    showJobs({ jobs: JOBS });
    await userEvent.click(screen.getByRole('button', { name: 'Show the log of two' }));
    expect((await screen.findByLabelText('Log of two')).textContent).toContain('last line');
    await userEvent.click(screen.getByRole('button', { name: 'Hide the log of two' }));
    expect(screen.queryByLabelText('Log of two')).toBeNull();
  });

  it('shows hostile names as text', () => {
    showJobs({ jobs: [makeJob({ jobName: '<img src=x onerror=alert(1)>', message: '<b>x</b>' })] });
    expect(document.querySelector('img, .fn-JobRow b')).toBeNull();
    expect(names()).toEqual(['<img src=x onerror=alert(1)>']);
  });

  it('makes hidden characters of a name visible', () => {
    showJobs({ jobs: [makeJob({ jobName: 'a\u202egnp.live' })] });
    expect(names()).toEqual(['a\ufffdgnp.live']);
  });

  it('links an empty list to the tools', async () => {
    const onShowTools = vi.fn();
    showJobs({}, { onShowTools });
    await userEvent.click(screen.getByRole('button', { name: 'Choose a tool' }));
    expect(onShowTools).toHaveBeenCalledOnce();
  });

  it('shows that jobs are loading before the first response', () => {
    showJobs({ service: null });
    expect(screen.getByRole('status', { name: 'Loading jobs' })).toBeTruthy();
  });

  it.each<[Partial<ServiceReport>, string]>([
    [{ state: 'starting', url: null }, 'Starting the service on this computer'],
    [{ state: 'unreachable', error: 'Connection refused.' }, 'The service on this computer does not answer'],
    [
      { state: 'unauthorized', profile: 'lab', isEmbedded: false, error: 'Wrong key.' },
      'The service “lab” refuses the key'
    ]
  ])('shows the state of the service: %o', (report, title) => {
    showJobs({ jobs: JOBS, service: { ...SERVICE, ...report } });
    expect(screen.getByText(title)).toBeTruthy();
    expect(names()).toHaveLength(3);
  });

  it('reports a lost Jupyter server and retries on demand', () => {
    const onRetry = vi.fn();
    showJobs({ connectionError: 'The Jupyter server does not answer.' }, { onRetry });
    fireEvent.click(screen.getByRole('button', { name: 'Try now' }));
    expect(onRetry).toHaveBeenCalledOnce();
  });
});

const TOOL_ACTS: Omit<ToolsViewProps, 'state'> = {
  toolName: type => type,
  onNewCell: vi.fn(),
  onRetry: vi.fn(),
  advise: () =>
    Promise.resolve({
      tools: [{ toolId: 'abodybuilder', reason: 'Antibodies.' }],
      abstain: false,
      summary: ''
    }),
  describe: type =>
    Promise.resolve({
      type,
      inputs: [
        {
          name: 'heavy',
          title: 'Heavy chain',
          description: 'A sequence',
          kind: 'text, up to 1000 characters',
          default: '',
          isRequired: true
        },
        {
          name: 'steps',
          title: 'Steps',
          description: 'How long',
          kind: 'whole number, from 1',
          default: '3',
          isRequired: false
        }
      ],
      outputs: ['error: spread of the models (Å; lower is better)'],
      citation: { text: 'Abanades et al.', doi: null }
    })
};

describe('ToolsView', () => {
  const tools = [
    makeTool(),
    makeTool({ type: 'zed', displayName: 'Zed', available: false, unavailableReason: 'No engine.' })
  ];

  it('separates available tools from others, and shows the reason when a tool is expanded', async () => {
    const state = { tools, service: SERVICE, isLoading: false, connectionError: null };
    render(<ToolsView {...TOOL_ACTS} state={state} />);
    expect(within(screen.getByLabelText('Run on this computer')).getByText('AbodyBuilder')).toBeTruthy();
    expect(screen.queryByText('Zed')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: /^Not available on this computer/, expanded: false }));
    expect(screen.queryByText('No engine.')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Zed' }));
    expect(screen.getByText('No engine.')).toBeTruthy();
  });

  it('inserts the form of the selected tool', async () => {
    const onNewCell = vi.fn();
    const state = { tools, service: SERVICE, isLoading: false, connectionError: null };
    render(<ToolsView {...TOOL_ACTS} state={state} onNewCell={onNewCell} />);
    await userEvent.type(screen.getByLabelText('Search tools'), 'abody');
    await userEvent.click(screen.getByRole('button', { name: /New cell/ }));
    expect(onNewCell).toHaveBeenCalledWith('abodybuilder');
  });

  it('marks recommended tools that are not available, and suggests what to do if none is recommended', async () => {
    const state = { tools, service: SERVICE, isLoading: false, connectionError: null };
    const answers = [[{ toolId: 'zed', reason: 'Fits.' }], []].map(found => ({
      tools: found,
      abstain: found.length === 0,
      summary: ''
    }));
    const onAsk = vi.fn().mockResolvedValueOnce(answers[0]).mockResolvedValueOnce(answers[1]);
    render(<ToolsView {...TOOL_ACTS} state={state} advise={onAsk} />);
    await userEvent.type(screen.getByLabelText('Describe your task'), 'dock');
    await userEvent.click(screen.getByRole('button', { name: 'Ask' }));
    expect(await screen.findByText('· not available here')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Ask' }));
    expect(await screen.findByText('No tool is recommended.')).toBeTruthy();
    expect(screen.getByText(/Name your molecules/)).toBeTruthy();
  });

  it('shows inputs, outputs and citation of an expanded tool', async () => {
    const state = { tools, service: SERVICE, isLoading: false, connectionError: null };
    render(<ToolsView {...TOOL_ACTS} state={state} />);
    await userEvent.click(screen.getByRole('button', { name: 'AbodyBuilder' }));
    expect(await screen.findByText('A sequence')).toBeTruthy();
    expect(screen.getByText('text, up to 1000 characters')).toBeTruthy();
    expect(screen.getByText('spread of the models (Å; lower is better)')).toBeTruthy();
    expect(screen.getByText('Abanades et al.')).toBeTruthy();
    expect(screen.queryByText('Steps')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show one more setting' }));
    expect(screen.getByText('whole number, from 1 · default: 3')).toBeTruthy();
  });

  it('shows a tool’s output files, with its engine’s licence and citation', async () => {
    const engine = makeToolEngine({ licence: 'MIT', citation: 'X et al.', outputs: ['model.pdb: one chain: A'] });
    const state = { tools: [makeTool({ engine })], service: SERVICE, isLoading: false, connectionError: null };
    render(<ToolsView {...TOOL_ACTS} state={state} />);
    await userEvent.click(screen.getByRole('button', { name: 'AbodyBuilder' }));
    expect(await screen.findByText('model.pdb')).toBeTruthy();
    for (const text of ['one chain: A', 'MIT', 'X et al.']) {
      expect(screen.getByText(text)).toBeTruthy();
    }
  });

  it('recommends tools for a described task, with reasons', async () => {
    const state = { tools, service: SERVICE, isLoading: false, connectionError: null };
    render(<ToolsView {...TOOL_ACTS} state={state} />);
    await userEvent.type(screen.getByLabelText('Describe your task'), 'model my Fv{Enter}');
    expect(await screen.findByText('Antibodies.')).toBeTruthy();
  });
});
