import { defineConfig } from 'vitest/config'
import { EVERY_CASE } from './test/support/every-case.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { plantedBug } from './test/worlds/planted-bug.ts'

const integration = '**/*.int.test.ts'
/** Files of which `npm test` has nothing: the stage `cases` of `npm run test:deep` runs them. */
const deep = EVERY_CASE ? [] : ['**/*.deep.test.ts', '**/*.deep.int.test.ts']
/** Tests check what happens, never how soon: whatever is waited for gets the time that a busy machine needs. */
const patience = { setupFiles: ['test/support/patient-waits.ts'], expect: { poll: { timeout: 20_000 } } }
/**
 * Files of one worker share their modules (and Chromium): most of a file's time went into reading the same libraries again. Two files
 * run side by side; each owns its database or, on a shared installation, its workspace.
 */
const quick = { isolate: false, maxWorkers: 2 }

// Four projects: `unit` touches nothing outside the process, `integration` uses real stores, `flow` tells whole stories on real
// processes, `browser` looks at the pages with Chromium.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          ...patience,
          include: ['{services,shared,scripts,dev,test,clients,bench}/**/*.test.ts'],
          exclude: [integration, 'test/flow/**', 'test/browser/**', '**/node_modules/**', ...deep],
          ...quick,
          // A limit ends what hangs; it measures no machine.
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      {
        plugins: plantedBug(),
        test: {
          name: 'integration',
          ...patience,
          include: [integration],
          exclude: ['**/node_modules/**', ...deep],
          globalSetup: ['test/support/global-stores.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          ...quick,
          // Its tests wait for the store half of their time, and it takes longer than the other projects.
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'flow',
          ...patience,
          include: ['test/flow/**/*.test.ts'],
          exclude: deep,
          globalSetup: ['test/support/global-stack.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          ...quick,
        },
      },
      {
        test: {
          name: 'browser',
          ...patience,
          include: ['test/browser/**/*.test.ts'],
          exclude: deep,
          globalSetup: ['test/support/global-stack.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          ...quick,
        },
      },
    ],
  },
})
