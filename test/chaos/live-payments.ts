import type { TestStores } from '#test/support/stores.ts'
import type { Receiver } from './chaos-chain.ts'

/** A payment that stands on its chain, as far as two scans must agree about it. */
export interface LivePayment {
  readonly key: string
  readonly state: string
  readonly block: string | null
  readonly amount: string
  readonly asset: string
  readonly to: string
  readonly invoice: string
}

/** The live payments of some receivers, in an order that does not depend on when they were found. */
export async function livePayments(
  { db }: TestStores,
  receivers: readonly Receiver[],
): Promise<readonly LivePayment[]> {
  const rows = await db.connection
    .collection('payments')
    .find({ matchKey: { $in: receivers.map(({ matchKey }) => matchKey) }, state: { $in: ['detected', 'confirmed'] } })
    .sort({ key: 1 })
    .toArray()
  return rows.map((row) => ({
    key: String(row['key']),
    state: String(row['state']),
    block: row['block'] === null ? null : `${row['block'].height} ${row['block'].hash}`,
    amount: String(row['amountBase']),
    asset: String(row['asset']),
    to: String(row['matchKey']),
    invoice: String(row['invoiceId']),
  }))
}
