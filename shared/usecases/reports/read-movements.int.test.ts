import { beforeAll, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { paymentFromDocument, paymentToDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createPrng } from '#test/simulation/kernel/prng.ts'
import { playUnmatched } from '#test/support/random-shop.ts'
import { useStores } from '#test/support/stores.ts'
import { readMovements } from './read-movements.ts'

const stores = useStores()
const HOUR_MS = 3_600_000
const NOW = Date.now()
const HOUR = Math.floor(NOW / HOUR_MS - 50) * HOUR_MS
const CROWD = 2_500
const WORKSPACE = 'crowded'

beforeAll(async () => {
  const place = { workspaceId: WORKSPACE, catalog: createCatalog({ live: {}, test: {} }) }
  const shop = { ...place, begin: NOW - 90 * 24 * HOUR_MS, reportingCurrency: 'USD' as const }
  await playUnmatched(stores.db, createPrng('crowd'), shop, 1)
  const payments = stores.db.collection(PAYMENTS)
  const first = await payments.findOneAndDelete({ workspaceId: WORKSPACE })
  if (first === null) throw new Error('no payment')
  // Half of them in one minute, and a fifth of all within four seconds.
  const at = (index: number) => {
    if (index < CROWD / 5) return HOUR + 60_000 + index * 8
    return index < CROWD / 2 ? HOUR + 60_000 + index * 20 : HOUR + index * 1_400
  }
  const crowd = Array.from({ length: CROWD }, (_, index) => {
    const id = `01a00000-0000-7000-8000-${String(index).padStart(12, '0')}`
    return paymentToDocument({ ...paymentFromDocument(first), id, key: id, txHash: id, bookedAt: [at(index)] })
  })
  await payments.insertMany(crowd)
})

// Guarantee: a file of any number of movements is made in bounded memory, whatever the hour in which they came, and each is in it once.
it.each(['oldest', 'newest'] as const)('reads a crowded hour in parts, in order and whole: %s first', async (order) => {
  const { bookReads } = createRepositories(stores.db, stores.runtime)
  const scope = { workspaceId: WORKSPACE, mode: 'live', from: null, to: null } as const
  const sizes: number[] = []
  const found: { readonly id: string; readonly at: number }[] = []
  for await (const batch of readMovements({ bookReads, clock: { now: () => NOW } }, scope, order)) {
    sizes.push(batch.length)
    found.push(...batch.map(({ movement: { id, at } }) => ({ id, at })))
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
  expect(new Set(found.map(({ id }) => id)).size).toBe(CROWD)
  const times = found.map(({ at }) => at)
  expect(times).toEqual(times.toSorted((one, other) => (order === 'oldest' ? one - other : other - one)))
  expect(found).toHaveLength(CROWD)
})
