import { cleanup } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// jsdom has none, and Lumino extends it.
vi.stubGlobal('DragEvent', class extends MouseEvent {});

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

afterEach(cleanup);
