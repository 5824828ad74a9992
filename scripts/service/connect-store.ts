import { setTimeout as delay } from 'node:timers/promises'
import { connectDatabase, type Database, type DatabaseOptions } from '#shared/db/connection/connect.ts'

const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 30_000

/** The server does not respond, or is not a primary yet; anything else is a fault of the configuration. */
const AWAY = /^(Mongoose|Mongo)(ServerSelection|Network|NetworkTimeout)Error$/

/**
 * Connects, with growing pauses for as long as no primary is found; `waiting` receives the reason. Rejects at once when the store
 * responds and refuses the connection, for example for a wrong password.
 */
export async function connectPatiently(options: DatabaseOptions, waiting: (reason: string) => void): Promise<Database> {
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    try {
      return await connectDatabase(options)
    } catch (error) {
      if (!(error instanceof Error) || !AWAY.test(error.name)) throw error
      options.logger.warn({ err: error, pauseMs }, 'MongoDB cannot be reached; retrying')
      waiting(`waiting for MongoDB: ${error.message}`)
    }
    await delay(pauseMs)
  }
}
