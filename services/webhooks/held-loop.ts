import type { Logger } from '#shared/ports/runtime.ts'
import { type ReleaseHeldDeps, releaseHeld } from '#shared/usecases/deliveries/release-held.ts'

/** Only what a race or a crash left behind waits for it. */
const EVERY_MS = 30_000

/** Looks for held deliveries whose endpoint is enabled or gone, now and every 30 s. Returns what ends the loop. */
export function startHeldLoop(deps: ReleaseHeldDeps & { readonly logger: Logger }): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const round = (): void => {
    running = releaseHeld(deps).catch((error: unknown) => {
      deps.logger.error({ err: error }, 'held deliveries could not be looked at')
    })
  }
  round()
  const timer = setInterval(round, EVERY_MS)
  return () => {
    clearInterval(timer)
    return running
  }
}
