import { beforeAll, expect, test } from 'vitest'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createRollups } from '#shared/db/reports/rollups.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { sampleDelivery, sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const span = { span: 7 as const, zone: 'America/Santo_Domingo' }
let here: AdminCaller
let empty: AdminCaller

beforeAll(async () => {
  here = await adminCaller(stores)
  empty = await adminCaller(stores, { deps: () => here.deps })
  const { db, runtime } = stores
  const now = Date.now()
  const invoices = createInvoiceRepository(db)
  for (let number = 1; number <= 40; number++) {
    const paymentMethods = number % 4 === 0 ? [] : [samplePaymentMethod(`a${number}`, now)]
    const workspaceId = number > 38 ? empty.workspaceId : here.workspaceId
    await invoices.insert(sampleInvoice(runtime.random, { workspaceId, number, at: now, state: { paymentMethods } }))
  }
  // Twenty are paid, one of them with more than a double can hold exactly.
  const collection = db.collection(INVOICES)
  const paidAt = new Date(now)
  const fiat = { minor: '1010', currency: 'USD' as const }
  await collection.updateMany({ number: { $lte: 20 } }, { $set: { status: 'paid', paidAt, fiat } })
  await collection.updateOne({ number: 20 }, { $set: { fiat: { minor: '900719925474099301', currency: 'USD' } } })
  await collection.updateOne({ number: 19 }, { $set: { fiat: { minor: '500', currency: 'EUR' } } })
  await collection.updateOne({ number: 38 }, { $set: { status: 'expired' } })
  await createDeliveryRepository(db).insertMany(
    Array.from({ length: 60 }, (_, row) => sampleDelivery(`whd_${row}`, { endpointId: `e-${row % 3}`, dueAt: row })),
  )
  await createRollups(db).catchUp(Date.now())
})

/** Guarantee: sums are exact at any size, and each currency is a separate sum. */
test('prices of paid invoices are exact, by currency and coin, and are not what was received', async () => {
  const volume = await here.caller.overview.volume({ ...here.at, ...span })
  // Guarantee: what nobody sent is not received, whatever the status of an invoice says.
  expect(volume.currencies).toMatchObject([
    { currency: 'USD', price: '9007199254741174.81', short: '9007199254741174.81', received: '0.00', count: 19 },
    { currency: 'EUR', price: '5.00', short: '5.00', received: '0.00', count: 1 },
  ])
  expect(volume.days).toHaveLength(7)
  // Guarantee: an invoice without a stored rate is named, and in no sum: its value is not guessed.
  expect(volume.reported).toMatchObject({
    ...{ currency: 'USD', price: '9007199254741174.81', received: '0.00', before: '0.00', count: 19 },
    ...{ missing: [{ currency: 'EUR', count: 1 }], missingBefore: 0 },
  })
  expect(volume.reported.totals.at(-1)).toBe('0.00')
  expect(volume.asOf).toBeGreaterThan(0)
})

/** Guarantee: every invoice of the span is in one end state, so that the shares add up. */
test('the funnel counts each invoice once', async () => {
  const funnel = await here.caller.overview.funnel({ ...here.at, ...span })
  expect(funnel).toMatchObject({ created: 38, coinChosen: 29, fullAmountSeen: 20, paid: 20 })
  expect(funnel.byStatus.reduce((sum, { count }) => sum + count, 0)).toBe(38)
  expect(funnel.byDay.at(-1)).toMatchObject({ created: 38, paid: 20 })
})

test('a new workspace sees its first steps and empty figures', async () => {
  const caller = empty.caller.overview
  expect(await caller.firstSteps(empty.at)).toEqual({
    wallet: false,
    key: false,
    webhook: false,
    invoice: true,
    paid: false,
  })
  expect((await caller.volume({ ...empty.at, ...span })).currencies).toEqual([])
  expect(await caller.webhooks(empty.at)).toMatchObject({ endpoints: [], made: 0 })
  expect(await caller.attention(empty.at)).toMatchObject({ exceptions: { count: 0, oldestAt: null } })
})

test('an unknown zone is refused', async () => {
  await expect(here.caller.overview.volume({ ...here.at, ...span, zone: 'Mars/Olympus' })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
})
