/** The renderer of live widgets: what it keeps, what it makes anew, and which keys it holds back. */
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { OURS, WidgetOrFallback } from '../src/panels/fallback';

const LIVE = 'application/vnd.jupyter.widget-view+json';

/** Stands for ipywidgets: a renderer that shows `text`, and how many were made. */
class Registry {
  text = 'alive';
  made = 0;
  shown: unknown = null;
  factory = {};
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
        return Promise.resolve();
      }
    });
  }
}

function bundle(id: string, saved: string): IRenderMime.IMimeModel {
  const data = { [OURS]: {}, [LIVE]: { model_id: id }, 'text/html': saved };
  return { data, metadata: {}, trusted: true, setData: () => undefined };
}

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

  it('stays when a bundle of the same widget comes', async () => {
    Widget.attach(output, document.body);
    const button = output.node.querySelector('button');
    await output.renderModel(bundle('one', 'second'));
    expect(output.node.querySelector('button')).toBe(button);
    await output.renderModel(bundle('two', 'third'));
    expect(output.node.querySelector('button')).not.toBe(button);
  });

  it('is found in our own part of a bundle, which other programs do not prefer to the text', async () => {
    Widget.attach(output, document.body);
    const hidden = bundle('one', 'first');
    await output.renderModel({ ...hidden, data: { [OURS]: { view: { model_id: 'two' } }, 'text/html': 'second' } });
    expect(registry.shown).toEqual({ model_id: 'two' });
    expect(output.node.textContent).toBe('alive');
    await output.renderModel({ ...hidden, data: { [OURS]: {}, 'text/html': 'kept' } });
    expect(output.node.textContent).toContain('kept');
  });

  it('is made anew when the notebook has got its widget manager', async () => {
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

  it('keeps plain keys from the notebook, and passes shortcuts on', () => {
    Widget.attach(output, document.body);
    const heard = vi.fn();
    document.addEventListener('keydown', heard);
    const press = (init: KeyboardEventInit) =>
      output.node.querySelector('button')?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...init }));
    press({ key: 'm' });
    press({ key: 'Enter' });
    expect(heard).not.toHaveBeenCalled();
    press({ key: 's', ctrlKey: true });
    press({ key: 'Enter', shiftKey: true });
    press({ key: 'Escape' });
    expect(heard).toHaveBeenCalledTimes(3);
    document.removeEventListener('keydown', heard);
  });
});
