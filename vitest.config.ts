import { defineConfig } from 'vitest/config'

const integration = '**/*.int.test.ts'

// Four projects: `unit` touches nothing outside the process, `integration` uses real stores, `flow` tells whole stories on real
// processes, `browser` looks at the pages with Chromium.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{services,shared,scripts,test,clients}/**/*.test.ts'],
          exclude: [integration, 'test/flow/**', 'test/browser/**', '**/node_modules/**'],
        },
      },
      {
        test: {
          name: 'integration',
          include: [integration],
          exclude: ['**/node_modules/**'],
          globalSetup: ['test/support/global-stores.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'flow',
          include: ['test/flow/**/*.test.ts'],
          globalSetup: ['test/support/global-stack.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/support/global-stack.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
