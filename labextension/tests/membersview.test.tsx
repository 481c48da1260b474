/** The jobs of the organization on screen, by mouse and by keyboard. */
import { fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';

import type { JobRecord, OlderResponse } from '../src/api/responses';
import { MembersView, type MembersViewProps } from '../src/components/jobs/MembersView';
import { useStore } from '../src/components/store';
import { DEFAULT_DETAILS } from '../src/models/jobs/details';
import { MembersModel } from '../src/models/jobs/members';
import { makeJob } from './records';

const BATCH = makeJob({ jobName: 'screen', type: 'batch', tool: 'anarci', batchSize: 2, email: 'b@x' });
const JOBS: readonly JobRecord[] = [
  makeJob({ jobName: 'fold', status: 'Complete', email: 'a@x' }),
  makeJob({ jobName: 'fold', status: 'Complete', email: 'b@x' }),
  BATCH,
  makeJob({ jobName: 'lost', email: null, status: 'Stopped', error: 'No chain.' })
];

class Organization {
  jobs: readonly JobRecord[] = JOBS;
  fault: Error | null = null;

  members(): Promise<OlderResponse> {
    return this.fault ? Promise.reject(this.fault) : Promise.resolve({ jobs: this.jobs, olderKey: null });
  }

  subjobs(): Promise<OlderResponse> {
    const jobs = ['row-1', 'row-0'].map(jobName => makeJob({ jobName, status: 'Complete' }));
    return Promise.resolve({ jobs, olderKey: null });
  }
}

function Shown(props: { readonly source: Organization; readonly handlers: Partial<MembersViewProps> }): ReactElement {
  const [model] = useState(() => new MembersModel(props.source));
  const [onLoad] = useState(() => () => void model.refresh());
  const state = useStore(model);
  return (
    <MembersView
      state={state}
      details={DEFAULT_DETAILS}
      toolName={type => type}
      onLoad={onLoad}
      onLoadOlder={() => void model.loadOlder()}
      onChoose={vi.fn()}
      onChooseJob={key => model.choose(key)}
      onToggleBatch={batch => model.toggleBatch(batch)}
      onOpenMemberJob={vi.fn()}
      onInsertMemberJob={vi.fn()}
      onDragMemberJob={vi.fn()}
      {...props.handlers}
    />
  );
}

async function show(handlers: Partial<MembersViewProps> = {}, source = new Organization()): Promise<HTMLElement> {
  render(<Shown source={source} handlers={handlers} />);
  const grid = await screen.findByRole('treegrid', { name: 'Jobs of the organization' });
  grid.focus();
  return grid;
}

const rows = (): (string | null)[] => screen.getAllByRole('row').map(row => row.getAttribute('aria-label'));
const chosen = (): (string | null | undefined)[] =>
  screen.queryAllByRole('row', { selected: true }).map(row => row.getAttribute('aria-label'));

it('jobs of the same name are distinguished by their owners', async () => {
  await show();
  expect(rows()).toEqual([
    'fold, abodybuilder, Complete, a@x',
    'fold, abodybuilder, Complete, b@x',
    'screen, anarci, Running, b@x',
    'lost, abodybuilder, Failed, Owner unknown'
  ]);
});

it('jobs can be filtered by member', async () => {
  await show();
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Member' }), 'a@x');
  expect(rows()).toEqual(['fold, abodybuilder, Complete, a@x']);
});

it('jobs can be searched and filtered like the user’s own', async () => {
  await show();
  await userEvent.type(screen.getByLabelText('Search jobs'), 'anarci');
  expect(rows()).toEqual(['screen, anarci, Running, b@x']);
  await userEvent.click(screen.getByRole('button', { name: 'Complete, 2 jobs' }));
  expect(screen.getByText('No matching jobs')).toBeTruthy();
});

it('the keyboard moves through the jobs and opens a result', async () => {
  const onOpenMemberJob = vi.fn();
  await show({ onOpenMemberJob });
  await userEvent.keyboard('{Home}{ArrowDown}{Enter}');
  expect(chosen()).toEqual(['fold, abodybuilder, Complete, b@x']);
  expect(onOpenMemberJob).toHaveBeenCalledWith(JOBS[1]);
});

it('a batch is expanded and collapsed with the arrow keys', async () => {
  await show();
  await userEvent.keyboard('{Home}{ArrowDown}{ArrowDown}{ArrowRight}');
  await screen.findByRole('row', { name: /^row-0/ });
  expect(
    rows()
      .slice(2, 5)
      .map(label => label?.split(',')[0])
  ).toEqual(['screen', 'row-0', 'row-1']);
  await userEvent.keyboard('{ArrowLeft}');
  expect(screen.queryByRole('row', { name: /^row-0/ })).toBeNull();
});

it('pressing the mouse on a row selects it and may start a drag, but not on a button', async () => {
  const onDragMemberJob = vi.fn();
  await show({ onDragMemberJob });
  fireEvent.mouseDown(screen.getByRole('row', { name: 'fold, abodybuilder, Complete, a@x' }));
  expect(chosen()).toEqual(['fold, abodybuilder, Complete, a@x']);
  expect(onDragMemberJob).toHaveBeenCalledOnce();
  fireEvent.mouseDown(screen.getAllByRole('button', { name: 'Open the result of fold' })[0] ?? document.body);
  expect(onDragMemberJob).toHaveBeenCalledOnce();
});

it('a job without an owner has no actions', async () => {
  await show();
  expect(screen.queryByRole('button', { name: 'More actions for lost' })).toBeNull();
  expect(screen.getByText('No chain.')).toBeTruthy();
});

it('a failed request is reported, and repeated on demand', async () => {
  const source = new Organization();
  source.fault = new Error('No answer.');
  render(<Shown source={source} handlers={{}} />);
  await screen.findByText('No answer.');
  source.fault = null;
  await userEvent.click(screen.getByRole('button', { name: 'Try now' }));
  await screen.findByRole('treegrid');
});

it('a notice says that nobody has submitted a job', async () => {
  const source = new Organization();
  source.jobs = [];
  render(<Shown source={source} handlers={{}} />);
  expect(await screen.findByText('Nobody in your organization has submitted a job.')).toBeTruthy();
});
