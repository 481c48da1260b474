/**
 * Provides 3Dmol.js to the outputs of py3Dmol, so that they work without a network.
 *
 * py3Dmol's outputs wait for `window.$3Dmolpromise` and then use `window.$3Dmol`; without the promise they load a
 * script from the internet. Our promise exists from the start, and loads the bundled file when the first output awaits
 * it.
 */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

declare global {
  interface Window {
    $3Dmol?: unknown;
    $3Dmolpromise?: PromiseLike<unknown>;
  }
}

/** The preloaded 3Dmol.js. */
export const viewer3dPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:viewer3d',
  description: 'Displays py3Dmol outputs with the bundled 3Dmol.js, without a network.',
  autoStart: true,
  activate: () => {
    window.$3Dmolpromise ??= new LazyPromise(load3Dmol);
  }
};

/** A promise whose work starts when it is first awaited. */
export class LazyPromise<T> implements PromiseLike<T> {
  constructor(start: () => Promise<T>) {
    this.start = start;
  }

  /** Starts the work, unless started, and waits for it. After a failure the next call starts it again. */
  then<A = T, B = never>(
    onDone?: ((value: T) => A | PromiseLike<A>) | null,
    onFault?: ((reason: unknown) => B | PromiseLike<B>) | null
  ): Promise<A | B> {
    this.running ??= this.start().catch((reason: unknown) => {
      this.running = null;
      throw reason;
    });
    return this.running.then(onDone, onFault);
  }

  private readonly start: () => Promise<T>;
  private running: Promise<T> | null = null;
}

async function load3Dmol(): Promise<unknown> {
  const library: unknown = await import('3dmol/build/3Dmol-min.js');
  window.$3Dmol ??= library;
  return window.$3Dmol;
}
