import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import { idsCreated } from '#shared/db/connection/uuid-time.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { InvoiceListQuery, ReleaseMark } from '#shared/ports/invoices.ts'
import type { InvoiceDocument } from './invoice-model.ts'

type Filter = mongoose.mongo.Filter<InvoiceDocument>

// Invoice filters. Each is served by one index; `explain.int.test.ts` shows which.

/** The invoice that carries this idempotency key. */
export const withIdempotencyKey = (workspaceId: string, mode: Mode, key: string) => ({
  workspaceId,
  mode,
  'idem.key': key,
})

/** Invoices with a due deadline on one action chain (`<mode>:<network>` or `none`). */
export const dueForAction = (actionChain: string, until: Ms) => ({ actionChain, nextActionAt: { $lte: toDate(until) } })

/** Invoices with a due deadline on one of these action chains. */
export const dueForActions = (actionChains: readonly string[], until: Ms) => ({
  actionChain: { $in: [...actionChains] },
  nextActionAt: { $lte: toDate(until) },
})

/** Invoices of these shards with waiting entries, without those waiting since before `from`. */
export const withWaitingOutbox = (shards: readonly number[], from: Ms | null) => ({
  outboxShard: { $in: [...shards] },
  outboxAt: { $exists: true, ...(from !== null && { $gte: toDate(from) }) },
})

/** Reads the oldest of them, each with the store's clock as `storeNow`. */
export const waitingOutboxes = (shards: readonly number[], from: Ms | null, limit: number) => [
  { $match: withWaitingOutbox(shards, from) },
  { $sort: { outboxAt: 1 } as const },
  { $limit: limit },
  { $set: { storeNow: '$$NOW' } },
]

/** Invoices of these shards with an entry that is at least as old as `before`. */
export const overdueInShards = (shards: readonly number[], before: Ms) => ({
  outboxShard: { $in: [...shards] },
  outboxAt: { $lte: toDate(before) },
})

/** Invoices of a shard with an entry that is at least as old as `before`. */
export const overdueInShard = (outboxShard: number, before: Ms) => ({ outboxShard, outboxAt: { $lte: toDate(before) } })

/** Invoices that hold one of these claims. */
export const holdingClaims = (claims: readonly string[]) => ({ claims: { $in: [...claims] } })

/** Invoices that take one of these places in visitor budgets. */
export const holdingDraws = (draws: readonly string[]) => ({ draws: { $in: [...draws] } })

/** Invoices that take a place `<prefix>:…` in a budget, and of no other prefix: `;` follows `:`. */
export const holdingPlaceOf = (prefix: string) => ({ draws: { $elemMatch: { $gte: `${prefix}:`, $lt: `${prefix};` } } })

/** Invoices that returned one of these claims, while the next holder of it gets exact amounts only. */
export const quarantining = (claims: readonly string[], at: Ms) => ({
  returned: { $in: [...claims] },
  returnedUntil: { $gt: toDate(at) },
})

/** Invoices with a payment method that carries one of these references. */
export const withReferences = (mode: Mode, references: readonly string[]) => ({
  'paymentMethods.reference': { $in: [...references] },
  mode,
})

/** Invoices with a payment method on a network, without those whose deadline is not after a time. */
export const withMethodOn = (mode: Mode, network: NetworkId, expiringAfter: Ms): Filter => ({
  'paymentMethods.network': network,
  mode,
  expiresAt: { $gt: toDate(expiringAfter) },
})

/** Invoices with valid payments on chain. */
export const paidOnChain: Filter = {
  ledger: { $elemMatch: { state: { $in: ['detected', 'confirmed'] }, simulated: false } },
}

/** Invoices whose first temporary claim is due for release, after the given one in the order of (releaseAt, id). */
export function dueForRelease(until: Ms, after: ReleaseMark | null): Filter {
  const due = { releaseAt: { $lte: toDate(until) } }
  if (after === null) return due
  const at = toDate(after.releaseAt)
  return { ...due, $or: [{ releaseAt: { $gt: at } }, { releaseAt: at, _id: { $gt: after.invoiceId } }] }
}

/** Invoices of a list request. Creation bounds also bound the id range. */
export function listed({
  workspaceId,
  mode,
  status,
  orderId,
  createdAfter,
  createdBefore,
  beforeId,
}: InvoiceListQuery): Filter {
  const ids = idsCreated(createdAfter, createdBefore, beforeId)
  return {
    workspaceId,
    mode,
    ...(ids !== null && { _id: ids }),
    ...(status !== null && { status }),
    ...(orderId !== null && { orderId }),
    ...((createdAfter !== null || createdBefore !== null) && {
      createdAt: {
        ...(createdAfter !== null && { $gt: toDate(createdAfter) }),
        ...(createdBefore !== null && { $lt: toDate(createdBefore) }),
      },
    }),
  }
}
