import { Redis } from 'ioredis'
import type { Database } from '#shared/db/connection/connect.ts'

/** Process ids of the stores of a benchmark; null for a server that does not say. */
export interface StoreProcesses {
  readonly mongod: number | null
  readonly redis: number | null
}

/** Asks both servers for their process ids. They mean something only where the servers run on this machine. */
export async function storeProcesses(db: Database, redisUrl: string): Promise<StoreProcesses> {
  const client = new Redis(redisUrl)
  try {
    const [status, info] = await Promise.all([db.connection.db?.admin().serverStatus(), client.info('server')])
    return { mongod: numberOrNull(status?.['pid']), redis: numberOrNull(/^process_id:(\d+)/m.exec(info)?.[1]) }
  } finally {
    client.disconnect()
  }
}

function numberOrNull(value: unknown): number | null {
  const number = Number(value ?? Number.NaN)
  return Number.isFinite(number) ? number : null
}
