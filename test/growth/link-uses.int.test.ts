import { beforeAll, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { mostExamined } from './declare.ts'
import { BUSY, factsOf, HOUR_MS, MODE } from './facts.ts'
import { costOf } from './measure.ts'
import { invoiceAt } from './seed-money.ts'

/** The deep tier takes 100,000. */
const SIZE = Number(process.env['GROWTH_INVOICES'] ?? (EVERY_CASE ? 6_000 : 3_000))
const BATCH = 1_000
const SEED_TIMEOUT_MS = 1_200_000
const LINK = 'link-of-all'

const stores = useStores({ migrated: false })
const facts = factsOf(SIZE, Date.now())

beforeAll(async () => {
  const { migrate } = await import('#shared/db/schema/migrate.ts')
  await migrate(stores.db)
  await createPaymentLinkRepository(stores.db).insert({
    ...{ id: LINK, workspaceId: BUSY, mode: MODE, status: 'active', title: 'Coffee', description: null },
    ...{ currency: 'USD', amount: { kind: 'fixed', minor: 2_500n }, productId: null, usesMax: null, expiresAt: null },
    ...{ createdAt: 1, updatedAt: 1, deactivatedAt: null },
  })
  for (let from = 0; from < SIZE; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, SIZE - from) }, (_, nth) => invoiceAt(facts, from + nth))
    const ofLink = rows.map((row) => ({ ...row, paymentLinkId: LINK, source: 'link' as const }))
    await stores.db.collection(INVOICES).insertMany(ofLink, { ordered: false })
  }
}, SEED_TIMEOUT_MS)

// Guarantee: a link through which everything is sold is counted like a new one.
it('counts the invoices of a link that has all of them, within the bound of every question', async () => {
  const links = createPaymentLinkRepository(stores.db)
  const at = facts.now + 2 * HOUR_MS
  const count = async () => expect((await links.countUses([LINK], at)).get(LINK)).toBe(SIZE)
  const first = await costOf(stores.db, count)
  expect(first.keys).toBeGreaterThanOrEqual(SIZE)
  const cost = await costOf(stores.db, count)
  const most = mostExamined({ atMost: null }, cost.returned, facts)
  expect(cost.documents).toBeLessThanOrEqual(most)
  expect(cost.keys).toBeLessThanOrEqual(most)
})
