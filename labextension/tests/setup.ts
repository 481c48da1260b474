import { cleanup } from '@testing-library/react';
import { afterEach, beforeAll, vi } from 'vitest';

// jsdom has none, and Lumino extends them.
vi.stubGlobal(
  'DragEvent',
  class extends MouseEvent {
    constructor(type: string, init: MouseEventInit = {}) {
      super(type, { ...init, view: null }); // jsdom does not take the window of tests for one
    }
  }
);
vi.stubGlobal('PointerEvent', class extends MouseEvent {});

// jsdom lays nothing out, so that nothing changes its size.
vi.stubGlobal(
  'ResizeObserver',
  class {
    observe(): void {
      return undefined;
    }
    unobserve(): void {
      return undefined;
    }
    disconnect(): void {
      return undefined;
    }
  }
);

// jsdom has one medium only, and JupyterLab's components ask for it.
vi.stubGlobal('matchMedia', () => ({
  matches: false,
  addEventListener: () => undefined,
  addListener: () => undefined,
  removeListener: () => undefined
}));

// jsdom is never idle, and JupyterLab's widgets draw when the page is.
vi.stubGlobal('requestIdleCallback', (draw: () => void) => setTimeout(draw));

// jsdom scrolls nothing.
Element.prototype.scrollIntoView = () => undefined;

// What a file of tests does to the views is one step of React, unless an application draws them by itself.
beforeAll(() => void Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', true));

afterEach(cleanup);
