/** Details of rows beside name and status: chosen, kept, and given up where there is no room. */
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

describe('the details', () => {
  it('keep their order however they are chosen', () => {
    const without = toggleDetail(DEFAULT_DETAILS, 'tool');
    expect(without).not.toContain('tool');
    expect(toggleDetail(without, 'tool')).toEqual(DEFAULT_DETAILS);
    expect(toggleDetail(['age'], 'hours')).toEqual(['hours', 'age']);
  });

  it('are kept as words, none of them too, and those that nobody knows are left out', () => {
    expect(readDetails(writeDetails(['score', 'reason']))).toEqual(['score', 'reason']);
    expect(readDetails(writeDetails([]))).toEqual([]);
    expect(readDetails('age colour')).toEqual(['age']);
    expect(readDetails(undefined)).toEqual(DEFAULT_DETAILS);
  });

  it('are found again at the next visit', async () => {
    const kept = new Map<string, unknown>();
    const keeper = {
      fetch: (id: string) => Promise.resolve(kept.get(id)),
      save: (id: string, value: unknown) => Promise.resolve(void kept.set(id, value))
    };
    new ChoicesModel(keeper).choose({ details: ['hours', 'tags'] });
    const next = new ChoicesModel(keeper);
    await next.restore();
    expect(next.state().details).toEqual(['hours', 'tags']);
  });

  it('are columns of their own in a table', () => {
    expect(columnsOf(['tool', 'age', 'reason'])).toBe(
      'minmax(9.5em, 2fr) [tool] minmax(0, 3fr) [age] minmax(0, 2fr) [note] minmax(0, 6fr)'
    );
    expect(columnsOf(['age'])).toBe('minmax(9.5em, 2fr) [age] minmax(0, 2fr)');
  });
});

describe('facts without room', () => {
  const USUAL = ['tool', 'score', 'duration', 'age'] as const;

  it('are the times beside a score, and the age of a job that runs', () => {
    expect([...chooseHiddenFacts(USUAL, false)]).toEqual([
      ['age', 'narrow'],
      ['duration', 'narrow']
    ]);
    expect([...chooseHiddenFacts(['tool', 'duration', 'age'], true)]).toEqual([['age', 'narrow']]);
  });

  it('are none that was chosen alone, and not what was asked for beyond the usual', () => {
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

  it('tells with the duration what the run used', () => {
    const { container } = render(<JobFacts job={job} toolName="AbodyBuilder" now={now} details={['duration']} />);
    const title = container.querySelector('.fn-JobRow-duration')?.getAttribute('title');
    expect(title).toContain('CPU time: 1 min 23 s\nPeak memory of one process: 537 MB');
  });

  it('leaves a narrow line to what undoes a deletion', () => {
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

  it('shows what it always showed before anybody chooses', () => {
    expect(factsWith(DEFAULT_DETAILS)).toEqual(['Complete', 'AbodyBuilder', 'pTM 0.871', '42 s', '5 min ago']);
  });

  it('shows what was chosen, and the status always', () => {
    expect(factsWith([])).toEqual(['Complete']);
    expect(factsWith(['notebook', 'hours'])).toEqual(['Complete', 'panel/first.ipynb', '0.0123 weighted h']);
  });
});

function Chosen(): ReactElement {
  const [details, setDetails] = useState(DEFAULT_DETAILS);
  return <DetailsMenu details={details} onChoose={change => setDetails(change.details)} />;
}

describe('DetailsMenu', () => {
  it('is used with the keyboard, stays open while one chooses, and gives the keyboard back', async () => {
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

  it('closes when something else is pressed', async () => {
    render(<Chosen />);
    await userEvent.click(screen.getByRole('button', { name: 'Choose the details shown in rows' }));
    await userEvent.click(screen.getByRole('menuitemcheckbox', { name: 'Age' }));
    expect(screen.getByRole('menuitemcheckbox', { name: 'Age' }).getAttribute('aria-checked')).toBe('false');
    await userEvent.click(document.body);
    expect(screen.queryByRole('menu')).toBeNull();
  });
});
