import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { parseScale } from '#scripts/start/scale.ts'
import { startStack } from '#scripts/start/stack.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Data folder of the installation that all stories of a run share. */
    stackDataDir: string
  }
}

/**
 * Starts one whole installation for the stories that break nothing; stories that kill processes start their own. With
 * `FLOW_SCALE=api=2,webhooks=4` it runs in processes of its own, so many of each type.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-flow-'))
  const scale = process.env['FLOW_SCALE']
  const stack = await startStack({
    dataDir,
    ...(scale ? { processes: true, scale: parseScale([scale]) } : {}),
    report: (line) => void process.stderr.write(`stack: ${line}\n`),
  })
  project.provide('stackDataDir', dataDir)
  return async () => {
    await stack.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
