/** The list of jobs: its keyboard, its rows, its menus, what is done with several, and what it says of errors. */
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';

import type { JobRecord } from '../src/api/responses';
import { JobsView, type JobsViewProps } from '../src/components/jobs/JobsView';
import { useStore } from '../src/components/store';
import { INITIAL, type JobsState } from '../src/models/jobs/jobs';
import { DEFAULT_CHOICES, type Choices } from '../src/models/jobs/choices';
import { Selection } from '../src/models/jobs/selection';
import { forSeeds } from './random';
import { makeJob, SERVICE } from './records';

const STATE: JobsState = { ...INITIAL, service: SERVICE, receivedAt: Date.parse('2026-11-21T10:01:00Z') };
const DONE = makeJob({ jobName: 'done', status: 'Complete', completed: '2026-11-21T10:00:35.000Z' });
const LIVE = makeJob({ jobName: 'live' });
const LOST = makeJob({ jobName: 'lost', status: 'Stopped', error: 'No heavy chain was found.' });
const BATCH = makeJob({ jobName: 'screen', type: 'batch', tool: 'anarci', status: 'Complete', batchSize: 2 });
const ROWS = [makeJob({ jobName: 'row-0', status: 'Complete' }), makeJob({ jobName: 'row-1', status: 'Complete' })];

const selection = new Selection();

function Shown(props: {
  readonly state: Partial<JobsState>;
  readonly handlers: Partial<JobsViewProps>;
  readonly first: Partial<Choices>;
}): ReactElement {
  const [choices, setChoices] = useState<Choices>({ ...DEFAULT_CHOICES, ...props.first });
  const [open, setOpen] = useState<JobsState['open']>(new Map());
  const selected = useStore(selection);
  return (
    <JobsView
      state={{ ...STATE, open, ...props.state }}
      choices={choices}
      selection={selection}
      selected={selected}
      toolName={type => type}
      onOpen={vi.fn()}
      onStop={vi.fn()}
      onStopMany={vi.fn()}
      onInsert={vi.fn()}
      onDelete={vi.fn()}
      onDownload={vi.fn()}
      onCompare={vi.fn()}
      onTag={vi.fn()}
      onUndoDelete={vi.fn()}
      onDrag={vi.fn()}
      onChoose={change => setChoices({ ...choices, ...change })}
      onToggleBatch={name => setOpen(new Map(open.has(name) ? [] : [[name, ROWS]]))}
      onLoadOlder={vi.fn()}
      onRetry={vi.fn()}
      onConnect={vi.fn()}
      onShowTools={vi.fn()}
      onDismissError={vi.fn()}
      readLog={() => Promise.resolve('line')}
      {...props.handlers}
    />
  );
}

function show(
  state: Partial<JobsState>,
  handlers: Partial<JobsViewProps> = {},
  first: Partial<Choices> = {}
): HTMLElement {
  render(<Shown state={state} handlers={handlers} first={first} />);
  const grid = screen.getByRole('treegrid', { name: 'Jobs' });
  grid.focus();
  return grid;
}

const names = (): (string | null | undefined)[] =>
  screen.queryAllByRole('row').map(row => row.querySelector('bdi')?.textContent);
const selected = (): (string | null | undefined)[] =>
  screen.queryAllByRole('row', { selected: true }).map(row => row.querySelector('bdi')?.textContent);
const row = (name: RegExp): HTMLElement => screen.getByRole('row', { name });

beforeEach(() => {
  act(() => {
    selection.clear();
    selection.choose('', null, 'keep');
  });
});

afterEach(() => void vi.useRealTimers());

describe('jobs that did not run, or ran again', () => {
  it('shows at the batch which job failed, and at each other job that it did not run', () => {
    const message = 'The job row-0 failed, so 1 waiting job of the batch did not run.';
    const rows = [
      makeJob({ jobName: 'row-1', batch: 'screen', status: 'Stopped', message: 'Not run: the job row-0 failed.' })
    ];
    show({ jobs: [{ ...BATCH, message }], open: new Map([['screen', rows]]) });
    expect(row(/^screen/).textContent).toContain(message);
    expect(row(/^row-1/).textContent).toContain('Not run: the job row-0 failed.');
  });

  it('shows the number of the run if a job was repeated', () => {
    show({ jobs: [makeJob({ jobName: 'again', retries: 2 })] });
    expect(row(/^again/).textContent).toContain('run 3');
  });

  it('shows which job’s result a stage of a pipeline reuses', () => {
    show({ jobs: [makeJob({ jobName: 'stage', status: 'Complete', reusedFrom: 'before-fold' })] });
    expect(row(/^stage/).textContent).toContain('reused from before-fold');
  });
});

describe('the keyboard', () => {
  it('expands a batch with the right arrow, moves through its jobs, and collapses it with the left arrow', async () => {
    show({ jobs: [BATCH, LIVE] });
    await userEvent.keyboard('{Home}{ArrowRight}');
    expect(names()).toEqual(['screen', 'row-0', 'row-1', 'live']);
    expect(row(/^screen/).getAttribute('aria-expanded')).toBe('true');
    expect(row(/^row-0/).getAttribute('aria-level')).toBe('2');
    await userEvent.keyboard('{ArrowDown}');
    expect(selected()).toEqual(['row-0']);
    await userEvent.keyboard('{ArrowUp}{ArrowLeft}');
    expect(names()).toEqual(['screen', 'live']);
  });

  it('opens and closes a log with the arrows', async () => {
    show({ jobs: [LIVE] });
    await userEvent.keyboard('{Home}{ArrowRight}');
    expect(await screen.findByLabelText('Log of live')).toBeTruthy();
    await userEvent.keyboard('{ArrowRight}');
    expect(screen.getByLabelText('Log of live')).toBeTruthy();
    await userEvent.keyboard('{ArrowLeft}');
    expect(screen.queryByLabelText('Log of live')).toBeNull();
  });

  it('toggles the selection of rows with Ctrl and the space bar', async () => {
    show({ jobs: [DONE, LIVE, LOST] });
    await userEvent.keyboard('{Home}{Control>}{ArrowDown}{ArrowDown} {/Control}');
    expect(selected()).toEqual(['done', 'lost']);
    await userEvent.keyboard('{Control>}{Home} {/Control}');
    expect(selected()).toEqual(['lost']);
  });

  it('collapses and expands a group', async () => {
    show({ jobs: [DONE, makeJob({ jobName: 'n', type: 'anarci' })] }, {}, { grouping: 'tool' });
    await userEvent.keyboard('{Home}{ArrowLeft}');
    expect(names()).toEqual(['abodybuilder', 'anarci', 'n']);
    await userEvent.keyboard('{ArrowLeft}');
    expect(names()).toHaveLength(3);
    await userEvent.keyboard('{Enter}');
    expect(names()).toEqual(['abodybuilder', 'done', 'anarci', 'n']);
  });

  it('undoes pending deletions with Ctrl+Z', async () => {
    const onUndoDelete = vi.fn();
    show({ jobs: [{ ...DONE, isLeaving: true }, LIVE] }, { onUndoDelete });
    await userEvent.keyboard('{Control>}z{/Control}');
    expect(onUndoDelete).toHaveBeenCalledWith(['done']);
  });

  it('passes keys that it does not use on to JupyterLab', async () => {
    const onKeyDown = vi.fn();
    document.addEventListener('keydown', onKeyDown);
    show({ jobs: [LIVE] });
    await userEvent.keyboard('{Control>}s{/Control}{Escape}{Delete}');
    expect(onKeyDown.mock.calls.map(([event]) => (event as KeyboardEvent).key)).toEqual([
      'Control',
      's',
      'Escape',
      'Delete'
    ]);
    document.removeEventListener('keydown', onKeyDown);
  });

  it('opens the context menu of the active row', () => {
    const menus: (string | undefined)[] = [];
    const note = (event: Event): void => void menus.push((event.target as HTMLElement).dataset.job);
    document.addEventListener('contextmenu', note);
    const grid = show({ jobs: [DONE, LIVE] });
    fireEvent.keyDown(grid, { key: 'End' });
    fireEvent.contextMenu(grid);
    expect(menus).toEqual(['live']);
    document.removeEventListener('contextmenu', note);
  });

  it('returns from inside a row to the list with Escape', async () => {
    const grid = show({ jobs: [DONE] });
    screen.getByRole('button', { name: 'Open the result of done' }).focus();
    await userEvent.keyboard('{Escape}');
    expect(document.activeElement).toBe(grid);
  });

  it('keeps its position when the active job is removed', async () => {
    const jobs = [DONE, LIVE, LOST];
    const { rerender } = render(<Shown state={{ jobs }} handlers={{}} first={{}} />);
    screen.getByRole('treegrid').focus();
    await userEvent.keyboard('{Home}{ArrowDown}');
    rerender(<Shown state={{ jobs: [DONE, LOST] }} handlers={{}} first={{}} />);
    const at = screen.getByRole('treegrid').getAttribute('aria-activedescendant') ?? '';
    expect(document.getElementById(at)?.getAttribute('data-job')).toBe('lost');
  });

  it('always has an existing active row, whatever key is pressed', () => {
    const jobs = [BATCH, DONE, LIVE, LOST, makeJob({ jobName: 'n', type: 'anarci' })];
    const grid = show({ jobs });
    const keys = [
      'ArrowDown',
      'ArrowUp',
      'ArrowLeft',
      'ArrowRight',
      'Home',
      'End',
      'PageDown',
      'PageUp',
      ' ',
      'Escape'
    ];
    forSeeds((random, seed) => {
      if (seed % 20 === 0) {
        for (let press = 0; press < 8; press += 1) {
          fireEvent.keyDown(grid, {
            key: random.pick(keys),
            shiftKey: random.below(4) === 0,
            ctrlKey: random.below(4) === 0
          });
        }
        const at = document.getElementById(grid.getAttribute('aria-activedescendant') ?? '');
        expect(at?.getAttribute('role')).toBe('row');
        expect(screen.getAllByRole('row')).toContain(at);
        expect(grid.querySelectorAll(':scope > .fn-mod-current')).toHaveLength(1);
      }
    });
  });
});

describe('the mouse', () => {
  it('drags all selected jobs, or selects the pressed one if it was a click', async () => {
    const drags: (readonly string[])[] = [];
    const clicks: (() => void)[] = [];
    show(
      { jobs: [DONE, LIVE, LOST] },
      {
        onDrag: (dragged, _, onClick) => {
          drags.push(dragged);
          clicks.push(onClick);
        }
      }
    );
    await userEvent.keyboard('{Control>}a{/Control}');
    fireEvent.mouseDown(row(/^live/));
    expect(drags).toEqual([['done', 'live', 'lost']]);
    expect(selected()).toHaveLength(3);
    act(() => clicks[0]?.());
    expect(selected()).toEqual(['live']);
  });

  it('does not start a drag on the text of an error', () => {
    const onDrag = vi.fn();
    show({ jobs: [LOST] }, { onDrag });
    fireEvent.mouseDown(screen.getByText('No heavy chain was found.'));
    expect(onDrag).not.toHaveBeenCalled();
    fireEvent.mouseDown(screen.getByText('lost'));
    expect(onDrag).toHaveBeenCalledOnce();
  });

  it('opens the context menu for the selection, or for a row outside the selection', async () => {
    show({ jobs: [DONE, LIVE, LOST] });
    await userEvent.keyboard('{Home}{Shift>}{ArrowDown}{/Shift}');
    fireEvent.mouseDown(row(/^done/), { button: 2 });
    expect(selected()).toEqual(['done', 'live']);
    fireEvent.mouseDown(row(/^lost/), { button: 2 });
    expect(selected()).toEqual(['lost']);
  });

  it('collapses a group', async () => {
    show({ jobs: [DONE] }, {}, { grouping: 'tool' });
    await userEvent.click(row(/^abodybuilder/));
    expect(names()).toEqual(['abodybuilder']);
    expect(row(/^abodybuilder/).getAttribute('aria-expanded')).toBe('false');
  });

  it('opens the context menu with the button More', async () => {
    const menus: (string | undefined)[] = [];
    const note = (event: Event): void => void menus.push((event.target as HTMLElement).dataset.job);
    document.addEventListener('contextmenu', note);
    show({ jobs: [DONE, LIVE] });
    await userEvent.click(screen.getByRole('button', { name: 'More actions for live' }));
    expect(menus).toEqual(['live']);
    document.removeEventListener('contextmenu', note);
  });
});

describe('a row', () => {
  const textOf = (job: JobRecord): string => {
    show({ jobs: [job] });
    return screen.getByRole('row').textContent;
  };

  it('has an accessible name with job, tool, state and tags', () => {
    show({ jobs: [{ ...DONE, tags: ['lead', 'a\u202eb'] }] });
    expect(row(/^done/).getAttribute('aria-label')).toBe('done, abodybuilder, Complete, lead, a\ufffdb');
  });

  it('shows project and tags, with hidden characters made visible', () => {
    expect(textOf({ ...DONE, projectTag: 'p\u200b1', tags: ['lead'] })).toContain('p\ufffd1lead');
    expect(screen.getByTitle('Tag lead, stored on this computer')).toBeTruthy();
    expect(screen.getByTitle('Project p\ufffd1')).toBeTruthy();
  });

  it('shows a label instead of the name, which is in the tooltip', () => {
    show({
      jobs: [
        { ...DONE, foldnote: { label: 'first\u202etry' } },
        { ...LOST, localLabel: 'second try', foldnote: { label: 'x' } }
      ]
    });
    expect(screen.getByTitle('first\ufffdtry done', { normalizer: text => text.replace(/\n/, ' ') }).textContent).toBe(
      'first\ufffdtry'
    );
    expect(row(/^second try, lost, /).textContent).toContain('second try');
  });

  it('shows a note in its tooltip, line by line', () => {
    show({ jobs: [{ ...DONE, note: 'Repeat\nwith\u202eAHo' }] });
    expect(row(/^done/).querySelector('.fn-JobRow-name')?.getAttribute('title')).toBe('done\nRepeat\nwith\ufffdAHo');
  });

  it('shows only that the job will be deleted, with a button that undoes it', async () => {
    const onUndoDelete = vi.fn();
    show({ jobs: [{ ...LOST, isLeaving: true }] }, { onUndoDelete });
    expect(screen.queryByText('No heavy chain was found.')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(onUndoDelete).toHaveBeenCalledWith(['lost']);
  });

  it('shows the full reason for a failure in its tooltip, and in the row when its log is open', async () => {
    const error = `No chain. ${'Very long. '.repeat(50)}`;
    show({ jobs: [{ ...LOST, error: `${error}\`fn.job()\`` }] });
    const shown = screen.getByText(/^No chain/);
    expect(shown.title).toBe(`${error}fn.job()`);
    expect(shown.querySelector('code')?.textContent).toBe('fn.job()');
    await userEvent.click(screen.getByRole('button', { name: 'Show the log of lost' }));
    const [whole, ...others] = screen.getAllByTitle(error.trim(), { exact: false });
    expect(whole?.className).toContain('fn-mod-whole');
    expect(others).toEqual([]);
  });

  it('shows a very long name in full in its tooltip', () => {
    const jobName = `antibody-${'x'.repeat(500)}`;
    show({ jobs: [{ ...DONE, jobName }] });
    expect(screen.getByTitle(jobName)).toBeTruthy();
  });

  it.each([DONE, LIVE, LOST, BATCH, makeJob({ jobName: 'next', status: 'In Queue' })])(
    'has no empty cells below its first line: $jobName',
    job => {
      show({ jobs: [job] });
      const cells = [...row(new RegExp(`^${job.jobName}`)).children].map(cell => cell.className);
      const bar = job === LIVE ? ['fn-JobRow-bar'] : [];
      expect(cells).toEqual(['fn-JobRow-icon', 'fn-JobRow-name', 'fn-JobRow-facts', 'fn-JobRow-actions', ...bar]);
    }
  );

  it('shows an indeterminate progress bar for a running job of unknown progress', () => {
    show({ jobs: [LIVE] });
    const bar = screen.getByRole('progressbar', { name: 'Progress of live' });
    expect(bar.getAttribute('aria-valuenow')).toBeNull();
  });

  it.each([
    [-0.5, '0'],
    [0.004, '0'],
    [1.7, '100']
  ])('shows a progress of %d as %s %%', (progress, shown) => {
    show({ jobs: [{ ...LIVE, progress }] });
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe(shown);
  });

  it('has the buttons for the state of its job', () => {
    show({ jobs: [DONE, LIVE, BATCH] });
    const buttons = (name: RegExp): string[] =>
      within(row(name))
        .getAllByRole('button')
        .map(button => button.getAttribute('aria-label') ?? '');
    expect(buttons(/^done/)).toEqual([
      'Open the result of done',
      'Show the log of done',
      'Insert a cell that loads done',
      'More actions for done'
    ]);
    expect(buttons(/^live/)[0]).toBe('Stop live');
    expect(buttons(/^screen/)).not.toContain('Show the log of screen');
  });

  it('makes the buttons of the active row tab stops, and no others', async () => {
    show({ jobs: [DONE, LIVE] });
    await userEvent.keyboard('{End}');
    const stops = (name: RegExp): number[] =>
      within(row(name))
        .getAllByRole('button')
        .map(button => button.tabIndex);
    expect(new Set(stops(/^live/))).toEqual(new Set([0]));
    expect(new Set(stops(/^done/))).toEqual(new Set([-1]));
  });

  it('advances the duration of a running job between responses', () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-21T10:01:00Z') });
    show({ jobs: [LIVE] });
    expect(row(/^live/).textContent).toContain('55 s');
    act(() => {
      vi.advanceTimersByTime(7000);
    });
    expect(row(/^live/).textContent).toContain('1 min 2 s');
  });
});

describe('several selected jobs', () => {
  const bar = (): HTMLElement => screen.getByRole('toolbar', { name: 'Selected jobs' });

  it('have a toolbar with their actions', async () => {
    const handlers = {
      onDownload: vi.fn(),
      onCompare: vi.fn(),
      onTag: vi.fn(),
      onStopMany: vi.fn(),
      onDelete: vi.fn()
    };
    show({ jobs: [DONE, LIVE] }, handlers);
    expect(screen.queryByRole('toolbar')).toBeNull();
    await userEvent.keyboard('{Control>}a{/Control}');
    expect(within(bar()).getByRole('status').textContent).toBe('2 selected');
    for (const label of ['Download the results of', 'Compare', 'Tag', 'Stop', 'Delete']) {
      await userEvent.click(within(bar()).getByRole('button', { name: `${label} the selected jobs` }));
    }
    for (const handler of Object.values(handlers)) {
      expect(handler).toHaveBeenCalledWith(['done', 'live']);
    }
    await userEvent.click(within(bar()).getByRole('button', { name: 'Clear the selection' }));
    expect(screen.queryByRole('toolbar')).toBeNull();
  });

  it.each([
    [[DONE, LOST], 'Stop the selected jobs'],
    [[LIVE, LOST], 'Download the results of the selected jobs']
  ])('disable actions that apply to none of them: %#', async (jobs, label) => {
    show({ jobs });
    await userEvent.keyboard('{Control>}a{/Control}');
    expect(within(bar()).getByRole<HTMLButtonElement>('button', { name: label }).disabled).toBe(true);
  });
});

describe('the list', () => {
  it('shows why a request failed, until that is dismissed', async () => {
    const onDismissError = vi.fn();
    show({ jobs: [DONE], requestError: 'The service is read-only.' }, { onDismissError });
    expect(screen.getByRole('alert').textContent).toContain('The service is read-only.');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(onDismissError).toHaveBeenCalledOnce();
  });

  it('states how many jobs a filter hides, and searches older ones on demand', async () => {
    const onLoadOlder = vi.fn();
    const state = { jobs: [DONE], hasOlder: true };
    render(<Shown state={state} handlers={{ onLoadOlder }} first={{ query: 'zzz' }} />);
    expect(screen.getByText(/^1 job is hidden by the filter\./)).toBeTruthy();
    onLoadOlder.mockClear();
    await userEvent.click(screen.getByRole('button', { name: 'Search older jobs' }));
    expect(onLoadOlder).toHaveBeenCalledOnce();
  });

  it('states that older jobs are being loaded, and how many are loaded if they are sorted', () => {
    show({ jobs: [DONE, LIVE], hasOlder: true }, {}, { sort: 'name' });
    expect(document.querySelector('.fn-Remainder')?.textContent).toBe(
      'The newest 2 jobs are loaded. Loading older jobs …'
    );
  });

  it('uses the singular for one loaded job', () => {
    show({ jobs: [DONE], hasOlder: true }, {}, { sort: 'name' });
    expect(document.querySelector('.fn-Remainder')?.textContent).toBe(
      'Only the newest job is loaded. Loading older jobs …'
    );
  });

  it('states that a batch has no jobs left, or that they are being loaded', () => {
    const { rerender } = render(
      <Shown state={{ jobs: [BATCH], open: new Map([['screen', null]]) }} handlers={{}} first={{}} />
    );
    expect(screen.getByText('Loading its jobs …')).toBeTruthy();
    rerender(<Shown state={{ jobs: [BATCH], open: new Map([['screen', []]]) }} handlers={{}} first={{}} />);
    expect(screen.getByText('No jobs are left in this batch.')).toBeTruthy();
  });

  it('marks counts that exclude jobs not yet loaded', () => {
    show({ jobs: [DONE], hasOlder: true });
    expect(screen.getByRole('button', { name: 'All, 1 job' }).textContent).toContain('1+');
  });

  it('does not request older jobs while they are already being loaded', () => {
    const onLoadOlder = vi.fn();
    show({ jobs: [DONE], hasOlder: true, isLoadingOlder: true }, { onLoadOlder });
    expect(onLoadOlder).not.toHaveBeenCalled();
  });
});
