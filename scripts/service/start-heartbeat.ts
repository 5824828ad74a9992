import { hostname } from 'node:os'
import type { StoreClock } from '#shared/db/connection/clock.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { versionHere } from './version-here.ts'

const EVERY_MS = 15_000
const FAREWELL_MS = 500

/**
 * Writes a heartbeat of this process, now and every 15 s, for the dashboard; `webhooks` processes also divide the limit of an endpoint by
 * the number of those that live, and one whose clock is off learns whether others' are. Returns a function that ends it and removes the heartbeat. While the store is unavailable nothing is written
 * and nothing fails.
 */
export function startHeartbeats(
  name: string,
  db: Database,
  {
    clock,
    random,
    logger,
  }: Pick<Runtime, 'random' | 'logger'> & { readonly clock: Pick<StoreClock, 'now' | 'driftMs'> },
  { silent, masterKeys }: { readonly silent: () => object; readonly masterKeys: readonly string[] },
): () => Promise<void> {
  const heartbeats = createProcessHeartbeats(db)
  const life = { id: random.uuid(), name, host: hostname(), pid: process.pid, startedAt: clock.now(), masterKeys }
  const version = { version: versionHere(), node: process.versions.node }
  let running: Promise<void> = Promise.resolve()
  const beat = () => {
    const state = { ...life, ...version, seenAt: clock.now(), driftMs: clock.driftMs, silent: Object.keys(silent()) }
    running = heartbeats.beat(state).catch((error: unknown) => {
      logger.debug({ err: error }, 'this process could not send its heartbeat')
    })
  }
  beat()
  const timer = setInterval(beat, EVERY_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    const gone = running.then(() => heartbeats.gone(life.id)).catch(() => undefined)
    // An unavailable store must not delay the end of a process; the heartbeat then expires.
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref())])
  }
}
