/** The engines of this computer: listed, installed, removed. */
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import type { ReactElement } from 'react';

import type { EngineAction, EngineRecord, EnginesResponse } from '../src/api/responses';
import { EnginesView, type EnginesViewProps } from '../src/components/tools/EnginesView';
import { EnginesModel, type EnginesState } from '../src/models/service/engines';
import { makeEngine } from './records';

function view(state: Partial<EnginesState>, acts: Partial<EnginesViewProps> = {}): ReactElement {
  const rest = { onInstall: vi.fn(), onRemove: vi.fn(), onCancel: vi.fn() };
  return <EnginesView {...rest} {...acts} state={{ engines: null, isOpen: true, requestError: null, ...state }} />;
}

const buttons = (): (string | null)[] =>
  screen.queryAllByRole('button').map(button => button.getAttribute('aria-label'));

describe('the list of engines', () => {
  it('puts what is installed first, with its size, and last what needs a program of the user', () => {
    const engines = [
      makeEngine({
        name: 'b',
        method: 'AlphaFlow, by your own copy of the program',
        hasEnvironment: false,
        how: 'Say where.'
      }),
      makeEngine(),
      makeEngine({ name: 'a', method: 'Vina', isInstalled: true, installedMb: 512 })
    ];
    render(view({ engines }));
    const titles = screen.getAllByRole('heading', { level: 3 }).map(title => title.textContent);
    expect(titles).toEqual(['Installed · 537 MB 1', 'Can be installed 1', 'Need your own copy of the program 1']);
    expect(screen.getByText('Runs anarci · 537 MB')).toBeTruthy();
    expect(screen.getByText('AlphaFlow')).toBeTruthy();
    expect(screen.getByText('Say where.').closest('details')?.open).toBe(false);
  });

  it('says that it looks for them, and why it finds none', () => {
    const { rerender } = render(view({}));
    expect(screen.getByText('Loading engines')).toBeTruthy();
    rerender(view({ requestError: 'No answer.' }));
    expect(screen.getByText('No answer.')).toBeTruthy();
    expect(screen.queryByText('Loading engines')).toBeNull();
  });

  it('says what an engine runs, under which licence, and what it takes', () => {
    render(view({ engines: [makeEngine()] }));
    expect(screen.getByText('Runs anarci · at least 200 MB')).toBeTruthy();
    expect(screen.getByText('Licence: BSD-3-Clause')).toBeTruthy();
  });

  it('says what optional weights make of an installed engine', () => {
    const { rerender } = render(view({ engines: [makeEngine({ optionalMethod: 'All models' })] }));
    expect(screen.queryByText(/All models/)).toBeNull();
    rerender(view({ engines: [makeEngine({ isInstalled: true, optionalMethod: 'All models' })] }));
    expect(screen.getByText('With optional weights: All models')).toBeTruthy();
  });

  it('says which engine an add-on adds to', () => {
    render(view({ engines: [makeEngine({ tools: [], addsTo: ['vina'] })] }));
    expect(screen.getByText(/^Used by vina where it is installed/)).toBeTruthy();
    expect(screen.queryByText(/Runs/)).toBeNull();
  });

  it.each<[string, Partial<EngineRecord>, string[]]>([
    ['that is not installed', {}, ['Install anarci']],
    ['that is installed', { isInstalled: true, hasFiles: true }, ['Remove anarci']],
    [
      'that more weights can be added to',
      { isInstalled: true, hasFiles: true, optionalMethod: 'All models' },
      ['Add optional weights to anarci', 'Remove anarci']
    ],
    ['that could have more weights once it is installed', { optionalMethod: 'All models' }, ['Install anarci']],
    ['of which a part is there', { hasFiles: true }, ['Install anarci', 'Remove anarci']],
    ['that is being changed', { isBusy: true, hasFiles: true }, ['Cancel installing or removing anarci']],
    ['that has no environment of its own', { hasEnvironment: false, how: 'Put it on PATH.' }, []]
  ])('offers for an engine %s what can be done', (_, change, labels) => {
    render(view({ engines: [makeEngine(change)] }));
    expect(buttons()).toEqual(labels);
  });

  it('hands over the engine that is meant', async () => {
    const onInstall = vi.fn();
    const engines = [makeEngine(), makeEngine({ name: 'vina', method: 'Vina' })];
    render(view({ engines }, { onInstall }));
    await userEvent.click(screen.getByRole('button', { name: 'Install vina' }));
    expect(onInstall).toHaveBeenCalledWith(engines[1]);
  });

  it('shows how far a change is, and how it failed', () => {
    const busy = makeEngine({ isBusy: true, fraction: 0.25, message: 'Downloading' });
    const { rerender } = render(view({ engines: [busy] }));
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25');
    rerender(view({ engines: [makeEngine({ message: 'No space left.', hasFailed: true })] }));
    expect(screen.getByRole('status').className).toContain('error');
  });
});

/** An installer that is done after some questions. */
class Installer {
  asked = 0;
  done: [string, EngineAction][] = [];
  fault: Error | null = null;
  private turns = 0;

  engines(): Promise<EnginesResponse> {
    this.asked += 1;
    this.turns -= 1;
    return this.fault
      ? Promise.reject(this.fault)
      : Promise.resolve({ engines: [makeEngine({ isBusy: this.turns > 0 })] });
  }

  changeEngine(name: string, action: EngineAction): Promise<void> {
    this.done.push([name, action]);
    this.turns = 4;
    return Promise.resolve();
  }
}

describe('the model of engines', () => {
  let installer: Installer;
  let model: EnginesModel;

  beforeEach(() => {
    installer = new Installer();
    model = new EnginesModel(installer, 1);
  });

  it('asks once while nothing changes', async () => {
    model.show(true);
    await vi.waitFor(() => expect(model.state().engines).toHaveLength(1));
    await new Promise(done => setTimeout(done, 30));
    expect(installer.asked).toBe(1);
  });

  it('follows a change to its end, tells of it, and then asks no more', async () => {
    const ends: number[] = [];
    model.onEnd = () => void ends.push(installer.asked);
    await model.change('anarci', 'install');
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    const { asked } = installer;
    await new Promise(done => setTimeout(done, 30));
    expect(installer.asked).toBe(asked);
    expect(installer.done).toEqual([['anarci', 'install']]);
  });

  it('says why a change was refused, also after the list was read again', async () => {
    installer.changeEngine = () => Promise.reject(new Error('Not while a job runs.'));
    await model.change('anarci', 'remove');
    expect(model.state().requestError).toBe('Not while a job runs.');
    await model.refresh();
    expect(model.state().requestError).toBeNull();
  });

  it('goes on after a question that failed in the middle of a change', async () => {
    await model.change('anarci', 'install');
    installer.fault = new Error('No answer.');
    await vi.waitFor(() => expect(model.state().requestError).toBe('No answer.'));
    installer.fault = null;
    await vi.waitFor(() => expect(model.state().engines?.[0]?.isBusy).toBe(false));
    expect(model.state().requestError).toBeNull();
  });
});
