import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Database } from '#shared/db/connection/connect.ts'
import { createProcessBeats } from '#shared/db/installation/process-heartbeats.ts'
import type { Ambient } from '#shared/ports/runtime.ts'

const EVERY_MS = 15_000
const FAREWELL_MS = 500

/**
 * Shows in the store, now and every 15 s, that this process lives, for the people who look at the dashboard: nothing is decided
 * by it. Returns what ends it and takes the sign away. While the store is away nothing is shown and nothing breaks.
 */
export function startBeats(
  name: string,
  db: Database,
  { clock, random, logger }: Pick<Ambient, 'clock' | 'random' | 'logger'>,
  { silent, masterKeys }: { readonly silent: () => object; readonly masterKeys: readonly string[] },
): () => Promise<void> {
  const beats = createProcessBeats(db)
  const life = { id: random.uuid(), name, host: hostname(), pid: process.pid, startedAt: clock.now(), masterKeys }
  const version = { version: versionHere(), node: process.versions.node }
  let running: Promise<void> = Promise.resolve()
  const beat = () => {
    const state = { ...life, ...version, seenAt: clock.now(), silent: Object.keys(silent()) }
    running = beats.beat(state).catch((error: unknown) => {
      logger.debug({ err: error }, 'this process could not show that it lives')
    })
  }
  beat()
  const timer = setInterval(beat, EVERY_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    const gone = running.then(() => beats.gone(life.id)).catch(() => undefined)
    // A store that is away must not hold up the end of a process; the sign then counts as missing.
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref())])
  }
}

/** Every process is started in the checkout's folder. */
function versionHere(): string {
  try {
    return String(JSON.parse(readFileSync('package.json', 'utf8')).version)
  } catch {
    return 'unknown'
  }
}
