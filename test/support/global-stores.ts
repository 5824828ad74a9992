import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startStores } from '#scripts/embedded/stores.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    mongoUrl: string
    redisUrl: string
  }
}

/**
 * Gives the test run real stores: those of MONGO_URL and REDIS_URL, else its own in a folder that ends with the run.
 * Tests reach them through `useStores`.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-test-'))
  const stores = await startStores({
    dataDir,
    report: (line) => void process.stderr.write(`stores: ${line}\n`),
    mongoUrl: process.env['MONGO_URL'] || null,
    redisUrl: process.env['REDIS_URL'] || null,
  })
  project.provide('mongoUrl', stores.mongoUrl)
  project.provide('redisUrl', stores.redisUrl)
  return async () => {
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
