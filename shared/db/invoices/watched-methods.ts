import type { Database } from '#shared/db/connection/connect.ts'
import type { InvoiceStatus, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { WatchedMethod } from '#shared/ports/invoices.ts'
import { INVOICES } from './invoice-model.ts'
import { withLockOn } from './invoice-scopes.ts'

/** Money, or its confirmation, is still expected. */
const WAITING: ReadonlySet<InvoiceStatus> = new Set(['new', 'pending', 'partial', 'confirming'])

/** Payment methods on a network, without those of invoices whose deadline is not after a time; in no order. */
export async function watchedMethods(
  db: Database,
  { mode, network, expiringAfter }: { readonly mode: Mode; readonly network: NetworkId; readonly expiringAfter: Ms },
): Promise<readonly WatchedMethod[]> {
  const projection = { status: 1, locks: 1, expiresAt: 1 } as const
  const found = await db
    .collection(INVOICES)
    .find(withLockOn(mode, network, expiringAfter), { projection })
    .toArray()
  return found.flatMap(({ _id, locks, status, expiresAt }) =>
    locks
      .filter((lock) => lock.network === network)
      .map(({ matchKey, from }) => {
        const times = { since: from.getTime(), expiresAt: expiresAt.getTime() }
        return { invoiceId: _id, matchKey, ...times, isOpen: WAITING.has(status) }
      }),
  )
}
