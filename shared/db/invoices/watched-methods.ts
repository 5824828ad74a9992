import type { Database } from '#shared/db/connection/connect.ts'
import type { AssetId, InvoiceStatus, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { OpenMethods, WatchedMethod } from '#shared/ports/invoices.ts'
import { withMethodOn } from './invoice-mapping.ts'
import { INVOICES } from './invoice-model.ts'

/** Money, or its confirmation, is still expected. */
const WAITING: ReadonlySet<InvoiceStatus> = new Set(['new', 'pending', 'partial', 'confirming'])

/** What scanners and the pages about them ask of invoices. */
export function watchQuestions(db: Database) {
  return {
    /** Payment methods on a network of invoices of any status, except those whose deadline is not after a time. */
    watchedMethods: (mode: Mode, network: NetworkId, expiringAfter: Ms): Promise<readonly WatchedMethod[]> =>
      watchedMethods(db, { mode, network, expiringAfter }),
    /**
     * Payment methods on a network of invoices that wait for money or its confirmation, without those whose deadline is not after a time.
     * Counts the invoices with the nearest deadlines, at most `limit` of them.
     */
    countOpenMethods: (mode: Mode, network: NetworkId, expiringAfter: Ms, limit: number): Promise<OpenMethods> =>
      countOpenMethods(db, { mode, network, expiringAfter, limit }),
  }
}

/** Payment methods on a network, without those of invoices whose deadline is not after a time; in no order. Read at each step of a scanner, so without their quotes and claims. */
async function watchedMethods(
  db: Database,
  { mode, network, expiringAfter }: { readonly mode: Mode; readonly network: NetworkId; readonly expiringAfter: Ms },
): Promise<readonly WatchedMethod[]> {
  const method = {
    'paymentMethods.network': 1,
    'paymentMethods.matchKey': 1,
    'paymentMethods.from': 1,
    'paymentMethods.hold': 1,
  }
  const projection = { ...method, status: 1, expiresAt: 1 } as const
  const found = await db
    .collection(INVOICES)
    .find(withMethodOn(mode, network, expiringAfter), { projection })
    .toArray()
  return found.flatMap(({ _id, paymentMethods, status, expiresAt }) =>
    paymentMethods
      .filter((paymentMethod) => paymentMethod.network === network)
      .map(({ matchKey, from, hold }) => {
        const times = { since: from.getTime(), expiresAt: expiresAt.getTime() }
        const isOpen = WAITING.has(status)
        return {
          invoiceId: _id,
          matchKey,
          ...times,
          isOpen,
          isUnpaid: isOpen && status !== 'confirming',
          isListed: hold != null,
        }
      }),
  )
}

/** Payment methods of open invoices by asset: those of the `limit` invoices with the nearest deadlines after a time. */
async function countOpenMethods(
  db: Database,
  {
    mode,
    network,
    expiringAfter,
    limit,
  }: { readonly mode: Mode; readonly network: NetworkId; readonly expiringAfter: Ms; readonly limit: number },
): Promise<OpenMethods> {
  const found = await db
    .collection(INVOICES)
    .find(
      { ...withMethodOn(mode, network, expiringAfter), status: { $in: [...WAITING] } },
      { projection: { paymentMethods: 1, expiresAt: 1 } },
    )
    .sort({ expiresAt: 1 })
    .limit(limit + 1)
    .toArray()
  const byAsset = new Map<AssetId, number>()
  for (const { asset, network: on } of found.slice(0, limit).flatMap(({ paymentMethods }) => paymentMethods)) {
    if (on === network) byAsset.set(asset, (byAsset.get(asset) ?? 0) + 1)
  }
  return { byAsset, nextDeadline: found[0]?.expiresAt.getTime() ?? null, isComplete: found.length <= limit }
}
