import { expect, test } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import type { NewInvoice } from '#shared/ports/invoices.ts'
import { outboxEntries } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { useStores } from '#test/support/stores.ts'
import { createGroupedInsert } from './grouped-calls.ts'
import { INVOICES } from './invoice-model.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const catalog = createCatalog({ live: {}, test: {} })

function newInvoice(number: number, key: string | null = null): NewInvoice {
  const { random, clock } = stores.runtime
  const createdAt = clock.now()
  const life = {
    mode: 'test',
    createdAt,
    expiresAt: createdAt + 60_000,
    endsWithQuote: true,
    paymentMethod: null,
  } as const
  const { state, effects } = openInvoice(life)
  const id = random.uuid()
  return {
    terms: {
      id,
      workspaceId: 'w',
      mode: 'test',
      number,
      description: null,
      orderId: null,
      metadata: {},
      fiat: { minor: 100n, currency: 'USD' },
      customer: { email: null, name: null },
      successUrl: null,
      cancelUrl: null,
      paymentLinkId: null,
      productId: null,
      source: 'api',
      createdAt,
    },
    state,
    outbox: outboxEntries({ id, catalog }, state, effects),
    idempotency: key === null ? null : { key, fingerprint: 'f', requestId: 'r', at: createdAt },
    opId: null,
  }
}

// Guarantee: travelling together changes nothing: each invoice is inserted or refused on its own, with the right reason.
test('inserts a crowd, refuses what collides, and loses none', async () => {
  const insert = createGroupedInsert(stores.db, createInvoiceRepository(stores.db).insert)
  const crowd = Array.from({ length: 100 }, (_, index) => newInvoice(index + 1, index % 2 === 0 ? `k${index}` : null))
  const outcomes = await Promise.all(
    [...crowd, newInvoice(7), newInvoice(500, 'k0'), newInvoice(501, 'k2')].map(insert),
  )
  const refused = outcomes.flatMap((outcome) => (outcome.inserted ? [] : [outcome.conflict]))
  // Who comes first within a crowd is open; one of each colliding pair is refused.
  expect(refused.sort()).toEqual(['idempotency_key', 'idempotency_key', 'number'])
  expect(await stores.db.collection(INVOICES).countDocuments()).toBe(100)
})

test('a lone insert needs no company', async () => {
  const insert = createGroupedInsert(stores.db, createInvoiceRepository(stores.db).insert)
  expect(await insert(newInvoice(1_000))).toEqual({ inserted: true })
})

// Guarantee: a failure that says nothing of what reached the store never makes a second invoice out of one.
test('knows its own invoices again when a command failed after it arrived', async () => {
  const invoices = stores.db.collection(INVOICES)
  const insertMany = async (...args: Parameters<typeof invoices.insertMany>) => {
    await invoices.insertMany(...args)
    throw new TypeError('the answer was lost')
  }
  const collection = new Proxy(invoices, {
    get: (target, name) => (name === 'insertMany' ? insertMany : Reflect.get(target, name)),
  })
  const db = { ...stores.db, collection: () => collection } as unknown as typeof stores.db
  const insert = createGroupedInsert(db, createInvoiceRepository(stores.db).insert)
  const crowd = [newInvoice(2_001), newInvoice(2_002), newInvoice(2_003)]
  expect(await Promise.all(crowd.map(insert))).toEqual(crowd.map(() => ({ inserted: true })))
  expect(await invoices.countDocuments({ number: { $gt: 2_000 } })).toBe(3)
})
