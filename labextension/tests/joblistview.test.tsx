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
  readonly acts: Partial<JobsViewProps>;
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
      {...props.acts}
    />
  );
}

function show(state: Partial<JobsState>, acts: Partial<JobsViewProps> = {}, first: Partial<Choices> = {}): HTMLElement {
  render(<Shown state={state} acts={acts} first={first} />);
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

describe('what a batch does after a failure', () => {
  it('says at the batch which job failed, and at a job that it did not run', () => {
    const told = 'The job row-0 failed, so 1 waiting job of the batch did not run.';
    const rows = [
      makeJob({ jobName: 'row-1', batch: 'screen', status: 'Stopped', message: 'Not run: the job row-0 failed.' })
    ];
    show({ jobs: [{ ...BATCH, message: told }], open: new Map([['screen', rows]]) });
    expect(row(/^screen/).textContent).toContain(told);
    expect(row(/^row-1/).textContent).toContain('Not run: the job row-0 failed.');
  });

  it('says which run a job is at that was run again', () => {
    show({ jobs: [makeJob({ jobName: 'again', retries: 2 })] });
    expect(row(/^again/).textContent).toContain('run 3');
  });

  it('says whose result a stage of a pipeline has that did not run', () => {
    show({ jobs: [makeJob({ jobName: 'stage', status: 'Complete', reusedFrom: 'before-fold' })] });
    expect(row(/^stage/).textContent).toContain('reused from before-fold');
  });
});

describe('the keyboard', () => {
  it('unfolds a batch with the right arrow, goes through its jobs, and folds it with the left', async () => {
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

  it('selects with the space bar, one more with Ctrl, and takes one away again', async () => {
    show({ jobs: [DONE, LIVE, LOST] });
    await userEvent.keyboard('{Home}{Control>}{ArrowDown}{ArrowDown} {/Control}');
    expect(selected()).toEqual(['done', 'lost']);
    await userEvent.keyboard('{Control>}{Home} {/Control}');
    expect(selected()).toEqual(['lost']);
  });

  it('folds and unfolds a group', async () => {
    show({ jobs: [DONE, makeJob({ jobName: 'n', type: 'anarci' })] }, {}, { grouping: 'tool' });
    await userEvent.keyboard('{Home}{ArrowLeft}');
    expect(names()).toEqual(['abodybuilder', 'anarci', 'n']);
    await userEvent.keyboard('{ArrowLeft}');
    expect(names()).toHaveLength(3);
    await userEvent.keyboard('{Enter}');
    expect(names()).toEqual(['abodybuilder', 'done', 'anarci', 'n']);
  });

  it('undoes deletions with Ctrl+Z while there are some', async () => {
    const onUndoDelete = vi.fn();
    show({ jobs: [{ ...DONE, isLeaving: true }, LIVE] }, { onUndoDelete });
    await userEvent.keyboard('{Control>}z{/Control}');
    expect(onUndoDelete).toHaveBeenCalledWith(['done']);
  });

  it('leaves keys that it does not need to JupyterLab', async () => {
    const heard = vi.fn();
    document.addEventListener('keydown', heard);
    show({ jobs: [LIVE] });
    await userEvent.keyboard('{Control>}s{/Control}{Escape}{Delete}');
    expect(heard.mock.calls.map(([event]) => (event as KeyboardEvent).key)).toEqual([
      'Control',
      's',
      'Escape',
      'Delete'
    ]);
    document.removeEventListener('keydown', heard);
  });

  it('opens the menu of the row that it is at', () => {
    const menus: (string | undefined)[] = [];
    const note = (event: Event): void => void menus.push((event.target as HTMLElement).dataset.job);
    document.addEventListener('contextmenu', note);
    const grid = show({ jobs: [DONE, LIVE] });
    fireEvent.keyDown(grid, { key: 'End' });
    fireEvent.contextMenu(grid);
    expect(menus).toEqual(['live']);
    document.removeEventListener('contextmenu', note);
  });

  it('comes back from inside a row with Escape', async () => {
    const grid = show({ jobs: [DONE] });
    screen.getByRole('button', { name: 'Open the result of done' }).focus();
    await userEvent.keyboard('{Escape}');
    expect(document.activeElement).toBe(grid);
  });

  it('stays at the place of a job that goes', async () => {
    const jobs = [DONE, LIVE, LOST];
    const { rerender } = render(<Shown state={{ jobs }} acts={{}} first={{}} />);
    screen.getByRole('treegrid').focus();
    await userEvent.keyboard('{Home}{ArrowDown}');
    rerender(<Shown state={{ jobs: [DONE, LOST] }} acts={{}} first={{}} />);
    const at = screen.getByRole('treegrid').getAttribute('aria-activedescendant') ?? '';
    expect(document.getElementById(at)?.getAttribute('data-job')).toBe('lost');
  });

  it('is always at a row that is there, whatever is pressed', () => {
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
  it('of a person who presses a selected job drags them all, and selects that one when nothing was dragged', async () => {
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

  it('marks text of an error and begins no drag there', () => {
    const onDrag = vi.fn();
    show({ jobs: [LOST] }, { onDrag });
    fireEvent.mouseDown(screen.getByText('No heavy chain was found.'));
    expect(onDrag).not.toHaveBeenCalled();
    fireEvent.mouseDown(screen.getByText('lost'));
    expect(onDrag).toHaveBeenCalledOnce();
  });

  it('opens the context menu for all that is selected, or for the one under it', async () => {
    show({ jobs: [DONE, LIVE, LOST] });
    await userEvent.keyboard('{Home}{Shift>}{ArrowDown}{/Shift}');
    fireEvent.mouseDown(row(/^done/), { button: 2 });
    expect(selected()).toEqual(['done', 'live']);
    fireEvent.mouseDown(row(/^lost/), { button: 2 });
    expect(selected()).toEqual(['lost']);
  });

  it('folds a group', async () => {
    show({ jobs: [DONE] }, {}, { grouping: 'tool' });
    await userEvent.click(row(/^abodybuilder/));
    expect(names()).toEqual(['abodybuilder']);
    expect(row(/^abodybuilder/).getAttribute('aria-expanded')).toBe('false');
  });

  it('opens with More the menu that a right click opens', async () => {
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
  const words = (job: JobRecord): string => {
    show({ jobs: [job] });
    return screen.getByRole('row').textContent;
  };

  it('is read out with whatever tells jobs apart', () => {
    show({ jobs: [{ ...DONE, tags: ['lead', 'a\u202eb'] }] });
    expect(row(/^done/).getAttribute('aria-label')).toBe('done, abodybuilder, Complete, lead, a\ufffdb');
  });

  it('shows project and tags, with what they hide', () => {
    expect(words({ ...DONE, projectTag: 'p\u200b1', tags: ['lead'] })).toContain('p\ufffd1lead');
    expect(screen.getByTitle('Tag lead, stored on this computer')).toBeTruthy();
    expect(screen.getByTitle('Project p\ufffd1')).toBeTruthy();
  });

  it('shows a label in place of the name, which its tooltip has', () => {
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

  it('that is about to be deleted says so and nothing else, and can be kept', async () => {
    const onUndoDelete = vi.fn();
    show({ jobs: [{ ...LOST, isLeaving: true }] }, { onUndoDelete });
    expect(screen.queryByText('No heavy chain was found.')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(onUndoDelete).toHaveBeenCalledWith(['lost']);
  });

  it('shows the whole reason in its tooltip, and whole when its log is open', async () => {
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

  it('keeps a very long name whole in its tooltip', () => {
    const jobName = `antibody-${'x'.repeat(500)}`;
    show({ jobs: [{ ...DONE, jobName }] });
    expect(screen.getByTitle(jobName)).toBeTruthy();
  });

  it.each([DONE, LIVE, LOST, BATCH, makeJob({ jobName: 'next', status: 'In Queue' })])(
    'has no room under the line of its state for what it does not tell: $jobName',
    job => {
      show({ jobs: [job] });
      const cells = [...row(new RegExp(`^${job.jobName}`)).children].map(cell => cell.className);
      const bar = job === LIVE ? ['fn-JobRow-bar'] : [];
      expect(cells).toEqual(['fn-JobRow-icon', 'fn-JobRow-name', 'fn-JobRow-facts', 'fn-JobRow-actions', ...bar]);
    }
  );

  it('shows a job that runs with an endless bar where nothing is known of how far it is', () => {
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

  it('offers for each state what can be done then', () => {
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

  it('lets the Tab key into the row that the keyboard is at, and into no other', async () => {
    show({ jobs: [DONE, LIVE] });
    await userEvent.keyboard('{End}');
    const stops = (name: RegExp): number[] =>
      within(row(name))
        .getAllByRole('button')
        .map(button => button.tabIndex);
    expect(new Set(stops(/^live/))).toEqual(new Set([0]));
    expect(new Set(stops(/^done/))).toEqual(new Set([-1]));
  });

  it('counts a job that runs further between two answers', () => {
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

  it('have a bar with what can be done with them', async () => {
    const acts = { onDownload: vi.fn(), onCompare: vi.fn(), onTag: vi.fn(), onStopMany: vi.fn(), onDelete: vi.fn() };
    show({ jobs: [DONE, LIVE] }, acts);
    expect(screen.queryByRole('toolbar')).toBeNull();
    await userEvent.keyboard('{Control>}a{/Control}');
    expect(within(bar()).getByRole('status').textContent).toBe('2 selected');
    for (const label of ['Download the results of', 'Compare', 'Tag', 'Stop', 'Delete']) {
      await userEvent.click(within(bar()).getByRole('button', { name: `${label} the selected jobs` }));
    }
    for (const act of Object.values(acts)) {
      expect(act).toHaveBeenCalledWith(['done', 'live']);
    }
    await userEvent.click(within(bar()).getByRole('button', { name: 'Clear the selection' }));
    expect(screen.queryByRole('toolbar')).toBeNull();
  });

  it.each([
    [[DONE, LOST], 'Stop the selected jobs'],
    [[LIVE, LOST], 'Download the results of the selected jobs']
  ])('offer nothing that none of them can: %#', async (jobs, label) => {
    show({ jobs });
    await userEvent.keyboard('{Control>}a{/Control}');
    expect(within(bar()).getByRole<HTMLButtonElement>('button', { name: label }).disabled).toBe(true);
  });
});

describe('the list says', () => {
  it('why a wish failed, until that is dismissed', async () => {
    const onDismissError = vi.fn();
    show({ jobs: [DONE], requestError: 'The service is read-only.' }, { onDismissError });
    expect(screen.getByRole('alert').textContent).toContain('The service is read-only.');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(onDismissError).toHaveBeenCalledOnce();
  });

  it('how many jobs a filter hides, and looks among older ones on demand', async () => {
    const onLoadOlder = vi.fn();
    const state = { jobs: [DONE], hasOlder: true };
    render(<Shown state={state} acts={{ onLoadOlder }} first={{ query: 'zzz' }} />);
    expect(screen.getByText(/^1 job is hidden by the filter\./)).toBeTruthy();
    onLoadOlder.mockClear();
    await userEvent.click(screen.getByRole('button', { name: 'Search older jobs' }));
    expect(onLoadOlder).toHaveBeenCalledOnce();
  });

  it('that older jobs follow, and that an order is of those that are known', () => {
    show({ jobs: [DONE, LIVE], hasOlder: true }, {}, { sort: 'name' });
    expect(document.querySelector('.fn-Remainder')?.textContent).toBe(
      'The newest 2 jobs are loaded. Loading older jobs …'
    );
  });

  it('that one job is loaded, in the singular', () => {
    show({ jobs: [DONE], hasOlder: true }, {}, { sort: 'name' });
    expect(document.querySelector('.fn-Remainder')?.textContent).toBe(
      'Only the newest job is loaded. Loading older jobs …'
    );
  });

  it('when there is nothing left in a batch, and while it is asked for', () => {
    const { rerender } = render(
      <Shown state={{ jobs: [BATCH], open: new Map([['screen', null]]) }} acts={{}} first={{}} />
    );
    expect(screen.getByText('Loading its jobs …')).toBeTruthy();
    rerender(<Shown state={{ jobs: [BATCH], open: new Map([['screen', []]]) }} acts={{}} first={{}} />);
    expect(screen.getByText('No jobs are left in this batch.')).toBeTruthy();
  });

  it('whether a count is of all jobs or of those that are known', () => {
    show({ jobs: [DONE], hasOlder: true });
    expect(screen.getByRole('button', { name: 'All, 1 job' }).textContent).toContain('1+');
  });

  it('that older jobs are asked for only once at a time', () => {
    const onLoadOlder = vi.fn();
    show({ jobs: [DONE], hasOlder: true, isLoadingOlder: true }, { onLoadOlder });
    expect(onLoadOlder).not.toHaveBeenCalled();
  });
});
