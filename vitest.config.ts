import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: './labextension/tests/environment.ts',
    isolate: false, // JupyterLab's packages take seconds to load: once for each worker, and not for each file
    maxWorkers: 1, // two take a quarter more processor time and save two seconds
    minWorkers: 1,
    globals: true,
    include: ['labextension/tests/**/*.test.{ts,tsx}'],
    setupFiles: ['labextension/tests/setup.ts'],
    restoreMocks: true,
    testTimeout: 20_000, // on a machine that does other things, too
    server: { deps: { inline: [/@jupyter\//, /@jupyterlab\//, /@microsoft\//] } }
  }
});
