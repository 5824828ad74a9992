import { afterEach, expect, it } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository, deliveryToDocument } from '#shared/db/deliveries/delivery-repository.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { StoreChange } from '#shared/ports/change-feed.ts'
import { sampleDelivery, sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { createChangeFeed } from './change-feed.ts'

const stores = useStores()
let following: { stop(): Promise<void> } | null = null
afterEach(async () => {
  await following?.stop()
  following = null
})

/** Follows and collects; `until` resolves when the condition holds. */
function follow() {
  const received: StoreChange[] = []
  let gaps = 0
  let failures = 0
  let check: () => void = () => undefined
  const warn = (): void => {
    failures += 1
  }
  following = createChangeFeed(stores.db, { ...stores.runtime.logger, warn }).follow({
    changes: (batch) => {
      received.push(...batch)
      check()
    },
    gap: () => {
      gaps += 1
      check()
    },
  })
  const until = async (condition: () => boolean) =>
    await new Promise<void>((resolve) => {
      check = () => {
        if (condition()) resolve()
      }
      check()
    })
  // A stream that could not be opened is a gap, too, and another one is opened later.
  return { received, gaps: () => gaps, follows: () => gaps > failures, until }
}

/** Guarantee: a page that follows hears of what was written after it was told that it follows. */
it('tells inserts and changes with their workspace and mode, and nothing of bookkeeping', async () => {
  const { received, follows, until } = follow()
  await until(follows)
  const invoice = sampleInvoice(stores.runtime.random, { workspaceId: 'ws-1', number: 1, at: Date.now() })
  await createInvoiceRepository(stores.db).insert(invoice)
  await until(() => received.length === 1)
  expect(received).toEqual([{ kind: 'invoice', id: invoice.terms.id, workspaceId: 'ws-1', mode: 'test', isNew: true }])

  const invoices = stores.db.collection(INVOICES)
  await invoices.updateOne({ _id: invoice.terms.id }, { $set: { outboxShard: 3 } })
  await invoices.updateOne({ _id: invoice.terms.id }, { $inc: { version: 1 } })
  await until(() => received.length === 2)
  expect(received[1]).toMatchObject({ kind: 'invoice', id: invoice.terms.id, isNew: false })

  await createDeliveryRepository(stores.db).insertMany([sampleDelivery('whd_1', { endpointId: 'e-1' })])
  await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: 'whd_1' }, { $set: { leaseToken: 't' } })
  await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: 'whd_1' }, { $set: { status: 'failed' } })
  await until(() => received.some(({ kind, isNew }) => kind === 'delivery' && !isNew) || received.length >= 4)
  expect(received.filter(({ kind }) => kind === 'delivery').every(({ id }) => id === 'whd_1')).toBe(true)
})

it('calls a gap when there is more than can be named, and goes on', async () => {
  const { received, gaps, follows, until } = follow()
  await until(follows)
  const before = gaps()
  const rows = Array.from({ length: 2_500 }, (_, row) => sampleDelivery(`whd_many_${row}`, { endpointId: 'e-2' }))
  // In one transaction, so that the stream shows all of them at one moment: a slow store would hand them over in parts, each few enough.
  await stores.db.connection.getClient().withSession((session) =>
    session.withTransaction(async () => {
      await stores.db.collection(WEBHOOK_DELIVERIES).insertMany(rows.map(deliveryToDocument), { session })
    }),
  )
  await until(() => gaps() > before)
  // What comes while the rest of them is read is not named either; what comes after it is.
  let after = 0
  const more = setInterval(() => {
    after += 1
    void createDeliveryRepository(stores.db).insertMany([sampleDelivery(`whd_after_${after}`, { endpointId: 'e-2' })])
  }, 500)
  await until(() => received.some(({ id }) => id.startsWith('whd_after_'))).finally(() => clearInterval(more))
})
