import { afterAll, beforeAll, inject } from 'vitest'
import { sharedInstallation } from './shared-installation.ts'
import { openWorld, type World } from './world.ts'

/** A fresh workspace on the run's shared installation; good inside hooks and tests of the file. */
export function useWorld(): () => World {
  let world: World | undefined
  beforeAll(async () => {
    const dataDir = inject('stackDataDir')
    const dev = sharedInstallation()
    world = await openWorld(dataDir, dev)
  })
  afterAll(async () => {
    await world?.close()
  })
  return () => {
    if (world === undefined) throw new Error('the world is open only inside hooks and tests')
    return world
  }
}
