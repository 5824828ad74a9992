import { rmSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import type { Scale } from '#scripts/start/scale.ts'
import { type Rig, startRig } from '#test/chaos/rig.ts'
import { makeStoreFolder } from './store-folder.ts'
import { openWorld, type World } from './world.ts'

const START_MS = 240_000

/** A merchant on an installation whose processes may be killed and frozen. */
export interface RigWorld extends World {
  readonly rig: Rig
}

/** An installation on real processes for one file of tests; good inside hooks and tests of the file. */
export function useRig(scale: Scale = {}): () => RigWorld {
  let open: RigWorld | undefined
  let rig: Rig | undefined
  let dir: string | undefined
  beforeAll(async () => {
    dir = makeStoreFolder('paymesh-rig')
    rig = await startRig({ dir, scale, report: () => {} })
    open = { ...(await openWorld(rig.dataDir, rig.stack.dev)), rig }
  }, START_MS)
  afterAll(async () => {
    await open?.close()
    await rig?.stop()
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
  })
  return () => {
    if (open === undefined) throw new Error('the rig is open only inside hooks and tests')
    return open
  }
}
