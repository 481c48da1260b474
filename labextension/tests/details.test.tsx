/** Details of rows beside name and status: chosen, stored, and hidden where there is no room. */
import { render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';

import { DetailsMenu } from '../src/components/jobs/DetailsMenu';
import { JobFacts } from '../src/components/jobs/JobRow';
import { ChoicesModel } from '../src/models/jobs/choices';
import {
  columnsOf,
  DEFAULT_DETAILS,
  readDetails,
  chooseHiddenFacts,
  toggleDetail,
  writeDetails
} from '../src/models/jobs/details';
import { makeJob } from './records';

describe('details', () => {
  it('keep their order regardless of the order in which they are chosen', () => {
    const without = toggleDetail(DEFAULT_DETAILS, 'tool');
    expect(without).not.toContain('tool');
    expect(toggleDetail(without, 'tool')).toEqual(DEFAULT_DETAILS);
    expect(toggleDetail(['age'], 'hours')).toEqual(['hours', 'age']);
  });

  it('are stored as text, even if there are none, and unknown ones are ignored', () => {
    expect(readDetails(writeDetails(['score', 'reason']))).toEqual(['score', 'reason']);
    expect(readDetails(writeDetails([]))).toEqual([]);
    expect(readDetails('age colour')).toEqual(['age']);
    expect(readDetails(undefined)).toEqual(DEFAULT_DETAILS);
  });

  it('are restored at the next visit', async () => {
    const stored = new Map<string, unknown>();
    const storage = {
      fetch: (id: string) => Promise.resolve(stored.get(id)),
      save: (id: string, value: unknown) => Promise.resolve(void stored.set(id, value))
    };
    new ChoicesModel(storage).choose({ details: ['hours', 'tags'] });
    const next = new ChoicesModel(storage);
    await next.restore();
    expect(next.state().details).toEqual(['hours', 'tags']);
  });

  it('each have a column in wide lists', () => {
    expect(columnsOf(['tool', 'age', 'reason'])).toBe(
      'minmax(9.5em, 2fr) [tool] minmax(0, 3fr) [age] minmax(0, 2fr) [note] minmax(0, 6fr)'
    );
    expect(columnsOf(['age'])).toBe('minmax(9.5em, 2fr) [age] minmax(0, 2fr)');
  });
});

describe('chooseHiddenFacts', () => {
  const USUAL = ['tool', 'score', 'duration', 'age'] as const;

  it('hides times if there is a score, and the age of a running job', () => {
    expect([...chooseHiddenFacts(USUAL, false)]).toEqual([
      ['age', 'narrow'],
      ['duration', 'narrow']
    ]);
    expect([...chooseHiddenFacts(['tool', 'duration', 'age'], true)]).toEqual([['age', 'narrow']]);
  });

  it('hides nothing if few are chosen, and no detail that the user added to the defaults', () => {
    expect(chooseHiddenFacts(['tool', 'duration'], false).size).toBe(0);
    expect([...chooseHiddenFacts(['tool', 'notebook', 'hours', 'score'], false).keys()]).toEqual(['hours', 'score']);
    expect([...chooseHiddenFacts([...USUAL, 'hours'], false)]).toEqual([
      ['score', 'narrow'],
      ['age', 'medium'],
      ['duration', 'medium']
    ]);
  });
});

describe('JobFacts', () => {
  const job = makeJob({
    status: 'Complete',
    completed: '2026-11-21T10:00:47.000Z',
    score: { ptm: 0.8712 },
    weightedHours: 0.01234,
    cpuSeconds: 83,
    peakMemoryMb: 512,
    peakGpuMemoryMb: 2048,
    notebook: '/home/ann/projects/panel/first.ipynb'
  });
  const now = Date.parse('2026-11-21T10:05:00Z');
  const factsWith = (details: Parameters<typeof columnsOf>[0]): (string | null)[] => {
    const { container } = render(<JobFacts job={job} toolName="AbodyBuilder" now={now} details={details} />);
    return [...(container.firstElementChild?.children ?? [])].map(node => node.textContent);
  };

  it('shows resource use in the tooltip of the duration', () => {
    const { container } = render(<JobFacts job={job} toolName="AbodyBuilder" now={now} details={['duration']} />);
    const title = container.querySelector('.fn-JobRow-duration')?.getAttribute('title');
    expect(title).toContain('CPU time: 1 min 23 s\nPeak memory of one process: 537 MB');
  });

  it('hides details in narrow rows of jobs that are being deleted', () => {
    const hasRoom = (isLeaving: boolean): boolean => {
      const running = makeJob({ status: 'Running', started: '2026-11-21T10:00:05.000Z', isLeaving });
      const { container } = render(
        <JobFacts job={running} toolName="AbodyBuilder" now={now} details={['duration']}>
          note
        </JobFacts>
      );
      return !container.querySelector('.fn-JobRow-duration')?.matches('.fn-mod-spare-medium');
    };
    expect([hasRoom(false), hasRoom(true)]).toEqual([true, false]);
  });

  it('shows the defaults before the user chooses', () => {
    expect(factsWith(DEFAULT_DETAILS)).toEqual(['Complete', 'AbodyBuilder', 'pTM 0.871', '42 s', '5 min ago']);
  });

  it('shows the chosen details, and always the status', () => {
    expect(factsWith([])).toEqual(['Complete']);
    expect(factsWith(['notebook', 'hours'])).toEqual(['Complete', 'panel/first.ipynb', '0.0123 weighted h']);
  });
});

function Chosen(): ReactElement {
  const [details, setDetails] = useState(DEFAULT_DETAILS);
  return <DetailsMenu details={details} onChoose={change => setDetails(change.details)} />;
}

describe('DetailsMenu', () => {
  it('is operated with the keyboard, stays open while choosing, and returns the focus', async () => {
    render(<Chosen />);
    const button = screen.getByRole('button', { name: 'Choose the details shown in rows' });
    button.focus();
    await userEvent.keyboard('{Enter}');
    const menu = screen.getByRole('menu', { name: 'Details shown in rows' });
    expect(document.activeElement?.textContent).toBe('Tool');
    await userEvent.keyboard('{ArrowDown} {End}{Enter}');
    const isChecked = (name: string): string | null =>
      within(menu).getByRole('menuitemcheckbox', { name }).getAttribute('aria-checked');
    expect([isChecked('Tool'), isChecked('Notebook'), isChecked('Reason for failure')]).toEqual([
      'true',
      'true',
      'false'
    ]);
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(document.activeElement).toBe(button);
    expect(button.getAttribute('aria-expanded')).toBe('false');
  });

  it('closes on a click elsewhere', async () => {
    render(<Chosen />);
    await userEvent.click(screen.getByRole('button', { name: 'Choose the details shown in rows' }));
    await userEvent.click(screen.getByRole('menuitemcheckbox', { name: 'Age' }));
    expect(screen.getByRole('menuitemcheckbox', { name: 'Age' }).getAttribute('aria-checked')).toBe('false');
    await userEvent.click(document.body);
    expect(screen.queryByRole('menu')).toBeNull();
  });
});
