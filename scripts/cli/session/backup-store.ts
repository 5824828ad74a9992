import type { Config } from '#shared/config/schema.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { findConfig } from './find-config.ts'
import { openStore } from './open-store.ts'

/** What back-ups and restores need of an installation: its database, its master keys and the marks of what was issued, not nodes or the pepper. */
export type BackupStore = Awaited<ReturnType<typeof openBackupStore>>

const REDIS_WAIT_MS = 5_000

let settings: Config | undefined

/** Read once, because reading removes the secrets from the environment: a scheduled command opens the store again and again. */
function readSettings(): Config {
  settings ??= findConfig('backup')
  return settings
}

async function openBackupStore() {
  // stdout may be the archive.
  const destination = { write: (line: string) => void process.stderr.write(line) }
  const store = await openStore(readSettings(), { name: 'backup', redisWaitMs: REDIS_WAIT_MS, destination })
  return { ...store, metrics: createMetrics({ defaults: false }) }
}

/** Runs `work` with the store open and closes it whatever happens. */
export async function withBackupStore<T>(work: (store: BackupStore) => Promise<T>): Promise<T> {
  const store = await openBackupStore()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
