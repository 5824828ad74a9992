import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection/connect.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { type AssetId, networkOf } from '#shared/domain/enumerations.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'

const BATCH = 20_000

/** Watched addresses of a benchmark. */
export interface Watches {
  readonly keys: readonly string[]
  /** How many transfers of the chain go to one of them. */
  readonly hits: number
}

/**
 * Stores `count` watched addresses: random ones, and every `every`-th of `transfers` addresses that count up from `first`,
 * each of those held by an invoice.
 */
export async function seedWatches(
  db: Database,
  request: {
    readonly count: number
    readonly first: bigint
    readonly every: number
    readonly transfers: number
    readonly asset: AssetId
    readonly print: (line: string) => void
  },
): Promise<Watches> {
  const { count, first, every, transfers, asset, print } = request
  const hitKeys = Array.from({ length: Math.floor(transfers / every) }, (_, index) =>
    (first + BigInt(index * every)).toString(16).padStart(40, '0'),
  )
  const others = Array.from({ length: count - hitKeys.length }, () => randomBytes(20).toString('hex'))
  const keys = [...hitKeys, ...others]
  const wallets = createWalletRepository(db)
  for (let from = 0; from < keys.length; from += BATCH) {
    const rows = keys.slice(from, from + BATCH).map((matchKey, offset): WatchedAddress => {
      const place = { mode: 'test', family: 'evm', materialId: 'bench', index: from + offset } as const
      return { ...place, matchKey, address: `0x${matchKey}`, watchedOn: [networkOf(asset)] }
    })
    await wallets.addDerived('bench', rows, from + rows.length)
    if (from % 200_000 === 0) print(`${from + rows.length} of ${count} watched addresses`)
  }
  const invoices = createInvoiceRepository(db)
  const random = createRandom(Date.now)
  const at = Date.now()
  for (const [index, matchKey] of hitKeys.entries()) {
    const lock = samplePaymentMethod(matchKey, at, { asset, network: networkOf(asset) })
    await invoices.insert(sampleInvoice(random, { number: index + 1, at, state: { locks: [lock] } }))
  }
  return { keys, hits: hitKeys.length }
}
