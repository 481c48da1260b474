/** The catalog: the question box, the facts of a tool, what it says when nothing is there; and long lists. */
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import type { ReactElement } from 'react';

import type { AdviceResponse, ToolResponse } from '../src/api/responses';
import { AdviceBox, type AdviceBoxProps } from '../src/components/tools/AdviceBox';
import { ToolsView, type ToolsViewProps } from '../src/components/tools/ToolsView';
import { VirtualRows, type VirtualHandle } from '../src/components/controls/VirtualRows';
import type { ToolsState } from '../src/models/service/tools';
import { makeTool, makeToolEngine, SERVICE } from './records';

const ADVICE: AdviceResponse = {
  tools: [
    { toolId: 'vina', reason: 'It docks.' },
    { toolId: 'zed', reason: 'a\u202eb' }
  ],
  abstain: false,
  summary: 'Docking.'
};

describe('AdviceBox', () => {
  function box(handlers: Partial<AdviceBoxProps> = {}): HTMLTextAreaElement {
    render(
      <AdviceBox
        advise={() => Promise.resolve(ADVICE)}
        toolName={type => type.toUpperCase()}
        canRun={type => type === 'vina'}
        onChoose={vi.fn()}
        {...handlers}
      />
    );
    return screen.getByRole('textbox', { name: 'Describe your task' });
  }

  it('submits the prompt with Enter, and lists tools with reasons', async () => {
    const advise = vi.fn(() => Promise.resolve(ADVICE));
    const onChoose = vi.fn();
    const field = box({ advise, onChoose });
    await userEvent.type(field, '  dock this {Enter}');
    expect(advise).toHaveBeenCalledWith('dock this');
    const items = (await screen.findAllByRole('listitem')).map(item => item.textContent);
    expect(items).toEqual(['VINAIt docks.', 'ZED · not available herea\ufffdb']);
    await userEvent.click(screen.getByRole('button', { name: 'VINA' }));
    expect(onChoose).toHaveBeenCalledWith('vina');
  });

  it('inserts a new line with Shift+Enter', async () => {
    const advise = vi.fn(() => Promise.resolve(ADVICE));
    const field = box({ advise });
    await userEvent.type(field, 'a{Shift>}{Enter}{/Shift}b');
    expect(field.value).toBe('a\nb');
    expect(advise).not.toHaveBeenCalled();
  });

  it('does not submit a blank prompt', async () => {
    const advise = vi.fn(() => Promise.resolve(ADVICE));
    const field = box({ advise });
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Ask' }).disabled).toBe(true);
    await userEvent.type(field, '   {Enter}');
    expect(advise).not.toHaveBeenCalled();
  });

  it('allows one request at a time', async () => {
    const advise = vi.fn(() => new Promise<AdviceResponse>(() => undefined));
    const field = box({ advise });
    await userEvent.type(field, 'dock{Enter}{Enter}');
    expect(screen.getByText('Comparing the tools')).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Ask' }).disabled).toBe(true);
    expect(advise).toHaveBeenCalledOnce();
  });

  it('shows why the request failed, until the next response', async () => {
    let isDown = true;
    const advise = () => (isDown ? Promise.reject(new Error('The service is busy.')) : Promise.resolve(ADVICE));
    const field = box({ advise });
    await userEvent.type(field, 'dock{Enter}');
    expect(await screen.findByText('The service is busy.')).toBeTruthy();
    isDown = false;
    await userEvent.type(field, '{Enter}');
    await screen.findByText('Docking.');
    expect(screen.queryByText('The service is busy.')).toBeNull();
  });

  it('hides the previous recommendation if a later request fails', async () => {
    let isDown = false;
    const advise = () => (isDown ? Promise.reject(new Error('The service is busy.')) : Promise.resolve(ADVICE));
    const field = box({ advise });
    await userEvent.type(field, 'dock{Enter}');
    await screen.findByText('Docking.');
    isDown = true;
    await userEvent.type(field, 's{Enter}');
    await screen.findByText('The service is busy.');
    expect(screen.queryByText('Docking.')).toBeNull();
  });

  it('suggests what to write if no tool is recommended', async () => {
    const field = box({ advise: () => Promise.resolve({ tools: [], abstain: true, summary: '' }) });
    await userEvent.type(field, 'make coffee{Enter}');
    expect(await screen.findByText('No tool is recommended.')).toBeTruthy();
    expect(screen.getByText(/^Name your molecules/)).toBeTruthy();
  });
});

const input = (name: string, isRequired: boolean, rest: Partial<ToolResponse['inputs'][number]> = {}) => ({
  name,
  title: name,
  description: '',
  kind: 'text',
  default: '',
  isRequired,
  ...rest
});

const FACTS: ToolResponse = {
  type: 'vina',
  inputs: [input('receptor', true), input('ligand', true), input('seed', false, { default: '1' })],
  outputs: ['affinity: kcal/mol: lower is better'],
  citation: { text: 'Eberhardt et al.', doi: '10.1021/acs.jcim.1c00203' }
};

const TOOLS = [
  makeTool({ type: 'vina', displayName: 'Vina', family: 'docking', functions: ['dock-ligand'] }),
  makeTool({ type: 'zed', displayName: 'Zed', available: false, unavailableReason: 'No engine.' })
];

describe('ToolsView', () => {
  const view = (state: Partial<ToolsState> = {}, handlers: Partial<ToolsViewProps> = {}): ReactElement => (
    <ToolsView
      state={{ tools: TOOLS, service: SERVICE, isLoading: false, connectionError: null, ...state }}
      toolName={type => type}
      onNewCell={vi.fn()}
      onRetry={vi.fn()}
      advise={() => Promise.resolve(ADVICE)}
      describe={() => Promise.resolve(FACTS)}
      {...handlers}
    />
  );
  const fold = (name: string): HTMLElement => screen.getByRole('button', { name, expanded: false });

  it('expands one tool at a time, with its inputs, outputs and citation', async () => {
    const { container } = render(view());
    await userEvent.click(fold('Vina'));
    await screen.findByText('receptor');
    expect(screen.queryByText('seed')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show one more setting' }));
    expect(screen.getByText('text · default: 1')).toBeTruthy();
    expect(screen.getByText('kcal/mol: lower is better')).toBeTruthy();
    expect(screen.getByText('Dock ligand')).toBeTruthy();
    const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'doi:10.1021/acs.jcim.1c00203' });
    expect(link.href).toBe('https://doi.org/10.1021/acs.jcim.1c00203');
    await userEvent.click(fold('Not available on this computer 1'));
    await userEvent.click(fold('Zed'));
    expect(container.querySelectorAll('.fn-ToolFacts')).toHaveLength(1);
  });

  it('shows the full texts of an unavailable tool when expanded, with commands as code', async () => {
    const sentence = `${'It needs a program of your own that is not here. '.repeat(9)}Run \`foldnote engines\`.`;
    const lost = makeTool({ ...TOOLS[1], description: 'It designs. '.repeat(40), unavailableReason: sentence });
    const { container } = render(view({ tools: [...TOOLS.slice(0, 1), lost] }));
    await userEvent.click(fold('Not available on this computer 1'));
    expect(container.querySelector('.fn-Tool-reason')).toBeNull();
    const text = (): Element | undefined => [...container.querySelectorAll('.fn-Tool-text')].at(-1);
    expect(text()?.getAttribute('title')).toBe(lost.description);
    await userEvent.click(fold('Zed'));
    expect(container.querySelector('.fn-Tool-reason')?.textContent).toBe(sentence.replaceAll('`', ''));
    expect(screen.getByText('foldnote engines').tagName).toBe('CODE');
    expect(text()?.textContent).toBe(lost.description);
    expect(text()?.hasAttribute('title')).toBe(false);
  });

  it('shows the first settings of a tool without required ones', async () => {
    const inputs = ['a', 'b', 'c', 'd', 'e'].map(name => input(name, false));
    render(view({}, { describe: () => Promise.resolve({ ...FACTS, inputs }) }));
    await userEvent.click(fold('Vina'));
    await screen.findByText('a');
    expect(screen.queryByText('d')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show 2 more settings' }));
    await userEvent.click(screen.getByRole('button', { name: 'Show fewer settings' }));
    expect(screen.queryByText('d')).toBeNull();
  });

  it('shows why the details of a tool cannot be loaded, and what the catalog contains', async () => {
    render(view({}, { describe: () => Promise.reject(new Error('The service does not say.')) }));
    await userEvent.click(fold('Vina'));
    expect(await screen.findByText('The service does not say.')).toBeTruthy();
    expect(screen.getAllByText('Docking')).toHaveLength(2);
  });

  it('does not link an invalid DOI', async () => {
    const citation = { text: 'Somebody', doi: 'javascript:alert(1)' };
    render(view({}, { describe: () => Promise.resolve({ ...FACTS, citation }) }));
    await userEvent.click(fold('Vina'));
    await screen.findByText('Somebody');
    expect(screen.queryByRole('link')).toBeNull();
  });

  it('expands a recommended tool and scrolls to it', async () => {
    const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView');
    render(view());
    await userEvent.type(screen.getByRole('textbox', { name: 'Describe your task' }), 'dock{Enter}');
    await userEvent.click(await screen.findByRole('button', { name: 'vina' }));
    expect(await screen.findByText('receptor')).toBeTruthy();
    expect(scrolled.mock.instances.map(node => (node as unknown as Element).id)).toContain('fn-tool-vina');
  });

  it('hides the prompt and expands all sections during a search', async () => {
    render(view());
    await userEvent.type(screen.getByRole('textbox', { name: 'Search tools' }), 'vin');
    expect(screen.queryByRole('textbox', { name: 'Describe your task' })).toBeNull();
    await userEvent.clear(screen.getByRole('textbox', { name: 'Search tools' }));
    await userEvent.type(screen.getByRole('textbox', { name: 'Search tools' }), 'zed');
    expect(screen.getByText('Zed')).toBeTruthy();
    await userEvent.type(screen.getByRole('textbox', { name: 'Search tools' }), 'zzz');
    await userEvent.click(screen.getByRole('button', { name: 'Show all tools' }));
    expect(screen.getByText('Vina')).toBeTruthy();
  });

  it('counts the tools of each section', () => {
    render(view());
    const titles = screen.getAllByRole('heading', { level: 3 }).map(title => title.textContent);
    expect(titles).toEqual(['Run on this computer 1', 'Not available on this computer 1']);
  });

  it('separates installable tools from those that run with the user’s own program', () => {
    const engine = makeToolEngine({ name: 'alphaflow', method: 'AlphaFlow', kind: 'adapter' });
    const vina = makeTool({ type: 'vina', available: false, engine: { ...engine, kind: 'genuine' } });
    const alphaflow = makeTool({ type: 'alphaflow', displayName: 'AlphaFlow', available: false, engine });
    render(view({ tools: [vina, alphaflow] }));
    const titles = screen.getAllByRole('heading', { level: 3 }).map(title => title.textContent);
    expect(titles).toEqual(['Can be installed 1', 'Run with your own copy of the program 1']);
  });

  it('shows that it is loading, that there are no tools, or that the server does not respond', () => {
    const onRetry = vi.fn();
    const { rerender } = render(view({ tools: null, service: null, isLoading: true }));
    expect(screen.getByText('Loading tools')).toBeTruthy();
    rerender(view({ tools: [] }, { onRetry }));
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(onRetry).toHaveBeenCalledOnce();
    rerender(view({ tools: null, service: null, connectionError: 'The Jupyter server does not answer.' }));
    expect(screen.getByRole('alert').textContent).toContain('The Jupyter server does not answer.');
  });
});

describe('VirtualRows', () => {
  const HEIGHT = 40;
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ key: `k${at}`, estimate: HEIGHT }));

  function list(
    rows: ReturnType<typeof many>,
    handle: { current: VirtualHandle | null },
    onEnd = vi.fn()
  ): ReactElement {
    return (
      <VirtualRows
        rows={rows}
        handle={handle}
        onNearEnd={onEnd}
        attributes={{ role: 'grid' }}
        footer={<p>foot</p>}
        renderRow={row => (
          <div key={row.key} role="row" data-key={row.key}>
            {row.key}
          </div>
        )}
      />
    );
  }
  const grid = (): HTMLElement => screen.getByRole('grid');
  const shown = (): (string | null)[] =>
    within(grid())
      .getAllByRole('row')
      .map(row => row.textContent);

  async function scrollTo(top: number): Promise<void> {
    grid().scrollTop = top;
    fireEvent.scroll(grid());
    await act(() => new Promise(resolve => requestAnimationFrame(() => resolve(undefined))));
  }

  it('renders the visible rows, and empty space for the others', async () => {
    render(list(many(1000), { current: null }));
    expect(shown()[0]).toBe('k0');
    await scrollTo(20_000);
    expect(shown()).toContain('k500');
    expect(shown()).not.toContain('k0');
    const [before = 0, after = 0] = [...grid().querySelectorAll<HTMLElement>(':scope > [aria-hidden]')].map(room =>
      Number.parseFloat(room.style.height)
    );
    expect(before + shown().length * HEIGHT + after).toBe(1000 * HEIGHT);
  });

  it('reports that its end is near, again after it has grown, but not far from its end', async () => {
    const onEnd = vi.fn();
    const handle = { current: null };
    const { rerender } = render(list(many(1000), handle, onEnd));
    expect(onEnd).not.toHaveBeenCalled();
    await scrollTo(1000 * HEIGHT);
    expect(onEnd).toHaveBeenCalledOnce();
    rerender(list(many(1010), handle, onEnd));
    expect(onEnd).toHaveBeenCalledTimes(2);
  });

  it('scrolls to a row only if it is not visible', () => {
    const handle: { current: VirtualHandle | null } = { current: null };
    render(list(many(1000), handle));
    handle.current?.reveal(3);
    expect(grid().scrollTop).toBe(0);
    handle.current?.reveal(500);
    expect(grid().scrollTop).toBe(501 * HEIGHT - 600);
    expect(handle.current?.pageRows()).toBe(14);
  });

  it('keeps visible rows in place when rows are added above', async () => {
    const handle = { current: null };
    const { rerender } = render(list(many(1000), handle));
    await scrollTo(20_000);
    const rows = [{ key: 'new', estimate: HEIGHT }, ...many(1000)];
    rerender(list(rows, handle));
    expect(grid().scrollTop).toBe(20_000 + HEIGHT);
  });

  it('shows new rows when scrolled to the top', () => {
    const handle = { current: null };
    const { rerender } = render(list(many(10), handle));
    rerender(list([{ key: 'new', estimate: HEIGHT }, ...many(10)], handle));
    expect(grid().scrollTop).toBe(0);
    expect(shown()[0]).toBe('new');
  });

  it('renders only the footer without rows', () => {
    render(list([], { current: null }));
    expect(grid().textContent).toBe('foot');
  });
});
