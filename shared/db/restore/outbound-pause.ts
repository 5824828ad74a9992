import type { Database } from '#shared/db/connection/connect.ts'
import { readRestoreState } from './restore-state.ts'

/** How soon a process detects that a person confirmed the restore. */
const POLL_MS = 1_000

/** Whether webhooks and mails wait because a restore is not confirmed yet. */
export interface OutboundPause {
  isPaused(): Promise<boolean>
}

/**
 * Reads the state of the restore at most once a second: after a restore, neither webhooks nor mails are sent until a person has confirmed
 * it. Throws when the store cannot be read.
 */
export function createOutboundPause(db: Database): OutboundPause {
  let answer: boolean | null = null
  let askedAt = 0
  return {
    isPaused: async () => {
      const now = performance.now()
      if (answer === null || now - askedAt >= POLL_MS) {
        const state = await readRestoreState(db)
        answer = state !== null && state.state !== 'confirmed'
        askedAt = now
      }
      return answer
    },
  }
}
