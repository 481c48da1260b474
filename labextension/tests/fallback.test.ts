/** The renderer of live widgets: what it keeps, what it makes anew, and which keys it holds back. */
import { PageConfig } from '@jupyterlab/coreutils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ServerConnection } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { isOutdated } from '../src/api/update';
import { PLAIN } from '../src/models/translation';
import { FOLDNOTE_MIME, WidgetOrFallback } from '../src/panels/fallback';

const LIVE = 'application/vnd.jupyter.widget-view+json';

/** Stands for ipywidgets: a renderer that shows `text`, and how many were made. */
class Registry {
  text = 'alive';
  made = 0;
  shown: unknown = null;
  factory = {};
  render: () => Promise<void> = () => Promise.resolve();
  mimeTypes = [LIVE];

  getFactory(): object {
    return this.factory;
  }

  createRenderer(): IRenderMime.IRenderer {
    this.made += 1;
    const widget = new Widget();
    widget.node.innerHTML = `<button>${this.text}</button>`;
    return Object.assign(widget, {
      renderModel: (model: IRenderMime.IMimeModel) => {
        this.shown = model.data[LIVE];
        return this.render();
      }
    });
  }
}

function bundle(id: string, saved: string): IRenderMime.IMimeModel {
  const data = { [FOLDNOTE_MIME]: {}, [LIVE]: { model_id: id }, 'text/html': saved };
  return { data, metadata: {}, trusted: true, setData: () => undefined };
}

describe('the saved HTML of an output', () => {
  it('keeps its styles in a trusted notebook, and is sanitised otherwise', async () => {
    const html = '<style>.fnc {color: red}</style><p>Complete</p><script>window.hacked = 1</script>';
    for (const trusted of [true, false]) {
      const sanitizer = { sanitize: (text: string) => text.replace(/<(style|script).*?\/\1>/g, '') };
      const registry = { mimeTypes: [] } as unknown as IRenderMimeRegistry;
      const output = new WidgetOrFallback({ sanitizer } as IRenderMime.IRendererOptions, () => registry);
      Widget.attach(output, document.body);
      await output.renderModel({ ...bundle('one', html), trusted });
      expect(output.node.querySelector('style') !== null).toBe(trusted);
      expect(output.node.querySelector('script')).toBeNull();
      expect(output.node.textContent).toContain('Complete');
      output.dispose();
    }
  });
});

describe('the saved HTML without a widget renderer', () => {
  it('is replaced when the output is updated', async () => {
    const registry = { mimeTypes: [] } as unknown as IRenderMimeRegistry;
    const sanitizer = { sanitize: (text: string) => text };
    const output = new WidgetOrFallback({ sanitizer } as IRenderMime.IRendererOptions, () => registry);
    Widget.attach(output, document.body);
    await output.renderModel(bundle('one', '<p>Running</p>'));
    await output.renderModel(bundle('one', '<p>Complete</p>'));
    expect(output.node.textContent).toBe('Complete');
    output.dispose();
  });
});

describe('a live widget', () => {
  let registry: Registry;
  let output: WidgetOrFallback;

  beforeEach(async () => {
    vi.useFakeTimers();
    registry = new Registry();
    const options = {
      sanitizer: { sanitize: (html: string) => html }
    } as IRenderMime.IRendererOptions;
    output = new WidgetOrFallback(options, () => registry as unknown as IRenderMimeRegistry, 1000);
    await output.renderModel(bundle('one', 'first'));
  });

  afterEach(() => {
    output.dispose();
    vi.useRealTimers();
  });

  it('is kept if the same widget is rendered again', async () => {
    Widget.attach(output, document.body);
    const button = output.node.querySelector('button');
    await output.renderModel(bundle('one', 'second'));
    expect(output.node.querySelector('button')).toBe(button);
    await output.renderModel(bundle('two', 'third'));
    expect(output.node.querySelector('button')).not.toBe(button);
  });

  it('leaves no unhandled rejection if it is disposed while rendering', async () => {
    let fail: (reason: Error) => void = () => undefined;
    registry.render = () => new Promise((_, reject) => (fail = reject));
    Widget.attach(output, document.body);
    output.dispose();
    fail(new TypeError("Cannot read properties of null (reading 'addWidget')"));
    vi.useRealTimers();
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(output.isDisposed).toBe(true);
  });

  it('is read from our own MIME type, so that other programs prefer the HTML', async () => {
    Widget.attach(output, document.body);
    const hidden = bundle('one', 'first');
    await output.renderModel({
      ...hidden,
      data: { [FOLDNOTE_MIME]: { view: { model_id: 'two' } }, 'text/html': 'second' }
    });
    expect(registry.shown).toEqual({ model_id: 'two' });
    expect(output.node.textContent).toBe('alive');
    await output.renderModel({ ...hidden, data: { [FOLDNOTE_MIME]: {}, 'text/html': 'kept' } });
    expect(output.node.textContent).toContain('kept');
  });

  it('is rendered again once the notebook has a widget manager', async () => {
    registry.text = 'Loading widget...';
    Widget.attach(output, document.body);
    await vi.advanceTimersByTimeAsync(1500);
    expect(output.node.textContent).toContain('first');
    registry.text = 'alive';
    registry.factory = {};
    await vi.advanceTimersByTimeAsync(1000);
    expect(output.node.textContent).toBe('alive');
    expect(registry.made).toBe(2);
  });

  it('stops plain keys from reaching the notebook, and passes shortcuts on', () => {
    Widget.attach(output, document.body);
    const onKeyDown = vi.fn();
    document.addEventListener('keydown', onKeyDown);
    const press = (init: KeyboardEventInit) =>
      output.node.querySelector('button')?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...init }));
    press({ key: 'm' });
    press({ key: 'Enter' });
    expect(onKeyDown).not.toHaveBeenCalled();
    press({ key: 's', ctrlKey: true });
    press({ key: 'Enter', shiftKey: true });
    press({ key: 'Escape' });
    expect(onKeyDown).toHaveBeenCalledTimes(3);
    document.removeEventListener('keydown', onKeyDown);
  });
});

describe('a page that was loaded before an update of foldnote', () => {
  const options = { sanitizer: { sanitize: (html: string) => html } } as IRenderMime.IRendererOptions;

  /** Shows a bundle of ours where the server has another build than the page, or the same. */
  async function show(isNew: boolean, ours: object): Promise<HTMLElement> {
    const updates = { isOutdated: () => Promise.resolve(isNew), trans: PLAIN };
    const find = (): IRenderMimeRegistry => new Registry() as unknown as IRenderMimeRegistry;
    const shown = new WidgetOrFallback(options, find, 1000, updates);
    const data = { [FOLDNOTE_MIME]: ours, 'text/html': '<table></table>' } as IRenderMime.IMimeModel['data'];
    await shown.renderModel({ data, metadata: {}, trusted: true, setData: () => undefined });
    Widget.attach(shown, document.body);
    await new Promise(resolve => setTimeout(resolve));
    shown.node.remove();
    return shown.node;
  }

  it('asks above a form’s table to reload the page, with a link', async () => {
    const node = await show(true, { version: 2, view: { model_id: 'one' } });
    expect(node.querySelector('[role=status]')?.textContent).toBe(
      'foldnote has been updated since this page was opened. Reload this page'
    );
    expect(node.querySelector('a')?.href).toBe(window.location.href);
    expect(node.querySelector('table')).not.toBeNull();
  });

  it('shows no notice if the page is current or the form can be shown', async () => {
    expect((await show(false, { version: 2, view: { model_id: 'one' } })).textContent).toBe('');
    expect((await show(true, { version: 1, view: { model_id: 'one' } })).textContent).toBe('alive');
  });
});

describe('isOutdated', () => {
  afterEach(() => {
    PageConfig.setOption('federated_extensions', '');
    vi.unstubAllGlobals();
  });

  it.each([
    ['static/remoteEntry.b.js', true],
    ['static/remoteEntry.a.js', false],
    [undefined, false]
  ])('compares the page’s build with the server’s: %s', async (load, isNew) => {
    PageConfig.setOption(
      'federated_extensions',
      JSON.stringify([{ name: 'foldnote', load: 'static/remoteEntry.a.js' }])
    );
    PageConfig.setOption('fullLabextensionsUrl', '/lab/extensions');
    const urls: string[] = [];
    const fetch = (request: Request): Promise<Response> => {
      urls.push(request.url);
      return Promise.resolve(new Response(JSON.stringify({ jupyterlab: { _build: { load } } })));
    };
    expect(await isOutdated({ ...ServerConnection.makeSettings(), fetch: fetch as typeof window.fetch })).toBe(isNew);
    expect(urls[0]).toContain('/lab/extensions/foldnote/package.json');
  });

  it('is false if the server does not respond', async () => {
    const fetch = (): Promise<Response> => Promise.reject(new TypeError('gone'));
    expect(await isOutdated({ ...ServerConnection.makeSettings(), fetch })).toBe(false);
  });
});
