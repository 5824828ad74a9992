import { rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { parseScale } from '#scripts/start/scale.ts'
import { startStack } from '#scripts/start/stack.ts'
import { makeStoreFolder } from './store-folder.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Data folder of the installation that all stories of a run share. */
    stackDataDir: string
  }
}

/**
 * Payments of all files share Ethereum. A file that stops, forks or floods a chain takes one of the others, which no other file of its
 * project pays on: Polygon (`reorged`, `browser/chains`).
 */
const NETWORKS = ['ethereum', 'polygon', 'base'] as const

/**
 * Starts one whole installation for the stories that break nothing; stories that kill processes start their own. With
 * `FLOW_SCALE=api=2,webhooks=4` it runs in its own processes, so many of each type.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = makeStoreFolder('paymesh-flow')
  const scale = process.env['FLOW_SCALE']
  const stack = await startStack({
    dataDir,
    networks: NETWORKS,
    ...(scale ? { processes: true, scale: parseScale([scale]) } : {}),
    report: (line) => void process.stderr.write(`stack: ${line}\n`),
  })
  project.provide('stackDataDir', dataDir)
  return async () => {
    await stack.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
