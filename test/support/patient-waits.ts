import { vi } from 'vitest'

/** What is waited for may take this long on a machine that does other things as well; a test that waits in vain still fails. */
const PATIENCE_MS = 20_000

const waitFor = vi.waitFor

/** As `vi.waitFor`, whose own default of one second judges the machine and not the product. */
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options })
