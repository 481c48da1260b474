/** One page for all files of tests that a worker runs: a page for each would take longer than the tests. */
import { builtinEnvironments, type Environment } from 'vitest/environments';

const { AbortController: NodeAbortController, Request: NodeRequest } = globalThis;

/** A request of Node.js with a signal of the page's, which Node.js 24 does not accept as one of its own. */
class PageRequest extends NodeRequest {
  constructor(input: RequestInfo | URL, init: RequestInit = {}) {
    const { signal, ...others } = init;
    if (!signal) {
      super(input, others);
      return;
    }
    const control = new NodeAbortController();
    const abort = (): void => control.abort(signal.reason);
    if (signal.aborted) {
      abort();
    }
    signal.addEventListener('abort', abort);
    super(input, { ...others, signal: control.signal });
  }
}

const page: Environment = {
  name: 'page',
  transformMode: 'web',
  async setup(global, options) {
    if (!('document' in global)) {
      await builtinEnvironments.jsdom.setup(global, options);
      Object.assign(global, { Request: PageRequest });
    }
    return { teardown: () => undefined };
  }
};

export default page;
