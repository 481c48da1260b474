/** One page for all files of tests that a worker runs: a page for each would take longer than the tests. */
import { builtinEnvironments, type Environment } from 'vitest/environments';

const page: Environment = {
  name: 'page',
  transformMode: 'web',
  async setup(global, options) {
    if (!('document' in global)) {
      await builtinEnvironments.jsdom.setup(global, options);
    }
    return { teardown: () => undefined };
  }
};

export default page;
