/** The small parts of which the views are made: tabs, lists, search, notices, icons. */
import { refreshIcon } from '@jupyterlab/ui-components';
import { act, fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';

import { HtmlPane } from '../src/components/results/HtmlPane';
import { IconButton } from '../src/components/controls/IconButton';
import { FoldIcon, StateIcon } from '../src/components/controls/icons';
import { LogPane } from '../src/components/results/LogPane';
import { MiddleText } from '../src/components/controls/MiddleText';
import { Notice } from '../src/components/controls/Notice';
import { SearchBox } from '../src/components/controls/SearchBox';
import { Select } from '../src/components/controls/Select';
import { ServiceBar, type ServiceBarProps } from '../src/components/service/ServiceBar';
import { useStore } from '../src/components/store';
import { Tabs } from '../src/components/controls/Tabs';
import { StatusFilters } from '../src/components/jobs/StatusFilters';
import { Store } from '../src/models/store';
import { STATES } from '../src/models/jobs/status';
import { makeJob, SERVICE } from './records';

describe('MiddleText', () => {
  it('is copied in full if selected alone; a larger selection is copied by the browser', () => {
    const { container } = render(
      <p>
        <MiddleText text="trastuzumab-VH-IMGT" /> <i>Complete</i>
      </p>
    );
    const [start, end] = [...container.querySelectorAll('bdi > span')] as [Element, Element];
    const setData = vi.fn();
    const copyUpTo = (last: Element): boolean => {
      window.getSelection()?.setBaseAndExtent(start, 0, last, 1);
      return fireEvent.copy(start, { clipboardData: { setData } });
    };
    expect(copyUpTo(end)).toBe(false);
    expect(setData).toHaveBeenCalledExactlyOnceWith('text/plain', 'trastuzumab-VH-IMGT');
    expect(copyUpTo(screen.getByText('Complete'))).toBe(true);
    expect(setData).toHaveBeenCalledOnce();
  });
});

describe('StatusFilters', () => {
  it('formats counts like the notebook and the command line', () => {
    const complete = Array.from({ length: 2000 }, () => makeJob({ status: 'Complete' }));
    const jobs = [...complete, makeJob({ status: 'In Queue' })];
    render(<StatusFilters jobs={jobs} chosen={null} onChoose={vi.fn()} />);
    expect(screen.getByRole('button', { name: 'All, 2,001 jobs' }).textContent).toBe('All 2,001');
    expect(screen.getByRole('button', { name: 'Complete, 2,000 jobs' }).textContent).toContain('2,000');
    expect(screen.getByRole('button', { name: /, 1 job$/ })).toBeTruthy();
  });

  it('counts a complete batch with failed jobs as complete and as failed, but once among all jobs', () => {
    const statuses = { 'In Queue': 0, Running: 0, Complete: 98, Stopped: 2 };
    const batch = makeJob({ type: 'batch', status: 'Complete', statuses, failed: 2 });
    render(<StatusFilters jobs={[batch, makeJob()]} chosen={null} onChoose={vi.fn()} />);
    for (const [label, count] of [
      ['All', '2 jobs'],
      ['Complete', '1 job'],
      ['Failed', '1 job']
    ]) {
      expect(screen.getByRole('button', { name: `${label}, ${count}` })).toBeTruthy();
    }
  });
});

describe('Tabs', () => {
  type Key = 'a' | 'b' | 'c';

  function Shown(): ReactElement {
    const [chosen, setChosen] = useState<Key>('a');
    const tabs = (['a', 'b', 'c'] as const).map(key => ({ key, label: `Tab ${key}` }));
    return (
      <Tabs id="test" label="Letters" tabs={tabs} chosen={chosen} onChoose={setChosen}>
        <p>view of {chosen}</p>
      </Tabs>
    );
  }

  const chosen = (): string | null => screen.getByRole('tab', { selected: true }).textContent;

  it('shows one panel, labelled by its tab', async () => {
    render(<Shown />);
    await userEvent.click(screen.getByRole('tab', { name: 'Tab b' }));
    expect(screen.getByRole('tabpanel', { name: 'Tab b' }).textContent).toBe('view of b');
    expect(screen.getByRole('tab', { name: 'Tab b' }).getAttribute('aria-controls')).toBe('fn-panel-test');
  });

  it('selects with the arrow keys, wraps around, and moves the focus', async () => {
    render(<Shown />);
    screen.getByRole('tab', { name: 'Tab a' }).focus();
    await userEvent.keyboard('{ArrowLeft}');
    expect(chosen()).toBe('Tab c');
    expect(document.activeElement?.textContent).toBe('Tab c');
    await userEvent.keyboard('{ArrowRight}{ArrowRight}');
    expect(chosen()).toBe('Tab b');
  });

  it('is a single tab stop', () => {
    render(<Shown />);
    const stops = screen.getAllByRole('tab').map(tab => tab.tabIndex);
    expect(stops).toEqual([0, -1, -1]);
  });

  it('ignores other keys', async () => {
    render(<Shown />);
    screen.getByRole('tab', { name: 'Tab a' }).focus();
    await userEvent.keyboard('x{ArrowDown}');
    expect(chosen()).toBe('Tab a');
  });
});

describe('Select', () => {
  it('reports the selected value', async () => {
    const onChoose = vi.fn();
    const labels = { one: 'First', two: 'Second' };
    render(<Select label="Order" values={['one', 'two']} labels={labels} chosen="one" onChoose={onChoose} />);
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Order' }), 'Second');
    expect(onChoose).toHaveBeenCalledWith('two');
  });
});

describe('SearchBox', () => {
  function Shown({ onKey }: { readonly onKey?: () => void }): ReactElement {
    const [value, setValue] = useState('');
    return (
      <div onKeyDown={onKey}>
        <SearchBox label="Search" value={value} onChange={setValue} />
      </div>
    );
  }

  it('is cleared with its button, which is shown only if there is text', async () => {
    render(<Shown />);
    expect(screen.queryByRole('button')).toBeNull();
    await userEvent.type(screen.getByRole('textbox'), 'fold');
    await userEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('');
  });

  it('consumes Escape only if that clears the text', async () => {
    const keys: string[] = [];
    render(<Shown onKey={() => keys.push('seen')} />);
    await userEvent.type(screen.getByRole('textbox'), 'a{Escape}');
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('');
    const before = keys.length;
    await userEvent.keyboard('{Escape}');
    expect(keys.length).toBe(before + 1);
  });
});

describe('Notice', () => {
  it('is an alert only for errors, otherwise a status', () => {
    render(<Notice tone="warning" title="Slow" />);
    render(<Notice tone="error" title="Broken" />);
    expect(screen.getByRole('status').textContent).toBe('Slow');
    expect(screen.getByRole('alert').textContent).toBe('Broken');
  });

  it('shows the primary action before the others', async () => {
    const clicked: string[] = [];
    const offer = (label: string) => ({ label, onClick: () => void clicked.push(label) });
    render(<Notice tone="plain" title="None" action={offer('Try')} others={[offer('Look'), offer('Close')]} />);
    expect(screen.getAllByRole('button').map(button => button.textContent)).toEqual(['Try', 'Look', 'Close']);
    await userEvent.click(screen.getByRole('button', { name: 'Look' }));
    expect(clicked).toEqual(['Look']);
  });
});

describe('IconButton', () => {
  it('has an accessible name, a tooltip and the state of its menu', () => {
    render(<IconButton icon={refreshIcon} label="More" isMenuOpen={false} />);
    const button = screen.getByRole('button', { name: 'More' });
    expect(button.title).toBe('More');
    expect(button.getAttribute('aria-haspopup')).toBe('menu');
    expect(button.getAttribute('aria-expanded')).toBe('false');
  });

  it('does not pass mouse events on to its row', async () => {
    const onRow = vi.fn();
    const onClick = vi.fn();
    render(
      <div onClick={onRow} onMouseDown={onRow} onDoubleClick={onRow}>
        <IconButton icon={refreshIcon} label="Stop" onClick={onClick} />
      </div>
    );
    await userEvent.dblClick(screen.getByRole('button'));
    expect(onClick).toHaveBeenCalledTimes(2);
    expect(onRow).not.toHaveBeenCalled();
  });

  it('passes its element to the handler', () => {
    const onPress = vi.fn();
    render(<IconButton icon={refreshIcon} label="More" onPress={onPress} />);
    fireEvent.click(screen.getByRole('button'));
    expect(onPress).toHaveBeenCalledWith(screen.getByRole('button'));
  });
});

describe('icons', () => {
  it('differ in shape between states', () => {
    const shapes = STATES.map(({ state }) => render(<StateIcon state={state} />).container.innerHTML);
    expect(new Set(shapes.map(html => html.replace(/fn-mod-\w+|data-icon="[^"]*"/g, ''))).size).toBe(STATES.length);
  });

  it('differ between an expanded and a collapsed section', () => {
    const [open, closed] = [true, false].map(isOpen => render(<FoldIcon isOpen={isOpen} />).container.innerHTML);
    expect(open).not.toBe(closed);
  });

  it('use the text colour', () => {
    for (const { state } of STATES) {
      expect(render(<StateIcon state={state} />).container.innerHTML).toContain('currentColor');
    }
  });
});

describe('ServiceBar', () => {
  const profiles = [
    { name: 'embedded', url: null, isActive: true },
    { name: 'lab', url: 'https://lab.example.org', isActive: false }
  ];
  const bar = (props: Partial<ServiceBarProps> = {}): ReactElement => (
    <ServiceBar
      service={SERVICE}
      isDisconnected={false}
      state={{ profiles, chosen: null }}
      onChoose={vi.fn()}
      onConnect={vi.fn()}
      {...props}
    />
  );
  const statusText = (): string | null => screen.getByRole('status').textContent;

  it.each([
    ['ok', 'Connected'],
    ['unreachable', 'Not responding'],
    ['unauthorized', 'Key refused'],
    ['starting', 'Starting']
  ] as const)('shows a service that is %s as “%s”', (state, text) => {
    render(bar({ service: { ...SERVICE, state } }));
    expect(statusText()).toBe(text);
  });

  it('shows “Connecting” before the first response and while a remote service starts', () => {
    const { rerender } = render(bar({ service: null }));
    expect(statusText()).toBe('Connecting');
    rerender(bar({ service: { ...SERVICE, state: 'starting', isEmbedded: false } }));
    expect(statusText()).toBe('Connecting');
  });

  it('shows “Disconnected” while the Jupyter server cannot be reached', () => {
    render(bar({ isDisconnected: true }));
    expect(statusText()).toBe('Disconnected');
  });

  it('selects another service, or opens the dialog for a new one', async () => {
    const [onChoose, onConnect] = [vi.fn(), vi.fn()];
    render(bar({ onChoose, onConnect }));
    const list = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Service' });
    expect([...list.options].map(option => option.text)).toEqual(['This computer', 'lab', 'Connect to a service …']);
    await userEvent.selectOptions(list, 'lab');
    await userEvent.selectOptions(list, 'Connect to a service …');
    expect(onChoose.mock.calls).toEqual([['lab']]);
    expect(onConnect).toHaveBeenCalledOnce();
  });

  it('shows the responding service before the profiles are loaded', () => {
    render(bar({ state: { profiles: [], chosen: null }, service: { ...SERVICE, profile: 'lab' } }));
    expect(screen.getByRole<HTMLSelectElement>('combobox').value).toBe('lab');
  });
});

describe('LogPane', () => {
  it('polls the log of an unfinished job until it is unmounted', async () => {
    let read = 0;
    const next = (): Promise<string> => Promise.resolve(`line ${(read += 1)}`);
    const { unmount } = render(<LogPane name="fold" isLive read={next} intervalMs={5} />);
    await screen.findByText('line 3');
    unmount();
    const before = read;
    await new Promise(resolve => setTimeout(resolve, 40));
    expect(read).toBe(before);
  });

  it('reads the log of a finished job once', async () => {
    const read = vi.fn(() => Promise.resolve('the end'));
    render(<LogPane name="fold" isLive={false} read={read} intervalMs={5} />);
    await screen.findByText('the end');
    await new Promise(resolve => setTimeout(resolve, 40));
    expect(read).toHaveBeenCalledOnce();
  });

  it('shows why the log cannot be read, and retries while the job is unfinished', async () => {
    let fault: Error | null = new Error('No answer.');
    const read = (): Promise<string> => (fault ? Promise.reject(fault) : Promise.resolve('back'));
    render(<LogPane name="fold" isLive read={read} intervalMs={5} />);
    await screen.findByText('The log cannot be read. No answer.');
    fault = null;
    await screen.findByText('back');
  });

  it.each([
    [true, 'The log is empty.'],
    [false, 'No log']
  ])('states that the log is empty (unfinished: %s)', async (isLive, text) => {
    render(<LogPane name="fold" isLive={isLive} read={() => Promise.resolve(' \n')} />);
    await screen.findByText(text);
  });

  it('ignores a late response for the previous job', async () => {
    const answers = new Map<string, (text: string) => void>();
    const read = (name: string): Promise<string> => new Promise(answer => answers.set(name, answer));
    const { rerender } = render(<LogPane name="first" isLive={false} read={read} />);
    await vi.waitFor(() => expect(answers.has('first')).toBe(true));
    rerender(<LogPane name="second" isLive={false} read={read} />);
    await vi.waitFor(() => expect(answers.has('second')).toBe(true));
    answers.get('second')?.('log of the second');
    await screen.findByText('log of the second');
    answers.get('first')?.('log of the first');
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(screen.queryByText('log of the first')).toBeNull();
  });
});

describe('HtmlPane', () => {
  it('runs the scripts of the HTML, and those of new HTML when it changes', () => {
    const html = (count: number): string => `<p>${count}</p><script>document.body.dataset.ran = '${count}'</script>`;
    const { container, rerender } = render(<HtmlPane html={html(1)} />);
    expect(container.querySelector('p')?.textContent).toBe('1');
    rerender(<HtmlPane html={html(2)} />);
    expect(container.querySelector('p')?.textContent).toBe('2');
    expect(container.querySelectorAll('script')).toHaveLength(1);
  });
});

describe('useStore', () => {
  class Counter extends Store<{ readonly count: number }> {
    add(): void {
      this.update({ count: this.state().count + 1 });
    }
  }

  it('re-renders after each change, and unsubscribes when unmounted', () => {
    const counter = new Counter({ count: 0 });
    let drawn = 0;
    const Shown = (): ReactElement => {
      drawn += 1;
      return <p>{useStore(counter).count}</p>;
    };
    const { container, unmount } = render(<Shown />);
    act(() => counter.add());
    expect(container.textContent).toBe('1');
    const before = drawn;
    unmount();
    counter.add();
    expect(drawn).toBe(before);
  });

  it('follows a new store when it is replaced', () => {
    const [first, second] = [new Counter({ count: 1 }), new Counter({ count: 10 })];
    const Shown = ({ store }: { readonly store: Counter }): ReactElement => <p>{useStore(store).count}</p>;
    const { container, rerender } = render(<Shown store={first} />);
    rerender(<Shown store={second} />);
    act(() => second.add());
    expect(container.textContent).toBe('11');
  });
});
