import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { LedgerLine } from './ledger.ts'

const POLL_EVERY_MS = 500
const SAY_EVERY_MS = 15_000

/** What has to become quiet. */
interface QuietInputs {
  readonly db: Database
  readonly ledger: readonly LedgerLine[]
  /**
   * A retry that is planned for later than in so many milliseconds is not waited for. More than the verdict takes: one that becomes due
   * before it counts as lost. Default: every retry is waited for.
   */
  readonly retriesWithinMs?: number
}

/**
 * Waits until all work is done: every transfer of the merchants' record stored, payments final and applied, outboxes empty, deliveries
 * finished. Returns how long that took in milliseconds; after `atMostMs` it gives up and leaves the rest to the verdict.
 */
export async function untilQuiet(
  { db, ledger, retriesWithinMs }: QuietInputs,
  atMostMs: number,
  say: (line: string) => void,
): Promise<number> {
  const sent = new Set(ledger.flatMap((line) => (line.kind === 'transfer' ? [line.txHash] : [])))
  const startedAt = Date.now()
  let saidAt = startedAt
  for (;;) {
    const left = await leftovers(db, { sent: [...sent], retriesWithinMs })
    const tookMs = Date.now() - startedAt
    if (left.total === 0 || tookMs > atMostMs) return tookMs
    if (Date.now() - saidAt > SAY_EVERY_MS) {
      saidAt = Date.now()
      say(
        `waiting for ${left.unseen} transfers, ${left.payments} payments, ${left.outboxes} outboxes, ${left.deliveries} deliveries`,
      )
    }
    await delay(POLL_EVERY_MS)
  }
}

async function leftovers(
  db: Database,
  { sent, retriesWithinMs }: { readonly sent: readonly string[]; readonly retriesWithinMs: number | undefined },
) {
  const awaited =
    retriesWithinMs === undefined
      ? {}
      : {
          $or: [
            { attempt: 0 },
            { leaseToken: { $type: 'string' as const } },
            { dueAt: { $lte: new Date(Date.now() + retriesWithinMs) } },
          ],
        }
  const [stored, unconfirmed, dirty, outboxes, deliveries] = await Promise.all([
    // A scanner that has just been restarted has stored nothing of what others could have left to do.
    db.collection(PAYMENTS).distinct('txHash', { txHash: { $in: sent } }),
    db.collection(PAYMENTS).countDocuments({ state: 'detected' }),
    db.collection(PAYMENTS).countDocuments({ dirtyAt: { $exists: true } }),
    db.collection(INVOICES).countDocuments({ outboxAt: { $exists: true } }),
    db.collection(WEBHOOK_DELIVERIES).countDocuments({ status: 'pending', ...awaited }),
  ])
  const payments = unconfirmed + dirty
  const unseen = sent.length - stored.length
  return { unseen, payments, outboxes, deliveries, total: unseen + payments + outboxes + deliveries }
}
