import type { Logger } from '#shared/ports/runtime.ts'
import { type ReleasePausedDeps, releasePaused } from '#shared/usecases/deliveries/resend.ts'

/** Only for rows left behind by a race or a crash. */
const EVERY_MS = 30_000

/** Searches paused deliveries whose endpoint is enabled or deleted, now and every 30 s. Returns a function that ends the loop. */
export function startPausedRowsLoop(deps: ReleasePausedDeps & { readonly logger: Logger }): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const round = (): void => {
    running = releasePaused(deps).catch((error: unknown) => {
      deps.logger.error({ err: error }, 'paused deliveries could not be checked')
    })
  }
  round()
  const timer = setInterval(round, EVERY_MS)
  return () => {
    clearInterval(timer)
    return running
  }
}
