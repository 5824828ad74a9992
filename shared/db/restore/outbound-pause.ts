import type { Database } from '#shared/db/connection/connect.ts'
import { readRestoreState } from './restore-state.ts'

/** How soon a process detects that a person confirmed the restore. */
const POLL_MS = 1_000

/** Whether webhooks and mails wait because a restore is not confirmed yet. */
export interface OutboundPause {
  isPaused(): Promise<boolean>
}

const pauses = new WeakMap<Database, OutboundPause>()

/**
 * Reads the state of the restore at most once a second for all who send over a connection: after a restore, neither webhooks nor mails are
 * sent until a person has confirmed it. Throws when the store cannot be read.
 */
export function createOutboundPause(db: Database): OutboundPause {
  const known = pauses.get(db)
  if (known !== undefined) return known
  let answer: Promise<boolean> | null = null
  let askedAt = 0
  const ask = async (): Promise<boolean> => {
    const state = await readRestoreState(db)
    return state !== null && state.state !== 'confirmed'
  }
  const pause: OutboundPause = {
    isPaused: async () => {
      const now = performance.now()
      if (answer === null || now - askedAt >= POLL_MS) {
        askedAt = now
        const asked = ask()
        answer = asked
        // A failed read is not kept: the next call reads again.
        asked.catch(() => {
          if (answer === asked) answer = null
        })
      }
      return await answer
    },
  }
  pauses.set(db, pause)
  return pause
}
