import { z } from 'zod'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { jsonFact } from '#shared/db/installation/facts.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'

/** Name of the fact that a database was restored from an archive. */
export const RESTORE_FACT = 'restore'

const stateSchema = z.object({
  /** `writing`: the restore is incomplete. `held`: nothing may be sent from the installation. */
  state: z.enum(['writing', 'held', 'confirmed']),
  takenAt: z.string(),
  restoredAt: z.string(),
  /** Unused addresses and numbers that were skipped. */
  skip: z.number().int(),
})

const STATE = jsonFact(RESTORE_FACT, stateSchema)

/** State of the restore that created this database. */
export type RestoreState = z.output<typeof stateSchema>

/** The restore that created this database; null without one. */
export async function readRestoreState(db: Database): Promise<RestoreState | null> {
  return await STATE.read(db)
}

/** Records a step of a restore; together with the audit row if one is given. */
export async function writeRestoreState(db: Database, state: RestoreState, audit?: AuditRecord): Promise<void> {
  await insertAudited(db, audit, (within) => STATE.write(db, state, within))
}

/** How soon a process detects that a person confirmed the restore. */
const POLL_MS = 1_000

/** Whether webhooks and mails wait because a restore is not confirmed yet. */
interface OutboundPause {
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
  let requestedAt = 0
  const read = async (): Promise<boolean> => {
    const state = await readRestoreState(db)
    return state !== null && state.state !== 'confirmed'
  }
  const pause: OutboundPause = {
    isPaused: async () => {
      const now = performance.now()
      if (answer === null || now - requestedAt >= POLL_MS) {
        requestedAt = now
        const reading = read()
        answer = reading
        // A failed read is not kept: the next call reads again.
        reading.catch(() => {
          if (answer === reading) answer = null
        })
      }
      return await answer
    },
  }
  pauses.set(db, pause)
  return pause
}
