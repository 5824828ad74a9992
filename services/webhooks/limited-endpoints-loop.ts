import type { Dispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** As often as the figures are collected. */
const EVERY_MS = 5_000

/**
 * Reports every 5 s which endpoints were at their own limit since the last time: one write of a process, however many they are. A
 * report that fails is left out. Returns a function that ends the loop.
 */
export function startLimitedEndpointsLoop(
  { limitedEndpoints, logger }: Uses<'limitedEndpoints' | 'logger'>,
  dispatcher: Pick<Dispatcher, 'takeLimited'>,
): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const round = (): void => {
    running = limitedEndpoints.report(dispatcher.takeLimited()).catch((error: unknown) => {
      logger.warn({ err: error }, 'endpoints at their own limit could not be reported')
    })
  }
  const timer = setInterval(round, EVERY_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    return running
  }
}
