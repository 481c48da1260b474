/** The engines of this computer: listed, installed, removed. */
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import type { ReactElement } from 'react';

import type { EngineAction, EngineRecord, EnginesResponse } from '../src/api/responses';
import { EnginesView, type EnginesViewProps } from '../src/components/tools/EnginesView';
import { EnginesModel, type EnginesState } from '../src/models/service/engines';
import { makeEngine } from './records';

function view(state: Partial<EnginesState>, handlers: Partial<EnginesViewProps> = {}): ReactElement {
  const rest = { onInstall: vi.fn(), onRemove: vi.fn(), onCancel: vi.fn() };
  return <EnginesView {...rest} {...handlers} state={{ engines: null, isOpen: true, requestError: null, ...state }} />;
}

const buttons = (): (string | null)[] =>
  screen.queryAllByRole('button').map(button => button.getAttribute('aria-label'));

describe('EnginesView', () => {
  it('lists installed engines first, with their size, and last those that need the user’s own program', () => {
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

  it('shows that it is loading, and why loading failed', () => {
    const { rerender } = render(view({}));
    expect(screen.getByText('Loading engines')).toBeTruthy();
    rerender(view({ requestError: 'No answer.' }));
    expect(screen.getByText('No answer.')).toBeTruthy();
    expect(screen.queryByText('Loading engines')).toBeNull();
  });

  it('shows an engine’s tools, licence and size', () => {
    render(view({ engines: [makeEngine()] }));
    expect(screen.getByText('Runs anarci · at least 200 MB')).toBeTruthy();
    expect(screen.getByText('Licence: BSD-3-Clause')).toBeTruthy();
  });

  it('shows what optional weights add to an installed engine', () => {
    const { rerender } = render(view({ engines: [makeEngine({ optionalMethod: 'All models' })] }));
    expect(screen.queryByText(/All models/)).toBeNull();
    rerender(view({ engines: [makeEngine({ isInstalled: true, optionalMethod: 'All models' })] }));
    expect(screen.getByText('With optional weights: All models')).toBeTruthy();
  });

  it('names the engine that an add-on extends', () => {
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
    ['that is partly installed', { hasFiles: true }, ['Install anarci', 'Remove anarci']],
    ['that is being changed', { isBusy: true, hasFiles: true }, ['Cancel installing or removing anarci']],
    ['that has no environment of its own', { hasEnvironment: false, how: 'Put it on PATH.' }, []]
  ])('offers the possible actions for an engine %s', (_, change, labels) => {
    render(view({ engines: [makeEngine(change)] }));
    expect(buttons()).toEqual(labels);
  });

  it('passes the engine to the handler', async () => {
    const onInstall = vi.fn();
    const engines = [makeEngine(), makeEngine({ name: 'vina', method: 'Vina' })];
    render(view({ engines }, { onInstall }));
    await userEvent.click(screen.getByRole('button', { name: 'Install vina' }));
    expect(onInstall).toHaveBeenCalledWith(engines[1]);
  });

  it('shows the progress of a change, and a failure', () => {
    const busy = makeEngine({ isBusy: true, fraction: 0.25, message: 'Downloading' });
    const { rerender } = render(view({ engines: [busy] }));
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25');
    rerender(view({ engines: [makeEngine({ message: 'No space left.', hasFailed: true })] }));
    expect(screen.getByRole('status').className).toContain('error');
  });
});

/** An installer that is done after some questions. */
class Installer {
  requestCount = 0;
  done: [string, EngineAction][] = [];
  fault: Error | null = null;
  private turns = 0;

  engines(): Promise<EnginesResponse> {
    this.requestCount += 1;
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

describe('EnginesModel', () => {
  let installer: Installer;
  let model: EnginesModel;

  beforeEach(() => {
    installer = new Installer();
    model = new EnginesModel(installer, 1);
  });

  it('requests the list once if nothing changes', async () => {
    model.show(true);
    await vi.waitFor(() => expect(model.state().engines).toHaveLength(1));
    await new Promise(done => setTimeout(done, 30));
    expect(installer.requestCount).toBe(1);
  });

  it('polls until a change has ended, reports the end, and stops polling', async () => {
    const ends: number[] = [];
    model.onEnd = () => void ends.push(installer.requestCount);
    await model.change('anarci', 'install');
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    const { requestCount } = installer;
    await new Promise(done => setTimeout(done, 30));
    expect(installer.requestCount).toBe(requestCount);
    expect(installer.done).toEqual([['anarci', 'install']]);
  });

  it('reports why a change was refused, until the next refresh', async () => {
    installer.changeEngine = () => Promise.reject(new Error('Not while a job runs.'));
    await model.change('anarci', 'remove');
    expect(model.state().requestError).toBe('Not while a job runs.');
    await model.refresh();
    expect(model.state().requestError).toBeNull();
  });

  it('keeps polling after a request failed during a change', async () => {
    await model.change('anarci', 'install');
    installer.fault = new Error('No answer.');
    await vi.waitFor(() => expect(model.state().requestError).toBe('No answer.'));
    installer.fault = null;
    await vi.waitFor(() => expect(model.state().engines?.[0]?.isBusy).toBe(false));
    expect(model.state().requestError).toBeNull();
  });
});
