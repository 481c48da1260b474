import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'jsdom',
    globals: true,
    include: ['labextension/tests/**/*.test.{ts,tsx}'],
    setupFiles: ['labextension/tests/setup.ts'],
    restoreMocks: true,
    server: { deps: { inline: [/@jupyter\//, /@jupyterlab\//, /@microsoft\//] } }
  }
});
